"""kiln.ops.matmul against float64: dtypes, transpositions, batches, scales, and what it refuses."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from closeness import BF16, CHIPS, F8, TOLERANCE, check, wide

import kiln
from kiln import ops


def drawn(rng, dtype, *shape):
    if np.dtype(dtype).kind in "iu":
        return rng.integers(-9 if np.dtype(dtype).kind == "i" else 0, 9, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


@pytest.mark.drawn(6)
@pytest.mark.parametrize("dtype", [BF16, np.float16, np.float32, np.float64, F8, np.int8, np.uint8])
@pytest.mark.parametrize("form", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (67, 97, 131), (128, 64, 128)])
def test_dtypes_and_transpositions(dtype, form, sizes, rng):
    m, n, k = sizes
    a = drawn(rng, dtype, *((m, k) if form[0] == "N" else (k, m)))
    b = drawn(rng, dtype, *((k, n) if form[1] == "N" else (n, k)))
    got = ops.matmul(a, b, transpose_a=form[0] == "T", transpose_b=form[1] == "T")
    want = wide(a if form[0] == "N" else a.T) @ wide(b if form[1] == "N" else b.T)
    natural = {np.dtype(F8): np.dtype(BF16)}.get(a.dtype, a.dtype)
    assert got.dtype == (np.dtype(np.int32) if natural.kind in "iu" else natural)
    check(got, want)


@pytest.mark.parametrize(
    "a_batch, b_batch",
    [((3,), ()), ((), (2, 3)), ((2, 1), (3,)), ((1, 1, 2), (2, 1, 2)), ((0,), ())],
)
def test_leading_dimensions_broadcast(a_batch, b_batch, rng):
    a, b = drawn(rng, BF16, *a_batch, 19, 37), drawn(rng, BF16, *b_batch, 37, 23)
    out = np.empty((*np.broadcast_shapes(a_batch, b_batch), 19, 23), np.float32)
    assert ops.matmul(a, b, out) is out
    check(out, wide(a) @ wide(b))


@pytest.mark.parametrize("m, n, k", [(0, 3, 4), (3, 0, 4), (3, 4, 0)])
def test_extents_of_zero(m, n, k, rng):
    a, b = drawn(rng, np.float32, m, k), drawn(rng, np.float32, k, n)
    check(ops.matmul(a, b), np.zeros((m, n)))


def test_any_strides(rng):
    a, b = drawn(rng, np.float32, 90, 80)[::2, ::-1], drawn(rng, np.float32, 70, 80, 2)[..., 1].T
    out = np.empty((70, 45), np.float32).T
    ops.matmul(a, b, out)
    check(out, wide(a) @ wide(b))


def test_f8_of_two_kinds(rng):
    a, b = drawn(rng, F8, 20, 40), drawn(rng, ml_dtypes.float8_e5m2, 40, 30)
    check(ops.matmul(a, b, out_dtype=kiln.f32), wide(a) @ wide(b))


@pytest.mark.parametrize("precision", ["ieee", "tf32", "tf32x3"])
def test_precisions_of_f32(precision, rng):
    """On a chip whose matrix units read tf32, each is as near as it says, and no nearer."""
    a, b = drawn(rng, np.float32, 32, 64), drawn(rng, np.float32, 64, 32)
    got = ops.matmul(a, b, precision=precision, BM=16, BN=32, _device="emu:sm_90a")
    error = np.linalg.norm(wide(got) - wide(a) @ wide(b)) / np.linalg.norm(wide(a) @ wide(b))
    assert error < {"ieee": 1e-6, "tf32": 1e-3, "tf32x3": 1e-6}[precision]
    assert precision != "tf32" or error > 1e-5


def full(scale, array, outer):
    """Scales as the docstring has them, one for each element."""
    if scale is None or isinstance(scale, float) or scale.size == 1:
        return np.float64(1 if scale is None else np.ravel(scale)[0])
    scale = wide(scale)
    if scale.ndim == 1:
        return scale[:, None] if outer == 0 else scale
    for axis, (extent, count) in enumerate(zip(array.shape, scale.shape)):
        if 1 < count < extent:
            scale = np.repeat(scale, 128, axis)
            scale = scale[:extent] if axis == 0 else scale[:, :extent]
    return scale


SCALES = [
    (None, 2.0), ((), (1, 1)), ((150,), (200,)), ((150, 1), (1, 200)), ((2, 3), (3, 2)),
    ((150, 3), (3, 2)), ((1, 3), (200,)), ((2, 1), None), ((150, 3), (3, 200)),
]  # fmt: skip


@pytest.mark.drawn(6)
@pytest.mark.parametrize("scales", SCALES)
@pytest.mark.parametrize("form", ["NN", "NT", "TN", "TT"])
def test_scales_of_f8(scales, form, rng):
    def made(shape, turned):
        if shape is None or isinstance(shape, float):
            return shape
        scale = rng.uniform(0.5, 2, shape).astype(np.float32)
        return np.ascontiguousarray(scale.T) if turned else np.asarray(scale)

    a, b = drawn(rng, F8, 150, 300), drawn(rng, F8, 300, 200)
    if form[0] == "T":
        a = np.ascontiguousarray(a.T)
    if form[1] == "T":
        b = np.ascontiguousarray(b.T)
    scale_a, scale_b = made(scales[0], form[0] == "T"), made(scales[1], form[1] == "T")
    got = ops.matmul(
        a, b, transpose_a=form[0] == "T", transpose_b=form[1] == "T", scale_a=scale_a,
        scale_b=scale_b, out_dtype=kiln.f32,
    )  # fmt: skip
    left = wide(a) * full(scale_a, a, 0 if form[0] == "N" else 1)
    right = wide(b) * full(scale_b, b, 1 if form[1] == "N" else 0)
    want = (left if form[0] == "N" else left.T) @ (right if form[1] == "N" else right.T)
    check(got, want)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("sizes, tiles", [((33, 41, 70), (16, 32)), ((70, 64, 136), (64, 64))])
def test_emulated_chips(chip, sizes, tiles, rng):
    """Rows at odd addresses, and such as copy engines load."""
    m, n, k = sizes
    a, b = drawn(rng, BF16, 2, m, k), drawn(rng, BF16, n, k)
    got = ops.matmul(a, b, transpose_b=True, BM=tiles[0], BN=tiles[1], _device=f"emu:{chip}")
    check(got, wide(a) @ wide(b).T)


@pytest.mark.parametrize("chip", CHIPS)
def test_block_scales_on_emulated_chips(chip, rng):
    a, b = drawn(rng, F8, 20, 256), drawn(rng, F8, 40, 256)
    scale_a, scale_b = (rng.uniform(0.5, 2, s).astype(np.float32) for s in ((20, 2), (1, 2)))
    got = ops.matmul(
        a, b, transpose_b=True, scale_a=scale_a, scale_b=scale_b, out_dtype=kiln.f32, BM=16, BN=32,
        _device=f"emu:{chip}",
    )  # fmt: skip
    want = (wide(a) * np.repeat(scale_a, 128, 1)) @ (wide(b) * np.repeat(scale_b, 128, 1)).T
    check(got, want, 2e-4 if chip == "sm_90a" else None)  # sums of 14 bits: docs/rationale/parts.md


@pytest.mark.drawn(6)
@pytest.mark.parametrize("kinds", ["f8 f8", "f8 f4", "f4 f4", "f8 bf16", "f32 f4"])
@pytest.mark.parametrize("form", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize("device", ["cpu", *(f"emu:{chip}" for chip in CHIPS)])
def test_microscaling_formats(kinds, form, device, rng):
    """With blocks that the extent cuts."""

    def made(kind, rows, turned):
        """An operand as it is given, its scales, and what it means."""
        k = 200
        x = drawn(
            rng,
            {"f8": F8, "f4": ml_dtypes.float4_e2m1fn, "bf16": BF16, "f32": np.float32}[kind],
            rows,
            k,
        )
        scales = np.exp2(rng.integers(-3, 3, (rows, kiln.cdiv(k, 32)))).astype(
            ml_dtypes.float8_e8m0fnu
        )
        value = wide(x)
        if kind[1] in "48":
            value = value * np.repeat(wide(scales), 32, 1)[:, :k]
        else:
            scales = None
        if turned:
            x, scales = np.ascontiguousarray(x.T), None if scales is None else scales.T
        return kiln.PackedArray.from_numpy(x) if kind == "f4" else x, scales, value

    kind_a, kind_b = kinds.split()
    a, scale_a, left = made(kind_a, 33, form[0] == "T")
    b, scale_b, right = made(kind_b, 40, form[1] == "N")
    tiles = {} if device == "cpu" else {"BM": 16, "BN": 64}
    out = np.empty((33, 40), np.float32)
    ops.matmul(
        a, b, out, transpose_a=form[0] == "T", transpose_b=form[1] == "T", scale_a=scale_a, scale_b=scale_b,
        _device=device, **tiles,
    )  # fmt: skip
    # Beside bf16 an element times its scale is rounded to it; what sums of 14 bits lose on sm_90a.
    check(out, left @ right.T, 4e-3 if "bf16" in kinds else 2e-4 if "sm_90a" in device else None)


def test_tensors_of_pytorch(rng):
    torch = pytest.importorskip("torch")
    a, b = (torch.from_numpy(drawn(rng, np.float32, *s)) for s in ((20, 30), (30, 10)))
    got = ops.matmul(a.bfloat16(), b.bfloat16())
    assert isinstance(got, torch.Tensor) and got.dtype == torch.bfloat16
    want = wide(a.bfloat16().float().numpy()) @ wide(b.bfloat16().float().numpy())
    check(got.float().numpy(), want, TOLERANCE[np.dtype(BF16)])


def test_arrays_of_jax_need_memory_for_the_result(rng):
    jax = pytest.importorskip("jax")
    a, b = (jax.numpy.asarray(drawn(rng, np.float32, *s)) for s in ((20, 30), (30, 10)))
    out = np.empty((20, 10), np.float32)
    check(ops.matmul(a, b, out), wide(np.asarray(a)) @ wide(np.asarray(b)))
    with pytest.raises(
        kiln.LaunchError, match=r"`out`.*got none; it is of f32 and of shape \(20, 10\)"
    ):
        ops.matmul(a, b)


X, Y = np.zeros((3, 4), np.float32), np.zeros((4, 5), np.float32)
X8, Y8, E8 = X.astype(F8), Y.astype(F8), np.ones((3, 1), ml_dtypes.float8_e8m0fnu)
BAD = {
    "extents": (lambda: ops.matmul(X, X), r"`b`: expected an inner extent of 4.*got 3.*\(3, 4\)"),
    "transposed": (lambda: ops.matmul(X, Y, transpose_b=True), r"`b`.*inner extent of 4.*\[\.\.\., N, K\]"),
    "rank": (lambda: ops.matmul(X[0], Y), r"`a`: expected at least two dimensions"),
    "batches": (lambda: ops.matmul(np.zeros((2, 3, 4)), np.zeros((3, 4, 5))), r"`b`.*broadcast"),
    "dtypes": (lambda: ops.matmul(X, Y.astype(BF16)), r"`b`: expected elements of f32, got bf16"),
    "dtype": (lambda: ops.matmul(X.astype(np.int64), Y), r"`a`: expected elements of bf16.* or u8, got i64"),
    "no array": (lambda: ops.matmul([[1.0]], Y), r"`a`: expected an array or a tensor, got list"),
    "odd dtype": (lambda: ops.matmul(X.astype(complex), Y), r"`a`.*got complex128"),
    "out": (lambda: ops.matmul(X, Y, np.zeros((5, 3))), r"`out`: expected the shape \(3, 5\), got \(5, 3\)"),
    "out's dtype": (lambda: ops.matmul(X, Y, np.zeros((3, 5)), out_dtype=kiln.f32), r"`out`.*f32, got f64"),
    "precision": (lambda: ops.matmul(X, Y, precision="bf16"), r"`precision`: expected ieee, tf32 or tf32x3"),
    "scale": (lambda: ops.matmul(X8, Y8, scale_a=X), r"`scale_a`.*a number, 3 numbers, or a matrix of 1, 1 or 3 by"),
    "block scales": (lambda: ops.matmul(X8, Y8, scale_a=E8[:, :0]), r"`scale_a`: expected the shape \(3, 1\)"),
    "block scales beside others": (lambda: ops.matmul(X8, Y8, scale_a=E8, scale_b=2.0), "`scale_b`: expected None or elements"),
    "block scales of f32": (lambda: ops.matmul(X, Y8, scale_a=E8), "`a`: expected elements of f8e4m3fn"),
    "scale of f32": (lambda: ops.matmul(X, Y, scale_b=2.0), r"`scale_b`: expected None beside elements of f32"),
    "scale's dtype": (lambda: ops.matmul(X8, Y8, scale_b=np.ones(5)), r"`scale_b`: expected elements of f32"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_told(case):
    call, message = BAD[case]
    with pytest.raises(kiln.LaunchError, match=message):
        call()


def test_an_option_that_nobody_knows_is_told():
    with pytest.raises(TypeError, match="unexpected keyword argument 'tile'"):
        ops.matmul(X, Y, tile=3)


def test_results_are_the_same_from_run_to_run(rng):
    a, b = drawn(rng, BF16, 100, 300), drawn(rng, BF16, 300, 90)
    first = ops.matmul(a, b, out_dtype=kiln.f32)
    assert np.array_equal(first, ops.matmul(a, b, out_dtype=kiln.f32))
