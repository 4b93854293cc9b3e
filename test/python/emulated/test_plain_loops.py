"""Ten loops that nobody has tuned and that pin nothing (plain_loops), on each family: what they become,
and their numbers against float64."""

from __future__ import annotations

import numpy as np
import pytest
from plain_loops import LOOPS

# By chip, what multiplies and what brings tiles, and by which proposal.
PROPOSED = {
    "sm_90a": ("#nvptx.wgmma", "#nvptx.tma", 0),
    "sm_100a": ("#nvptx.tcgen05", "#nvptx.tma", 0),
    "sm_80": ("#nvptx.mma_sync", "#nvptx.cp_async", 3),
    "gfx942": ("#amdgcn.matrix", "#tile.through_registers", 3),
    "gfx950": ("#amdgcn.matrix", "#amdgcn.load_to_lds", 3),
    "gfx1201": ("#amdgcn.matrix", "#tile.through_registers", 3),
}
# Two programs on a core are worth more than a load ahead, which would take more than half of its
# shared memory.
STAY = {(name, chip) for name in ("chained", "gated", "scanned") for chip in ("gfx942", "gfx1201")}
# Where one counter counts copies and loads, tiles beside those that are loaded come through registers.
REGISTERS = {("dequantised", "gfx950"), ("gathered", "gfx950")}


@pytest.mark.parametrize("chip", PROPOSED)
@pytest.mark.parametrize("name", LOOPS)
def test_loops(rng: np.random.Generator, name: str, chip: str) -> None:
    """Products by the chip's matrix units, of tiles that come trips ahead."""
    kernel, args, constants, out, want = LOOPS[name](rng, 128)
    target = f"emu:{chip}"
    layout = kernel.compile(*args, target=target, _pipeline="stop-after=layout", **constants)
    made = layout.ir("layout")
    product, copy, proposal = PROPOSED[chip]
    dots = [line for line in made.splitlines() if " tile.dot " in line]
    assert dots and all("atom = " in line for line in dots) and product in made
    if (name, chip) in STAY:
        assert "proposal = " not in made
    else:
        assert f"proposal = {proposal} : i64" in made
        assert ("#tile.through_registers" if (name, chip) in REGISTERS else copy) in made
    kernel.options(device=target)(*args, **constants)
    check(out, want)


@pytest.mark.parametrize("name", LOOPS)
def test_loops_on_the_host(rng: np.random.Generator, name: str) -> None:
    kernel, args, constants, out, want = LOOPS[name](rng, 128)
    kernel.options(device="cpu")(*args, **constants)
    check(out, want)


def check(out: np.ndarray, want: np.ndarray, tolerance: float = 3e-4) -> None:
    """A sum in another order may round to another weight."""
    difference = np.abs(out.astype(np.float64) - want)
    assert np.linalg.norm(difference) <= tolerance * np.linalg.norm(want)
    assert difference.max() <= 10 * tolerance * np.abs(want).max()
