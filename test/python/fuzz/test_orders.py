"""Kernels that are right are accused by no emulated chip, whatever order their threads go on in:
`utils/soak orders` tries fifty, CI one of each commit."""

import sys
from pathlib import Path

import pytest
import schedule_check
import whole_programs
from schedule_chips import CHIPS
from seeds import seed_of_commit
from test_random_schedules import SIZE, product

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "utils/lib/fuzz"))
import soaks  # noqa: E402


@pytest.fixture(autouse=True)
def in_process(monkeypatch):
    monkeypatch.setenv("KILN_COMPILE_IN_PROCESS", "1")
    monkeypatch.setenv("KILN_EMULATED_SEED", "0")  # a job sets another


@pytest.mark.parametrize("chip", CHIPS)
def test_every_example_is_right_on_every_emulated_chip(chip: str) -> None:
    seed = seed_of_commit()
    for name in whole_programs.CASES:
        said = soaks.perform_subject(None, (whole_programs.Example(name, chip), (), seed))
        assert not said, f"{name} with KILN_EMULATED_SEED={seed}: {said}"


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


def test_each_example_in_python_has_a_case() -> None:
    files = {path.stem for path in whole_programs.EXAMPLES.glob("[0-9][0-9]_*.py")}
    assert files - {"11_swiglu"} == set(whole_programs.CASES)  # which is MLIR text


def test_an_example_with_another_result_is_found(monkeypatch) -> None:
    example = whole_programs.Example("07_cumsum", "sm_90a")
    given = []

    class Wrong:
        def cumsum(self, x, out, _device):
            given.append(_device)
            out[...] = len(given)

    monkeypatch.setattr(whole_programs.Example, "load", lambda _: Wrong())
    assert example.find() == "wrong numbers" and given == ["cpu", "emu:sm_90a"]
