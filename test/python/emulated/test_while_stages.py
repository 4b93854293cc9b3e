"""Stages in `while` loops: trips that overlap although nobody counts them, since each says a trip
ahead whether there is another. Pages that lead to one another through memory, loops that are left,
rings of a role's own and rings across roles, products in flight. On emulated chips, against
float64; for none, one, two and many trips."""

from __future__ import annotations

import math

import isa
import ml_dtypes
import numpy as np
import pytest
from test_own_rings import draw, draw_beside

import kiln

BF16 = ml_dtypes.bfloat16
CHIPS = {
    "sm_80": ("cp_async", "through_registers"), "sm_90a": ("cp_async", "through_registers"),
    "gfx942": ("load_to_lds", "through_registers"), "gfx950": ("load_to_lds", "through_registers"),
    "gfx1201": ("through_registers",),
}  # fmt: skip


def draw_chain(rng, pages: int, trips: int) -> tuple[list[int], np.ndarray]:
    """Pages in a drawn order, and which one follows each: -1 behind the last."""
    order = [int(page) for page in rng.permutation(pages)[:trips]]
    following = np.full(pages, -7, np.int32)
    for page, after in zip(order, [*order[1:], -1], strict=False):
        following[page] = after
    return order, following


@kiln.kernel
def paged_product(
    a: kiln.View, b: kiln.View, c: kiln.View, following: kiln.View, first: kiln.i32,
    copy_a: kiln.constexpr, copy_b: kiln.constexpr, depth_a: kiln.constexpr,
    depth_b: kiln.constexpr, stage_a: kiln.constexpr, stage_b: kiln.constexpr,
    stage: kiln.constexpr, loads_late: kiln.constexpr,
):  # fmt: skip
    """Columns of 32 in the order of a chain."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 64))
    kiln.pin(roles=kiln.role("all", warps=4), persistent=(2, 1))
    acc = kiln.zeros((64, 64), kiln.f32)
    page = first
    while page >= 0:
        k = page * 32
        if loads_late:
            y = b.load((j * 64, k), (64, 32))
            x = a.load((i * 64, k), (64, 32))
        else:
            x = a.load((i * 64, k), (64, 32))
            y = b.load((j * 64, k), (64, 32))
        kiln.pin(x, atom=copy_a, ring="a", depth=depth_a, stage=stage_a)
        kiln.pin(y, atom=copy_b, ring="b", depth=depth_b, stage=stage_b)
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), stage=stage)
        page = following[page]
    c.store((i * 64, j * 64), acc.to(c.dtype))


def has_constant_slots(copy_a="", copy_b="", depth_a=1, depth_b=1, **_) -> bool:
    """Whether a trip is written out until slots repeat: 16 times at most, or 8 if all goes through
    registers. No proof of the final code tells slots apart that are chosen at run time."""
    return math.lcm(depth_a, depth_b) <= (16 if "load_to_lds" in (copy_a, copy_b) else 8)


def check_pages(rng, kernel, chip: str, trips: list[int], pages=8, wide=200, **schedule) -> None:
    """A product over pages, and the final code of it."""
    emulated = kernel.options(device=f"emu:{chip}")
    m, n = (int(rng.integers(1, wide)) for _ in "mn")
    a, b = (rng.standard_normal((rows, 32 * pages)).astype(BF16) for rows in (m, n))
    c = np.zeros((m, n), np.float32)
    for number in trips:
        order, following = draw_chain(rng, pages, number)
        first = order[0] if order else -1
        emulated(a, b, c, following, first, **schedule)
        columns = [32 * page + column for page in order for column in range(32)]
        reference = a[:, columns].astype(np.float64) @ b[:, columns].astype(np.float64).T
        assert np.abs(c - reference).max() <= 2e-3, (m, n, order)
    if chip.startswith("gfx9") and isa.has_checker() and has_constant_slots(**schedule):
        code = kernel.compile(a, b, c, following, first, target=f"amdgpu:{chip}", **schedule)
        isa.check(code.asm.encode(), allow_strong=True)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("_", range(2))
def test_own_rings_in_a_while(rng, chip: str, _) -> None:
    schedule = draw(rng, CHIPS[chip])
    print(schedule)
    check_pages(rng, paged_product, chip, [0, 1, 2, 3, 7], **schedule)


@pytest.mark.parametrize("depth_a, depth_b, stage", [(5, 7, 4), (8, 8, 7), (2, 3, 1)])
def test_rings_of_other_depths_in_a_while(rng, depth_a: int, depth_b: int, stage: int) -> None:
    """Whose slots repeat after as many trips as both depths divide."""
    check_pages(
        rng, paged_product, "gfx950", [0, 1, stage, 37], 40, copy_a="load_to_lds",
        copy_b="load_to_lds", depth_a=depth_a, depth_b=depth_b, stage_a=0, stage_b=0, stage=stage,
        loads_late=bool(rng.integers(2)),
    )  # fmt: skip


@kiln.kernel
def paged_by_groups(
    a: kiln.View, b: kiln.View, c: kiln.View, following: kiln.View, first: kiln.i32,
    copy: kiln.constexpr, depth: kiln.constexpr,
):  # fmt: skip
    """By groups of waves of which one multiplies while the other fills and reads."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4, copies=2, skew=1))
    acc = kiln.zeros((128, 128), kiln.f32)
    page = first
    while page >= 0:
        x = kiln.pin(a.load((0, page * 32), (128, 32)), stage=0, atom=copy, depth=depth)
        y = kiln.pin(b.load((0, page * 32), (128, 32)), stage=0, atom=copy, depth=depth)
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), stage=depth - 1)
        page = following[page]
    c.store((0, 0), acc)


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize(
    "chip, copy",
    [
        ("gfx942", "load_to_lds"),
        ("gfx950", "load_to_lds"),
        ("gfx942", "through_registers"),
        ("sm_80", "cp_async"),
    ],
)
def test_copies_lag_in_a_while(rng, chip: str, copy: str, depth: int) -> None:
    check_pages(rng, paged_by_groups, chip, [0, 1, 2, 3, 4, 7], wide=129, copy=copy, depth=depth)


