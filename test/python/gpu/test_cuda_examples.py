"""Examples' kernels on a real GPU, against float64. Skipped where there is none."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from gpu_machine import torch

import kiln


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name, tolerance", [("bfloat16", 4e-3), ("float16", 1e-3)])
@pytest.mark.parametrize("d, D", [(64, 64), (128, 128), (80, 128)])
def test_attention(d: int, D: int, name: str, tolerance: float, causal: bool) -> None:
    example = importlib.import_module("06_attention")
    dtype = getattr(torch, name)
    q = torch.randn(2, 8, 300, d, device="cuda").to(dtype)
    k, v = (torch.randn(2, 2, 300, d, device="cuda").to(dtype) for _ in range(2))
    out = torch.full_like(q, float("nan"))
    example.attention(q, k, v, out, d**-0.5, CAUSAL=causal, D=D, BM=64, BN=64)
    torch.cuda.synchronize()
    wide_k, wide_v = (t.double().repeat_interleave(4, 1) for t in (k, v))
    reference = torch.nn.functional.scaled_dot_product_attention(
        q.double(), wide_k, wide_v, is_causal=causal, scale=d**-0.5
    )
    assert (out.double() - reference).norm() <= tolerance * reference.norm()


def test_layernorm_with_dropout_and_residual() -> None:
    example = importlib.import_module("04_layernorm_dropout")
    rows, columns, keep, seed = 512, 1024, 0.75, 1234567890123
    x, residual = (torch.randn(rows, columns, device="cuda") for _ in range(2))
    weight, bias = (torch.randn(columns, device="cuda") for _ in range(2))
    total, out = (torch.full_like(x, float("nan")) for _ in range(2))
    example.layernorm_dropout(x, residual, weight, bias, total, out, seed, keep, 1e-5, BLOCK=1024)
    torch.cuda.synchronize()
    x, residual, weight, bias, out = (
        t.double().cpu().numpy() for t in (x, residual, weight, bias, out)
    )
    kept = example.philox_uniform(seed, np.arange(rows)[:, None], np.arange(columns)[None]) < keep
    h = np.where(kept, x / keep, 0) + residual
    centred = h - h.mean(axis=1, keepdims=True)
    scale = np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    reference = centred / scale * weight + bias
    assert np.linalg.norm(out - reference) <= 1e-6 * np.linalg.norm(reference)


@kiln.kernel
def argmax(x: kiln.View, value: kiln.View, at: kiln.View, M: kiln.constexpr, N: kiln.constexpr):
    i = kiln.grid(kiln.cdiv(x.shape[0], M))
    t = x.load((i * M, 0), (M, N))
    at.store((i * M,), kiln.argmax(t, axis=1))
    value.store((i * M,), kiln.max(t, axis=1))


@pytest.mark.parametrize("rows", [1, 4, 32])
def test_argmax_takes_the_first_of_equals(rows: int) -> None:
    x = torch.randint(0, 50, (256, 512), device="cuda").float()
    value = torch.empty(256, device="cuda")
    at = torch.empty(256, device="cuda", dtype=torch.int32)
    argmax(x, value, at, M=rows, N=512)
    torch.cuda.synchronize()
    assert np.array_equal(at.cpu().numpy(), x.cpu().numpy().argmax(axis=1))
    assert torch.equal(value.cpu(), x.cpu().max(1).values)
