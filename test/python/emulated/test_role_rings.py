"""Rings between roles, by schedules drawn at random: filled by engines, by copies of warps and
through registers, by one copy of a role and by several, used at several stages of a loop. And values
that several roles make. On an emulated chip, against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
DEVICE = "emu:sm_90a"
COPIES = ["tma", "cp_async", "through_registers"]


@kiln.kernel
def brought(
    a: kiln.View, b: kiln.View, c: kiln.View, depth: kiln.i32,
    copy_a: kiln.constexpr, copy_b: kiln.constexpr, depth_a: kiln.constexpr,
    depth_b: kiln.constexpr, loaders: kiln.constexpr, copies: kiln.constexpr,
    in_flight: kiln.constexpr, lanes: kiln.constexpr, written: kiln.constexpr = None,
    product: kiln.constexpr = "wgmma",
):  # fmt: skip
    """A product of what another role brings, which lanes may read too."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], 64))
    roles = (kiln.role("load", warps=4, copies=loaders), kiln.role("mma", warps=4, copies=copies))
    kiln.pin(roles=roles, persistent=(2, 1))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in range(0, depth, 32):
        x = a.load((i * 128, k), (128, 32))
        y = b.load((j * 64, k), (64, 32))
        kiln.pin(x, atom=copy_a, ring="a", depth=depth_a, role="load")
        kiln.pin(y, atom=copy_b, ring="b", depth=depth_b, role="load", write_stage=written)
        if lanes:
            x = kiln.maximum(x, 0)
        acc = kiln.dot(x, y, acc, transpose_b=True)
        kiln.pin(acc, atom=product, role="mma", in_flight=in_flight)
    kiln.pin(c.store((i * 128, j * 64), acc), role="mma")


