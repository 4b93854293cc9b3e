"""Tuning: what is chosen, what is put back, what another process takes over."""

import json

import numpy as np
import pytest
from runtime_kernels import accumulate, add

import kiln


def test_the_choice_is_one_of_the_candidates_and_arguments_are_restored(rng):
    tuned = kiln.autotune(key=["x"], restore=["y"], seconds=0.002)(accumulate)
    x = rng.standard_normal(1000, dtype=np.float32)
    y = np.ones_like(x)
    tuned(x, y)
    np.testing.assert_array_equal(y, 1 + x)
    (record,) = tuned.records
    assert record["best"] in [{"BLOCK": 16}, {"BLOCK": 64}]
    assert [t["config"] for t in record["trials"]] == [{"BLOCK": 16}, {"BLOCK": 64}]
    assert all(t["seconds"] > 0 for t in record["trials"])
    tuned(x, y)
    assert len(tuned.records) == 1
    tuned(x[:500], y[:500])
    assert len(tuned.records) == 2


def test_failing_candidates_are_left_out_and_reported():
    configs = [{"BLOCK": -1}, {"BLOCK": 64}, {"BLOCK": "x"}]
    tuned = kiln.autotune(configs=configs, seconds=0.002)(add)
    x = np.ones(100, np.float32)
    tuned(x, x, x.copy())
    trials = tuned.records[0]["trials"]
    assert tuned.records[0]["best"] == {"BLOCK": 64}
    assert ["error" in t for t in trials] == [True, False, True]


def test_the_first_error_is_raised_if_no_candidate_works():
    tuned = kiln.autotune(configs=[{"BLOCK": -1}, {"BLOCK": "x"}], seconds=0.002)(add)
    x = np.ones(100, np.float32)
    with pytest.raises(kiln.CompileError):
        tuned(x, x, x.copy())


def test_a_pinned_value_is_kept():
    tuned = kiln.autotune(restore=["y"], seconds=0.002)(accumulate)
    x, y = np.ones(100, np.float32), np.zeros(100, np.float32)
    tuned(x, y, BLOCK=16)
    assert tuned.records[0]["best"] == {"BLOCK": 16}
    np.testing.assert_array_equal(y, 1)


def test_wrong_declarations():
    for arguments, message in [
        ({"key": ["nope"]}, "expected parameters of add, got 'nope'"),
        ({"configs": [{"nope": 1}]}, "expected constants of add in a config, got 'nope'"),
        ({}, "expected tunables in add or configs, got neither"),
    ]:
        with pytest.raises(TypeError, match=message):
            kiln.autotune(**arguments)(add)
    with pytest.raises(ValueError, match="expected at least one config"):
        kiln.autotune(configs=[])


def test_another_process_takes_the_choice_over(python, tmp_path):
    code = (
        "import json, kiln, numpy as np, runtime_kernels as k\n"
        "tuned = kiln.autotune(key=['x'], restore=['y'], seconds=0.002)(k.accumulate)\n"
        "events = []\n"
        "x = np.ones(300, np.float32); y = np.zeros_like(x)\n"
        "with kiln.on_launch(events.append): tuned(x, y)\n"
        "assert (y == 1).all()\n"
        "print(json.dumps([tuned.records[0], len(events)]))"
    )
    where = {"KILN_CACHE_DIR": str(tmp_path / "c")}
    first, launches = json.loads(python(code, **where)[-1])
    again, launches_again = json.loads(python(code, **where)[-1])
    assert again == first
    assert launches > 10 and launches_again == 1


def test_tuning_can_be_turned_off(python):
    code = (
        "import kiln, numpy as np, runtime_kernels as k\n"
        "tuned = kiln.autotune(restore=['y'])(k.accumulate)\n"
        "x = np.ones(300, np.float32); y = np.zeros_like(x); tuned(x, y)\n"
        "print(tuned.records, (y == 1).all())"
    )
    assert python(code, KILN_AUTOTUNE="0")[-1] == "[] True"
