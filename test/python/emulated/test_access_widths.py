"""How wide accesses are where facts and indices allow it: ragged extents, gathers and scatters, edges;
and how indices are computed.

The numbers are those of NumPy on every target; the widths stand in the code for the chips.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import kiln

DEVICES = ["cpu", "emu:sm_90a", "emu:gfx942", "emu:gfx1201"]
CHIPS = ["nvptx:sm_90a", "amdgpu:gfx942", "amdgpu:gfx950"]


def count_wide(code: str, word: str) -> int:
    """Accesses of sixteen bytes: `word` is load or store."""
    short = {"load": "ld", "store": "st"}[word]
    ptx = rf"{short}\.global\.[\w.]*v(4\.(b|u|f)32|2\.(b|u|f)64)"
    isa = rf"(global|buffer)_{word}_(dwordx4|b128)"
    return len(re.findall(f"{ptx}|{isa}", code))


def count_narrow(code: str, word: str) -> int:
    """Accesses of a single element."""
    short = {"load": "ld", "store": "st"}[word]
    ptx = rf"{short}\.global\.(?:nc\.)?(?:b|u|f)\d+ "
    isa = rf"(?:global|buffer)_{word}_(?:dword|short|ushort|b16|b32|u16)(?:_d16\w*)? "
    return len(re.findall(f"{ptx}|{isa}", code))


@kiln.kernel
def rmsnorm(x: kiln.View, out: kiln.View, BLOCK: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    row = x.load((i, 0), (1, BLOCK)).to(kiln.f32)
    mean = kiln.sum(row * row, axis=1, keepdims=True) / x.shape[1].to(kiln.f32)
    out.store((i, 0), (row * kiln.rsqrt(mean + 1e-5)).to(out.dtype))


@pytest.mark.parametrize("target", CHIPS)
@pytest.mark.parametrize(
    "columns, dtype", [(5000, np.float32), (5004, np.float32), (5000, np.float16)]
)
def test_a_ragged_extent_is_read_and_written_in_sixteen_bytes(target, columns, dtype):
    x = np.zeros((64, columns), dtype)
    code = rmsnorm.compile(x, x.copy(), BLOCK=8192, target=target).asm
    assert count_wide(code, "load") and count_wide(code, "store")
    assert not count_narrow(code, "load") and not count_narrow(code, "store")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("columns", [200, 204, 202, 201])
def test_a_ragged_extent_is_right(device, columns, rng):
    x = rng.standard_normal((5, columns), dtype=np.float32)
    out = np.full((5, columns + 8), np.nan, np.float32)
    rmsnorm.options(device=device)(x, out[:, :columns], BLOCK=256)
    wide = x.astype(np.float64)
    want = wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(out[:, :columns], want, rtol=1e-5)
    assert np.isnan(out[:, columns:]).all()


@kiln.kernel
def gather_rows(
    x: kiln.View, rows: kiln.View, out: kiln.View, R: kiln.constexpr, N: kiln.constexpr
):
    i = kiln.grid(kiln.cdiv(rows.shape[0], R))
    at = rows.load((i * R,), (R,))
    column = kiln.arange(N)[None, :]
    out.store((i * R, 0), x.gather((at[:, None], column), mask=column < x.shape[1].to(kiln.i32)))


@kiln.kernel
def scatter_rows(
    x: kiln.View, rows: kiln.View, out: kiln.View, R: kiln.constexpr, N: kiln.constexpr
):
    i = kiln.grid(kiln.cdiv(rows.shape[0], R))
    at = rows.load((i * R,), (R,), pad=-1)
    out.scatter((at[:, None], kiln.arange(N)[None, :]), x.load((i * R, 0), (R, N)))


@kiln.kernel
def gather_shifted(x: kiln.View, rows: kiln.View, out: kiln.View, SHIFT: kiln.constexpr):
    kiln.grid(1)
    at = rows.load((0,), (16,))
    out.store((0, 0), x.gather((at[:, None], kiln.arange(64)[None, :] + SHIFT)))


@pytest.mark.parametrize("target", CHIPS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_rows_are_gathered_and_scattered_in_sixteen_bytes(target, dtype):
    x, rows = np.zeros((999, 1024), dtype), np.zeros(64, np.int32)
    out = np.zeros((64, 1024), dtype)
    code = gather_rows.compile(x, rows, out, R=16, N=1024, target=target).asm
    elements = 16 * 1024 * x.itemsize // 16
    assert count_wide(code, "load") >= elements // 512 and count_wide(code, "store")
    assert not count_narrow(code, "store")
    code = scatter_rows.compile(out, rows, x, R=16, N=1024, target=target).asm
    assert count_wide(code, "store") and not count_narrow(code, "store")


@pytest.mark.parametrize("target", CHIPS)
def test_what_is_not_aligned_is_gathered_in_what_it_is(target):
    x, rows = np.zeros((999, 1024), np.float32), np.zeros(16, np.int32)
    out = np.zeros((16, 64), np.float32)
    wide = [
        count_wide(gather_shifted.compile(x, rows, out, SHIFT=s, target=target).asm, "load")
        for s in (0, 4, 1, 2)
    ]
    assert wide[0] and wide[1] and not wide[2] and not wide[3]
    odd = np.zeros((999, 1023), np.float32)
    assert not count_wide(
        gather_shifted.compile(odd, rows, out, SHIFT=0, target=target).asm, "load"
    )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("columns", [64, 60, 52, 50, 49])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8])
def test_gathered_and_scattered_rows_are_right(device, columns, dtype, rng):
    x = rng.integers(-100, 100, (40, columns)).astype(dtype)
    # Rows outside of the array, on both sides, are zeros.
    rows = rng.integers(-3, 43, 21).astype(np.int32)
    out = np.full((21, columns), 77, dtype)
    gather_rows.options(device=device)(x, rows, out, R=8, N=64)
    inside = (rows >= 0) & (rows < 40)
    want = np.where(inside[:, None], x[np.clip(rows, 0, 39)], 0)
    np.testing.assert_array_equal(out, want)

    target = np.full((40, columns), 55, dtype)
    places = np.concatenate([rng.permutation(40)[:19], [-1, 40]]).astype(np.int32)
    scatter_rows.options(device=device)(want, places, target, R=8, N=64)
    expected = np.full((40, columns), 55, dtype)
    expected[places[:19]] = want[:19]
    np.testing.assert_array_equal(target, expected)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shift", [0, 1, 2, 4, -4, -1])
def test_a_shifted_gather_is_right_at_both_ends(device, shift, rng):
    x, rows = (
        rng.standard_normal((9, 64), dtype=np.float32),
        rng.integers(0, 9, 16).astype(np.int32),
    )
    out = np.zeros((16, 64), np.float32)
    gather_shifted.options(device=device)(x, rows, out, SHIFT=shift)
    want = np.zeros((16, 64), np.float32)
    for j in range(64):
        if 0 <= j + shift < 64:
            want[:, j] = x[rows, j + shift]
    np.testing.assert_array_equal(out, want)


# ===- Index arithmetic -------------------------------------------------------------------------===#


@kiln.kernel
def add_flat(x: kiln.View, y: kiln.View, out: kiln.View, BLOCK: kiln.constexpr = 1024):
    m, n = x.shape
    i = kiln.grid(kiln.cdiv(m * n, BLOCK))
    at = i * BLOCK + kiln.arange(BLOCK)
    row, column = at // n, at % n
    out.scatter((row, column), x.gather((row, column)) + y.gather((column,)))


@kiln.kernel
def add_in_turns(x: kiln.View, out: kiln.View, BLOCK: kiln.constexpr = 512):
    m, n = x.shape
    kiln.grid(1)
    for start in range(0, m * n, BLOCK):
        at = start + kiln.arange(BLOCK)
        out.scatter((at // n, at % n), x.gather((at // n, at % n)) + 1.0)


@pytest.mark.parametrize("target", CHIPS)
@pytest.mark.parametrize("columns", [1000, 1004])
def test_flat_indices_are_divided_without_a_division(target, columns):
    x, y = np.zeros((64, columns), np.float32), np.zeros(columns, np.float32)
    code = add_flat.compile(x, y, x.copy(), target=target).asm
    assert not re.search(r"\b(div|rem)\.(rn\.)?[su](32|64)", code)
    assert count_wide(code, "load") and count_wide(code, "store")
    assert not count_narrow(code, "store")


def test_the_loop_of_a_divided_index_divides_for_all_elements_at_once():
    x = np.zeros((64, 1000), np.float32)
    code = add_in_turns.compile(x, x.copy(), target="nvptx:sm_90a").asm
    # Of the turn's first element, in 32 bits or in 64, by way of the quotient or of the rest.
    assert len(re.findall(r"\b(div|rem)\.[su](32|64)", code)) <= 4


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("columns", [1000, 1004, 1001, 16, 1])
def test_flat_indices_are_right(device, columns, rng):
    x = rng.standard_normal((37, columns), dtype=np.float32)
    y, out = (
        rng.standard_normal(columns, dtype=np.float32),
        np.full((37, columns), np.nan, np.float32),
    )
    add_flat.options(device=device)(x, y, out)
    np.testing.assert_array_equal(out, x + y)
    out[...] = np.nan
    add_in_turns.options(device=device)(x, out)
    np.testing.assert_array_equal(out, x + 1)


# ===- Edges ------------------------------------------------------------------------------------===#


@kiln.kernel
def twice(x: kiln.View, out: kiln.View, BLOCK: kiln.constexpr = 1024):
    i = kiln.grid(kiln.cdiv(x.shape[0], BLOCK))
    out.store((i * BLOCK,), x.load((i * BLOCK,), (BLOCK,)) * 2.0)


@kiln.kernel
def sums(x: kiln.View, out: kiln.View, BLOCK: kiln.constexpr = 256):
    rows, columns = x.shape
    i = kiln.grid(rows)
    total = kiln.zeros((1, BLOCK), kiln.f32)
    for j in range(0, columns, BLOCK):
        total = total + x.load((i, j), (1, BLOCK))
    out.store((i,), kiln.sum(total, axis=1))


@pytest.mark.parametrize("target", CHIPS)
def test_whole_tiles_of_a_ragged_extent_take_sixteen_bytes(target):
    x = np.zeros(1_000_003, np.float32)
    code = twice.compile(x, x.copy(), target=target).asm
    assert count_wide(code, "load") and count_wide(code, "store")
    padded = np.zeros((16, 1008), np.float32)[:, :1003]
    code = sums.compile(padded, np.zeros(16, np.float32), target=target).asm
    assert count_wide(code, "load")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("length", [1, 1023, 1024, 1025, 3 * 1024 - 1, 4099])
def test_whole_tiles_and_those_at_the_edge_are_right(device, length, rng):
    x = rng.standard_normal(length + 7, dtype=np.float32)
    out = np.full(length + 7, np.nan, np.float32)
    twice.options(device=device)(x[:length], out[:length])
    np.testing.assert_array_equal(out[:length], x[:length] * 2)
    assert np.isnan(out[length:]).all()
    rows = rng.integers(-99, 99, (5, 1040)).astype(np.float32)
    columns = min(length, 1037)
    total = np.zeros(5, np.float32)
    sums.options(device=device)(rows[:, :columns], total)
    np.testing.assert_array_equal(total, rows[:, :columns].sum(1))
