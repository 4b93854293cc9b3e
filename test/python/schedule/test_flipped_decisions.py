"""Every decision of every pinned kernel, flipped one at a time, makes other code or an error that
names an op: nothing that is written is ignored."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TILE_OPT = Path(os.environ["KILN_BUILD"]) / "bin" / "tile-opt"
KERNELS = ["gemm", "attention", "gemm-sm_80", "gemm-sm_100a", "gemm-gfx942", "gemm-gfx950"]
COUNTS = re.compile(
    r"\b(stage|order|depth|in_flight|warps|copies|skew|registers|programs|group|reads_ahead)"
    r" = (\d+)"
)
PARTS = re.compile(r"\bparts = array<i64: (\d+), (\d+), (\d+)>")
NAMES = re.compile(r'\b(role|ring) = "(\w+)"')
ATOMS = re.compile(r"\b(atom|read_atom) = ([^,}]+)")
BUFFERS = re.compile(r"\bbuffer = (!\w+)")


def flips(source: str) -> list[tuple[str, str]]:
    """The source with one decision another, and what that was."""
    made = []

    def add(match: re.Match, group: int, new: str) -> None:
        line = source.count("\n", 0, match.start()) + 1
        text = source[: match.start(group)] + new + source[match.end(group) :]
        made.append((text, f"{line}: {match[0]} -> {new}"))

    body = source.index("module attributes")
    names = {kind: set(re.findall(rf'\b{kind} = "(\w+)"', source)) for kind in ("role", "ring")}
    for match in COUNTS.finditer(source, body):
        for new in {int(match[2]) + 1, max(int(match[2]) - 1, 0)} - {int(match[2])}:
            add(match, 2, str(new))
    for match in PARTS.finditer(source, body):
        for group in (1, 2, 3):
            for new in {2 * int(match[group]), max(int(match[group]) // 2, 1)} - {
                int(match[group])
            }:
                add(match, group, str(new))
    for match in NAMES.finditer(source, body):
        for new in sorted(names[match[1]] - {match[2]} | {"another"}):
            add(match, 2, new)
    aliases = dict(re.findall(r"^(#\w+) = (#.*)$", source, re.M))
    for match in ATOMS.finditer(source, body):
        for new in ("#tile.fma", "#nvptx.cp_async<8>", "#nvptx.tma", '"banana"'):
            if new != aliases.get(match[2], match[2]):
                add(match, 2, new)
    buffers = set(re.findall(r"^(!\w+) = !tile.buffer", source, re.M))
    for match in BUFFERS.finditer(source, body):
        for new in sorted(buffers - {match[1]} | {"!tile.buffer<64x64xbf16>"}):
            add(match, 1, new)
    return made


def compiled(source: str, path: Path) -> tuple[str, str]:
    """What runs, on the device and to launch it there, or nothing; and the errors."""
    path.write_text(source, encoding="utf-8")

    def stage(name: str) -> subprocess.CompletedProcess:
        command = [TILE_OPT, path, f"--tile-pipeline=stop-after={name}"]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    scheduled = stage("schedule")
    if scheduled.returncode:
        return "", scheduled.stderr
    grid = re.search(r"\bgrid \{.*?^ *\} \{", scheduled.stdout, re.M | re.S)
    code = stage("llvm")
    assert scheduled.returncode >= 0 and code.returncode >= 0, code.stderr
    return (grid[0] if grid else "") + code.stdout, code.stderr


def check_flips(source: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.mlir"
    pinned, errors = compiled(source, path)
    assert pinned, errors
    wrong = []
    for text, name in flips(source):
        code, errors = compiled(text, path)
        if code == pinned:
            wrong.append(f"{name}: the same code")
        elif not code and "error:" not in errors:
            wrong.append(f"{name}: no error, but {errors[-200:]!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("kernel", KERNELS)
def test_no_decision_is_ignored(kernel: str, tmp_path: Path) -> None:
    check_flips((ROOT / "benchmarks" / f"{kernel}.mlir").read_text(encoding="utf-8"), tmp_path)


def test_no_decision_about_parts_is_ignored(tmp_path: Path) -> None:
    source = (ROOT / "benchmarks" / "gemm-sm_80.mlir").read_text(encoding="utf-8")
    parts = "parts = array<i64: 1, 1, 2>, reads_ahead = 1 : i64, "
    check_flips(source.replace("{atom = #mma, ", "{atom = #mma, " + parts), tmp_path)
