"""Rings that a role fills for itself, by schedules drawn at random: of several depths and distances
in one loop, by copies that are under way and through registers, in loops in loops and without one.
On emulated chips, which see a read that comes too early, against float64."""

from __future__ import annotations

import math

import isa
import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
CHIPS = {
    "sm_80": ("cp_async", "through_registers"),
    "gfx942": ("load_to_lds", "through_registers"),
    "gfx950": ("load_to_lds", "through_registers"),
    "gfx90a": ("through_registers",),
    "gfx1201": ("through_registers",),
}


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View, depth: kiln.i32,
    copy_a: kiln.constexpr, copy_b: kiln.constexpr, depth_a: kiln.constexpr,
    depth_b: kiln.constexpr, stage_a: kiln.constexpr, stage_b: kiln.constexpr,
    stage: kiln.constexpr, loads_late: kiln.constexpr, written_a: kiln.constexpr = None,
    written_b: kiln.constexpr = None,
):  # fmt: skip
    """Two rings in one loop, of a grid that goes on from tile to tile."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 64))
    kiln.pin(roles=kiln.role("all", warps=4), persistent=(2, 1))
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in range(0, depth, 32):
        if loads_late:
            y = b.load((j * 64, k), (64, 32))
            x = a.load((i * 64, k), (64, 32))
        else:
            x = a.load((i * 64, k), (64, 32))
            y = b.load((j * 64, k), (64, 32))
        kiln.pin(x, atom=copy_a, ring="a", depth=depth_a, stage=stage_a, write_stage=written_a)
        kiln.pin(y, atom=copy_b, ring="b", depth=depth_b, stage=stage_b, write_stage=written_b)
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), stage=stage)
    c.store((i * 64, j * 64), acc.to(c.dtype))


def draw(rng, copies):
    """A schedule that holds: what arrives late has a slot for each trip until it is read, and one
    that is filled; what is written at the end of a trip is read in a later one."""
    stage = int(rng.integers(1, 4))
    schedule = {"stage": stage, "loads_late": bool(rng.integers(2))}
    for name in "ab":
        copy = str(rng.choice(copies))
        own = int(rng.integers(0, stage))
        least = stage - own + (copy != "through_registers")
        schedule[f"copy_{name}"] = copy
        schedule[f"stage_{name}"] = own
        schedule[f"depth_{name}"] = int(rng.integers(least, least + 2))
    # Stages of a role begin with 0.
    schedule[f"stage_{rng.choice(['a', 'b'])}"] = 0
    for name in "ab":
        least = stage - schedule[f"stage_{name}"]
        least += schedule[f"copy_{name}"] != "through_registers"
        schedule[f"depth_{name}"] = max(schedule[f"depth_{name}"], least)
    # A loop is unrolled by what both depths divide, where slots must be known.
    if math.lcm(schedule["depth_a"], schedule["depth_b"]) > 16:
        schedule["depth_b"] = schedule["depth_a"] = 5
    return schedule


def check(kernel, rng, **constants) -> None:
    m, n = (int(rng.integers(1, 200)) for _ in "mn")
    k = 32 * int(rng.integers(0, 8))
    a, b = (rng.standard_normal((rows, 256)).astype(BF16) for rows in (m, n))
    c = np.zeros((m, n), np.float32)
    kernel(a, b, c, k, **constants)
    reference = a[:, :k].astype(np.float64) @ b[:, :k].astype(np.float64).T
    worst = np.abs(c - reference).max()
    assert worst <= 1e-4 * max(k, 1) ** 0.5, (m, n, k, constants, worst)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("_", range(4))
def test_two_rings_in_a_loop(rng, chip: str, _) -> None:
    schedule = draw(rng, CHIPS[chip])
    print(schedule)
    check(product.options(device=f"emu:{chip}"), rng, **schedule)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("_", range(2))
def test_tiles_that_are_written_trips_behind_their_loads(rng, chip: str, _) -> None:
    """What goes through registers may stay there for trips: its ring needs slots from where it is
    written on."""
    schedule = draw(rng, CHIPS[chip])
    for name in "ab":
        if schedule[f"copy_{name}"] == "through_registers":
            schedule[f"written_{name}"] = int(
                rng.integers(schedule[f"stage_{name}"], schedule["stage"])
            )
    print(schedule)
    check(product.options(device=f"emu:{chip}"), rng, **schedule)


@kiln.kernel
def product_beside(
    a: kiln.View, b: kiln.View, c: kiln.View, depth: kiln.i32,
    copy_a: kiln.constexpr, copy_b: kiln.constexpr, depth_a: kiln.constexpr,
    depth_b: kiln.constexpr, stage_a: kiln.constexpr, stage_b: kiln.constexpr,
    stage: kiln.constexpr, late: kiln.constexpr, in_flight: kiln.constexpr,
    copies: kiln.constexpr, start: kiln.constexpr,
):  # fmt: skip
    """Rings that dots in flight read, beside something that may run at a later stage."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], 64))
    kiln.pin(roles=kiln.role("all", warps=4, copies=copies), persistent=(2, 1))
    acc = kiln.full((128, 64), start, kiln.f32)
    last = kiln.zeros((128,), kiln.f32)
    for k in range(0, depth, 32):
        x = a.load((i * 128, k), (128, 32))
        y = b.load((j * 64, k), (64, 32))
        kiln.pin(x, atom=copy_a, ring="a", depth=depth_a, stage=stage_a)
        kiln.pin(y, atom=copy_b, ring="b", depth=depth_b, stage=stage_b)
        acc = kiln.dot(x, y, acc, transpose_b=True)
        kiln.pin(acc, atom="wgmma", stage=stage, in_flight=in_flight)
        last = kiln.pin(last + k.to(kiln.f32), stage=late)
    c.store((i * 128, j * 64), acc + last[:, None])


