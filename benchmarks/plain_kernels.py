"""A product and attention as an author writes them: nothing is pinned but a persistent grid.

What runs them, and when, the compiler decides; only the tiles' extents are given.
"""

from __future__ import annotations

import kiln


@kiln.kernel
def gemm(
    a: kiln.View, b: kiln.View, c: kiln.View,
    BM: kiln.constexpr = 128, BN: kiln.constexpr = 256, BK: kiln.constexpr = 64,
):  # fmt: skip
    """c = a · b: [m, k] by [k, n] to [m, n], of any strides."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    kiln.pin(persistent=(0, 16))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, a.shape[1], BK):
        x = a.load((i * BM, k), (BM, BK))
        y = b.load((k, j * BN), (BK, BN))
        acc = kiln.dot(x, y, acc)
    c.store((i * BM, j * BN), acc.to(c.dtype))


@kiln.kernel
def attention(
    q: kiln.View, k: kiln.View, v: kiln.View, o: kiln.View, n, exponent: kiln.f32,
    CAUSAL: kiln.constexpr, D: kiln.constexpr,
    BM: kiln.constexpr = 128, BN: kiln.constexpr = 128,
):  # fmt: skip
    """Heads that lie below one another, n rows of D each; where there are several, n is a multiple
    of BM, since a tile's last rows would be the next head's. A score counts as a power of two,
    whose exponent is the product of rows times `exponent`, which is positive."""
    tile, head = kiln.grid(kiln.cdiv(n, BM), kiln.cdiv(q.shape[0], kiln.maximum(n, 1)))
    kiln.pin(persistent=(0, 16))
    first = head * n
    queries = q.load((first + tile * BM, 0), (BM, D))
    row = (tile * BM).to(kiln.i32) + kiln.arange(BM)
    largest = kiln.full((BM,), float("-inf"), kiln.f32)
    total = kiln.zeros((BM,), kiln.f32)
    acc = kiln.zeros((BM, D), kiln.f32)
    end = n
    if CAUSAL:
        end = kiln.minimum(n, (tile + 1) * BM)
    for j in range(0, end, BN):
        keys = k.load((first + j, 0), (BN, D))
        values = v.load((first + j, 0), (BN, D))
        scores = kiln.dot(queries, keys, transpose_b=True)
        column = j.to(kiln.i32) + kiln.arange(BN)
        sees = column[None, :] < n.to(kiln.i32)
        if CAUSAL:
            sees = sees & (column[None, :] <= row[:, None])
        scores = kiln.where(sees, scores, float("-inf"))
        most = kiln.maximum(largest, kiln.max(scores, axis=1))
        weights = kiln.exp2(kiln.fma(scores, exponent, -(most * exponent)[:, None]), flush=True)
        shrink = kiln.exp2((largest - most) * exponent, flush=True)
        total = total * shrink + kiln.sum(weights, axis=1)
        acc = kiln.dot(weights.to(v.dtype), values, acc * shrink[:, None])
        largest = most
    mean = acc * (1.0 / total)[:, None]
    o.store((first + tile * BM, 0), mean.to(o.dtype))
