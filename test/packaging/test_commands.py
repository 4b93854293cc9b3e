"""The commands of utils/: what they say when something is missing, and that nothing is counted
that did not run."""

import os
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest
from packaging_support import ROOT, run

sys.path.insert(0, str(ROOT / "utils/lib"))
import run_tests


def shell(script, status=0):
    return run("bash", "-c", f"set -uo pipefail; {script}", status=status)


@pytest.fixture
def setup(tmp_path):
    """A copy of the set-up functions, whose lists a test may change; its path."""
    shutil.copytree(ROOT / "utils/lib", tmp_path / "utils/lib")
    return tmp_path / "utils/lib/setup.sh"


def test_missing_packages_are_named(setup):
    with open(setup.parent / "packages.txt", "a") as file:
        file.write("kiln-no-such-package\n")
    assert shell(f". {setup}; kiln_missing_packages").split() == ["kiln-no-such-package"]


def test_without_root_the_command_to_run_is_said(setup):
    (setup.parent / "packages.txt").write_text("kiln-no-such-package\n")
    user = "id() { echo 1000; }; sudo() { return 1; }"
    output = shell(f". {setup}; {user}; kiln_install_packages", status=1)
    assert "as root: apt-get install kiln-no-such-package" in output


def test_nothing_missing_needs_no_root(setup):
    (setup.parent / "packages.txt").write_text("# nothing\ndpkg\n")
    user = "id() { echo 1000; }; sudo() { echo asked; return 1; }; apt-get() { echo called; }"
    assert shell(f". {setup}; {user}; kiln_install_packages") == ""


def test_a_failed_installation_is_tried_again(setup, tmp_path):
    (setup.parent / "requirements.txt").write_text("kiln-no-such-package==1\n")
    venv = tmp_path / "venv/bin"
    venv.mkdir(parents=True)
    (venv / "python").write_text("#!/bin/sh\necho tried; exit 1\n")
    (venv / "python").chmod(0o755)
    for _ in range(2):
        script = f"KILN_VENV={venv.parent}; . {setup}; kiln_venv requirements.txt"
        assert "tried" in shell(script, status=1)


def test_failed_build_shows_its_errors(setup, tmp_path):
    log = tmp_path / "log"
    output = shell(f". {setup}; kiln_quietly {log} bash -c 'echo x.c:1: error: bad; exit 3'", 3)
    assert "x.c:1: error: bad" in output


def test_python_has_headers(setup):
    python = shell(f". {setup}; kiln_python").strip()
    assert "True" in run(python, "-c", "import sys; print(sys.version_info >= (3, 11))")


@pytest.mark.parametrize("command", ["test", "demo", "pack", "lint"])
def test_help(command):
    output = run(ROOT / "utils" / command, "--help")
    assert f"utils/{command}" in output
    assert "exit status" in output.lower() or command == "pack"


@pytest.mark.parametrize("command, status", [("test", 2), ("demo", 2), ("pack", 1), ("lint", 2)])
def test_unknown_option_is_refused(command, status):
    assert "expected" in run(ROOT / "utils" / command, "nonsense", status=status)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--foo"], "expected an option of --help, got '--foo'"),
        (["--only"], "expected runners after --only, of {}"),
        (["--filter"], "expected a pattern after --filter"),
        (["--only", "bogus"], "expected runners of {}, got 'bogus'"),
        (["--only", "lit,execute"], "expected runners of {}, got 'execute'"),
        (["--only", "lit,"], "expected runners of {}, got ''"),
    ],
)
def test_a_wrong_command_line_is_refused_before_anything_is_done(
    setup, tmp_path, arguments, message
):
    """In a folder where nothing can be set up or built."""
    shutil.copy(ROOT / "utils/test", tmp_path / "utils/test")
    environment = {**os.environ, "KILN_BUILD": str(tmp_path / "b"),
                   "KILN_VENV": str(tmp_path / "venv")}  # fmt: skip
    said = run(tmp_path / "utils/test", *arguments, status=2, env=environment)
    assert said == f"error: {message.format(','.join(run_tests.RUNNERS))}\n"
    assert not (tmp_path / "b").exists() and not (tmp_path / "venv").exists()


