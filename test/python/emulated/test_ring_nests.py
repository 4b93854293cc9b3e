"""Rings in loops in sequence and in loops in loops, that a role fills for itself or for another, by
schedules drawn at random. On emulated chips, which see a read that comes too early, against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
COPIES = {
    "sm_80": ("cp_async", "through_registers"),
    "sm_90a": ("cp_async", "through_registers"),
    "gfx942": ("load_to_lds", "through_registers"),
    "gfx950": ("load_to_lds", "through_registers"),
    "gfx1201": ("through_registers",),
}


@kiln.kernel
def sequence(
    a: kiln.View, c: kiln.View, first: kiln.i32, second: kiln.i32, copy: kiln.constexpr,
    depth: kiln.constexpr, near: kiln.constexpr, far: kiln.constexpr,
):  # fmt: skip
    """One ring in two loops, which read at stages of their own, in a grid that goes on."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 64))
    kiln.pin(roles=kiln.role("all", warps=4), persistent=(2, 1))
    s = kiln.zeros((64, 32), kiln.f32)
    for h in range(0, first, 32):
        x = kiln.pin(a.load((i * 64, h), (64, 32)), atom=copy, ring="x", depth=depth, stage=0)
        s = kiln.pin(s + x.to(kiln.f32), stage=near)
    for h in range(0, second, 32):
        x = kiln.pin(a.load((i * 64, h), (64, 32)), atom=copy, ring="x", depth=depth, stage=0)
        s = kiln.pin(s * 0.5 + x.to(kiln.f32), stage=far)
    c.store((i * 64, 0), s)


@pytest.mark.parametrize("chip", COPIES)
@pytest.mark.parametrize("_", range(2))
def test_one_ring_in_two_loops(rng, chip: str, _) -> None:
    copy = str(rng.choice(COPIES[chip]))
    near, far = (int(rng.integers(1, 4)) for _ in "nf")
    depth = max(near, far) + (copy != "through_registers") + int(rng.integers(2))
    schedule = dict(copy=copy, depth=depth, near=near, far=far)
    print(schedule)
    for first, second in ((0, 1), (1, 0), (1, 1), tuple(rng.integers(2, 8, 2))):
        rows = int(rng.integers(1, 300))
        a = rng.standard_normal((rows, 256)).astype(BF16)
        c = np.zeros((rows, 32), np.float32)
        counts = (32 * int(first), 32 * int(second))
        sequence.options(device=f"emu:{chip}")(a, c, *counts, **schedule)
        tiles = a.astype(np.float64).reshape(rows, 8, 32).swapaxes(0, 1)
        want = tiles[: int(first)].sum(axis=0)
        for tile in tiles[: int(second)]:
            want = want * 0.5 + tile
        assert np.abs(c - want).max() <= 1e-4, (rows, first, second)


@kiln.kernel
def nest(
    a: kiln.View, b: kiln.View, counts: kiln.View, c: kiln.View,
    outer: kiln.constexpr, inner: kiln.constexpr, depth: kiln.constexpr, deep: kiln.constexpr,
    behind: kiln.constexpr,
):  # fmt: skip
    """A ring in a loop, and one in a loop in it of a loaded number of trips, which uses what the
    outer one brings; behind it, if asked, another ring of the outer loop."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    s = kiln.zeros((64, 32), kiln.f32)
    for h in range(counts.shape[0]):
        x = kiln.pin(a.load((h * 64, 0), (64, 32)), atom=outer, ring="x", depth=depth)
        for g in range(counts[h]):
            y = kiln.pin(b.load((g * 64, 0), (64, 32)), atom=inner, ring="y", depth=deep)
            s = s + x.to(kiln.f32) * y.to(kiln.f32)
        if behind:
            z = kiln.pin(b.load((h * 64, 0), (64, 32)), atom=inner, ring="z", depth=depth)
            s = s * 0.5 + z.to(kiln.f32)
    c.store((0, 0), s)


@kiln.kernel
def handed_nest(
    a: kiln.View, b: kiln.View, counts: kiln.View, c: kiln.View,
    outer: kiln.constexpr, inner: kiln.constexpr, depth: kiln.constexpr, deep: kiln.constexpr,
    behind: kiln.constexpr,
):  # fmt: skip
    """The same, whose rings a role of its own fills."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("all", warps=4)))
    s = kiln.zeros((64, 32), kiln.f32)
    for h in range(counts.shape[0]):
        x = a.load((h * 64, 0), (64, 32))
        kiln.pin(x, role="load", atom=outer, ring="x", depth=depth)
        for g in range(counts[h]):
            y = b.load((g * 64, 0), (64, 32))
            kiln.pin(y, role="load", atom=inner, ring="y", depth=deep)
            s = kiln.pin(s + x.to(kiln.f32) * y.to(kiln.f32), role="all")
        if behind:
            z = b.load((h * 64, 0), (64, 32))
            kiln.pin(z, role="load", atom=inner, ring="z", depth=depth)
            s = kiln.pin(s * 0.5 + z.to(kiln.f32), role="all")
    kiln.pin(c.store((0, 0), s), role="all")


