"""Kernels that are right are accused by no emulated chip, whatever order their threads go on in:
`utils/soak orders` tries fifty, CI one (also in test_every_example and test_every_benchmark)."""

import sys
from pathlib import Path

import numpy as np
import pytest
import schedule_check
import whole_programs
from every_kernel import check
from schedule_chips import CHIPS
from test_random_schedules import SIZE, product

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "utils/lib/fuzz"))
import subjects  # noqa: E402


@pytest.fixture(autouse=True)
def in_process(monkeypatch):
    monkeypatch.setenv("KILN_COMPILE_IN_PROCESS", "1")
    monkeypatch.setenv("KILN_EMULATED_SEED", "0")  # a job sets another


def test_waves_that_wait_for_words_are_accused_in_no_order(monkeypatch) -> None:
    """What their first lane has seen, all lanes know."""
    brought = {"role": "load", "atom": "through_registers"}
    roles = [{"name": "mma", "warps": 2}, {"name": "load", "warps": 2}]
    pins = {"kernel": {"roles": roles}, "x": brought, "y": brought,
            "d": {"role": "mma", "atom": "matrix"}, "loop": {"depth": 2}}  # fmt: skip
    case = product(pins, [SIZE | {"k": 160}], "gfx942")
    for seed in range(1, 6):
        monkeypatch.setenv("KILN_EMULATED_SEED", str(seed))
        assert schedule_check.check(case) == "", seed


def test_a_kernel_with_another_result_is_found(monkeypatch) -> None:
    name = "07_cumsum.py:cumsum"
    programs = {(each.name, each.chip): each for each in whole_programs.programs(tuple(CHIPS))}
    example = programs[name, "sm_90a"]
    assert subjects.ask_of_order(example, 1) == ""

    def wrong(run, rng):
        check(np.ones(3), np.zeros(3))

    monkeypatch.setitem(whole_programs.runs_of("examples"), name, wrong)
    assert "AssertionError" in example.find()
