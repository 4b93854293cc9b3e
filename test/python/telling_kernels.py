"""Kernels in which a number of one role's tensors tells another role what to load, and sums that a
role of their own stores, for tests on emulated chips and on GPUs."""

from __future__ import annotations

import kiln


@kiln.kernel
def until_large(
    x: kiln.View, c: kiln.View, counts: kiln.View, atom: kiln.constexpr, depth: kiln.constexpr,
    copies: kiln.constexpr, warps: kiln.constexpr,
):  # fmt: skip
    """Adds tiles until an element is 4 or more."""
    i = kiln.grid(x.shape[0] // 64)
    kiln.pin(roles=(kiln.role("load", warps=warps), kiln.role("use", warps=4, copies=copies)))
    acc, trips = kiln.zeros((64, 32), kiln.f32), 0
    largest = kiln.max(kiln.max(acc, axis=1), axis=0)
    while largest < 4.0:
        t = kiln.pin(
            x.load((i * 64, trips * 32), (64, 32)), atom=atom, depth=depth, ring="t", role="load"
        )
        acc = kiln.pin(acc + t.to(kiln.f32), role="use")
        largest = kiln.max(kiln.max(acc, axis=1), axis=0)
        trips += 1
    kiln.pin(c.store((i * 64, 0), acc), role="use")
    kiln.pin(counts.store((i,), kiln.full((1,), trips, kiln.i32)), role="load")


@kiln.kernel
def where_large(
    x: kiln.View, c: kiln.View, atom: kiln.constexpr, depth: kiln.constexpr, copies: kiln.constexpr,
    warps: kiln.constexpr,
):  # fmt: skip
    """Tiles with an element above a half are loaded again, and their squares are added."""
    i = kiln.grid(x.shape[0] // 64)
    kiln.pin(roles=(kiln.role("load", warps=warps), kiln.role("use", warps=4, copies=copies)))
    acc = kiln.zeros((64, 32), kiln.f32)
    for p in range(0, x.shape[1], 32):
        t = kiln.pin(
            x.load((i * 64, p), (64, 32)), atom=atom, depth=depth, ring="t", role="load"
        ).to(kiln.f32)
        if kiln.max(kiln.max(t, axis=1), axis=0) > 0.5:
            u = kiln.pin(x.load((i * 64, p), (64, 32)), atom=atom, depth=1, ring="u", role="load")
            acc = kiln.pin(acc + t * u.to(kiln.f32), role="use")
    kiln.pin(c.store((i * 64, 0), acc), role="use")


@kiln.kernel
def so_many(
    x: kiln.View, c: kiln.View, atom: kiln.constexpr, depth: kiln.constexpr, copies: kiln.constexpr,
    warps: kiln.constexpr, dtype: kiln.constexpr,
):  # fmt: skip
    """Adds as many tiles as four times the largest of the first."""
    i = kiln.grid(x.shape[0] // 64)
    kiln.pin(roles=(kiln.role("load", warps=warps), kiln.role("use", warps=4, copies=copies)))
    first = kiln.pin(x.load((i * 64, 0), (64, 32)), role="use").to(dtype)
    acc = kiln.zeros((64, 32), kiln.f32)
    trips = (kiln.max(kiln.max(first * 4, axis=1), axis=0)).to(kiln.i32)
    for p in range(0, trips):
        t = kiln.pin(
            x.load((i * 64, p * 32), (64, 32)), atom=atom, depth=depth, ring="t", role="load"
        )
        acc = kiln.pin(acc + t.to(kiln.f32), role="use")
    kiln.pin(c.store((i * 64, 0), acc), role="use")


@kiln.kernel
def iterated(
    a: kiln.View, c: kiln.View, trips: kiln.View, atom: kiln.constexpr, copy: kiln.constexpr,
    copies: kiln.constexpr, flight: kiln.constexpr,
):  # fmt: skip
    """Adds products of what is loaded until the largest sum is past a bound; a third role stores."""
    rows = 64 * copies
    i = kiln.grid(a.shape[0] // rows)
    kiln.pin(
        roles=(
            kiln.role("load", warps=4),
            kiln.role("mma", warps=4, copies=copies),
            kiln.role("store", warps=4),
        )
    )
    acc, n, most = kiln.zeros((rows, 64), kiln.f32), 0, kiln.f32(0.0)
    while (most < 100.0) & (n * 64 < a.shape[1]):
        x = kiln.pin(a.load((i * rows, n * 64), (rows, 64)), atom=copy, role="load", depth=2)
        y = kiln.pin(a.load((0, n * 64), (64, 64)), atom=copy, role="load", depth=2)
        if flight is None:
            acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), atom=atom, role="mma")
        else:
            acc = kiln.pin(
                kiln.dot(x, y, acc, transpose_b=True), atom=atom, in_flight=flight, role="mma"
            )
        most = kiln.max(kiln.max(acc, axis=1), axis=0)
        n += 1
    kiln.pin(c.store((i * rows, 0), acc), role="store")
    kiln.pin(trips.store((i,), kiln.full((1,), n, kiln.i32)), role="store")


@kiln.kernel
def stored(
    a: kiln.View, b: kiln.View, c: kiln.View, atom: kiln.constexpr, copy: kiln.constexpr,
    flight: kiln.constexpr, rows: kiln.constexpr, columns: kiln.constexpr, copies: kiln.constexpr,
    users: kiln.constexpr, warps: kiln.constexpr,
):  # fmt: skip
    """A product whose sums, cast, a role of its own stores."""
    i, j = kiln.grid(kiln.cdiv(a.shape[0], rows), kiln.cdiv(b.shape[0], columns))
    kiln.pin(
        roles=(
            kiln.role("load", warps=4),
            kiln.role("mma", warps=4, copies=copies),
            kiln.role("store", warps=warps, copies=users),
        )
    )
    acc = kiln.zeros((rows, columns), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=2):
        x = kiln.pin(a.load((i * rows, k), (rows, 64)), atom=copy, role="load")
        y = kiln.pin(b.load((j * columns, k), (columns, 64)), atom=copy, role="load")
        if flight is None:
            acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), atom=atom, role="mma")
        else:
            acc = kiln.pin(
                kiln.dot(x, y, acc, transpose_b=True), atom=atom, in_flight=flight, role="mma"
            )
    kiln.pin(c.store((i * rows, j * columns), acc.to(c.dtype)), role="store")


@kiln.kernel
def until_past(
    x: kiln.View, c: kiln.View, atom: kiln.constexpr, bound: kiln.constexpr, copies: kiln.constexpr
):  # fmt: skip
    """Adds whole numbers until one is past a bound."""
    i = kiln.grid(x.shape[0] // 64)
    kiln.pin(roles=(kiln.role("load", warps=1), kiln.role("use", warps=4, copies=copies)))
    acc, trips, most = kiln.zeros((64, 32), x.dtype), 0, x.dtype(0)
    while most < bound:
        t = kiln.pin(x.load((i * 64, trips * 32), (64, 32)), atom=atom, depth=2, role="load")
        acc = kiln.pin(acc + t, role="use")
        most = kiln.max(kiln.max(acc, axis=1), axis=0)
        trips += 1
    kiln.pin(c.store((i * 64, 0), acc), role="use")
