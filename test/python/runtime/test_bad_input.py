"""Whatever a caller gets wrong is an error that names the kernel and the argument."""

import ml_dtypes
import numpy as np
import pytest
from runtime_kernels import add, checked, copy, fixed, matmul, pinned, scale, softmax

import kiln

X = np.ones(32, np.float32)


def launch_error(match):
    return pytest.raises(kiln.LaunchError, match=match)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: add(X, X), r"add\(\) missing 1 required positional argument: 'c'"),
        (lambda: add(X, X, X, 1, 2), r"add\(\) takes from 3 to 4 positional arguments but 5"),
        (lambda: add(X, X, X, c=X), r"add\(\) got multiple values for argument 'c'"),
        (lambda: add(X, X, X, BLOK=3), r"add\(\) got an unexpected keyword argument 'BLOK'"),
        (lambda: add(X, X, X, _fast=3), r"add\(\) got an unexpected launch option '_fast'"),
        (lambda: softmax(X, X), r"softmax\(\) missing 1 required positional argument: 'BLOCK'"),
        (lambda: add(X, X, X, _opt_level=9), r"expected an opt_level of 0 to 3, got 9"),
    ],
)
def test_calls_that_do_not_fit_the_signature(call, message):
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize("name", ["nonsense", "emu:nonsense", "emu", "emu:cpu", "cpu:3"])
def test_a_device_that_is_not_there(name):
    with pytest.raises(kiln.DeviceError, match=f"device '{name}'"):
        kiln.device(name)
    x = np.ones(32, np.float32)
    with pytest.raises(kiln.DeviceError, match=f"device '{name}'"):
        copy.options(device=name)(x, x.copy())


@pytest.mark.parametrize("value", ["text", None, [1.0], object(), {1: 2}])
def test_what_is_no_argument(value):
    with launch_error(r"kernel `add`, argument `b`: expected an array, a tensor or a number"):
        add(X, value, X)


def test_a_number_for_a_view():
    with launch_error(r"kernel `add`, argument `b`: expected .* got "):
        add(X, 3, X)


def test_an_array_for_a_number():
    with launch_error(r"kernel `scale`, argument `factor`: expected .* got "):
        scale(X, X.copy(), X)


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 2**63, 2**200])
def test_an_integer_that_does_not_fit(value):
    with launch_error(r"kernel `checked`, argument `limit`: expected .*i32.*, got"):
        checked(X, value)


def test_a_fraction_for_an_integer():
    with launch_error(r"kernel `checked`, argument `limit`: expected .*got"):
        checked(X, 1.5)


def test_wrong_dtype_that_kernels_lack():
    for dtype in ("c8", "S3", "M8[s]", "O", [("a", "f4")]):
        with launch_error(r"kernel `copy`, argument `x`: expected an element type"):
            copy(np.zeros(4, dtype), X)


def test_wrong_dtype_of_another_byte_order():
    with launch_error(r"argument `x`: expected an array in this machine's byte order, got .*>f4"):
        copy(X.astype(">f4"), X.copy())


def test_sub_byte_elements_one_in_each_byte():
    with launch_error(r"argument `x`: expected packed i4 .*kiln.PackedArray.from_numpy"):
        copy(np.zeros(4, ml_dtypes.int4), X)


def test_misaligned_elements():
    raw = np.zeros(65, np.uint8)[1:].view(np.float32)
    with launch_error(r"argument `x`: expected elements at multiples of 4 bytes.*a.copy\(\)"):
        copy(raw, X.copy())


def test_strides_that_are_no_whole_elements():
    records = np.zeros(8, np.dtype([("tag", "u2"), ("value", "f4"), ("more", "u2", 2)], align=True))
    odd = np.lib.stride_tricks.as_strided(np.zeros(64, np.float32), (4,), (6,))
    copy(records["value"], X[:8].copy())
    with launch_error(r"argument `x`: expected"):
        copy(odd, X[:4].copy())


def test_wrong_dtype_for_the_kernels_arithmetic_shows_its_line():
    with pytest.raises(
        kiln.CompileError,
        match=r"runtime_kernels.py:\d+:\d+: error: expected a value of f32, got a 256 f64",
    ) as caught:
        add(X.astype(np.float64), X.astype(np.float64), X.copy())
    assert "c.store((i * BLOCK,), x + y)" in str(caught.value) and ".to(view.dtype)" in str(
        caught.value
    )


def test_a_masked_array():
    with launch_error(r"argument `x`: expected an array, .* got MaskedArray"):
        copy(np.ma.masked_array(X, X > 0), X.copy())