def draw_beside(rng) -> dict:
    """A schedule that holds: what a dot reads while the next trip begins takes one slot more, and
    a dot that ends in its trip does so behind what is written in it."""
    schedule = draw(rng, ("cp_async", "through_registers"))
    del schedule["loads_late"]
    schedule["in_flight"] = flight = int(rng.integers(0, 3))
    for name in "ab":
        is_written = schedule[f"copy_{name}"] == "through_registers"
        schedule[f"depth_{name}"] += flight + is_written
    schedule["late"] = int(rng.integers(0, 4))
    schedule["copies"] = int(rng.choice([1, 2]))
    schedule["start"] = float(rng.integers(2))
    return schedule


@pytest.mark.parametrize("_", range(6))
def test_dots_in_flight_read_own_rings(rng, _) -> None:
    schedule = draw_beside(rng)
    print(schedule)
    m, n = (int(rng.integers(1, 200)) for _ in "mn")
    kernel = product_beside.options(device="emu:sm_90a")
    for trips in (0, 1, 2, 3, int(rng.integers(4, 9))):
        k = 32 * trips
        a, b = (rng.standard_normal((rows, 256)).astype(BF16) for rows in (m, n))
        c = np.zeros((m, n), np.float32)
        kernel(a, b, c, k, **schedule)
        reference = a[:, :k].astype(np.float64) @ b[:, :k].astype(np.float64).T
        reference += schedule["start"] + sum(range(0, k, 32))
        assert np.abs(c - reference).max() <= 1e-3, (m, n, k, schedule)


def test_a_ring_without_a_slot_for_a_dot_in_flight_is_refused(rng) -> None:
    schedule = dict(
        copy_a="cp_async", copy_b="cp_async", depth_a=3, depth_b=3, stage_a=0, stage_b=0, stage=2,
        late=0, copies=2, start=0.0,
    )  # fmt: skip
    a, b, c = (np.zeros((128, 64), BF16) for _ in "abc")
    kernel = product_beside.options(device="emu:sm_90a")
    kernel(a, b, c.astype(np.float32), 64, in_flight=0, **schedule)
    with pytest.raises(kiln.CompileError, match="expected a ring of more than 3 slots") as got:
        kernel(a, b, c.astype(np.float32), 64, in_flight=1, **schedule)
    assert "a.load((i * 128, k), (128, 32))" in str(got.value)


