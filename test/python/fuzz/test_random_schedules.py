"""Random schedules of eleven kernels on emulated chips, against float64: each is obeyed, or refused
at a line that says why, before it is realised."""

import gc
import itertools
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import isa
import numpy as np
import placing
import pytest
import schedule_catalogue
import schedule_check
import schedule_code
from schedule_chips import CHIPS
from schedule_writer import Case, write
from seeds import seed_of_commit

from kiln.runtime.cache import specialisations

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("KILN_BUILD", ROOT / "build")).resolve()
KERNELS = list(schedule_catalogue.KERNELS)
# On each chip that are accepted; seeds of each; and seconds of the process, within which so many are
# drawn on any machine.
COUNT, APART, SECONDS = 17, 1000, 1500
# Of how many of each chip the final code is read back, about a second each, from which seed on: always
# the same, since what tile-check-isa accuses falsely is not all known. Campaigns read all.
READ, READ_FROM = 6, 80_000
AGAIN = "KILN_SCHEDULE_SEED"  # the first seed, to draw again what has been found


def first_seed(chip: str) -> int:
    """Each commit draws others, and passes everywhere or nowhere; campaigns of utils/fuzz draw more."""
    if AGAIN in os.environ:
        return int(os.environ[AGAIN])
    return seed_of_commit() + APART * list(CHIPS).index(chip)


@pytest.fixture(autouse=True)
def in_process(monkeypatch):
    monkeypatch.setenv("KILN_COMPILE_IN_PROCESS", "1")


def drawn(seed: int, chip: str) -> Case:
    return write(seed, chip, KERNELS[seed % len(KERNELS)])


def found(seed: int, chip: str, said: str) -> str:
    """What draws it again, and a file that shows it by itself, as small as it was found to go wrong."""

    reads_code = schedule_code.is_told_by(said)

    def fails(case: Case) -> bool:
        again = schedule_check.check(case, reads_code=reads_code)
        return schedule_check.kind(again) == schedule_check.kind(said)

    again = f"{AGAIN}={seed} pytest {Path(__file__).name} -k 'obeyed and {chip}'"
    case = schedule_check.shrunk(drawn(seed, chip), fails)
    return schedule_check.reproduction(case, f"{again}\n\n{said}")


@pytest.mark.parametrize("chip", CHIPS)
def test_random_schedules_are_obeyed_or_refused(chip):
    """Until so many are obeyed."""
    accepted, seeds = 0, itertools.count(first_seed(chip))
    end = time.process_time() + SECONDS
    for seed in seeds:
        said = schedule_check.check(drawn(seed, chip))
        assert not said or said.startswith("refused: "), found(seed, chip, said)
        accepted += not said
        if accepted == COUNT:
            break
        assert time.process_time() < end, f"{accepted} of {COUNT} were obeyed in {SECONDS} seconds"
        refused = seed + 1 - first_seed(chip) - accepted
        assert refused <= 5 * (accepted + 5), "who refuses everything computes nothing wrong"


@pytest.mark.skipif(not isa.has_checker(), reason="a package has no tile-check-isa")
@pytest.mark.parametrize("chip", CHIPS)
def test_final_code_keeps_the_protocol_that_it_declares(chip):
    accepted = 0
    for seed in itertools.count(READ_FROM + APART * list(CHIPS).index(chip)):
        said = schedule_check.check(drawn(seed, chip), reads_code=True)
        assert not said or said.startswith("refused: "), found(seed, chip, said)
        accepted += not said
        if accepted == READ:
            break


def test_100_schedules_are_drawn_of_which_all_are_kernels_and_a_quarter_odd() -> None:
    assert COUNT * len(CHIPS) >= 100
    cases = [drawn(first_seed(chip) + i, chip) for chip in CHIPS for i in range(COUNT)]
    assert {case.kernel for case in cases} == set(KERNELS)
    many = [write(seed) for seed in range(2000)]
    assert 0.22 < sum(case.odd for case in many) / len(many) < 0.28


