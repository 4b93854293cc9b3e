"""How far `index` scalars are from zero at most, where their source tells.

Loops over a range that cannot pass 2^63 need no guard; this is what tells them. Only operations on
`index` scalars belong here: in narrower types a sum wraps.
"""

from __future__ import annotations

# Below it, one more sum of two stays within 63 bits.
LIMIT = 1 << 62

# What counts programs or elements: grids have 31 bits, addresses at most 57.
_SOURCES = {"tile.program_id": 1 << 31, "tile.num_programs": 1 << 31, "tile.dim": 1 << 57}

_RULES = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a + b,
    "arith.muli": lambda a, b: a * b,
    "arith.divsi": lambda a, b: a,
    "arith.floordivsi": lambda a, b: a,
    "arith.ceildivsi": lambda a, b: a,
    "arith.remsi": min,
    "arith.minsi": max,
    "arith.maxsi": max,
    "arith.select": max,
}


class Magnitudes:
    """Bounds of the sizes of scalars, by their names; all are below `LIMIT`."""

    def __init__(self):
        self._bounds: dict[str, int] = {}

    def get(self, ref: str) -> int | None:
        """The bound of a scalar; None if none is known."""
        return self._bounds.get(ref)

    def note(self, ref: str, bound: int) -> None:
        """A scalar's bound, of no use from `LIMIT` on."""
        if bound < LIMIT:
            self._bounds[ref] = bound

    def note_source(self, ref: str, text: str) -> None:
        """The bound of an operation without operands."""
        bound = _SOURCES.get(text.split(" ", 1)[0])
        if bound is not None:
            self.note(ref, bound)

    def note_binary(self, op: str, ref: str, a: str, b: str) -> None:
        """The bound of an operation's result, from those of its operands."""
        bounds = self._bounds.get(a), self._bounds.get(b)
        if op in _RULES and None not in bounds:
            self.note(ref, _RULES[op](*bounds))
