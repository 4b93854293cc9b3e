"""kiln.ops.quantized_matmul against float64: 4 and 8 bits, groups, zeros, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from closeness import BF16, CHIPS, check, wide

import kiln
from kiln import ops
from kiln.ops import epilogues


def drawn(rng, kind, n, k):
    """Numbers of a kind, and the weights that hold them."""
    bits, signed = int(kind[1]), kind[0] == "i"
    low = -(1 << bits - 1) if signed else 0
    numbers = rng.integers(low, low + (1 << bits), (n, k))
    if kind.endswith("packed"):
        return numbers, kiln.PackedArray.from_numpy(numbers, kind[:2])
    if bits == 8:
        return numbers, numbers.astype(np.int8 if signed else np.uint8)
    bits = (numbers & 15).astype(np.uint8)
    data = bits[:, ::2] | bits[:, 1::2] << 4
    return numbers, data.view(np.int8) if signed else data


def reference(a, numbers, scales, zeros, group):
    """With weights as they are rounded."""

    def spread(x):
        return np.repeat(x.astype(np.float32), group, 1)[:, : numbers.shape[1]]

    q = numbers.astype(np.float32) - (0 if zeros is None else spread(zeros))
    return wide(a) @ wide((q * spread(scales)).astype(a.dtype)).T


@pytest.mark.drawn(6)
@pytest.mark.parametrize("kind", ["u4", "i4", "u4 packed", "i4 packed", "u8", "i8"])
@pytest.mark.parametrize("group", [32, 64, 96, 128, 256, "all"])
@pytest.mark.parametrize("zeros", [None, np.float32, np.uint8, BF16])
@pytest.mark.parametrize("rows", [(1,), (2, 3), (37,)])
def test_groups_and_zeros(kind, group, zeros, rows, rng):
    n, k = 70, 254 if group == "all" else 320
    dtype = BF16 if rows != (37,) else np.float16
    numbers, weights = drawn(rng, kind, n, k)
    a = rng.standard_normal((*rows, k)).astype(dtype)
    group = k if group == "all" else group
    count = kiln.cdiv(k, group)
    scales = rng.uniform(0.01, 0.1, (n, count)).astype(dtype)
    offsets = None if zeros is None else rng.integers(0, 9, (n, count)).astype(zeros)
    given = {"group": group} if k % count or k // count != group else {}
    got = ops.quantized_matmul(a, weights, scales, zeros=offsets, **given)
    assert got.dtype == dtype and got.shape == (*rows, n)
    check(got, reference(a, numbers, scales, offsets, group))


@pytest.mark.parametrize("chip", CHIPS)
def test_emulated_chips(chip, rng):
    numbers, weights = drawn(rng, "u4", 72, 192)
    a, scales = (
        rng.standard_normal((5, 192)).astype(BF16),
        rng.uniform(0.01, 0.1, (72, 3)).astype(np.float32),
    )
    zeros = rng.integers(0, 16, (72, 3)).astype(np.uint8)
    got = ops.quantized_matmul(
        a, weights, scales, zeros=zeros, out_dtype=kiln.f32, BM=16, BN=64, _device=f"emu:{chip}"
    )
    check(got, reference(a, numbers, scales, zeros, 64))


def test_an_epilogue_and_f32(rng):
    numbers, weights = drawn(rng, "i8", 33, 64)
    a, scales = (
        rng.standard_normal((7, 64)).astype(np.float32),
        rng.uniform(0.01, 0.1, (33, 1)).astype(np.float32),
    )
    bias, rows = rng.standard_normal(33).astype(np.float32), np.empty(7, np.float32)
    out = np.empty((7, 33), np.float32)
    steps = [epilogues.bias(bias), kiln.relu, epilogues.row_reduction(rows)]
    assert ops.quantized_matmul(a, weights, scales, out, epilogue=steps) is out
    want = np.maximum(reference(a, numbers, scales, None, 64) + bias, 0)
    check(out, want)
    check(rows, want.sum(axis=1))


def test_tensors_of_pytorch(rng):
    torch = pytest.importorskip("torch")
    numbers, weights = drawn(rng, "u4", 33, 64)
    a, scales = (
        rng.standard_normal((2, 3, 64)).astype(np.float32),
        rng.uniform(0.01, 0.1, (33, 2)).astype(np.float32),
    )
    got = ops.quantized_matmul(*map(torch.from_numpy, (a, weights, scales)))
    check(got.numpy(), reference(a, numbers, scales, None, 32))


A, W, S = np.zeros((3, 64), np.float32), np.zeros((5, 64), np.int8), np.zeros((5, 2), np.float32)
BAD = {
    "weights": (lambda: ops.quantized_matmul(A, W[:, :31], S), r"`weights`: expected \[N, 64\], or two.*\(5, 31\)"),
    "dtype": (lambda: ops.quantized_matmul(A, W.astype(np.int16), S), "`weights`: expected elements of u4, i4, u8 or i8"),
    "a's dtype": (lambda: ops.quantized_matmul(A.astype(np.float64), W, S), "`a`: expected elements of bf16"),
    "scales": (lambda: ops.quantized_matmul(A, W, S[:3]), r"`scales`: expected the shape \(5, 2\), got \(3, 2\)"),
    "count": (lambda: ops.quantized_matmul(A, W, np.ones((5, 3), np.float32)), "`scales`.*divides K = 64, or `group`, got 3"),
    "group": (lambda: ops.quantized_matmul(A, W, S, group=48), "`group`: expected a multiple of 32, or K = 64, got 48"),
    "zeros": (lambda: ops.quantized_matmul(A, W, S, zeros=S[:, :1]), r"`zeros`: expected the shape \(5, 2\)"),
    "out": (lambda: ops.quantized_matmul(A, W, S, A), r"`out`: expected the shape \(3, 5\)"),
    "strides": (
        lambda: ops.quantized_matmul(np.zeros((4, 3, 64), np.float32).swapaxes(0, 1), W, S),
        "`a`: expected leading dimensions that are dense in memory",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_told(case):
    call, message = BAD[case]
    with pytest.raises(kiln.LaunchError, match=message):
        call()
