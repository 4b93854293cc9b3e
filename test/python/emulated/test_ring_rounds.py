"""Rings of unlike depth in one loop where slots are constants as long as a trip is not written out too
often, and one ring that nests in itself."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
CHIPS = [
    ("gfx942", "load_to_lds"), ("gfx950", "load_to_lds"), ("gfx942", "through_registers"),
    ("gfx1201", "through_registers"), ("sm_80", "cp_async"),
]  # fmt: skip


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View,
    load: kiln.constexpr, deep_a: kiln.constexpr, deep_b: kiln.constexpr,
):  # fmt: skip
    """64x32 sums of one role whose two operands have a ring each."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=2))
    acc = kiln.zeros((64, 32), kiln.f32)
    for k in range(0, a.shape[1], 32):
        x = kiln.pin(a.load((0, k), (64, 32)), atom=load, stage=0, ring="a", depth=deep_a)
        y = kiln.pin(b.load((0, k), (32, 32)), atom=load, stage=0, ring="b", depth=deep_b)
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), stage=2)
    c.store((0, 0), acc)


def operands(rng: np.random.Generator, trips: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    a, b = (rng.integers(-8, 9, (rows, 32 * trips)).astype(BF16) for rows in (64, 32))
    return a, b, np.full((64, 32), np.nan, np.float32)


@pytest.mark.parametrize("depths", [(3, 4), (5, 4), (7, 5), (9, 3)])
@pytest.mark.parametrize("chip, load", CHIPS)
def test_rounds_of_rings(rng, chip: str, load: str, depths) -> None:
    for trips in (1, 2, 7, 21):
        a, b, c = operands(rng, trips)
        product.options(device=f"emu:{chip}")(a, b, c, load, *depths)
        np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64).T)


@pytest.mark.parametrize(
    "load, depths, copies",
    [
        ("load_to_lds", (4, 4), 4), ("load_to_lds", (5, 3), 15), ("load_to_lds", (5, 4), 1),
        ("through_registers", (8, 4), 8), ("through_registers", (5, 4), 1),
    ],
)  # fmt: skip
def test_trips_are_written_out_for_constant_slots_alone(rng, load, depths, copies: int) -> None:
    """A loop of whole rounds, in which each trip puts two tiles, if these are not too many."""
    a, b, c = operands(rng, 4)
    text = product.compile(a, b, c, load, *depths, target="amdgpu:gfx942").ir("schedule")
    loops = [part.split("scf.yield")[0] for part in text.split("scf.for")[1:]]
    assert max(loop.count("tile.put") for loop in loops) == 2 * copies, text


@kiln.kernel
def nested(
    a: kiln.View, b: kiln.View, c: kiln.View,
    load: kiln.constexpr, depth: kiln.constexpr, ring: kiln.constexpr,
):  # fmt: skip
    """A loop around one that uses the ring too, or another."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=2))
    acc = kiln.zeros((32, 32), kiln.f32)
    for k in range(0, a.shape[1], 32):
        x = kiln.pin(a.load((0, k), (32, 32)), atom=load, ring="one", depth=depth)
        for g in range(2):
            y = kiln.pin(b.load((g * 32, k), (32, 32)), atom=load, ring=ring, depth=depth)
            acc = acc + x.to(kiln.f32) * y.to(kiln.f32)
    c.store((0, 0), acc)


@pytest.mark.parametrize(
    "ring, depth", [("one", 1), ("one", 2), ("one", 5), ("two", 1), ("two", 5)]
)
@pytest.mark.parametrize("chip, load", CHIPS[:4])
def test_a_ring_that_nests_in_itself(rng, chip: str, load: str, ring: str, depth: int) -> None:
    a, b = (rng.integers(-8, 9, (rows, 96)).astype(BF16) for rows in (32, 64))
    c = np.full((32, 32), np.nan, np.float32)
    made = nested.options(device=f"emu:{chip}")
    if ring == "one" and depth > 1:
        with pytest.raises(
            kiln.CompileError, match=r"a ring \('ring'\) of its own, or one of one slot"
        ):
            made(a, b, c, load, depth, ring)
        return
    made(a, b, c, load, depth, ring)
    x, y = a.astype(np.float64).reshape(32, 3, 32), b.astype(np.float64).reshape(2, 32, 3, 32)
    np.testing.assert_array_equal(c, (x * y).sum((0, 2)))


@kiln.kernel
def around(
    b: kiln.View, c: kiln.View, load: kiln.constexpr, depth: kiln.constexpr, first: kiln.constexpr
):  # fmt: skip
    """A loop, and a use of its ring in front of it or in a condition behind it."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    acc = kiln.zeros((64, 32), kiln.f32)
    if first:
        x = kiln.pin(b.load((0, 0), (64, 32)), atom=load, ring="b", depth=depth)
        acc = acc + x.to(kiln.f32) * 3.0
    for k in range(0, b.shape[1], 32):
        y = kiln.pin(b.load((0, k), (64, 32)), atom=load, ring="b", depth=depth)
        acc = acc + y.to(kiln.f32)
    if b.shape[1] > 64:
        z = kiln.pin(b.load((0, 0), (64, 32)), atom=load, ring="b", depth=depth)
        acc = acc * 2.0 + z.to(kiln.f32)
    c.store((0, 0), acc)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("depth", [2, 5, 6, 8, 9])
