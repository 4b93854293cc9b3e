"""What a role of its own stores on AMD's chips, where waves of a role exchange numbers in LDS: right on
the emulated chip, and the final code is proven."""

from __future__ import annotations

import isa
import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def product(a: kiln.View, b: kiln.View, c: kiln.View, d: kiln.View, maker: kiln.constexpr):
    """Products less the greatest of each column, which the role `maker` finds; and that of each row."""
    i = kiln.grid(kiln.cdiv(a.shape[0], 64))
    kiln.pin(
        roles=(
            kiln.role("load", warps=4),
            kiln.role("mma", warps=4),
            kiln.role("store", warps=2),
        )
    )
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=2):
        x = kiln.pin(a.load((i * 64, k), (64, 32)), atom="load_to_lds", role="load")
        y = kiln.pin(b.load((0, k), (64, 32)), atom="load_to_lds", role="load")
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), atom="matrix", role="mma")
    most = kiln.pin(kiln.max(acc, axis=0, keepdims=True), role=maker)
    kiln.pin(d.store((i * 64, 0), kiln.max(acc, axis=1, keepdims=True)), role="mma")
    kiln.pin(c.store((i * 64, 0), acc - most), role="store")


@pytest.mark.parametrize("maker", ["mma", "store"])
def test_numbers_and_final_code(rng, maker: str) -> None:
    a, b = (rng.integers(-8, 9, (rows, 96)).astype(BF16) for rows in (128, 64))
    c, d = np.full((128, 64), np.nan, np.float32), np.full((128, 1), np.nan, np.float32)
    product.options(device="emu:gfx942")(a, b, c, d, maker)
    whole = (a.astype(np.float64) @ b.astype(np.float64).T).reshape(2, 64, 64)
    np.testing.assert_array_equal(c.reshape(2, 64, 64), whole - whole.max(axis=1, keepdims=True))
    np.testing.assert_array_equal(d.reshape(2, 64, 1), whole.max(axis=2, keepdims=True))
    if isa.has_checker():
        compiled = product.compile(a, b, c, d, maker, target="amdgpu:gfx942")
        isa.check(compiled.asm.encode(), allow_strong=True)


@kiln.kernel
def store_own(
    a: kiln.View, b: kiln.View, c: kiln.View, depth: kiln.constexpr, later: kiln.constexpr,
    mixes: kiln.constexpr, atom: kiln.constexpr,
):  # fmt: skip
    """One role brings tiles through registers and stores what the other makes of them in the trip."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("io", warps=4), kiln.role("mma", warps=4)))
    y = kiln.pin(b.load((0, 0), (32, 32)), role="io", atom="through_registers", ring="y", depth=1)
    for k in range(0, a.shape[1], 32):
        x = a.load((0, k), (64, 32))
        kiln.pin(x, role="io", atom="through_registers", ring="x", depth=depth)
        d = kiln.pin(kiln.dot(x, y, transpose_b=True), role="mma", atom=atom)
        if mixes:
            d = d + kiln.pin(a.load((0, k), (64, 32)), role="io").to(kiln.f32)
        kiln.pin(c.store((0, k), d), role="io", stage=later)


@pytest.mark.parametrize(
    "chip, atom", [("gfx942", "matrix"), ("sm_80", "mma_sync"), ("sm_90a", "wgmma")]
)
@pytest.mark.parametrize("depth, later, mixes", [(1, 0, False), (2, 1, True)])
def test_role_that_loads_through_registers_stores(rng, chip, atom, depth, later, mixes) -> None:
    a, b = rng.integers(-8, 9, (50, 160)).astype(BF16), rng.integers(-8, 9, (32, 32)).astype(BF16)
    c = np.full((50, 160), np.nan, np.float32)
    store_own.options(device=f"emu:{chip}")(a, b, c, depth, later, mixes, atom)
    wide = a.astype(np.float64)
    whole = (wide.reshape(50, 5, 32) @ b.astype(np.float64).T).reshape(50, 160)
    np.testing.assert_array_equal(c, whole + mixes * wide)