@pytest.mark.parametrize("command", ["test", "demo"])
def test_a_failed_set_up_exits_with_2(setup, tmp_path, command):
    shutil.copy(ROOT / "utils" / command, tmp_path / "utils" / command)
    (setup.parent / "packages.txt").write_text("kiln-no-such-package\n")
    (tmp_path / "bin").mkdir()
    for name, does in (("sudo", "exit 1"), ("id", "echo 1000")):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
                   "KILN_BUILD": str(tmp_path / "b")}  # fmt: skip
    said = run(tmp_path / "utils" / command, status=2, env=environment)
    assert "as root: apt-get install kiln-no-such-package" in said


def test_a_filter_that_no_test_matches_is_said(build):
    command = [sys.executable, ROOT / "utils/lib/run_tests.py", "--build", build, "--only",
               "lit,unit", "--filter", "no-such-test"]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1 and "wrote no report" not in result.stdout
    assert result.stdout.splitlines()[-2:] == [
        "FAILED: no test's name matches 'no-such-test'", "0 passed, 1 failed",
    ]  # fmt: skip


def test_requirements_are_pinned():
    for name in ("requirements.txt", "requirements-test.txt"):
        for line in (ROOT / "utils/lib" / name).read_text().splitlines():
            assert re.fullmatch(r"#.*|-r .*|[\w.-]+==[\w.]+", line), line


REPORT = """<testsuites><testsuite>
<testcase classname="a" name="ok"/>
<testcase classname="a" name="bad"><failure message="no"/></testcase>
<testcase classname="a" name="crash"><error message="no"/></testcase>
<testcase classname="a" name="left"><skipped message="no GPU"/></testcase>
</testsuite></testsuites>"""


def test_counts_come_from_the_report(tmp_path):
    (tmp_path / "r.xml").write_text(REPORT)
    result = run_tests.Result()
    run_tests.read_junit(tmp_path / "r.xml", result, "x")
    assert (result.passed, result.failed, result.skipped) == (1, 2, 1)
    assert result.reasons == ["x: a.left: no GPU"]


@pytest.mark.parametrize("text", [None, "", REPORT[:60]])
def test_a_report_that_is_missing_or_broken_is_a_failure(tmp_path, text):
    if text is not None:
        (tmp_path / "r.xml").write_text(text)
    result = run_tests.Result()
    run_tests.read_junit(tmp_path / "r.xml", result, "x")
    assert result.failed == 1


SHARED = """import pytest
@pytest.mark.parametrize("n", range(40))
def test_drawn(n): pass
@pytest.mark.packed
def test_always(): pass
@pytest.mark.crossed
@pytest.mark.parametrize("a", range(5))
@pytest.mark.parametrize("b, c", [(0, 0), (0, 1), (1, 0)])
@pytest.mark.parametrize("d", range(4))
def test_pairs(a, b, c, d): pass
@pytest.mark.crossed
@pytest.mark.parametrize("a", range(5))
@pytest.mark.parametrize("d", range(4))
def test_values(a, d): pass
@pytest.mark.crossed(0)
@pytest.mark.parametrize("a", range(5))
@pytest.mark.parametrize("d", range(4))
def test_all(a, d): pass
@pytest.mark.drawn(2)
@pytest.mark.parametrize("a", range(5))
def test_two(a): pass
@pytest.mark.drawn(0.5)
@pytest.mark.parametrize("a", range(3))
def test_few(a): pass
@pytest.mark.drawn(0.5)
@pytest.mark.parametrize("a, b", [(a, b) for a in range(6) for b in range(2)])
def test_half(a, b): pass
@pytest.mark.drawn
@pytest.mark.parametrize("a", range(6))
@pytest.mark.parametrize("d", range(5))
def test_next(a, d): pass
@pytest.mark.drawn
@pytest.mark.parametrize("a", range(10))
def test_list(a): pass
"""
MARKS = "[pytest]\nmarkers =\n  packed: always\n  crossed: some cells\n  drawn: some cells\n"


