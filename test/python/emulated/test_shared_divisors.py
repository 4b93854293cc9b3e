"""Divisions of a row by one number, which go by its reciprocal, to the bit."""

import numpy as np
import pytest

import kiln

CHIPS = ["emu:sm_90a", "emu:gfx942"]
WIDTH = 4096


@kiln.kernel
def divide(x: kiln.View, y: kiln.View, out: kiln.View, B: kiln.constexpr, SIGNED: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    row = x.load((i, 0), (1, B))
    if not SIGNED:
        row = kiln.abs(row)
    out.store((i, 0), row / y[i])


def check(chip: str, x: np.ndarray, y: np.ndarray, signed: bool) -> None:
    out = np.empty_like(x)
    divide.options(device=chip)(x, y, out, B=x.shape[1], SIGNED=signed)
    with np.errstate(all="ignore"):
        want = (x if signed else np.abs(x)) / y[:, None]
    same = (out.view(np.uint32) == want.view(np.uint32)) | (np.isnan(out) & np.isnan(want))
    assert same.all(), [
        (float(x[at]).hex(), float(y[at[0]]).hex(), float(out[at]).hex(), float(want[at]).hex())
        for at in map(tuple, np.argwhere(~same)[:4])
    ]


def random_bits(rng, count: int) -> np.ndarray:
    return rng.integers(0, 1 << 32, count, dtype=np.uint32).view(np.float32)


def of_all_sizes(rng) -> np.ndarray:
    """Each exponent, powers of two and others; zeros, infinities, no numbers; the first and last
    numbers of each kind."""
    powers = np.ldexp(np.float32(1), np.arange(-149, 128)).astype(np.float32)
    others = powers * rng.uniform(1, 2, len(powers)).astype(np.float32)
    info = np.finfo(np.float32)
    ends = [0, np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal,
            np.nextafter(info.tiny, np.float32(0)), np.nextafter(np.float32(2), np.float32(0))]  # fmt: skip
    sizes = np.concatenate([powers, others, np.array(ends, np.float32)])
    return np.concatenate([sizes, -sizes])


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("chip", CHIPS)
def test_quotients_of_all_sizes(chip, signed, rng):
    """One element beside usual ones takes them all another way, so rows are of one size as well."""
    y = of_all_sizes(rng)
    mixed = np.resize(of_all_sizes(rng), (len(y), WIDTH))
    check(chip, mixed, y, signed)
    alone = np.repeat(of_all_sizes(rng), WIDTH // 8)[: len(y) * WIDTH // 8]
    for divisor in (1.0, 3.0, -3.0, 1e-38, 2.5e-39, 1e38, 6e7):
        x = alone.reshape(-1, WIDTH // 8)
        check(chip, x, np.full(len(x), divisor, np.float32), signed)


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("chip", CHIPS)
def test_quotients_at_random(chip, signed, rng):
    """A row's quotients have its own exponent, often one near the ends of what goes by products."""
    rows = 512
    y = np.ldexp(rng.uniform(1, 2, rows), rng.integers(-130, 128, rows)).astype(np.float32)
    exponents = rng.integers(-130, 128, (rows, 1)) + rng.integers(0, 3, (rows, WIDTH))
    x = np.ldexp(rng.uniform(-1, 1, (rows, WIDTH)), exponents - 1).astype(np.float32)
    x[:, rng.integers(0, WIDTH, 64)] = 0
    x[::2, rng.integers(0, WIDTH, 64)] = -0.0
    check(chip, x, y, signed)
    check(chip, random_bits(rng, rows * WIDTH).reshape(rows, WIDTH), y, signed)


@pytest.mark.parametrize("chip", CHIPS)
def test_quotients_beside_the_middle_of_two_numbers(chip, rng):
    """Of a divisor of 24 bits those dividends whose quotients lie next to a middle: x·2^k is
    m·y + j for small odd j, where m, of 25 bits, is odd. An inverse of y gives m."""
    rows, count = 1024, 1024
    divisors = rng.integers(1 << 22, 1 << 23, rows, dtype=np.int64) * 2 + 1
    divisors[:8] = (1 << 24) - 1 - 2 * np.arange(8)
    j = np.arange(-count + 1, count, 2, dtype=np.int64)
    inverse = np.array([pow(int(y), -1, 1 << 25) for y in divisors])[:, None]
    found = []
    for k in (24, 25):  # of a dividend above the divisor, and below
        m = (-j * inverse) % (1 << k)
        m = m + (1 << 24) if k == 24 else m
        x = m * divisors[:, None] + j
        fits = (m >= 1 << 24) & (x % (1 << k) == 0)
        x >>= k
        fits &= (x >= 1 << 23) & (x < 1 << 24)
        assert fits.mean() > 0.2
        found.append(np.where(fits, x, divisors[:, None]))
    x = np.concatenate(found, 1).astype(np.float32)
    check(chip, x, divisors.astype(np.float32), signed=True)
    check(chip, np.ldexp(x, -30), np.ldexp(divisors.astype(np.float32), 3), signed=False)
