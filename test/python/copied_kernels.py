"""A product whose operands copy atoms bring, touched before it is made or not: what tests of extents
that are no powers of two share."""

from __future__ import annotations

import kiln


@kiln.kernel
def copied(
    a: kiln.View, b: kiln.View, c: kiln.View,
    M: kiln.constexpr, N: kiln.constexpr, K: kiln.constexpr,
    atom: kiln.constexpr, load_a: kiln.constexpr, load_b: kiln.constexpr,
    producers: kiln.constexpr = 0, copies: kiln.constexpr = 1, warps: kiln.constexpr = 4,
    touched: kiln.constexpr = "", ta: kiln.constexpr = False, tb: kiln.constexpr = True,
    epilogue: kiln.constexpr = "", depth: kiln.constexpr = 2, multicast: kiln.constexpr = False,
):  # fmt: skip
    """By a role that brings its operands itself (0 producers), or one of so many copies that does.

    Args:
        touched: which of the operands, "x", "y" or both, are doubled between load and product
        epilogue: "rows" or "columns": what is taken from each sum, the most of its row or the sum of
            its column
        multicast: two programs beside one another bring half of `a` each
    """
    i, j = kiln.grid(kiln.cdiv(c.shape[0], M), kiln.cdiv(c.shape[1], N))
    mma = kiln.role("mma", warps=warps, copies=copies)
    if producers == 0:
        kiln.pin(roles=mma)
    elif producers == 2:
        kiln.pin(roles=(kiln.role("load", warps=2, copies=2), mma))
    else:
        kiln.pin(roles=(kiln.role("load", warps=4, copies=producers), mma))
    if multicast:
        kiln.pin(cluster=(1, 2))
    load, stage = ("mma", 1) if producers == 0 else ("load", 0)
    in_flight = 0 if atom in ("wgmma", "tcgen05") else None
    s = kiln.zeros((M, N), kiln.f32)
    for k in kiln.pin(range(0, a.shape[0] if ta else a.shape[1], K), depth=depth):
        if ta:
            x = kiln.pin(a.load((k, i * M), (K, M)), role=load, stage=0, atom=load_a)
        else:
            x = kiln.pin(a.load((i * M, k), (M, K)), role=load, stage=0, atom=load_a)
        if tb:
            y = kiln.pin(b.load((j * N, k), (N, K)), role=load, stage=0, atom=load_b)
        else:
            y = kiln.pin(b.load((k, j * N), (K, N)), role=load, stage=0, atom=load_b)
        if multicast:
            x = kiln.pin(x, multicast="y")
        if "x" in touched:
            x = x * 2
        if "y" in touched:
            y = y + y
        product = kiln.dot(x, y, s, transpose_a=ta, transpose_b=tb)
        s = kiln.pin(product, role="mma", atom=atom, in_flight=in_flight, stage=stage)
    if epilogue == "rows":
        s = s - kiln.max(s, axis=1)[:, None]
    if epilogue == "columns":
        s = s - kiln.sum(s, axis=0)[None, :]
    kiln.pin(c.store((i * M, j * N), s), role="mma")
