"""Products that read from shared memory what warps compute, for tests on emulated chips and on GPUs."""

from __future__ import annotations

import kiln


@kiln.kernel
def widened(
    x: kiln.View, w: kiln.View, s: kiln.View, c: kiln.View, atom: kiln.constexpr,
    maker: kiln.constexpr, makers: kiln.constexpr, copies: kiln.constexpr, tb: kiln.constexpr,
    flight: kiln.constexpr, depth: kiln.constexpr, BM: kiln.constexpr, BN: kiln.constexpr,
    BK: kiln.constexpr, precision: kiln.constexpr, persistent: kiln.constexpr,
):  # fmt: skip
    """Weights of a byte, widened and scaled, are operand b."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    load, mma = kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies)
    if maker == "mma":
        kiln.pin(roles=(load, mma))
    else:
        kiln.pin(roles=(load, kiln.role("cast", warps=4, copies=makers), mma))
    if persistent:
        kiln.pin(persistent=(2, 1))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in kiln.pin(range(0, x.shape[1], BK), depth=depth):
        a = kiln.pin(x.load((i * BM, k), (BM, BK)), role="load", atom="tma")
        if tb:
            y = kiln.pin(w.load((j * BN, k), (BN, BK)), role="load", atom="tma")
            scale = s.load((j * BN,), (BN,))[:, None]
        else:
            y = kiln.pin(w.load((k, j * BN), (BK, BN)), role="load", atom="tma")
            scale = s.load((j * BN,), (BN,))[None, :]
        b = kiln.pin(y.to(x.dtype) * scale, role=maker)
        acc = kiln.pin(
            kiln.dot(a, b, acc, transpose_b=tb, precision=precision),
            role="mma", atom=atom, in_flight=flight,
        )  # fmt: skip
    kiln.pin(c.store((i * BM, j * BN), acc), role="mma")


@kiln.kernel
def left(
    x: kiln.View, w: kiln.View, c: kiln.View, atom: kiln.constexpr, maker: kiln.constexpr,
    copies: kiln.constexpr, ta: kiln.constexpr, flight: kiln.constexpr, BM: kiln.constexpr,
):  # fmt: skip
    """What is computed is operand a, which is read from shared memory since that is said."""
    kiln.grid(1)
    load, mma = kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies)
    if maker == "mma":
        kiln.pin(roles=(load, mma))
    else:
        kiln.pin(roles=(load, kiln.role("cast", warps=4), mma))
    acc = kiln.zeros((BM, 64), kiln.f32)
    for k in kiln.pin(range(0, w.shape[1], 64), depth=2):
        if ta:
            y = kiln.pin(x.load((k, 0), (64, BM)), role="load", atom="tma")
        else:
            y = kiln.pin(x.load((0, k), (BM, 64)), role="load", atom="tma")
        b = kiln.pin(w.load((0, k), (64, 64)), role="load", atom="tma")
        a = kiln.pin((y * 2.0 + 1.0).to(w.dtype), role=maker, residency="shared")
        acc = kiln.pin(
            kiln.dot(a, b, acc, transpose_a=ta, transpose_b=True),
            role="mma", atom=atom, in_flight=flight,
        )  # fmt: skip
    kiln.pin(c.store((0, 0), acc), role="mma")


@kiln.kernel
def gathered(
    x: kiln.View, rows: kiln.View, pages: kiln.View, c: kiln.View, atom: kiln.constexpr,
    maker: kiln.constexpr, BM: kiln.constexpr,
):  # fmt: skip
    """Rows that a list names are operand b."""
    kiln.grid(1)
    load, mma = kiln.role("load", warps=4), kiln.role("mma", warps=4)
    if maker == "mma":
        kiln.pin(roles=(load, mma))
    else:
        kiln.pin(roles=(load, kiln.role("gather", warps=4), mma))
    a = kiln.pin(x.load((0, 0), (BM, 64)), role="load", atom="tma")
    for p in kiln.pin(range(0, pages.shape[0], 32), depth=2):
        at = pages.load((p,), (32,))
        b = kiln.pin(kiln.gather(rows, (at[:, None], kiln.arange(0, 64)[None, :])), role=maker)
        d = kiln.pin(
            kiln.dot(a, b, kiln.zeros((BM, 32), kiln.f32), transpose_b=True),
            role="mma", atom=atom, in_flight=0,
        )  # fmt: skip
        kiln.pin(c.store((0, p), d), role="mma")


@kiln.kernel
def bytes_across(
    x: kiln.View, w: kiln.View, c: kiln.View, atom: kiln.constexpr, ta: kiln.constexpr,
    tb: kiln.constexpr, flight: kiln.constexpr, BM: kiln.constexpr, BN: kiln.constexpr,
    narrowed: kiln.constexpr,
):  # fmt: skip
    """Bytes, which instructions read along k alone: from memory, or narrowed on the way."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in kiln.pin(range(0, x.shape[0] if ta else x.shape[1], 64), depth=3):
        if ta:
            a = kiln.pin(x.load((k, 0), (64, BM)), role="load", atom="tma", ring="a")
        else:
            a = kiln.pin(x.load((0, k), (BM, 64)), role="load", atom="tma", ring="a")
        if tb:
            b = kiln.pin(w.load((0, k), (BN, 64)), role="load", atom="tma", ring="b")
        else:
            b = kiln.pin(w.load((k, 0), (64, BN)), role="load", atom="tma", ring="b")
        if narrowed:
            b = kiln.pin(b.to(x.dtype), role="mma")
        acc = kiln.pin(
            kiln.dot(a, b, acc, transpose_a=ta, transpose_b=tb),
            role="mma", atom=atom, in_flight=flight,
        )  # fmt: skip
    kiln.pin(c.store((0, 0), acc), role="mma")
