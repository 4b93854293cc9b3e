"""What a process compiles does not depend on what it compiled before, though contexts and LLVM's code
generators are kept."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import kiln
from kiln import _native

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "utils/support"))
import probes  # noqa: E402

TARGETS = ("cpu", "cpu:x86-64-v2", "nvptx:sm_90a", "amdgpu:gfx942", "emu:sm_90a", "emu:gfx942")
# Of one instruction, of loops and calls, with state in the block, and refused.
OPS = {"arith.addf": "f32", "math.cos": "f64", "tile.sort": "f16", "tile.atomic_rmw addi": "i32",
       "tile.assert": "i1", "tile.dot": "bf16", "math.ctpop": "f32"}  # fmt: skip
HERE, WORKER = 0, 1


def compiled(op: str, target: str, isolation: int) -> object:
    """All that is made of the kernel, or why nothing is."""
    probe = next(probe for probe in probes.PROBES if probe.op == op)
    request = {
        "source": probe.kernel(OPS[op], target.replace("emu:sm", "nvptx:sm").replace("emu:", "amdgpu:")),
        "target": target, "keep_stages": ["all"], "isolation": isolation,
    }  # fmt: skip
    try:
        artifact, _, _ = _native.compile(None, None, request)
    except kiln.CompileError as error:
        return str(error)
    sections = [(name, bytes(artifact.section(name))) for name in artifact.sections]
    return artifact.metadata, sections


@pytest.mark.parametrize("target", TARGETS)
def test_code_is_that_of_a_new_process(rng, target: str) -> None:
    fresh = {op: compiled(op, target, WORKER) for op in OPS}
    assert any(isinstance(each, tuple) for each in fresh.values())
    for op in rng.permutation([*OPS] * 2):
        assert compiled(op, target, HERE) == fresh[op], f"{op} on {target}"


def test_code_is_that_of_a_new_process_behind_other_targets(rng) -> None:
    cells = [(op, target) for op in OPS for target in TARGETS]
    for op, target in rng.permutation(cells):
        compiled(op, target, HERE)
    for op, target in rng.permutation(cells)[:6]:
        assert compiled(op, target, HERE) == compiled(op, target, WORKER), f"{op} on {target}"