@kiln.kernel
def product_beside(
    a: kiln.View, b: kiln.View, c: kiln.View, trips: kiln.i32, by: kiln.i32,
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
    left = trips
    while left > 0:
        left = left - by  # which nobody knows to be one
        k = left * 32
        x = a.load((i * 128, k), (128, 32))
        y = b.load((j * 64, k), (64, 32))
        kiln.pin(x, atom=copy_a, ring="a", depth=depth_a, stage=stage_a)
        kiln.pin(y, atom=copy_b, ring="b", depth=depth_b, stage=stage_b)
        acc = kiln.dot(x, y, acc, transpose_b=True)
        kiln.pin(acc, atom="wgmma", stage=stage, in_flight=in_flight)
        last = kiln.pin(last * 0.5 + k.to(kiln.f32), stage=late)
    c.store((i * 128, j * 64), acc + last[:, None])


@pytest.mark.parametrize("_", range(6))
def test_dots_in_flight_of_own_rings_in_a_while(rng, _) -> None:
    schedule = draw_beside(rng)
    print(schedule)
    m, n = (int(rng.integers(1, 200)) for _ in "mn")
    kernel = product_beside.options(device="emu:sm_90a")
    for trips in (0, 1, 2, 3, 6):
        k = 32 * trips
        a, b = (rng.standard_normal((rows, 256)).astype(BF16) for rows in (m, n))
        c = np.zeros((m, n), np.float32)
        kernel(a, b, c, trips, 1, **schedule)
        reference = a[:, :k].astype(np.float64) @ b[:, :k].astype(np.float64).T
        last = 0.0
        for at in range(k - 32, -1, -32):
            last = last * 0.5 + at
        reference += schedule["start"] + last
        assert np.abs(c - reference).max() <= 2e-3, (m, n, k, schedule)


@kiln.kernel
def paged_weights(
    q: kiln.View, k: kiln.View, v: kiln.View, o: kiln.View, following: kiln.View, first: kiln.i32,
    least: kiln.f32, FLIGHT: kiln.constexpr, LATE: kiln.constexpr, DEPTH: kiln.constexpr,
    COPIES: kiln.constexpr, LEAVES: kiln.constexpr,
):  # fmt: skip
    """Two products a page, by an engine and a role of its own: the second is a trip later."""
    i = kiln.grid(kiln.cdiv(q.shape[0], 128))
    kiln.pin(
        roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=COPIES)),
        persistent=(2, 1),
    )
    x = kiln.pin(q.load((i * 128, 0), (128, 64)), role="load", ring="q", atom="tma")
    none = kiln.zeros((128, 64), kiln.f32)
    acc = none
    page = first
    seen = kiln.i32(0)
    while page >= 0:
        keys = k.load((page * 64, 0), (64, 64))
        kiln.pin(keys, role="load", ring="k", depth=DEPTH, stage=0, atom="tma")
        s = kiln.dot(x, keys, none, transpose_b=True)
        kiln.pin(s, role="mma", stage=0, order=0, in_flight=FLIGHT, atom="wgmma")
        values = v.load((page * 64, 0), (64, 64))
        kiln.pin(values, role="load", ring="v", depth=DEPTH, stage=0, atom="tma")
        weights = kiln.pin(s * 0.125, role="mma", stage=0, order=1 + LATE)
        acc = kiln.dot(weights.to(kiln.bf16), values, acc)
        kiln.pin(acc, role="mma", stage=LATE, order=2 - LATE, in_flight=0, atom="wgmma")
        page = following[page]
        seen += 1
        if LEAVES:
            if seen >= 3:
                break
    kiln.pin(o.store((i * 128, 0), acc), role="mma")


