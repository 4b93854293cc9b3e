"""Sums in tensor memory that the role which makes them uses as well as another: both fetch them out of
one slot. Operands are whole numbers, so sums are exact."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
DEVICE = "emu:sm_100a"


def whole(rng, *shape: int):
    return rng.integers(-3, 4, shape).astype(BF16)


@kiln.kernel
def greatest(
    a: kiln.View, b: kiln.View, c: kiln.View, d: kiln.View, atom: kiln.constexpr,
    copies: kiln.constexpr, flight: kiln.constexpr, persistent: kiln.constexpr,
):  # fmt: skip
    """One role stores the product, that which makes it the greatest of each row."""
    rows = 128 * copies
    i = kiln.grid(kiln.cdiv(c.shape[0], rows))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies),
                    kiln.role("store", warps=4, copies=copies)))  # fmt: skip
    if persistent:
        kiln.pin(persistent=1)
    if atom == "tcgen05_pair":
        kiln.pin(cluster=(2,))
    acc = kiln.zeros((rows, 64), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x = kiln.pin(a.load((i * rows, k), (rows, 64)), role="load", atom="tma")
        y = kiln.pin(b.load((0, k), (64, 64)), role="load", atom="tma")
        acc = kiln.dot(x, y, acc, transpose_b=True)
        acc = kiln.pin(acc, role="mma", atom=atom, in_flight=flight)
    kiln.pin(c.store((i * rows, 0), acc), role="store")
    most = kiln.pin(kiln.max(acc, axis=1, keepdims=True), role="mma")
    kiln.pin(d.store((i * rows, 0), most), role="mma")


@pytest.mark.parametrize("flight", [0, 1])
@pytest.mark.parametrize(
    "atom, copies, persistent",
    [("tcgen05", 1, False), ("tcgen05", 2, True), ("tcgen05_pair", 1, False)],
)
def test_both_use_the_sums_of_a_tile(rng, atom, copies, persistent, flight) -> None:
    for trips in (1, 2, 5):
        rows = 4 * 128 * copies - (0 if atom == "tcgen05_pair" else 5)
        a, b = whole(rng, rows, 64 * trips), whole(rng, 64, 64 * trips)
        c, d = (np.full((rows, width), np.nan, np.float32) for width in (64, 1))
        greatest.options(device=DEVICE)(a, b, c, d, atom, copies, flight, persistent)
        want = a.astype(np.float64) @ b.astype(np.float64).T
        np.testing.assert_array_equal(c, want)
        np.testing.assert_array_equal(d[:, 0], want.max(axis=1))


@kiln.kernel
def summed(
    a: kiln.View, b: kiln.View, c: kiln.View, d: kiln.View, flight: kiln.constexpr,
    stage: kiln.constexpr, carried: kiln.constexpr,
):  # fmt: skip
    """One role stores the product of each trip, or what it was up to there; the other one the sum."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4),
                    kiln.role("store", warps=4)))  # fmt: skip
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x = kiln.pin(a.load((0, k), (128, 64)), role="load", atom="tma")
        y = kiln.pin(b.load((0, k), (64, 64)), role="load", atom="tma")
        s = kiln.dot(x, y, acc, transpose_b=True) if carried else kiln.dot(x, y, transpose_b=True)
        s = kiln.pin(s, role="mma", atom="tcgen05", in_flight=flight)
        kiln.pin(c.store((0, k), s), role="store")
        if carried:
            acc = s
        elif stage is None:
            acc = acc + s
        else:
            acc = kiln.pin(acc + s, role="mma", stage=stage)
    kiln.pin(d.store((0, 0), acc), role="mma")


def run_summed(rng, trips: int, flight: int, stage: int | None, carried: bool) -> None:
    a, b = whole(rng, 128, 64 * trips), whole(rng, 64, 64 * trips)
    c, d = (np.full((128, width), np.nan, np.float32) for width in (64 * trips, 64))
    summed.options(device=DEVICE)(a, b, c, d, flight, stage, carried)
    x, y = (each.astype(np.float64) for each in (a, b))
    each = [x[:, k : k + 64] @ y[:, k : k + 64].T for k in range(0, 64 * trips, 64)]
    np.testing.assert_array_equal(c, np.hstack(np.cumsum(each, axis=0) if carried else each))
    np.testing.assert_array_equal(d, x @ y.T)


@pytest.mark.parametrize(
    "flight, stage, carried",
    [(0, None, False), (0, 0, False), (1, 1, False), (2, 1, False), (2, 2, False), (0, None, True),
     (1, None, True)],
)  # fmt: skip
def test_both_use_the_sums_of_a_trip(rng, flight: int, stage: int | None, carried: bool) -> None:
    for trips in (1, 2, 5):
        run_summed(rng, trips, flight, stage, carried)


@pytest.mark.parametrize("flight, stage", [(0, 1), (1, 2), (1, 3)])
def test_slots_reach_to_where_the_own_role_fetches(rng, flight: int, stage: int) -> None:
    why = rf"expected in_flight of more than {flight}, or an earlier stage of what uses the sum"
    with pytest.raises(kiln.CompileError, match=why):
        run_summed(rng, 2, flight, stage, carried=False)


