"""A role that stores over what it has copied: a copy only begins where it is put, and its role waits for
it before the store, or the store is refused."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
CHIPS = [
    ("sm_80", "cp_async"), ("sm_90a", "cp_async"), ("sm_90a", "tma"), ("sm_100a", "tma"),
    ("gfx942", "load_to_lds"),
]  # fmt: skip


@kiln.kernel
def straight(a: kiln.View, c: kiln.View, atom: kiln.constexpr):
    kiln.grid(1)
    x = kiln.pin(a.load((0, 0), (64, 64)), atom=atom)
    a.store((0, 0), kiln.zeros((64, 64), kiln.bf16))
    c.store((0, 0), x.to(kiln.f32))


@kiln.kernel
def looped(
    a: kiln.View, c: kiln.View, atom: kiln.constexpr, depth: kiln.constexpr, ahead: kiln.constexpr
):  # fmt: skip
    """Each trip clears the tile that it has added, or one so many columns ahead."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=depth):
        x = kiln.pin(a.load((0, k), (64, 64)), atom=atom)
        acc = acc + x.to(kiln.f32)
        a.store((0, k + ahead), kiln.zeros((64, 64), kiln.bf16))
    c.store((0, 0), acc)


@kiln.kernel
def handed(a: kiln.View, c: kiln.View, atom: kiln.constexpr, depth: kiln.constexpr):
    """Who copies for another role stores over it."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("use", warps=4)))
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=depth):
        x = kiln.pin(a.load((0, k), (64, 64)), atom=atom, role="load")
        kiln.pin(a.store((0, k), kiln.zeros((64, 64), kiln.bf16)), role="load")
        acc = kiln.pin(acc + x.to(kiln.f32), role="use")
    kiln.pin(c.store((0, 0), acc), role="use")


def operands(rng: np.random.Generator, tiles: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.integers(1, 9, (64, 64 * tiles)).astype(BF16), np.full((64, 64), np.nan, np.float32)


@pytest.mark.parametrize("chip, atom", CHIPS)
def test_a_store_behind_a_copy(rng, chip: str, atom: str) -> None:
    a, c = operands(rng, 1)
    want = a.astype(np.float64)
    straight.options(device=f"emu:{chip}")(a, c, atom)
    np.testing.assert_array_equal(c, want)
    assert not a.any()


@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("ahead", [0, 64])
@pytest.mark.parametrize("chip, atom", CHIPS)
def test_stores_in_a_loop(rng, chip: str, atom: str, ahead: int, depth: int) -> None:
    """Nothing is copied ahead of such stores, however many slots the ring has."""
    a, c = operands(rng, 5)
    tiles = a.astype(np.float64).reshape(64, 5, 64)
    looped.options(device=f"emu:{chip}")(a, c, atom, depth, ahead)
    np.testing.assert_array_equal(c, tiles[:, 0] if ahead else tiles.sum(1))


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("chip, atom", CHIPS[:4])
def test_a_role_that_is_not_told(rng, chip: str, atom: str, depth: int) -> None:
    a, c = operands(rng, 3)
    with pytest.raises(
        kiln.CompileError, match="a role .* that uses what is loaded to store over it"
    ):
        handed.options(device=f"emu:{chip}")(a, c, atom, depth)
