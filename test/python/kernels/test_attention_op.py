"""kiln.ops.attention against float64: heads, masks, lengths, logarithms, and what it does not read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from closeness import BF16, CHIPS, check, wide

import kiln
from kiln import ops


def reference(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool = False, scale: float | None = None,
    window: Any = None, softcap: float | None = None, lengths: Any = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The result and the logarithms of sums, of the whole matrix of scores."""
    q, k, v = wide(q), wide(k), wide(v)
    batch, heads, queries, d = q.shape
    keys, group = k.shape[2], heads // k.shape[1]
    k, v = np.repeat(k, group, 1), np.repeat(v, group, 1)
    scores = q @ k.swapaxes(2, 3) * (scale or d**-0.5)
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    rows, columns = lengths if isinstance(lengths, tuple) else (lengths, lengths)
    rows = np.full(batch, queries) if rows is None else rows
    columns = np.full(batch, keys) if columns is None else columns
    rows, columns = rows[:, None, None], columns[:, None, None]
    row, column = np.arange(queries)[:, None], np.arange(keys)
    position = row + columns - rows
    visible = (column < columns) & (row < rows)
    left, right = window if isinstance(window, tuple) else (window, window)
    if causal:
        right = 0
    if left is not None:
        visible = visible & (column >= position - left)
    if right is not None:
        visible = visible & (column <= position + right)
    scores = np.where(visible[:, None], scores, -np.inf)
    most = scores.max(axis=3, keepdims=True, initial=-1e300)
    weights = np.exp(scores - most)
    total = weights.sum(axis=3, keepdims=True)
    with np.errstate(divide="ignore"):
        return weights @ v / np.where(total > 0, total, 1), (most + np.log(total))[..., 0]


def compare(got: np.ndarray, lse: np.ndarray, want: np.ndarray, logarithms: np.ndarray) -> None:
    check(got, want)
    hidden = np.isneginf(logarithms)
    assert np.array_equal(np.isneginf(lse), hidden)
    assert not got[hidden].any()
    seen = logarithms[~hidden]
    assert (np.abs(lse[~hidden] - seen) <= 1e-5 * (1 + np.abs(seen))).all()


def drawn(rng, dtype, batch, heads, key_heads, queries, keys, d, dv=None):
    shapes = (
        (batch, heads, queries, d),
        (batch, key_heads, keys, d),
        (batch, key_heads, keys, dv or d),
    )
    return tuple(rng.standard_normal(shape).astype(dtype) for shape in shapes)


SIZES = {  # batch, heads, key heads, queries, keys, head size, and of values
    "square": (1, 2, 2, 70, 70, 64), "grouped": (2, 4, 2, 65, 130, 80), "few keys": (1, 2, 1, 67, 37, 40),
    "two sizes": (1, 2, 1, 33, 70, 192, 128), "largest": (1, 1, 1, 33, 45, 256), "one": (1, 1, 1, 1, 1, 1),
    "prime": (1, 3, 1, 31, 41, 17), "no keys": (1, 2, 1, 5, 0, 64), "no queries": (1, 2, 1, 0, 5, 64),
}  # fmt: skip
MASKS = {
    "full": {}, "causal": {"causal": True}, "window": {"window": 10}, "left": {"window": (20, None)},
    "right": {"window": (None, 7)}, "causal window": {"causal": True, "window": (np.int64(30), 5)},
    "capped": {"softcap": 2.0, "scale": 0.7}, "itself": {"window": (0, 0), "softcap": 1.0},
}  # fmt: skip


@pytest.mark.drawn(6)
@pytest.mark.parametrize("dtype", [BF16, np.float16, np.float32])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("sizes", SIZES)
def test_heads_and_masks(dtype, mask, sizes, rng):
    q, k, v = drawn(rng, dtype, *SIZES[sizes])
    got, lse = ops.attention(q, k, v, return_lse=True, **MASKS[mask])
    compare(got, lse, *reference(q, k, v, **MASKS[mask]))


@pytest.mark.drawn(3)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("kind", ["both", "pair", "keys", "queries"])
def test_lengths(kind, mask, rng):
    """Of a batch one is full, one is empty, and what lies behind the lengths may be anything."""
    queries, keys = (70, 70) if kind == "both" else (40, 130)
    q, k, v = drawn(rng, BF16, 4, 2, 1, queries, keys, 64)
    few = np.array([queries, 0, 33, 9], np.int32)
    many = few if kind == "both" else np.array([keys, 100, 0, 7], np.int64)
    lengths = {"both": few, "pair": (few, many), "keys": (None, many), "queries": (few, None)}[kind]
    want = reference(q, k, v, lengths=lengths, **MASKS[mask])
    got, lse = ops.attention(q, k, v, lengths=lengths, return_lse=True, **MASKS[mask])
    compare(got, lse, *want)


