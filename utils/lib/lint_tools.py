"""The lint checks that run a tool: clang-format, clang-tidy, ruff, and the shell's own parser."""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def find_tool(*names):
    """The first of these programs that exists; this Python's and the project's own go first."""
    folders = [Path(sys.prefix) / "bin", Path(os.environ.get("KILN_VENV", ROOT / ".venv")) / "bin"]
    for name in names:
        found = shutil.which(name, path=os.pathsep.join([*map(str, folders), os.environ["PATH"]]))
        if found:
            return found
    raise FileNotFoundError(f"expected {' or '.join(names)} on the path, got none; run utils/test")


def run(command, files=()):
    return subprocess.run(
        [*command, *map(str, files)], cwd=ROOT, capture_output=True, text=True, check=False
    )


def clang_format(files, options):
    chosen = [path for path in files if path.suffix in (".cpp", ".c", ".h")]
    tool, cores = find_tool("clang-format-22"), os.cpu_count()
    if options.fix:
        run([tool, "-i"], chosen)
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        parts = [chosen[first::cores] for first in range(min(cores, len(chosen)))]
        results = list(pool.map(lambda part: run([tool, "--dry-run", "--Werror"], part), parts))
    said = "".join(result.stderr for result in results)
    bad = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", said, re.MULTILINE)))
    return len(chosen), [f"{path}: expected clang-format's layout (--fix mends it)" for path in bad]


def python_files(files):
    return [p for p in files if p.suffix in (".py", ".pyi") or str(p) in ("utils/lint",)]


def ruff(files, options):
    chosen = python_files(files)
    tool = find_tool("ruff")
    result = run(
        [tool, "check", "-q", "--output-format=concise", *(["--fix"] if options.fix else [])],
        chosen,
    )
    findings = result.stdout.splitlines() + result.stderr.splitlines()
    return len(chosen), findings if result.returncode else []


def ruff_format(files, options):
    chosen = python_files(files)
    tool = find_tool("ruff")
    if options.fix:
        run([tool, "format", "-q"], chosen)
    result = run([tool, "format", "--check"], chosen)
    bad = re.findall(r"^ *(?:Would reformat:|-->) ([^:\n]+)", result.stdout, re.MULTILINE)
    if result.returncode and not bad:
        bad = (result.stdout + result.stderr).splitlines()
    return len(chosen), [f"{path}: expected ruff's layout (--fix mends it)" for path in bad]


def shell(files, options):
    chosen = []
    for path in files:
        with open(ROOT / path, "rb") as file:
            first = file.readline(64)
        if path.suffix == ".sh" or (first.startswith(b"#!") and b"bash" in first):
            chosen.append(path)
    findings = []
    for path in chosen:
        result = run(["bash", "-n"], [path])
        findings += [line for line in result.stderr.splitlines() if result.returncode]
    return len(chosen), findings


def changed_files():
    """What differs from the branch that work is based on, committed or not."""
    for base in ("origin/main", "main"):
        merge_base = run(["git", "merge-base", base, "HEAD"])
        if merge_base.returncode == 0:
            names = run(["git", "diff", "--name-only", merge_base.stdout.strip()]).stdout
            return set(names.split())
    return set()


def clang_tidy(files, options):
    build = Path(os.environ.get("KILN_BUILD", ROOT / "build"))
    if not (build / "compile_commands.json").exists():
        raise FileNotFoundError(f"expected a build in {build}, got none; run utils/test")
    tool = find_tool("clang-tidy-22")
    chosen = [path for path in files if path.suffix == ".cpp" and str(path).startswith("lib/")]
    if options.tidy != "all":
        changed = changed_files()
        chosen = [path for path in chosen if str(path) in changed]

    def check(path):
        result = run([tool, "--quiet", "-p", str(build)], [ROOT / path])
        return [
            line.replace(f"{ROOT}/", "")
            for line in result.stdout.splitlines()
            # What TableGen wrote is not ours to mend.
            if re.search(r": (warning|error): ", line) and ".inc:" not in line
        ]

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        findings = [finding for found in pool.map(check, chosen) for finding in found]
    return len(chosen), sorted(set(findings))


CHECKS = {
    "clang-format": clang_format,
    "ruff": ruff,
    "ruff-format": ruff_format,
    "shell": shell,
    "clang-tidy": clang_tidy,
}
