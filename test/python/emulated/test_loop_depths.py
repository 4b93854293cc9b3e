"""The depth that a loop says, of rings whose loads stand in conditions and of rings that say their own."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
COPIES = {
    "sm_80": "cp_async", "sm_90a": "tma", "sm_100a": "tma", "gfx942": "load_to_lds",
    "gfx1201": "through_registers",
}  # fmt: skip


@kiln.kernel
def chosen(
    a: kiln.View, flags: kiln.View, c: kiln.View, copy: kiln.constexpr, depth: kiln.constexpr,
    skips: kiln.constexpr,
):  # fmt: skip
    """The sum of tiles of 32 columns whose flag is set."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    s = kiln.zeros((64, 32), kiln.f32)
    if skips:
        for k in kiln.pin(range(0, a.shape[1], 32), depth=depth):
            if flags[k // 32] == 0:
                continue
            s = s + kiln.pin(a.load((0, k), (64, 32)), atom=copy).to(kiln.f32)
    else:
        for k in kiln.pin(range(0, a.shape[1], 32), depth=depth):
            if flags[k // 32] != 0:
                s = s + kiln.pin(a.load((0, k), (64, 32)), atom=copy).to(kiln.f32)
    c.store((0, 0), s)


@kiln.kernel
def product(
    a: kiln.View, c: kiln.View, loop: kiln.constexpr, own: kiln.constexpr, reads: kiln.constexpr
):
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    s = kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=loop):
        x = kiln.pin(a.load((0, k), (64, 64)), role="load", atom="tma", ring="x", depth=own)
        if reads:
            kiln.pin(x, read_atom="#nvptx.ldmatrix<4, 16>")
        s = kiln.pin(kiln.dot(x, x, s, transpose_b=True), role="mma", atom="wgmma", in_flight=0)
    kiln.pin(c.store((0, 0), s), role="mma")


@pytest.mark.parametrize("chip", COPIES)
@pytest.mark.parametrize("skips", [False, True])
def test_loads_in_conditions(rng, chip: str, skips: bool) -> None:
    count, depth = int(rng.integers(1, 9)), int(rng.integers(1, 4))
    a = rng.standard_normal((64, 32 * count)).astype(BF16)
    flags, c = rng.integers(0, 2, count).astype(np.int32), np.zeros((64, 32), np.float32)
    run = chosen.options(device=f"emu:{chip}")
    run(a, flags, c, copy=COPIES[chip], depth=depth, skips=skips)
    tiles = a.astype(np.float64).reshape(64, count, 32)
    assert np.abs(c - tiles[:, flags > 0].sum(axis=1)).max() <= 1e-4


def refusal(**pins) -> str:
    a, c = np.zeros((64, 128), BF16), np.zeros((64, 64), np.float32)
    with pytest.raises(kiln.CompileError) as error:
        product.compile(a, c, target="nvptx:sm_90a", **pins)
    assert error.value.line
    return str(error.value)


def test_depths_that_nothing_obeys() -> None:
    error = refusal(loop=3, own=2, reads=False)
    assert (
        "expected a 'depth' that its loads do not all say themselves, got 3 where they say 2"
        in error
    )
    a, c = np.zeros((64, 128), BF16), np.zeros((64, 64), np.float32)
    assert product.compile(a, c, target="nvptx:sm_90a", loop=2, own=2, reads=False).asm


def test_read_atoms_that_nothing_reads_by() -> None:
    assert "expected no 'read_atom', since products read the tile from shared memory" in refusal(
        loop=2, own=2, reads=True
    )
