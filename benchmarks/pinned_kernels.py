"""Products and attention in Python whose schedules are pinned by `kiln.pin`; tiles' layouts follow
from the instructions, but for attention by waves.

`gemm`, `clustered_gemm`, `large_gemm`, `gemm_in_turn` and `attention` are for sm_90a,
`gemm_skewed`, `gemm_interleaved` and `attention_by_waves` for gfx942 and gfx950,
`gemm_through_registers` for gfx1201. gemm.mlir and attention.mlir have the schedules of the kernels
of these names, gemm-gfx942.mlir and gemm-gfx950.mlir that of `gemm_skewed`; what these do, and why,
stands at their heads.
"""

from __future__ import annotations

import kiln

PROGRAMS = 132  # one a multiprocessor of an H200
EXPONENT = 0.12751743  # of a score: the logarithm of e to the base of 2, over the root of 128


@kiln.kernel
def gemm(
    a: kiln.View, b: kiln.View, c: kiln.View,
    SHARE: kiln.constexpr = None, EVEN: kiln.constexpr = True,
):  # fmt: skip
    """c = a · bᵀ in bf16: [m, k] by [n, k] to [m, n]. Programs share the loop over k out as `SHARE`
    says, if they do; else they are as few as run the tiles in as few rounds, if `EVEN`."""
    row, column = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], 256))
    kiln.pin(
        roles=(
            kiln.role("load", warps=4, registers=40),
            kiln.role("mma", warps=4, copies=2, registers=232),
        ),
        persistent=(PROGRAMS, 16, "even") if EVEN and SHARE is None else (PROGRAMS, 16),
    )
    i, j = row * 128, column * 256
    acc = kiln.zeros((128, 256), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=4, share=SHARE):
        x = kiln.pin(a.load((i, k), (128, 64)), role="load", stage=0, order=0, atom="tma")
        y = kiln.pin(b.load((j, k), (256, 64)), role="load", stage=0, order=1, atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            role="mma", stage=0, order=0, in_flight=1, atom="wgmma",
        )  # fmt: skip
    kiln.pin(c.store((i, j), acc.to(kiln.bf16)), role="mma", in_flight=1, atom="tma")


@kiln.kernel
def clustered_gemm(
    a: kiln.View, b: kiln.View, c: kiln.View, X: kiln.constexpr, Y: kiln.constexpr,
    BM: kiln.constexpr = 128, BN: kiln.constexpr = 256, programs: kiln.constexpr = PROGRAMS,
):  # fmt: skip
    """The same by clusters of X by Y programs: those that lie along x load the same rows of b, and
    those along y the same rows of a, each a part for all."""
    row, column = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    kiln.pin(
        roles=(
            kiln.role("load", warps=4, registers=40),
            kiln.role("mma", warps=4, copies=2, registers=232),
        ),
        persistent=(programs, 16),
        cluster=(X, Y),
    )
    i, j = row * BM, column * BN
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=4):
        x = kiln.pin(a.load((i, k), (BM, 64)), role="load", stage=0, order=0, atom="tma")
        y = kiln.pin(b.load((j, k), (BN, 64)), role="load", stage=0, order=1, atom="tma")
        if Y > 1:
            x = kiln.pin(x, multicast="y")
        if X > 1:
            y = kiln.pin(y, multicast="x")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            role="mma", stage=0, order=0, in_flight=1, atom="wgmma",
        )  # fmt: skip
    kiln.pin(c.store((i, j), acc.to(kiln.bf16)), role="mma", in_flight=1, atom="tma")


@kiln.kernel
def large_gemm(a: kiln.View, b: kiln.View, c: kiln.View):
    """The same by tiles of 256 by 192, for large products: each operand is loaded less often. Each
    copy makes 128 rows, as two m64n192."""
    row, column = kiln.grid(kiln.cdiv(c.shape[0], 256), kiln.cdiv(c.shape[1], 192))
    kiln.pin(
        roles=(
            kiln.role("load", warps=4, registers=24),
            kiln.role("mma", warps=4, copies=2, registers=240),
        ),
        persistent=(PROGRAMS, 8, "even"),
    )
    i, j = row * 256, column * 192
    acc = kiln.zeros((256, 192), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=3):
        x = kiln.pin(a.load((i, k), (256, 64)), role="load", stage=0, order=0, atom="tma")
        y = kiln.pin(b.load((j, k), (192, 64)), role="load", stage=0, order=1, atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            role="mma", stage=0, order=0, in_flight=1, atom="wgmma",
        )  # fmt: skip
    kiln.pin(c.store((i, j), acc.to(kiln.bf16)), role="mma", in_flight=1, atom="tma")


