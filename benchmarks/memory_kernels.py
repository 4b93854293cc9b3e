"""Our kernels that are bound by a GPU's memory. Each reads and writes every byte once.

Rows are as wide as the argument; `BLOCK` is a power of two that holds one, `W` the warps of a
program. Arithmetic is in f32, whatever the arrays hold.
"""

from __future__ import annotations

import kiln

LOG2E = 1.4426950408889634
LEAST = -1e30  # of logits: exp of it is zero, and it is no infinity, which fast_math rules out


@kiln.kernel
def rmsnorm(
    x: kiln.View, weight: kiln.View, out: kiln.View, eps: kiln.f32,
    BLOCK: kiln.constexpr, W: kiln.constexpr = 8,
):  # fmt: skip
    kiln.pin(warps=W)
    i = kiln.grid(x.shape[0])
    row = x.load((i, 0), (1, BLOCK)).to(kiln.f32)
    mean_square = kiln.sum(row * row, axis=1, keepdims=True) / x.shape[1].to(kiln.f32)
    w = weight.load((0,), (BLOCK,))[None, :].to(kiln.f32)
    y = row * kiln.rsqrt(mean_square + eps) * w
    out.store((i, 0), y.to(out.dtype))


@kiln.kernel(fast_math=True)
def layernorm_dropout(
    x: kiln.View, residual: kiln.View, weight: kiln.View, bias: kiln.View, total: kiln.View,
    out: kiln.View, seed: kiln.i64, keep: kiln.f32, eps: kiln.f32,
    BLOCK: kiln.constexpr, W: kiln.constexpr = 8,
):  # fmt: skip
    kiln.pin(warps=W)
    rows, columns = x.shape
    i = kiln.grid(rows)
    column = kiln.arange(BLOCK)[None, :]
    n = columns.to(kiln.f32)
    # One counter makes the random words of four neighbours.
    words = kiln.philox(seed, kiln.arange(BLOCK // 4), i.to(kiln.i32))
    evens, odds = kiln.join(words[0], words[2]), kiln.join(words[1], words[3])
    bits = kiln.join(evens, odds).reshape((1, BLOCK))
    kept = bits <= (keep * 4294967295.0).to(kiln.u32)
    dropped = x.load((i, 0), (1, BLOCK)).to(kiln.f32)
    dropped = kiln.where(kept, dropped * (1.0 / keep), 0.0)
    h = dropped + residual.load((i, 0), (1, BLOCK)).to(kiln.f32)
    total.store((i, 0), h.to(total.dtype))
    mean = kiln.sum(h, axis=1, keepdims=True) / n
    centred = kiln.where(column < columns.to(kiln.i32), h - mean, 0.0)
    variance = kiln.sum(centred * centred, axis=1, keepdims=True) / n
    w = weight.load((0,), (BLOCK,))[None, :].to(kiln.f32)
    b = bias.load((0,), (BLOCK,))[None, :].to(kiln.f32)
    y = centred * kiln.rsqrt(variance + eps) * w + b
    out.store((i, 0), y.to(out.dtype))


@kiln.kernel
def softmax(x: kiln.View, out: kiln.View, BLOCK: kiln.constexpr, W: kiln.constexpr = 8):
    kiln.pin(warps=W)
    i = kiln.grid(x.shape[0])
    row = x.load((i, 0), (1, BLOCK), pad=float("-inf")).to(kiln.f32)
    e = kiln.exp2((row - kiln.max(row, axis=1, keepdims=True)) * LOG2E)
    y = e * (1.0 / kiln.sum(e, axis=1, keepdims=True))
    out.store((i, 0), y.to(out.dtype))


@kiln.kernel
def swiglu(
    gate: kiln.View, up: kiln.View, out: kiln.View,
    BLOCK: kiln.constexpr = 4096, W: kiln.constexpr = 4,
):  # fmt: skip
    kiln.pin(warps=W)
    at = kiln.grid(kiln.cdiv(gate.shape[0], BLOCK))
    at = at * BLOCK
    g = gate.load((at,), (BLOCK,)).to(kiln.f32)
    u = up.load((at,), (BLOCK,)).to(kiln.f32)
    y = g * u / (1.0 + kiln.exp2(g * -LOG2E))
    out.store((at,), y.to(out.dtype))


@kiln.kernel(fast_math=True)
def gelu(
    x: kiln.View, out: kiln.View, BLOCK: kiln.constexpr = 4096, W: kiln.constexpr = 4
):  # fmt: skip
    kiln.pin(warps=W)
    at = kiln.grid(kiln.cdiv(x.shape[0], BLOCK))
    at = at * BLOCK
    t = x.load((at,), (BLOCK,)).to(kiln.f32)
    y = 0.5 * t * (1.0 + kiln.erf(t * 0.7071067811865476))
    out.store((at,), y.to(out.dtype))


@kiln.kernel
def rope(
    x: kiln.View, cos: kiln.View, sin: kiln.View, out: kiln.View,
    HALF: kiln.constexpr, ROWS: kiln.constexpr = 32, W: kiln.constexpr = 4,
):  # fmt: skip
    """Rotates the pairs (j, j + HALF) of rows [heads, positions, 2 HALF]."""
    kiln.pin(warps=W)
    heads, positions, _ = x.shape
    at, h = kiln.grid(kiln.cdiv(positions, ROWS), heads)
    at = at * ROWS
    c = cos.load((at, 0), (ROWS, HALF))[None, :, :].to(kiln.f32)
    s = sin.load((at, 0), (ROWS, HALF))[None, :, :].to(kiln.f32)
    low = x.load((h, at, 0), (1, ROWS, HALF)).to(kiln.f32)
    high = x.load((h, at, HALF), (1, ROWS, HALF)).to(kiln.f32)
    out.store((h, at, 0), (low * c - high * s).to(out.dtype))
    out.store((h, at, HALF), (high * c + low * s).to(out.dtype))


@kiln.kernel(fast_math=True)
def cross_entropy(
    logits: kiln.View, labels: kiln.View, loss: kiln.View,
    BLOCK: kiln.constexpr = 4096, W: kiln.constexpr = 4,
):  # fmt: skip
    """log(sum(exp(logits))) - logits[label], in one pass over the classes.

    Each group of eight neighbours keeps a maximum and a sum of its own until the end, so that
    threads need not meet in the loop; the next block is on its way while one is summed.
    """
    kiln.pin(warps=W)
    rows, classes = logits.shape
    i = kiln.grid(rows)
    picked = logits[i, labels[i]].to(kiln.f32)
    highest = kiln.full((BLOCK // 8, 1), LEAST, kiln.f32)
    total = kiln.zeros((BLOCK // 8, 1), kiln.f32)
    part = logits.load((i, 0), (1, BLOCK), pad=LEAST)
    for j in range(0, classes, BLOCK):
        following = logits.load((i, j + BLOCK), (1, BLOCK), pad=LEAST)
        groups = part.reshape((BLOCK // 8, 8))
        new = kiln.maximum(highest, kiln.max(groups, axis=1, keepdims=True).to(kiln.f32))
        groups = groups.to(kiln.f32)
        terms = kiln.exp2(kiln.fma(groups, LOG2E, new * -LOG2E))
        rescale = kiln.exp2((highest - new) * LOG2E)
        total = total * rescale + kiln.sum(terms, axis=1, keepdims=True)
        highest = new
        part = following
    top = kiln.max(highest, axis=0, keepdims=True)
    total = kiln.sum(total * kiln.exp2((highest - top) * LOG2E), axis=0, keepdims=True)
    value = top + kiln.log2(total) * 0.6931471805599453 - picked
    loss.store((i,), value.reshape((1,)))


@kiln.kernel(fast_math=True)
def quantise_f8(
    x: kiln.View, out: kiln.View, scales: kiln.View,
    BLOCK: kiln.constexpr, W: kiln.constexpr = 8,
):  # fmt: skip
    """Row-wise: x = out * scale, the largest of a row at the edge of f8E4M3FN (448)."""
    kiln.pin(warps=W)
    i = kiln.grid(x.shape[0])
    row = x.load((i, 0), (1, BLOCK)).to(kiln.f32)
    largest = kiln.maximum(kiln.max(kiln.abs(row), axis=1, keepdims=True), 1e-30)
    scales.store((i,), (largest * (1.0 / 448.0)).reshape((1,)))
    out.store((i, 0), (row * (448.0 / largest)).to(out.dtype))


@kiln.function
def store_mxfp4(tile, i, j, out, scales, BLOCK: kiln.constexpr):
    """Part j of row i."""
    groups = tile.reshape((BLOCK // 32, 32))
    largest = kiln.max(kiln.abs(groups), axis=1, keepdims=True).to(kiln.f32)
    # Of a quarter, so that the exponent is less by two.
    exponent = kiln.maximum(kiln.bitcast(largest * 0.25, kiln.i32) >> 23, 1)
    inverse = kiln.bitcast((254 - exponent) << 23, kiln.f32).to(tile.dtype)
    scales.store((i, j * (BLOCK // 32)), exponent.to(kiln.u8).reshape((1, BLOCK // 32)))
    values = (groups * inverse).to(kiln.f4e2m1fn).reshape((1, BLOCK))
    out.store((i, j * BLOCK), values)


@kiln.kernel(fast_math=True)
def quantise_mxfp4(
    x: kiln.View, out: kiln.View, scales: kiln.View,
    BLOCK: kiln.constexpr = 4096, W: kiln.constexpr = 8, PROGRAMS: kiln.constexpr = 2048,
):  # fmt: skip
    """Groups of 32 share a power of two, the exponent of their largest less that of 6 (OCP MX).

    bf16 is exact here: a power of two changes no mantissa. A program takes rows that are PROGRAMS
    apart, two in a turn, the next one on its way while one is converted.
    """
    kiln.pin(warps=W)
    rows, columns = x.shape
    first, j = kiln.grid(PROGRAMS, kiln.cdiv(columns, BLOCK))
    tile = x.load((first, j * BLOCK), (1, BLOCK))
    for i in range(first, rows, 2 * PROGRAMS):
        following = x.load((i + PROGRAMS, j * BLOCK), (1, BLOCK))
        store_mxfp4(tile, i, j, out, scales, BLOCK)
        tile = x.load((i + 2 * PROGRAMS, j * BLOCK), (1, BLOCK))
        store_mxfp4(following, i + PROGRAMS, j, out, scales, BLOCK)


@kiln.kernel
def transpose(
    x: kiln.View, out: kiln.View, ROWS: kiln.constexpr = 64, COLUMNS: kiln.constexpr = 64,
    W: kiln.constexpr = 4,
):  # fmt: skip
    kiln.pin(warps=W)
    i, j = kiln.grid(kiln.cdiv(x.shape[0], ROWS), kiln.cdiv(x.shape[1], COLUMNS))
    tile = x.load((i * ROWS, j * COLUMNS), (ROWS, COLUMNS))
    out.store((j * COLUMNS, i * ROWS), tile.T)


@kiln.kernel
def cumsum(x: kiln.View, out: kiln.View, BLOCK: kiln.constexpr, W: kiln.constexpr = 8):
    kiln.pin(warps=W)
    i = kiln.grid(x.shape[0])
    row = x.load((i, 0), (1, BLOCK)).to(kiln.f32)
    out.store((i, 0), kiln.cumsum(row, axis=1).to(out.dtype))


@kiln.kernel
def gather_rows(
    table: kiln.View, ids: kiln.View, out: kiln.View,
    ROWS: kiln.constexpr = 4, BLOCK: kiln.constexpr = 2048, W: kiln.constexpr = 4,
):  # fmt: skip
    kiln.pin(warps=W)
    columns = table.shape[1]
    j, i = kiln.grid(kiln.cdiv(columns, BLOCK), kiln.cdiv(ids.shape[0], ROWS))
    at = ids.load((i * ROWS,), (ROWS,))
    column = j.to(kiln.i32) * BLOCK + kiln.arange(BLOCK)
    rows = table.gather((at[:, None], column[None, :]))
    out.store((i * ROWS, j * BLOCK), rows)
