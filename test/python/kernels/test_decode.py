"""kiln.ops.decode against float64: splits, lengths, pages, several queries, and what it refuses. Keys
behind a sequence's length are NaNs, as a cache's memory may be."""

from __future__ import annotations

import numpy as np
import pytest
from closeness import BF16, CHIPS
from test_attention_op import compare, drawn, reference

import kiln
from kiln import ops


def paged(rng, k, v, lengths, page):
    """Keys and values in pages of any order, with a table whose entries behind a length are no pages."""
    batch, heads, keys, _ = k.shape
    count = kiln.cdiv(keys, page)
    order = rng.permutation(batch * count).astype(np.int32)
    out = []
    for x in (k, v):
        whole = np.full((batch, heads, count * page, x.shape[3]), np.nan, x.dtype)
        whole[:, :, :keys] = x
        pages = whole.reshape(batch, heads, count, page, -1).transpose(0, 2, 1, 3, 4)
        out.append(np.empty((batch * count, heads, page, x.shape[3]), x.dtype))
        out[-1][order] = pages.reshape(out[-1].shape)
    table = order.reshape(batch, count).copy()
    for row, length in zip(table, lengths):
        row[kiln.cdiv(int(length), page) :] = -7
    return *out, table


def run(rng, sizes, lengths=None, page=None, dtype=BF16, window=None, softcap=None, **given):
    q, k, v = drawn(rng, dtype, *sizes)
    many = np.full(len(q), k.shape[2], np.int32) if lengths is None else np.array(lengths, np.int32)
    span = None if window is None else (window, 0)
    want = reference(q, k, v, causal=True, window=span, softcap=softcap, lengths=(None, many))
    for row, length in enumerate(many):
        k[row, :, length:] = v[row, :, length:] = np.nan
    if page:
        k, v, given["block_table"] = paged(rng, k, v, many, page)
    if page or lengths is not None:
        given["lengths"] = many
    got = ops.decode(q, k, v, window=window, softcap=softcap, return_lse=True, **given)
    compare(*got, *want)


CASES = {  # batch, heads, key heads, queries, keys, head size, and of values
    "one split": dict(sizes=(2, 4, 2, 1, 150, 64), splits=1),
    "splits": dict(sizes=(2, 4, 2, 1, 300, 64), splits=3),
    "by cores": dict(sizes=(1, 3, 1, 1, 700, 80)),
    "lengths": dict(sizes=(3, 4, 1, 1, 300, 64), splits=3, lengths=(300, 0, 77)),
    "queries": dict(sizes=(2, 6, 2, 3, 200, 64), splits=2, lengths=(200, 2), window=40),
    "capped": dict(sizes=(1, 2, 2, 2, 130, 72, 40), splits=2, softcap=2.0),
    "pages": dict(sizes=(3, 4, 2, 1, 300, 64), page=64, splits=2, lengths=(300, 0, 77)),
    "small pages": dict(sizes=(2, 4, 2, 2, 200, 64), page=16, splits=2, lengths=(200, 33)),
    "odd pages": dict(sizes=(2, 4, 2, 1, 200, 40), page=48, splits=1, lengths=(190, 1)),
    "f32": dict(sizes=(1, 4, 2, 1, 130, 64), splits=2, dtype=np.float32),
    "f16": dict(sizes=(1, 4, 4, 1, 130, 128), splits=2, dtype=np.float16, lengths=(97,)),
    "no keys": dict(sizes=(2, 4, 2, 1, 0, 64), splits=2),
    "more splits than keys": dict(sizes=(1, 2, 1, 1, 3, 64), splits=5),
}


@pytest.mark.drawn(5)
@pytest.mark.parametrize("case", CASES)
def test_decode(case, rng):
    run(rng, **CASES[case])


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("case", ["lengths", "queries", "small pages"])
@pytest.mark.drawn(3)
def test_emulated_chips(case, chip, rng):
    run(rng, _device=f"emu:{chip}", **CASES[case])


def test_a_query_without_its_dimension(rng):
    q, k, v = drawn(rng, BF16, 2, 4, 2, 1, 100, 64)
    want = reference(q, k, v)
    got, lse = ops.decode(q[:, :, 0], k, v, return_lse=True)
    assert got.shape == (2, 4, 64) and lse.shape == (2, 4)
    compare(got[:, :, None], lse[:, :, None], *want)
    out = np.empty((2, 4, 64), np.float32)
    assert ops.decode(q[:, :, 0], k, v, out) is out
    assert np.array_equal(out.astype(BF16), got)


Q, K = np.zeros((2, 4, 8), np.float32), np.zeros((2, 2, 7, 8), np.float32)
TABLE = np.zeros((2, 3), np.int32)
BAD = {
    "rank": (lambda: ops.decode(Q[0], K, K), r"`q`: expected \[batch, heads, d\]"),
    "keys' rank": (lambda: ops.decode(Q, K[0], K), r"`k`: expected \[batch, key heads, keys, d\]"),
    "batch": (lambda: ops.decode(Q, K[:1], K[:1]), "`k`: expected the batch 2, a divisor of 4 heads"),
    "heads": (lambda: ops.decode(Q[:, :3], K, K), "`k`.*a divisor of 3 heads"),
    "values": (lambda: ops.decode(Q, K, K[:, :1]), r"`v`: expected the shape \(2, 2, 7, 8\)"),
    "many": (lambda: ops.decode(np.zeros((2, 4, 65, 8), np.float32), K, K), "at most 128, got 2 times 65"),
    "lengths": (lambda: ops.decode(Q, K, K, lengths=TABLE), r"`lengths`: expected the shape \(2,\)"),
    "table": (lambda: ops.decode(Q, K, K, block_table=TABLE[:1]), r"`block_table`: expected \[2, pages\]"),
    "table's dtype": (lambda: ops.decode(Q, K, K, block_table=TABLE * 1.0), "`block_table`: expected elements of i32"),
    "splits": (lambda: ops.decode(Q, K, K, splits=0), "`splits`: expected from 1 to 128 parts, got 0"),
    "window": (lambda: ops.decode(Q, K, K, window=-1), "`window`: expected a count of keys, got -1"),
    "out": (lambda: ops.decode(Q, K, K, Q[:1]), r"`out`: expected the shape \(2, 4, 8\)"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_told(case):
    call, message = BAD[case]
    with pytest.raises(kiln.LaunchError, match=message):
        call()
