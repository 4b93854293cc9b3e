"""The benchmark's own parts: what it refuses, what it measures, what it writes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import time
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.fixture(autouse=True)
def path(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def sleeper(seconds: float, result=None, **keywords):
    from measure import Implementation

    kept = None if result is None else lambda: result
    return Implementation(f"sleeps {seconds}", lambda: time.sleep(seconds), kept, **keywords)


def test_peers_of_the_pinned_version_pass(tmp_path):
    import peers

    pins = tmp_path / "requirements.txt"
    pins.write_text(f"# a comment\nnumpy=={metadata.version('numpy')}\n", encoding="utf-8")
    peers.require(pins)


@pytest.mark.parametrize("pin", ["numpy==1.0.0", "no-such-package-of-anyone==1.0"])
def test_a_missing_peer_fails(tmp_path, pin):
    import peers

    pins = tmp_path / "requirements.txt"
    pins.write_text(pin + "\n", encoding="utf-8")
    name, _, version = pin.partition("==")
    with pytest.raises(peers.MissingPeer, match=f"expected {name} {version}, got .*pip install"):
        peers.require(pins)


def test_the_pins_are_those_of_the_tests():
    """One environment serves both."""
    ours = (BENCHMARKS / "requirements.txt").read_text(encoding="utf-8")
    folder = BENCHMARKS.parent / "utils" / "lib"
    if not folder.exists():
        pytest.skip("a package has no utils/")
    theirs = "".join(f.read_text(encoding="utf-8") for f in folder.glob("requirements*.txt"))
    for line in ours.splitlines():
        assert line.startswith("#") or line in theirs.splitlines()


@pytest.mark.serial
def test_ratio_rate_and_lines():
    from measure import Case, Report

    stream = io.StringIO()
    report = Report("demo", stream)
    case = Case(
        "nap", 2e6, "GB/s", [sleeper(0.004), sleeper(0.016), sleeper(0.008, work=4e6)],
        targets={"sleeps 0.016": 2.0, "sleeps 0.008": 3.0}, seconds=0.2,
    )  # fmt: skip
    report.run(case)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["implementation"][7:] for line in lines] == ["0.004", "0.016", "0.008"]
    for line in lines:
        keys = {"suite", "case", "implementation", "milliseconds", "rate", "error"}
        assert keys <= line.keys()
        assert line["milliseconds"] >= 1e3 * float(line["implementation"][7:])
    assert lines[0]["rate"] == pytest.approx(2e6 * 1e-9 / (lines[0]["milliseconds"] * 1e-3))
    # By rates: a quarter of the time is ratio 4; twice the work in twice the time is ratio 1.
    ratios = [row.ratio for row in report.rows]
    assert ratios[0] is None
    assert 2.5 < ratios[1] < 4.5
    assert 0.6 < ratios[2] < 1.4


def spin(seconds: float):
    """Leaves a thread behind that computes for a while, as the pools of BLAS libraries do."""
    until = time.perf_counter() + seconds

    def work():
        while time.perf_counter() < until:
            sum(range(1000))

    thread = threading.Thread(target=work)
    thread.start()
    return thread


@pytest.fixture
def quiet_machine():
    if os.getloadavg()[0] > 2 * (os.cpu_count() or 1):
        pytest.skip("other processes keep this machine so busy that a thread at work looks at rest")


@pytest.mark.serial
def test_a_turn_waits_until_the_process_is_at_rest(quiet_machine):
    from measure import rest

    assert rest()
    start = time.perf_counter()
    thread = spin(0.2)
    assert rest()
    assert time.perf_counter() - start >= 0.2
    thread.join()
    thread = spin(0.3)
    assert not rest(0.05)
    thread.join()


@pytest.mark.serial
def test_what_one_leaves_running_is_over_when_the_next_has_its_turn(quiet_machine):
    from measure import Case, Implementation, time_in_turns

    threads, alive = [], []

    def leave():
        threads.append(spin(0.02))

    def see():
        alive.append(any(thread.is_alive() for thread in threads))
        sum(range(1_000_000))

    case = Case("alone", 1.0, "/s", [Implementation("leaves", leave),
                Implementation("sees", see)], seconds=0.1)  # fmt: skip
    time_in_turns(case)
    assert alive and not any(alive)


def test_ratios_are_those_of_turns_side_by_side():
    from measure import ratio_of

    # The machine halves its speed in the middle: each turn's ratio is 2 all the same.
    ours = [9.0, 1.0, 1.0, 1.0, 2.0, 2.0]
    assert ratio_of([9.0, 2.0, 2.0, 2.0, 4.0, 4.0, 4.0, 4.0], ours) == 2.0
    assert ratio_of([4.0], ours) == 4.0 / 1.5


def test_the_table_counts_what_was_missed(capsys):
    from measure import Report

    report = Report("demo", None)
    report.add("case", "ours", 1.0, 1.0, "/s")
    report.add("case", "theirs", 1.0, 1.0, "/s", ratio=0.5, target=0.6)
    report.add("case", "others", 1.0, 1.0, "/s", ratio=0.7, target=0.6)
    report.add("other", "ours", 2e-3, 1.0, "/s", limit=1e-3)
    assert report.print_table() == 2
    assert capsys.readouterr().out.count("MISSED") == 2


def test_the_bare_call_is_measured_beside_ours():
    """Through the stand-in for a driver: the figures mean nothing, but both loops launch."""
    build = Path(os.environ.get("KILN_BUILD", BENCHMARKS.parent / "build")).resolve()
    fake, program = build / "test/Runtime/CUDA/libkiln-fake-cuda.so", build / "bin/kiln-launch-cost"
    if not fake.exists():
        pytest.skip("no build tree with the stand-in here")
    environment = {**os.environ, "KILN_CUDA_LIBRARY": str(fake)}
    assert float(subprocess.check_output([program, "cuda:0"], env=environment, text=True)) > 0
    code = (
        "import ctypes, sys; bare = ctypes.CDLL(sys.argv[1])\n"
        "bare.kiln_bare_launch.restype = ctypes.c_double\n"
        "print(bare.kiln_bare_launch(3, 32) < 0, bare.kiln_bare_load(b'code', b'empty'),\n"
        "      bare.kiln_bare_launch(3, 32) > 0, bare.kiln_bare_load(b'bad code', b'empty'))"
    )
    command = [sys.executable, "-c", code, str(program.with_name("kiln-bare-launch.so"))]
    said = subprocess.check_output(command, env=environment, text=True).split()
    assert said == ["True", "0", "True", "200"]


@pytest.mark.parametrize("wrong", [np.full(4, 1.1), np.full(4, np.nan), np.ones(3)])
def test_a_wrong_result_is_not_timed(wrong):
    from measure import Case, Report

    case = Case("bad", 1.0, "/s", [sleeper(0.0, wrong)], lambda: np.ones(4))
    with pytest.raises(AssertionError):
        Report("demo", None).run(case)


@pytest.mark.parametrize(
    ("arguments", "code"), [([], 2), (["soup"], 2), (["cpu", "--threads", "0"], 2), (["-h"], 0)]
)
def test_command_line(arguments, code):
    command = [sys.executable, str(BENCHMARKS / "run.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert "usage:" in done.stdout + done.stderr


def test_figures_of_one_suite_leave_the_tables_of_others(tmp_path, monkeypatch):
    import figures

    table = "| Case | Asked for | Reached |\n| --- | --- | --- |\n"
    ours, others = (
        f"<!-- {name}: begin -->\n{{}}<!-- {name}: end -->\n" for name in ("gemm", "cpu")
    )
    page = tmp_path / "benchmarks.md"
    page.write_text(
        "a\n" + ours.format("old\n") + "b\n" + others.format("kept\n"), encoding="utf-8"
    )
    monkeypatch.setattr(figures, "PAGE", page)
    monkeypatch.setattr(figures, "PLOTS", tmp_path / "plots")
    monkeypatch.setattr(figures, "RESULTS", tmp_path / "results")
    (tmp_path / "results").mkdir()
    lines = [
        {"suite": "gemm", "case": "big", "implementation": "peer", "ratio": 0.5, "asked": 0.9},
        {"suite": "gemm", "case": "big", "implementation": "us", "milliseconds": 1.0, "limit": 2.0},
        {"suite": "gemm", "case": "unasked", "implementation": "us", "milliseconds": 1.0},
    ]
    results = tmp_path / "gemm.json"
    results.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert figures.main([str(results)]) == 0
    rows = (
        "| big | at least 0.9 of peer's rate | 0.50 (missed) |\n| big | us: at most 2 ms | 1 ms |\n"
    )
    expected = "a\n" + ours.format(table + rows) + "b\n" + others.format("kept\n")
    assert page.read_text(encoding="utf-8") == expected
    assert "0.50" in (tmp_path / "plots" / "gemm.svg").read_text(encoding="utf-8")
    assert figures.main(["--check"]) == 0
