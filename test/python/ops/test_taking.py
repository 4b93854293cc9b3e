"""Elements at computed positions of tiles, reversed and rolled tiles, reductions over several axes
with positions, products that broadcast: against NumPy."""

import ml_dtypes
import numpy as np
import pytest
from tiles import NUMPY, apply, assert_close, bits, run, tensor

import kiln


def taken(x: np.ndarray, at: np.ndarray, axis: int, outside=0) -> np.ndarray:
    """`numpy.take_along_axis`, with what stands for positions outside."""
    valid = (at >= 0) & (at < x.shape[axis])
    found = np.take_along_axis(x, np.where(valid, at, 0), axis)
    return np.where(valid, found, np.asarray(outside, x.dtype))


@pytest.mark.parametrize("element", ["f32", "i8", "bf16", "i1", "i4", "f64", "f8E8M0FNU"])
@pytest.mark.parametrize("shape, wanted, axis", [
    ((8, 16), (8, 32), 1), ((16, 8), (4, 8), 0), ((5, 7, 3), (5, 11, 3), 1), ((33,), (9,), 0),
])  # fmt: skip
def test_take(rng, element, shape, wanted, axis):
    """Outside of the tile all bits are zero; tiles of any extents."""
    x = rng.integers(0, 2 if element == "i1" else 7, shape).astype(NUMPY[element])
    at = rng.integers(-3, shape[axis] + 3, wanted).astype(np.int32)
    types = f"{tensor(shape, element)}, {tensor(wanted, 'i32')} -> {tensor(wanted, element)}"
    body = f"%r = tile.take %x[%i] axis = {axis} : {types}"
    got = apply(body, {"x": x, "i": at}, {"r": (wanted, element)})
    valid = (at >= 0) & (at < shape[axis])
    want = np.take_along_axis(x, np.where(valid, at, 0), axis)
    assert np.array_equal(bits(got)[valid], bits(want)[valid])
    assert not bits(got)[~valid].any()


@kiln.kernel
def gathered(x: kiln.View, i: kiln.View, y: kiln.View, M: kiln.constexpr, N: kiln.constexpr,
             K: kiln.constexpr):  # fmt: skip
    kiln.grid(1)
    a, at = x.load((0, 0), (M, N)), i.load((0, 0), (M, K))
    y.store((0, 0), kiln.gather(a, at, 1))
    y.store((M, 0), (a * 2).gather(at[0:1, :], axis=1))
    y.store((2 * M, 0), kiln.gather(a[1:2, :], at, axis=-1, pad=-5))
    y.store((3 * M, 0), kiln.gather(a + 1, at, axis=1, mask=at != 2, pad=9))


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint8, np.uint32])
def test_gather_of_a_tile(rng, kind):
    m, n, k = 8, 13, 16
    x = rng.integers(-99, 99, (m, n)).astype(np.float32)
    low = 0 if kind in (np.uint8, np.uint32) else -3
    at = rng.integers(low, n + 4, (m, k)).astype(kind)
    if kind is np.int64:
        at[0, :3] = (2**32, -(2**32), 2**32 + 1)
    if kind is np.uint32:
        at[0, :2] = (2**31, 2**32 - 1)
    y = np.zeros((4 * m, k), np.float32)
    run(gathered, x, at, y, M=m, N=n, K=k)
    at = at.astype(np.int64)
    every = np.broadcast_to(at[0:1], at.shape)
    masked = taken(x + 1, np.where(at == 2, -1, at), 1, 9)
    row = np.broadcast_to(x[1:2], x.shape)
    want = [taken(x, at, 1), taken(x * 2, every, 1), taken(row, at, 1, -5), masked]
    assert np.array_equal(y, np.concatenate(want))


@kiln.kernel
def turned(x: kiln.View, y: kiln.View, s: kiln.i32, M: kiln.constexpr, N: kiln.constexpr):
    kiln.grid(1)
    t = x.load((0, 0), (M, N))
    y.store((0, 0, 0), kiln.flip(t, axis=0)[None])
    y.store((1, 0, 0), t.flip()[None])
    y.store((2, 0, 0), t[:, ::-1][None])
    y.store((3, 0, 0), kiln.roll(t, 3, axis=1)[None])
    y.store((4, 0, 0), kiln.roll(t, -1)[None])
    y.store((5, 0, 0), t.roll(s, 0)[None])
    y.store((6, 0, 0), kiln.roll(t, (s, 2), axis=(1, 0))[None])
    y.store((7, 0, 0), t[1::2, N - 1 : 2 : -3][None])


@pytest.mark.parametrize("shape", [(8, 16), (5, 12)])
@pytest.mark.parametrize("s", [0, 3, -7, 1000003])
def test_flips_rolls_and_steps(rng, shape, s):
    x = rng.integers(-99, 99, shape, np.int32)
    y, want = np.zeros((8, *shape), np.int32), np.zeros((8, *shape), np.int32)
    run(turned, x, y, s, M=shape[0], N=shape[1])
    want[0], want[1], want[2] = x[::-1], x[::-1, ::-1], x[:, ::-1]
    want[3], want[4], want[5] = np.roll(x, 3, 1), np.roll(x, -1), np.roll(x, s, 0)
    want[6] = np.roll(x, (s, 2), (1, 0))
    last = x[1::2, shape[1] - 1 : 2 : -3]
    want[7, : last.shape[0], : last.shape[1]] = last
    assert np.array_equal(y, want)


