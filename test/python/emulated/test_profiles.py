"""What a launch on an emulated chip did: of the pinned product each number is known."""

from __future__ import annotations

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from pinned import BENCHMARKS, compiled

from kiln.runtime.devices import device
from kiln.runtime.emulation import CLASSES, Profile, profiled

BF16 = ml_dtypes.bfloat16
TRIPS, TILES, WARPS = 4, 2, 8
A_BYTES, B_BYTES, C_BYTES = 128 * 64 * 2, 256 * 64 * 2, 128 * 256 * 2


@pytest.fixture(scope="module")
def profile() -> Profile:
    where = device("emu:sm_90a")
    artifact = compiled((BENCHMARKS / "gemm.mlir").read_bytes(), where.target)
    executable = where.load(artifact)
    a, b, c = (np.zeros((256, 256), BF16) for _ in range(3))
    with profiled():
        executable.launch("gemm", [a, b, c], None)
    return Profile(executable, "gemm", "emu:sm_90a")


def sum_of(profile: Profile, name: str, key: str) -> int:
    sites: list[dict[str, Any]] = profile.told["sites"]
    return sum(site.get(key, 0) for site in sites if site["name"].startswith(name))


def test_copies_and_products_are_as_many_as_trips(profile: Profile) -> None:
    loads, stores = "nvvm.cp.async.bulk.tensor.g2s", "nvvm.cp.async.bulk.tensor.s2g"
    assert sum_of(profile, loads, "lanes") == 2 * TRIPS * TILES
    assert sum_of(profile, loads, "bytes") == (A_BYTES + B_BYTES) * TRIPS * TILES
    assert sum_of(profile, stores, "bytes") == C_BYTES * TILES
    # Each of four products along k, by each warp.
    assert sum_of(profile, "wgmma.mma_async", "warps") == 4 * WARPS * TRIPS * TILES


def test_what_is_stored_through_shared_memory_has_no_conflict(profile: Profile) -> None:
    """As the compiler says of it."""
    instructions = sum_of(profile, "nvvm.stmatrix", "warps")
    assert instructions * 32 * 16 == C_BYTES * TILES
    assert sum_of(profile, "nvvm.stmatrix", "cycles") == 4 * instructions
    assert sum_of(profile, "nvvm.stmatrix", "fewest_cycles") == 4 * instructions


def test_lines_add_up_to_sites(profile: Profile) -> None:
    lines = profile.lines()
    assert {file for file, _ in lines} == {"pinned.mlir"}
    for name in CLASSES:
        assert sum(line["classes"].get(name, 0) for line in lines.values()) == profile.count(name)


def test_who_waits_goes_on_behind_whom_it_waited_for(profile: Profile) -> None:
    """The timeline of a warp has no gap, and those of "mma" wait for "load"."""
    for warp in profile.told["timeline"]:
        spans = warp["spans"]
        assert spans[0][0] == 0
        assert all(a[1] == b[0] for a, b in zip(spans, spans[1:], strict=False))
    waiting = {warp["role"]: any(span[3] for span in warp["spans"])
               for warp in profile.told["timeline"]}  # fmt: skip
    assert waiting["mma"]


def test_nothing_is_counted_unasked(profile: Profile) -> None:
    where = device("emu:sm_90a")
    executable = where.load(compiled((BENCHMARKS / "gemm.mlir").read_bytes(), where.target))
    executable.launch("gemm", [np.zeros((256, 256), BF16) for _ in range(3)], None)
    assert json.loads(executable.describe()) == {}
