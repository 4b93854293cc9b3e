"""kiln.ops.softmax, rms_norm and layer_norm against float64, of rows of any length and layout."""

from __future__ import annotations

import numpy as np
import pytest
from closeness import BF16, CHIPS, check, wide

import kiln
from kiln import ops

DTYPES = [BF16, np.float16, np.float32, np.float64]
SHAPES = [(1, 1), (7, 64), (3, 97), (2, 3, 130), (5,), (1, 5000), (0, 8), (4, 0), (33, 31)]


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=-1, keepdims=True)


def rms_norm(x, weight, eps):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * weight


def layer_norm(x, weight, bias, eps):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps) * weight + bias


@pytest.mark.drawn(7)
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("given", [True, False])
def test_rows(dtype, shape, given, rng):
    x = (3 * rng.standard_normal(shape)).astype(dtype)
    weight, bias = (rng.standard_normal(shape[-1]).astype(dtype) for _ in range(2))
    check(ops.softmax(x), softmax(wide(x)))
    if given:
        check(ops.rms_norm(x, weight, eps=1e-3), rms_norm(wide(x), wide(weight), 1e-3))
        check(ops.layer_norm(x, weight, bias), layer_norm(wide(x), wide(weight), wide(bias), 1e-5))
    else:
        check(ops.rms_norm(x), rms_norm(wide(x), 1, 1e-6))
        check(ops.layer_norm(x, eps=0.1), layer_norm(wide(x), 1, 0, 0.1))


def test_a_part_of_rows_in_place_and_another_dtype(rng):
    whole = rng.standard_normal((6, 50)).astype(np.float32)
    x, before = whole[::2, 3:40], whole.copy()
    want = softmax(wide(x))
    out = np.empty(x.shape, BF16)
    assert ops.softmax(x, out) is out
    check(out, want)
    assert ops.softmax(x, x) is x
    check(x, want)
    before[::2, 3:40] = x
    assert np.array_equal(whole, before)


@pytest.mark.parametrize("chip", CHIPS)
def test_emulated_chips(chip, rng):
    x, weight, bias = (rng.standard_normal(s).astype(BF16) for s in ((3, 77), (77,), (77,)))
    device = {"_device": f"emu:{chip}"}
    check(ops.softmax(x, **device), softmax(wide(x)))
    check(ops.rms_norm(x, weight, **device), rms_norm(wide(x), wide(weight), 1e-6))
    check(
        ops.layer_norm(x, weight, bias, **device),
        layer_norm(wide(x), wide(weight), wide(bias), 1e-5),
    )


def test_tensors_of_pytorch(rng):
    torch = pytest.importorskip("torch")
    x, weight = (
        torch.from_numpy(rng.standard_normal(s).astype(np.float32)) for s in ((2, 3, 40), (40,))
    )
    got = ops.rms_norm(x.transpose(0, 1).contiguous(), weight)
    want = rms_norm(wide(x.numpy()).swapaxes(0, 1), wide(weight.numpy()), 1e-6)
    check(got.numpy(), want)
    with pytest.raises(kiln.LaunchError, match="`x`: expected leading dimensions that are dense"):
        ops.softmax(x.transpose(0, 1))


X = np.zeros((3, 4), np.float32)
BAD = {
    "dtype": (lambda: ops.softmax(X.astype(np.int32)), "`x`: expected elements of bf16, f16, f32 or f64, got i32"),
    "no dimension": (lambda: ops.softmax(X[0, 0]), "`x`: expected at least one dimension"),
    "out": (lambda: ops.softmax(X, X.T), r"`out`: expected the shape \(3, 4\), got \(4, 3\)"),
    "weight": (lambda: ops.rms_norm(X, X[:, 0]), r"`weight`: expected the shape \(4,\), got \(3,\)"),
    "bias": (lambda: ops.layer_norm(X, X[0], X), r"`bias`: expected the shape \(4,\), got \(3, 4\)"),
    "eps": (lambda: ops.rms_norm(X, eps=-1), "`eps`: expected a number of at least 0, got -1"),
    "long": (lambda: ops.softmax(np.broadcast_to(X[0, :1], (1, 1 << 25))), "rows of at most 16777216 elements"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_told(case):
    call, message = BAD[case]
    with pytest.raises(kiln.LaunchError, match=message):
        call()
