"""The final code of AMD kernels, proven: each wait that is needed is there, and inner loops have no
stronger ones."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from amd_opcodes import unknown

import kiln
from kiln import _native

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("KILN_BUILD", ROOT / "build"))
CHECKER = os.environ.get("TILE_CHECK_ISA") or str(BUILD / "bin/tile-check-isa")
CHIPS = tuple(
    spelling.removeprefix("amdgpu:")
    for target in json.loads(_native.targets())["targets"]
    for spelling in target["spellings"]
    if spelling.startswith("amdgpu:")
)


def has_checker() -> bool:
    """A package has none."""
    return os.access(CHECKER, os.X_OK)


def assemble(text: str, chip: str, options: str = "") -> bytes:
    """The final code of a module, as text alone: that every op links is the support table's test."""
    request = {"source": text, "target": f"amdgpu:{chip}", "isolation": 0}
    request |= {"options": f"{options} stop-after=asm".strip()}
    artifact, _, _ = _native.compile(None, None, request)
    return bytes(artifact.section("asm"))


def read_back(assembly: bytes, allow_strong: bool = False) -> tuple[bytes, str]:
    """What the checker prints of a code, AMD's with `--figures`, and what it finds wrong with it:
    that it does not keep the protocol that it declares, lacks a wait, or has one in an inner loop
    that is too strong."""
    command = [CHECKER, "-", "--figures", *(["--allow-strong-waits"] if allow_strong else [])]
    done = subprocess.run(command, input=assembly, capture_output=True, check=False)
    said = done.stderr.decode()
    return done.stdout, said or f"exit status {done.returncode}" if done.returncode else ""


def find_problem(assembly: bytes, allow_strong: bool = False) -> str:
    return read_back(assembly, allow_strong)[1]


def is_open(problem: str) -> bool:
    """Whether the checker could not tell whether anything is wrong."""
    return all("not decided: " in line for line in problem.splitlines())


def check(assembly: bytes, allow_strong: bool = False, drawn: bool = True) -> bytes:
    """Fails if anything is wrong; gives what is printed. Of kernels that are the same in each run, not
    `drawn`, each opcode must have an entry, too: who draws another would find one by chance."""
    printed, problem = read_back(assembly, allow_strong)
    assert not problem, problem
    strange = [] if drawn else unknown(assembly)
    assert not strange, f"expected an entry in amd_opcodes.py of {', '.join(strange)}"
    return printed


def refusal(assembly: bytes) -> str:
    """What is wrong with code, but for waits that are too strong; or nothing."""
    command = [CHECKER, "-", "--allow-strong-waits"]
    done = subprocess.run(command, input=assembly, capture_output=True, check=False)
    return done.stderr.decode() if done.returncode else ""


def figures(assembly: bytes, allow_strong: bool = False) -> dict:
    """What the only kernel of a code consists of, once its waits are proven."""
    return json.loads(check(assembly, allow_strong))


def prove_waits(text: str, chip: str, may_refuse: bool = False) -> None:
    """Compiles a module for an AMD chip and checks what came of it."""
    if not has_checker():
        return
    try:
        assembly = assemble(text, chip)
    except kiln.CompileError:
        if may_refuse:
            return
        raise
    check(assembly)
