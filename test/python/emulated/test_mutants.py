"""Pinned kernels with one thing broken in what their schedules became: a barrier, a fence, a wait, an
arrival or a commit that is dropped, or a wait that leaves one more in flight. An emulated chip finds
each of them, by an error or by wrong numbers, whatever order it runs the threads in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from pinned import BENCHMARKS, compiled

import kiln
from kiln import _native
from kiln.runtime.devices import device

BF16 = ml_dtypes.bfloat16
DROPPED = re.compile(
    r"\s*(?:(%\w+) = )?nvvm\.(?:barrier0?\b|fence\.proxy|cp\.async\.bulk\.(?:wait|commit)_group|"
    r"cp\.async\.bulk\.(?:wait|commit)\.group|wgmma\.(?:commit|wait)|mbarrier\.arrive)"
)
COUNTED = re.compile(r"(wait_group(?:\.sync\.aligned)?|wait\.group\.sync\.aligned) (\d)")


def mutants(text: str) -> list[tuple[str, str]]:
    """Each with what was done."""
    lines, made = text.split("\n"), []

    def change(i: int, new: list[str], what: str) -> None:
        made.append((f"{what} in line {i + 1}", "\n".join(lines[:i] + new + lines[i + 1 :])))

    for i, line in enumerate(lines):
        dropped, counted = DROPPED.match(line), COUNTED.search(line)
        # A result that somebody uses cannot go.
        if dropped and not (dropped[1] and len(re.findall(rf"{dropped[1]}\b", text)) > 1):
            change(i, [], f"without '{line.strip()[:60]}'")
        if counted:
            more = f"{counted[1]} {int(counted[2]) + 1}"
            change(i, [line.replace(counted[0], more)], f"with '{more}'")
    return made


def product(rng: np.random.Generator) -> tuple[list[np.ndarray], np.ndarray]:
    """Two tiles of more trips than the ring has slots."""
    a, b = (rng.standard_normal((256, 320)).astype(BF16) for _ in range(2))
    return [a, b, np.zeros((256, 256), BF16)], a.astype(float) @ b.astype(float).T


def run(text: str, target: str, arguments: list[np.ndarray]) -> np.ndarray:
    request = {
        "source": text.encode(), "source_name": "mutant.mlir", "kernel": None, "target": target,
        "keep_stages": (), "opt_level": 3, "fast_math": 0, "options": "from=llvm", "isolation": 1,
    }  # fmt: skip
    artifact, _, _ = _native.compile(None, None, request)
    executable = device(target).load(artifact)
    executable.launch(json.loads(artifact.metadata)["kernel"], arguments, None)
    return arguments[-1].astype(float)


@pytest.mark.parametrize("kernel, chip, least, make", [("gemm", "sm_90a", 30, product)])
def test_each_mutant_is_found(rng, kernel: str, chip: str, least: int, make: Callable) -> None:
    target = device(f"emu:{chip}").target
    source = (BENCHMARKS / f"{kernel}.mlir").read_bytes()
    source = re.sub(rb"programs = \d+", b"programs = 1", source)
    text = compiled(source, target, ("llvm",)).section("ir:llvm").decode()
    arguments, want = make(rng)

    def is_found(changed: str) -> bool:
        try:
            got = run(changed, target, [*arguments[:-1], np.zeros_like(arguments[-1])])
        except kiln.DeviceError:
            return True
        return not np.linalg.norm(got - want) <= 1e-2 * np.linalg.norm(want)

    assert not is_found(text)
    broken = mutants(text)
    assert len(broken) >= least
    assert not [what for what, changed in broken if not is_found(changed)]