@pytest.mark.parametrize("chip, load", CHIPS)
def test_uses_in_front_of_a_loop_and_behind_it(rng, chip, load, depth: int, first: bool) -> None:
    """Slots of the loop are constants that begin with the first, those of the others are counted."""
    for trips in {1, depth, depth + 1, 2 * depth + 1, int(rng.integers(2, 26))}:
        b = rng.integers(-3, 4, (64, 32 * trips)).astype(BF16)
        c = np.full((64, 32), np.nan, np.float32)
        around.options(device=f"emu:{chip}")(b, c, load, depth, first)
        tiles = b.astype(np.float64).reshape(64, trips, 32)
        want = tiles.sum(1) + 3.0 * first * tiles[:, 0]
        np.testing.assert_array_equal(c, 2 * want + tiles[:, 0] if trips > 2 else want)


@kiln.kernel
def held(
    a: kiln.View, b: kiln.View, c: kiln.View,
    load: kiln.constexpr, atom: kiln.constexpr, depth: kiln.constexpr,
):  # fmt: skip
    """A tile that a trip holds while a loop in it takes two more of the same ring."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("use", warps=4), kiln.role("load", warps=1)))
    acc = kiln.zeros((128, 128), kiln.f32)
    for k in range(0, a.shape[1], 32):
        x = kiln.pin(a.load((0, k), (128, 32)), role="load", atom=load, ring="one", depth=depth)
        for g in range(2):
            y = b.load((g * 128, k), (128, 32))
            y = kiln.pin(y, role="load", atom=load, ring="one", depth=depth)
            acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), role="use", atom=atom)
    c.store((0, 0), acc)


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
@pytest.mark.parametrize(
    "chip, load, atom",
    [
        ("sm_80", "cp_async", "mma_sync"), ("sm_90a", "tma", "mma_sync"),
        ("sm_90a", "tma", "wgmma"), ("sm_100a", "tma", "tcgen05"),
    ],
)  # fmt: skip
def test_a_slot_that_is_held_across_a_loop(rng, chip, load, atom, depth: int) -> None:
    """The loop needs slots beside one that its products read: with fewer the role that fills them
    would wait forever."""
    a, b = (rng.integers(-8, 9, (rows, 96)).astype(BF16) for rows in (128, 256))
    c = np.full((128, 128), np.nan, np.float32)
    made = held.options(device=f"emu:{chip}")
    if depth < 3 and atom != "mma_sync":
        with pytest.raises(
            kiln.CompileError, match="of more slots .* than the loop behind it uses"
        ):
            made(a, b, c, load, atom, depth)
        return
    made(a, b, c, load, atom, depth)
    want = b.astype(np.float64).reshape(2, 128, 96).sum(0)
    np.testing.assert_array_equal(c, a.astype(np.float64) @ want.T)


@kiln.kernel
def held_alone(a: kiln.View, b: kiln.View, c: kiln.View, groups: kiln.i32, depth: kiln.constexpr):
    """The same in one role, and a loop of which only the launch knows how often it takes a slot."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in range(0, a.shape[1], 16):
        x = a.load((0, k), (64, 16))
        x = kiln.pin(x, atom="through_registers", ring="one", depth=depth)
        for g in range(groups):
            y = b.load((g * 64, k), (64, 16))
            y = kiln.pin(y, atom="through_registers", ring="one", depth=depth)
            acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), atom="wgmma")
    c.store((0, 0), acc)


def test_a_slot_that_is_held_as_often_as_nobody_knows() -> None:
    a, c = np.zeros((64, 48), BF16), np.zeros((64, 64), np.float32)
    with pytest.raises(kiln.CompileError, match="of more slots .* than the loop behind it uses"):
        held_alone.compile(a, a, c, 3, 6, target="nvptx:sm_90a")
