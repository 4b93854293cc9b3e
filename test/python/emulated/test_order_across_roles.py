"""One argument that a role stores to and another accesses: the order of the source holds if what is
handed over keeps it, and is refused if nothing does. On emulated chips, bit by bit."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
ATOMS = ["tma", "cp_async", "through_registers"]
UNORDERED = "hands over behind its own and role .* gets in front of this one"


def draw(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-8, 9, shape).astype(BF16)


# ---- What is handed over keeps the order


@kiln.kernel
def in_place(c: kiln.View, atom: kiln.constexpr, depth: kiln.constexpr, stage: kiln.constexpr):
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("use", warps=4)))
    for k in range(0, c.shape[0], 64):
        t = kiln.pin(c.load((k, 0), (64, 64)), role="load", atom=atom, depth=depth)
        s = kiln.pin(t * 2.0, role="use", stage=0)
        kiln.pin(c.store((k, 0), s), role="use", stage=stage)


@pytest.mark.parametrize("stage", [0, 1])
@pytest.mark.parametrize("atom", ATOMS)
def test_each_trip_has_rows_of_its_own(rng, atom: str, stage: int) -> None:
    c = draw(rng, 64 * int(rng.integers(1, 6)), 64)
    want = c * BF16(2)
    depth = int(rng.integers(2, 4))
    in_place.options(device="emu:sm_90a")(c, atom=atom, depth=depth, stage=stage)
    assert np.array_equal(c, want), (depth, c.shape)


@kiln.kernel
def stored_behind(x: kiln.View, c: kiln.View, y: kiln.View, atom: kiln.constexpr):
    """What is stored needs nothing of the tile that was loaded before."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("use", warps=4)))
    t = kiln.pin(x.load((0, 0), (64, 64)), role="load", atom=atom, ring="x")
    u = kiln.pin(c.load((0, 0), (64, 64)), role="load", atom=atom, ring="c")
    kiln.pin(c.store((0, 0), kiln.pin(t * 2.0, role="use")), role="use")
    kiln.pin(y.store((0, 0), kiln.pin(u + 1.0, role="use")), role="use")


@pytest.mark.parametrize("atom", ATOMS)
def test_a_tile_is_got_in_front_of_a_store_over_it(rng, atom: str) -> None:
    x, c, y = (draw(rng, 64, 64) for _ in "xcy")
    want = c + BF16(1)
    stored_behind.options(device="emu:sm_90a")(x, c, y, atom=atom)
    assert np.array_equal(y, want)
    assert np.array_equal(c, x * BF16(2))


