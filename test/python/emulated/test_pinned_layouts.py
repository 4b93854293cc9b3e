"""Layouts that authors pin: every element has an owner, and what several hold is added once."""

import itertools

import numpy as np
import pytest

import kiln

DEVICES = ["emu:sm_90a", "emu:gfx942", "emu:gfx1201"]
LANES = {"emu:sm_90a": 5, "emu:gfx942": 6, "emu:gfx1201": 5}


@kiln.kernel
def moved(x: kiln.View, y: kiln.View, sums: kiln.View, LAYOUT: kiln.constexpr, W: kiln.constexpr):
    kiln.grid(1)
    kiln.pin(warps=W)
    t = kiln.pin(x.load((0, 0), (8, 16)), layout=LAYOUT)
    y.store((0, 0), kiln.roll(t, 3, axis=1))
    where = kiln.broadcast_to((kiln.arange(16) % 4)[None, :], (8, 16))
    kiln.atomic_add(sums, (where,), t)


def spelled(bases, cuts):
    """Bases of registers, lanes and warps, cut from a list of all."""
    starts = list(itertools.accumulate(cuts, initial=0))
    parts = ("register", "lane", "warp")
    return ", ".join(
        f"{part} = [{','.join(f'[{row},{column}]' for row, column in bases[at : at + n])}]"
        for part, at, n in zip(parts, starts, cuts, strict=False)
    )


@pytest.mark.parametrize("device", DEVICES)
def test_any_owner_of_each_element(rng, device) -> None:
    x = rng.integers(-50, 50, (8, 16)).astype(np.float32)
    bases = [(0, 1 << i) for i in range(4)] + [(1 << i, 0) for i in range(3)]
    rng.shuffle(bases)
    bases = [tuple(map(int, basis)) for basis in bases]
    for warps, lanes in ((2, 5), (1, 6), (1, 5), (1, 2), (0, 5), (0, 3), (0, 0), (2, 4)):
        y, sums = np.zeros_like(x), np.zeros(4, np.float32)
        layout = spelled(bases, (7 - warps - lanes, lanes, warps))

        def run():
            moved(x, y, sums, LAYOUT=layout, W=2, _device=device)  # noqa: B023

        if warps > 1 or lanes > LANES[device]:
            with pytest.raises(kiln.CompileError, match="expected a layout for at most"):
                run()
            continue
        run()
        np.testing.assert_array_equal(y, np.roll(x, 3, axis=1))
        np.testing.assert_array_equal(sums, x.reshape(8, 4, 4).sum(axis=(0, 1)))


@pytest.mark.parametrize("device", DEVICES)
def test_an_element_without_a_place_is_an_error(device) -> None:
    x, sums = np.zeros((8, 16), np.float32), np.zeros(4, np.float32)
    with pytest.raises(kiln.CompileError, match="expected a place for each element of") as caught:
        moved(x, x.copy(), sums, LAYOUT="register = [[0,1]], lane = [[1,0]]", W=2, _device=device)
    assert "layout=LAYOUT" in str(caught.value)


@kiln.kernel
def combined(
    x: kiln.View, sums: kiln.View, runs: kiln.View, ordered: kiln.View, other: kiln.View,
    FIRST: kiln.constexpr, SAME: kiln.constexpr, LINE: kiln.constexpr, OTHER: kiln.constexpr,
):  # fmt: skip
    kiln.grid(1)
    kiln.pin(warps=2)
    t = kiln.pin(x.load((0, 0), (8, 16)), layout=FIRST)
    sums.store((0,), kiln.pin(kiln.sum(t, axis=0), layout=LINE))
    runs.store((0, 0), kiln.pin(kiln.cumsum(t, axis=1), layout=SAME))
    ordered.store((0, 0), kiln.pin(kiln.sort(t, axis=1), layout=SAME))
    other.store((0, 0), kiln.pin(t.reshape((16, 8)), layout=OTHER))


@pytest.mark.parametrize("device", ["emu:sm_90a", "emu:gfx942"])
def test_what_follows_an_operand_lies_where_it_is_said_to(rng, device) -> None:
    x = rng.integers(-50, 50, (8, 16)).astype(np.float32)
    bases = [(0, 1 << i) for i in range(4)] + [(1 << i, 0) for i in range(3)]
    layouts = [spelled(rng.permutation(bases).tolist(), (1, 5, 1)) for _ in range(2)]
    layouts.append("register = [[8]], lane = [[2],[4],[0],[1]]")
    layouts.append(spelled([(c, r) for r, c in rng.permutation(bases).tolist()], (2, 5, 0)))
    made = [np.zeros(shape, np.float32) for shape in (16, x.shape, x.shape, (16, 8))]
    combined(x, *made, *layouts, _device=device)
    want = (x.sum(axis=0), x.cumsum(axis=1), np.sort(x, axis=1), x.reshape(16, 8))
    for got, each in zip(made, want, strict=True):
        np.testing.assert_array_equal(got, each)