@kiln.kernel
def attention(q: kiln.View, keys: kiln.View, values: kiln.View, out: kiln.View,
              copy: kiln.constexpr, depth: kiln.constexpr):  # fmt: skip
    """A tile that comes once a program, and two rings in a loop behind it."""
    i = kiln.grid(kiln.cdiv(q.shape[0], 64))
    kiln.pin(roles=kiln.role("all", warps=4))
    x = kiln.pin(q.load((i * 64, 0), (64, 64)), atom=copy, ring="q")
    best = kiln.full((64,), -float("inf"), kiln.f32)
    total = kiln.zeros((64,), kiln.f32)
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in range(0, keys.shape[0], 32):
        y = kiln.pin(keys.load((k, 0), (32, 64)), atom=copy, ring="k", depth=depth, stage=0)
        z = kiln.pin(values.load((k, 0), (32, 64)), atom=copy, ring="v", depth=depth, stage=0)
        s = kiln.pin(kiln.dot(x, y, transpose_b=True), stage=depth - 1)
        s = kiln.where(kiln.arange(32)[None, :] + k < keys.shape[0], s, -float("inf"))
        new = kiln.maximum(best, kiln.max(s, axis=1))
        p = kiln.exp(s - new[:, None])
        scale = kiln.exp(best - new)
        total = total * scale + kiln.sum(p, axis=1)
        acc = kiln.dot(p.to(kiln.bf16), z, acc * scale[:, None])
        best = new
    out.store((i * 64, 0), acc / total[:, None])


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("chip, copy", [("sm_80", "cp_async"), ("gfx950", "load_to_lds")])
def test_attention_of_one_role(rng, chip: str, copy: str, depth: int) -> None:
    kernel = attention.options(device=f"emu:{chip}")
    # Of one row the keys' number is known where the kernel is compiled, and so is the only trip.
    for length in (1, int(rng.integers(2, 33)), int(rng.integers(33, 200))):
        rows = int(rng.integers(1, 130))
        q = rng.standard_normal((rows, 64)).astype(BF16)
        keys, values = (rng.standard_normal((length, 64)).astype(BF16) for _ in "kv")
        out = np.zeros((rows, 64), np.float32)
        kernel(q, keys, values, out, copy=copy, depth=depth)
        scores = q.astype(np.float64) @ keys.astype(np.float64).T
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        reference = weights / weights.sum(axis=1, keepdims=True) @ values.astype(np.float64)
        assert np.abs(out - reference).max() < 3e-2, (rows, length)


@kiln.kernel
def too_shallow(a: kiln.View, c: kiln.View, depth: kiln.constexpr, stage: kiln.constexpr):
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in range(0, a.shape[1], 32):
        x = kiln.pin(a.load((0, k), (64, 32)), atom="cp_async", depth=depth, stage=0)
        acc = kiln.pin(kiln.dot(x, x, acc, transpose_b=True), stage=stage)
    c.store((0, 0), acc)


def test_a_ring_without_slots_enough_is_refused(rng) -> None:
    a, c = rng.standard_normal((64, 64)).astype(BF16), np.zeros((64, 64), np.float32)
    kernel = too_shallow.options(device="emu:sm_80")
    with pytest.raises(kiln.CompileError, match="expected a ring of more than 2 slots") as got:
        kernel(a, c, depth=2, stage=2)
    assert "a.load((0, k), (64, 32))" in str(got.value)
    kernel(a, c, depth=1, stage=0)
    reference = a.astype(np.float64) @ a.astype(np.float64).T
    assert np.abs(c - reference).max() < 1e-3


@pytest.mark.parametrize("chip", [chip for chip in CHIPS if chip.startswith("gfx")])
def test_the_final_code_waits_for_what_it_reads(chip: str) -> None:
    """On AMD's chips, whose waits LLVM makes but for those at the head of a loop. Of one slot: where
    a loop has several, their places are not always known apart."""
    view = kiln.View[kiln.bf16, 2]
    compiled = product.compile(
        view, view, kiln.View[kiln.f32, 2], kiln.i32, target=f"amdgpu:{chip}",
        copy_a="through_registers", copy_b="through_registers", depth_a=1, depth_b=1,
        stage_a=0, stage_b=0, stage=1, loads_late=False,
    )  # fmt: skip
    if not isa.has_checker():
        pytest.skip("no tile-check-isa here")
    isa.check(compiled.asm.encode(), allow_strong=True)
