"""Kernels run on the CPU: what the language promises, in numbers, on fresh random inputs."""

import ml_dtypes
import numpy as np
import pytest
from evaluator import rounded
from numpy.testing import assert_allclose, assert_array_equal

import kiln

rng = np.random.default_rng()
INTEGERS = [
    np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
]  # fmt: skip
FLOATS = [
    np.float64, np.float32, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
]  # fmt: skip
name_of = pytest.mark.parametrize


def normal(*shape):
    return rng.standard_normal(shape, dtype=np.float32)


def wrapped(values, dtype):
    """Python ints as a dtype holds them."""
    bits = 8 * np.dtype(dtype).itemsize
    raw = [int(v) & ((1 << bits) - 1) for v in values]
    return np.array(raw, dtype=f"u{bits // 8}").view(dtype)


@kiln.kernel
def integer_operators(a, b, quotient, rest, right, left):
    i = kiln.grid(kiln.cdiv(a.shape[0], 64))
    at = i * 64
    x, y = a.load(at, 64), b.load(at, 64)
    quotient.store(at, x // y)
    rest.store(at, x % y)
    right.store(at, x >> y)
    left.store(at, x << y)


@name_of("dtype", INTEGERS)
def test_integer_operators(dtype):
    limits = np.iinfo(dtype)
    a = rng.integers(limits.min, limits.max, 1000, dtype=dtype, endpoint=True)
    b = wrapped(rng.integers(-9, 70, 1000), dtype)
    a[:4] = limits.min
    b[:4] = wrapped([0, 1, limits.max, -1], dtype)
    outs = [np.empty_like(a) for _ in range(4)]
    integer_operators(a, b, *outs)
    pairs = [(int(x), int(y)) for x, y in zip(a, b, strict=True)]
    bits = 8 * a.itemsize
    assert_array_equal(outs[0], wrapped([x // y if y else 0 for x, y in pairs], dtype))
    assert_array_equal(outs[1], wrapped([x % y if y else 0 for x, y in pairs], dtype))
    fits = [0 <= y < bits for _, y in pairs]
    signs = [-1 if x < 0 else 0 for x, _ in pairs]
    right = [x >> y if ok else sign for (x, y), ok, sign in zip(pairs, fits, signs, strict=True)]
    left = [x << y if ok else 0 for (x, y), ok in zip(pairs, fits, strict=True)]
    assert_array_equal(outs[2], wrapped(right, dtype))
    assert_array_equal(outs[3], wrapped(left, dtype))


@kiln.kernel
def convert(x, out):
    i = kiln.grid(kiln.cdiv(x.shape[0], 128))
    out.store(i * 128, x.load(i * 128, 128).to(out.dtype))


def converted(x, dtype):
    out = np.empty(x.shape, dtype)
    convert(x, out)
    return out


EDGES = [
    np.nan, np.inf, -np.inf, 2.0**31, -(2.0**31), -(2.0**31) - 256, 2.0**63, -(2.0**63), 2.0**64,
    0.5, -0.5, -1.0, 255.9, -128.9, 127.9, 0.0, -0.0,
]  # fmt: skip


@name_of("dtype", INTEGERS)
@name_of("source", FLOATS)
def test_float_to_int(source, dtype):
    with np.errstate(all="ignore"):
        x = np.concatenate([normal(300) * 1e3, normal(300) * 1e12, np.float32(EDGES)])
        x = x.astype(source)
    limits = np.iinfo(dtype)
    wanted = []
    for value in x.astype(np.float64):
        if np.isnan(value):
            wanted.append(0)
        elif np.isinf(value):
            wanted.append(limits.max if value > 0 else limits.min)
        else:
            wanted.append(max(limits.min, min(limits.max, int(value))))
    assert_array_equal(converted(x, dtype), np.array(wanted, dtype=dtype))


@name_of("dtype", FLOATS)
@name_of("source", FLOATS)
def test_float_to_float(source, dtype):
    with np.errstate(all="ignore"):
        x = np.concatenate([normal(300) * s for s in (1, 1e3, 1e-6)] + [np.float32(EDGES)])
        x = x.astype(source)
        by_f32 = x.astype(np.float32) if x.dtype.itemsize < 4 else x
        wanted = by_f32.astype(dtype).astype(np.float64)
    assert_array_equal(converted(x, dtype).astype(np.float64), wanted)


@name_of("dtype", [*FLOATS, np.int8, np.uint64, np.bool_])
@name_of("source", [*INTEGERS, np.bool_])
def test_int_to_all(source, dtype):
    if source is np.bool_:
        x = rng.integers(0, 2, 300).astype(bool)
    else:
        limits = np.iinfo(source)
        x = rng.integers(limits.min, limits.max, 300, dtype=source, endpoint=True)
        x[:50] = wrapped(rng.integers(-3, 3, 50), source)
        # The middles of two bfloat16, and what is just beside them.
        middle = rng.integers(256, 512, 60) * 2 + 1
        middle = middle << rng.integers(0, 53, 60)
        x[50:110] = wrapped(middle + np.tile([-1, 0, 1], 20), source)
    if dtype in FLOATS:
        wanted = np.array([rounded(int(v), dtype) for v in x]).astype(np.float64)
    else:
        with np.errstate(all="ignore"):
            wanted = x.astype(dtype).astype(np.float64)
    assert_array_equal(converted(x, dtype).astype(np.float64), wanted)


@kiln.kernel
def along_rows(x, total, top, at, running, back, ordered, best, where):
    i = kiln.grid(1)
    tile = x.load((i, 0), (8, 24))
    total.store(0, tile.sum(1))
    top.store(0, tile.max(1))
    at.store(0, tile.argmax(1))
    running.store((0, 0), kiln.cumsum(tile, 1))
    back.store((0, 0), kiln.cumsum(tile, 1, reverse=True))
    ordered.store((0, 0), kiln.sort(tile, descending=True))
    values, positions = kiln.topk(tile, 5)
    best.store((0, 0), values)
    where.store((0, 0), positions)


def test_reductions_scans_and_order():
    x = normal(8, 24)
    x[2, 5] = np.nan
    x[4:] = np.round(x[4:])  # equal ones, and zeros of either sign
    total, top, at = np.empty(8, np.float32), np.empty(8, np.float32), np.empty(8, np.int32)
    running, back, ordered = (np.empty_like(x) for _ in range(3))
    best, where = np.empty((8, 5), np.float32), np.empty((8, 5), np.int32)
    along_rows(x, total, top, at, running, back, ordered, best, where)
    exact = x.astype(np.float64)
    bound = 24 * 2.0**-24 * np.nansum(np.abs(exact), 1).max()  # each of 24 sums rounds once
    assert_allclose(total, exact.sum(1), rtol=0, atol=bound)
    assert_array_equal(top, x.max(1))
    assert_array_equal(at, x.argmax(1))
    assert_allclose(running, exact.cumsum(1), rtol=0, atol=bound)
    assert_allclose(back, exact[:, ::-1].cumsum(1)[:, ::-1], rtol=0, atol=bound)
    numbers = np.arange(8) != 2
    order = np.argsort(-x[numbers], axis=1, kind="stable")
    wanted = np.take_along_axis(x[numbers], order, 1)
    assert_array_equal(ordered[numbers], wanted)
    assert np.isnan(ordered[2, -1]) and not np.isnan(ordered[2, :-1]).any()
    assert_array_equal(best[numbers], wanted[:, :5])
    assert_array_equal(where[numbers], order[:, :5])


@kiln.kernel
def random_numbers(uniform, gauss, bounded, bits, seed):
    i = kiln.grid(kiln.cdiv(uniform.shape[0], 256))
    at = i * 256
    counter = (at + kiln.arange(256)).to(kiln.i32)
    uniform.store(at, kiln.rand(seed, counter))
    gauss.store(at, kiln.randn(seed, counter))
    bounded.store(at, kiln.randint(seed, counter, -5, 12))
    bits.store(at, kiln.randint(seed, counter))


def test_random_numbers_are_the_documented_maps_of_the_bits():
    n = 100_000
    uniform, gauss = np.empty(n, np.float32), np.empty(n, np.float32)
    bounded, bits = np.empty(n, np.int32), np.empty(n, np.uint32)
    random_numbers(uniform, gauss, bounded, bits, int(rng.integers(2**62)))
    assert_array_equal(uniform, (bits >> 8).astype(np.float32) * np.float32(2.0**-24))
    assert_array_equal(bounded, -5 + ((bits.astype(np.uint64) * 17) >> 32).astype(np.int64))
    assert abs(uniform.mean() - 0.5) < 0.01
    assert abs(gauss.mean()) < 0.02 and abs(gauss.std() - 1) < 0.02
    assert set(bounded) == set(range(-5, 12))


@kiln.kernel
def count(x, bins, BINS: kiln.constexpr):
    i = kiln.grid(kiln.cdiv(x.shape[0], 128))
    at = i * 128 + kiln.arange(128)
    counts = kiln.histogram(x.load(i * 128, 128), BINS, mask=at < x.shape[0])
    kiln.atomic_add(bins, kiln.arange(BINS), counts)


@name_of("dtype", [np.uint8, np.int16, np.int32, np.int64])
def test_histogram_and_atomics(dtype):
    x = rng.integers(0, 20, 1000).astype(dtype)
    bins = np.zeros(16, np.int32)
    count(x, bins, BINS=16)
    assert_array_equal(bins, np.bincount(x, minlength=20)[:16])


@kiln.function
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@kiln.kernel
def control_flow(x, out):
    i = kiln.grid(x.shape[0])
    n = x[i]
    if n < 0:
        out[i] = -1
        return
    out[i] = collatz(n).to(kiln.i32) if n > 0 else 0


def test_control_flow():
    x = np.array([-3, 0, 1, 2, 3, 7, 27, *rng.integers(1, 1000, 20)], np.int32)
    out = np.empty_like(x)
    control_flow(x, out)

    def steps(n):
        count = 0
        while n > 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return -1 if n < 0 else count

    assert_array_equal(out, [steps(int(n)) for n in x])


@kiln.kernel
def loops(x, out, n, step):
    i = kiln.grid(1)
    up, down, by, pair = 0.0, 0.0, i, (x[0], 1)
    for k in range(n):
        up = up * 0.5 + x[k]
        pair = (pair[0] + pair[1], k)
    for k in range(n - 1, -1, -1):
        down = down * 0.5 + x[k]
    for k in range(1, n, step):
        by = by + k
    out[0], out[1], out[2], out[3] = up, down, by.to(kiln.f32), pair[0]


def test_loops_up_down_and_by_a_step():
    n, step = int(rng.integers(1, 60)), int(rng.integers(1, 5))
    x, out = normal(n), np.empty(4, np.float32)
    loops(x, out, n, step)
    up = down = 0.0
    for k in range(n):
        up, down = up * 0.5 + x[k], down * 0.5 + x[n - 1 - k]
    total = float(x[0]) + 1 + sum(range(n - 1))
    assert_allclose(out, [up, down, sum(range(1, n, step)), total], rtol=1e-5, atol=1e-5)


@kiln.kernel
def indices(x, at, out):
    i = kiln.grid(1)
    j = at.load(i, 64)
    lane = kiln.arange(64)
    out.store(0, x.gather(j, mask=lane < 60, pad=-1))
    x.scatter(j, 100.0, mask=lane < 3)


def test_gather_and_scatter():
    x, before = normal(50), None
    before = x.copy()
    at = rng.permutation(80)[:64].astype(np.int64) - 10
    out = np.empty(64, np.float32)
    indices(x, at, out)
    inside = (at >= 0) & (at < 50)
    keep = inside & (np.arange(64) < 60)
    assert_array_equal(out, np.where(keep, before[np.clip(at, 0, 49)], np.float32(-1)))
    written = at[:3][inside[:3]]
    before[written] = 100
    assert_array_equal(x, before)


@kiln.kernel
def reshaping(x, out):
    i = kiln.grid(1)
    tile = x.load((i, 0), (8, 16))
    a, b = kiln.split(tile.reshape(8, 8, 2))
    z = kiln.concat((a, b), 1)[2:6, 4:12].T
    first = kiln.broadcast_to(tile[0, 0:8], (8, 8))
    out.store((0, 0), kiln.join(z, z * 2).reshape(8, 8) + first)


def test_shapes():
    x, out = normal(8, 16), np.empty((8, 8), np.float32)
    reshaping(x, out)
    pairs = x.reshape(8, 8, 2)
    z = np.concatenate([pairs[..., 0], pairs[..., 1]], 1)[2:6, 4:12].T
    assert_array_equal(out, np.stack([z, z * 2], -1).reshape(8, 8) + x[0, :8])


@kiln.kernel
def masks(keep, x, out):
    i = kiln.grid(1)
    chosen = keep.load(i, 32)
    x.store(0, kiln.where(chosen, x.load(0, 32), 0))
    out.store(0, ~chosen)


def test_views_of_bool_hold_bytes():
    keep, x, out = rng.integers(0, 2, 32).astype(bool), normal(32), np.empty(32, bool)
    wanted = np.where(keep, x, 0)
    masks(keep, x, out)
    assert_array_equal(x, wanted)
    assert_array_equal(out, ~keep)


@kiln.kernel
def doubled(p: kiln.Pointer[kiln.f32], n: int):
    i = kiln.grid(1)
    v = kiln.view(p, (n, 4))
    v.store((i, 0), v.load((i, 0), (8, 4)) * 2)


def test_pointers():
    x = normal(6, 4)
    wanted = x * 2
    doubled(x, 6)
    assert_array_equal(x, wanted)


@kiln.kernel
def combined(x, best, at, products):
    i = kiln.grid(1)
    tile = x.load(i, 50)

    def later(a, m, b, n):
        wins = kiln.abs(b) > kiln.abs(a)
        return kiln.where(wins, b, a), n if wins else m

    value, position = kiln.reduce((tile, kiln.arange(50)), 0, later)
    best[0], at[0] = value, position
    products.store(0, kiln.scan(tile, 0, lambda a, b: a * b))


def test_functions_combine():
    x = rng.uniform(0.9, 1.1, 50).astype(np.float32) * rng.choice([-1, 1], 50).astype(np.float32)
    best, at, products = np.empty(1, np.float32), np.empty(1, np.int32), np.empty(50, np.float32)
    combined(x, best, at, products)
    where = np.abs(x).argmax()
    assert best[0] == x[where] and at[0] == where
    assert_allclose(products, x.astype(np.float64).cumprod(), rtol=1e-5)


@kiln.kernel
def checked(x):
    i = kiln.grid(1)
    assert x[i] > 0, "not positive"


def test_assertions_name_the_line():
    checked(np.ones(1, np.float32))
    line = checked.__wrapped__.__code__.co_firstlineno + 3
    with pytest.raises(kiln.DeviceAssertError, match=f"not positive .*test_numerics.py:{line}"):
        checked(np.zeros(1, np.float32))
