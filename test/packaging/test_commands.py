"""The commands of utils/: what they say when something is missing, and that nothing is counted
that did not run."""

import re
import shutil
import subprocess
import sys

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


@pytest.mark.parametrize("command, status", [("test", 1), ("demo", 1), ("pack", 1), ("lint", 2)])
def test_unknown_option_is_refused(command, status):
    assert "expected" in run(ROOT / "utils" / command, "nonsense", status=status)


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
