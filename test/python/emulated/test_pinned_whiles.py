"""Loops that nobody counts, with decisions about the loop itself: `while kiln.pin(…)`, and ranges
that are left. On emulated chips, against float64; another depth is other code."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
TARGETS = {
    ("sm_80", "cp_async", False), ("sm_90a", "tma", True), ("sm_90a", "cp_async", False),
    ("sm_90a", "cp_async", True), ("sm_100a", "tma", True), ("gfx942", "load_to_lds", False),
    ("gfx950", "load_to_lds", False), ("gfx1201", "through_registers", False),
}  # fmt: skip


@kiln.function
def take_roles(apart: kiln.constexpr) -> str:
    """The role that loads."""
    if apart:
        kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
        return "load"
    kiln.pin(roles=kiln.role("mma", warps=4))
    return "mma"


@kiln.kernel
def paged(
    a: kiln.View, b: kiln.View, c: kiln.View, following: kiln.View, first: kiln.i32,
    atom: kiln.constexpr, apart: kiln.constexpr, depth: kiln.constexpr,
):  # fmt: skip
    """Columns of 32 in the order of a chain."""
    kiln.grid(1)
    role = take_roles(apart)
    acc = kiln.zeros((64, 64), kiln.f32)
    page = first
    while kiln.pin(page >= 0, depth=depth):
        x = kiln.pin(a.load((0, page * 32), (64, 32)), atom=atom, role=role)
        y = kiln.pin(b.load((0, page * 32), (64, 32)), atom=atom, role=role)
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), role="mma")
        page = following[page]
    kiln.pin(c.store((0, 0), acc), role="mma")


@kiln.kernel
def left(
    a: kiln.View, b: kiln.View, c: kiln.View, following: kiln.View, first: kiln.i32,
    atom: kiln.constexpr, apart: kiln.constexpr, depth: kiln.constexpr,
):  # fmt: skip
    """Columns of 32 from a page on, up to the first that none follows."""
    kiln.grid(1)
    role = take_roles(apart)
    acc = kiln.zeros((64, 64), kiln.f32)
    for page in kiln.pin(range(first, a.shape[1] // 32), depth=depth):
        x = kiln.pin(a.load((0, page * 32), (64, 32)), atom=atom, role=role)
        y = kiln.pin(b.load((0, page * 32), (64, 32)), atom=atom, role=role)
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), role="mma")
        if following[page] < 0:
            break
    kiln.pin(c.store((0, 0), acc), role="mma")


@pytest.mark.parametrize("chip, atom, apart", sorted(TARGETS))
@pytest.mark.parametrize("depth", [2, 3])
def test_depths(rng, chip: str, atom: str, apart: bool, depth: int) -> None:
    a, b = (rng.standard_normal((64, 256)).astype(BF16) for _ in "ab")
    pages = [int(page) for page in rng.permutation(8)[:5]]
    following = np.full(8, 8, np.int32)
    following[pages] = [*pages[1:], -1]
    last = pages[-1]
    for kernel, read, first in (
        (paged, pages, pages[0]),
        (left, range(2, last + 1) if last >= 2 else range(2, 8), 2),
        (paged, [], -1),
    ):
        c = np.zeros((64, 64), np.float32)
        kernel.options(device=f"emu:{chip}")(a, b, c, following, first, atom, apart, depth)
        columns = [32 * page + i for page in read for i in range(32)]
        reference = a[:, columns].astype(np.float64) @ b[:, columns].astype(np.float64).T
        assert np.abs(c - reference).max() <= 1e-3, (pages, kernel)


@pytest.mark.parametrize("kernel", [paged, left])
def test_another_depth_is_other_code(rng, kernel) -> None:
    a, following = rng.standard_normal((64, 256)).astype(BF16), np.zeros(8, np.int32)
    codes = {
        kernel.compile(a, a, np.zeros((64, 64), np.float32), following, 0, "tma", True, depth,
                       target="nvptx:sm_90a").asm
        for depth in (2, 3)
    }  # fmt: skip
    assert len(codes) == 2


@pytest.mark.parametrize("kernel", [paged, left])
def test_a_depth_alone_gives_loads_a_ring(rng, kernel) -> None:
    """The instructions that fill it are completed."""
    a, b = (rng.standard_normal((64, 256)).astype(BF16) for _ in "ab")
    following, c = np.array([1, 2, 3, 4, 5, 6, 7, -1], np.int32), np.zeros((64, 64), np.float32)
    kernel.options(device="emu:sm_90a")(a, b, c, following, 0, None, False, 2)
    want = a.astype(np.float64) @ b.astype(np.float64).T
    assert np.linalg.norm(c - want) <= 1e-5 * np.linalg.norm(want)


@kiln.kernel
def counting(c: kiln.View, first: kiln.i32, depth: kiln.constexpr):
    """No trip loads anything."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    acc = kiln.zeros((64, 64), kiln.f32)
    page = first
    while kiln.pin(page > 0, depth=depth):
        acc = kiln.pin(acc + 1.0, role="all")
        page -= 1
    kiln.pin(c.store((0, 0), acc), role="all")


def test_a_depth_without_a_ring_is_refused() -> None:
    with pytest.raises(kiln.CompileError, match="expected loads with 'atom' or 'buffer' in a loop"):
        counting.compile(np.zeros((64, 64), np.float32), 3, 2, target="nvptx:sm_90a")
