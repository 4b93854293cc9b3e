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