@pytest.fixture
def collect(tmp_path):
    """Which tests of SHARED are drawn: collect(pytest's options)."""
    for helper in ("conftest.py", "crossing.py"):
        shutil.copy(ROOT / "test/python" / helper, tmp_path)
    (tmp_path / "pytest.ini").write_text(MARKS)
    (tmp_path / "test_shared.py").write_text(SHARED)

    def collect(*options, test="", seed=0):
        fake = f"WHOLE = 'KILN_TEST_WHOLE'\ndef seed_of_commit(): return {seed}\n"
        (tmp_path / "seeds.py").write_text(fake)
        command = [sys.executable, "-B", "-m", "pytest", "-q", "--collect-only", *options]
        command += ["-p", "no:xdist", "-p", "no:hypothesispytest", "-p", "no:cacheprovider"]
        lines = run(*command, f"{tmp_path}/test_shared.py{test}").splitlines()
        return {line[16:] for line in lines if line.startswith("test_shared.py::")}

    return collect


def test_shares_of_the_packed_tests_are_all_of_them_and_each_has_what_is_marked(collect):
    names = [collect("--whole", f"--share={number}/2") for number in range(2)]
    assert names[0] & names[1] == {"test_always"}
    assert names[0] | names[1] == collect("--whole") and min(map(len, names)) > 40


def test_a_cross_is_drawn_by_pairs_or_by_values_and_each_commit_draws_others(collect):
    whole, drawn = collect("--whole"), [collect(seed=seed) for seed in (1, 2, 1)]
    assert len(whole) == 201 and drawn[0] == drawn[2] != drawn[1] and drawn[0] < whole

    def cells(names, test):
        found = [name[len(test) + 1 : -1].split("-") for name in names if name.startswith(test)]
        return {(cell[0], "-".join(cell[1:-1]), cell[-1]) for cell in found}

    counted = {"all": 20, "two": 2, "few": 3, "half": 6, "next": 5, "list": 5}
    for names in drawn:
        assert {f"test_drawn[{n}]" for n in range(40)} | {"test_always"} < names
        found = cells(names, "test_pairs")
        for one, other in ((0, 1), (0, 2), (1, 2)):
            pairs = {(cell[one], cell[other]) for cell in found}
            assert pairs == {(c[one], c[other]) for c in cells(whole, "test_pairs")}
        assert len(found) < 30 and len(cells(names, "test_values")) == 5
        assert {cell[0] for cell in cells(names, "test_values")} == set("0123")
        assert {cell[2] for cell in cells(names, "test_values")} == set("01234")
        counts = {test: len(cells(names, f"test_{test}")) for test in counted}
        assert counts == counted
        assert {cell[0] for cell in cells(names, "test_half")} == set("012345")
        assert {cell[2] for cell in cells(names, "test_half")} == set("01")

    # One that is named is run, drawn or not.
    named = min(name for name in whole - drawn[0] if name.startswith("test_values"))
    assert collect(test=f"::{named}", seed=1) == {named}


def test_a_commit_draws_its_share_and_another_can_be_named(monkeypatch):
    monkeypatch.delenv(run_tests.SHARE, raising=False)
    assert run_tests.packed_share() == run_tests.packed_share() < run_tests.SHARES
    monkeypatch.setenv(run_tests.SHARE, "13")
    assert run_tests.packed_share() == 3


