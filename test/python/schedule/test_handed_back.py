"""IR of each stage, handed back: the stages behind it make the same code of it, and a source that
is not what the stage wrote is an error that says so."""

from __future__ import annotations

import functools
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import kiln
from kiln import _native

ROOT = Path(__file__).resolve().parents[3]
STRIP = "/usr/lib/llvm-22/bin/llvm-strip"
STAGES = ("tile", "layout", "schedule", "target", "llvm")
CHIPS = ["cpu", "nvptx:sm_80", "nvptx:sm_90a", "nvptx:sm_100a",
         "amdgpu:gfx942", "amdgpu:gfx950", "amdgpu:gfx1201"]  # fmt: skip
PINNED = {"nvptx:sm_80": "gemm-sm_80", "nvptx:sm_90a": "gemm", "nvptx:sm_100a": "gemm-sm_100a",
          "amdgpu:gfx942": "gemm-gfx942", "amdgpu:gfx950": "gemm-gfx950"}  # fmt: skip


def compiled(source: str, target: str, options: str = "", **fields: Any) -> Any:
    """In a worker of its own, so that one that ends is an error. Assembly is kept where devices get
    no more than that: elsewhere it holds what the binary does, and would be generated once more."""
    keep = (*STAGES, "asm") if target.startswith("nvptx:") else STAGES
    request = {
        "source": source.encode(), "source_name": "k.mlir", "kernel": None, "target": target,
        "keep_stages": keep, "opt_level": 1, "fast_math": 0, "options": options or None,
        "isolation": 2, **fields,
    }  # fmt: skip
    return _native.compile(None, None, request)[0]