def test_kernels_are_a_product_a_dequantised_one_attention_a_scan_and_a_gather() -> None:
    """And others; each form of these is drawn, on six chips."""
    many = [write(seed) for seed in range(2000)]
    assert {case.chip for case in many} == set(CHIPS) and len(CHIPS) == 6
    assert {"product", "scaled", "attention", "ragged", "routed"} <= {case.kernel for case in many}
    ragged = [case for case in many if case.kernel == "ragged"]
    assert {case.form["what"] for case in ragged} == {"sum", "scan", "product"}
    assert all("bounds.load" in case.text for case in ragged)
    routed = [case.text for case in many if case.kernel == "routed"]
    assert all(".gather(" in text for text in routed) and any(".scatter(" in x for x in routed)
    two = [case.text for case in many if case.kernel == "attention"]
    assert all(text.count("kiln.dot(") == 2 and "kiln.exp2(" in text for text in two)
    assert {case.form["bits"] for case in many if case.kernel == "scaled"} == {4, 8}


def test_roles_stages_depths_orders_copies_and_numbers_in_flight_are_drawn() -> None:
    names = set()
    for case in map(write, range(2000)):
        for decisions in case.pins.values():
            names |= decisions.keys()
        names |= {name for role in case.pins.get("kernel", {}).get("roles", []) for name in role}
    assert {"roles", "role", "stage", "depth", "order", "atom", "copies", "in_flight"} <= names


def test_a_seed_draws_again_what_it_found(monkeypatch):
    """And the smallest that goes wrong likewise is shown: here one decision, on small extents."""
    seed = next(
        seed for seed in itertools.count(77) if "roles" in drawn(seed, "sm_80").pins["kernel"]
    )

    def check(case, reads_code):
        assert not reads_code
        return "wrong numbers: so" if "roles" in case.pins.get("kernel", {}) else ""

    monkeypatch.setattr(schedule_check, "check", check)
    text = found(seed, "sm_80", "wrong numbers: expected 1")
    assert f"{AGAIN}={seed} pytest" in text and "wrong numbers: expected 1" in text
    monkeypatch.setenv(AGAIN, str(seed))
    assert first_seed("sm_80") == seed
    shown = eval(re.search(r"CASE = (Case\(.*?\n\))", text, re.DOTALL)[1], {"Case": Case})
    whole = drawn(seed, "sm_80")
    assert shown.pins == {"kernel": {"roles": [{"name": role["name"], "warps": role["warps"]}
                                               for role in whole.pins["kernel"]["roles"]]}}  # fmt: skip
    assert len(shown.sizes) == 1
    tiles = [name for name in ("M", "N", "K") if name in whole.form]
    assert tiles and all(shown.form[name] <= 16 for name in tiles)


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_that_pin_nothing_are_right(kernel):
    seed = 2 if kernel == "nested" else 0  # whose roles take long to decide
    case = replace(write(seed, "sm_90a", kernel), pins={})
    assert schedule_check.check(case) == "", case.text


def product(pins, sizes, chip="sm_80") -> Case:
    form = dict(
        M=64, N=64, K=32, dtype="bf16", sums="f32", out="f32", ta=False, tb=True, act=False,
        bias=False, second=False, gate=False, nest=False, counted=False, most=False,
    )  # fmt: skip
    return Case(1, chip, "product", form, pins, sizes)


ROLE = {"roles": [{"name": "all", "warps": 4, "copies": 1}]}
SIZE = {"m": 64, "n": 64, "k": 64, "rounds": 1}


def test_a_schedule_is_drawn_the_same_each_time():
    assert write(7) == write(7) and write(7).text != write(8).text


def test_decisions_stand_in_the_text():
    text = product({"kernel": ROLE, "x": {"stage": 0, "atom": "cp_async"}}, [SIZE]).text
    assert "kiln.pin(a.load((i * 64, k), (64, 32)), stage=0, atom='cp_async')" in text
    assert "kiln.role(name='all', warps=4, copies=1)" in text


def test_more_extents_need_no_other_code():
    case = product({}, [SIZE])
    wide = schedule_check.widened(case, 3)
    assert (
        len(wide.sizes) == 4 and wide.sizes[0] == SIZE and wide == schedule_check.widened(case, 3)
    )
    gc.collect()  # kernels of other tests go with their specialisations
    gc.disable()
    try:
        before = sum(specialisations().values())
        assert schedule_check.check(wide) == ""
        assert sum(specialisations().values()) == before + 1
    finally:
        gc.enable()


