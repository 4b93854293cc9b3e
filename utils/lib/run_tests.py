"""Runs every test runner and adds up what each one says it ran.

A runner's counts come from the report it writes (JUnit's XML from lit, GoogleTest and pytest),
never from its exit status alone: a runner that dies before its report, or that runs nothing, is a
failure.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
RUNNERS = ("lint", "lit", "unit", "python", "emulated", "docs", "packed")
# What runs on emulated chips: what threads could break, but not what is exhaustive by element.
EMULATED = ("sm_90a", "gfx942")
EMULATED_TESTS = (
    "memory", "axis", "control", "products", "defined", "tf32", "arithmetic", "carried",
    "library", "views", "taking", "early_ends", "index_facts",
)  # fmt: skip
# What is exhaustive by element or by shape needs no run as a package.
NOT_PACKED = ("arithmetic", "axis", "cache_hints", "transposes")
# Each worker runs tests that stand together, of which many use a kernel that is compiled once, and
# one that has none left takes some of another's.
PARALLEL = ("-n", os.cpu_count(), "--dist", "worksteal")
SHARES = 10  # of which a run of the package draws one, but for tests marked `packed`
SHARE = "KILN_PACKED_SHARE"  # the number of the share, to draw again what failed


@dataclass
class Result:
    """What one runner ran."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    reasons: list = field(default_factory=list)  # why each skipped test was skipped
    failures: list = field(default_factory=list)  # the names of the tests that failed

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.reasons += other.reasons
        self.failures += other.failures

    def fail(self, name):
        self.failed += 1
        self.failures.append(name)


def read_junit(path, result, prefix):
    """Adds up one JUnit report. A report that is missing or broken is one failure."""
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        result.fail(f"{prefix}: wrote no report ({error})")
        return
    for case in cases:
        name = f"{prefix}: {case.get('classname', '')}.{case.get('name', '')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            result.fail(name)
        elif skipped is not None or case.get("status") == "notrun":
            result.skipped += 1
            result.reasons.append(f"{name}: {'' if skipped is None else skipped.get('message')}")
        else:
            result.passed += 1


