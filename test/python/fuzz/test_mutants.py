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
    r"cp\.async\.(?:wait|commit)\.group|wgmma\.(?:commit|wait)|mbarrier\.arrive)"
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


def assemble(text: str, target: str) -> Callable[..., None]:
    request = {
        "source": text.encode(), "source_name": "mutant.mlir", "kernel": None, "target": target,
        "keep_stages": (), "opt_level": 3, "fast_math": 0, "options": "from=llvm", "isolation": 1,
    }  # fmt: skip
    artifact, _, _ = _native.compile(None, None, request)
    executable = device(target).load(artifact)
    name = json.loads(artifact.metadata)["kernel"]
    return lambda *arguments: executable.launch(name, list(arguments), None)


# Two tiles of more trips than the ring has slots; and where loops are left early, of each number.
@pytest.mark.parametrize(
    "kernel, chip, least, inner",
    [("gemm", "sm_90a", 30, (320,)), ("gemm-sm_80", "sm_80", 15, (320, 32, 64, 96, 128))],
)
def test_each_mutant_is_found(rng, kernel: str, chip: str, least: int, inner: tuple) -> None:
    target = device(f"emu:{chip}").target
    source = (BENCHMARKS / f"{kernel}.mlir").read_bytes()
    source = re.sub(rb"programs = \d+", b"programs = 1", source)
    text = compiled(source, target, ("llvm",)).section("ir:llvm").decode()
    operands = [[rng.standard_normal((256, k)).astype(BF16) for _ in range(2)] for k in inner]

    def is_found(changed: str) -> bool:
        launch = assemble(changed, target)
        for a, b in operands:
            c, want = np.zeros((256, 256), BF16), a.astype(float) @ b.astype(float).T
            try:
                launch(a, b, c)
            except kiln.DeviceError:
                return True
            if not np.linalg.norm(c.astype(float) - want) <= 1e-2 * np.linalg.norm(want):
                return True
        return False

    assert not is_found(text)
    broken = mutants(text)
    assert len(broken) >= least
    assert not [what for what, changed in broken if not is_found(changed)]
