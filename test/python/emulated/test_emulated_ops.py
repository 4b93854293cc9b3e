"""Ops beyond arithmetic on emulated chips, against NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

CHIPS = ["sm_90a", "gfx942", "gfx1201"]


@kiln.kernel
def running(x: kiln.View, y: kiln.View, M: kiln.constexpr, N: kiln.constexpr, A: kiln.constexpr):
    kiln.grid(1)
    y.store((0, 0), kiln.cumsum(x.load((0, 0), (M, N)), axis=A))


@kiln.kernel
def ordered(x: kiln.View, y: kiln.View, M: kiln.constexpr, N: kiln.constexpr, D: kiln.constexpr):
    kiln.grid(1)
    y.store((0, 0), kiln.sort(x.load((0, 0), (M, N)), axis=1, descending=D))


@kiln.kernel
def ranked(
    x: kiln.View, sorted, top, best, M: kiln.constexpr, N: kiln.constexpr, D: kiln.constexpr
):
    i = kiln.grid(1)
    t = x.load((i, 0), (M, N))
    at = kiln.broadcast_to(kiln.arange(N)[None, :], (M, N)).to(kiln.i32)
    sorted.store((0, 0), kiln.sort(t, at, axis=1, descending=D)[1])
    top.store((0, 0), kiln.topk(t, 9, axis=1, largest=D)[1])
    best.store(0, t.argmax(1) if D else t.argmin(1))


@kiln.kernel
def counted(x: kiln.View, bins: kiln.View, N: kiln.constexpr):
    i = kiln.grid(kiln.cdiv(x.shape[0], N))
    h = kiln.histogram(x.load((i * N,), (N,), pad=-1), 32)
    kiln.atomic_add(bins, (kiln.arange(32),), h)


@kiln.kernel
def picked(x: kiln.View, at: kiln.View, y: kiln.View, N: kiln.constexpr):
    kiln.grid(1)
    i = at.load((0,), (N,))
    y.store((0,), kiln.gather(x, (i,), mask=i != 3, pad=7))


@kiln.kernel
def copied(x: kiln.View, y: kiln.View, M: kiln.constexpr, N: kiln.constexpr):
    i, j = kiln.grid(kiln.cdiv(x.shape[0], M), kiln.cdiv(x.shape[1], N))
    y.store((i * M, j * N), x.load((i * M, j * N), (M, N)))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("shape", [(1, 2048), (8, 256), (64, 32), (2, 1)])
@pytest.mark.parametrize("axis", [0, 1])
def test_running_sums(chip: str, shape: tuple[int, int], axis: int, rng) -> None:
    x = rng.integers(-1000, 1000, shape, np.int32)
    y = np.zeros_like(x)
    running(x, y, M=shape[0], N=shape[1], A=axis, _device=f"emu:{chip}")
    assert np.array_equal(y, np.cumsum(x, axis=axis, dtype=np.int32))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("shape", [(1, 1024), (16, 64), (4, 1)])
@pytest.mark.parametrize("descending", [False, True])
def test_sorted_rows(chip: str, shape: tuple[int, int], descending: bool, rng) -> None:
    x = rng.standard_normal(shape).astype(np.float32)
    y = np.zeros_like(x)
    ordered(x, y, M=shape[0], N=shape[1], D=descending, _device=f"emu:{chip}")
    want = np.sort(x, axis=1)
    assert np.array_equal(y, want[:, ::-1] if descending else want)


@pytest.mark.parametrize("device", ["cpu", *(f"emu:{chip}" for chip in CHIPS)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.float8_e5m2, np.float64])
@pytest.mark.parametrize("descending", [False, True])
def test_equal_keys_keep_their_order(device: str, dtype: type, descending: bool, rng) -> None:
    """-0 equals +0 wherever elements are put in order, as NumPy has it; every NaN is last."""
    x = rng.integers(-2, 3, (4, 64)).astype(dtype)
    x[2] = np.where(rng.random(64) < 0.5, 0.0, -0.0)
    x[3] = np.where(rng.random(64) < 0.3, np.nan, x[3])
    x[(x == 0) & (rng.random(x.shape) < 0.5)] = -0.0
    at, top, best = np.zeros(x.shape, np.int32), np.zeros((4, 9), np.int32), np.zeros(4, np.int32)
    ranked(x, at, top, best, M=4, N=64, D=descending, _device=device)
    values = x.astype(np.float64)
    order = np.argsort(-values if descending else values, axis=1, kind="stable")
    assert np.array_equal(at, order)
    assert np.array_equal(top, order[:, :9])
    assert np.array_equal(best, values.argmax(1) if descending else values.argmin(1))


@pytest.mark.parametrize("chip", CHIPS)
def test_histograms_of_programs_add_up(chip: str, rng) -> None:
    x = rng.integers(-4, 40, 1000, np.int32)
    bins = np.zeros(32, np.int32)
    counted(x, bins, N=256, _device=f"emu:{chip}")
    assert np.array_equal(bins, np.bincount(x[(x >= 0) & (x < 32)], minlength=32))


@pytest.mark.parametrize("chip", CHIPS)
def test_masked_and_outer_elements_are_padding(chip: str, rng) -> None:
    x = rng.integers(0, 100, 50, np.int32)
    at = rng.integers(-10, 60, 64, np.int32)
    y = np.zeros(64, np.int32)
    picked(x, at, y, N=64, _device=f"emu:{chip}")
    inside = (at >= 0) & (at < 50) & (at != 3)
    assert np.array_equal(y, np.where(inside, x[np.clip(at, 0, 49)], 7))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("dtype", [ml_dtypes.int4, ml_dtypes.int2, ml_dtypes.float6_e2m3fn])
def test_packed_elements_are_copied(chip: str, dtype: type, rng) -> None:
    """Tiles reach beyond both edges; what lies there is left alone."""
    x = rng.integers(-2, 2, (5, 24)).astype(dtype)
    given = kiln.PackedArray.from_numpy(x)
    out = kiln.PackedArray.from_numpy(np.zeros((5, 24), dtype))
    copied(given, out, M=4, N=16, _device=f"emu:{chip}")
    assert np.array_equal(out.to_numpy().astype(np.float32), x.astype(np.float32))


GREATEST = """
tile.kernel @greatest(%x: !tile.view<8x64xf32>, %y: !tile.view<8xf32>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.view<8x64xf32> -> tensor<8x64xf32>
  %m = tile.reduce %t axis = 1 : tensor<8x64xf32> -> tensor<8xf32> {
  ^bb0(%l: f32, %r: f32):
    %g = arith.maxnumf %l, %r : f32
    tile.yield %g : f32
  }
  tile.store %m, %y[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}
"""


@pytest.mark.parametrize("chip", CHIPS)
def test_lanes_agree_on_the_greatest_of_zeros_and_of_nans(chip: str, rng) -> None:
    """All lanes store the row's result: were their bits not the same, that would be a race."""
    from kiln import _native

    x = np.where(rng.random((8, 64)) < 0.5, np.float32(0.0), np.float32(-0.0))
    x[4:] = (rng.integers(1, 1 << 22, (4, 64), np.uint32) | np.uint32(0x7FC00000)).view(np.float32)
    y = np.zeros(8, np.float32)
    device = _native.Device.open(f"emu:{chip}")
    request = {"source": GREATEST.encode(), "target": device.target, "isolation": 0}
    device.load(_native.compile(None, None, request)[0]).launch("greatest", [x, y])
    assert np.array_equal(y[:4].view(np.uint32), np.zeros(4, np.uint32))
    assert np.isnan(y[4:]).all()
