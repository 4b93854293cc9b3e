"""Kernels of roles that use what an engine brings them: nobody else starts the copies."""

from __future__ import annotations

import kiln

F32 = kiln.f32


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View, atom: kiln.constexpr, depth: kiln.constexpr,
    stage: kiln.constexpr, flight: kiln.constexpr = None, copies: kiln.constexpr = 1,
    turns: kiln.constexpr = 1, skew: kiln.constexpr = 0, programs: kiln.constexpr = 0,
    shared: kiln.constexpr = False, M: kiln.constexpr = 64, N: kiln.constexpr = 64,
):  # fmt: skip
    """c = a @ b.T, [m, n] f32 of [m, k] and [n, k]; `shared` by two programs of a cluster."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], M), kiln.cdiv(c.shape[1], N))
    kiln.pin(roles=kiln.role("all", warps=4, copies=copies, turns=turns, skew=skew))
    if programs:
        kiln.pin(persistent=(programs, 2))
    if shared:
        kiln.pin(cluster=(2, 1))
    acc = kiln.zeros((M, N), F32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=depth):
        x = kiln.pin(a.load((i * M, k), (M, 64)), atom="tma", stage=0)
        y = kiln.pin(b.load((j * N, k), (N, 64)), atom="tma", stage=0)
        if shared:
            kiln.pin(y, multicast="x")
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), atom=atom, stage=stage)
        if flight is not None:
            kiln.pin(acc, in_flight=flight)
    c.store((i * M, j * N), acc)


@kiln.kernel
def both(a: kiln.View, c: kiln.View, d: kiln.View, depth: kiln.constexpr):
    """The sum and the maximum of tiles of 64 columns: the role that loads them sums, another takes
    the maximum."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("sum", warps=4), kiln.role("most", warps=4)))
    s, m = kiln.zeros((64, 64), F32), kiln.full((64, 64), -9.0, F32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=depth):
        x = kiln.pin(a.load((0, k), (64, 64)), atom="tma", role="sum")
        s = kiln.pin(s + x.to(F32), role="sum")
        m = kiln.pin(kiln.maximum(m, x.to(F32)), role="most")
    kiln.pin(c.store((0, 0), s), role="sum")
    kiln.pin(d.store((0, 0), m), role="most")


@kiln.kernel
def nest(a: kiln.View, b: kiln.View, c: kiln.View, outer: kiln.constexpr, inner: kiln.constexpr):
    """The sum of each tile of a's 64 columns times all tiles of b below one another there."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    s = kiln.zeros((64, 64), F32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=outer):
        x = kiln.pin(a.load((0, k), (64, 64)), atom="tma", ring="x")
        for r in kiln.pin(range(0, b.shape[0], 64), depth=inner):
            y = kiln.pin(b.load((r, k), (64, 64)), atom="tma", ring="y")
            s = s + x.to(F32) * y.to(F32)
    c.store((0, 0), s)


@kiln.kernel
def chosen(
    a: kiln.View, flags: kiln.View, c: kiln.View, depth: kiln.constexpr, atom: kiln.constexpr
):
    """The sum of x @ x.T for those tiles x of 64 columns whose flag is set."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    s = kiln.zeros((64, 64), F32)
    for k in range(0, a.shape[1], 64):
        if flags[k // 64] > 0:
            x = kiln.pin(a.load((0, k), (64, 64)), atom="tma", ring="x", depth=depth)
            s = kiln.pin(kiln.dot(x, x, s, transpose_b=True), atom=atom)
    c.store((0, 0), s)


@kiln.kernel
def sequence(a: kiln.View, c: kiln.View, depth: kiln.constexpr):
    """The sum of tiles of 64 columns, and twice that: one ring in two loops."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    s = kiln.zeros((64, 64), F32)
    for k in range(0, a.shape[1], 64):
        s = s + kiln.pin(a.load((0, k), (64, 64)), atom="tma", ring="x", depth=depth).to(F32)
    for k in range(0, a.shape[1], 64):
        s = s + 2 * kiln.pin(a.load((0, k), (64, 64)), atom="tma", ring="x", depth=depth).to(F32)
    c.store((0, 0), s)


@kiln.kernel
def until(a: kiln.View, c: kiln.View, depth: kiln.constexpr):
    """The sum of tiles of 64 columns, until an element of it is 4 or more."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    s = kiln.zeros((64, 64), F32)
    k = 0
    most = kiln.max(kiln.max(s, axis=1), axis=0)
    while (most < 4.0) & (k < a.shape[1]):
        s = s + kiln.pin(a.load((0, k), (64, 64)), atom="tma", ring="x", depth=depth).to(F32)
        most = kiln.max(kiln.max(s, axis=1), axis=0)
        k += 64
    c.store((0, 0), s)
