"""The functions that are composed of others: statistics, activations, bits, matrices."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tiles import assert_close, run

import kiln

SHAPES = [(1, 1), (3, 5), (8, 64), (7, 33)]


def applied(
    function, *inputs: np.ndarray, out: tuple[tuple[int, ...], str], **constants
) -> np.ndarray:
    """`function` of whole tiles of the inputs, stored to one output."""
    arrays = [np.ascontiguousarray(x) for x in inputs]
    result = np.zeros(*out)
    run(
        KERNELS[len(inputs)], *arrays, result, F=function, SHAPE=inputs[0].shape, OUT=out[0],
        **constants,
    )  # fmt: skip
    return result


@kiln.kernel
def of_one(
    x: kiln.View, y: kiln.View, F: kiln.constexpr, SHAPE: kiln.constexpr, OUT: kiln.constexpr
):
    kiln.grid(1)
    value = F(x.load((0,) * len(SHAPE), SHAPE))
    y.store((0,) * len(OUT), kiln.broadcast_to(value, OUT))


@kiln.kernel
def of_two(
    a: kiln.View,
    b: kiln.View,
    y: kiln.View,
    F: kiln.constexpr,
    SHAPE: kiln.constexpr,
    OUT: kiln.constexpr,
):
    kiln.grid(1)
    zeros = (0,) * len(SHAPE)
    y.store(zeros, F(a.load(zeros, SHAPE), b.load(zeros, SHAPE)))


KERNELS = {1: of_one, 2: of_two}


def kept(shape: tuple[int, ...], axis: int | None) -> tuple[int, ...]:
    return tuple(1 if axis is None or d == axis % len(shape) else n for d, n in enumerate(shape))


@kiln.function
def mean_of(x):
    return kiln.mean(x, axis=1, keepdims=True)


@kiln.function
def mean_of_all(x):
    return x.mean(keepdims=True)


@kiln.function
def sample_variance(x):
    return kiln.var(x, 1, ddof=1, keepdims=True)


@kiln.function
def deviation(x):
    return x.std(axis=0, keepdims=True)


@kiln.function
def lse(x):
    return kiln.logsumexp(x, 1, keepdims=True)


@pytest.mark.parametrize("shape", SHAPES)
def test_means_and_deviations(shape, rng) -> None:
    """Against float64, far from zero too: two passes lose no digits to a large mean."""
    x = (rng.standard_normal(shape) + 1000).astype(np.float32)
    wide = x.astype(np.float64)
    got = applied(mean_of, x, out=(kept(shape, 1), "f4"))
    assert_close(got, wide.mean(1, keepdims=True), 1e-6)
    got = applied(mean_of_all, x, out=(kept(shape, None), "f4"))
    assert_close(got, wide.mean(keepdims=True), 1e-6)
    got = applied(deviation, x, out=(kept(shape, 0), "f4"))
    assert np.allclose(got, wide.std(0, keepdims=True), rtol=1e-3, atol=1e-3)
    if shape[1] > 1:
        got = applied(sample_variance, x, out=(kept(shape, 1), "f4"))
        assert np.allclose(got, wide.var(1, ddof=1, keepdims=True), rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint16])
def test_means_of_integers_do_not_wrap(dtype, rng) -> None:
    top = np.iinfo(dtype).max
    x = rng.integers(top - 5, top, (4, 64), dtype)
    got = applied(mean_of, x, out=((4, 1), "f4"))
    assert_close(got, x.astype(np.float64).mean(1, keepdims=True), 1e-6)


def soft(x: np.ndarray, axis: int) -> np.ndarray:
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


@pytest.mark.parametrize("shape", SHAPES)
def test_soft_maxima(shape, rng) -> None:
    x = (rng.standard_normal(shape) * 20).astype(np.float32)
    wide = x.astype(np.float64)
    assert_close(applied(kiln.softmax, x, out=(shape, "f4")), soft(wide, 1), 1e-5)
    logs = wide - wide.max(1, keepdims=True)
    logs = logs - np.log(np.exp(logs).sum(1, keepdims=True))
    got = applied(kiln.log_softmax, x, out=(shape, "f4"))
    assert np.allclose(got, logs, rtol=1e-5, atol=2e-5)
    got = applied(lse, x, out=(kept(shape, 1), "f4"))
    sums = wide.max(1, keepdims=True) + np.log(
        np.exp(wide - wide.max(1, keepdims=True)).sum(1, keepdims=True)
    )
    assert np.allclose(got, sums, rtol=1e-5, atol=2e-5)


def test_soft_maxima_of_infinities() -> None:
    """Nothing overflows, and a row without a number above minus infinity sums to nothing."""
    x = np.array([[3e38, 0.0, -np.inf], [-np.inf] * 3, [np.inf, 0.0, 1.0]], np.float32)
    assert np.array_equal(applied(kiln.softmax, x, out=((3, 3), "f4"))[0], [1, 0, 0])
    got = applied(lse, x, out=((3, 1), "f4"))
    assert np.array_equal(got[:, 0], np.array([3e38, -np.inf, np.inf], np.float32))


def test_soft_maxima_keep_the_dtype(rng) -> None:
    x = rng.standard_normal((4, 32)).astype(np.float16)
    got = applied(kiln.softmax, x, out=((4, 32), "f2"))
    assert np.allclose(got, soft(x.astype(np.float64), 1), rtol=2**-10, atol=1e-7)


@kiln.function
def gelu_by_tanh(x):
    return kiln.gelu(x, approximate="tanh")


def test_activations(rng) -> None:
    x = np.concatenate([rng.standard_normal(200) * 4, [0.0, -0.0, -9.0, 9.0]]).astype(np.float32)
    wide = x.astype(np.float64)
    assert np.array_equal(applied(kiln.relu, x, out=(x.shape, "f4")), np.maximum(x, 0))
    exact = np.array([0.5 * v * math.erfc(-v / math.sqrt(2)) for v in wide])
    # One rounding of v / sqrt(2) changes erfc by v^2 times as much; below 2^-126 bits are lost.
    bound = (2e-6 + wide**2 * 2.0**-22) * np.abs(exact) + np.abs(wide) * 2.0**-148
    assert (np.abs(applied(kiln.gelu, x, out=(x.shape, "f4")) - exact) <= bound).all()
    bent = 0.5 * wide * (1 + np.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)))
    assert np.allclose(applied(gelu_by_tanh, x, out=(x.shape, "f4")), bent, rtol=1e-5, atol=1e-6)
    assert np.allclose(
        applied(kiln.silu, x, out=(x.shape, "f4")), wide / (1 + np.exp(-wide)), rtol=1e-5, atol=0
    )


def test_activations_of_nan_and_infinity() -> None:
    x = np.array([np.nan, np.inf, -3e38], np.float32)
    for function in (kiln.relu, kiln.gelu, kiln.silu):
        got = applied(function, x, out=((3,), "f4"))
        assert np.isnan(got[0]) and got[1] == np.inf and got[2] == 0


def test_kinds_of_numbers() -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -3.5, 3e38], np.float32)
    for dtype in (np.float32, np.float64, np.float16):
        with np.errstate(over="ignore"):
            values = x.astype(dtype)
        for function, reference in (
            (kiln.isnan, np.isnan),
            (kiln.isinf, np.isinf),
            (kiln.isfinite, np.isfinite),
        ):
            assert np.array_equal(applied(function, values, out=((8,), "?")), reference(values))
        got = applied(kiln.sign, values, out=((8,), dtype))
        assert np.array_equal(got, np.sign(values), equal_nan=True)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, np.int64])
def test_kinds_of_integers(dtype, rng) -> None:
    info = np.iinfo(dtype)
    x = np.append(rng.integers(info.min, info.max, 30, dtype, endpoint=True), [0, info.min]).astype(
        dtype
    )
    assert np.array_equal(applied(kiln.sign, x, out=(x.shape, dtype)), np.sign(x))
    assert applied(kiln.isfinite, x, out=(x.shape, "?")).all()
    assert not applied(kiln.isinf, x, out=(x.shape, "?")).any()


INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bits(dtype, rng) -> None:
    info, bits = np.iinfo(dtype), 8 * np.dtype(dtype).itemsize
    ends = np.array([0, 1, info.max, info.min], dtype)
    x = np.concatenate([rng.integers(info.min, info.max, 60, dtype, endpoint=True), ends])
    words = [int(v) % (1 << bits) for v in x]
    expected = {
        kiln.popcount: [v.bit_count() for v in words],
        kiln.clz: [bits - v.bit_length() for v in words],
        kiln.ctz: [(v & -v).bit_length() - 1 if v else bits for v in words],
    }
    for function, reference in expected.items():
        assert applied(function, x, out=(x.shape, "i4")).tolist() == reference
    turned = [int(f"{v:0{bits}b}"[::-1], 2) for v in words]
    got = applied(kiln.bitreverse, x, out=(x.shape, dtype))
    assert [int(v) % (1 << bits) for v in got] == turned


@pytest.mark.parametrize("dtype", INTEGERS)
def test_high_halves_of_products(dtype, rng) -> None:
    info, bits = np.iinfo(dtype), 8 * np.dtype(dtype).itemsize
    ends = np.array([0, 1, info.max, info.min], dtype)
    a, b = (
        np.concatenate([rng.integers(info.min, info.max, 60, dtype, endpoint=True), one])
        for one in (ends, ends[::-1])
    )
    got = applied(kiln.mulhi, a, b, out=(a.shape, dtype))
    assert got.tolist() == [int(x) * int(y) >> bits for x, y in zip(a, b, strict=True)]


@kiln.function
def lower(x):
    return kiln.tril(x, diagonal=1)


@kiln.function
def upper(x):
    return kiln.triu(x, -1)


@kiln.function
def beside_identity(x):
    return x + kiln.eye(x.shape[0], x.shape[1], dtype=x.dtype)


@kiln.function
def likes(x):
    return kiln.zeros_like(x) + kiln.ones_like(x, dtype=kiln.f32) * kiln.full_like(x, 2.5)


@pytest.mark.parametrize("shape", [(1, 1), (8, 8), (5, 9), (16, 3)])
def test_triangles(shape, rng) -> None:
    x = rng.standard_normal(shape).astype(np.float32)
    assert np.array_equal(applied(lower, x, out=(shape, "f4")), np.tril(x, 1))
    assert np.array_equal(applied(upper, x, out=(shape, "f4")), np.triu(x, -1))
    got = applied(beside_identity, x, out=(shape, "f4"))
    assert np.array_equal(got, x + np.eye(*shape, dtype=np.float32))
    assert (applied(likes, x, out=(shape, "f4")) == 2.5).all()


@kiln.kernel
def squeezed(x: kiln.View, y: kiln.View):
    kiln.grid(1)
    tile = x.load((0, 0, 0), (1, 8, 1))
    y.store((0,), kiln.squeeze(tile) + tile.squeeze(axis=0)[:, 0] + tile.squeeze((0, 2)))


def test_squeezed(rng) -> None:
    x = rng.standard_normal((1, 8, 1)).astype(np.float32)
    y = np.zeros(8, np.float32)
    run(squeezed, x, y)
    assert np.array_equal(y, 3 * x.reshape(8))


@kiln.kernel
def walked(order: kiln.View, G: kiln.constexpr):
    i, j = kiln.grid(order.shape[0], order.shape[1])
    a, b = kiln.swizzle2d(i, j, order.shape[0], order.shape[1], G)
    order[a, b] = (i * order.shape[1] + j).to(kiln.i64)


@pytest.mark.parametrize("shape", [(1, 1), (8, 4), (7, 5), (3, 9)])
@pytest.mark.parametrize("group", [1, 2, 3, 16])
def test_swizzled_grids_visit_each_position_once(shape, group) -> None:
    """Numbers go down the columns of a group of rows, then on to the next group."""
    order = np.full(shape, -1, np.int64)
    run(walked, order, G=group)
    rows = range(0, shape[0], group)
    expected = np.concatenate([order[first : first + group].T.ravel() for first in rows])
    assert expected.tolist() == list(range(shape[0] * shape[1]))


@kiln.kernel
def constants(y: kiln.View):
    kiln.grid(1)
    BLOCK: kiln.constexpr = kiln.next_power_of_2(5)
    y.store((0,), kiln.full((BLOCK,), kiln.pi) + kiln.sign(-2.0))
    y[1] = kiln.inf
    y[2] = kiln.nan
    y[3] = kiln.gelu(1.0) + kiln.silu(0.0) + kiln.relu(-1.0)


def test_constants() -> None:
    y = np.zeros(8, np.float32)
    run(constants, y)
    assert y[0] == np.float32(math.pi - 1) and y[1] == np.inf and np.isnan(y[2])
    assert abs(y[3] - 0.8413447) < 1e-6
    assert [kiln.next_power_of_2(n) for n in (0, 1, 2, 3, 1024, 1025)] == [1, 1, 2, 4, 1024, 2048]
