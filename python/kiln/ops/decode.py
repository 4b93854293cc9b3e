"""Attention of few queries over many keys, as of a decoder's step.

The keys of a head are split over programs, each of which leaves its result and the logarithm of its
sum; a second kernel combines them. All heads that share a key head are rows of one tile, so that
keys are read once.
"""

from __future__ import annotations

from typing import Any

import kiln
from kiln.ops import arrays
from kiln.ops.attention import (
    DTYPES,
    LARGEST_HEAD,
    LN_2,
    capped_score,
    exponents,
    nothing_yet,
    padded,
    weigh,
)  # fmt: skip

OP = "decode"
MOST_ROWS = 128
MOST_SPLITS = 128
FEWEST_KEYS = 256  # of a split: of fewer, combining costs more than they gain
FEWEST_ROWS = 16  # of a tile: what an instruction has


@kiln.function
def rows_of(
    x, table, b, kv, j, keys, PAGE: kiln.constexpr, BN: kiln.constexpr, D: kiln.constexpr,
    CUT: kiln.constexpr,
):  # fmt: skip
    """BN rows of a key head from number j on. With CUT what lies behind `keys` is zeros: a cache
    may have anything there, and a weight of zero times a NaN is a NaN."""
    if table is None:
        head = x[b, kv]
        if CUT:
            head = head[:keys]
        return head.load((j, 0), (BN, D))
    if PAGE % BN == 0:
        first = j % PAGE
        head = x[table[b, j // PAGE].to(kiln.index), kv]
        if CUT:
            head = head[: keys - (j - first)]
        return head.load((first, 0), (BN, D))
    row = j.to(kiln.i32) + kiln.arange(BN)
    inside = row < keys.to(kiln.i32)
    page = table.gather((b, row // PAGE), mask=inside, pad=-1)
    at = (page[:, None], kv, (row % PAGE)[:, None], kiln.arange(D)[None, :])
    return x.gather(at, mask=inside[:, None])


@kiln.kernel
def decode_split(
    q: kiln.View, k: kiln.View, v: kiln.View, out: kiln.View, logs: kiln.View | None,
    lengths: kiln.View | None, table: kiln.View | None, splits: kiln.i32,
    scale: kiln.f32, exponent: kiln.f32, left: kiln.i32,
    SPLIT: kiln.constexpr, GROUP: kiln.constexpr, HEADS: kiln.constexpr, QUERIES: kiln.constexpr,
    WINDOW: kiln.constexpr, CAP: kiln.constexpr, PRECISION: kiln.constexpr, PAGE: kiln.constexpr,
    D: kiln.constexpr, DV: kiln.constexpr,
    BN: kiln.tunable = kiln.tunable(64, 128, 32),
):  # fmt: skip
    """A part of the keys of one key head, for the GROUP heads that share it.

    out, logs  with SPLIT [batch, heads, queries, splits(, dv)], of which `combine` makes results
    HEADS      and QUERIES are those of a tile, at least as many as there are
    """
    s, kv, b = kiln.grid(splits, k.shape[1], q.shape[0])
    M = q.shape[2]
    keys = k.shape[2] if table is None else table.shape[1] * PAGE
    if lengths is not None:
        keys = kiln.clamp(lengths[b].to(kiln.index), 0, keys)
    begin = 0
    if WINDOW:
        begin = kiln.maximum(keys - M - left, 0) // BN * BN
    share = kiln.cdiv(kiln.cdiv(keys - begin, BN), splits.to(kiln.index)) * BN
    begin += s * share
    end = kiln.minimum(begin + share, keys)

    BM = HEADS * QUERIES
    mine = q[b, kv * GROUP : (kv + 1) * GROUP]
    tile_q = mine.load((0, 0, 0), (HEADS, QUERIES, D)).reshape((BM, D))
    # Rows that pad the tile see no more than the last query does.
    query = kiln.minimum(kiln.arange(BM) % QUERIES, M.to(kiln.i32) - 1)
    position = (keys - M).to(kiln.i32) + query
    state = nothing_yet(BM, DV)
    for j in range(begin, end, BN):
        tile_k = rows_of(k, table, b, kv, j, keys, PAGE, BN, D, False)
        cut = lengths is not None or table is not None
        tile_v = rows_of(v, table, b, kv, j, keys, PAGE, BN, DV, cut)
        column = j.to(kiln.i32) + kiln.arange(BN)
        score = kiln.dot(tile_q, tile_k, transpose_b=True, precision=PRECISION)
        if CAP:
            score = capped_score(score, scale)
        visible = column[None, :] <= position[:, None]
        if WINDOW:
            visible = visible & (column[None, :] >= (position - left)[:, None])
        score = kiln.where(visible, score, float("-inf"))
        state = weigh(state, score, tile_v, exponent, PRECISION)

    highest, total, acc = state
    seen = total != 0.0
    y = (acc / kiln.where(seen, total, 1.0)[:, None]).to(out.dtype)
    log = kiln.where(seen, highest * exponent + kiln.log2(total), float("-inf"))
    mine = out[b, kv * GROUP : (kv + 1) * GROUP]
    if SPLIT:
        mine.store((0, 0, s, 0), y.reshape((HEADS, QUERIES, 1, DV)))
        ends = logs[b, kv * GROUP : (kv + 1) * GROUP]
        ends.store((0, 0, s), log.reshape((HEADS, QUERIES, 1)))
    else:
        mine.store((0, 0, 0), y.reshape((HEADS, QUERIES, DV)))
        if logs is not None:
            ends = logs[b, kv * GROUP : (kv + 1) * GROUP]
            ends.store((0, 0), (log * LN_2).reshape((HEADS, QUERIES)))


@kiln.kernel
def combine(
    parts: kiln.View, logs: kiln.View, out: kiln.View, lse: kiln.View | None,
    SPLITS: kiln.constexpr, DV: kiln.constexpr,
):  # fmt: skip
    """The result of a query of those of its splits."""
    m, h, b = kiln.grid(out.shape[2], out.shape[1], out.shape[0])
    y = parts.load((b, h, m, 0, 0), (1, 1, 1, SPLITS, DV)).reshape((SPLITS, DV))
    log = logs.load((b, h, m, 0), (1, 1, 1, SPLITS), pad=float("-inf")).reshape((SPLITS,))
    highest = kiln.max(log)
    base = highest if highest > float("-inf") else 0.0
    weight = kiln.exp2(log - base)
    total = kiln.sum(weight)
    divisor = total if total != 0.0 else 1.0
    mean = kiln.sum(y * weight[:, None], axis=0) / divisor
    out.store((b, h, m, 0), mean.to(out.dtype).reshape((1, 1, 1, DV)))
    if lse is not None:
        value = (base + kiln.log2(total)) * LN_2  # of no key minus infinity, as log2(0) is
        lse[b, h, m] = value


def decode(
    q: Any,
    k: Any,
    v: Any,
    out: Any = None,
    *,
    lengths: Any = None,
    block_table: Any = None,
    scale: float | None = None,
    window: int | None = None,
    softcap: float | None = None,
    return_lse: bool = False,
    splits: int | None = None,
    precision: str = "ieee",
    **launch: Any,
) -> Any:
    """Causal attention of the last queries of each sequence over its keys.

    q            [batch, heads, d], or [batch, heads, queries, d] of few queries: heads / key heads
                 times queries at most 128; f16, bf16 or f32, d at most 256
    k, v         [batch, key heads, keys, d] and [..., dv] of the same dtype; with `block_table`
                 [pages, key heads, page, d]. Any strides, so of [pages, page, key heads, d] a view
                 with the dimensions swapped does
    out          of q's shape, with dv
    lengths      how many keys each sequence has, i32 or i64 of [batch]; without it all that there
                 are. What lies behind may be anything
    block_table  i32 of [batch, pages of a sequence]: in which page of k and v the keys of each page
                 of a sequence lie. Pages behind the length are not looked at
    window       how many keys in front of its own position a query sees
    splits       into how many parts keys are split; by the device's cores unless given
    scale, softcap, return_lse, precision, launch
                 as `attention` has them

    Query r has position r + keys - queries and sees no later key. One that sees none gives zeros,
    and minus infinity for the logarithm.

    Errors: other dtypes or shapes; no `out` beside inputs that are not NumPy's or PyTorch's.
    """
    dtype = arrays.check_dtype(OP, "q", q, DTYPES)
    given = arrays.shape_of(OP, "q", q)
    if len(given) not in (3, 4):
        arrays.refuse(
            OP, "q",
            f"expected [batch, heads, d] or [batch, heads, queries, d], got the shape {given}",
        )  # fmt: skip
    if len(given) == 3:
        q = q[:, :, None]
    batch, heads, queries, d = arrays.shape_of(OP, "q", q)
    shapes = [arrays.shape_of(OP, "k", k), arrays.shape_of(OP, "v", v)]
    for name, array, shape in zip("kv", (k, v), shapes):
        arrays.check_dtype(OP, name, array, (dtype,))
        if len(shape) != 4:
            words = "[batch, key heads, keys, d], of pages [pages, key heads, page, d]"
            arrays.refuse(OP, name, f"expected {words}, got the shape {shape}")
    (sequences, key_heads, keys, _), dv = shapes[0], shapes[1][3]
    paged = block_table is not None
    of_batch = paged or sequences == batch
    if shapes[0][3] != d or not key_heads or heads % key_heads or not of_batch:
        wanted = "" if paged else f"the batch {batch}, "
        arrays.refuse(
            OP, "k",
            f"expected {wanted}a divisor of {heads} heads, and head size {d}, got the shape "
            f"{shapes[0]}",
        )  # fmt: skip
    arrays.check_shape(OP, "v", v, (*shapes[0][:3], dv))
    for name, size in (("q", d), ("v", dv)):
        if not 0 < size <= LARGEST_HEAD:
            arrays.refuse(OP, name, f"expected a head size from 1 to {LARGEST_HEAD}, got {size}")
    group = heads // key_heads
    tile_queries = kiln.next_power_of_2(max(queries, 1))
    tile_heads = max(kiln.next_power_of_2(group), FEWEST_ROWS // tile_queries)
    if tile_heads * tile_queries > MOST_ROWS:
        arrays.refuse(
            OP, "q",
            f"expected heads / key heads times queries of at most {MOST_ROWS}, got {group} times "
            f"{queries}; kiln.ops.attention takes more",
        )  # fmt: skip
    page = 0
    if paged:
        arrays.check_dtype(OP, "block_table", block_table, (kiln.i32,))
        pages = arrays.shape_of(OP, "block_table", block_table)
        if len(pages) != 2 or pages[0] != batch:
            arrays.refuse(OP, "block_table", f"expected [{batch}, pages], got the shape {pages}")
        page, keys = keys, pages[1] * keys
        fitting = [n for n in (64, 32) if page % n == 0]
        launch = {"BN": fitting[0], **launch} if fitting else launch
    if lengths is not None:
        arrays.check_dtype(OP, "lengths", lengths, (kiln.i32, kiln.i64))
        arrays.check_shape(OP, "lengths", lengths, (batch,))
    arrays.check_precision(OP, precision)
    if window is not None and not arrays.is_count(window):
        arrays.refuse(OP, "window", f"expected a count of keys, got {window!r}")
    numbers = (*exponents(OP, scale, softcap, d), window or 0)
    shape = (*given[:-1], dv)
    result = arrays.result(OP, out, q, shape, (dtype, *DTYPES))
    lse = arrays.empty(OP, q, given[:-1], kiln.f32) if return_lse else None
    whole, ends = result, lse
    if len(given) == 3:
        whole, ends = result[:, :, None], None if lse is None else lse[:, :, None]
    if splits is None:
        splits = _splits(arrays.cores(q, launch.get("_device")), batch * key_heads, keys)
    elif not arrays.is_count(splits, 1, MOST_SPLITS):
        arrays.refuse(OP, "splits", f"expected from 1 to {MOST_SPLITS} parts, got {splits!r}")
    constants = {
        "SPLIT": splits > 1, "GROUP": group, "HEADS": tile_heads, "QUERIES": tile_queries,
        "WINDOW": window is not None, "CAP": softcap is not None, "PRECISION": precision,
        "PAGE": page, "D": padded(d), "DV": padded(dv), **launch,
    }  # fmt: skip
    if splits == 1:
        decode_split(q, k, v, whole, ends, lengths, block_table, 1, *numbers, **constants)
    else:
        partial = (batch, heads, queries, splits)
        parts = arrays.empty(OP, q, (*partial, dv), kiln.f32)
        logs = arrays.empty(OP, q, partial, kiln.f32)
        decode_split(q, k, v, parts, logs, lengths, block_table, splits, *numbers, **constants)
        options = {name: value for name, value in launch.items() if name.startswith("_")}
        combine(
            parts, logs, whole, ends, SPLITS=kiln.next_power_of_2(splits), DV=padded(dv), **options
        )  # fmt: skip
    return (result, lse) if return_lse else result


def _splits(cores: int, programs: int, keys: int) -> int:
    """As many as give each core two programs, of no fewer keys than pay."""
    wanted = 2 * cores // max(programs, 1)
    return max(1, min(wanted, keys // FEWEST_KEYS, MOST_SPLITS))
