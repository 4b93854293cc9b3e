"""Tuning: what is chosen, what is put back, what another process takes over."""

import json

import numpy as np
import pytest
from runtime_kernels import accumulate, add

import kiln
from kiln.runtime import measure


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
        ({"key": "x"}, "expected key to be a list of names, got 'x'"),
        ({"restore": "out"}, "expected restore to be a list of names, got 'out'"),
        ({"configs": {"BLOCK": 16}}, "expected configs to be dicts of constants, got 'BLOCK'"),
        ({"configs": [16]}, "expected configs to be dicts of constants, got 16"),
        ({"seconds": -1}, "expected seconds to be a number of at least 0, got -1"),
        ({"seconds": float("nan")}, "expected seconds to be a number of at least 0, got nan"),
        ({"key": add}, "expected @kiln.autotune.*, with parentheses"),
    ]:
        with pytest.raises(TypeError, match=message):
            kiln.autotune(**arguments)(add)
    with pytest.raises(TypeError, match="expected @kiln.autotune.* above @kiln.kernel, got <func"):
        kiln.autotune()(lambda x: x)
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


def test_constants_by_position_and_wrong_calls():
    tuned = kiln.autotune(restore=["y"], seconds=0.002)(accumulate)
    x, y = np.ones(100, np.float32), np.zeros(100, np.float32)
    tuned(x, y, 16)
    assert tuned.records[0]["best"] == {"BLOCK": 16}
    np.testing.assert_array_equal(y, 1)
    with pytest.raises(kiln.LaunchError, match="that a config has, got BLOCK=32; configs:.*16.*64"):
        tuned(x, y, BLOCK=32)
    with pytest.raises(TypeError, match="takes .* positional arguments but 4 were given"):
        tuned(x, y, 16, 3)


def test_a_constant_that_is_given_chooses_among_its_own_configs():
    @kiln.kernel
    def fill(
        y: kiln.View,
        A: kiln.tunable = kiln.tunable(16, 64, default=16),
        B: kiln.tunable = kiln.tunable(1, 4, default=1),
    ):
        kiln.static_assert(A * B == 64)
        i = kiln.grid(kiln.cdiv(y.shape[0], A))
        y.store(i * A, kiln.full((A,), B * 1.0, kiln.f32))

    tuned = kiln.autotune(configs=[{"A": 16, "B": 4}, {"A": 64, "B": 1}], seconds=0.002)(fill)
    y = np.zeros(100, np.float32)
    for a, b in ((16, 4), (64, 1), (16, 4)):
        tuned(y, A=a)
        assert (y == b).all()
    with pytest.raises(kiln.CompileError, match="a candidate of the tunable `B`, got 2") as caught:
        fill(y, B=2)
    assert "B: kiln.tunable" in str(caught.value) and "legal: 1, 4" in str(caught.value)


def test_each_device_and_each_option_has_a_choice_of_its_own():
    tuned = kiln.autotune(restore=["y"], seconds=0.002)(accumulate)
    x, y = np.ones(100, np.float32), np.zeros(100, np.float32)
    for i, call in enumerate([
        tuned, tuned.options(opt_level=1), tuned.options(device=kiln.device("emu:sm_90a")),
    ]):  # fmt: skip
        call(x, y)
        call(x, y)
        assert len(tuned.records) == i + 1
    tuned.options(stream=None)(x, y)
    assert [record["device"] for record in tuned.records] == ["cpu", "cpu", "emu:sm_90a"]
    np.testing.assert_array_equal(y, 7)
    with pytest.raises(TypeError, match="banana"):
        tuned.options(banana=1)


def test_a_number_of_numpy_is_a_value_of_the_key():
    @kiln.kernel
    def fill(y: kiln.View, n: kiln.i32, BLOCK: kiln.tunable = kiln.tunable(16, 64, default=16)):
        i = kiln.grid(kiln.cdiv(y.shape[0], BLOCK))
        y.store(i * BLOCK, kiln.full((BLOCK,), 1.0, kiln.f32) * n)

    tuned = kiln.autotune(key=["n"], seconds=0.002)(fill)
    for count, n in enumerate([np.int64(5), np.int64(7)]):
        y = np.zeros(100, np.float32)
        tuned(y, n)
        tuned(y, n)
        assert (y == n).all() and len(tuned.records) == count + 1


def test_what_is_restored_is_restored_when_tuning_is_interrupted(monkeypatch):
    tuned = kiln.autotune(key=["x"], restore=["y"], seconds=0.002)(accumulate)
    x, y = np.ones(77, np.float32), np.zeros(77, np.float32)

    def interrupted(call, **_):
        call()
        raise KeyboardInterrupt

    monkeypatch.setattr(measure, "bench", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tuned(x, y)
    assert (y == 0).all()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "[" * 100_000, '{"format": 1, "best": {"BLOCK": 3}}', "\0"]
)
def test_a_broken_record_is_measured_again(python, tmp_path, text):
    code = (
        "import kiln, numpy as np, runtime_kernels as k\n"
        "tuned = kiln.autotune(key=['x'], restore=['y'], seconds=0.002)(k.accumulate)\n"
        "x = np.ones(300, np.float32); y = np.zeros_like(x)\n"
        "tuned(x, y)\n"
        "assert (y == 1).all()\n"
    )
    where = {"KILN_CACHE_DIR": str(tmp_path / "c")}
    python(code, **where)
    (record,) = (tmp_path / "c" / "autotune").iterdir()
    good = json.loads(record.read_text())
    record.write_text(text)
    python(code, **where)
    again = json.loads(record.read_text())
    assert [t["config"] for t in again["trials"]] == [t["config"] for t in good["trials"]]


def test_configs_that_no_file_can_hold_leave_nothing_behind(tmp_path):
    tuned = kiln.autotune(configs=[{"BLOCK": np.int64(16)}], restore=["y"], seconds=0.002)(
        accumulate
    )
    before = kiln.cache.describe()["directory"]
    kiln.cache.use(tmp_path)
    try:
        x, y = np.ones(100, np.float32), np.zeros(100, np.float32)
        tuned(x, y)
        assert (y == 1).all()
        assert not list(tmp_path.glob("autotune/*"))
    finally:
        kiln.cache.use(before)