def test_out_and_any_strides(rng):
    q, k, v = (x.swapaxes(1, 2) for x in drawn(rng, np.float16, 2, 40, 40, 4, 4, 64))
    out = np.empty((2, 40, 4, 64), np.float32).swapaxes(1, 2)
    assert ops.attention(q, k, v, out, causal=True) is out
    check(out, reference(q, k, v, causal=True)[0], 1e-3)
    assert np.array_equal(out, ops.attention(q, k, v, out.copy(), causal=True))


@pytest.mark.parametrize(
    "mask, read", [("causal", (0, 96)), ("causal window", (32, 96)), ("window", (32, 128))]
)
def test_blocks_that_no_query_sees_are_not_read(mask, read, rng):
    """They hold NaNs, which a product with weights of zero would not hide."""
    q, k, v = drawn(rng, BF16, 1, 1, 1, 128, 128, 64)
    want, logarithms = reference(q, k, v, **MASKS[mask])
    for x in (k, v):
        x[:, :, : read[0]] = x[:, :, read[1] :] = np.nan
    got, lse = ops.attention(q, k, v, return_lse=True, BM=32, BN=32, **MASKS[mask])
    rows = slice(64 + 10 * (mask == "window"), 96)
    compare(got[:, :, rows], lse[:, :, rows], want[:, :, rows], logarithms[:, :, rows])


def test_keys_behind_the_lengths_are_not_read(rng):
    q, k, v = drawn(rng, BF16, 2, 2, 1, 64, 160, 64)
    lengths = (np.array([64, 32]), np.array([64, 96]))
    want = reference(q, k, v, lengths=lengths)
    for x in (k, v):
        x[0, :, 64:] = x[1, :, 96:] = np.nan
    got = ops.attention(q, k, v, lengths=lengths, return_lse=True, BM=32, BN=32)
    compare(*got, *want)


@pytest.mark.parametrize("chip", CHIPS)
def test_emulated_chips(chip, rng):
    q, k, v = drawn(rng, BF16, 2, 2, 1, 37, 70, 40)
    given = {"causal": True, "window": (25, 0), "lengths": (np.array([37, 20]), np.array([70, 33]))}
    got = ops.attention(q, k, v, return_lse=True, BM=32, BN=32, _device=f"emu:{chip}", **given)
    compare(*got, *reference(q, k, v, **given))


def test_tensors_of_pytorch(rng):
    torch = pytest.importorskip("torch")
    q, k, v = (torch.from_numpy(x) for x in drawn(rng, np.float32, 1, 2, 1, 20, 30, 64))
    got, lse = ops.attention(q, k, v, return_lse=True)
    compare(got.numpy(), lse.numpy(), *reference(q.numpy(), k.numpy(), v.numpy()))


Q, K = np.zeros((2, 4, 5, 8), np.float32), np.zeros((2, 2, 7, 8), np.float32)
ONE = np.zeros(2, np.int32)
BAD = {
    "rank": (lambda: ops.attention(Q[0], K, K), r"`q`: expected \[batch, heads, length, d\]"),
    "dtype": (lambda: ops.attention(Q.astype(np.int8), K, K), "`q`: expected elements of bf16, f16 or f32"),
    "dtypes": (lambda: ops.attention(Q, K, K.astype(BF16)), "`v`: expected elements of f32, got bf16"),
    "batch": (lambda: ops.attention(Q, K[:1], K), r"`k`: expected the batch 2, a divisor of 4 heads"),
    "heads": (lambda: ops.attention(Q[:, :3], K, K), "`k`.*a divisor of 3 heads"),
    "size": (lambda: ops.attention(Q, K[..., :4], K), "`k`.*head size 8"),
    "values": (lambda: ops.attention(Q, K, K[:, :, :6]), r"`v`: expected the shape \(2, 2, 7, 8\)"),
    "large": (lambda: ops.attention(*3 * [np.zeros((1, 1, 2, 257), np.float32)]), "from 1 to 256, got 257"),
    "scale": (lambda: ops.attention(Q, K, K, scale=-1), "`scale`: expected a number above 0, got -1"),
    "softcap": (lambda: ops.attention(Q, K, K, softcap=0), "`softcap`: expected a number above 0, got 0"),
    "window": (lambda: ops.attention(Q, K, K, window=(1, 2, 3)), "`window`: expected one or two counts"),
    "negative": (lambda: ops.attention(Q, K, K, window=-1), "`window`.*got -1"),
    "one length": (lambda: ops.attention(Q, K, K, lengths=ONE), "`lengths`: expected a pair.*5 queries and 7 keys"),
    "lengths": (lambda: ops.attention(Q, Q, Q, lengths=ONE[:1]), r"`lengths`: expected the shape \(2,\)"),
    "floats": (lambda: ops.attention(Q, Q, Q, lengths=ONE * 1.0), "`lengths`: expected elements of i32 or i64"),
    "out": (lambda: ops.attention(Q, K, K, Q[..., :4]), r"`out`: expected the shape \(2, 4, 5, 8\)"),
    "precision": (lambda: ops.attention(Q, K, K, precision="f16"), "`precision`: expected ieee"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_told(case):
    call, message = BAD[case]
    with pytest.raises(kiln.LaunchError, match=message):
        call()
