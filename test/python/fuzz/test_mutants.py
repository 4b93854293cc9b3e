"""Mutants of pinned kernels, each with one thing of its order broken: an emulated chip finds all of
them. CI draws some afresh for each commit; `utils/soak` tries every one, under other seeds too."""

import os
import random

import mutation
import mutation_subjects
import pytest
from test_random_schedules import first_seed

DRAWN = 9  # of each kernel
ALL = "KILN_MUTANTS"  # `all` tries every one


@pytest.mark.parametrize("name", mutation_subjects.PINNED)
def test_each_mutant_is_found(name: str) -> None:
    subject = mutation_subjects.pinned(name)
    assert not subject.find(subject.text)
    left = [each for each in subject.mutants if not each.may_be_same]
    if os.environ.get(ALL) != "all":
        left = random.Random(first_seed("sm_90a")).sample(left, min(DRAWN, len(left)))
    assert not subject.survivors(left)


def test_there_are_hundreds_of_them() -> None:
    kernels = [mutation_subjects.pinned(name) for name in mutation_subjects.PINNED]
    assert sum(len(kernel.mutants) for kernel in kernels) >= 300


@pytest.mark.parametrize("name", ["gemm-sm_90a", "gemm-sm_100a", "attention", "gemm-gfx950"])
def test_no_order_of_threads_is_accused(monkeypatch, name: str) -> None:
    subject = mutation_subjects.pinned(name)
    for _ in range(2):
        monkeypatch.setenv("KILN_EMULATED_SEED", str(random.randrange(1, 1 << 32)))
        assert not subject.find(subject.text), os.environ["KILN_EMULATED_SEED"]


def test_a_line_that_another_stands_in_for_may_go() -> None:
    text = """
  ^bb0:
    llvm.store %0, %1 : i32, !llvm.ptr<3>
    rocdl.s.barrier
    rocdl.s.barrier
    %2 = llvm.load %1 : !llvm.ptr<3> -> i32
    llvm.return
  }"""
    flow = mutation.Flow(text.split("\n"))
    assert [flow.is_covered(i) for i in (3, 4)] == [True, True]
    one = mutation.Flow(text.replace("    rocdl.s.barrier\n", "", 1).split("\n"))
    assert not one.is_covered(3)
