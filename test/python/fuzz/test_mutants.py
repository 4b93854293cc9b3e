"""Mutants of pinned kernels, each with one thing of its order broken: an emulated chip finds all of
them. CI draws some afresh for each commit; `utils/soak` tries every one, under other seeds too, and
those of random schedules, of which not all are found or explained."""

import random
import re

import mutation
import mutation_subjects
import pytest
from control_flow import Flow
from test_random_schedules import first_seed

# How many mutants there are at least of each pinned kernel: of these no other order stands in for
# what is broken, on any path.
FEWEST = {
    "gemm-sm_90a": 55, "gemm-sm_80": 30, "gemm-sm_100a": 80, "gemm-gfx942": 8, "gemm-gfx950": 8,
    "attention": 65, "attention-stores": 60,
}  # fmt: skip
DRAWN = 9  # of each kernel


@pytest.fixture(autouse=True)
def in_process(monkeypatch):
    monkeypatch.setenv("KILN_COMPILE_IN_PROCESS", "1")


def test_60_mutants_are_drawn() -> None:
    assert DRAWN * len(FEWEST) >= 60


def test_there_are_300_mutants_of_pinned_kernels() -> None:
    """Each test below holds the numbers."""
    assert set(FEWEST) == set(mutation_subjects.PINNED) and sum(FEWEST.values()) >= 300


@pytest.mark.parametrize("name", mutation_subjects.PINNED)
def test_mutants_of_pinned_kernels_are_found(name: str) -> None:
    subject = mutation_subjects.pinned(name)
    assert not subject.find()
    wrong = subject.wrong
    assert len(wrong) >= FEWEST[name]
    drawn = random.Random(first_seed("sm_90a")).sample(wrong, min(DRAWN, len(wrong)))
    assert not subject.survivors(drawn)


@pytest.mark.parametrize("name", ["gemm-sm_90a", "gemm-sm_100a", "attention", "gemm-gfx950"])
def test_no_order_of_threads_is_accused(monkeypatch, name: str) -> None:
    subject = mutation_subjects.pinned(name)
    for _ in range(2):
        monkeypatch.setenv("KILN_EMULATED_SEED", str(random.randrange(1, 1 << 32)))
        assert not subject.find(), f"seed {first_seed('sm_90a')}"


def test_all_clashes_are_told_at_once() -> None:
    """As many as are asked for, each of other places."""
    subject = mutation_subjects.pinned("gemm-gfx942")
    meets = [m for m in subject.wrong if "without 'rocdl.s.barrier'" in m.what]
    one, more = (subject.find(*meets, clashes=most) for most in (1, 3))
    assert one.count("missing: ") == 1 and more.count("missing: ") == 3


TWO_BARRIERS = """
  llvm.func @f() {
    llvm.store %0, %1 : i32, !llvm.ptr<3>
    rocdl.s.barrier
    rocdl.s.barrier
    %2 = llvm.load %1 : !llvm.ptr<3> -> i32
    llvm.return
  }"""
BRANCHES = """
  llvm.func @f() {
    %5 = llvm.load %1 : !llvm.ptr<3> -> i32
    rocdl.s.barrier
    llvm.cond_br %c, ^bb1, ^bb2
  ^bb1:
    rocdl.s.barrier
    llvm.br ^bb2
  ^bb2:
    llvm.cond_br %c, ^bb3, ^bb4
  ^bb3:
    llvm.store %0, %1 : i32, !llvm.ptr<3>
    llvm.br ^bb4
  ^bb4:
    llvm.return
  }"""


def covered(text: str, *idle: int) -> list[int]:
    lines = text.split("\n")
    flow = Flow(lines, set(idle))
    barriers = [i for i, line in enumerate(lines) if "barrier" in line]
    return [i for i in barriers if mutation.is_covered(flow, i)]


def test_a_line_that_another_stands_in_for_may_go() -> None:
    assert covered(TWO_BARRIERS) == [3, 4]
    assert covered(TWO_BARRIERS.replace("    rocdl.s.barrier\n", "", 1)) == []


def test_no_path_takes_a_condition_both_ways() -> None:
    assert covered(BRANCHES) == [3, 6]
    assert covered(BRANCHES.replace("cond_br %c, ^bb3", "cond_br %d, ^bb3")) == [6]


def test_what_does_not_come_to_pass_is_on_no_path() -> None:
    other = BRANCHES.replace("cond_br %c, ^bb3", "cond_br %d, ^bb3")
    assert covered(other, 10) == [3, 6]


def test_reads_go_with_reads() -> None:
    text = TWO_BARRIERS.replace("    rocdl.s.barrier\n", "", 1)
    reads = text.replace("llvm.store %0, %1 : i32, ", "%0 = llvm.load %1 : ")
    assert covered(reads) == [3]


def test_a_mutant_keeps_the_numbers_of_all_lines() -> None:
    text = BRANCHES.replace("rocdl.s.barrier", "nvvm.barrier0")
    places = {i for i, line in enumerate(text.split("\n")) if re.search("barrier|ptr", line)}
    for mutant in mutation.mutants(text, places):
        assert mutation.changed(text, mutant).count("\n") == text.count("\n")