@pytest.mark.parametrize("turn", range(9))
def test_rings_by_any_copy(rng, turn: int) -> None:
    lanes = bool(rng.integers(2))
    in_flight = 0 if lanes else int(rng.integers(2))
    kinds = (COPIES[turn % 3], COPIES[turn // 3])
    schedule = dict(
        copy_a=kinds[0], copy_b=kinds[1], in_flight=in_flight, lanes=lanes,
        depth_a=int(rng.integers(1 + in_flight, 5)), depth_b=int(rng.integers(1 + in_flight, 5)),
        loaders=int(rng.choice([1, 2])), copies=int(rng.choice([1, 2])),
    )  # fmt: skip
    print(schedule)
    m, n = (int(rng.integers(1, 200)) for _ in "mn")
    for trips in (0, 1, int(rng.integers(2, 8))):
        k = 32 * trips
        a, b = (rng.standard_normal((rows, 256)).astype(BF16) for rows in (m, n))
        c = np.zeros((m, n), np.float32)
        brought.options(device=DEVICE)(a, b, c, k, **schedule)
        x = a[:, :k].astype(np.float64)
        reference = (np.maximum(x, 0) if lanes else x) @ b[:, :k].astype(np.float64).T
        assert np.abs(c - reference).max() <= 1e-3, (m, n, k, schedule)


@pytest.mark.parametrize("copy", ["through_registers", "cp_async"])
def test_rows_that_no_engine_brings(rng, copy: str) -> None:
    """Odd strides through registers; of whole words, by copies of four bytes."""
    m, n, k = 77, 91, 96
    wider = 97 if copy == "through_registers" else 98
    a, b = (rng.standard_normal((rows, wider)).astype(BF16) for rows in (m, n))
    c = np.zeros((m, n), np.float32)
    brought.options(device=DEVICE)(
        a, b, c, k, copy_a=copy, copy_b=copy, depth_a=2, depth_b=3, loaders=2, copies=2,
        in_flight=1, lanes=False,
    )  # fmt: skip
    reference = a[:, :k].astype(np.float64) @ b[:, :k].astype(np.float64).T
    assert np.abs(c - reference).max() <= 1e-3


@pytest.mark.parametrize("depth", [2, 3, 4])
@pytest.mark.parametrize("copy", COPIES)
def test_a_tile_through_registers_beside_copies(rng, copy: str, depth: int) -> None:
    """While a product in flight holds a slot: with two there is none for a copy in front of what is
    written a trip behind its load, so it is written in the trip."""
    kernel = brought.options(device=DEVICE)
    schedule = dict(
        copy_a=copy, copy_b="through_registers", depth_a=depth, depth_b=2, loaders=1, copies=1,
        in_flight=1, lanes=False,
    )  # fmt: skip
    # As a pass decides, and as late as copies have slots for. What goes through registers too is
    # written a trip behind, so that it has a slot less to be behind.
    for written in [None, *range(depth - 1)]:
        for trips in (1, 2, int(rng.integers(3, 8))):
            m, n, k = 70, 60, 32 * trips
            a, b = (rng.standard_normal((rows, 256)).astype(BF16) for rows in (m, n))
            c = np.zeros((m, n), np.float32)
            kernel(a, b, c, k, written=written, **schedule)
            reference = a[:, :k].astype(np.float64) @ b[:, :k].astype(np.float64).T
            assert np.abs(c - reference).max() <= 1e-3, (written, k, schedule)


def test_copies_wait_for_a_write_of_a_later_trip(rng) -> None:
    """What is written a trip behind its load holds up the product, which holds the other ring's slots:
    so the copies to these are a trip behind, too."""
    a, b = (rng.standard_normal((64, 256)).astype(BF16) for _ in "ab")
    for trips in (0, 1, 2, 7):
        c = np.zeros((64, 64), np.float32)
        brought.options(device=DEVICE)(
            a, b, c, 32 * trips, copy_a="tma", copy_b="through_registers", depth_a=2, depth_b=2,
            loaders=1, copies=1, in_flight=1, lanes=False, written=1,
        )  # fmt: skip
        reference = a[:, : 32 * trips].astype(np.float64) @ b[:, : 32 * trips].astype(np.float64).T
        assert np.abs(c - reference).max() <= 1e-3, trips


def test_an_engine_writes_no_later_than_it_loads() -> None:
    a, b = (np.zeros((64, 64), BF16) for _ in "ab")
    with pytest.raises(kiln.CompileError, match="since '#nvptx.tma' writes the slot itself"):
        brought.options(device=DEVICE)(
            a, b, np.zeros((64, 64), np.float32), 64, copy_a="tma", copy_b="tma", depth_a=2,
            depth_b=2, loaders=1, copies=1, in_flight=1, lanes=False, written=1,
        )  # fmt: skip


@pytest.mark.parametrize("chip", ["sm_80", "sm_86", "sm_89", "gfx942", "gfx950", "gfx1201"])
@pytest.mark.parametrize("copy", COPIES[1:])
def test_tiles_through_registers_without_an_engine(rng, copy: str, chip: str) -> None:
    """Beside copies, and both; written in each trip that there are slots for."""
    if chip.startswith("gfx") and copy == "cp_async":
        copy = "through_registers" if chip == "gfx1201" else "load_to_lds"
    depth = int(rng.integers(2, 5))
    schedule = dict(
        copy_a=copy, copy_b="through_registers", depth_a=depth, depth_b=2, in_flight=None,
        # Loads to LDS are as many of each warp.
        loaders=1 if copy == "load_to_lds" else int(rng.choice([1, 2])),
        copies=int(rng.choice([1, 2])), lanes=False,
    )  # fmt: skip
    print(schedule)
    for written in [None, *range(depth - 1)]:
        m, n, k = 170, 60, 32 * int(rng.integers(1, 8))
        a, b = (rng.standard_normal((rows, 256)).astype(BF16) for rows in (m, n))
        c = np.zeros((m, n), np.float32)
        kernel = brought.options(device=f"emu:{chip}")
        product = "matrix" if chip.startswith("gfx") else "mma_sync"
        kernel(a, b, c, k, written=written, product=product, **schedule)
        reference = a[:, :k].astype(np.float64) @ b[:, :k].astype(np.float64).T
        assert np.abs(c - reference).max() <= 1e-3, (written, k, schedule)


@kiln.kernel
def scored(
    q: kiln.View, keys: kiln.View, out: kiln.View, copy: kiln.constexpr, depth: kiln.constexpr
):
    """A tile that comes once a program through registers, and a ring behind it in a loop."""
    i = kiln.grid(kiln.cdiv(q.shape[0], 64))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)), persistent=(2, 1))
    x = kiln.pin(q.load((i * 64, 0), (64, 64)), atom="through_registers", ring="q", role="load")
    total = kiln.zeros((64, 64), kiln.f32)
    for k in range(0, keys.shape[0], 64):
        y = kiln.pin(keys.load((k, 0), (64, 64)), atom=copy, ring="k", depth=depth, role="load")
        total = kiln.dot(x, y, total, transpose_b=True)
        kiln.pin(total, atom="wgmma", role="mma", in_flight=0)
    kiln.pin(out.store((i * 64, 0), total), role="mma")