@kiln.kernel
def loaded_behind(
    x: kiln.View, c: kiln.View, y: kiln.View, atom: kiln.constexpr, engine: kiln.constexpr
):
    """The number that says which rows are loaded is handed over behind the store."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("use", warps=4)))
    t = kiln.pin(x.load((0, 0), (64, 64)), role="load", atom="tma", ring="x")
    s = kiln.pin(t * 2.0, role="use")
    if engine:
        kiln.pin(c.store((0, 0), s), role="use", atom="tma", in_flight=0)
    else:
        kiln.pin(c.store((0, 0), s), role="use")
    n = kiln.pin(kiln.max(kiln.max(s.to(kiln.f32), axis=1), axis=0), role="use")
    row = kiln.where(n > 1000.0, 64, 0)
    u = kiln.pin(c.load((row, 0), (64, 64)), role="load", atom=atom, ring="c")
    kiln.pin(y.store((0, 0), kiln.pin(u + 1.0, role="use")), role="use")


@pytest.mark.parametrize("engine", [False, True])
@pytest.mark.parametrize("atom", ATOMS)
def test_a_number_tells_of_a_store(rng, atom: str, engine: bool) -> None:
    x, c, y = (draw(rng, 64, 64) for _ in "xcy")
    loaded_behind.options(device="emu:sm_90a")(x, c, y, atom=atom, engine=engine)
    assert np.array_equal(c, x * BF16(2))
    assert np.array_equal(y, x * BF16(2) + BF16(1))


@pytest.mark.parametrize("engine", [False, True])
def test_engines_see_what_is_stored(engine: bool) -> None:
    """Warps let engines see it, and what an engine stores is waited for, in front of the number."""
    c = np.zeros((64, 64), BF16)
    compiled = loaded_behind.compile(
        c, c.copy(), c.copy(), atom="tma", engine=engine, target="nvptx:sm_90a"
    )
    use = compiled.ir("schedule").partition('role #tile.role<"use"')[2]
    told = use[: use.index("tile.put")]
    assert ("tile.wait_stores in_flight = 0 written" in told) == engine
    assert "tile.barrier publish global" in told[told.rindex("%c[") :]
    assert "fence.proxy.async.global" in compiled.asm


@kiln.kernel
def turned_round(c: kiln.View, atom: kiln.constexpr, depth: kiln.constexpr, stage: kiln.constexpr):
    """Each trip loads what the one before has stored, where its number says."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("use", warps=4)))
    row = 0
    for k in range(0, c.shape[0] - 64, 64):
        t = kiln.pin(c.load((row, 0), (64, 64)), role="load", atom=atom, depth=depth)
        s = kiln.pin(t * 2.0, role="use", stage=0)
        kiln.pin(c.store((k + 64, 0), s), role="use", stage=stage)
        n = kiln.max(kiln.max(s.to(kiln.f32), axis=1), axis=0)
        n = kiln.pin(n, role="use", stage=0)
        row = kiln.where(n > 1e9, 0, k + 64)


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("atom", ATOMS)
def test_numbers_tell_the_next_trip(rng, atom: str, depth: int) -> None:
    c = draw(rng, 64 * int(rng.integers(2, 6)), 64)
    want = np.concatenate([c[:64] * BF16(2**i) for i in range(len(c) // 64)])
    turned_round.options(device="emu:sm_90a")(c, atom=atom, depth=depth, stage=0)
    assert np.array_equal(c, want)


@kiln.kernel
def product(
    a: kiln.View, w: kiln.View, atom: kiln.constexpr, last: kiln.constexpr, BM: kiln.constexpr,
    persistent: kiln.constexpr,
):  # fmt: skip
    """The sums go where the rows that they are of were loaded; programs have rows of their own."""
    i = kiln.grid(kiln.cdiv(a.shape[0], BM))
    roles = (kiln.role("load", warps=4), kiln.role("mma", warps=4))
    kiln.pin(roles=roles if last == "mma" else (*roles, kiln.role("store", warps=4)))
    if persistent:
        kiln.pin(persistent=(2, 1))
    acc = kiln.zeros((BM, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=2):
        x = kiln.pin(a.load((i * BM, k), (BM, 64)), role="load", atom="tma")
        y = kiln.pin(w.load((0, k), (64, 64)), role="load", atom="tma")
        acc = kiln.dot(x, y, acc, transpose_b=True)
        acc = kiln.pin(acc, role="mma", atom=atom, in_flight=0)
    kiln.pin(a.store((i * BM, 0), kiln.pin(acc.to(a.dtype), role=last)), role=last)


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("last", ["mma", "store"])
@pytest.mark.parametrize("chip, atom, BM", [("sm_90a", "wgmma", 64), ("sm_100a", "tcgen05", 128)])
def test_sums_go_over_operands(rng, chip: str, atom: str, BM: int, last: str, persistent) -> None:
    a = rng.integers(-2, 3, (3 * BM, 64 * int(rng.integers(1, 4)))).astype(BF16)
    w = rng.integers(-1, 2, (64, a.shape[1])).astype(BF16)
    want = a.astype(np.float64)
    want[:, :64] = want @ w.astype(np.float64).T
    run = product.options(device=f"emu:{chip}")
    run(a, w, atom=atom, last=last, BM=BM, persistent=persistent)
    assert np.array_equal(a, want.astype(BF16)), a.shape


# ---- What nothing orders


def refusal(kernel, *args, **tile) -> str:
    with pytest.raises(kiln.CompileError, match=UNORDERED) as refused:
        kernel.options(device="emu:sm_90a")(*args, **tile)
    return str(refused.value)


@kiln.kernel
def other_way(x: kiln.View, c: kiln.View, y: kiln.View, atom: kiln.constexpr):
    """The only tile between the two goes from the second to the first, in front of the store."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("use", warps=4)))
    t = kiln.pin(x.load((0, 0), (64, 64)), role="load", atom=atom)
    kiln.pin(c.store((0, 0), kiln.pin(t * 2.0, role="use")), role="use")
    u = kiln.pin(c.load((0, 0), (64, 64)), role="load", atom=atom)
    kiln.pin(y.store((0, 0), kiln.pin(u + 1.0, role="use")), role="use")


@pytest.mark.parametrize("atom", ATOMS)
def test_a_tile_that_goes_the_other_way(atom: str) -> None:
    x, c, y = (np.zeros((64, 64), BF16) for _ in "xcy")
    text = refusal(other_way, x, c, y, atom=atom)
    assert 'role "use" hands over' in text and 'role "load" gets' in text, text
    assert "u = kiln.pin(c.load(" in text and "this is the other access" in text, text


@kiln.kernel
def further(c: kiln.View, atom: kiln.constexpr, depth: kiln.constexpr):
    """Each trip stores what the next one loads."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("use", warps=4)))
    for k in kiln.pin(range(0, c.shape[0] - 64, 64), depth=depth):
        t = kiln.pin(c.load((k, 0), (64, 64)), role="load", atom=atom)
        kiln.pin(c.store((k + 64, 0), kiln.pin(t * 2.0, role="use")), role="use")


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("atom", ATOMS)
def test_what_the_next_trip_loads(atom: str, depth: int) -> None:
    text = refusal(further, np.zeros((256, 64), BF16), atom=atom, depth=depth)
    assert "in front of this one of a later trip" in text, text


@pytest.mark.parametrize("depth", [1, 2])
def test_a_store_at_a_later_stage_than_the_number(depth: int) -> None:
    text = refusal(turned_round, np.zeros((256, 64), BF16), atom="tma", depth=depth, stage=1)
    assert "of a later trip" in text and "c.load((row, 0)" in text, text
