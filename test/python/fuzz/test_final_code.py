"""Random schedules whose final code was accused of what it does not do: tile-check-isa says nothing
of them now. What is wrong with a final code is said with its case."""

import subprocess
import sys

import isa
import kernel_check
import pytest
import schedule_check
import schedule_code
from schedule_writer import Case

KEPT = {
    "a ring that its only role fills, with barriers by which an engine tells that it has read": Case(
        1044, "sm_100a", "product",
        {"M": 128, "N": 32, "K": 64, "dtype": "f16", "sums": "f32", "out": "f16", "ta": True,
         "tb": True, "act": True, "bias": True, "second": False, "gate": False, "nest": True,
         "counted": False, "most": False},
        {"x": {"atom": "through_registers", "stage": 0, "ring": "x", "depth": 5},
         "y": {"atom": "cp_async", "stage": 1, "ring": "y", "depth": 5},
         "d": {"in_flight": 0, "atom": "tcgen05", "stage": 2},
         "kernel": {"roles": [{"name": "all", "warps": 4}], "persistent": (3, 8)}},
        [{"m": 48, "n": 46, "k": 72, "rounds": 0}],
    ),
    "a register is a copy of one that counts slots later": Case(
        1006, "sm_100a", "sequel",
        {"M": 128, "N": 64, "K": 32, "scale": True, "else": False, "batch": False},
        {"x": {"atom": "cp_async", "stage": 0, "ring": "x", "depth": 7},
         "y": {"atom": "cp_async", "stage": 1, "ring": "y", "depth": 6},
         "d": {"in_flight": 0, "atom": "tcgen05", "stage": 3},
         "z": {"atom": "through_registers", "stage": 1, "ring": "z", "depth": 4},
         "w2": {"atom": "through_registers", "stage": 2, "ring": "w2", "depth": 2},
         "e": {"in_flight": 0, "atom": "tcgen05", "stage": 4},
         "kernel": {"roles": [{"name": "all", "warps": 4}], "persistent": False,
                    "cluster": (2, 1)}},
        [{"m": 256, "n": 64, "k": 96, "steps": 0, "batches": 1}],
    ),
    "two tiles take turns in a ring, and an engine reads them otherwise": Case(
        1040, "sm_100a", "windows", {"M": 128, "B": 16, "D": 32, "window": False},
        {"q": {"role": "load", "atom": "tma", "ring": "q", "depth": 2},
         "k": {"role": "load", "atom": "tma", "ring": "all", "depth": 4},
         "s": {"role": "mma", "atom": "tcgen05", "in_flight": 0, "stage": 0},
         "t": {"role": "mma"}, "v": {"role": "load", "atom": "tma", "ring": "all", "depth": 4},
         "o": {"role": "mma", "atom": "tcgen05", "in_flight": 0},
         "kernel": {"roles": [{"name": "mma", "warps": 4, "copies": 2},
                              {"name": "load", "warps": 1}], "persistent": (2, 1)}},
        [{"rows": 144, "groups": 2, "keys": 48}],
    ),
    "what is chosen is made of the number that is compared": Case(
        1074, "sm_100a", "handed", {"M": 64, "N": 128, "K": 32, "type": "i16", "mine": False},
        {"x": {"stage": 0}, "d": {"stage": 2},
         "kernel": {"roles": [{"name": "all", "warps": 4}], "cluster": (2, 1)},
         "loop": {"depth": 6}},
        [{"m": 64, "n": 256, "k": 32}],
    ),
    "the warps of a role do not begin at a multiple of their number": Case(
        1076, "sm_90a", "windows", {"M": 128, "B": 16, "D": 32, "window": True},
        {"first": {"role": "load"}, "q": {"role": "load", "atom": "cp_async", "ring": "q"},
         "k": {"role": "load", "atom": "tma", "stage": 0, "ring": "all", "depth": 5},
         "s": {"role": "mma", "atom": "wgmma", "in_flight": 0}, "m": {"role": "mma"},
         "t": {"role": "mma"},
         "v": {"role": "load", "atom": "tma", "stage": 0, "ring": "all", "depth": 5},
         "o": {"role": "mma", "atom": "wgmma", "in_flight": 0, "stage": 1},
         "out": {"role": "store"},
         "kernel": {"roles": [{"name": "load", "warps": 4},
                              {"name": "mma", "warps": 4, "copies": 2},
                              {"name": "store", "warps": 4}]}},
        [{"rows": 128, "groups": 1, "keys": 64}],
    ),
    "what lies on a ring at other times is read by lanes, and the ring by an engine": Case(
        1082, "sm_90a", "attention",
        {"M": 64, "B": 64, "D": 64, "causal": False, "whole": False, "out": "bf16"},
        {"k": {"atom": "cp_async", "stage": 0},
         "s": {"in_flight": 0, "atom": "wgmma", "stage": 1, "parts": (1, 2, 1)},
         "v": {"atom": "cp_async", "stage": 0},
         "o": {"in_flight": 0, "atom": "wgmma", "stage": 2},
         "kernel": {"roles": [{"name": "all", "warps": 4}]}, "loop": {"depth": 5}},
        [{"rows": 8, "keys": 192}],
    ),
    "LLVM leaves out trips that a loop of known bounds does not have, with their fences": Case(
        1109, "sm_90a", "nested",
        {"M": 128, "N": 64, "K": 64, "dots": True, "late": False, "counted": False},
        {"x": {"atom": "cp_async", "stage": 0, "ring": "x", "depth": 5},
         "y": {"atom": "through_registers", "stage": 0, "ring": "y", "depth": 5},
         "d": {"in_flight": 0, "atom": "wgmma", "stage": 3, "promote": False},
         "kernel": {"roles": [{"name": "all", "warps": 4}], "persistent": (1, 2)}},
        [{"m": 72, "n": 104, "k": 256, "groups": 2}],
    ),
    "a ring of two slots is gone to once": Case(
        789022036, "sm_100a", "attention",
        {"M": 32, "B": 64, "D": 64, "causal": False, "whole": False, "out": "f32"},
        {"q": {"depth": 2},
         "kernel": {"roles": [{"name": "load", "warps": 4},
                              {"name": "mma", "warps": 4, "copies": 2}], "cluster": (2, 1)}},
        [{"rows": 64, "keys": 56}],
    ),
    "so is one of tiles that another role stores": Case(
        1563024217, "sm_90a", "windows", {"M": 64, "B": 32, "D": 64, "window": True},
        {"s": {"role": "mma"}, "o": {"role": "mma"}, "out": {"atom": "tma", "in_flight": 1},
         "kernel": {"roles": [{"name": "load", "warps": 4}, {"name": "mma", "warps": 8}]}},
        [{"rows": 120, "groups": 3, "keys": 32}],
    ),
}  # fmt: skip