@kiln.kernel
def gemm_in_turn(
    a: kiln.View, b: kiln.View, c: kiln.View,
    rows: kiln.constexpr, columns: kiln.constexpr, slots: kiln.constexpr,
):  # fmt: skip
    """The same by two copies that take whole tiles in turn: one multiplies while the other stores
    what it has summed."""
    row, column = kiln.grid(kiln.cdiv(c.shape[0], rows), kiln.cdiv(c.shape[1], columns))
    kiln.pin(
        roles=(
            kiln.role("load", warps=4, registers=40),
            kiln.role("mma", warps=4, turns=2, registers=232),
        ),
        persistent=(PROGRAMS, 16),
    )
    i, j = row * rows, column * columns
    acc = kiln.zeros((rows, columns), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=slots):
        x = kiln.pin(a.load((i, k), (rows, 64)), role="load", stage=0, order=0, atom="tma")
        y = kiln.pin(b.load((j, k), (columns, 64)), role="load", stage=0, order=1, atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            role="mma", stage=0, order=0, in_flight=1, atom="wgmma",
        )  # fmt: skip
    kiln.pin(c.store((i, j), acc.to(kiln.bf16)), role="mma", in_flight=1, atom="tma")


@kiln.kernel
def attention(q: kiln.View, k: kiln.View, v: kiln.View, o: kiln.View, n, causal):
    """Heads of 128 that lie below one another, n rows each; with `causal`, query i sees keys 0 to
    i alone. Where there are several heads, n is a multiple of 128."""
    tile, head = kiln.grid(kiln.cdiv(n, 128), kiln.cdiv(q.shape[0], kiln.maximum(n, 1)))
    kiln.pin(
        roles=(
            kiln.role("load", warps=4, registers=24),
            kiln.role("mma", warps=4, copies=2, registers=240),
        ),
        persistent=(PROGRAMS, 32),
    )
    begin = tile * 128
    first = head * n
    row = first + begin
    # Some query of the tile sees keys below `last`; every one sees those below `seen`.
    last, seen, least = n, n, n
    if causal != 0:
        last, seen, least = kiln.minimum(begin + 128, n), begin, 0
    masked_from = seen // 128 * 128
    # Each tile of queries has keys, which spares the loop a question whether it has trips.
    end = kiln.maximum(kiln.cdiv(last, 128), 1) * 128
    own = kiln.arange(128) + (begin + 1).to(kiln.i32)
    limit = kiln.minimum(kiln.maximum(own, least.to(kiln.i32)), n.to(kiln.i32))

    q0 = kiln.pin(q.load((row, 0), (128, 64)), role="load", ring="queries", atom="tma")
    q1 = kiln.pin(q.load((row, 64), (128, 64)), role="load", ring="queries", atom="tma")
    none = kiln.zeros((128, 128), kiln.f32)
    acc = none
    largest = kiln.full((128,), -float("inf"), kiln.f32)
    total = kiln.zeros((128,), kiln.f32)
    for j in kiln.pin(range(0, end, 128), depth=2):
        at = first + j
        k0 = kiln.pin(
            k.load((at, 0), (128, 64)), role="load", ring="keys", stage=0, order=0, atom="tma"
        )
        k1 = kiln.pin(
            k.load((at, 64), (128, 64)), role="load", ring="keys", stage=0, order=1, atom="tma"
        )
        scores = kiln.pin(
            kiln.dot(q0, k0, none, transpose_b=True),
            role="mma", stage=0, order=0, in_flight=1, atom="wgmma",
        )  # fmt: skip
        scores = kiln.pin(
            kiln.dot(q1, k1, scores, transpose_b=True),
            role="mma", stage=0, order=1, in_flight=1, atom="wgmma",
        )  # fmt: skip
        if kiln.pin(j >= masked_from, role="mma", stage=0, order=3, split=True):
            sees = kiln.arange(128)[None, :] < (limit - j.to(kiln.i32))[:, None]
            scores = kiln.where(sees, scores, -float("inf"))
        most = kiln.maximum(largest, kiln.max(scores, axis=1))
        shrink = kiln.exp2((largest - most) * EXPONENT, flush=True)
        factor = kiln.full((128, 128), EXPONENT, kiln.f32)
        weights = kiln.exp2(kiln.fma(scores, factor, (-(most * EXPONENT))[:, None]), flush=True)
        total = total * shrink + kiln.sum(weights, axis=1)
        largest = most
        values = kiln.pin(v.load((at, 0), (128, 128)), role="load", stage=0, order=2, atom="tma")
        acc = kiln.pin(
            kiln.dot(weights.to(kiln.bf16), values, acc * shrink[:, None]),
            role="mma", stage=1, order=2, in_flight=0, atom="wgmma",
        )  # fmt: skip
    mean = acc * (1.0 / total)[:, None]
    kiln.pin(o.store((row, 0), mean.to(kiln.bf16)), role="mma", in_flight=1, atom="tma")


