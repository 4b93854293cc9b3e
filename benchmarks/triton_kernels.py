"""The same kernels in Triton, for its interpreter mode: the same blocks, the same arithmetic."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def _add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    tl.store(out + at, total, mask=inside)


@triton.jit
def _softmax(x, out, columns, BLOCK: tl.constexpr):
    i, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.load(x + i * columns + at, mask=inside, other=float("-inf"))
    e = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + i * columns + at, e / tl.sum(e, axis=0), mask=inside)


@triton.jit
def _rmsnorm(x, weight, out, columns, eps, BLOCK: tl.constexpr):
    i, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.load(x + i * columns + at, mask=inside, other=0.0)
    w = tl.load(weight + at, mask=inside)
    y = row * tl.rsqrt(tl.sum(row * row, axis=0) / columns + eps) * w
    tl.store(out + i * columns + at, y, mask=inside)


@triton.jit
def _matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        tile_a = tl.load(a + m[:, None] * K + k, mask=(m[:, None] < M) & (k < K), other=0.0)
        tile_b = tl.load(b + k[:, None] * N + n, mask=(k[:, None] < K) & (n < N), other=0.0)
        acc = tl.dot(tile_a, tile_b, acc, input_precision="ieee")
    tl.store(c + m[:, None] * N + n, acc, mask=(m[:, None] < M) & (n < N))


@triton.jit
def _attention(q, k, v, out, N, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    m, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    head = tl.program_id(1) * N * D
    tile_q = tl.load(q + head + m[:, None] * D + d, mask=m[:, None] < N, other=0.0)
    highest = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, N, BN):
        n = start + tl.arange(0, BN)
        tile_k = tl.load(k + head + n[:, None] * D + d, mask=n[:, None] < N, other=0.0)
        tile_v = tl.load(v + head + n[:, None] * D + d, mask=n[:, None] < N, other=0.0)
        score = tl.dot(tile_q, tl.trans(tile_k), input_precision="ieee")
        score = tl.where(n < N, score * (scale * 1.4426950408889634), float("-inf"))
        new_highest = tl.maximum(highest, tl.max(score, axis=1))
        p = tl.exp2(score - new_highest[:, None])
        old = tl.exp2(highest - new_highest)
        total = total * old + tl.sum(p, axis=1)
        acc = tl.dot(p, tile_v, acc * old[:, None], input_precision="ieee")
        highest = new_highest
    y = acc / total[:, None]
    tl.store(out + head + m[:, None] * D + d, y, mask=m[:, None] < N)


def add(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor, BLOCK: int) -> None:
    n = x.numel()
    _add[(triton.cdiv(n, BLOCK),)](x, y, out, n, BLOCK=BLOCK)


def softmax(x: torch.Tensor, out: torch.Tensor, BLOCK: int) -> None:
    _softmax[(x.shape[0],)](x, out, x.shape[1], BLOCK=BLOCK)


def rmsnorm(x, weight, out, eps: float, BLOCK: int) -> None:
    _rmsnorm[(x.shape[0],)](x, weight, out, x.shape[1], eps, BLOCK=BLOCK)


def matmul(a, b, c, BM: int, BN: int, BK: int) -> None:
    (m, k), n = a.shape, b.shape[1]
    _matmul[(triton.cdiv(m, BM), triton.cdiv(n, BN))](a, b, c, m, n, k, BM=BM, BN=BN, BK=BK)


def attention(q, k, v, out, scale: float, BM: int, BN: int, D: int) -> None:
    heads, n, _ = q.shape
    _attention[(triton.cdiv(n, BM), heads)](q, k, v, out, n, scale, BM=BM, BN=BN, D=D)
