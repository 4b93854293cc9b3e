"""What the chip computes by its own instructions, against exact references."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_machine import torch

import kiln


@kiln.kernel
def convert(x: kiln.View, y: kiln.View, B: kiln.constexpr = 1024):
    i = kiln.grid(kiln.cdiv(x.shape[0], B))
    y.store((i * B,), x.load((i * B,), (B,)).to(y.dtype))


@kiln.kernel
def erf(x: kiln.View, y: kiln.View, B: kiln.constexpr = 1024):
    i = kiln.grid(kiln.cdiv(x.shape[0], B))
    y.store((i * B,), kiln.erf(x.load((i * B,), (B,))))


def all_halves(dtype: torch.dtype) -> torch.Tensor:
    bits = np.arange(1 << 16, dtype=np.uint16).view(np.int16)
    return torch.from_numpy(bits).view(dtype)


@pytest.mark.parametrize("narrow", ["float8_e4m3fn", "float8_e5m2"])
def test_every_bfloat16_narrows_to_f8_as_ieee_rounds(narrow):
    """PyTorch's own conversion on the host neither saturates nor rounds twice; NaNs by kind."""
    f8 = getattr(torch, narrow)
    x = all_halves(torch.bfloat16).float()
    y = torch.empty(x.shape, dtype=f8, device="cuda")
    convert(x.cuda(), y)
    ours, theirs = y.cpu().view(torch.uint8), x.to(f8).view(torch.uint8)
    isnan = torch.isnan(x.to(f8).float())
    assert torch.equal(ours[~isnan], theirs[~isnan])
    assert torch.isnan(y.cpu().float()[isnan]).all()
    sign = torch.signbit(x).to(torch.uint8) << 7
    assert torch.equal(ours & 0x80, sign)


@pytest.mark.parametrize("narrow", ["float8_e4m3fn", "float8_e5m2"])
def test_every_f8_widens(narrow):
    x = torch.arange(256, dtype=torch.uint8).view(getattr(torch, narrow))
    y = torch.empty(256, device="cuda")
    convert(x.cuda(), y)
    assert torch.equal(torch.nan_to_num(y.cpu(), 12345.0), torch.nan_to_num(x.float(), 12345.0))


def test_erf_is_within_three_ulp():
    seed = np.random.SeedSequence().entropy
    print(f"seed {seed}")
    bits = np.random.default_rng(seed).integers(0, 1 << 32, 1 << 22, dtype=np.uint64)
    x = bits.astype(np.uint32).view(np.float32)
    uniform = np.random.default_rng(seed).uniform(-5, 5, 1 << 22).astype(np.float32)
    x = torch.from_numpy(np.concatenate([x, uniform, np.float32([0.0, -0.0, np.inf, -np.inf])]))
    y = torch.empty(x.shape, device="cuda")
    erf(x.cuda(), y)
    reference = torch.erf(x.double()).numpy()
    ours = y.cpu().numpy()
    assert (np.isnan(ours) == np.isnan(reference)).all()
    assert (np.signbit(ours) == np.signbit(reference))[~np.isnan(reference)].all()
    fine = np.abs(reference) > 1e-37  # below, the chip's results are subnormal
    ulp = np.spacing(np.abs(reference[fine]).astype(np.float32)).astype(np.float64)
    assert np.max(np.abs(ours[fine] - reference[fine]) / ulp) <= 3.0