@kiln.kernel
def gemm_skewed(a: kiln.View, b: kiln.View, c: kiln.View, PROGRAMS: kiln.constexpr):
    """The product by two groups of waves of which one multiplies while the other fills and reads.
    Of an MI300X 304 PROGRAMS are one a compute unit, of an MI355X 256."""
    row, column = kiln.grid(kiln.cdiv(c.shape[0], 256), kiln.cdiv(c.shape[1], 256))
    kiln.pin(
        roles=kiln.role("all", warps=4, copies=2, skew=1),
        persistent=(PROGRAMS, 16),
    )
    i, j = row * 256, column * 256
    acc = kiln.zeros((256, 256), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=2):
        x = kiln.pin(a.load((i, k), (256, 32)), role="all", stage=0, order=0, atom="load_to_lds")
        y = kiln.pin(b.load((j, k), (256, 32)), role="all", stage=0, order=1, atom="load_to_lds")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True), role="all", stage=1, order=2, atom="matrix"
        )
    kiln.pin(c.store((i, j), acc.to(kiln.bf16)), role="all")


@kiln.kernel
def gemm_interleaved(
    a: kiln.View, b: kiln.View, c: kiln.View, PROGRAMS: kiln.constexpr, INTERLEAVE: kiln.constexpr
):
    """The product by four waves, one on each SIMD, of which each reads, fills and multiplies at
    once: `INTERLEAVED` says in which order, chip by chip. First come the reads of this trip's slot,
    then one load into the other slot behind every so many products, so that none waits."""
    row, column = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], 256))
    kiln.pin(roles=kiln.role("all", warps=4), persistent=(PROGRAMS, 16))
    i, j = row * 128, column * 256
    acc = kiln.zeros((128, 256), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=2):
        x = kiln.pin(a.load((i, k), (128, 32)), role="all", stage=0, order=0, atom="load_to_lds")
        y = kiln.pin(b.load((j, k), (256, 32)), role="all", stage=0, order=1, atom="load_to_lds")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            role="all", stage=1, order=2, atom="matrix", interleave=INTERLEAVE,
        )  # fmt: skip
    kiln.pin(c.store((i, j), acc.to(kiln.bf16)), role="all")


# Of one wave's trip: 12 reads and 32 products on gfx942, which loads 4 bytes a lane, 24 times; 12
# reads, 16 products and 6 loads on gfx950.
INTERLEAVED = {
    "gfx942": "12 x (1 read), 8 x (1 matrix), 24 x (1 matrix, 1 load)",
    "gfx950": "12 x (1 read), 4 x (1 matrix), 6 x (2 matrix, 1 load)",
}


@kiln.kernel
def gemm_through_registers(a: kiln.View, b: kiln.View, c: kiln.View):
    """The product on a chip that copies nothing past the registers: a trip's loads are under way
    while the one before is multiplied, 64 by 64 of 128 by 128 by each of four waves, and go to a
    ring of two slots at its end. One barrier a trip. 64 programs are one a compute unit of an
    RX 9070 XT."""
    row, column = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], 128))
    kiln.pin(roles=kiln.role("all", warps=4), persistent=(64, 8))
    i, j = row * 128, column * 128
    acc = kiln.zeros((128, 128), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=2):
        x = kiln.pin(a.load((i, k), (128, 32)), role="all", stage=0, atom="through_registers")
        y = kiln.pin(b.load((j, k), (128, 32)), role="all", stage=0, atom="through_registers")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True), role="all", stage=1, atom="matrix"
        )  # fmt: skip
    kiln.pin(c.store((i, j), acc.to(kiln.bf16)), role="all")