def run_units(build):
    command = [sys.executable, ROOT / "utils/lib/run_tests.py", "--build", build, "--only", "unit"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_last_line_and_exit_status_of_a_runner_that_runs_nothing(tmp_path):
    (tmp_path / "unittests").mkdir()
    command = [
        sys.executable,
        ROOT / "utils/lib/run_tests.py",
        "--build",
        tmp_path,
        "--only",
        "unit",
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stdout.splitlines()[-1] == "0 passed, 1 failed"


def test_a_crashing_unit_test_is_a_failure(tmp_path):
    program = tmp_path / "unittests/CrashTest"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nkill -SEGV $$\n")
    program.chmod(0o755)
    command = [
        sys.executable,
        ROOT / "utils/lib/run_tests.py",
        "--build",
        tmp_path,
        "--only",
        "unit",
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stdout.splitlines()[-1] == "0 passed, 1 failed"


def test_ci_runs_the_tests_and_nothing_else():
    lines = (ROOT / ".ci/run").read_text().splitlines()
    code = [line for line in lines if line and not line.startswith("#")]
    assert code == ["set -eu", 'cd "$(dirname "$0")/.."', 'exec ./utils/test "$@"']


def test_full_build_is_measured_and_printed(setup, tmp_path):
    """With a cmake and a ninja that do nothing but leave what the real ones do."""
    fakes = "cmake() { touch $KILN_BUILD/build.ninja; }; ninja() { sleep 1; }"
    script = f"KILN_BUILD={tmp_path / 'b'}; . {setup}; {fakes}; kiln_build all"
    assert re.search(r"^full build: 0 min 0[1-9] s on \d+ cores", shell(script), re.MULTILINE)
    assert re.search(r"^build: 0 min 0[1-9] s", shell(script), re.MULTILINE)


@pytest.mark.parametrize(
    "seconds, cores, passed",
    [(300, 2, 1), (1800, 2, 1), (1801, 2, 0), (1801, 64, 0), (1801, 1, 1), (3601, 1, 0)],
)
def test_full_build_of_more_than_twice_15_minutes_on_two_cores_fails(seconds, cores, passed):
    result = run_tests.judge_build(seconds, cores)
    assert (result.passed, result.failed) == (passed, 1 - passed)
    assert passed or re.search(r"got \d+ min 01 s", result.failures[0])


@pytest.mark.parametrize("seconds, cores, passed", [(1200, 2, 1), (2401, 64, 0), (2401, 1, 1)])
def test_all_tests_of_more_than_twice_20_minutes_on_two_cores_fail(seconds, cores, passed):
    """And it is said what took how long."""
    rows = [("build", None, 0.0), ("lit", None, 90.0), ("python", None, seconds - 90.0)]
    result = run_tests.judge_tests(rows, cores)
    assert (result.passed, result.failed) == (passed, 1 - passed)
    says = "in at most 40 min on 64 cores, got 40 min 01 s: build 0 s, lit 90 s, python 2311 s"
    assert passed or result.failures[0].endswith(says)


@pytest.mark.parametrize(
    "more, judged", [([], True), (["--filter", "k"], False), (["--whole"], False)]
)
def test_the_time_of_all_tests_of_a_commit_is_judged(tmp_path, monkeypatch, capsys, more, judged):
    clock = iter(range(0, 1_000_000, 1000))
    monkeypatch.setattr(run_tests.time, "monotonic", lambda: next(clock))
    for name in run_tests.RUNNERS:
        monkeypatch.setattr(run_tests.Runner, name, lambda self: run_tests.Result(passed=1))
    for runners in (",".join(run_tests.RUNNERS), "lit"):
        command = ["run_tests", "--build", str(tmp_path), "--only", runners, *more]
        monkeypatch.setattr(sys, "argv", command)
        is_all = judged and runners != "lit"
        assert run_tests.main() == is_all
        assert ("FAILED: time: expected all tests in" in capsys.readouterr().out) == is_all


@pytest.mark.parametrize("seconds, counts", [(900, (1, 1)), (90_000, (0, 2))])
def test_a_full_builds_time_is_in_the_count_of_the_tests(tmp_path, seconds, counts):
    (tmp_path / "unittests").mkdir()
    command = [sys.executable, ROOT / "utils/lib/run_tests.py", "--build", tmp_path, "--only",
               "unit", "--full-build-seconds", str(seconds)]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stdout.splitlines()[-1] == "{} passed, {} failed".format(*counts)


@pytest.mark.parametrize("fresh", [True, False])
def test_the_tests_are_told_what_a_full_build_took_and_no_other(setup, tmp_path, fresh):
    """With a cmake and a ninja that do nothing, and a runner that shows how it was called."""
    shutil.copy(ROOT / "utils/test", tmp_path / "utils/test")
    for folder in ("bin", "b", "venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    for name, does in (
        ("bin/cmake", "touch $KILN_BUILD/build.ninja"),
        ("bin/ninja", "sleep 1"),
        ("venv/bin/python", 'echo "ran: $*"'),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    if not fresh:
        (tmp_path / "b/build.ninja").touch()
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
                   "KILN_BUILD": str(tmp_path / "b"), "KILN_VENV": str(tmp_path / "venv"),
                   "KILN_FULL_BUILD_SECONDS": "7000"}  # fmt: skip
    said = run(tmp_path / "utils/test", "--no-setup", "--only", "unit", env=environment)
    ran = next(line for line in said.splitlines() if line.startswith("ran: "))
    assert bool(re.search(r"--only unit --full-build-seconds [1-9]$", ran)) == fresh, ran
    assert ("--full-build-seconds" in ran) == fresh, ran


@pytest.mark.parametrize("says, failed", [("fine", 0), ("x.md:3: warning: no such page", 1)])
def test_docs_that_build_with_warnings_fail(tmp_path, monkeypatch, says, failed):
    ninja = tmp_path / "ninja"
    ninja.write_text(f"#!/bin/sh\necho '{says}'\n")
    ninja.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    runner = run_tests.Runner(SimpleNamespace(build=tmp_path, filter="", whole=False))
    assert runner.docs().failed == failed


def test_all_cells_are_run_where_that_is_asked_for(tmp_path, monkeypatch):
    for whole in (False, True):
        runner = run_tests.Runner(SimpleNamespace(build=tmp_path, filter="", whole=whole))
        monkeypatch.setattr(runner, "counted", lambda name, command, *_: command)
        assert ("--whole" in runner.pytest("x", [])) == whole


def test_what_the_readme_says_to_type_next(build, tmp_path):
    """The block of commands that a new user is told to run in a built tree."""
    block = re.search(r"```\n(export PATH=.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert block
    commands = block[1].replace("$PWD/.venv/bin", os.path.dirname(sys.executable))
    commands = commands.replace("$PWD/build", str(build))
    environment = {**os.environ, "KILN_CACHE_DIR": str(tmp_path)}
    output = run("bash", "-c", f"set -eu; {commands}", cwd=ROOT, env=environment)
    for part in ("matmul TT", "cpu ", "softmax", "tile.kernel", "nvptx:", "amdgpu:"):
        assert part in output, part


def test_demo_builds_what_the_readme_says_to_type_next(build, setup, tmp_path):
    """With a ninja that does nothing but say what it was asked to build."""
    shutil.copy(ROOT / "utils/demo", tmp_path / "utils/demo")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/build.ninja").touch()
    for name, does in (("bin/cmake", ":"), ("bin/ninja", 'echo "$*" >> $ASKED'),
                       ("venv/bin/python", ":")):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
                   "KILN_BUILD": str(tmp_path / "b"), "KILN_VENV": str(tmp_path / "venv"),
                   "ASKED": str(tmp_path / "asked")}  # fmt: skip
    run(tmp_path / "utils/demo", "--no-setup", env=environment)
    asked = set((tmp_path / "asked").read_text().split())
    assert {"kiln-python", "kiln-tools"} <= asked, asked
    tools = run("ninja", "-C", build, "-t", "query", "tools/kiln-tools")
    block = re.search(r"```\n(export PATH=.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    for tool in {"kiln-worker", *re.findall(r"^(tile-[\w-]+)", block[1], re.MULTILINE)}:
        assert f"bin/{tool}" in tools or f" {tool}\n" in tools, tool


def test_demo_shows_what_it_did(build, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(build / "python"),
                   "KILN_CACHE_DIR": str(tmp_path)}  # fmt: skip
    output = run(sys.executable, ROOT / "utils/lib/demo.py", env=environment)
    parts = ["== devices", "cpu ", "== a matmul", "@kiln.kernel", "-- as tiles", "tile.kernel",
             "-- as the processor's instructions", "== first launch", "GFLOP/s", "(right)"]  # fmt: skip
    places = [output.index(part) for part in parts]
    assert places == sorted(places)
