"""Several programs in one block, side by side on warps of their own: rows of softmax, norms and
products, which exchange through shared memory or not, over grids that are not whole blocks. On
emulated chips, against float64."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def softmax(x: kiln.View, y: kiln.View, WARPS: kiln.constexpr, PROGRAMS: kiln.constexpr,
            WIDTH: kiln.constexpr):  # fmt: skip
    i = kiln.grid(x.shape[0])
    kiln.pin(warps=WARPS, programs_per_block=PROGRAMS)
    row = x.load((i, 0), (1, WIDTH), pad=-float("inf"))
    e = kiln.exp(row - kiln.max(row, axis=1)[:, None])
    y.store((i, 0), e / kiln.sum(e, axis=1)[:, None])


def check_softmax(rng, chip: str, warps: int, programs: int) -> None:
    rows = int(rng.integers(1, 4 * programs))
    width = int(rng.integers(1, 512))
    x = rng.standard_normal((rows, width)).astype(np.float32)
    y = np.full_like(x, np.nan)
    softmax.options(device=f"emu:{chip}")(x, y, WARPS=warps, PROGRAMS=programs, WIDTH=512)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(axis=1, keepdims=True), rtol=2e-6, atol=1e-12)


@pytest.mark.parametrize("programs", [2, 5, 8])
@pytest.mark.parametrize("chip", ["sm_90a", "sm_100a", "sm_120a", "sm_80", "gfx942", "gfx1201"])
def test_rows_of_one_warp(rng: np.random.Generator, chip: str, programs: int) -> None:
    check_softmax(rng, chip, 1, programs)


@pytest.mark.parametrize("warps, programs", [(2, 3), (4, 2), (2, 14)])
@pytest.mark.parametrize("chip", ["sm_90a", "gfx1201"])
def test_rows_of_several_warps(rng: np.random.Generator, chip: str, warps: int, programs: int):
    check_softmax(rng, chip, warps, programs)


@pytest.mark.parametrize("warps, programs", [(2, 3), (4, 2), (2, 8)])
@pytest.mark.parametrize("chip", ["gfx942", "gfx950"])
def test_rows_of_several_waves(rng: np.random.Generator, chip: str, warps: int, programs: int):
    """Of 64 lanes each, of which a block has sixteen."""
    check_softmax(rng, chip, warps, programs)


@kiln.kernel
def ordered(x: kiln.View, sums: kiln.View, in_order: kiln.View, PROGRAMS: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    kiln.pin(warps=4, programs_per_block=PROGRAMS)
    row = x.load((i, 0), (1, 2048)).reshape((2048,))
    sums.store((i, 0), kiln.cumsum(row)[None, :])
    in_order.store((i, 0), kiln.sort(row)[None, :])


@pytest.mark.parametrize("programs", [2, 4])
def test_what_warps_of_a_program_share_out_alone(rng, programs: int) -> None:
    """Running sums and sorts through shared memory count the warps of the program, not of the block."""
    x = rng.standard_normal((int(rng.integers(1, 3 * programs)), 2048)).astype(np.float32)
    sums, in_order = np.full((2, *x.shape), np.nan, np.float32)
    ordered.options(device="emu:sm_90a")(x, sums, in_order, PROGRAMS=programs)
    assert np.array_equal(in_order, np.sort(x, axis=1))
    assert np.abs(sums - np.cumsum(x.astype(np.float64), axis=1)).max() <= 1e-3


@kiln.kernel
def batched(a: kiln.View, b: kiln.View, c: kiln.View, WARPS: kiln.constexpr,
            PROGRAMS: kiln.constexpr):  # fmt: skip
    """Small products of a grid of three axes, each in a loop, whose sums are turned."""
    i, j, z = kiln.grid(kiln.cdiv(a.shape[1], 16), kiln.cdiv(b.shape[1], 32), a.shape[0])
    kiln.pin(warps=WARPS, programs_per_block=PROGRAMS)
    acc = kiln.zeros((16, 32), kiln.f32)
    for k in range(0, a.shape[2], 32):
        x = a.load((z, i * 16, k), (1, 16, 32)).reshape((16, 32))
        y = b.load((z, j * 32, k), (1, 32, 32)).reshape((32, 32))
        acc = kiln.dot(x, y, acc, transpose_b=True)
    sums = kiln.cumsum(acc.T, axis=0)
    c.store((z, j * 32, i * 16), sums.reshape((1, 32, 16)))


@pytest.mark.parametrize("warps, programs", [(1, 7), (2, 3)])
def test_products_on_a_grid_of_three_axes(rng, warps: int, programs: int) -> None:
    n, rows, columns, k = 3, 70, 40, 45
    a = rng.standard_normal((n, rows, k)).astype(BF16)
    b = rng.standard_normal((n, columns, k)).astype(BF16)
    c = np.full((n, columns, rows), np.nan, np.float32)
    batched.options(device="emu:sm_90a")(a, b, c, WARPS=warps, PROGRAMS=programs)
    products = np.einsum("zik,zjk->zji", a.astype(np.float64), b.astype(np.float64))
    want = np.concatenate(
        [np.cumsum(products[:, at : at + 32], axis=1) for at in range(0, columns, 32)], axis=1
    )
    assert np.abs(c - want).max() <= 1e-4


@kiln.kernel
def places(x: kiln.View, total: kiln.View, WARPS: kiln.constexpr, PROGRAMS: kiln.constexpr):
    """What a program is told of its place, and a sum that all add to."""
    i = kiln.grid(x.shape[0])
    kiln.pin(warps=WARPS, programs_per_block=PROGRAMS)
    x.store((i, 0), kiln.full((1, 1), i.to(kiln.i32) * 1000 + kiln.num_programs(0).to(kiln.i32)))
    kiln.atomic_add(total, (0,), 1 + kiln.program_id(0).to(kiln.i32))


@pytest.mark.parametrize("warps, programs", [(1, 32), (2, 4)])
def test_each_program_is_there_once(rng, warps: int, programs: int) -> None:
    rows = int(rng.integers(1, 100))
    x, total = np.zeros((rows, 1), np.int32), np.zeros(1, np.int32)
    places.options(device="emu:sm_90a")(x, total, WARPS=warps, PROGRAMS=programs)
    np.testing.assert_array_equal(x[:, 0], np.arange(rows) * 1000 + rows)
    assert total[0] == rows * (rows + 1) // 2


def test_a_block_has_the_threads_of_its_programs() -> None:
    x = np.ones((40, 512), np.float32)
    for programs in (1, 8):
        given = {"WARPS": 1, "PROGRAMS": programs, "WIDTH": 512}
        made = softmax.compile(x, x, **given, target="nvptx:sm_90a")
        assert re.search(rf"\.(max|req)ntid\s+{32 * programs}\b", made.asm)
        # A barrier of all threads would be one of programs that never meet.
        assert programs == 1 or not re.search(r"\bbar\.sync|\bbarrier\.", made.asm)


@kiln.kernel
def kept_together(x: kiln.View, HOW: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    kiln.pin(programs_per_block=4)
    if HOW == "roles":
        kiln.pin(roles=kiln.role("all", warps=1))
    if HOW == "persistent":
        kiln.pin(persistent=4)
    if HOW == "cluster":
        kiln.pin(cluster=2)
    if HOW == "overlap":
        kiln.pin(overlap=True)
    x.store((i, 0), kiln.zeros((1, 1), kiln.f32))


@pytest.mark.parametrize("how", ["roles", "persistent", "cluster", "overlap"])
def test_what_keeps_a_block_together_is_refused(how: str) -> None:
    message = f"expected no 'tile.{how}' beside 'tile.block_programs', since"
    with pytest.raises(kiln.CompileError, match=message):
        kept_together.options(device="emu:sm_90a")(np.zeros((4, 1), np.float32), HOW=how)


def test_more_programs_than_barriers_are_refused() -> None:
    x = np.ones((40, 512), np.float32)
    with pytest.raises(
        kiln.CompileError, match="expected roles and copies that take at most 15 bar"
    ):
        softmax.options(device="emu:sm_90a")(x, x, WARPS=2, PROGRAMS=15, WIDTH=512)


@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
def test_a_launch_may_say_how_many_programs_there_are(rng, chip: str) -> None:
    x = rng.standard_normal((20, 300)).astype(np.float32)
    kernel = softmax.options(device=f"emu:{chip}")
    for rows in (0, 1, 7, 8, 13, 20):
        y = np.zeros_like(x)
        kernel[(rows,)](x, y, WARPS=1, PROGRAMS=8, WIDTH=512)
        np.testing.assert_allclose(y.sum(axis=1), np.arange(20) < rows, atol=1e-5)


@kiln.kernel
def placed(x: kiln.View):
    """Without a grid of its own."""
    kiln.pin(warps=1, programs_per_block=4)
    i, j = kiln.program_id(0), kiln.program_id(1)
    n = kiln.num_programs(0) * 100 + kiln.num_programs(1)
    x.store((j, i), kiln.full((1, 1), n.to(kiln.i32)))


def test_a_kernel_without_a_grid(rng) -> None:
    n, m = (int(rng.integers(1, 12)) for _ in "nm")
    x = np.zeros((12, 12), np.int32)
    placed.options(device="emu:sm_90a")[(n, m)](x)
    want = np.zeros_like(x)
    want[:m, :n] = 100 * n + m
    np.testing.assert_array_equal(x, want)


def test_the_host_has_no_blocks(rng) -> None:
    x = rng.standard_normal((5, 300)).astype(np.float32)
    y = np.full_like(x, np.nan)
    softmax(x, y, WARPS=1, PROGRAMS=4, WIDTH=512)
    assert np.abs(y.sum(axis=1) - 1).max() < 1e-5
