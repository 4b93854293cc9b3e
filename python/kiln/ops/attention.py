"""Attention, forward: softmax(q kᵀ · scale) v without ever holding the scores.

Each program owns BM queries of one head and walks over those blocks of keys of which it sees any,
with a running maximum and a running sum (Milakov and Gimelshein 2018; Dao et al. 2022).
"""

from __future__ import annotations

from typing import Any

import kiln
from kiln.ops import arrays

OP = "attention"
DTYPES = (kiln.bf16, kiln.f16, kiln.f32)
LARGEST_HEAD = 256
LOG2_E = 1.4426950408889634
LN_2 = 0.6931471805599453
# What the running maximum begins with: finite, so that a row that has seen no key yet subtracts it
# without a NaN, and lower than any score.
LOWEST = -1e30


@kiln.function
def fits(q, precision: kiln.constexpr, D: kiln.constexpr, BM: kiln.constexpr, BN: kiln.constexpr):
    """Whether registers have room for tiles of heads of D: the model considers no others."""
    if q.dtype == kiln.f32 and precision == "ieee":  # no matrix unit multiplies
        return BN <= 32 and (BM <= 32 or BM * D <= 64 * 64)
    return D <= 128 or BN <= 64


@kiln.function
def weigh(state, score, tile_v, exponent, PRECISION: kiln.constexpr):
    """The running maximum, sum and weighted values behind one more block of scores."""
    highest, total, acc = state
    new_highest = kiln.maximum(highest, kiln.max(score, axis=1))
    # Weights below 2^-126 beside that of the largest score, 1, count as none.
    p = kiln.exp2(kiln.fma(score, exponent, -(new_highest * exponent)[:, None]), flush=True)
    old = kiln.exp2((highest - new_highest) * exponent, flush=True)
    acc = kiln.dot(p.to(tile_v.dtype), tile_v, acc * old[:, None], precision=PRECISION)
    return new_highest, total * old + kiln.sum(p, axis=1), acc


@kiln.function
def nothing_yet(BM: kiln.constexpr, DV: kiln.constexpr):
    highest, total = kiln.full((BM,), LOWEST, kiln.f32), kiln.zeros((BM,), kiln.f32)
    return highest, total, kiln.zeros((BM, DV), kiln.f32)


@kiln.function
def capped_score(score, scale):
    """The hyperbolic tangent of a score, by an exponent of 2."""
    return 1.0 - 2.0 / (1.0 + kiln.exp2(score * scale, flush=True))


@kiln.function
def attend(
    q, k, v, out, lse, lengths, i, h, b, scale, exponent, left, right,
    MASK: kiln.constexpr, PRECISION: kiln.constexpr, D: kiln.constexpr, DV: kiln.constexpr,
    BM: kiln.constexpr, BN: kiln.constexpr,
):  # fmt: skip
    """The queries number i of a head.

    MASK      whether queries see no later key, whether `left` and `right` bound what they see, and
              whether scores are capped
    exponent  makes a score, or a capped one from -1 to 1, an exponent of 2
    scale     makes a score the exponent of 2 that its hyperbolic tangent is computed by
    """
    widest = D if D > DV else DV
    kiln.static_assert(fits(q, PRECISION, widest, BM, BN), "registers have room for smaller tiles")
    causal, from_left, to_right, capped = MASK
    M, N = q.shape[2], k.shape[2]
    query_lengths, key_lengths = lengths
    rows, keys = M, N
    if query_lengths is not None:
        rows = kiln.clamp(query_lengths[b].to(kiln.index), 0, M)
    if key_lengths is not None:
        keys = kiln.clamp(key_lengths[b].to(kiln.index), 0, N)
    shift = keys - rows  # queries are the last of the positions

    begin, end = 0, keys
    if causal:
        end = kiln.minimum(end, (i + 1) * BM + shift)
    elif to_right:
        end = kiln.minimum(end, (i + 1) * BM + shift + right)
    if from_left:
        begin = kiln.maximum(i * BM + shift - left, 0) // BN * BN
    if query_lengths is not None:
        end = end if i * BM < rows else begin

    kv = h // (q.shape[1] // k.shape[1])
    tile_q = q.load((b, h, i * BM, 0), (1, 1, BM, D)).reshape((BM, D))
    row = (i * BM).to(kiln.i32) + kiln.arange(BM)
    position = row + shift.to(kiln.i32)
    state = nothing_yet(BM, DV)
    for j in range(begin, end, BN):
        tile_k = k.load((b, kv, j, 0), (1, 1, BN, D)).reshape((BN, D))
        tile_v = v.load((b, kv, j, 0), (1, 1, BN, DV)).reshape((BN, DV))
        column = j.to(kiln.i32) + kiln.arange(BN)
        score = kiln.dot(tile_q, tile_k, transpose_b=True, precision=PRECISION)
        if capped:
            score = capped_score(score, scale)
        visible = column[None, :] < keys.to(kiln.i32)
        if causal:
            visible = visible & (column[None, :] <= position[:, None])
        elif to_right:
            visible = visible & (column[None, :] <= (position + right)[:, None])
        if from_left:
            visible = visible & (column[None, :] >= (position - left)[:, None])
        score = kiln.where(visible, score, float("-inf"))
        state = weigh(state, score, tile_v, exponent, PRECISION)

    highest, total, acc = state
    seen = total != 0.0
    y = acc / kiln.where(seen, total, 1.0)[:, None]
    if query_lengths is not None:
        seen = seen & (row < rows.to(kiln.i32))
        y = kiln.where(seen[:, None], y, 0.0)
    out.store((b, h, i * BM, 0), y.to(out.dtype).reshape((1, 1, BM, DV)))
    if lse is not None:
        base_2 = highest * exponent + kiln.log2(total)
        value = kiln.where(seen, base_2 * LN_2, float("-inf"))
        lse.store((b, h, i * BM), value.reshape((1, 1, BM)))


