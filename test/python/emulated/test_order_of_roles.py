"""Roles whose instructions want a group of warps that begins at a multiple of its size, in each order
in which they can be written. On emulated chips, against float64."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
ROLES = {
    "load": ("load", 1, 1), "mma": ("mma", 4, 1), "store": ("store", 4, 1), "scale": ("scale", 2, 1),
}  # fmt: skip


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, s: kiln.View, c: kiln.View,
    atom: kiln.constexpr, roles: kiln.constexpr, in_flight: kiln.constexpr, copies: kiln.constexpr,
):  # fmt: skip
    """A loader of one warp, a product, a role of two warps that scales a vector, and one that stores
    what the product has summed."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 128 * copies))
    kiln.pin(roles=tuple(
        kiln.role(name, warps=warps, copies=copies if warps == 4 else 1)
        for name, warps in roles
    ))  # fmt: skip
    acc = kiln.zeros((128 * copies, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=2):
        x = kiln.pin(a.load((i * 128 * copies, k), (128 * copies, 64)), role="load", atom="tma")
        y = kiln.pin(b.load((0, k), (64, 64)), role="load", atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True), role="mma", atom=atom, in_flight=in_flight
        )
    v = kiln.pin(s.load((i * 128,), (128,)), role="scale")
    kiln.pin(s.store((i * 128,), v * 2.0), role="scale")
    kiln.pin(c.store((i * 128 * copies, 0), acc), role="store")


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("names", list(itertools.permutations(ROLES)))
@pytest.mark.parametrize("chip, atom", [("sm_90a", "wgmma"), ("sm_100a", "tcgen05")])
def test_each_order_of_roles(rng, chip: str, atom: str, names: tuple[str, ...], copies) -> None:
    k = 64 * int(rng.integers(1, 4))
    a, b = (rng.standard_normal((rows, k)).astype(BF16) for rows in (128 * copies, 64))
    s = rng.standard_normal(128).astype(np.float32)
    c, scaled = np.full((128 * copies, 64), np.nan, np.float32), s.copy()
    roles = tuple((name, ROLES[name][1]) for name in names)
    product.options(device=f"emu:{chip}")(
        a, b, scaled, c, atom=atom, roles=roles, in_flight=0, copies=copies
    )
    assert np.abs(c - a.astype(np.float64) @ b.astype(np.float64).T).max() <= 1e-3
    assert (scaled == 2 * s).all()