def test_a_case_runs_on_the_device_that_is_given(monkeypatch):
    """Its arrays are placed there, waited for, and fetched."""
    case = product({}, [SIZE])
    done = []

    class Elsewhere(placing.Placement):
        def fetch(self):
            done.append(self.device)

    monkeypatch.setattr(placing, "Placement", Elsewhere)
    assert schedule_check.check(case, "emu:sm_90a") == ""
    assert done == ["emu:sm_90a"]
    assert "check(CASE, 'cuda:0')" in schedule_check.reproduction(case, "what", "cuda:0")


def test_a_refusal_is_one_at_a_line():
    said = schedule_check.check(product({"d": {"in_flight": 1}}, [SIZE]))
    assert said.startswith("refused: ") and "expected no 'in_flight'" in said


def test_a_refusal_behind_the_checks_is_none(monkeypatch):
    """Unless it is known."""
    case = product({"kernel": ROLE, "x": {"stage": 0, "atom": "cp_async", "depth": 1, "ring": "x"},
                    "y": {"stage": 0, "atom": "cp_async", "depth": 2, "ring": "y"},
                    "d": {"stage": 1}}, [SIZE])  # fmt: skip
    said = schedule_check.check(case)
    assert said.startswith("refused: expected a ring of more than 1 slots ('depth')"), said
    monkeypatch.setattr(schedule_check, "is_known", lambda *_: False)
    said = schedule_check.check(case)
    assert said.startswith("refused behind the checks, by tile-realise-stages: "), said


def test_an_error_without_a_decision_is_no_refusal(monkeypatch):
    case = product({"d": {"in_flight": 1}}, [SIZE])
    monkeypatch.setattr(schedule_check, "DECISIONS", schedule_check.re.compile("nothing of this"))
    assert schedule_check.check(case).startswith("no decision: ")


def spoil(monkeypatch):
    """Numbers that are wrong as long as x is copied by `cp_async`."""
    made = schedule_catalogue.KERNELS["product"]

    def run(rng, form, size):
        args, outputs = made.run(rng, form, size)
        want, allowed = outputs["c"]
        return args, {"c": (want + 1, allowed)}

    spoilt = replace(made, run=run)
    monkeypatch.setitem(schedule_catalogue.KERNELS, "product", spoilt)


def test_a_wrong_number_is_found_and_shrunk(monkeypatch, tmp_path):
    decisions = {"atom": "cp_async", "stage": 0, "depth": 3}
    pins = {"kernel": ROLE, "x": decisions, "y": dict(decisions), "d": {"stage": 2}}
    sizes = [SIZE | {"m": 128}, SIZE | {"k": 0}]
    case = product(pins, sizes)
    assert schedule_check.check(case) == ""
    spoil(monkeypatch)
    said = schedule_check.check(case)
    assert "wrong numbers" in said

    def fails(smaller):
        again = schedule_check.check(smaller)
        return schedule_check.kind(again) == schedule_check.kind(said)

    short = schedule_check.shrunk(case, fails)
    assert short.pins == {} and len(short.sizes) == 1
    file = tmp_path / "found.py"
    file.write_text(schedule_check.reproduction(short, "what"))
    here = Path(__file__).parent
    path = os.pathsep.join(map(str, (here, here.parent, BUILD / "python")))
    done = subprocess.run(
        [sys.executable, file], env={**os.environ, "PYTHONPATH": path}, text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout == "right\n"


def test_what_nobody_writes_is_wrong():
    rng = np.random.default_rng(1)
    case = product({}, [SIZE])
    args, outputs = schedule_catalogue.KERNELS["product"].run(rng, case.form, SIZE)
    want, allowed = outputs["c"]
    assert not (np.abs(args["c"] - want) <= allowed).any()


def test_a_campaign_counts_its_schedules(tmp_path):
    command = [ROOT / "utils/fuzz", "schedules", "--count", 4, "--seed", 1, "--device", "emu:sm_80",
               "--build", BUILD, "--output", tmp_path, "ragged"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, *map(str, command)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "4 runs, 0 findings" in done.stdout, done.stdout + done.stderr
    counted = re.search(r"^ +ragged +(\d+) / (\d+) ", done.stdout, re.MULTILINE)
    assert counted and int(counted[1]) + int(counted[2]) == 4, done.stdout
    assert re.search(r"^ +stage +\d+ +\d+ +0$", done.stdout, re.MULTILINE), done.stdout
