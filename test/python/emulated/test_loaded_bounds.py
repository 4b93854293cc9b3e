"""Rows of sequences whose bounds are loaded from memory: no engine reads zeros behind a bound that its
map does not have, so warps fill rings of their own, by copies past the registers where the chip has
them. On emulated chips, against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def attend(
    q: kiln.View, k: kiln.View, v: kiln.View, starts: kiln.View, o: kiln.View, D: kiln.constexpr
):  # fmt: skip
    """Of each sequence 128 rows at most, which see all of its rows."""
    tile, b = kiln.grid(2, starts.shape[0] - 1)
    first, last = starts[b], starts[b + 1]
    rows, keys, values, out = (x[first:last] for x in (q, k, v, o))
    queries = rows.load((tile * 64, 0), (64, D))
    acc = kiln.zeros((64, D), kiln.f32)
    for j in range(0, keys.shape[0], 64):
        s = kiln.dot(queries, keys.load((j, 0), (64, D)), transpose_b=True)
        weights = kiln.maximum(s, 0.0).to(kiln.bf16)
        acc = kiln.dot(weights, values.load((j, 0), (64, D)), acc)
    out.store((tile * 64, 0), acc)


# Each with what brings keys and values; where copies want extents of whole pieces, through registers.
CHIPS = {
    "nvptx:sm_80": "cp.async.cg",
    "nvptx:sm_90a": "cp.async.cg",
    "nvptx:sm_100a": "cp.async.cg",
    "amdgpu:gfx950": "ds_write_b",
}


@pytest.mark.parametrize("target", CHIPS)
def test_sequences_of_any_length(rng: np.random.Generator, target: str) -> None:
    lengths = rng.integers(0, 129, int(rng.integers(1, 5)))
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    n = int(starts[-1]) + 70  # what follows is nobody's
    q, k, v = ((rng.integers(-1, 2, (n, 64)) * 0.5).astype(BF16) for _ in range(3))
    o = np.zeros((n, 64), np.float32)
    attend.options(device="emu:" + target.split(":")[1])(q, k, v, starts, o, D=64)
    want = np.zeros((n, 64))
    for first, last in zip(starts, starts[1:]):
        x, y, z = (t[first:last].astype(np.float64) for t in (q, k, v))
        want[first:last] = np.maximum(x @ y.T, 0).astype(BF16).astype(np.float64) @ z
    assert np.linalg.norm(o - want) <= 1e-5 * np.linalg.norm(want) + 1e-9, lengths
    compiled = attend.compile(q, k, v, starts, o, D=64, target=target)
    assert CHIPS[target] in compiled.asm
    assert compiled.metadata["proposal"] in (2, 3)
    assert compiled.metadata.get("local_bytes", 0) == 0
