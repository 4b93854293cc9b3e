"""kiln.ops.grouped_matmul against float64: ragged groups, gathered and scattered rows, and what it
refuses."""

from __future__ import annotations

import numpy as np
import pytest
from closeness import BF16, CHIPS, check, wide

import kiln
from kiln import ops
from kiln.ops import epilogues


def reference(a, b, offsets, gather=None):
    """Rows in the order of the groups; those of no group are NaNs."""
    a = wide(a) if gather is None else wide(a)[gather]
    out = np.full((len(a), b.shape[2]), np.nan)
    for matrix, start, end in zip(wide(b), offsets, offsets[1:]):
        out[start:end] = a[start:end] @ matrix
    return out


def drawn(rng, dtype, counts, k, n):
    a, b = rng.standard_normal((sum(counts), k)), rng.standard_normal((len(counts), k, n))
    return a.astype(dtype), b.astype(dtype), np.cumsum([0, *counts])


COUNTS = {
    "ragged": (5, 0, 70, 1, 31), "empty ends": (0, 0, 33, 0), "one": (67,), "none": (0, 0, 0),
    "many": (3,) * 19, "multiples": (64, 128, 64),
}  # fmt: skip


@pytest.mark.drawn(6)
@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("dtype", [BF16, np.float16, np.float32])
@pytest.mark.parametrize("transposed", [False, True])
def test_ragged_groups(counts, dtype, transposed, rng):
    a, b, offsets = drawn(rng, dtype, COUNTS[counts], 45, 37)
    given = np.ascontiguousarray(b.swapaxes(1, 2)) if transposed else b
    got = ops.grouped_matmul(a, given, offsets.astype(np.int32), transpose_b=transposed)
    check(got, reference(a, b, offsets))


def test_rows_of_no_group_are_not_written(rng):
    a, b, _ = drawn(rng, np.float32, (40, 30, 30), 20, 17)
    offsets = np.array([7, 30, 30, 77])
    out = np.full((100, 17), 3.0, np.float32)
    assert ops.grouped_matmul(a, b, offsets, out) is out
    check(out[7:77], reference(a, b, offsets)[7:77])
    assert (out[:7] == 3).all() and (out[77:] == 3).all()


@pytest.mark.parametrize("device", ["cpu", *(f"emu:{chip}" for chip in CHIPS)])
def test_rows_gathered_by_index_and_scattered(device, rng):
    """As of a layer of experts: each token goes to two of them, and comes back in its place."""
    tokens, experts = 23, 4
    chosen = np.concatenate([rng.permutation(experts)[:2] for _ in range(tokens)])
    order = np.argsort(chosen, kind="stable")
    offsets = np.searchsorted(chosen[order], np.arange(experts + 1))
    x, b = (
        rng.standard_normal((tokens, 40)).astype(BF16),
        rng.standard_normal((experts, 40, 48)).astype(BF16),
    )
    weights = rng.uniform(0.5, 1, 2 * tokens).astype(np.float32)
    bias = rng.standard_normal((experts, 48)).astype(np.float32)
    out = np.full((2 * tokens, 48), np.nan, np.float32)
    tiles = {} if device == "cpu" else {"BM": 16, "BN": 64}
    ops.grouped_matmul(
        x, b, offsets, out, gather=(order // 2).astype(np.int32), scatter=order.astype(np.int32),
        epilogue=[epilogues.bias(bias), epilogues.scaled(rows=weights)], _device=device, **tiles,
    )  # fmt: skip
    want = np.empty((2 * tokens, 48))
    want[order] = (reference(x, b, offsets, order // 2) + bias[chosen[order]]) * weights[:, None]
    check(out, want)


def test_tensors_of_pytorch(rng):
    torch = pytest.importorskip("torch")
    a, b, offsets = (torch.from_numpy(x) for x in drawn(rng, np.float32, (5, 9), 20, 17))
    got = ops.grouped_matmul(a, b, offsets)
    check(got.numpy(), reference(a.numpy(), b.numpy(), offsets.numpy()))


A, B, OFFSETS = np.zeros((6, 4), np.float32), np.zeros((2, 4, 5), np.float32), np.zeros(3, np.int32)
SIX = np.zeros(6, np.int32)
BAD = {
    "rank": (lambda: ops.grouped_matmul(B, B, OFFSETS), r"`a`: expected \[rows, K\]"),
    "inner": (lambda: ops.grouped_matmul(A, B, OFFSETS, transpose_b=True), r"`b`: expected \[groups, N, K\] with K = 4"),
    "dtypes": (lambda: ops.grouped_matmul(A, B.astype(BF16), OFFSETS), "`b`: expected elements of f32, got bf16"),
    "offsets": (lambda: ops.grouped_matmul(A, B, OFFSETS[:2]), r"`offsets`: expected the shape \(3,\), got \(2,\)"),
    "floats": (lambda: ops.grouped_matmul(A, B, OFFSETS * 1.0), "`offsets`: expected elements of i32 or i64"),
    "scatter": (lambda: ops.grouped_matmul(A, B, OFFSETS, A, scatter=SIX[:3]), r"`scatter`: expected the shape \(6,\)"),
    "nowhere": (lambda: ops.grouped_matmul(A, B, OFFSETS, scatter=SIX), "`out`: expected an array to scatter rows into"),
    "out": (lambda: ops.grouped_matmul(A, B, OFFSETS, A), r"`out`: expected the shape \(6, 5\)"),
    "gather": (lambda: ops.grouped_matmul(A, B, OFFSETS, gather=A[0]), "`gather`: expected elements of i32"),
    "reduction": (
        lambda: ops.grouped_matmul(A, B, OFFSETS, epilogue=epilogues.row_reduction(np.zeros(6, np.float32))),
        "`epilogue`: expected functions of single rows or elements",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_told(case):
    call, message = BAD[case]
    with pytest.raises(kiln.LaunchError, match=message):
        call()