@kiln.kernel
def attention_alone(
    q: kiln.View, k: kiln.View, v: kiln.View, out: kiln.View, scale: kiln.f32, exponent: kiln.f32,
    left: kiln.i32, right: kiln.i32,
    MASK: kiln.constexpr, PRECISION: kiln.constexpr, D: kiln.constexpr, DV: kiln.constexpr,
    BM: kiln.tunable = kiln.tunable(64, 128, 192, 32),
    BN: kiln.tunable = kiln.tunable(64, 128, 32),
):  # fmt: skip
    i, h, b = kiln.grid(kiln.cdiv(q.shape[2], BM), q.shape[1], q.shape[0])
    attend(
        q, k, v, out, None, (None, None), i, h, b, scale, exponent, left, right,
        MASK, PRECISION, D, DV, BM, BN,
    )  # fmt: skip


@kiln.kernel
def attention_with(
    q: kiln.View, k: kiln.View, v: kiln.View, out: kiln.View, lse: kiln.View | None, lengths: tuple,
    scale: kiln.f32, exponent: kiln.f32, left: kiln.i32, right: kiln.i32,
    MASK: kiln.constexpr, PRECISION: kiln.constexpr, D: kiln.constexpr, DV: kiln.constexpr,
    BM: kiln.tunable = kiln.tunable(64, 128, 192, 32),
    BN: kiln.tunable = kiln.tunable(64, 128, 32),
):  # fmt: skip
    i, h, b = kiln.grid(kiln.cdiv(q.shape[2], BM), q.shape[1], q.shape[0])
    attend(
        q, k, v, out, lse, lengths, i, h, b, scale, exponent, left, right,
        MASK, PRECISION, D, DV, BM, BN,
    )  # fmt: skip


