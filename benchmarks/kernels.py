"""Our kernels that are measured. The same algorithms as the examples, without their comments."""

from __future__ import annotations

import kiln


@kiln.kernel
def add(x: kiln.View, y: kiln.View, out: kiln.View, BLOCK: kiln.constexpr = 16384):
    n = x.shape[0]
    i = kiln.grid(kiln.cdiv(n, BLOCK))
    out.store((i * BLOCK,), x.load((i * BLOCK,), (BLOCK,)) + y.load((i * BLOCK,), (BLOCK,)))


@kiln.kernel
def softmax(x: kiln.View, out: kiln.View, BLOCK: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    row = x.load((i, 0), (1, BLOCK), pad=float("-inf"))
    e = kiln.exp(row - kiln.max(row, axis=1, keepdims=True))
    out.store((i, 0), e / kiln.sum(e, axis=1, keepdims=True))


@kiln.kernel
def rmsnorm(x: kiln.View, weight: kiln.View, out: kiln.View, eps: kiln.f32, BLOCK: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    row = x.load((i, 0), (1, BLOCK))
    mean_square = kiln.sum(row * row, axis=1, keepdims=True) / x.shape[1].to(kiln.f32)
    w = weight.load((0,), (BLOCK,))[None, :]
    out.store((i, 0), row * kiln.rsqrt(mean_square + eps) * w)


@kiln.kernel
def matmul(
    a: kiln.View, b: kiln.View, c: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr,
):  # fmt: skip
    M, K = a.shape
    N = b.shape[1]
    i, j = kiln.grid(kiln.cdiv(M, BM), kiln.cdiv(N, BN))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, K, BK):
        acc = kiln.dot(a.load((i * BM, k), (BM, BK)), b.load((k, j * BN), (BK, BN)), acc)
    c.store((i * BM, j * BN), acc.to(c.dtype))


@kiln.kernel
def attention(
    q: kiln.View, k: kiln.View, v: kiln.View, out: kiln.View, scale: kiln.f32,
    BM: kiln.constexpr, BN: kiln.constexpr, D: kiln.constexpr,
):  # fmt: skip
    heads, N = q.shape[0], k.shape[1]
    i, h = kiln.grid(kiln.cdiv(q.shape[1], BM), heads)
    tile_q = q.load((h, i * BM, 0), (1, BM, D)).reshape((BM, D))
    highest = kiln.full((BM,), float("-inf"), kiln.f32)
    total = kiln.zeros((BM,), kiln.f32)
    acc = kiln.zeros((BM, D), kiln.f32)
    for j in range(0, N, BN):
        tile_k = k.load((h, j, 0), (1, BN, D)).reshape((BN, D))
        tile_v = v.load((h, j, 0), (1, BN, D)).reshape((BN, D))
        score = kiln.dot(tile_q, tile_k, transpose_b=True) * (scale * 1.4426950408889634)
        score = kiln.where((j.to(kiln.i32) + kiln.arange(BN))[None, :] < N.to(kiln.i32), score,
                           float("-inf"))  # fmt: skip
        new_highest = kiln.maximum(highest, kiln.max(score, axis=1))
        p = kiln.exp2(score - new_highest[:, None])
        old = kiln.exp2(highest - new_highest)
        total = total * old + kiln.sum(p, axis=1)
        acc = kiln.dot(p, tile_v, acc * old[:, None])
        highest = new_highest
    out.store((h, i * BM, 0), (acc / total[:, None]).reshape((1, BM, D)))


@kiln.kernel
def empty(a: kiln.View, b: kiln.View, c: kiln.View, m: kiln.i64, n: kiln.i64):
    kiln.grid(1)
