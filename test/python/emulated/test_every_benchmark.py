"""Each kernel of benchmarks/ runs on each emulated chip, whose checks are on, and gives what float64 does,
in an order of its threads that each run of the tests draws; one whose schedule is pinned runs where the
chip has its instructions, and is refused elsewhere. One that no run covers fails."""

from __future__ import annotations

import re

import pytest
from benchmark_runs import RUNS
from every_kernel import CHIPS, Run, draw_order, kernels_in, places
from pinned_runs import PINNED

import kiln

RAN = places("benchmarks")
REFUSED = [(n, c) for n in RUNS for c in CHIPS if (n, c) not in RAN]


def test_every_benchmark_is_run() -> None:
    assert kernels_in("benchmarks") == set(RUNS)


@pytest.mark.crossed(0)
@pytest.mark.parametrize("name, chip", RAN)
def test_benchmark_on_emulated_chip(rng, monkeypatch, name: str, chip: str) -> None:
    draw_order(rng, monkeypatch)
    RUNS[name](Run("benchmarks", name.split(":")[0], f"emu:{chip}"), rng)


@pytest.mark.parametrize("name, chip", REFUSED)
def test_a_pinned_benchmark_is_refused_by_another_chip(rng, name: str, chip: str) -> None:
    """At the line of the instruction that the chip does not have, or of the module that is for another."""
    file = name.split(":")[0]
    with pytest.raises(kiln.CompileError) as refused:
        RUNS[name](Run("benchmarks", file, f"emu:{chip}"), rng)
    said = str(refused.value).split("\n")[0]
    if file.endswith(".mlir"):
        own = next(iter(PINNED[name][1]))
        pattern = (
            rf"pinned\.mlir:\d+:\d+: error: expected the target that the module is for, \w+:{own}, "
        )
        pattern += rf"got emu:{chip}"
    else:
        pattern = rf"{file}:\d+:\d+: error: 'tile\.(load|dot)' op expected 'atom' to be an instruction of "
        pattern += rf"emu:{chip} that fits, .*, got \"\w+\""
    assert re.search(pattern, said), said