def check_nest(kernel, rng, schedule: dict) -> None:
    print(schedule)
    for counts in ([0], [1], [3, 0, 1], rng.integers(0, 5, 5)):
        counts = np.array(counts, np.int32)
        a, b = (rng.standard_normal((64 * 5, 32)).astype(BF16) for _ in "ab")
        c = np.zeros((64, 32), np.float32)
        kernel(a, b, counts, c, **schedule)
        xs, ys = (its.astype(np.float64).reshape(5, 64, 32) for its in (a, b))
        want = np.zeros((64, 32))
        for h, count in enumerate(counts):
            want += xs[h] * ys[:count].sum(axis=0)
            if schedule["behind"]:
                want = want * 0.5 + ys[h]
        assert np.abs(c - want).max() <= 1e-4, (counts, schedule)


def draw_nest(rng, copies) -> dict:
    names = {name: str(rng.choice(copies)) for name in ("outer", "inner")}
    depths = {name: int(rng.integers(2, 5)) for name in ("depth", "deep")}
    return names | depths | {"behind": bool(rng.integers(2))}


@pytest.mark.parametrize("chip", COPIES)
@pytest.mark.parametrize("_", range(2))
def test_a_ring_in_a_loop_in_a_loop(rng, chip: str, _) -> None:
    check_nest(nest.options(device=f"emu:{chip}"), rng, draw_nest(rng, COPIES[chip]))


@pytest.mark.parametrize("chip", ["sm_80", "sm_89", "sm_90a", "sm_100a"])
@pytest.mark.parametrize("_", range(2))
def test_another_role_writes_rings_in_a_loop_in_a_loop(rng, chip: str, _) -> None:
    """What the inner loop's tiles are used with is written before these, which wait for slots."""
    engine = ("tma",) if chip in ("sm_90a", "sm_100a") else ()
    schedule = draw_nest(rng, ("through_registers", "cp_async", *engine))
    schedule["outer"] = "through_registers"
    check_nest(handed_nest.options(device=f"emu:{chip}"), rng, schedule)


@kiln.kernel
def widened_in_a_nest(
    x: kiln.View, w: kiln.View, c: kiln.View, outer: kiln.i32, inner: kiln.i32, flight: kiln.constexpr
):  # fmt: skip
    """The inner loop fills a ring of its own role's, and reads a slot that the outer one got."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    acc = kiln.zeros((64, 64), kiln.f32)
    for h in range(outer):
        a = kiln.pin(x.load((0, h * 64), (64, 64)), role="load", atom="tma", ring="x", depth=2)
        for g in range(inner):
            y = kiln.pin(w.load((0, g * 64), (64, 64)), role="load", atom="tma", ring="y", depth=2)
            b = kiln.pin((y * 1.0).to(x.dtype), role="mma", depth=2)
            acc = kiln.pin(
                kiln.dot(a, b, acc, transpose_b=True), role="mma", atom="wgmma", in_flight=flight
            )
    kiln.pin(c.store((0, 0), acc), role="mma")


@pytest.mark.parametrize("outer, inner", [(3, 2), (3, 0), (0, 3), (1, 1), (2, 5)])
@pytest.mark.parametrize("flight", [0, 1])
def test_a_slot_that_a_loop_inside_reads(rng, flight: int, outer: int, inner: int) -> None:
    """Without trips inside nobody waits, and it is given back all the same."""
    x, w = (rng.integers(-4, 5, (64, 64 * max(n, 1))).astype(BF16) for n in (outer, inner))
    c = np.zeros((64, 64), np.float32)
    widened_in_a_nest.options(device="emu:sm_90a")(x, w, c, outer, inner, flight=flight)
    x, w = (each.astype(np.float64) for each in (x, w))
    want = np.zeros((64, 64))
    for h in range(outer):
        for g in range(inner):
            want += x[:, 64 * h : 64 * h + 64] @ w[:, 64 * g : 64 * g + 64].T
    np.testing.assert_array_equal(c, want)
