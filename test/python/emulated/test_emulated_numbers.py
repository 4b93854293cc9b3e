"""Conversions and mathematics as accelerators compute them, against exact references."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

import kiln

CHIPS = ["sm_80", "sm_90a", "gfx942"]
F8 = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]


@kiln.kernel
def convert(x: kiln.View, y: kiln.View, B: kiln.constexpr = 1024):
    i = kiln.grid(kiln.cdiv(x.shape[0], B))
    y.store((i * B,), x.load((i * B,), (B,)).to(y.dtype))


@kiln.kernel
def erf(x: kiln.View, y: kiln.View, B: kiln.constexpr = 1024):
    i = kiln.grid(kiln.cdiv(x.shape[0], B))
    y.store((i * B,), kiln.erf(x.load((i * B,), (B,))))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("narrow", F8)
def test_bfloat16_narrows_to_f8_bit_for_bit(chip: str, narrow: type) -> None:
    """Every second bfloat16 of the range that f8 has numbers for, and the ends of all others."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    magnitude = bits & 0x7FFF
    bits = bits[((magnitude > 0x3600) & (magnitude < 0x4800)) | (magnitude % 97 == 0)]
    bits = np.concatenate([bits, np.uint16([0x7F80, 0xFF80, 0x7FC0, 0xFFC0, 0, 0x8000])])
    x = bits.view(ml_dtypes.bfloat16).astype(np.float32)
    y = np.zeros(x.shape, narrow)
    convert(x, y, _device=f"emu:{chip}")
    with np.errstate(invalid="ignore"):
        expected = x.astype(narrow)
    assert np.array_equal(y.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("narrow", F8)
def test_every_f8_widens(chip: str, narrow: type) -> None:
    x = np.arange(256, dtype=np.uint8).view(narrow)
    y = np.zeros(256, np.float32)
    convert(x, y, _device=f"emu:{chip}")
    assert np.array_equal(y, x.astype(np.float32), equal_nan=True)


@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
def test_erf_is_within_three_ulp(chip: str, rng) -> None:
    x = rng.uniform(-5, 5, 4096).astype(np.float32)
    x = np.concatenate([x, np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, 1.0, -1.0])])
    y = np.zeros_like(x)
    erf(x, y, _device=f"emu:{chip}")
    reference = np.array([math.erf(v) for v in x.astype(np.float64)])
    assert np.array_equal(np.isnan(y), np.isnan(reference))
    known = ~np.isnan(reference)
    assert np.array_equal(np.signbit(y[known]), np.signbit(reference[known]))
    ulp = np.spacing(np.abs(reference[known]).astype(np.float32)).astype(np.float64)
    assert np.max(np.abs(y[known] - reference[known]) / ulp) <= 3.0
