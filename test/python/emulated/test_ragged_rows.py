"""Rows that begin and end in the middle of the vectors by which threads access memory."""

import ml_dtypes
import numpy as np
import pytest

import kiln

ROWS = 5
CHIPS = ["emu:sm_90a", "emu:gfx942"]
TYPES = [np.float32, ml_dtypes.bfloat16, np.float16, ml_dtypes.float8_e5m2, np.int8, np.float64]


@kiln.kernel
def copy(x: kiln.View, out: kiln.View, B: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    out.store((i, 0), x.load((i, 0), (1, B)))


@kiln.kernel
def softmax(x: kiln.View, out: kiln.View, B: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    row = x.load((i, 0), (1, B), pad=float("-inf")).to(kiln.f32)
    e = kiln.exp(row - kiln.max(row, axis=1, keepdims=True))
    out.store((i, 0), (e / kiln.sum(e, axis=1, keepdims=True)).to(out.dtype))


@kiln.kernel
def layernorm(x: kiln.View, weight: kiln.View, out: kiln.View, total: kiln.View, B: kiln.constexpr):
    rows, columns = x.shape
    i = kiln.grid(rows)
    inside = kiln.arange(B)[None, :] < columns.to(kiln.i32)
    n = columns.to(kiln.f32)
    row = x.load((i, 0), (1, B)).to(kiln.f32)
    centred = kiln.where(inside, row - kiln.sum(row, axis=1, keepdims=True) / n, 0.0)
    variance = kiln.sum(centred * centred, axis=1, keepdims=True) / n
    y = centred * kiln.rsqrt(variance + 1e-5) * weight.load((0,), (B,))[None, :].to(kiln.f32)
    out.store((i, 0), y.to(out.dtype))
    total.store((i, 0), (kiln.arange(B)[None, :] + i.to(kiln.i32)).to(total.dtype))


def block(columns: int) -> int:
    return max(1024, 1 << (columns - 1).bit_length())


def rows_of(whole: np.ndarray, columns: int, stride: int, start: int) -> np.ndarray:
    """Rows at any distance in an array whose other elements nobody may change."""
    size = whole.itemsize
    return np.ndarray((ROWS, columns), whole.dtype, whole, start * size, (stride * size, size))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("chip", CHIPS)
def test_a_row_is_copied_and_nothing_beside_it(chip, dtype, rng):
    """From any place to any other, the row's ends at each place of a vector; of a tile, too, that the
    row fills but for less than a vector."""
    for columns in (1, 7, 1001, 1009, 1020, 1023, 1024, 1500, 2041):
        size = 1024 if columns == 1500 else block(columns)  # of a longer row its front
        strides = columns + rng.integers(0, 19, 2)
        starts = rng.integers(0, 17, 2)
        source, target = (
            rng.integers(-9, 9, ROWS * (columns + 20) + 32).astype(dtype) for _ in range(2)
        )
        for stride, start in ((strides[0], starts[0]), (strides[1], starts[1])):
            expected = target.copy()
            x = rows_of(source, columns, int(strides[0]), int(starts[0]))
            rows_of(expected, columns, int(stride), int(start))[:, :size] = x[:, :size]
            copy.options(device=chip)(x, rows_of(target, columns, int(stride), int(start)), B=size)
            assert target.tobytes() == expected.tobytes()


@pytest.mark.parametrize("columns", [1003, 4097, 33333])
@pytest.mark.parametrize("dtype", TYPES[:3])
@pytest.mark.parametrize("chip", CHIPS)
def test_norms_of_odd_rows(chip, dtype, columns, rng):
    x = rng.standard_normal((3, columns)).astype(dtype)
    w = rng.standard_normal(columns).astype(dtype)
    out, total = np.empty_like(x), np.empty((3, columns), np.int32)
    exact = x.astype(np.float64)
    tolerance = {2: 1e-2, 4: 1e-5}[x.itemsize]
    softmax.options(device=chip)(x, out, B=block(columns))
    want = np.exp(exact - exact.max(1, keepdims=True))
    want /= want.sum(1, keepdims=True)
    assert np.linalg.norm(out - want) < tolerance * np.linalg.norm(want)
    layernorm.options(device=chip)(x, w, out, total, B=block(columns))
    centred = exact - exact.mean(1, keepdims=True)
    want = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * w.astype(np.float64)
    assert np.linalg.norm(out - want) < tolerance * np.linalg.norm(want)
    assert np.array_equal(total, np.arange(columns)[None, :] + np.arange(3)[:, None])
    softmax.options(device=chip)(x, x, B=block(columns))  # in place
    want = np.exp(exact - exact.max(1, keepdims=True))
    want /= want.sum(1, keepdims=True)
    assert np.linalg.norm(x - want) < tolerance * np.linalg.norm(want)
