"""What is refused behind the check of schedules, and may be: each with the pass that refuses it and
what it says. docs/rationale/schedule-tests.md says why."""

from __future__ import annotations

import re

KNOWN = {
    "tile-realise-persistence": (
        r"expected (a grid of )?at least \d extents, since 'tile\.(persistent' groups|raster' is)",
        r"expected 'tile.persistent' of whole clusters of",
        r"expected 'tile.persistent' to group whole clusters",
    ),
    "tile-realise-parts": (
        r"expected 'part_\w+'( and 'part_\w+')? by which the dot of part \d+ comes behind ",
        r"expected parts each of which every thread has a share of",
        r"expected operands that are read out of shared memory part by part",
        r"expected 'parts' of so many rows and columns of an operand that the order of its buffer",
        r"expected 'stage', since 'reads_ahead' is decided",
    ),
    "tile-decide-hand-overs": (
        r"expected a tensor that another role uses or that products read from shared memory",
        r"expected loads with 'atom' or 'buffer' in a loop with 'tile.depth', or tensors that",
        r"expected to convert what another role makes, since 'role' is decided",
        r"expected a 'depth' that its loads do not all say themselves",
        r"expected \d+ warps in role .*, as in role .*, whose tensor it uses as it lies, got",
        r"expected a tensor that copies \('copies'\) share out in one way, since each of role",
        r"expected no skew of role .*, which itself writes what its products read",
    ),
    "tile-complete-stages": (
        r"expected stages that begin with 0 in its role",
        r"expected a stage of at least \d+, as .* which it needs, is at stage",
        r"expected an order of (less|more) than \d+, that of '.*', which (needs it|it needs) in the",
    ),
    "tile-realise-stages": (
        r"expected a ring of more than \d+ slots \('depth'\)",
        r"expected in_flight of more than \d+, or an earlier stage of what uses the sum",
        r"expected in_flight of at most \d+, the dots of its role that start before its result is",
        r"expected a stage and an order that leave it behind what may access the same memory",
        r"expected what reads it at a later stage than \d+, or at a place behind it in a trip",
        r"expected a later stage than the copies that it gets have, since copies of role",
        r"expected one stage for all that role .* gets, since its copies lag behind one another",
        r"expected no skew of role .* whose dots in flight read the ring",
        r"expected to stand in a loop, since copies of role .* lag behind one another",
        r"expected uses of one ring, one of which stands in a condition or a loop of the trip",
        r"expected a sum that the loop changes otherwise, since 'tile\.carried' is",
    ),
    "tile-realise-warp-groups": (
        r"expected one role to make both accesses of an argument that may meet, or a tile that",
    ),
    "tile-realise-turns": (
        r"expected bounds and conditions of ring uses that follow from the program's number, since",
        r"expected another role to fill the ring, since copies of role .* take programs in turn",
    ),
    "tile-realise-copies": (
        r"expected rows or columns that the copies of role .* \('copies'\) have each of its own",
        r"expected a role whose copies come to it together, since each",
    ),
    "tile-realise-stores": (
        r"expected in_flight below the boxes of each copy's tensor",
        r"expected a buffer of a part of each copy's",
    ),
    "tile-realise-accumulators": (r"expected .*, since 'tile\.(operand_)?columns' is \d+",),
    "tile-realise-clusters": (r"expected a buffer whose rows \d+ programs of a cluster bring in",),
    "tile-split-loops": (r"expected a comparison of the loop's induction variable",),
    "tile-check-protocol": (r"expected accumulators of at most \d+ bytes of tensor memory on",),
    "tile-plan-shared-memory": (r"expected at most \d+ bytes of shared memory on",),
}  # fmt: skip


# What a launch refuses, since zeros would lead a program beyond the grid astray
# (docs/rationale/clusters.md): the grid of a kernel with a `while`.
UNROUNDED = "expected a grid of whole clusters of"


def is_known(refuser: str, message: str, pins: dict[str, dict]) -> bool:
    """Whether a pass behind the checks refuses what it may: a deadlock, if the source says both when
    roles come to a ring and how many slots it has; columns, if it says any."""
    said = {name for decisions in pins.values() for name in decisions}
    if refuser == "tile-realise-accumulators" and not said & {"columns", "operand_columns"}:
        return False  # what nobody says is decided such that it holds
    if refuser == "tile-check-protocol" and "expected not to wait forever" in message:
        return bool(said & {"stage", "order"}) and bool(said & {"depth", "in_flight"})
    return any(re.search(each, message) for each in KNOWN.get(refuser, ()))