@kiln.kernel
def chained(
    q: kiln.View, k: kiln.View, v: kiln.View, c: kiln.View, d: kiln.View, flight: kiln.constexpr
):
    """One role stores the scores, that which makes them multiplies by them."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4),
                    kiln.role("store", warps=4)))  # fmt: skip
    acc = kiln.zeros((128, 64), kiln.f32)
    for j in range(0, k.shape[0], 64):
        x = kiln.pin(q.load((0, 0), (128, 64)), role="load", atom="tma")
        y = kiln.pin(k.load((j, 0), (64, 64)), role="load", atom="tma")
        z = kiln.pin(v.load((j, 0), (64, 64)), role="load", atom="tma")
        s = kiln.dot(x, y, transpose_b=True)
        s = kiln.pin(s, role="mma", atom="tcgen05", in_flight=flight)
        kiln.pin(c.store((0, j), s), role="store")
        acc = kiln.pin(kiln.dot(s.to(kiln.bf16), z, acc), role="mma", atom="tcgen05")
    kiln.pin(d.store((0, 0), acc), role="mma")


@pytest.mark.parametrize("flight", [0, 1])
def test_the_own_role_multiplies_by_what_another_stores(rng, flight: int) -> None:
    for trips in (1, 2, 5):
        shapes = (128, 64), (64 * trips, 64), (64 * trips, 64)
        q, k, v = (rng.integers(-1, 2, shape).astype(BF16) for shape in shapes)
        c, d = (np.full((128, width), np.nan, np.float32) for width in (64 * trips, 64))
        chained.options(device=DEVICE)(q, k, v, c, d, flight)
        scores = q.astype(np.float64) @ k.astype(np.float64).T
        np.testing.assert_array_equal(c, scores)
        np.testing.assert_array_equal(d, scores @ v.astype(np.float64))


@kiln.kernel
def handed_on(
    a: kiln.View, b: kiln.View, c: kiln.View, d: kiln.View, how: kiln.constexpr,
    flight: kiln.constexpr, parts: kiln.constexpr,
):  # fmt: skip
    """A trip uses the sum that it hands on, or does not add to it; another role stores the last."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4),
                    kiln.role("store", warps=4)))  # fmt: skip
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x = kiln.pin(a.load((0, k), (128, 64)), role="load", atom="tma")
        y = kiln.pin(b.load((0, k), (64, 64)), role="load", atom="tma")
        if how == "doubled":
            acc = acc * 2
        sums = kiln.zeros((128, 64), kiln.f32) if how == "last" else acc
        acc = kiln.dot(x, y, sums, transpose_b=True)
        acc = kiln.pin(acc, role="mma", atom="tcgen05", in_flight=flight)
        if parts is not None:
            acc = kiln.pin(acc, parts=parts)
        if how == "stored":
            kiln.pin(c.store((0, k), acc), role="store")
        if how == "cut":
            kiln.pin(c.store((0, k), acc[:, 32:64]), role="store")
    kiln.pin(d.store((0, 0), acc), role="store")


@pytest.mark.parametrize(
    "how, flight, parts",
    [("stored", 0, None), ("stored", 1, None), ("stored", 0, (1, 2, 1)), ("cut", 0, None),
     ("doubled", 0, None), ("last", 0, None)],
)  # fmt: skip
def test_another_role_has_what_a_loop_hands_on(rng, how: str, flight: int, parts) -> None:
    for trips in (1, 3):
        a, b = whole(rng, 128, 64 * trips), whole(rng, 64, 64 * trips)
        c, d = (np.full((128, width), np.nan, np.float32) for width in (64 * trips, 64))
        handed_on.options(device=DEVICE)(a, b, c, d, how, flight, parts)
        x, y = (each.astype(np.float64) for each in (a, b))
        want = np.zeros((128, 64))
        for k in range(0, 64 * trips, 64):
            want *= {"doubled": 2, "last": 0}.get(how, 1)
            want += x[:, k : k + 64] @ y[:, k : k + 64].T
            if how == "stored":
                np.testing.assert_array_equal(c[:, k : k + 64], want)
            if how == "cut":
                np.testing.assert_array_equal(c[:, k : k + 32], want[:, 32:])
        np.testing.assert_array_equal(d, want)


@kiln.kernel
def own_rings(
    a: kiln.View, b: kiln.View, c: kiln.View, d: kiln.View, load: kiln.constexpr,
    flight: kiln.constexpr, depth: kiln.constexpr,
):  # fmt: skip
    """The role that multiplies copies, too, some trips ahead; another stores what it has doubled."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("mma", warps=4), kiln.role("store", warps=4)))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x = kiln.pin(a.load((0, k), (128, 64)), role="mma", atom=load)
        y = kiln.pin(b.load((0, k), (64, 64)), role="mma", atom=load)
        if depth is not None:
            kiln.pin(x, depth=depth)
            kiln.pin(y, depth=depth)
        s = kiln.dot(x, y, transpose_b=True)
        s = kiln.pin(s, role="mma", atom="tcgen05", in_flight=flight)
        kiln.pin(c.store((0, k), kiln.pin(s * 2, role="store")), role="store")
        acc = acc + s
    kiln.pin(d.store((0, 0), acc), role="mma")


@pytest.mark.parametrize(
    "load, flight, depth",
    [("cp_async", 1, None), ("through_registers", 0, None), ("cp_async", 1, 4), ("tma", 0, 3)],
)
def test_the_own_role_copies_ahead(rng, load: str, flight: int, depth: int | None) -> None:
    for trips in (1, 5):
        a, b = whole(rng, 128, 64 * trips), whole(rng, 64, 64 * trips)
        c, d = (np.full((128, width), np.nan, np.float32) for width in (64 * trips, 64))
        own_rings.options(device=DEVICE)(a, b, c, d, load, flight, depth)
        x, y = (each.astype(np.float64) for each in (a, b))
        for k in range(0, 64 * trips, 64):
            want = 2 * x[:, k : k + 64] @ y[:, k : k + 64].T
            np.testing.assert_array_equal(c[:, k : k + 64], want)
        np.testing.assert_array_equal(d, x @ y.T)
