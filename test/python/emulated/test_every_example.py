"""Each kernel of examples/ runs on each emulated chip, whose checks are on, and gives what float64 does,
in an order of its threads that each run of the tests draws. One that no run covers fails."""

from __future__ import annotations

import pytest
from every_kernel import CHIPS, Run, draw_order, kernels_in
from example_runs import RUNS


def test_every_example_is_run() -> None:
    assert kernels_in("examples") == set(RUNS)


@pytest.mark.crossed(0)
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", RUNS)
def test_example_on_emulated_chip(rng, monkeypatch, name: str, chip: str) -> None:
    draw_order(rng, monkeypatch)
    RUNS[name](Run("examples", name.split(":")[0], f"emu:{chip}"), rng)
