"""What random schedules ask of a chip: its instructions by their names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Chip:
    """Instructions by their names: those that copy, of these the engine, and those that multiply.
    And whether warps have roles of several kinds."""

    copies: tuple[str, ...]
    products: tuple[str, ...]
    engine: bool = False
    clusters: bool = False
    roles: bool = False


CHIPS = {
    "sm_90a": Chip(
        ("tma", "cp_async", "through_registers"), ("wgmma", "mma_sync"), True, True, True
    ),
    "sm_80": Chip(("cp_async", "through_registers"), ("mma_sync",), roles=True),
    "sm_100a": Chip(
        ("tma", "cp_async", "through_registers"), ("tcgen05", "mma_sync"), True, True, True
    ),
    "gfx942": Chip(("load_to_lds", "through_registers"), ("matrix",), roles=True),
    "gfx950": Chip(("load_to_lds", "through_registers"), ("matrix",), roles=True),
    "gfx1201": Chip(("through_registers",), ("matrix",), roles=True),
}
