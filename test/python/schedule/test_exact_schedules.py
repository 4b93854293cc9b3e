"""Schedules that are proven: how near the usual solver comes to them on loops that nobody has tuned,
and that what was found is kept and found again."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import plain_loops
import pytest

from kiln import _native

TILE_OPT = Path(os.environ.get("KILN_BUILD", Path(__file__).parents[3] / "build")) / "bin/tile-opt"
PRINT = ("--tile-rotate-loops", "--tile-decide-registers", "--tile-decide-stages",
         "--tile-print-schedules")  # fmt: skip
TRIP = re.compile(
    r"remark: a trip takes (\d+) cycles by swing modulo scheduling, (\d+) at best, "
    r"and none has less(?: than (\d+))?"
)
TARGETS = {"nvptx:sm_90a": 128, "amdgpu:gfx942": 64}

pytestmark = pytest.mark.skipif(not os.access(TILE_OPT, os.X_OK), reason="needs tile-opt")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", plain_loops.LOOPS)
def test_the_usual_solver_is_near_the_best(name: str, target: str) -> None:
    make = plain_loops.LOOPS[name]
    function, arguments, constants, *_ = make(np.random.default_rng(0), TARGETS[target])
    compiled = function.compile(
        *arguments, target=target, _pipeline="stop-after=layout", **constants
    )
    command = [str(TILE_OPT), *PRINT, "-", "-o", os.devnull]
    done = subprocess.run(command, input=compiled.ir("layout"), text=True, capture_output=True)
    if "expected Z3" in done.stderr:
        pytest.skip(done.stderr.splitlines()[0])
    assert done.returncode == 0, done.stderr
    trips = TRIP.findall(done.stderr)
    # Where no role loads for others or for itself there is nothing to schedule.
    assert trips or "tile.roles" not in compiled.ir("layout"), done.stderr
    for usual, best, bound in trips:
        assert int(usual) <= 1.1 * int(bound or best), (usual, best, bound)


def test_schedules_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KILN_CACHE_DIR", str(tmp_path / "schedules"))
    monkeypatch.setenv("KILN_COMPILE_IN_PROCESS", "1")
    # Of the kernel itself nothing is kept there, as the cache of this process is another one.
    function, arguments, constants, *_ = plain_loops.LOOPS["gated"](np.random.default_rng(0), 128)
    text = function.compile(
        *arguments, target="nvptx:sm_90a", _pipeline="stop-after=tile", **constants
    ).ir("tile")
    request = {
        "source": text,
        "target": "nvptx:sm_90a",
        "isolation": 0,
        "keep_stages": ("schedule",),
    }
    request |= {"options": "solver=exact stop-after=schedule"}

    def compile() -> bytes:
        artifact, _, _ = _native.compile(None, None, request)
        return bytes(artifact.section("ir:schedule"))

    try:
        first = compile()
    except Exception as error:
        if "expected Z3" in str(error):
            pytest.skip(str(error))
        raise
    kept = {file: file.read_bytes() for file in tmp_path.rglob("*.kiln")}
    assert kept
    assert compile() == first
    for file, whole in kept.items():
        file.write_bytes(whole[: len(whole) // 2])
    assert compile() == first
    assert {file: file.read_bytes() for file in tmp_path.rglob("*.kiln")} == kept
