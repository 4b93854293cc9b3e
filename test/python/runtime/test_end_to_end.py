"""Kernels from Python to numbers on the CPU, against float64."""

import ml_dtypes
import numpy as np
import pytest
from runtime_kernels import (
    accumulate,
    add,
    assert_close,
    copy,
    copy2d,
    fill,
    fixed,
    matmul,
    pinned,
    scale,
    softmax,
)

import kiln

pytestmark = pytest.mark.packed  # one file of each folder runs whole


@pytest.mark.parametrize("n", [1, 255, 256, 257, 10_007])
def test_vector_add(rng, n):
    x, y = rng.standard_normal((2, n), dtype=np.float32)
    out = np.empty_like(x)
    assert add(x, y, out) is None
    np.testing.assert_array_equal(out, x + y)


@pytest.mark.parametrize("shape", [(1, 1), (7, 100), (33, 128)])
def test_softmax(rng, shape):
    x = rng.standard_normal(shape, dtype=np.float32)
    out = np.empty_like(x)
    softmax(x, out, BLOCK=128)
    wide = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    assert_close(out, wide / wide.sum(axis=1, keepdims=True), 1e-6)


@pytest.mark.parametrize("m, n, k", [(32, 32, 16), (33, 65, 47), (1, 1, 1), (70, 5, 128)])
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16], ids=["f32", "bf16"])
def test_matmul(rng, m, n, k, dtype):
    a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
    out = np.empty((m, n), np.float32)
    matmul(a, b, out, BM=16)
    a, b = a.astype(np.float64), b.astype(np.float64)
    assert_close(out, a @ b, 1e-6, np.abs(a) @ np.abs(b))


@pytest.mark.parametrize(
    "dtype",
    ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "bool",
     ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2,
     ml_dtypes.float8_e8m0fnu],
)  # fmt: skip
def test_every_numpy_dtype_goes_through(rng, dtype):
    dtype = np.dtype(dtype)
    raw = rng.integers(0, 2 if dtype.kind == "b" else 256, 100 * dtype.itemsize, dtype=np.uint8)
    x = raw.view(dtype)
    out = np.zeros(100, dtype)
    copy(x, out)
    assert out.tobytes() == x.tobytes()


@pytest.mark.parametrize("dtype", ["i4", "u4", "i2", "u2", "f4e2m1fn", "f6e2m3fn", "f6e3m2fn"])
def test_packed_arrays_go_through(rng, dtype):
    bits = getattr(kiln, dtype).bits
    raw = rng.integers(0, 256, 64 * bits // 8, dtype=np.uint8)
    x = kiln.PackedArray(raw, (64,), dtype)
    out = kiln.PackedArray.empty((64,), dtype)
    copy(x, out)
    np.testing.assert_array_equal(out.data, x.data)


@pytest.mark.parametrize("view", ["transposed", "reversed", "strided", "broadcast", "offset"])
def test_non_contiguous_strides_of_every_kind(rng, view):
    base = rng.standard_normal((40, 50), dtype=np.float32)
    x = {
        "transposed": base.T, "reversed": base[::-1, ::-1], "strided": base[::3, ::2],
        "broadcast": np.broadcast_to(base[:, :1], (40, 50)), "offset": base[1:, 3:],
    }[view]  # fmt: skip
    out = np.zeros(x.shape, np.float32)
    copy2d(x, out)
    np.testing.assert_array_equal(out, x)
    back = np.zeros((40, 50), np.float32)
    if view != "broadcast":
        target = {"transposed": back.T, "reversed": back[::-1, ::-1], "strided": back[::3, ::2],
                  "offset": back[1:, 3:]}[view]  # fmt: skip
        copy2d(out, target)
        np.testing.assert_array_equal(target, x)


def test_facts_make_different_code_and_the_same_numbers(rng):
    x = rng.standard_normal(1024 + 8, dtype=np.float32)
    for start in range(5):
        for n in (1, 16, 17, 1000):
            a, out = x[start : start + n], np.zeros(n + start, np.float32)[start:]
            add(a, a, out)
            np.testing.assert_array_equal(out, a + a)


def test_zero_sizes_launch_nothing(rng):
    none = np.empty(0, np.float32)
    add(none, none, none)
    copy2d(np.empty((0, 5), np.float32), np.empty((0, 5), np.float32))
    out = np.ones(16, np.float32)
    pinned[0](out)
    np.testing.assert_array_equal(out, 1)


def test_nan_and_infinity_go_through():
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0], np.float32)
    out = np.empty_like(x)
    scale(x, out, 1.0)
    assert out.tobytes() == x.tobytes()
    softmax(x[None, 3:], out[None, 3:], BLOCK=16)
    np.testing.assert_array_equal(out[3:], 0.5)