def example(name: str) -> Any:
    path = next((ROOT / "examples").glob(f"*_{name}.py"))
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(f"handed_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


@functools.cache
def source(kernel: str, chip: str) -> str:
    if kernel == "pinned":
        return (ROOT / "benchmarks" / f"{PINNED[chip]}.mlir").read_text(encoding="utf-8")
    types: dict[str, Any]
    if kernel == "matmul":
        view = kiln.View[kiln.bf16, 2]
        types = {"a": view, "b": view, "c": kiln.View[kiln.f32, 2]}
    elif kernel == "softmax":
        view = kiln.View[kiln.f32, 2]
        types = {"x": view, "out": view, "BLOCK": 1024}
    else:
        view = kiln.View[kiln.bf16, 4]
        types = {"q": view, "k": view, "v": view, "out": view, "scale": kiln.f32}
        types |= {"CAUSAL": True, "D": 64}
    made = example(kernel).compile(**types, target=chip, _pipeline="stop-after=tile")
    return made.ir("tile")


def described(artifact: Any) -> dict[str, Any]:
    """The metadata but for lines, which are those of the text at hand."""

    def drop(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: drop(v) for k, v in value.items() if k != "line"}
        return [drop(v) for v in value] if isinstance(value, list) else value

    return drop(json.loads(artifact.metadata))


def code(artifact: Any, folder: Path) -> dict[str, bytes]:
    """What a device and the launcher get, without the lines of the source."""
    lines = re.compile(rb"(?m)^\s*\.(loc|file)\b.*\n")
    names = {"host", "asm", "binary"} & set(artifact.sections)
    assert names & {"asm", "binary"}
    sections = {name: bytes(artifact.section(name)) for name in names}
    if sections.get("binary", b"").startswith(b"\x7fELF"):
        path = folder / "binary"
        path.write_bytes(sections["binary"])
        subprocess.run([STRIP, "-g", path], check=True)
        return {**sections, "binary": path.read_bytes()}
    return {name: lines.sub(b"", section) for name, section in sections.items()}


@pytest.mark.crossed(1)
@pytest.mark.parametrize("kernel", ["matmul", "softmax", "attention"])
@pytest.mark.parametrize("chip", CHIPS)
def test_the_same_code_from_each_stage(chip: str, kernel: str, tmp_path: Path) -> None:
    check_stages(kernel, chip, tmp_path)


@pytest.mark.drawn(2)
@pytest.mark.parametrize("chip", PINNED)
def test_the_same_code_of_pinned_kernels_from_each_stage(chip: str, tmp_path: Path) -> None:
    check_stages("pinned", chip, tmp_path)


def check_stages(kernel: str, chip: str, tmp_path: Path) -> None:
    whole = compiled(source(kernel, chip), chip)
    for stage in STAGES:
        text = bytes(whole.section(f"ir:{stage}")).decode()
        again = compiled(text, chip, f"from={stage}")
        assert described(again) == described(whole), stage
        assert code(again, tmp_path) == code(whole, tmp_path), stage
        later = STAGES[STAGES.index(stage) + 1 :]
        assert [f"ir:{s}" for s in later] == [n for n in again.sections if n[3:] in STAGES]


@pytest.mark.crossed(1)
@pytest.mark.parametrize("kernel", ["softmax", "attention"])
@pytest.mark.parametrize("chip", ["cpu", "nvptx:sm_90a", "amdgpu:gfx942", "emu:gfx942"])
def test_the_wrong_stage_is_an_error(chip: str, kernel: str) -> None:
    """That which the module says, and that which it is made to say."""
    whole = compiled(source(kernel, chip), chip)
    for was in STAGES:
        text = bytes(whole.section(f"ir:{was}")).decode()
        for stage in STAGES:
            if stage == was:
                continue
            with pytest.raises(kiln.CompileError, match=f"it is of the stage '{was}'"):
                compiled(text, chip, f"from={stage}")
            other = text.replace(f'tile.emitted = "{was}"', f'tile.emitted = "{stage}"')
            try:
                compiled(other, chip, f"from={stage}")
            except kiln.CompileError as error:
                assert "k.mlir:" in str(error), (was, stage, str(error))


@pytest.mark.parametrize("chip", ["cpu", "nvptx:sm_90a", "amdgpu:gfx942"])
def test_another_target_is_an_error(chip: str) -> None:
    """That which is asked for, and that which the module is made to say."""
    whole = compiled(source("softmax", chip), chip)
    for other in {"cpu", "nvptx:sm_90a", "amdgpu:gfx942"} - {chip}:
        made = bytes(compiled(source("softmax", other), other).section("ir:tile")).decode()
        attribute = re.search(r"tile\.target = (#[^>]*>)", made)[1]
        for stage in STAGES:
            text = bytes(whole.section(f"ir:{stage}")).decode()
            with pytest.raises(
                kiln.CompileError, match="expected the target that the module is for"
            ):
                compiled(text, other, f"from={stage}")
            text = re.sub(r"tile\.target = #[^>]*>", f"tile.target = {attribute}", text)
            # What is decided of a host's memory is no other target's.
            refused = f"is of the target {chip}, the module of|mean something here, got 'cpu\\."
            with pytest.raises(kiln.CompileError, match=refused):
                compiled(text, other, f"from={stage}")
            text = text.replace(f'target = "{chip}"', f'target = "{other}"')
            try:
                compiled(text, other, f"from={stage}")
            except kiln.CompileError as error:
                # Of the instructions of another chip, a code generator may end the worker.
                ended = stage in ("target", "llvm") and "the compile worker" in str(error)
                assert ended or "k.mlir:" in str(error), (other, stage, str(error))


@pytest.mark.crossed(1)
@pytest.mark.parametrize("chip", ["cpu", "nvptx:sm_90a", "amdgpu:gfx942"])
@pytest.mark.parametrize("stage", STAGES)
def test_what_is_missing_is_an_error(chip: str, stage: str) -> None:
    """Each attribute of the module and each member of its metadata, taken away or another."""
    whole = bytes(compiled(source("softmax", chip), chip).section(f"ir:{stage}")).decode()
    head = whole.index("module attributes")
    end = whole.index("} {\n", head)
    matches = re.finditer(r'\b([\w.]+) = ("[^"]*"|\w+(?: : i64)?)(?:, )?', whole[head:end])
    for match in {match[1]: match for match in matches}.values():
        before, after = whole[: head + match.start()], whole[head + match.end() :]
        for new in ("", f"{match[1]} = [7 : i3], "):
            try:
                compiled(before + new + after, chip, f"from={stage}")
            except kiln.CompileError as error:
                assert "k.mlir:" in str(error), (match[0], new, str(error))