def attention(
    q: Any,
    k: Any,
    v: Any,
    out: Any = None,
    *,
    causal: bool = False,
    scale: float | None = None,
    window: int | tuple[int | None, int | None] | None = None,
    softcap: float | None = None,
    lengths: Any = None,
    return_lse: bool = False,
    precision: str = "ieee",
    **launch: Any,
) -> Any:
    """softmax(q kᵀ · scale) v for each head.

    q            [batch, heads, queries, d] of f16, bf16 or f32, d at most 256; any strides, so of
                 [batch, queries, heads, d] a view with the dimensions swapped does
    k, v         [batch, key heads, keys, d] and [..., dv] of the same dtype; each key head serves
                 heads / key heads heads that follow one another
    out          [batch, heads, queries, dv]
    causal       a query sees no key of a later position than its own. The queries are the last of
                 the positions: query r has position r + keys - queries
    scale        of scores; d ** -0.5 unless given; above 0
    window       (left, right): a query sees so many keys in front of its position, that at it, and
                 so many behind it, None for all; one number for both
    softcap      scores s become softcap * tanh(s / softcap) in front of the masks
    lengths      how many of the queries and keys each batch has, i32 or i64 of [batch]: one array
                 where both have as many, else a pair, with None for all. Queries beyond give
                 zeros. Keys beyond are not seen, but values may be read up to the end of a
                 block: they are finite there
    return_lse   gives a pair of the result and the logarithm of the sum of exponentials of each
                 row, f32 of [batch, heads, queries]
    precision    how f32 is read, as `matmul` has it
    launch       options of a launch, `_stream=...`, and tunables, `BM=128, BN=64`, which the model
                 chooses otherwise

    A query that sees no key gives zeros, and minus infinity for the logarithm. Blocks of keys that
    no query of a program sees are not read.

    Errors: other dtypes or shapes; no `out` beside inputs that are not NumPy's or PyTorch's.
    """
    dtype = arrays.check_dtype(OP, "q", q, DTYPES)
    shapes = {name: arrays.shape_of(OP, name, x) for name, x in (("q", q), ("k", k), ("v", v))}
    for name, shape in shapes.items():
        arrays.check_dtype(OP, name, {"q": q, "k": k, "v": v}[name], (dtype,))
        if len(shape) != 4:
            arrays.refuse(OP, name, f"expected [batch, heads, length, d], got the shape {shape}")
    (batch, heads, queries, d), (_, key_heads, keys, _) = shapes["q"], shapes["k"]
    dv = shapes["v"][3]
    if shapes["k"] != (batch, key_heads, keys, d) or not key_heads or heads % key_heads:
        arrays.refuse(
            OP, "k",
            f"expected the batch {batch}, a divisor of {heads} heads, and head size {d}, got the "
            f"shape {shapes['k']}",
        )  # fmt: skip
    arrays.check_shape(OP, "v", v, (batch, key_heads, keys, dv))
    for name, size in (("q", d), ("v", dv)):
        if not 0 < size <= LARGEST_HEAD:
            arrays.refuse(OP, name, f"expected a head size from 1 to {LARGEST_HEAD}, got {size}")
    arrays.check_precision(OP, precision)
    out = arrays.result(OP, out, q, (batch, heads, queries, dv), (dtype, *DTYPES))
    lse = arrays.empty(OP, q, (batch, heads, queries), kiln.f32) if return_lse else None
    left, right = _window(window)
    mask = (bool(causal), left is not None, not causal and right is not None, softcap is not None)
    numbers = (*exponents(OP, scale, softcap, d), left or 0, right or 0)
    constants = {"MASK": mask, "PRECISION": precision, "D": padded(d), "DV": padded(dv), **launch}
    counts = _lengths(lengths, batch, queries, keys)
    if lse is None and all(each is None for each in counts):
        attention_alone(q, k, v, out, *numbers, **constants)
    else:
        attention_with(q, k, v, out, lse, counts, *numbers, **constants)
    return (out, lse) if return_lse else out


def exponents(op: str, scale: float | None, softcap: float | None, d: int) -> tuple[float, float]:
    """What makes a score the exponent of its hyperbolic tangent, and what makes a score, or that
    tangent, the exponent of its weight."""
    scale = d**-0.5 if scale is None else float(scale)
    for name, value in (("scale", scale), ("softcap", softcap)):
        if value is not None and not 0 < value < float("inf"):
            arrays.refuse(op, name, f"expected a number above 0, got {value}")
    if softcap is None:
        return 1.0, scale * LOG2_E
    return 2 * LOG2_E * scale / softcap, softcap * LOG2_E


def padded(size: int) -> int:
    """The extent of a tile that holds a head: of which instructions multiply all but little."""
    return kiln.cdiv(size, 16) * 16


def _window(window: Any) -> tuple[int | None, int | None]:
    pair = window if isinstance(window, tuple) else (window, window)
    if len(pair) != 2 or not all(n is None or arrays.is_count(n) for n in pair):
        arrays.refuse(OP, "window", f"expected one or two counts of keys or None, got {window!r}")
    return pair


def _lengths(lengths: Any, batch: int, queries: int, keys: int) -> tuple[Any, Any]:
    if lengths is None:
        return None, None
    if not isinstance(lengths, tuple):
        if queries != keys:
            arrays.refuse(
                OP, "lengths",
                f"expected a pair, those of queries and those of keys, since there are {queries} "
                f"queries and {keys} keys, got one array",
            )  # fmt: skip
        lengths = (lengths, lengths)
    if len(lengths) != 2:
        arrays.refuse(OP, "lengths", f"expected a pair, got {len(lengths)}")
    for each in lengths:
        if each is not None:
            arrays.check_dtype(OP, "lengths", each, (kiln.i32, kiln.i64))
            arrays.check_shape(OP, "lengths", each, (batch,))
    return lengths