def test_a_pinned_grid_replaces_the_kernels_own():
    out = np.zeros(64, np.float32)
    pinned[2](out)
    np.testing.assert_array_equal(out, [1] * 32 + [0] * 32)
    x, y = np.ones(512, np.float32), np.zeros(512, np.float32)
    add[(1,)](x, x, y)
    np.testing.assert_array_equal(y, [2] * 256 + [0] * 256)


def test_an_unannotated_parameter_takes_the_arguments_kind():
    out = np.zeros(40, np.float32)
    for value in (3, 2.5, np.float32(1.25), np.int32(-4), True):
        fill(out, value)
        np.testing.assert_array_equal(out, float(value))


def test_tunables_and_constants_by_keyword(rng):
    x = rng.standard_normal(200, dtype=np.float32)
    y = np.ones_like(x)
    accumulate(x, y)
    accumulate(x, y, BLOCK=16)
    np.testing.assert_array_equal(y, (1 + x) + x)


def test_extents_that_an_annotation_fixes(rng):
    x = rng.standard_normal((5, 16), dtype=np.float32)
    out = np.zeros_like(x)
    fixed(x, out)
    np.testing.assert_array_equal(out, x)


FACTOR = 2.0


def test_a_captured_global_that_changes_makes_new_code(rng):
    global FACTOR

    @kiln.kernel
    def times(x: kiln.View, y: kiln.View):
        kiln.grid(1)
        y.store((0,), x.load((0,), (16,)) * FACTOR)

    x, out = rng.standard_normal(16, dtype=np.float32), np.zeros(16, np.float32)
    for value in (2.0, -3.0, 2.0):
        FACTOR = value
        times(x, out)
        np.testing.assert_array_equal(out, x * np.float32(value))


def test_huge_tensors_of_over_2_to_31_elements():
    """Read at the end of one byte that is broadcast; written at the end of an array of which only
    the last page is ever touched."""
    n = 2**31 + 77
    x = np.lib.stride_tricks.as_strided(np.array([7], np.int8), (n,), (0,))
    out = np.zeros(64, np.int8)
    target = np.zeros(n, np.int8)

    @kiln.kernel
    def tail(x: kiln.View, y: kiln.View):
        kiln.grid(1)
        y.store((0,), x.load((x.shape[0] - 40,), (64,)))

    @kiln.kernel
    def put(x: kiln.View, y: kiln.View):
        kiln.grid(1)
        y.store((y.shape[0] - 40,), x.load((0,), (64,)))

    tail(x, out)
    np.testing.assert_array_equal(out, [7] * 40 + [0] * 24)
    put(np.arange(64, dtype=np.int8), target)
    np.testing.assert_array_equal(target[-41:], [0, *range(40)])
    assert not target[:100].any()


def test_captured_functions_of_the_language_are_part_of_a_kernels_key():
    """One source, another function: not the code that was compiled for the first."""

    def applying(function):
        @kiln.kernel
        def kernel(x: kiln.View, out: kiln.View):
            kiln.grid(1)
            out.store((0,), function(x.load((0,), (16,))))

        return kernel

    x, out = np.full(16, 4, np.float32), np.zeros(16, np.float32)
    for function, wanted in ((kiln.sqrt, 2), (kiln.exp2, 16), (kiln.log2, 2), (kiln.abs, 4)):
        applying(function)(x, out)
        np.testing.assert_allclose(out, wanted, rtol=1e-5)
