"""Every conversion between float types on the CPU, to the bit, against ml_dtypes and NumPy.

Sources of 16 bits and fewer are tried exhaustively; wider ones at every value around the limits
of the narrow types and at random bit patterns.
"""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

import kiln

NUMPY = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e8m0fnu": ml_dtypes.float8_e8m0fnu,
    "f6e2m3fn": ml_dtypes.float6_e2m3fn,
    "f6e3m2fn": ml_dtypes.float6_e3m2fn,
    "f4e2m1fn": ml_dtypes.float4_e2m1fn,
}
PACKED = {"f6e2m3fn": 6, "f6e3m2fn": 6, "f4e2m1fn": 4}
BLOCK = 1024


@kiln.kernel
def convert(x: kiln.View, y: kiln.View, B: kiln.constexpr):
    i = kiln.grid(kiln.cdiv(x.shape[0], B))
    y.store((i * B,), x.load((i * B,), (B,)).to(y.dtype))


def every_pattern(dtype: np.dtype, bits: int) -> np.ndarray:
    return np.arange(1 << bits, dtype=f"u{dtype.itemsize}").view(dtype)


def inputs(name: str) -> np.ndarray:
    dtype = np.dtype(NUMPY[name])
    if name in PACKED:
        return every_pattern(dtype, PACKED[name])
    if dtype.itemsize <= 2:
        return every_pattern(dtype, 8 * dtype.itemsize)
    rng = np.random.default_rng()
    word = np.dtype(f"u{dtype.itemsize}")
    random = rng.integers(0, 1 << 8 * word.itemsize, 1 << 17, dtype=word).view(dtype)
    # Every bf16, and its neighbours by one unit in the last place of the wide type: ties, and
    # what lies just beside them.
    wide = every_pattern(np.dtype(np.uint16), 16).astype(np.uint32) << 16
    with np.errstate(all="ignore"):
        exact = wide.view(np.float32).astype(dtype)
        half = (wide + np.uint32(0x8000)).view(np.float32).astype(dtype)
        fine = every_pattern(np.dtype(np.float16), 16).astype(dtype)
        above = [(values.view(word) + word.type(1)).view(dtype) for values in (exact, half)]
        below = [(values.view(word) - word.type(1)).view(dtype) for values in (exact, half)]
    return np.concatenate([random, exact, half, fine, *above, *below])


def as_argument(array: np.ndarray, name: str):
    return kiln.PackedArray.from_numpy(array, name) if name in PACKED else array


def reference(values: np.ndarray, target: str) -> np.ndarray:
    """What rounding once gives. NumPy and ml_dtypes go through f32 on some paths, and round twice;
    f64 is rounded to odd first, which makes the second rounding exact."""
    if values.dtype == np.float64 and target not in ("f64", "f32"):
        single = values.astype(np.float32)
        back = single.astype(np.float64)
        bits = single.view(np.uint32)
        down = (bits - (np.abs(back) > np.abs(values))) | (back != values)
        values = np.where(np.isnan(values), single, down.astype(np.uint32).view(np.float32))
    elif values.dtype not in (np.float64, np.float32):
        values = values.astype(np.float32)
    return values.astype(NUMPY[target])


@pytest.mark.parametrize(
    ("source", "target"), [pair for pair in itertools.product(NUMPY, NUMPY) if pair[0] != pair[1]]
)
def test_conversion_matches_ml_dtypes(source: str, target: str) -> None:
    values = inputs(source)
    dtype = np.dtype(NUMPY[target])
    if target in PACKED:
        out = kiln.PackedArray.empty(values.shape, target)
        convert(as_argument(values, source), out, B=BLOCK)
        result = out.to_numpy()
    else:
        result = np.full(values.shape, 0x5A, np.uint8).astype(f"u{dtype.itemsize}").view(dtype)
        convert(as_argument(values, source), result, B=BLOCK)

    with np.errstate(all="ignore"):
        expected = reference(values, target)
    word = np.dtype(f"u{dtype.itemsize}")
    same = result.view(word) == expected.view(word)
    if target in ("f64", "f32", "f16", "bf16", "f8e5m2"):  # which NaN is not promised
        with np.errstate(all="ignore"):
            same |= np.isnan(result.astype(np.float64)) & np.isnan(expected.astype(np.float64))
    wrong = np.flatnonzero(~same)
    assert not wrong.size, (
        f"{wrong.size} of {values.size} differ; the first: {values[wrong[0]]!r} gives "
        f"{result[wrong[0]]!r}, expected {expected[wrong[0]]!r}"
    )
