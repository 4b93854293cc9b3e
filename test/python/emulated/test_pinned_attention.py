"""The attention of benchmarks/ whose decisions are pinned for sm_90a by other decisions, on that chip
emulated, against float64. As it is, test_every_benchmark.py runs it.

Boxes land only when a barrier is waited for, and stores read their buffers only when they are
waited for; so a wait too few is an error or other numbers.
"""

from __future__ import annotations

import pytest
from pinned import BENCHMARKS, build
from pinned_runs import check_attention

CHIP = "sm_90a"


@pytest.fixture(scope="module")
def source() -> bytes:
    return (BENCHMARKS / "attention.mlir").read_bytes()


def test_copies_in_turns(source, rng) -> None:
    skewed = source.replace(b"copies = 2, registers", b"copies = 2, skew = 1, registers")
    assert skewed != source
    check_attention(build(skewed, CHIP), rng, 1, 384, True)


def test_few_programs_run_all_tiles(source, rng) -> None:
    """The queries' one slot, and both rings, go from tile to tile."""
    few = source.replace(b"programs = 132", b"programs = 2")
    assert few != source
    check_attention(build(few, CHIP), rng, 2, 384, True)


def test_another_role_stores(source, rng) -> None:
    handed = source.replace(
        b"copies = 2, registers = 240>",
        b'copies = 2, registers = 232>, #tile.role<"store", warps = 4, registers = 24>',
    ).replace(b'#copy, role = "mma", in_flight = 1', b'#copy, role = "store", in_flight = 0')
    assert handed.count(b'"store"') == 2
    check_attention(
        build(handed.replace(b"programs = 132", b"programs = 2"), CHIP), rng, 2, 384, True
    )
