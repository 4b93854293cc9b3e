"""Kernels of products that pin nothing, on a real GPU, against float64: drawn tiles, extents, strides
and epilogues; parts of views of four dimensions. Skipped elsewhere; utils/gpu-test runs it."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from gpu_machine import torch
from product_kernels import finished

attention = importlib.import_module("06_attention").attention


def strided(rows: int, columns: int, dtype, kind: str):
    """Random numbers in rows, in columns, in rows of a wider array, at an odd stride, or one row
    that stands for all."""
    if kind == "columns":
        return torch.randn(columns, rows, device="cuda").to(dtype).T
    if kind == "one":
        return torch.randn(1, columns, device="cuda").to(dtype).expand(rows, columns)
    wider = {"rows": columns, "wide": columns + 16, "odd": columns + 3}[kind]
    return torch.randn(rows, wider, device="cuda").to(dtype)[:, :columns]


@pytest.mark.parametrize("draw", range(40))
def test_drawn_product(rng, draw: int) -> None:
    rng = np.random.default_rng([draw, int(rng.integers(1 << 62))])

    def pick(*choices):
        return choices[rng.integers(len(choices))]

    dtype = pick(torch.bfloat16, torch.float16)
    tile = dict(BM=pick(32, 64, 128, 256), BN=pick(16, 32, 64, 128, 256), BK=pick(16, 32, 64, 128))
    m, n, k = (int(rng.integers(1, 200)) * 8 for _ in range(3))
    kinds = [pick("rows", "columns", "wide", "odd", "one") for _ in range(2)]
    a, b = strided(m, k, dtype, kinds[0]), strided(k, n, dtype, kinds[1])
    c, more = (strided(m, n, dtype, "rows") for _ in range(2))
    bias = torch.randn(n, device="cuda").to(dtype)
    switches = {name: bool(rng.integers(2)) for name in ("BIAS", "MORE", "RELU", "SCALED")}
    finished(a, b, c, bias, more, **tile, **switches)
    reference = a.double() @ b.double() * (0.5 if switches["SCALED"] else 1)
    if switches["BIAS"]:
        reference += bias.double()
    if switches["MORE"]:
        reference += more.double()
    if switches["RELU"]:
        reference = reference.clamp(min=0)
    error = float((c.double() - reference).norm() / reference.norm())
    worst = float((c.double() - reference).abs().max() / reference.abs().max())
    assert error < 4e-3, (m, n, k, kinds, tile, switches)
    assert worst < 1e-2, (m, n, k, kinds, tile, switches)


@pytest.mark.parametrize("draw", range(24))
def test_drawn_attention(rng, draw: int) -> None:
    rng = np.random.default_rng([draw, int(rng.integers(1 << 62))])
    head = int(rng.choice([32, 64, 80, 128]))
    tile = dict(BM=int(rng.choice([64, 128])), BN=int(rng.choice([32, 64, 128])))
    batch, kv, group = (int(rng.integers(1, 4)) for _ in range(3))
    n = int(rng.integers(1, 700))
    causal = bool(rng.integers(2))
    m = int(rng.integers(1, n + 1)) if causal else int(rng.integers(1, 700))
    q = torch.randn(batch, kv * group, m, head, device="cuda").bfloat16()
    k, v = (torch.randn(batch, kv, n, head, device="cuda").bfloat16() for _ in range(2))
    out = torch.full_like(q, float("nan"))
    padded = 1 << (head - 1).bit_length()
    attention(q, k, v, out, head**-0.5, CAUSAL=causal, D=padded, **tile)
    keys, values = (x.double().repeat_interleave(group, 1) for x in (k, v))
    scores = q.double() @ keys.mT / head**0.5
    if causal:
        seen = torch.ones(m, n, device="cuda", dtype=torch.bool).tril(n - m)
        scores = scores.masked_fill(~seen, float("-inf"))
    reference = scores.softmax(-1) @ values
    error = float((out.double() - reference).norm() / reference.norm())
    assert error < 1e-2, (q.shape, k.shape, causal, tile)
