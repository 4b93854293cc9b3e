"""Mutants of pinned kernels and of random schedules, each with one thing of its order broken: an
emulated chip finds all of them, or shows what stands in for the order. CI draws some afresh for each
commit; `utils/soak` tries every one, under other seeds too."""

import random
import re
from dataclasses import replace

import isa
import mutation
import mutation_subjects
import pinned_runs
import pinned_subjects
import pytest
from control_flow import Flow
from pinned_subjects import PINNED
from schedule_chips import CHIPS
from schedule_writer import write
from test_random_schedules import first_seed

# How many mutants there are at least of each pinned kernel: of these no other order stands in for
# what is broken, on any path.
FEWEST = {
    "gemm.mlir:gemm, sm_90a": 55,
    "gemm-sm_80.mlir:gemm, sm_80": 30,
    "gemm-sm_100a.mlir:gemm_sm_100a, sm_100a": 80,
    "gemm-gfx942.mlir:gemm, gfx942": 8,
    "gemm-gfx950.mlir:gemm, gfx950": 8,
    "attention.mlir:attention, sm_90a": 65,
    "attention.mlir:attention, sm_90a, stores in a role": 60,
    "pinned_kernels.py:gemm, sm_90a": 55,
    "pinned_kernels.py:large_gemm, sm_90a": 70,
    "pinned_kernels.py:clustered_gemm, sm_90a": 60,
    "pinned_kernels.py:gemm_in_turn, sm_90a": 65,
    "pinned_kernels.py:attention, sm_90a": 65,
    "pinned_kernels.py:gemm_skewed, gfx942": 7,
    "pinned_kernels.py:gemm_skewed, gfx950": 7,
    "pinned_kernels.py:gemm_interleaved, gfx942": 12,
    "pinned_kernels.py:gemm_interleaved, gfx950": 12,
    "pinned_kernels.py:gemm_through_registers, gfx1201": 8,
    "pinned_kernels.py:gemm_through_registers, gfx942": 8,
    "pinned_kernels.py:gemm_through_registers, gfx950": 8,
    "pinned_kernels.py:attention_by_waves, gfx942, heads of 64": 20,
    "pinned_kernels.py:attention_by_waves, gfx942, heads of 128": 28,
    "pinned_kernels.py:attention_by_waves, gfx950, heads of 64": 20,
    "pinned_kernels.py:attention_by_waves, gfx950, heads of 128": 28,
}
DRAWN = 4  # of each kernel, on a chip and in a form that the commit draws
RANDOM, OF_EACH = 10, 5  # of random schedules, and of one


@pytest.fixture(autouse=True)
def in_process(monkeypatch):
    monkeypatch.setenv("KILN_COMPILE_IN_PROCESS", "1")


def test_60_mutants_are_drawn() -> None:
    assert DRAWN * len(pinned_runs.PINNED) >= 60


def test_there_are_300_mutants_of_pinned_kernels() -> None:
    """Each test below holds the numbers."""
    assert set(FEWEST) == set(PINNED) and sum(FEWEST.values()) >= 300


def test_every_pinned_kernel_has_mutants_on_every_chip_that_it_is_pinned_for() -> None:
    pinned = {(kernel, chip) for kernel, (_, chips) in pinned_runs.PINNED.items() for chip in chips}
    assert {(pin.kernel, pin.chip) for pin in PINNED.values()} == pinned
    assert set(pinned_subjects.RUNS) == set(pinned_runs.PINNED)
    widths = {run.width for pin in PINNED.values() for run in pin.runs if hasattr(run, "width")}
    assert widths == {64, 128}


@pytest.mark.parametrize("kernel", pinned_runs.PINNED)
def test_mutants_of_pinned_kernels_are_found(kernel: str) -> None:
    rng = random.Random(f"{first_seed('sm_90a')} {kernel}")
    name = rng.choice([name for name, pin in PINNED.items() if pin.kernel == kernel])
    subject = mutation_subjects.pinned(name)
    wrong = subject.wrong
    assert len(wrong) >= FEWEST[name]
    assert not subject.survivors(rng.sample(wrong, min(DRAWN, len(wrong))))


