"""Kernels that multiply, most of them of one program, and how their results are judged: what the
tests of GPUs and of emulated chips share."""

from typing import Any

import ml_dtypes
import numpy as np

import kiln


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View, M: kiln.constexpr, N: kiln.constexpr,
    K: kiln.constexpr, TA: kiln.constexpr, TB: kiln.constexpr, P: kiln.constexpr,
):  # fmt: skip
    kiln.grid(1)
    x = a.load((0, 0), (K, M) if TA else (M, K))
    y = b.load((0, 0), (N, K) if TB else (K, N))
    z = c.load((0, 0), (M, N))
    c.store((0, 0), kiln.dot(x, y, z, transpose_a=TA, transpose_b=TB, precision=P))


@kiln.kernel
def plain(
    a: kiln.View, b: kiln.View, c: kiln.View,
    M: kiln.constexpr, N: kiln.constexpr, K: kiln.constexpr,
):  # fmt: skip
    """a · bᵀ in a loop that pins nothing."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], M), kiln.cdiv(c.shape[1], N))
    acc = kiln.zeros((M, N), kiln.f32)
    for k in range(0, a.shape[1], K):
        x = a.load((i * M, k), (M, K))
        y = b.load((j * N, k), (N, K))
        acc = kiln.dot(x, y, acc, transpose_b=True)
    c.store((i * M, j * N), acc.to(c.dtype))


@kiln.kernel
def shared_out(
    a: kiln.View, b: kiln.View, c: kiln.View,
    M: kiln.constexpr, N: kiln.constexpr, K: kiln.constexpr, copies: kiln.constexpr,
    ta: kiln.constexpr, tb: kiln.constexpr, store: kiln.constexpr,
):  # fmt: skip
    """A product of roles, whose copies share out each tile, with operands either way."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], M), kiln.cdiv(c.shape[1], N))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies)))
    acc = kiln.zeros((M, N), kiln.f32)
    for k in kiln.pin(range(0, a.shape[0] if ta else a.shape[1], K), depth=2):
        if ta:
            x = kiln.pin(a.load((k, i * M), (K, M)), role="load", atom="tma")
        else:
            x = kiln.pin(a.load((i * M, k), (M, K)), role="load", atom="tma")
        if tb:
            y = kiln.pin(b.load((j * N, k), (N, K)), role="load", atom="tma")
        else:
            y = kiln.pin(b.load((k, j * N), (K, N)), role="load", atom="tma")
        product = kiln.dot(x, y, acc, transpose_a=ta, transpose_b=tb)
        acc = kiln.pin(product, role="mma", in_flight=1, atom="wgmma")
    stored = c.store((i * M, j * N), acc.to(c.dtype))
    if store:
        kiln.pin(stored, role="mma", in_flight=0, atom="tma")


@kiln.kernel
def finished(
    a: kiln.View, b: kiln.View, c: kiln.View, bias: kiln.View, more: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr,
    BIAS: kiln.constexpr, MORE: kiln.constexpr, RELU: kiln.constexpr, SCALED: kiln.constexpr,
):  # fmt: skip
    """A product in a loop, and what comes behind it."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, a.shape[1], BK):
        x = a.load((i * BM, k), (BM, BK))
        if SCALED:  # the operand goes through registers
            x = (x.to(kiln.f32) * 0.5).to(x.dtype)
        acc = kiln.dot(x, b.load((k, j * BN), (BK, BN)), acc)
    if BIAS:
        acc = acc + bias.load((j * BN,), (BN,)).to(kiln.f32)[None, :]
    if MORE:
        acc = acc + more.load((i * BM, j * BN), (BM, BN)).to(kiln.f32)
    if RELU:
        acc = kiln.maximum(acc, 0.0)
    c.store((i * BM, j * BN), acc.to(c.dtype))


@kiln.kernel
def batched(
    a: kiln.View, b: kiln.View, c: kiln.View, G: kiln.constexpr, M: kiln.constexpr,
    N: kiln.constexpr, K: kiln.constexpr, TB: kiln.constexpr,
):  # fmt: skip
    kiln.grid(1)
    x = a.load((0, 0, 0), (G, M, K))
    y = b.load((0, 0, 0), (G, N, K) if TB else (G, K, N))
    c.store((0, 0, 0), kiln.dot(x, y, transpose_b=TB))


@kiln.kernel
def scaled(
    a: kiln.View, sa: kiln.View, b: kiln.View, sb: kiln.View, c: kiln.View, M: kiln.constexpr,
    N: kiln.constexpr, K: kiln.constexpr, S: kiln.constexpr, TB: kiln.constexpr,
):  # fmt: skip
    kiln.grid(1)
    x = a.load((0, 0), (M, K))
    y = b.load((0, 0), (N, K) if TB else (K, N))
    s = sa.load((0, 0), (M, K // S))
    t = sb.load((0, 0), (N, K // S))
    c.store((0, 0), kiln.dot_scaled(x, s, y, t, transpose_b=TB))


# How far sums may be off: those of f32 are rounded at most once a term.
SINGLE_TOLERANCE = 2.0**-20
BYTE_FLOATS = (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)


def tolerance_of(chip: str, dtype: type) -> float:
    """The matrix units of sm_89 keep 13 bits of sums of f8 (arXiv 2511.10909)."""
    return 2.0**-11 if chip == "sm_89" and dtype in BYTE_FLOATS else SINGLE_TOLERANCE


def assert_sums(got: np.ndarray, want: np.ndarray, terms: np.ndarray, tolerance: float) -> None:
    """By the norm and by the worst element, each beside the sum of its terms' magnitudes."""
    got = got.astype(np.float64)
    assert got.shape == want.shape
    assert np.linalg.norm(got - want) <= tolerance * np.linalg.norm(want)
    assert np.max(np.abs(got - want) / terms) <= tolerance


@kiln.kernel
def packed(
    a: kiln.View, b: kiln.View, c: kiln.View, M: kiln.constexpr, N: kiln.constexpr,
    K: kiln.constexpr, T: kiln.constexpr,
):  # fmt: skip
    """Elements that share bytes, given as these."""
    kiln.grid(1)
    x = kiln.bitcast(a.load((0, 0), (M, K // 2)), T)
    y = kiln.bitcast(b.load((0, 0), (N, K // 2)), T)
    c.store((0, 0), kiln.dot(x, y, transpose_b=True))


@kiln.kernel
def packed_scaled(
    a: kiln.View, sa: kiln.View, b: kiln.View, sb: kiln.View, c: kiln.View, M: kiln.constexpr,
    N: kiln.constexpr, K: kiln.constexpr, S: kiln.constexpr, T: kiln.constexpr,
):  # fmt: skip
    kiln.grid(1)
    x = kiln.bitcast(a.load((0, 0), (M, K // 2)), T)
    y = kiln.bitcast(b.load((0, 0), (N, K // 2)), T)
    s = sa.load((0, 0), (M, K // S))
    t = sb.load((0, 0), (N, K // S))
    c.store((0, 0), kiln.dot_scaled(x, s, y, t, transpose_b=True))


def wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)


def assert_near(found: np.ndarray, want: np.ndarray, limit: float, what: Any = None) -> None:
    """By the norm, and by the worst element: twenty times what one has of it if all are as far off."""
    difference, norm = np.abs(wide(found) - want), np.linalg.norm(want)
    assert np.linalg.norm(difference) <= limit * norm, what
    assert difference.max() <= 20 * limit * norm / want.size**0.5, what
