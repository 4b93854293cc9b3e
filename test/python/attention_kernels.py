"""Attention as a textbook has it, for tests of what the compiler decides of it."""

import kiln


@kiln.kernel
def attention(
    q: kiln.View, k: kiln.View, v: kiln.View, out: kiln.View, scale: kiln.f32,
    CAUSAL: kiln.constexpr, BM: kiln.constexpr, BN: kiln.constexpr, D: kiln.constexpr,
):  # fmt: skip
    """softmax(q kᵀ · scale) v of one head as exponentials of 2; with CAUSAL, row i sees keys up to i."""
    i = kiln.grid(kiln.cdiv(q.shape[0], BM))
    n = k.shape[0]
    queries = q.load((i * BM, 0), (BM, D))
    row = (i * BM).to(kiln.i32) + kiln.arange(BM)
    highest = kiln.full((BM,), float("-inf"), kiln.f32)
    total, acc = kiln.zeros((BM,), kiln.f32), kiln.zeros((BM, D), kiln.f32)
    end = kiln.minimum(n, (i + 1) * BM) if CAUSAL else n
    for j in range(0, end, BN):
        column = j.to(kiln.i32) + kiln.arange(BN)
        score = kiln.dot(queries, k.load((j, 0), (BN, D)), transpose_b=True) * scale
        visible = column[None, :] < n.to(kiln.i32)
        if CAUSAL:
            visible = visible & (column[None, :] <= row[:, None])
        score = kiln.where(visible, score, float("-inf"))
        new = kiln.maximum(highest, kiln.max(score, axis=1))
        p = kiln.exp2(score - new[:, None])
        old = kiln.exp2(highest - new)
        total = total * old + kiln.sum(p, axis=1)
        acc = kiln.dot(p.to(v.dtype), v.load((j, 0), (BN, D)), acc * old[:, None])
        highest = new
    out.store((i * BM, 0), (acc / total[:, None]).to(out.dtype))
