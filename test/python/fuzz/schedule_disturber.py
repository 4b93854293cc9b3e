"""Changes schedules to what no author and no solver would choose."""

from __future__ import annotations

import random
from typing import Any

from schedule_chips import Chip
from schedule_kernels import Place


class Disturber:
    """Changes a few decisions to what nobody would choose."""

    def __init__(self, rng: random.Random, chip: Chip, places: dict[str, Place], pins: dict):
        self.rng, self.chip, self.places, self.pins = rng, chip, places, pins

    def disturb(self) -> None:
        for _ in range(self.rng.randint(1, 4)):
            self.rng.choice([self.drop, self.change, self.change, self.add, self.add])()

    def drop(self) -> None:
        at = self.rng.choice([at for at in self.pins])
        if self.pins[at]:
            del self.pins[at][self.rng.choice(list(self.pins[at]))]

    def change(self) -> None:
        at = self.rng.choice([at for at in self.pins])
        names = [name for name in self.pins[at] if name != "roles"]
        if names:
            name = self.rng.choice(names)
            self.pins[at][name] = self.value(at, name)
        for role in self.pins[at].get("roles", []):
            if self.rng.random() < 0.3:
                name = self.rng.choice(["warps", "copies", "skew", "turns"])
                role[name] = self.rng.choice([1, 2, 3, 4])

    def add(self) -> None:
        at = self.rng.choice(list(self.pins))
        names = {
            "kernel": ["persistent", "warps", "cluster", "programs_per_block", "batch", "overlap"],
            "loop": ["depth", "share", "role", "stage", "order"],
        }.get(at)
        if names is None:
            kind = self.places[at].kind
            timed = self.places[at].in_loop or self.rng.random() < 0.1
            names = ["role", *(["stage", "stage", "order"] if timed else [])]
            if kind == "load":
                names += ["ring", "depth", "atom", "write_stage", "residency"]
                names += ["multicast"] if "cluster" in self.pins["kernel"] else []
            if kind == "dot":
                names += ["atom", "in_flight", "parts", "reads_ahead", "promote", "swap"]
                names += ["residency", "carried", "columns", "operand_columns", "interleave"]
                names += ["extents", "depth"]
            if kind == "op":
                names += ["depth", "residency"]
            if kind == "store":
                names += ["atom", "in_flight", "fetched"]
            if kind == "if":
                names = ["role", "stage", "order", "split"]
        name = self.rng.choice(names)
        self.pins[at][name] = self.value(at, name)

    def value(self, at: str, name: str) -> Any:
        rng = self.rng
        roles = [role["name"] for role in self.pins["kernel"].get("roles", [])] or ["all"]
        kind = self.places[at].kind if at in self.places else at
        atoms = self.chip.products if kind == "dot" else self.chip.copies
        small = [0, 0, 1, 1, 2, 3, 5]
        values: dict[str, list] = {
            "persistent": [(1, 1), (7, 3), (0, 1), 2, (5, 2, "even"), (0, 8, "even"), False], "warps": [1, 2, 4, 8, 16],
            "cluster": [(2, 1), (1, 2), (4, 1), (2, 2)], "programs_per_block": [1, 2, 3, 4],
            "batch": [1, 2, 3, 8],
            "overlap": [True], "raster": ["grouped", "chiplets", "longest_x", "longest_y"],
            "per_core": [1, 2, 3], "depth": [1, 1, 2, 3, 5, 7], "share": [2, 5, (3, "atomic"), "stream"],
            "role": roles, "ring": ["r", "x", "y", "q"], "atom": list(atoms) or ["tma"],
            "residency": ["registers", "tensor_memory"] if kind == "dot" else ["registers", "shared"],
            "multicast": ["x", "y", ("x", "y")], "carried": ["registers", "tensor_memory"],
            "columns": [0, 0, 1, 2], "operand_columns": [0, 0, 1, 2],
            "fetched": ["whole", "boxes"], "parts": [(1, 1, 2), (2, 1, 1), (1, 4, 1), (2, 2, 2), (1, 1, 8)],
            "promote": [True, False], "guarded": [True, False],
            "swap": [True, False], "split": [True],
            "extents": [(64, 64, 64), (64, 64, 32, 32), (64, 64, 16, 16), (32, 64, 16, 48)],
            "interleave": ["2 x (1 read, 1 matrix)", "1 x (4 matrix), 3 x (1 load, 1 read)"],
        }  # fmt: skip
        return rng.choice(values.get(name, small))
