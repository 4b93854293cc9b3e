"""The matrix products whose decisions are pinned, on emulated chips, against float64.

What loads bring to LDS directly is there only once it was waited for, and a read of it before is an
error; so are races between the two groups of waves.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from pinned import BENCHMARKS, build

import kiln

BF16 = ml_dtypes.bfloat16


def matrix(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Random, with rows that begin at multiples of 16 bytes and numbers behind them."""
    whole = rng.standard_normal((rows, (columns + 15) // 8 * 8)).astype(BF16)
    return whole[:, :columns]


@pytest.fixture(scope="module")
def gfx942():
    return build((BENCHMARKS / "gemm-gfx942.mlir").read_bytes(), "gfx942")


# One tile; ragged along each dimension, and less than one; more tiles than one; K of no trip, one,
# the ring's depth, one more, and no multiple of a tile.
SHAPES = [
    (256, 256, 96), (256, 256, 32), (256, 256, 64), (100, 70, 200), (1, 2, 2), (300, 514, 66),
    (257, 30, 34),
]  # fmt: skip


@pytest.mark.parametrize("m, n, k", SHAPES)
def test_product(gfx942, rng, m: int, n: int, k: int) -> None:
    check(gfx942, rng, m, n, k)


@pytest.fixture(scope="module")
def gfx950():
    return build((BENCHMARKS / "gemm-gfx950.mlir").read_bytes(), "gfx950")


# Its rows hold a multiple of eight columns.
@pytest.mark.parametrize("m, n, k", [(m, n, (k + 7) // 8 * 8) for m, n, k in SHAPES])
def test_wide_product(gfx950, rng, m: int, n: int, k: int) -> None:
    check(gfx950, rng, m, n, k)


@pytest.mark.parametrize("kernel, multiple", [("gfx942", 2), ("gfx950", 8)])
def test_a_product_over_nothing_is_refused(request, rng, kernel: str, multiple: int) -> None:
    """The kernels promise rows of positive multiples, from which their code starts."""
    message = f"expected an extent that is a positive multiple of {multiple} along dimension 1"
    with pytest.raises(kiln.LaunchError, match=message):
        check(request.getfixturevalue(kernel), rng, 16, 16, 0)


def check(kernel, rng: np.random.Generator, m: int, n: int, k: int, pad: int = 6) -> None:
    a, b = matrix(rng, m, k), matrix(rng, n, k)
    c = np.full((m, n + pad), np.nan, BF16)
    kernel(a, b, c[:, :n])
    want = a.astype(np.float64) @ b.astype(np.float64).T
    difference = np.abs(c[:, :n].astype(np.float64) - want)
    norm = np.linalg.norm(want)
    assert np.linalg.norm(difference) <= 4e-3 * norm
    assert difference.max(initial=0) <= 0.04 * norm / max(want.size, 1) ** 0.5
    assert np.isnan(c[:, n:].astype(np.float64)).all(), "expected nothing beyond the last column"


@pytest.fixture(scope="module")
def hopper():
    return build((BENCHMARKS / "gemm.mlir").read_bytes(), "sm_90a")


# The engine stores pieces of 16 bytes, so rows of the result have a multiple of 8 columns.
@pytest.mark.parametrize(
    "m, n, k", [(128, 256, 64), (100, 72, 200), (300, 520, 328), (16, 16, 2), (8, 8, 0)]
)
def test_product_by_warp_groups(hopper, rng, m: int, n: int, k: int) -> None:
    check(hopper, rng, m, n, k, pad=8)


@pytest.fixture(scope="module", params=["sm_100a", "sm_103a"])
def blackwell(request):
    source = (BENCHMARKS / "gemm-sm_100a.mlir").read_bytes()
    return build(source.replace(b'"sm_100a"', f'"{request.param}"'.encode()), request.param)


# No trip of k, fewer than slots, and several rounds; one tile, ragged ones, and several.
@pytest.mark.parametrize(
    "m, n, k", [(128, 256, 64), (100, 72, 200), (300, 520, 328), (16, 16, 2), (8, 8, 0)]
)
def test_product_into_tensor_memory(blackwell, rng, m: int, n: int, k: int) -> None:
    check(blackwell, rng, m, n, k, pad=8)
