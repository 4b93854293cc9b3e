"""What the analyses of indices claim holds for every element, whatever the arguments are.

Random programs of integer arithmetic are given to `tile-print-index-facts`, and NumPy computes every
value of theirs: each claim (a power of two that divides, neighbours that are the same, neighbours that
count on, a range) is held against all of them. Such programs also run, whole: in 32 bits where that is
proven, and with multiplications for divisions, they give what NumPy gives.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from index_programs import OUTPUTS, Program, check
from index_values import ASSIGNMENTS
from placing import Placement
from tiles import DEVICE, compile_text, launch

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


@pytest.mark.host  # what is claimed is of no device
@needs_tile_opt
def test_every_claim_about_random_index_arithmetic_holds(rng):
    wrong, telling = wrong_claims(rng, 150)
    assert not wrong, wrong[0]
    assert telling > 300


@pytest.mark.host  # what is claimed is of no device
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


@pytest.mark.host  # what is claimed is of no device
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


@pytest.mark.parametrize("number", range(12))
def test_random_index_arithmetic_is_computed_exactly(rng, number):
    for _ in range(number):
        rng = np.random.default_rng(rng.integers(2**62))
    program = Program(rng, 0, 1, to_run=True)
    text = "\n".join(program.lines).replace("@k0(", "@k(")
    # An empty array of NumPy's own has strides of 0, which the kernel refuses; a part keeps its own.
    whole = np.zeros([max(extent, 1) for extent in program.extents], np.float32)
    x = whole[tuple(slice(0, extent) for extent in program.extents)]
    widest = max((want.shape[1] for want in program.outputs), default=1)
    arrays = [np.zeros((ASSIGNMENTS, widest), np.int64) for _ in range(OUTPUTS)]
    launch(text, [program.n, x, *arrays], (ASSIGNMENTS,))
    for got, want in zip(arrays, program.outputs, strict=False):
        np.testing.assert_array_equal(got[:, : want.shape[1]], want, err_msg=text)


DIVIDE = """tile.kernel @k(%d: !tile.view<1xi32>, %x: !tile.view<?xi32, strides [1]>,
    %q: !tile.view<?xi32, strides [1]>, %r: !tile.view<?xi32, strides [1]>) {
  %zero = arith.constant 0 : index
  %most = arith.constant dense<2147483647> : tensor<256xi32>
  %scalars = tile.load %d[%zero] : !tile.view<1xi32> -> tensor<1xi32>
  %scalar = tile.to_scalar %scalars : tensor<1xi32>
  %mask = arith.constant 2147483647 : i32
  %by = arith.andi %scalar, %mask : i32
  %n = tile.load %x[%zero] : !tile.view<?xi32, strides [1]> -> tensor<256xi32>
  %positive = arith.andi %n, %most : tensor<256xi32>
  %tile = tile.splat %by : tensor<256xi32>
  %quotient = arith.divsi %positive, %tile : tensor<256xi32>
  %rest = arith.remsi %positive, %tile : tensor<256xi32>
  tile.store %quotient, %q[%zero] : tensor<256xi32>, !tile.view<?xi32, strides [1]>
  tile.store %rest, %r[%zero] : tensor<256xi32>, !tile.view<?xi32, strides [1]>
  tile.return
}"""


def test_a_division_by_a_scalar_is_exact_wherever_it_might_not_be(rng):
    """Around multiples of the divisor, at both ends, and for divisors around powers of two."""
    edges = {0, 1, 2, 3, 5, 7, 2**31 - 1, 2**31 - 2, 641, 6700417, 1000003}
    edges |= {2**k + d for k in (8, 16, 20, 30) for d in (-1, 0, 1)}
    edges |= {int(d) for d in rng.integers(1, 2**31, 12)}
    executable = compile_text(DIVIDE)
    for divisor in sorted(edges):
        multiples = rng.integers(0, (2**31 - 1) // max(divisor, 1) + 1, 80) * divisor
        numbers = np.concatenate(
            [multiples, multiples - 1, multiples + 1, [0, 1, 2**31 - 1, 2**31 - 2]]
        )
        n = np.clip(numbers, 0, 2**31 - 1).astype(np.int32)
        n = np.concatenate([n, rng.integers(0, 2**31, 256 - len(n)).astype(np.int32)])
        quotient, rest = np.zeros_like(n), np.zeros_like(n)
        placement = Placement(DEVICE)
        arrays = (np.array([divisor], np.int32), n, quotient, rest)
        executable.launch("k", [placement.place(array) for array in arrays], (1,))
        placement.fetch()
        want = n // divisor if divisor else 0 * n
        np.testing.assert_array_equal(quotient, want, err_msg=str(divisor))
        np.testing.assert_array_equal(rest, n - want * divisor if divisor else 0 * n)