def test_more_dimensions_than_there_are():
    with launch_error(r"argument `x`: expected at most 8 dimensions, got 9"):
        copy(np.zeros((1,) * 9, np.float32), X.copy())


def test_wrong_rank_that_the_kernel_cannot_use_shows_its_line():
    with pytest.raises(kiln.CompileError, match=r"runtime_kernels.py:\d+:\d+: error: expected"):
        matmul(X, np.zeros((4, 4), np.float32), np.zeros((4, 4), np.float32))


def test_wrong_shape_that_the_annotation_does_not_allow():
    good = np.zeros((3, 16), np.float32)
    fixed(good, good.copy())
    with launch_error(r"kernel `fixed`, argument `x`: expected extent 16 of dimension 1, got 15"):
        fixed(np.zeros((3, 15), np.float32), good)
    with launch_error(r"kernel `fixed`, argument `y`: expected rank 2, got 1"):
        fixed(good, X.copy())
    with launch_error(r"kernel `fixed`, argument `x`: expected .*f32.*got .*f64"):
        fixed(good.astype(np.float64), good)


def test_a_read_only_array_that_is_written():
    frozen = X.copy()
    frozen.flags.writeable = False
    out = X.copy()
    copy(frozen, out)
    for _ in range(2):
        with launch_error(r"kernel `copy`, argument `y`: expected an array that may be written"):
            copy(X, frozen)
    np.testing.assert_array_equal(frozen, 1)


@pytest.mark.parametrize(
    "grid, message",
    [
        ((1, 2, 3, 4), "expected a grid of one to three extents, got 4"),
        ((), "expected a grid of one to three extents, got 0"),
        (-1, "expected extents of at least 0 for the grid, got -1"),
        ((1, 1.5), "expected integers for the grid, got 1.5"),
        ("x", "expected integers for the grid, got 'x'"),
    ],
)
def test_grids(grid, message):
    with launch_error(message):
        pinned[grid](X)


def test_a_kernel_without_a_grid_must_be_pinned():
    with launch_error(r"kernel `pinned`: expected a grid"):
        pinned(X.copy())


def test_devices_that_are_not_there():
    with pytest.raises((LookupError, kiln.DeviceError, kiln.LaunchError), match="nowhere"):
        add(X, X, X.copy(), _device="nowhere")


def test_a_stream_that_is_none():
    with launch_error("expected a stream or its handle as an integer"):
        add(X, X, X.copy(), _stream="x")


def test_constants_of_the_wrong_kind():
    with pytest.raises(kiln.CompileError, match="expected a constant, got a list"):
        add(X, X, X.copy(), BLOCK=[64])
    with pytest.raises(kiln.CompileError, match="error: "):
        add(X, X, X.copy(), BLOCK="64")


def test_1_and_1_0_and_true_are_different_constants():
    seen = {add.warmup(X, X, X, BLOCK=1).constants["BLOCK"]}
    for value in (1.0, True):
        try:
            add.warmup(X, X, X, BLOCK=value)
        except kiln.CompileError:
            continue
    assert seen == {1}
    assert type(add.warmup(X, X, X, BLOCK=1).constants["BLOCK"]) is int


def test_a_failed_assertion_is_named():
    checked(X, 32)
    with pytest.raises(kiln.DeviceAssertError, match="too many elements"):
        checked(X, 31)
    checked(X, 32)


def test_packed_arrays_check_what_they_are_made_of():
    with pytest.raises(ValueError, match="expected 4 contiguous bytes for 8 elements of i4"):
        kiln.PackedArray(np.zeros(3, np.uint8), (8,), "i4")
    with pytest.raises(ValueError, match="expected values from -8 to 7 for i4, got 0 to 9"):
        kiln.PackedArray.from_numpy(np.arange(10), "i4")
    with pytest.raises(TypeError, match="expected a dtype of i4"):
        kiln.PackedArray(np.zeros(4, np.uint8), (4,), "i8")


@pytest.mark.parametrize(
    "text, constraints, message",
    [
        ("kiln_has_no_such $0, $1", "=r,r", r"inline assembly 'kiln_has_no_such .*invalid"),
        ("nop", "=r,{nowhere}", "constraint '{nowhere}'"),
    ],
)
def test_wrong_inline_assembly_is_an_error_at_its_line(text, constraints, message):
    @kiln.kernel
    def foreign(x: kiln.View, y: kiln.View):
        kiln.grid(1)
        y.store(0, kiln.inline_asm(text, constraints, x.load(0, 16), kiln.i32))

    x = np.ones(16, np.int32)
    with pytest.raises(kiln.CompileError, match=message) as caught:
        foreign(x, x.copy())
    assert "y.store(0, kiln.inline_asm(text" in str(caught.value)
