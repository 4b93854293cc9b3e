"""Products in flight whose operands are in registers: what emulated chips and a real one run."""

from __future__ import annotations

import ml_dtypes
import numpy as np

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


@kiln.kernel
def attended(
    q: kiln.View,
    x: kiln.View,
    bounds: kiln.View,
    c: kiln.View,
    B: kiln.constexpr,
    D: kiln.constexpr,
):
    """Attention of a group's rows to the last rows of its own, whose queries stay in registers."""
    i, g = kiln.grid(kiln.cdiv(c.shape[1], 64), c.shape[0])
    kiln.pin(roles=kiln.role("all", warps=4))
    first = bounds.load((g,), (1,), squeeze=True)
    last = bounds.load((g + 1,), (1,), squeeze=True)
    rows = q.load((g, i * 64, 0), (1, 64, D), squeeze=0)
    acc, total = kiln.zeros((64, D), kiln.f32), kiln.zeros((64,), kiln.f32)
    largest = kiln.full((64,), -1000.0, kiln.f32)
    for j in range(kiln.maximum(first, last - 128), last, B):
        y = x.load((j, 0), (B, D))
        scores = kiln.pin(kiln.dot(rows, y, transpose_b=True), in_flight=0, atom="wgmma")
        sees = (j.to(kiln.i32) + kiln.arange(B))[None, :] < last.to(kiln.i32)
        scores = kiln.where(sees, scores, -1000.0)
        most = kiln.maximum(largest, kiln.max(scores, axis=1))
        shrink = kiln.exp2(largest - most)
        weights = kiln.exp2(scores - most[:, None])
        total = total * shrink + kiln.sum(weights, axis=1)
        largest = most
        part = kiln.dot(weights.to(q.dtype), y, acc * shrink[:, None])
        acc = kiln.pin(part, in_flight=0, atom="wgmma")
    mean = acc / kiln.maximum(total, 1e-20)[:, None]
    c.store((g, i * 64, 0), mean[None, :, :])


@kiln.kernel
def reread(q: kiln.View, x: kiln.View, c: kiln.View, looped: kiln.constexpr):
    """Weights are multiplied again behind a product of what was made of them, in a loop or not."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    rows = q.load((0, 0), (64, 64))
    total = kiln.zeros((64, 64), kiln.f32)
    for k in range(0, x.shape[0], 64) if looped else kiln.static_range(0, 128, 64):
        y = x.load((k, 0), (64, 64))
        scores = kiln.pin(kiln.dot(rows, y, transpose_b=True), atom="wgmma", in_flight=0)
        weights = (scores * 0.5).to(q.dtype)
        part = kiln.pin(kiln.dot(weights, y), atom="wgmma", in_flight=0)
        again = (part * 0.125).to(q.dtype)
        total = kiln.pin(kiln.dot(again, y, total), atom="wgmma", in_flight=0)
        total = kiln.dot(weights, y, total, transpose_b=True)
        total = kiln.pin(total, atom="wgmma", in_flight=0)
    c.store((0, 0), total)


def rereading(q, x):
    """What `reread` gives, of arrays of float64 whose numbers bf16 holds."""

    def to_bf16(a):
        return a.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)

    total = np.zeros((64, 64))
    for y in x.reshape(-1, 64, 64):
        weights = to_bf16(q @ y.T * 0.5)
        total += to_bf16(weights @ y * 0.125) @ y + weights @ y.T
    return total


def attention(q, x, bounds):
    """What `attended` gives, of arrays of float64."""
    means = np.zeros(q.shape)
    for group, (first, last) in enumerate(zip(bounds[:-1], bounds[1:], strict=True)):
        rows = x[max(first, last - 128) : last]
        scores = q[group] @ rows.T
        weights = np.exp2(scores - scores.max(1, keepdims=True))
        means[group] = weights @ rows / weights.sum(1, keepdims=True)
    return means