class Runner:
    """One way to run tests: its name on the command line, and what it does."""

    def __init__(self, options):
        self.options = options
        self.build = options.build
        self.reports = options.build / "test-reports"
        self.reports.mkdir(parents=True, exist_ok=True)
        # Hundreds of tests start a Python, which is not to compile Kiln's sources each time.
        self.environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(self.build / "bytecode")}
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def execute(self, command, report=None, environment=None, cwd=ROOT):
        """Runs a command to its end, output shown; a stale report must not count."""
        if report is not None:
            report.unlink(missing_ok=True)
        return subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env={**self.environment, **(environment or {})},
            stdin=subprocess.DEVNULL,
            check=False,
        ).returncode

    def counted(self, name, command, environment=None, cwd=ROOT, flag="--junitxml="):
        """Runs a runner that writes a JUnit report, and reads it."""
        result, report = Result(), self.reports / f"{name}.xml"
        status = self.execute([*command, f"{flag}{report}"], report, environment, cwd)
        if status == 0 and self.options.filter and not report.exists():
            return result  # lit, where no test's name matches
        read_junit(report, result, name)
        if status != 0 and result.failed == 0 and not (status == 5 and "pytest" in command):
            result.fail(f"{name}: exited with status {status}")
        return result

    def lint(self):
        result, report = Result(), self.reports / "lint.json"
        self.execute([sys.executable, ROOT / "utils/lint", "--tidy", "--json", report], report)
        try:
            counts = json.loads(report.read_text())
        except (OSError, ValueError) as error:
            result.fail(f"lint: wrote no report ({error})")
            return result
        result.passed, result.failed = counts["passed"], counts["failed"]
        result.failures += ["lint: see above"] * counts["failed"]
        return result

    def lit(self):
        lit = self.llvm_tool("lit")
        command = [
            sys.executable,
            lit,
            "-s",
            "-v",
            f"-j{os.cpu_count()}",
            "--timeout=600",
            self.build / "test",
        ]
        if self.options.filter:
            command[2:2] = [f"--filter={self.options.filter}", "--allow-empty-runs"]
        return self.counted("lit", command, flag="--xunit-xml-output=")

    def unit(self):
        result = Result()
        for program in sorted((self.build / "unittests").glob("*")):
            if program.is_file() and os.access(program, os.X_OK):
                command = [program, "--gtest_brief=1"]
                if self.options.filter:
                    command.append(f"--gtest_filter=*{self.options.filter}*")
                result.add(self.counted(program.name, command, flag="--gtest_output=xml:"))
        return result

    def pytest(self, name, arguments, environment=None, cwd=ROOT):
        command = [sys.executable, "-m", "pytest", "-q", *arguments]
        if self.options.filter:
            command += ["-k", self.options.filter]
        if self.options.whole:
            command.append("--whole")
        return self.counted(name, command, environment, cwd)

    def python(self):
        """All Python tests: those that measure time alone, the others on all cores."""
        environment = {"PYTHONPATH": str(self.build / "python"), "KILN_BUILD": str(self.build)}
        # The tests that take longest, of packages, come first.
        folders = [p for p in ("test/packaging", "test/python") if (ROOT / p).is_dir()]
        parallel = [*folders, "-m", "not serial", *PARALLEL]
        result = self.pytest("pytest", parallel, environment)
        files = [path for folder in folders for path in sorted((ROOT / folder).rglob("test_*.py"))]
        serial = [path for path in files if "mark.serial" in path.read_text(encoding="utf-8")]
        result.add(self.pytest("pytest-serial", [*serial, "-m", "serial"], environment))
        return result

    def emulated(self):
        """The ops' tests of the host again, on an emulated chip of each vendor."""
        result = Result()
        for chip in EMULATED:
            environment = {"PYTHONPATH": str(self.build / "python"), "KILN_BUILD": str(self.build)}
            environment["KILN_TEST_DEVICE"] = f"emu:{chip}"
            files = [ROOT / f"test/python/ops/test_{name}.py" for name in EMULATED_TESTS]
            arguments = [*files, "-m", "not host", *PARALLEL]
            result.add(self.pytest(f"emulated-{chip}", arguments, environment))
        return result

    def docs(self):
        """The documentation builds, and says nothing while it does."""
        result = Result()
        log = self.build / "docs.log"
        with open(log, "w", encoding="utf-8") as output:
            status = subprocess.run(
                ["ninja", "-C", str(self.build), "kiln-docs"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            ).returncode
        text = log.read_text(encoding="utf-8")
        if status != 0 or "warning:" in text.lower():
            print(text)
            result.fail("docs: warnings or errors")
        else:
            result.passed = 1
        return result

    def packed(self):
        """End-to-end tests again, as the package that utils/pack makes runs them: it is made of the
        objects that ran them all already."""
        result = Result()
        folder = self.build / "package"
        if self.execute([ROOT / "utils/pack", "--folder", folder, "--no-build"]) != 0:
            result.fail("packed: utils/pack failed")
            return result
        result.passed += 1
        report = self.reports / "packed.xml"
        ignored = [f"--ignore=test/python/ops/test_{name}.py" for name in NOT_PACKED]
        share = packed_share()
        print(f"packed: share {share} of {SHARES}, again with {SHARE}={share}", flush=True)
        drawn = [f"--share={share}/{SHARES}", *ignored]
        status = self.execute(
            [folder / "run-tests", f"--junitxml={report}", *PARALLEL, *drawn],
            report,
            {"KILN_PYTHON": sys.executable},
            cwd=folder,
        )
        read_junit(report, result, "packed")
        if status != 0 and result.failed == 0:
            result.fail(f"packed: exited with status {status}")
        return result

    def llvm_tool(self, name):
        for line in (self.build / "CMakeCache.txt").read_text().splitlines():
            if line.startswith("LLVM_DIR:"):
                return Path(line.partition("=")[2]).parents[2] / "bin" / name
        return name


def packed_share():
    """Each commit runs another, the same wherever it is tested."""
    if SHARE in os.environ:
        return int(os.environ[SHARE]) % SHARES
    named = subprocess.run(
        ["git", "rev-parse", "HEAD^{tree}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return int(named.stdout[:8] or "0", 16) % SHARES


FULL_BUILD_MINUTES, ALL_TESTS_MINUTES = 15, 20  # on two quiet cores
NEIGHBOURS = 2  # what others on the same machine may slow a build or the tests down by


def judge(what, minutes, seconds, cores, more=""):
    """Whether what took so long was quick enough, on a machine that is not ours alone.

    One core alone gets twice the time.
    """
    result, limit = Result(), minutes * NEIGHBOURS * 60 * 2 // min(cores, 2)
    if seconds <= limit:
        result.passed = 1
    else:
        result.fail(
            f"{what} in at most {limit // 60} min on {cores} cores, "
            f"got {seconds // 60} min {seconds % 60:02} s{more}"
        )
    return result


def judge_build(seconds, cores):
    """A build from nothing."""
    return judge("build: expected a full build", FULL_BUILD_MINUTES, seconds, cores)


def judge_tests(rows, cores):
    """All tests of a commit, by what each runner took."""
    each = ", ".join(f"{name} {seconds:.0f} s" for name, _, seconds in rows)
    total = round(sum(seconds for *_, seconds in rows))
    return judge("time: expected all tests", ALL_TESTS_MINUTES, total, cores, f": {each}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--only", required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--whole", action="store_true", help="all cells of crosses")
    parser.add_argument("--full-build-seconds", type=int, help="what a build from nothing took")
    options = parser.parse_args()
    chosen = options.only.split(",")
    for name in chosen:
        if name not in RUNNERS:
            parser.error(f"expected runners of {', '.join(RUNNERS)}, got '{name}'")
    runner, total, rows = Runner(options), Result(), []
    if options.full_build_seconds is not None:
        rows.append(("build", judge_build(options.full_build_seconds, os.cpu_count()), 0.0))
        total.add(rows[0][1])
    for name in chosen:
        print(f"\n== {name}", flush=True)
        start = time.monotonic()
        try:
            result = getattr(runner, name)()
        except Exception as error:  # one runner's defect must not hide the others' results
            result = Result()
            result.fail(f"{name}: {type(error).__name__}: {error}")
        if result.passed + result.failed == 0 and not options.filter:
            result.fail(f"{name}: ran no test")
        rows.append((name, result, time.monotonic() - start))
        total.add(result)
    if set(chosen) == set(RUNNERS) and not (options.filter or options.whole):
        rows.append(("time", judge_tests(rows, os.cpu_count()), 0.0))
        total.add(rows[-1][1])
    if total.passed + total.failed == 0:
        total.fail(f"no test's name matches '{options.filter}'")
    report(rows, total)
    return 1 if total.failed else 0


def report(rows, total):
    """The summary. Its last line is what CI reads."""
    print("\n== summary")
    for name, result, seconds in rows:
        counts = f"{result.passed:6} passed {result.failed:4} failed {result.skipped:4} skipped"
        print(f"{name:8} {counts} {seconds:8.1f} s")
    for reason in sorted(set(total.reasons)):
        print(f"skipped: {reason}")
    for failure in total.failures:
        print(f"FAILED: {failure}")
    skipped = f", {total.skipped} skipped" if total.skipped else ""
    print(f"{total.passed} passed, {total.failed} failed{skipped}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