@pytest.mark.parametrize("leaves", [False, True])
@pytest.mark.parametrize("late", [0, 1])
def test_rings_across_roles_in_a_while(rng, late: int, leaves: bool) -> None:
    constants = dict(
        FLIGHT=late, LATE=late, DEPTH=int(rng.integers(1, 4)) + late,
        COPIES=int(rng.choice([1, 2])), LEAVES=leaves,
    )  # fmt: skip
    print(constants)
    rows = int(rng.integers(1, 300))
    kernel = paged_weights.options(device="emu:sm_90a")
    for trips in (0, 1, 2, 3, 6):
        order, following = draw_chain(rng, 8, trips)
        q = rng.standard_normal((rows, 64)).astype(BF16)
        k, v = (rng.standard_normal((8 * 64, 64)).astype(BF16) for _ in "kv")
        o = np.zeros((rows, 64), np.float32)
        kernel(q, k, v, o, following, order[0] if order else -1, 0.0, **constants)
        want = np.zeros((rows, 64))
        for page in order[:3] if leaves else order:
            part = slice(64 * page, 64 * page + 64)
            s = q.astype(np.float64) @ k[part].astype(np.float64).T * 0.125
            want += s.astype(BF16).astype(np.float64) @ v[part].astype(np.float64)
        assert np.linalg.norm(o - want) <= 1e-2 * np.linalg.norm(want) + 1e-6, (order, constants)


@pytest.mark.parametrize("flight", [1, 2])
def test_a_sum_stays_in_flight_from_trip_to_trip(rng, flight: int) -> None:
    @kiln.kernel
    def sums(a: kiln.View, c: kiln.View, following: kiln.View, first: kiln.i32):
        kiln.grid(1)
        kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
        acc = kiln.zeros((64, 64), kiln.f32)
        page = first
        while page >= 0:
            x = kiln.pin(
                a.load((page * 64, 0), (64, 64)), role="load", depth=4, stage=0, atom="tma"
            )
            acc = kiln.dot(x, x, acc, transpose_b=True)
            kiln.pin(acc, role="mma", stage=0, in_flight=flight, atom="wgmma")
            page = following[page]
        kiln.pin(c.store((0, 0), acc), role="mma")

    kernel = sums.options(device="emu:sm_90a")
    for trips in (0, 1, 2, 3, 4, 8):
        order, following = draw_chain(rng, 8, trips)
        a = rng.integers(-2, 3, (8 * 64, 64)).astype(BF16)
        c = np.full((64, 64), np.nan, np.float32)
        compiled = kernel(a, c, following, order[0] if order else -1)
        tiles = a.astype(np.float64).reshape(8, 64, 64)[order]
        np.testing.assert_array_equal(c, (tiles @ tiles.transpose(0, 2, 1)).sum(axis=0))
        del compiled


def test_a_condition_of_a_late_stage_is_refused() -> None:
    @kiln.kernel
    def converges(a: kiln.View, c: kiln.View):
        kiln.grid(1)
        kiln.pin(roles=kiln.role("all", warps=4))
        acc = kiln.zeros((64, 64), kiln.f32)
        k = kiln.i32(0)
        most = kiln.f32(0.0)
        while most < 100.0:
            x = a.load((0, k * 32), (64, 32))
            kiln.pin(x, atom="cp_async", depth=2, stage=0)
            acc = kiln.pin(kiln.dot(x, x, acc, transpose_b=True), stage=1)
            most = kiln.max(acc)
            k += 1
        c.store((0, 0), acc)

    a, c = np.zeros((64, 256), BF16), np.zeros((64, 64), np.float32)
    with pytest.raises(kiln.CompileError) as error:
        converges.options(device="emu:sm_80")(a, c)
    assert "expected stage 0, since it says whether the scf.while goes on" in str(error.value)
    assert "while most < 100.0" in str(error.value)


@kiln.kernel
def counted_up(a: kiln.View, c: kiln.View, depth: kiln.constexpr, stage: kiln.constexpr):
    """Whose columns no product of a number says, but a sum that comes round."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    acc = kiln.zeros((64, 64), kiln.f32)
    k = kiln.i32(0)
    while k < a.shape[1] and k >= 0:
        x = kiln.pin(a.load((0, k), (64, 32)), atom="cp_async", depth=depth, stage=0)
        acc = kiln.pin(kiln.dot(x, x, acc, transpose_b=True), stage=stage)
        k += 32
    c.store((0, 0), acc)


@pytest.mark.parametrize("depth, stage", [(1, 0), (2, 1), (4, 3)])
def test_offsets_that_come_round_are_known_to_be_multiples(rng, depth: int, stage: int) -> None:
    kernel = counted_up.options(device="emu:sm_80")
    for length in (32, 64, 160):
        a, c = rng.standard_normal((64, length)).astype(BF16), np.zeros((64, 64), np.float32)
        kernel(a, c, depth=depth, stage=stage)
        reference = a.astype(np.float64) @ a.astype(np.float64).T
        assert np.abs(c - reference).max() < 1e-3, (length, depth)