@kiln.kernel
def over_axes(x: kiln.View, y: kiln.View, z: kiln.View, A: kiln.constexpr, B: kiln.constexpr,
              C: kiln.constexpr):  # fmt: skip
    kiln.grid(1)
    t = x.load((0, 0, 0), (A, B, C))
    y[0, 0:B] = kiln.sum(t, axis=(0, 2))
    y[1, 0:B] = t.max(axis=(2, 0))
    y[2, 0:C] = kiln.min(t, axis=(0, 1), keepdims=True)[0, 0]
    y[3, 0:A] = kiln.prod(t * 0.25, axis=(1, -1))
    y[4, 0:C] = kiln.any(t > 2, axis=(0, 1)).to(kiln.f32)
    y[5, 0:C] = kiln.all(t > -2, axis=(0, 1)).to(kiln.f32)
    y[6, 0] = t.sum(axis=(0, 1, 2))
    y[7, 0:B] = kiln.reduce(t, (0, 2), lambda a, b: kiln.maximum(a, b))
    values, at = kiln.max(t, axis=1, return_indices=True)
    z.store((0, 0), at)
    z[8, 0:A] = kiln.argmin(t, axis=(1, 2))
    y[8, 0:C] = values[0]
    least, where = t.min(axis=(0, 2), keepdims=True, return_indices=True)
    z[9, 0:B] = where[0, :, 0]
    y[9, 0:B] = least[0, :, 0]
    whole, place = t.max(return_indices=True)
    y[10, 0] = whole
    z[10, 0] = place


@pytest.mark.parametrize("shape", [(4, 8, 16), (3, 5, 6)])
def test_reductions_over_several_axes(rng, shape):
    x = (rng.integers(-4, 5, shape)).astype(np.float32)
    a, b, c = shape
    y, z = np.zeros((11, 16), np.float32), np.full((11, 16), -1, np.int32)
    run(over_axes, x, y, z, A=a, B=b, C=c)
    want, at = np.zeros_like(y), np.full_like(z, -1)
    want[0, :b], want[1, :b], want[2, :c] = x.sum((0, 2)), x.max((0, 2)), x.min((0, 1))
    want[3, :a] = np.prod(x * np.float32(0.25), (1, 2))
    want[4, :c], want[5, :c] = (x > 2).any((0, 1)), (x > -2).all((0, 1))
    want[6, 0], want[7, :b], want[8, :c] = x.sum(), x.max((0, 2)), x[0].max(0)
    want[9, :b], want[10, 0] = x.min((0, 2)), x.max()
    at[:a, :c] = x.argmax(1)
    at[8, :a] = x.reshape(a, -1).argmin(1)
    at[9, :b], at[10, 0] = x.transpose(1, 0, 2).reshape(b, -1).argmin(1), x.argmax()
    at[8, :a] = x.reshape(a, -1).argmin(1)
    assert np.allclose(y, want, rtol=1e-6) and np.array_equal(z, at)


@kiln.kernel
def batched(a: kiln.View, b: kiln.View, c: kiln.View, NA: kiln.constexpr, NB: kiln.constexpr,
            SA: kiln.constexpr, SB: kiln.constexpr):  # fmt: skip
    kiln.grid(1)
    x, y = kiln.reshape(a.load(0, NA), SA), kiln.reshape(b.load(0, NB), SB)
    c.store(0, kiln.dot(x, y, kiln.dot(x, y)).reshape(-1))


@pytest.mark.parametrize("sa, sb", [
    ((16, 16), (3, 16, 16)), ((2, 1, 16, 16), (2, 16, 16)), ((1, 16, 32), (4, 32, 16)),
])  # fmt: skip
def test_products_broadcast_leading_dimensions(rng, sa, sb):
    x, y = (rng.standard_normal(s).astype(np.float32) for s in (sa, sb))
    want = 2 * (x.astype(np.float64) @ y)
    got = np.zeros(want.size, np.float32)
    run(batched, x.ravel(), y.ravel(), got, NA=x.size, NB=y.size, SA=sa, SB=sb)
    assert_close(got.reshape(want.shape), want, 1e-6)


@kiln.kernel
def half_scaled(a: kiln.View, b: kiln.View, s: kiln.View, c: kiln.View, M: kiln.constexpr,
                N: kiln.constexpr, K: kiln.constexpr, LEFT: kiln.constexpr):  # fmt: skip
    kiln.grid(1)
    x, y = a.load((0, 0), (M, K)), b.load((0, 0), (N, K))
    scale = s.load((0, 0), (M if LEFT else N, K // 32))
    if LEFT:
        d = kiln.dot_scaled(x, scale, y, None, transpose_b=True)
    else:
        d = kiln.dot_scaled(x, None, y.T, scale)
    c.store((0, 0), d)


@pytest.mark.parametrize("plain", ["bfloat16", "float16", "float32", "float8_e4m3fn"])
@pytest.mark.parametrize("left", [False, True])
def test_products_with_one_scaled_side(rng, plain, left):
    m, n, k = 16, 32, 64
    narrow = ml_dtypes.float8_e5m2
    other = np.dtype(getattr(ml_dtypes, plain, plain))
    a = rng.standard_normal((m, k)).astype(narrow if left else other)
    b = rng.standard_normal((n, k)).astype(other if left else narrow)
    s = (2.0 ** rng.integers(-3, 4, (m if left else n, k // 32))).astype(ml_dtypes.float8_e8m0fnu)
    c = np.zeros((m, n), np.float32)
    run(half_scaled, a, b, s, c, M=m, N=n, K=k, LEFT=left)
    each = np.repeat(s.astype(np.float64), 32, axis=1)
    x = a.astype(np.float64) * (each if left else 1)
    y = b.astype(np.float64) * (1 if left else each)
    assert_close(c, x @ y.T, 1e-5)