# One attention for all: to prove one of its mutants takes seconds.
ATTENTION = "pinned_kernels.py:attention_by_waves, gfx950, heads of 64"
ON_AMD = [n for n, pin in PINNED.items() if pin.chip.startswith("gfx") and "gemm" in n]
ON_AMD.append(ATTENTION)


@pytest.mark.skipif(not isa.has_checker(), reason="a package has no tile-check-isa")
def test_what_only_the_final_code_shows_is_found_there() -> None:
    """Or the code is the same, or proven as well. A wait for LDS in a loop is needed."""
    subject = mutation_subjects.pinned("gemm-gfx942.mlir:gemm, gfx942")
    waits = [m for m in subject.wrong_in_code if "access to LDS" in m.what]
    assert len(waits) >= 4 and "expected a barrier between 'ds_read" in subject.find(waits[0])
    rng = random.Random(first_seed("gfx942"))
    subject = mutation_subjects.pinned(rng.choice(ON_AMD))
    assert not subject.survivors(rng.sample(subject.wrong_in_code, 2))


def test_mutants_of_random_schedules_are_found() -> None:
    rng = random.Random(first_seed("sm_90a"))
    asked = 0
    while asked < RANDOM:
        subject = mutation_subjects.drawn(rng.randrange(1 << 32), rng.choice(list(CHIPS)))
        if subject:
            assert not subject.find(), subject.name
            some = rng.sample(subject.wrong, min(OF_EACH, len(subject.wrong)))
            assert not subject.survivors(some)
            asked += len(some)


def small_product() -> mutation_subjects.Subject:
    pinned = mutation_subjects.pinned("gemm-gfx942.mlir:gemm, gfx942")
    return replace(pinned, runs=[pinned_subjects.Product(256, 256, 32)])


def lacks(at: int) -> mutation.Mutant:
    return mutation.Mutant("without a barrier", {at: ""}, is_drop=True)


def with_barrier(subject: mutation_subjects.Subject, at: int) -> mutation_subjects.Subject:
    """The subject with one more in front of a line."""
    lines = subject.text.split("\n")
    return replace(subject, text="\n".join([*lines[:at], "    rocdl.s.barrier", *lines[at:]]))


def test_an_order_that_another_one_stands_in_for_is_shown_to_be_used() -> None:
    subject = small_product()
    barriers = [i for i, line in enumerate(subject.text.split("\n")) if "rocdl.s.barrier" in line]
    line = next(i for i in barriers if subject.find(lacks(i)))
    twice = with_barrier(subject, line)
    assert not twice.find(lacks(line)) and twice.explain(lacks(line)) == "another order"


def test_an_order_that_orders_nothing_is_none_of_a_pinned_kernel() -> None:
    subject = small_product()
    end = next(i for i, line in enumerate(subject.text.split("\n")) if "llvm.return" in line)
    more = with_barrier(subject, end)
    assert not more.explain(lacks(end))
    assert replace(more, case=write(1)).explain(lacks(end)) == "it orders nothing"


ORDERED = [
    "gemm.mlir:gemm, sm_90a", "gemm-sm_100a.mlir:gemm_sm_100a, sm_100a",
    "attention.mlir:attention, sm_90a", "gemm-gfx950.mlir:gemm, gfx950",
]  # fmt: skip


@pytest.mark.parametrize("name", ORDERED)
def test_no_order_of_threads_is_accused(monkeypatch, name: str) -> None:
    subject = mutation_subjects.pinned(name)
    for _ in range(2):
        monkeypatch.setenv("KILN_EMULATED_SEED", str(random.randrange(1, 1 << 32)))
        assert not subject.find(), f"seed {first_seed('sm_90a')}"


def test_all_clashes_are_told_at_once() -> None:
    """As many as are asked for, each of other places."""
    subject = mutation_subjects.pinned("gemm-gfx942.mlir:gemm, gfx942")
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
