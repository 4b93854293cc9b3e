"""The attention whose decisions are pinned for sm_90a, on that chip emulated, against float64.

Boxes land only when a barrier is waited for, and stores read their buffers only when they are
waited for; so a wait too few is an error or other numbers.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from pinned import BENCHMARKS, build

CHIP = "sm_90a"
BF16 = ml_dtypes.bfloat16
HEAD = 128


@pytest.fixture(scope="module")
def source() -> bytes:
    return (BENCHMARKS / "attention.mlir").read_bytes()


@pytest.fixture(scope="module")
def attention(source):
    return build(source, CHIP)


def reference(q, k, v, causal: bool) -> np.ndarray:
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = q @ np.swapaxes(k, 1, 2) / HEAD**0.5
    if causal:
        n = scores.shape[1]
        scores = np.where(np.tril(np.ones((n, n), bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    return weights @ v / weights.sum(axis=2, keepdims=True)


# One block of keys; two, so that one loop runs; three and more, so that both rings go round and
# one loop hands them to the other; keys that do not fill a block; several heads.
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads, n", [(1, 128), (1, 256), (1, 640), (1, 200), (1, 40), (2, 384)])
def test_attention(attention, rng, heads: int, n: int, causal: bool) -> None:
    check(attention, rng, heads, n, causal)


def check(attention, rng, heads: int, n: int, causal: bool) -> None:
    q, k, v = (rng.standard_normal((heads, n, HEAD)).astype(BF16) for _ in range(3))
    # Scores of some rows are large: then weights are sharp and the largest moves from block to block.
    q[:, ::3] *= BF16(8)
    out = np.full((heads * n, HEAD), np.nan, BF16)
    attention(*(x.reshape(-1, HEAD) for x in (q, k, v)), out, n, int(causal))
    want = reference(q, k, v, causal).reshape(-1, HEAD)
    difference = np.abs(out.astype(np.float64) - want)
    norm = np.linalg.norm(want)
    assert np.linalg.norm(difference) <= 5e-3 * norm
    assert difference.max() <= 0.06 * norm / want.size**0.5 + 0.01 * np.abs(want).max()


def test_copies_in_turns(source, rng) -> None:
    skewed = source.replace(b"copies = 2, registers", b"copies = 2, skew = 1, registers")
    assert skewed != source
    check(build(skewed, CHIP), rng, 1, 384, True)


def test_few_programs_run_all_tiles(source, rng) -> None:
    """The queries' one slot, and both rings, go from tile to tile."""
    few = source.replace(b"programs = 132", b"programs = 2")
    assert few != source
    check(build(few, CHIP), rng, 2, 384, True)


def test_another_role_stores(source, rng) -> None:
    handed = source.replace(
        b"copies = 2, registers = 240>",
        b'copies = 2, registers = 232>, #tile.role<"store", warps = 4, registers = 24>',
    ).replace(b'#copy, role = "mma", in_flight = 1', b'#copy, role = "store", in_flight = 0')
    assert handed.count(b'"store"') == 2
    check(build(handed.replace(b"programs = 132", b"programs = 2"), CHIP), rng, 2, 384, True)
