"""Kernels that multiply, most of them of one program, and how their results are judged: what the
tests of GPUs and of emulated chips share."""

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