@pytest.mark.parametrize("copy", COPIES)
def test_a_tile_through_registers_in_front_of_a_loop(rng, copy: str) -> None:
    """Of programs that follow one another: it is not written behind the loop that needs it."""
    rows, length = int(rng.integers(65, 300)), 64 * 5
    q, keys = (rng.standard_normal((n, 64)).astype(BF16) for n in (rows, length))
    out = np.zeros((rows, 64), np.float32)
    scored.options(device=DEVICE)(q, keys, out, copy=copy, depth=2)
    reference = q.astype(np.float64) @ keys.astype(np.float64).reshape(5, 64, 64).sum(0).T
    assert np.abs(out - reference).max() <= 1e-3


@kiln.kernel
def staged(
    a: kiln.View, c: kiln.View, slots: kiln.constexpr, early: kiln.constexpr, late: kiln.constexpr,
    first: kiln.constexpr, second: kiln.constexpr,
):  # fmt: skip
    """One ring, whose two uses of a trip are at stages of their own on both sides."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("add", warps=4)))
    total = kiln.zeros((64, 32), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x = kiln.pin(a.load((0, k), (64, 32)), atom="tma", ring="r", depth=slots, role="load")
        kiln.pin(x, stage=early)
        one = kiln.pin(x.to(kiln.f32), role="add", stage=first)
        total = kiln.pin(total * 0.5 + one, role="add", stage=first)
        y = kiln.pin(a.load((0, k + 32), (64, 32)), atom="tma", ring="r", depth=slots, role="load")
        kiln.pin(y, stage=late)
        two = kiln.pin(y.to(kiln.f32), role="add", stage=second)
        kiln.pin(c.store((0, k), two), role="add", stage=second)
    kiln.pin(c.store((0, 0), total), role="add")


@pytest.mark.parametrize(
    "early, late, first, second", [(0, 1, 0, 0), (1, 0, 0, 1), (0, 0, 1, 0), (0, 2, 0, 1)]
)
def test_uses_of_one_ring_at_several_stages(rng, early, late, first, second) -> None:
    slots = 2 * max(early, late, first, second) + 2
    for trips in (0, 1, 2, 5):
        a = rng.integers(-4, 5, (64, max(64 * trips, 64))).astype(BF16)
        c = np.zeros((64, 64 * 6), np.float32)
        staged.options(device=DEVICE)(
            a[:, : 64 * trips], c, slots=slots, early=early, late=late, first=first, second=second
        )
        total, want = np.zeros((64, 32)), np.zeros_like(c)
        for trip in range(trips):
            total = total * 0.5 + a[:, 64 * trip :][:, :32].astype(np.float64)
            want[:, 64 * trip :][:, :32] = a[:, 64 * trip + 32 :][:, :32]
        want[:, :32] = total
        np.testing.assert_array_equal(c, want)


@kiln.kernel
def mixed(a: kiln.View, b: kiln.View, c: kiln.View, n: kiln.i32, makers: kiln.constexpr):
    """A sum that one role begins and another goes on with, and a choice between what two make."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("first", warps=4), kiln.role("second", warps=makers)))
    total = kiln.pin(a.load((0,), (256,)), role="first")
    for k in range(0, n):
        total = kiln.pin(total + b.load((k * 256,), (256,)), role="second")
    mine = kiln.pin(b.load((0,), (256,)) * 2.0, role="second")
    other = kiln.pin(a.load((256,), (256,)) * 3.0, role="first")
    below = kiln.pin(a.load((512,), (256,)) < 0.0, role="first")
    kiln.pin(c.store((0,), total), role="first")
    kiln.pin(c.store((256,), kiln.where(below, mine, other)), role="second")


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a", "gfx942", "gfx1201"])
@pytest.mark.parametrize("makers", [2, 4])
@pytest.mark.parametrize("n", [0, 3])
def test_values_of_several_makers(rng, n: int, makers: int, chip: str) -> None:
    """Masks go over as bytes."""
    a, b = (rng.standard_normal(1024).astype(np.float32) for _ in "ab")
    c = np.zeros(512, np.float32)
    mixed.options(device=f"emu:{chip}")(a, b, c, n, makers=makers)
    total = a[:256].copy()
    for k in range(n):
        total += b[k * 256 :][:256]
    np.testing.assert_array_equal(c[:256], total)
    np.testing.assert_array_equal(c[256:], np.where(a[512:768] < 0, b[:256] * 2, a[256:512] * 3))


