"""Kernels of one operation each, for the cases of suite `cpu` that hold it against its peers."""

from __future__ import annotations

import kiln


def elementwise(function):
    """A kernel that applies a function of Kiln to each element."""

    @kiln.kernel
    def kernel(x: kiln.View, out: kiln.View, BLOCK: kiln.constexpr = 4096):
        i = kiln.grid(kiln.cdiv(x.shape[0], BLOCK))
        out.store((i * BLOCK,), function(x.load((i * BLOCK,), (BLOCK,))))

    return kernel


@kiln.kernel
def remainder(x: kiln.View, y: kiln.View, out: kiln.View, BLOCK: kiln.constexpr = 4096):
    i = kiln.grid(kiln.cdiv(x.shape[0], BLOCK))
    out.store((i * BLOCK,), x.load((i * BLOCK,), (BLOCK,)) % y.load((i * BLOCK,), (BLOCK,)))


@kiln.kernel
def divide(x: kiln.View, by: kiln.i32, out: kiln.View, BLOCK: kiln.constexpr = 4096):
    i = kiln.grid(kiln.cdiv(x.shape[0], BLOCK))
    out.store((i * BLOCK,), x.load((i * BLOCK,), (BLOCK,)) // by)


@kiln.kernel
def sort(x: kiln.View, out: kiln.View, COLUMNS: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    out.store((i, 0), kiln.sort(x.load((i, 0), (1, COLUMNS)), axis=1))


@kiln.kernel
def topk(x: kiln.View, out: kiln.View, K: kiln.constexpr, COLUMNS: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    values, _ = kiln.topk(x.load((i, 0), (1, COLUMNS)), K, axis=1)
    out.store((i, 0), values)


@kiln.function
def wider(a, at_a, b, at_b):
    """The larger of two values, and where it is."""
    better = b > a
    return kiln.where(better, b, a), kiln.where(better, at_b, at_a)


@kiln.kernel
def argmax(x: kiln.View, out: kiln.View, COLUMNS: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    row = x.load((i, 0), (1, COLUMNS))
    places = kiln.broadcast_to(kiln.arange(COLUMNS)[None, :], (1, COLUMNS)).to(kiln.i32)
    _, at = kiln.reduce((row, places), 1, wider)
    out.store((i,), at)


@kiln.kernel
def embedding(
    rows: kiln.View, table: kiln.View, out: kiln.View, T: kiln.constexpr, D: kiln.constexpr
):
    i = kiln.grid(kiln.cdiv(rows.shape[0], T))
    at = rows.load((i * T,), (T,))
    out.store((i * T, 0), table.gather((at[:, None], kiln.arange(D)[None, :])))


@kiln.kernel
def sparse_product(
    starts: kiln.View, columns: kiln.View, values: kiln.View, x: kiln.View, out: kiln.View,
    BLOCK: kiln.constexpr,
):  # fmt: skip
    """A matrix in compressed rows times a vector, a row a program."""
    row = kiln.grid(out.shape[0])
    end = starts[row + 1].to(kiln.i64)
    sums = kiln.zeros((BLOCK,), kiln.f32)
    for k in range(starts[row].to(kiln.i64), end, BLOCK):
        at = k + kiln.arange(BLOCK).to(kiln.i64)
        inside = at < end
        places = columns.gather((at,), mask=inside)
        sums = sums + values.gather((at,), mask=inside) * x.gather((places,), mask=inside)
    out.store((row,), kiln.sum(sums, axis=0, keepdims=True))


@kiln.kernel
def convolution(
    x: kiln.View, weight: kiln.View, out: kiln.View,
    CI: kiln.constexpr, CO: kiln.constexpr, KERNEL: kiln.constexpr, WIDTH: kiln.constexpr,
):  # fmt: skip
    """In three dimensions: a row of the result a program, a product a place of the kernel."""
    n, d, h = kiln.grid(x.shape[0], out.shape[2], out.shape[3])
    sums = kiln.zeros((CO, WIDTH), kiln.f32)
    for a in range(KERNEL):
        for b in range(KERNEL):
            for c in range(KERNEL):
                place = (a * KERNEL + b) * KERNEL + c
                part = x.load((n, 0, d + a, h + b, c), (1, CI, 1, 1, WIDTH)).reshape((CI, WIDTH))
                factors = weight.load((place, 0, 0), (1, CO, CI)).reshape((CO, CI))
                sums = kiln.dot(factors, part, sums)
    out.store((n, 0, d, h, 0), sums.reshape((1, CO, 1, 1, WIDTH)))
