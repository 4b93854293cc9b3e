"""Kernels of products that pin nothing, on a real GPU, against float64: drawn tiles, extents, strides
and epilogues; parts of views of four dimensions. Skipped elsewhere; utils/gpu-test runs it."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_machine import torch

import kiln


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View, bias: kiln.View, more: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr,
    BIAS: kiln.constexpr, MORE: kiln.constexpr, SCALED: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, a.shape[1], BK):
        x = a.load((i * BM, k), (BM, BK))
        if SCALED:  # the operand goes through registers
            x = (x.to(kiln.f32) * 0.5).to(x.dtype)
        acc = kiln.dot(x, b.load((k, j * BN), (BK, BN)), acc)
    if BIAS:
        acc = acc + bias.load((j * BN,), (BN,)).to(kiln.f32)[None, :]
    if MORE:
        acc = acc + more.load((i * BM, j * BN), (BM, BN)).to(kiln.f32)
    c.store((i * BM, j * BN), acc.to(c.dtype))


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
    switches = {name: bool(rng.integers(2)) for name in ("BIAS", "MORE", "SCALED")}
    product(a, b, c, bias, more, **tile, **switches)
    reference = a.double() @ b.double() * (0.5 if switches["SCALED"] else 1)
    if switches["BIAS"]:
        reference += bias.double()
    if switches["MORE"]:
        reference += more.double()
    error = float((c.double() - reference).norm() / reference.norm())
    worst = float((c.double() - reference).abs().max() / reference.abs().max())
    assert error < 4e-3, (m, n, k, kinds, tile, switches)
    assert worst < 1e-2, (m, n, k, kinds, tile, switches)


@kiln.kernel
def attention(
    q: kiln.View, k: kiln.View, v: kiln.View, out: kiln.View, exponent: kiln.f32,
    CAUSAL: kiln.constexpr, D: kiln.constexpr, BM: kiln.constexpr, BN: kiln.constexpr,
):  # fmt: skip
    i, h, b = kiln.grid(kiln.cdiv(q.shape[2], BM), q.shape[1], q.shape[0])
    M, N = q.shape[2], k.shape[2]
    kv = h // (q.shape[1] // k.shape[1])
    queries = q.load((b, h, i * BM, 0), (1, 1, BM, D)).reshape((BM, D))
    row = (i * BM).to(kiln.i32) + kiln.arange(BM)
    highest = kiln.full((BM,), float("-inf"), kiln.f32)
    total = kiln.zeros((BM,), kiln.f32)
    acc = kiln.zeros((BM, D), kiln.f32)
    end = N
    if CAUSAL:
        end = kiln.minimum(N, (i + 1) * BM + N - M)
        row += (N - M).to(kiln.i32)
    for j in range(0, end, BN):
        keys = k.load((b, kv, j, 0), (1, 1, BN, D)).reshape((BN, D))
        values = v.load((b, kv, j, 0), (1, 1, BN, D)).reshape((BN, D))
        column = j.to(kiln.i32) + kiln.arange(BN)
        score = kiln.dot(queries, keys, transpose_b=True)
        visible = column[None, :] < N.to(kiln.i32)
        if CAUSAL:
            visible = visible & (column[None, :] <= row[:, None])
        score = kiln.where(visible, score, float("-inf"))
        most = kiln.maximum(highest, kiln.max(score, axis=1))
        p = kiln.exp2(kiln.fma(score, exponent, -(most * exponent)[:, None]))
        old = kiln.exp2((highest - most) * exponent)
        total = total * old + kiln.sum(p, axis=1)
        acc = kiln.dot(p.to(v.dtype), values, acc * old[:, None])
        highest = most
    y = acc / total[:, None]
    out.store((b, h, i * BM, 0), y.to(out.dtype).reshape((1, 1, BM, D)))


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
    exponent = 1.4426950408889634 / head**0.5
    padded = 1 << (head - 1).bit_length()
    attention(q, k, v, out, exponent, CAUSAL=causal, D=padded, **tile)
    keys, values = (x.double().repeat_interleave(group, 1) for x in (k, v))
    scores = q.double() @ keys.mT / head**0.5
    if causal:
        seen = torch.ones(m, n, device="cuda", dtype=torch.bool).tril(n - m)
        scores = scores.masked_fill(~seen, float("-inf"))
    reference = scores.softmax(-1) @ values
    error = float((out.double() - reference).norm() / reference.norm())
    assert error < 1e-2, (q.shape, k.shape, causal, tile)
