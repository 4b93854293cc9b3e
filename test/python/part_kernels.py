"""Products in flight that are in parts, for tests on emulated chips and on GPUs."""

from __future__ import annotations

import kiln


@kiln.kernel
def multiplied(
    a: kiln.View, b: kiln.View, c: kiln.View, BM: kiln.constexpr, BN: kiln.constexpr,
    BK: kiln.constexpr, atom: kiln.constexpr, copy: kiln.constexpr, parts: kiln.constexpr,
    flight: kiln.constexpr, copies: kiln.constexpr, depth: kiln.constexpr, ta: kiln.constexpr,
    tb: kiln.constexpr, store: kiln.constexpr, persistent: kiln.constexpr,
):  # fmt: skip
    """One product a trip, whose sum its loop carries; `store` is the role that stores it."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    load, mma = kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies)
    if store == "mma":
        kiln.pin(roles=(load, mma))
    else:
        kiln.pin(roles=(load, mma, kiln.role("store", warps=4, copies=copies)))
    if persistent:
        kiln.pin(persistent=(2, 1))
    acc = kiln.zeros((BM, BN), kiln.i32 if a.dtype == kiln.i8 else kiln.f32)
    for k in kiln.pin(range(0, a.shape[0] if ta else a.shape[1], BK), depth=depth):
        if ta:
            x = kiln.pin(a.load((k, i * BM), (BK, BM)), role="load", atom=copy)
        else:
            x = kiln.pin(a.load((i * BM, k), (BM, BK)), role="load", atom=copy)
        if tb:
            y = kiln.pin(b.load((j * BN, k), (BN, BK)), role="load", atom=copy)
        else:
            y = kiln.pin(b.load((k, j * BN), (BK, BN)), role="load", atom=copy)
        precision = "tf32" if a.dtype == kiln.f32 else "ieee"
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_a=ta, transpose_b=tb, precision=precision),
            role="mma", atom=atom, in_flight=flight, parts=parts,
        )  # fmt: skip
    kiln.pin(c.store((i * BM, j * BN), acc), role=store)


@kiln.kernel
def filled(
    a: kiln.View, b: kiln.View, c: kiln.View, copy: kiln.constexpr, parts: kiln.constexpr,
    flight: kiln.constexpr, depth: kiln.constexpr,
):  # fmt: skip
    """One role that fills its own ring."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("mma", warps=4))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=depth):
        x = kiln.pin(a.load((0, k), (128, 64)), role="mma", atom=copy, stage=0)
        y = kiln.pin(b.load((0, k), (64, 64)), role="mma", atom=copy, stage=0)
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            role="mma", atom="wgmma", in_flight=flight, parts=parts, stage=1,
        )  # fmt: skip
    kiln.pin(c.store((0, 0), acc), role="mma")


@kiln.kernel
def placed(
    a: kiln.View, b: kiln.View, c: kiln.View, BN: kiln.constexpr, flight: kiln.constexpr,
    parts: kiln.constexpr, stage: kiln.constexpr, stages: kiln.constexpr, orders: kiln.constexpr,
):  # fmt: skip
    """Each part of a product by wgmma has a stage or a place in the trip."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    acc = kiln.zeros((64, BN), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=4):
        x = kiln.pin(a.load((0, k), (64, 64)), role="load", atom="tma")
        y = kiln.pin(b.load((0, k), (BN, 64)), role="load", atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            role="mma", atom="wgmma", in_flight=flight, parts=parts, stage=stage, order=0,
            part_stages=stages, part_orders=orders,
        )  # fmt: skip
    kiln.pin(c.store((0, 0), acc), role="mma")


@kiln.kernel
def attended(
    q: kiln.View, k: kiln.View, v: kiln.View, o: kiln.View, atom: kiln.constexpr,
    flight: kiln.constexpr, copies: kiln.constexpr, scores: kiln.constexpr, sums: kiln.constexpr,
    rows: kiln.constexpr, late: kiln.constexpr,
):  # fmt: skip
    """Scores in parts along keys; of weights in registers the product is in parts along them, or
    along what values have."""
    i = kiln.grid(kiln.cdiv(q.shape[0], rows))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies)))
    x = kiln.pin(q.load((i * rows, 0), (rows, 64)), role="load", ring="q", atom="tma")
    acc = kiln.zeros((rows, 64), kiln.f32)
    most, total = kiln.full((rows,), -1e30, kiln.f32), kiln.zeros((rows,), kiln.f32)
    for j in kiln.pin(range(0, k.shape[0], 64), depth=2):
        y = kiln.pin(k.load((j, 0), (64, 64)), role="load", ring="k", atom="tma")
        z = kiln.pin(v.load((j, 0), (64, 64)), role="load", ring="v", atom="tma")
        s = kiln.pin(
            kiln.dot(x, y, transpose_b=True),
            role="mma", atom=atom, in_flight=1 if late else 0, parts=scores, stage=0, order=0,
        )  # fmt: skip
        seen = (kiln.arange(64) + j < k.shape[0])[None, :]
        s = kiln.pin(kiln.where(seen, s, -1e30), role="mma", stage=0, order=2 if late else 1)
        greatest = kiln.maximum(most, kiln.max(s, axis=1))
        p = kiln.exp(s - greatest[:, None])
        scale = kiln.exp(most - greatest)
        total = total * scale + kiln.sum(p, axis=1)
        most = greatest
        acc = kiln.pin(
            kiln.dot(p.to(q.dtype), z, acc * scale[:, None]),
            role="mma", atom=atom, in_flight=flight, parts=sums, stage=1 if late else 0,
            order=1 if late else 2,
        )  # fmt: skip
    kiln.pin(o.store((i * rows, 0), acc / total[:, None]), role="mma")


@kiln.kernel
def linked(
    a: kiln.View, b: kiln.View, c: kiln.View, following: kiln.View, first: kiln.i32,
    atom: kiln.constexpr, flight: kiln.constexpr, parts: kiln.constexpr, promote: kiln.constexpr,
    store: kiln.constexpr,
):  # fmt: skip
    """Over pages that lead to one another: nobody counts the trips. The sum begins as a tile."""
    kiln.grid(1)
    load, mma = kiln.role("load", warps=4), kiln.role("mma", warps=4)
    kiln.pin(roles=(load, mma) if store == "mma" else (load, mma, kiln.role("store", warps=4)))
    acc = kiln.pin(c.load((0, 0), (128, 64)), role="mma")
    page = first
    while page >= 0:
        x = kiln.pin(a.load((0, page * 64), (128, 64)), role="load", atom="tma", depth=3)
        y = kiln.pin(b.load((0, page * 64), (64, 64)), role="load", atom="tma", depth=3)
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            role="mma", atom=atom, in_flight=flight, parts=parts, promote=promote,
        )  # fmt: skip
        page = following[page]
    kiln.pin(c.store((0, 0), kiln.pin(acc * 2.0, role=store)), role=store)
