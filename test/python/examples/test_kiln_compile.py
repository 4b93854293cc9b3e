"""`kiln compile` writes a code object of every example for every AMD chip, from the types of its
arguments alone, and its waits are proven; lines of Python stand in its line table."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from isa import CHIPS, check, has_checker

from kiln import _native

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
ROWS = "f16[?,?]"
CASES: dict[str, tuple[str, dict[str, str], dict[str, object]]] = {
    "01_vector_add.py": ("add", dict.fromkeys(["x", "y", "out"], "f32[?]"), {}),
    "02_softmax.py": ("softmax", dict.fromkeys(["x", "out"], ROWS), {"BLOCK": 1024}),
    "03_rmsnorm.py": ("rmsnorm", {"x": ROWS, "weight": "f16[?]", "out": ROWS}, {"BLOCK": 1024}),
    "04_layernorm_dropout.py": (
        "layernorm_dropout",
        dict.fromkeys(["x", "residual", "total", "out"], ROWS)
        | dict.fromkeys(["weight", "bias"], "f32[?]"),
        {"BLOCK": 1024},
    ),
    "05_matmul.py": ("matmul", {"a": ROWS, "b": ROWS, "c": "f32[?,?]"}, {}),
    "06_attention.py": (
        "attention", dict.fromkeys(["q", "k", "v", "out"], "bf16[?,?,?,?]"),
        {"CAUSAL": True, "D": 64},
    ),
    "06_attention.py, head size 80": (
        "attention", dict.fromkeys(["q", "k", "v", "out"], "bf16[?,?,?,?]"),
        {"CAUSAL": True, "D": 80},
    ),
    "07_cumsum.py": ("cumsum", dict.fromkeys(["x", "out"], "f32[?,?]"), {}),
    "08_histogram.py": ("histogram", {"x": "u8[?]", "counts": "i32[?]"}, {}),
    "09_dequant_matmul.py": (
        "dequant_matmul",
        {"a": "f32[?,?]", "planes": "i32[?,?,?]", "scales": "f32[?,?]", "c": "f32[?,?]"},
        {},
    ),
    "10_image_filter.py": ("sharpen", dict.fromkeys(["picture", "out"], "u8[?,?]"), {}),
    "11_swiglu.mlir": ("swiglu", {}, {}),
}  # fmt: skip


def kiln_compile(name: str, target: str, out: Path, *options: str) -> None:
    kernel, types, constants = CASES[name]
    file = EXAMPLES / name.split(",")[0]
    command = [sys.executable, "-m", "kiln", "compile", f"{file}:{kernel}"]
    for argument, type_ in types.items():
        command += ["--arg", f"{argument}={type_}"]
    for constant, value in constants.items():
        command += ["--set", f"{constant}={value}"]
    done = subprocess.run(
        [*command, "--target", target, "-o", str(out), *options],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_example_is_compiled() -> None:
    names = {path.name for path in EXAMPLES.glob("[0-9][0-9]_*")}
    # Of the last one the Python file launches the kernel in MLIR text.
    assert {name.split(",")[0] for name in CASES} | {"11_swiglu.py"} == names


@pytest.mark.crossed(1)
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", CASES)
def test_code_object(name: str, chip: str, tmp_path) -> None:
    out = tmp_path / "out.kiln"
    kiln_compile(name, f"amdgpu:{chip}", out)
    artifact = _native.Artifact.deserialize(out.read_bytes())
    assert bytes(artifact.section("binary"))[:4] == b"\x7fELF"
    metadata = json.loads(artifact.metadata)
    assert metadata["kernel"] == CASES[name][0]
    spills = metadata["local_bytes"] != 0
    assert not spills or chip == "gfx1100"  # the one chip that has no figures
    if has_checker():  # LLVM fills a spilled run of registers part by part, and waits for all
        check(bytes(artifact.section("asm")), allow_strong=spills, drawn=False)


def check_lines(numbers: set[int]) -> None:
    """A profiler shows the line of the example that an instruction was made of."""
    source = (EXAMPLES / "03_rmsnorm.py").read_text().splitlines()
    seen = {source[number - 1].strip() for number in numbers if number}
    for words in ("x.load(", "kiln.sum(", "kiln.rsqrt(", "out.store("):
        assert any(words in line for line in seen), (words, seen)


def test_python_lines_are_in_the_assembly(tmp_path) -> None:
    out = tmp_path / "out.ptx"
    kiln_compile("03_rmsnorm.py", "nvptx:sm_90a", out, "--emit", "asm")
    text = out.read_text()
    assert re.search(r'\.file\s+1\s+"[^"]*03_rmsnorm\.py"', text)
    check_lines({int(line) for line in re.findall(r"\.loc\s+1\s+(\d+)", text)})


def test_python_lines_are_in_the_code_object(tmp_path) -> None:
    dump = shutil.which("llvm-dwarfdump") or "/usr/lib/llvm-22/bin/llvm-dwarfdump"
    if not os.access(dump, os.X_OK):
        pytest.skip("no llvm-dwarfdump here")
    out = tmp_path / "out.hsaco"
    kiln_compile("03_rmsnorm.py", "amdgpu:gfx942", out, "--emit", "binary")
    text = subprocess.run([dump, "--debug-line", out], capture_output=True, check=True).stdout
    assert 'name: "03_rmsnorm.py"' in text.decode()
    check_lines({int(line) for line in re.findall(r"(?m)^0x\w+\s+(\d+)", text.decode())})