pytestmark = pytest.mark.skipif(not isa.has_checker(), reason="there is no tile-check-isa")


@pytest.fixture(autouse=True)
def in_process(monkeypatch):
    monkeypatch.setenv("KILN_COMPILE_IN_PROCESS", "1")


@pytest.mark.parametrize("name", KEPT)
def test_final_code_keeps_what_it_declares(name):
    assert schedule_check.check(KEPT[name], reads_code=True) == "", KEPT[name].text


def test_each_member_that_is_declared_of_a_role_with_barriers_of_its_own_is_held(tmp_path):
    case = next(case for case in KEPT.values() if case.kernel == "product")
    args = schedule_check.inputs(case, 0, case.sizes[0])[0].values()
    target = schedule_code.target_of(case.chip)
    made = kernel_check.define(case.text).compile(*args, target=target, _pipeline="stop-after=asm")
    (tmp_path / "code.s").write_text(made.asm)
    mutants = isa.ROOT / "test/tools/Inputs/declared-mutants.py"
    command = [sys.executable, mutants, isa.CHECKER, tmp_path / "code.s", "30"]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    assert "mutants refused" in done.stdout, done.stdout + done.stderr


def test_a_final_code_that_lacks_a_fence_is_a_finding_with_its_case(monkeypatch):
    find_problem = isa.find_problem

    def without_fences(text, allow_strong):
        kept = [line for line in text.splitlines(True) if b"fence.proxy.async" not in line]
        return find_problem(b"".join(kept), allow_strong)

    monkeypatch.setattr(isa, "find_problem", without_fences)
    case = next(case for case in KEPT.values() if case.kernel == "product")
    said = schedule_check.check(case, reads_code=True)
    assert said.startswith("final code: ") and "fences of the kind 'shared'" in said
    assert "check(CASE, reads_code=True)" in schedule_check.reproduction(case, said)
    assert schedule_check.check(case) == ""
