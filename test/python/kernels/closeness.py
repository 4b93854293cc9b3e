"""What tests of kiln.ops compare with, and the chips that they run on."""

from __future__ import annotations

import ml_dtypes
import numpy as np

BF16 = ml_dtypes.bfloat16
F8 = ml_dtypes.float8_e4m3fn
CHIPS = ["sm_90a", "sm_80", "gfx942"]
# Half of the last place of a result's dtype, and what sums in f32 lose besides.
TOLERANCE = {
    np.dtype(np.float64): 1e-13, np.dtype(np.float32): 2e-6, np.dtype(np.float16): 1e-3,
    np.dtype(BF16): 4e-3, np.dtype(F8): 4e-2,
}  # fmt: skip


def wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)


def check(got: np.ndarray, want: np.ndarray, tolerance: float | None = None) -> None:
    """By norm, and the worst element by what numbers of that norm have on average."""
    assert got.shape == want.shape
    if got.dtype.kind in "iu":
        assert np.array_equal(got, want)
        return
    tolerance = TOLERANCE[got.dtype] if tolerance is None else tolerance
    difference = np.abs(wide(got) - want)
    assert np.isfinite(difference).all()
    if not want.size:
        return
    norm = np.linalg.norm(want.ravel())
    assert np.linalg.norm(difference.ravel()) <= tolerance * norm + 1e-30
    assert difference.max() <= 64 * tolerance * norm / np.sqrt(want.size) + 1e-30
