"""What the analyses of indices claim holds for every element, whatever the arguments are.

Random programs of integer arithmetic are given to `tile-print-index-facts`, and NumPy computes every
value of theirs: each claim (a power of two that divides, neighbours that are the same, neighbours that
count on, a range) is held against all of them.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from index_programs import Program, check

ROOT = Path(__file__).resolve().parents[3]
TILE_OPT = Path(os.environ.get("KILN_BUILD", ROOT / "build")) / "bin/tile-opt"
CLAIM = re.compile(
    r"^[^:]*:(\d+):\d+: remark: divisor (\d+), same \[([\d, ]*)\], run \[([\d, ]*)\]"
    r"(?:, from (-?\d+) to (-?\d+))?$", re.M,
)  # fmt: skip

needs_tile_opt = pytest.mark.skipif(not os.access(TILE_OPT, os.X_OK), reason="needs tile-opt")


def claims_of(text: str) -> dict[int, list[dict]]:
    """By line, the claims about each result."""
    command = [str(TILE_OPT), "-", "--tile-print-index-facts", "-o", os.devnull]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:] + text
    claims: dict[int, list[dict]] = {}
    for line, divisor, same, run, low, high in CLAIM.findall(done.stderr):
        numbers = [[int(n) for n in part.split(",") if n.strip()] for part in (same, run)]
        claim = {"divisor": int(divisor), "same": numbers[0], "run": numbers[1]}
        if low:
            claim["range"] = (int(low), int(high))
        claims.setdefault(int(line), []).append(claim)
    return claims


def programs(rng, count: int) -> tuple[str, list[Program]]:
    lines, all = 0, []
    for number in range(count):
        program = Program(rng, number, lines + 1)
        lines += len(program.lines)
        all.append(program)
    return "\n".join(line for p in all for line in p.lines), all


def wrong_claims(rng, count: int, spoil=lambda claim: claim) -> tuple[list[str], int]:
    """Those that do not hold, and how many say anything."""
    text, all = programs(rng, count)
    claims, wrong, telling = claims_of(text), [], 0
    for program in all:
        for line, results in program.seen.items():
            for claim, values in zip(claims.get(line, []), results, strict=True):
                telling += max([1, *claim["run"]]) > 1 or claim["divisor"] > 1
                what = check(spoil(claim), values)
                if what:
                    source = "\n".join(program.lines[: line - program.first_line + 1])
                    wrong.append(f"{what} of {claim} is not true of the last line of\n{source}")
    return wrong, telling


@needs_tile_opt
def test_every_claim_about_random_index_arithmetic_holds(rng):
    wrong, telling = wrong_claims(rng, 150)
    assert not wrong, wrong[0]
    assert telling > 300


@needs_tile_opt
@pytest.mark.parametrize("field", ["divisor", "same", "run"])
def test_a_claim_that_says_too_much_is_found(rng, field):
    def spoil(claim):
        grown = (
            claim[field] * 2
            if field == "divisor"
            else [2 * n if n > 1 else n for n in claim[field]]
        )
        return {**claim, field: grown}

    wrong, _ = wrong_claims(rng, 40, spoil)
    assert wrong


@needs_tile_opt
def test_a_row_of_a_ragged_extent_is_known_to_be_a_run():
    text = """tile.kernel @k(%x: !tile.view<?x?xf32, strides [?, 1]>
    {tile.facts = #tile.facts<extents = [0, 8], index32>}) {
      %pid = tile.program_id x
      %n = tile.dim %x, 1 : !tile.view<?x?xf32, strides [?, 1]>
      %base = arith.muli %pid, %n : index
      %s = tile.splat %base : tensor<1024xindex>
      %i = tile.iota 0 : tensor<1024xindex>
      %at = arith.addi %s, %i : tensor<1024xindex>
      %ns = tile.splat %n : tensor<1024xindex>
      %row = arith.divui %at, %ns : tensor<1024xindex>
      %back = arith.muli %row, %ns : tensor<1024xindex>
      %column = arith.subi %at, %back : tensor<1024xindex>
      tile.return
    }"""
    claims = claims_of(text)
    assert claims[4][0]["range"] == (8, 2**29)
    assert claims[8][0]["run"] == [8]
    assert claims[10][0]["same"] == [8]
    assert claims[12][0]["run"] == [8] and claims[12][0]["divisor"] == 1
    assert np.prod(claims[12][0]["same"]) == 1
