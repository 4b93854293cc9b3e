"""Products in flight whose operands are in registers: what emulated chips and a real one run."""

from __future__ import annotations

import kiln


@kiln.kernel
def widened_rows(
    w: kiln.View, x: kiln.View, c: kiln.View, copy: kiln.constexpr, copies: kiln.constexpr,
    flight: kiln.constexpr, depth: kiln.constexpr, ahead: kiln.constexpr, BM: kiln.constexpr,
    BN: kiln.constexpr, BK: kiln.constexpr, turned: kiln.constexpr = False,
):  # fmt: skip
    """Weights of a byte, widened in the product's warps, are operand a. `turned` has the product's
    stage name them anew, which takes no registers."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    mma = kiln.role("mma", warps=4, copies=copies)
    kiln.pin(roles=(kiln.role("load", warps=4), mma) if copy == "tma" else mma)
    source = "load" if copy == "tma" else "mma"
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, x.shape[1], BK):
        y = kiln.pin(w.load((i * BM, k), (BM, BK)), role=source, atom=copy, ring="w", depth=depth)
        t = kiln.pin(x.load((j * BN, k), (BN, BK)), role=source, atom=copy, ring="x", depth=depth)
        wide = kiln.pin(y.to(x.dtype), role="mma")
        if ahead:
            kiln.pin(wide, stage=0, order=1 + turned)
        if turned:
            flat = kiln.pin(wide.reshape(BM, BK, 1), role="mma", stage=0, order=3)
            wide = kiln.pin(flat.reshape(BM, BK), role="mma", stage=ahead, order=0)
        acc = kiln.dot(wide, t, acc, transpose_b=True)
        kiln.pin(acc, role="mma", atom="wgmma", in_flight=flight)
        if ahead:
            kiln.pin(acc, stage=ahead, order=int(turned))
    kiln.pin(c.store((i * BM, j * BN), acc), role="mma")


@kiln.kernel
def weighted(
    q: kiln.View, x: kiln.View, c: kiln.View, later: kiln.constexpr, flight: kiln.constexpr,
    copies: kiln.constexpr,
):  # fmt: skip
    """Halves of products weigh the same rows again, and are added to a sum in a later trip."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies)))
    total = kiln.zeros((64 * copies, 64), kiln.f32)
    left = kiln.pin(q.load((0, 0), (64 * copies, 64)), role="load", atom="tma", ring="q")
    for k in kiln.pin(range(0, x.shape[0], 64), depth=4 + later):
        y = kiln.pin(x.load((k, 0), (64, 64)), role="load", atom="tma", ring="x")
        scores = kiln.dot(left, y, transpose_b=True)
        kiln.pin(scores, role="mma", atom="wgmma", in_flight=0, stage=0)
        weights = kiln.pin((scores * 0.5).to(x.dtype), role="mma", stage=0)
        part = kiln.dot(weights, y)
        kiln.pin(part, role="mma", atom="wgmma", in_flight=flight, stage=0)
        total = kiln.pin(total + part, role="mma", stage=later)
    kiln.pin(c.store((0, 0), total), role="mma")
