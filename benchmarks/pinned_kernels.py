"""The product of gemm.mlir and the attention of attention.mlir in Python, pinned for sm_90a.

The schedule is pinned by `kiln.pin`; tiles' layouts follow from the instructions. What these
kernels do, and why, stands at the head of the .mlir files, which have the same schedules.
"""

from __future__ import annotations

import kiln

PROGRAMS = 132  # one a multiprocessor of an H200
EXPONENT = 0.12751743  # of a score: the logarithm of e to the base of 2, over the root of 128


@kiln.kernel
def gemm(a: kiln.View, b: kiln.View, c: kiln.View):
    """c = a · bᵀ in bf16: [m, k] by [n, k] to [m, n]."""
    row, column = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], 256))
    kiln.pin(
        roles=(
            kiln.role("load", warps=4, registers=40),
            kiln.role("mma", warps=4, copies=2, registers=232),
        ),
        persistent=(PROGRAMS, 16),
    )
    i, j = row * 128, column * 256
    acc = kiln.zeros((128, 256), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=4):
        x = kiln.pin(a.load((i, k), (128, 64)), role="load", stage=0, order=0, atom="tma")
        y = kiln.pin(b.load((j, k), (256, 64)), role="load", stage=0, order=1, atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            role="mma", stage=0, order=0, in_flight=1, atom="wgmma",
        )  # fmt: skip
    kiln.pin(c.store((i, j), acc.to(kiln.bf16)), role="mma", in_flight=1, atom="tma")


@kiln.kernel
def large_gemm(a: kiln.View, b: kiln.View, c: kiln.View):
    """The same by tiles of 256 by 192, for large products: each operand is loaded less often, which
    saves power, and power is what limits these. Each copy makes 128 rows, as two m64n192."""
    row, column = kiln.grid(kiln.cdiv(c.shape[0], 256), kiln.cdiv(c.shape[1], 192))
    kiln.pin(
        roles=(
            kiln.role("load", warps=4, registers=24),
            kiln.role("mma", warps=4, copies=2, registers=240),
        ),
        persistent=(PROGRAMS, 8),
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
