"""FlashAttention, forward: softmax(q kᵀ · scale) v without ever holding the scores.

Each program owns BM queries of one head and walks over the keys with a running maximum and a
running sum (Milakov and Gimelshein 2018; Dao et al. 2022). With grouped queries several query
heads share one key head. A head size that is no multiple of 16 is padded while loading: the zeros
add nothing to q kᵀ, and the extra columns of v are dropped by the store.
"""

import ml_dtypes
import numpy as np
from checking import check, generator

import kiln


@kiln.kernel
def attention(
    q: kiln.View, k: kiln.View, v: kiln.View, out: kiln.View, scale: kiln.f32,
    CAUSAL: kiln.constexpr, D: kiln.constexpr,
    BM: kiln.tunable = kiln.tunable(64, 32, 128, 192),
    BN: kiln.tunable = kiln.tunable(64, 32, 128),
):  # fmt: skip
    batch, heads, M, _ = q.shape
    kv_heads, N = k.shape[1], k.shape[2]
    i, h, b = kiln.grid(kiln.cdiv(M, BM), heads, batch)
    kv = h // (heads // kv_heads)

    tile_q = q.load((b, h, i * BM, 0), (1, 1, BM, D)).reshape((BM, D))
    row = (i * BM).to(kiln.i32) + kiln.arange(BM)
    highest = kiln.full((BM,), float("-inf"), kiln.f32)
    total = kiln.zeros((BM,), kiln.f32)
    acc = kiln.zeros((BM, D), kiln.f32)
    exponent = scale * 1.4426950408889634  # of 2; the scale is positive

    end = N
    if CAUSAL:  # queries are the last M of N positions
        end = kiln.minimum(N, (i + 1) * BM + N - M)
        row += (N - M).to(kiln.i32)
    for j in range(0, end, BN):
        tile_k = k.load((b, kv, j, 0), (1, 1, BN, D)).reshape((BN, D))
        tile_v = v.load((b, kv, j, 0), (1, 1, BN, D)).reshape((BN, D))
        column = j.to(kiln.i32) + kiln.arange(BN)
        score = kiln.dot(tile_q, tile_k, transpose_b=True)
        visible = column[None, :] < N.to(kiln.i32)
        if CAUSAL:
            visible = visible & (column[None, :] <= row[:, None])
        score = kiln.where(visible, score, float("-inf"))

        new_highest = kiln.maximum(highest, kiln.max(score, axis=1))
        # Weights below 2^-126 beside that of the largest score, 1, count as none.
        p = kiln.exp2(kiln.fma(score, exponent, -(new_highest * exponent)[:, None]), flush=True)
        old = kiln.exp2((highest - new_highest) * exponent, flush=True)
        total = total * old + kiln.sum(p, axis=1)
        acc = kiln.dot(p.to(v.dtype), tile_v, acc * old[:, None])
        highest = new_highest
    y = acc / total[:, None]
    out.store((b, h, i * BM, 0), y.to(out.dtype).reshape((1, 1, BM, D)))


def reference(q, k, v, scale, causal):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    score = q @ k.swapaxes(2, 3) * scale
    if causal:
        m, n = score.shape[2:]
        score = np.where(np.tri(m, n, n - m, dtype=bool), score, -np.inf)
    p = np.exp(score - score.max(axis=3, keepdims=True))
    return p / p.sum(axis=3, keepdims=True) @ v


def main() -> None:
    rng = generator()
    for dtype, tolerance in ((np.float32, 2e-6), (ml_dtypes.bfloat16, 8e-3)):
        for batch, heads, kv_heads, m, n, d in (
            (1, 2, 2, 128, 128, 64),
            (2, 4, 2, 100, 100, 80),
            (1, 8, 2, 65, 200, 128),
        ):
            for causal in (False, True):
                q = rng.standard_normal((batch, heads, m, d)).astype(dtype)
                k, v = rng.standard_normal((2, batch, kv_heads, n, d)).astype(dtype)
                out = np.empty_like(q)
                scale = d**-0.5
                attention(
                    q, k, v, out, scale, CAUSAL=causal, D=-(-d // 16) * 16
                )  # fmt: skip
                name = f"attention {heads}/{kv_heads} heads, d{d}, {'causal' if causal else 'full'}"
                expected = reference(q, k, v, scale, causal)
                check(f"{name}, {q.dtype}", out, expected, tolerance)


if __name__ == "__main__":
    main()