def columns_by_waves(rows: int) -> str:
    """The layout of [rows, 128] in which each of four waves has 32 columns, by products of 32 by
    32: a lane has half of one column's rows, four by four, so that sums over rows stay in it."""
    registers = [[1 << bit, 0] for bit in (0, 1, *range(3, rows.bit_length() - 1))]
    lanes = [[0, 1 << bit] for bit in range(5)] + [[4, 0]]
    return f"register = {registers}, lane = {lanes}, warp = [[0, 32], [0, 64]]"


def heads_of(width: int) -> dict[str, object]:
    """What `attention_by_waves` is to know of heads of 64 or 128: as many keys at once as leave
    registers for the sums."""
    keys = 4096 // width
    return {
        "WIDTH": width, "KEYS": keys, "EXPONENT": 1.4426950408889634 / width**0.5,
        "SCORES": columns_by_waves(keys), "SUMS": columns_by_waves(width),
    }  # fmt: skip


@kiln.kernel
def attention_by_waves(
    q: kiln.View, k: kiln.View, v: kiln.View, o: kiln.View, n, causal,
    WIDTH: kiln.constexpr, KEYS: kiln.constexpr, EXPONENT: kiln.constexpr,
    SCORES: kiln.constexpr, SUMS: kiln.constexpr,
):  # fmt: skip
    """As `attention`, by four waves that fill a ring of two slots themselves. Scores and sums are
    transposed: each query is a column of one wave, whose scores one lane and its partner hold, so
    that their maximum takes one exchange; and what comes out of one product is what the next one
    takes, without a trip through LDS where the matrix instruction has 8 columns (gfx942)."""
    tile, head = kiln.grid(kiln.cdiv(n, 128), kiln.cdiv(q.shape[0], kiln.maximum(n, 1)))
    kiln.pin(roles=kiln.role("all", warps=4))
    begin = tile * 128
    first = head * n
    row = first + begin
    last, seen, least = n, n, n
    if causal != 0:
        last, seen, least = kiln.minimum(begin + 128, n), begin, 0
    masked_from = seen // KEYS * KEYS
    end = kiln.maximum(kiln.cdiv(last, KEYS), 1) * KEYS
    own = kiln.arange(128) + (begin + 1).to(kiln.i32)
    limit = kiln.minimum(kiln.maximum(own, least.to(kiln.i32)), n.to(kiln.i32))

    queries = kiln.pin(q.load((row, 0), (128, WIDTH)), role="all")
    none = kiln.zeros((KEYS, 128), kiln.f32)
    acc = kiln.zeros((WIDTH, 128), kiln.f32)
    largest = kiln.full((128,), -float("inf"), kiln.f32)
    total = kiln.zeros((128,), kiln.f32)
    for j in kiln.pin(range(0, end, KEYS), depth=2):
        at = first + j
        keys = kiln.pin(k.load((at, 0), (KEYS, WIDTH)), role="all", stage=0, atom="load_to_lds")
        values = kiln.pin(v.load((at, 0), (KEYS, WIDTH)), role="all", stage=0, atom="load_to_lds")
        scores = kiln.pin(
            kiln.dot(keys, queries, none, transpose_b=True),
            role="all", stage=1, atom="matrix", layout=SCORES,
        )  # fmt: skip
        if kiln.pin(j >= masked_from, role="all", stage=1, split=True):
            sees = kiln.arange(KEYS)[:, None] < (limit - j.to(kiln.i32))[None, :]
            scores = kiln.where(sees, scores, -float("inf"))
        most = kiln.maximum(largest, kiln.max(scores, axis=0))
        shrink = kiln.exp2((largest - most) * EXPONENT, flush=True)
        factor = kiln.full((KEYS, 128), EXPONENT, kiln.f32)
        weights = kiln.exp2(kiln.fma(scores, factor, (-(most * EXPONENT))[None, :]), flush=True)
        total = total * shrink + kiln.sum(weights, axis=0)
        largest = most
        acc = kiln.pin(
            kiln.dot(values, weights.to(kiln.bf16), acc * shrink[None, :], transpose_a=True),
            role="all", stage=1, atom="matrix", layout=SUMS,
        )  # fmt: skip
    mean = acc * (1.0 / total)[None, :]
    kiln.pin(o.store((row, 0), mean.to(kiln.bf16).T), role="all")
