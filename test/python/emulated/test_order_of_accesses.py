"""Roles whose arguments may lie in one memory, on emulated chips: a load sees what was stored before
it and nothing of what is stored after, whichever warps make them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
CHIPS = ["sm_80", "sm_90a", "gfx942", "gfx950"]


def overlapping(rng: np.random.Generator, count: int, rows: int, columns: int) -> list[np.ndarray]:
    """Arrays of so many rows that begin anywhere in the first one."""
    memory = rng.standard_normal((2 * rows, columns)).astype(np.float32)
    starts = [0, *(int(rng.integers(1, rows)) for _ in range(1, count))]
    return [memory[start : start + rows] for start in starts]


@kiln.kernel
def moved(
    x: kiln.View, y: kiln.View, z: kiln.View,
    M: kiln.constexpr, N: kiln.constexpr, copies: kiln.constexpr, ENGINE: kiln.constexpr,
):  # fmt: skip
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4, copies=copies))
    for out in kiln.static_range(2):
        stored = (z if out else y).store((0, 0), x.load((0, 0), (M, N)) * 2 + out)
        if ENGINE:
            kiln.pin(stored, role="all", in_flight=0, atom="tma")


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("chip, engine", [*((chip, False) for chip in CHIPS), ("sm_90a", True)])
def test_copies_of_a_role(rng, chip: str, engine: bool, copies: int) -> None:
    x, y, z = overlapping(rng, 3, 128, 64)
    memory = x.base.copy()
    starts = [(a.ctypes.data - x.ctypes.data) // x.strides[0] for a in (y, z)]
    memory[starts[0] : starts[0] + 128] = memory[:128].copy() * 2
    memory[starts[1] : starts[1] + 128] = memory[:128].copy() * 2 + 1
    moved.options(device=f"emu:{chip}")(x, y, z, M=128, N=64, copies=copies, ENGINE=engine)
    assert np.array_equal(x.base, memory), starts


@kiln.kernel
def twice(
    a: kiln.View, b: kiln.View, c: kiln.View, d: kiln.View,
    copy: kiln.constexpr, product: kiln.constexpr,
):  # fmt: skip
    """The copies lag behind one another in the loop alone."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4, copies=2, skew=1))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=2):
        x = kiln.pin(a.load((0, k), (128, 32)), role="all", stage=0, atom=copy)
        y = kiln.pin(b.load((0, k), (64, 32)), role="all", stage=0, atom=copy)
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), role="all", stage=1, atom=product)
    c.store((0, 0), acc)
    d.store((0, 0), acc + 1)


@pytest.mark.parametrize(
    "chip, copy, product",
    [
        ("sm_80", "cp_async", "mma_sync"),
        ("sm_90a", "cp_async", "mma_sync"),
        ("gfx942", "load_to_lds", "matrix"),
        ("gfx950", "load_to_lds", "matrix"),
    ],
)
def test_copies_that_lag(rng, chip: str, copy: str, product: str) -> None:
    a, b = (rng.standard_normal((rows, 96)).astype(BF16) for rows in (128, 64))
    c, d = overlapping(rng, 2, 128, 64)
    expected = a.astype(np.float64) @ b.astype(np.float64).T
    twice.options(device=f"emu:{chip}")(a, b, c, d, copy=copy, product=product)
    first = (d.ctypes.data - c.ctypes.data) // c.strides[0]
    reference = np.concatenate([expected[:first], expected + 1])
    assert np.linalg.norm(c.base[: first + 128] - reference) <= 1e-6 * np.linalg.norm(reference)


@kiln.kernel
def plain(a: kiln.View, b: kiln.View, r: kiln.View, c: kiln.View):
    kiln.grid(1)
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in range(0, a.shape[1], 32):
        acc = kiln.dot(a.load((0, k), (128, 32)), b.load((k, 0), (32, 64)), acc)
    c.store((0, 0), acc + r.load((0, 0), (128, 64)))


def test_roles_that_are_decided(rng) -> None:
    a, b = (rng.standard_normal(shape).astype(BF16) for shape in ((128, 96), (96, 64)))
    r, c = overlapping(rng, 2, 128, 64)
    reference = a.astype(np.float64) @ b.astype(np.float64) + r
    plain.options(device="emu:sm_90a")(a, b, r, c)
    assert np.linalg.norm(c - reference) <= 1e-6 * np.linalg.norm(reference)
    layout = plain.compile(a, b, r, c, target="nvptx:sm_90a").ir("layout")
    assert '#tile.role<"compute", warps = 4, copies = 2>' in layout