@kiln.kernel
def chosen(
    a: kiln.View, c: kiln.View, n: kiln.i32,
    copy: kiln.constexpr, depth: kiln.constexpr, both: kiln.constexpr,
):  # fmt: skip
    """A trip's use of a ring, and those of a condition behind it."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 32))
    kiln.pin(roles=(kiln.role("load", warps=2), kiln.role("sum", warps=4)))
    s = kiln.zeros((32, 32), kiln.f32)
    for k in range(0, a.shape[1], 32):
        x = kiln.pin(a.load((i * 32, k), (32, 32)), atom=copy, role="load", ring="r", depth=depth)
        s = kiln.pin(s * 2.0 + x.to(kiln.f32), role="sum")
        if k < n:
            for h in kiln.static_range(2):
                y = kiln.pin(
                    a.load((i * 32, h * 32), (32, 32)),
                    atom=copy, role="load", ring="r", depth=depth,
                )  # fmt: skip
                s = kiln.pin(s * 2.0 + y.to(kiln.f32), role="sum")
        if both:
            z = kiln.pin(
                a.load((i * 32, 32), (32, 32)), atom=copy, role="load", ring="r", depth=depth
            )
            s = kiln.pin(s * 2.0 + z.to(kiln.f32), role="sum")
    kiln.pin(c.store((i * 32, 0), s), role="sum")


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize(
    "chip, copy",
    [("sm_80", "through_registers"), ("sm_80", "cp_async"), ("sm_90a", "through_registers"),
     ("sm_100a", "tma"), ("gfx942", "through_registers"), ("gfx1201", "through_registers")],
)  # fmt: skip
def test_a_trip_fills_its_ring_in_front_of_its_condition(
    rng, chip: str, copy: str, depth: int, both: bool
) -> None:
    a = rng.integers(-2, 3, (50, 96)).astype(BF16)
    for n in (0, 64, 96):
        c, want = np.full((50, 32), np.nan, np.float32), np.zeros((50, 32))
        chosen.options(device=f"emu:{chip}")(a, c, n, copy=copy, depth=depth, both=both)
        x = a.astype(np.float64)
        for k in range(0, 96, 32):
            for at in (k, *((0, 32) if k < n else ()), *((32,) if both else ())):
                want = want * 2 + x[:, at : at + 32]
        np.testing.assert_array_equal(c, want)
