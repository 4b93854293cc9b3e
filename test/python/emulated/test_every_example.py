"""Each kernel of examples/ runs on each emulated chip, whose checks are on, and gives what float64 does.
One that no run covers fails."""

from __future__ import annotations

import pytest
from every_kernel import CHIPS, Run, kernels_in
from example_runs import RUNS


def test_every_example_is_run() -> None:
    assert kernels_in("examples") == set(RUNS)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", RUNS)
def test_example_on_emulated_chip(rng, name: str, chip: str) -> None:
    RUNS[name](Run("examples", name.split(":")[0], f"emu:{chip}"), rng)
