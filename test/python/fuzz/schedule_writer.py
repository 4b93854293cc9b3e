"""Schedules drawn at random for the kernels of schedule_kernels: decisions at places of a kernel's
text, as `kiln.pin` takes them.

Most are such as an author might try: a style (a role that brings tiles for another, one that fills
its own rings, none), and depths that follow from stages. A quarter are such as no solver would
choose: some decisions of these are changed, dropped, or added where they stand nowhere else.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any

from schedule_catalogue import KERNELS
from schedule_kernels import Form, Place

Decisions = dict[str, Any]


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


@dataclass
class Case:
    """One kernel in a form, a chip, the decisions at its places, and the extents of each run."""

    seed: int
    chip: str
    kernel: str
    form: Form
    pins: dict[str, Decisions]
    sizes: list[dict[str, int]]
    odd: bool = False
    places: dict[str, Place] = field(init=False)

    def __post_init__(self) -> None:
        self.places = KERNELS[self.kernel].places(self.form)

    @property
    def text(self) -> str:
        return KERNELS[self.kernel].text(self.form, lambda at, text: pinned(self.pins, at, text))

    def without(self, at: str, name: str | None = None) -> Case:
        """The case less one decision, or all at a place."""
        pins = {place: dict(decisions) for place, decisions in self.pins.items()}
        if name is None:
            del pins[at]
        else:
            del pins[at][name]
            if not pins[at]:
                del pins[at]
        return replace(self, pins=pins)


def spelled(value: Any) -> str:
    if isinstance(value, list):  # roles
        fields = (", ".join(f"{name}={x!r}" for name, x in role.items()) for role in value)
        return "(" + "".join(f"kiln.role({each}), " for each in fields) + ")"
    return repr(value)


def pinned(pins: dict[str, Decisions], at: str, text: str) -> str:
    """The text of a place with the decisions there; of the kernel a statement, or none."""
    decisions = ", ".join(f"{name}={spelled(x)}" for name, x in pins.get(at, {}).items())
    if not decisions:
        return text
    return f"kiln.pin({text}, {decisions})" if text else f"kiln.pin({decisions})"


def write(seed: int, chip: str = "", kernel: str = "") -> Case:
    rng = random.Random(seed)
    chip = chip or rng.choice(list(CHIPS))
    kernel = kernel or rng.choice(list(KERNELS))
    made = KERNELS[kernel]
    form = made.draw(rng, chip)
    places = made.places(form)
    pins = Author(rng, CHIPS[chip], places, form).pins()
    odd = rng.random() < 0.25
    if odd:
        Disturber(rng, CHIPS[chip], places, pins).disturb()
    pins = {at: decisions for at, decisions in pins.items() if decisions}
    cluster = pins.get("kernel", {}).get("cluster")
    sizes = [made.sizes(rng, form) for _ in range(rng.choice([1, 2, 2]))]
    if cluster:  # grids of whole ones
        for size in sizes:
            size |= {name: form[tile] * n for name, tile, n in
                     (("m", "M", cluster[0]), ("n", "N", cluster[1]), ("rows", "M", cluster[0]))
                     if name in size and tile in form}  # fmt: skip
    return Case(seed, chip, kernel, form, pins, sizes, odd)


class Author:
    """Draws what is meant to hold. Each decision stands with some chance alone, so that what is not
    said follows from the rest."""

    def __init__(self, rng: random.Random, chip: Chip, places: dict[str, Place], form: Form):
        self.rng, self.chip, self.places, self.form = rng, chip, places, form
        self.loads = [at for at, place in places.items() if place.kind == "load"]
        self.brought = [at for at in self.loads if at not in ("first", "last", "at", "s", "row")]
        self.dots = [at for at, place in places.items() if place.kind == "dot"]
        self.is_flat = "q" not in places  # the grid has two axes
        # What products of tensor memory and groups of warps have as rows.
        self.rows = form["N"] if "w" in places else form["M"]  # what is computed comes first
        # Products whose operands warps compute, or that need one another, end in their own trip.
        self.ends_early = any(at in places for at in ("act", "mask", "w", "o"))
        self.ends_early |= any(place.kind == "gather" for place in places.values())
        # One warp would have more of it than registers, and much code.
        self.is_large = self.rows * form.get("N", form.get("B", 0)) > 4096 or "o" in places
        self.is_integer = form.get("dtype") == "i8"

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def pins(self) -> dict[str, Decisions]:
        styles = ["plain", "own", "own", "own"]
        styles += ["in_roles"] * 4 if self.chip.roles else []
        made = {at: {} for at in (*self.places, "kernel", "loop")}
        getattr(self, self.rng.choice(styles))(made)
        self.of_products(made)
        return made

    def product(self) -> str:
        """An instruction that may fit, the chip's own more often than that of single warps."""
        fits = {"tcgen05": self.rows == 128 and not self.is_integer, "wgmma": self.rows >= 64}
        names = [name for name in self.chip.products if fits.get(name, True)]
        return self.rng.choice([names[0], names[0], *names])

    def may_fly(self, product: str) -> bool:
        """Now and then also where it cannot be."""
        return product == "wgmma" and (not self.ends_early or self.chance(0.1))

    def grid(self, kernel: Decisions, turns: bool = False) -> None:
        if turns or self.chance(0.4):
            groups = [1, 2, 8] if self.is_flat else [1]
            kernel["persistent"] = (self.rng.choice([1, 2, 3, 5]), self.rng.choice(groups))
            if self.chance(0.3):
                rasters = ["grouped", "chiplets", "longest_x"]
                rasters += ["longest_y"] if self.is_flat else []
                kernel["raster"] = self.rng.choice(rasters)
            if self.chance(0.15):
                kernel["persistent"], kernel["per_core"] = (0, 1), self.rng.randint(1, 2)
        elif self.chip.clusters and self.chance(0.15):
            kernel["cluster"] = self.rng.choice([(2, 1), (1, 2), (2, 2)])

    def plain(self, made: dict[str, Decisions]) -> None:
        """No roles: who does what passes decide, if anything."""
        kernel = made["kernel"]
        self.grid(kernel)
        if self.chance(0.5):
            kernel["warps"] = self.rng.choice([4, 8] if self.is_large else [1, 2, 4, 8])
        if self.chance(0.15):
            kernel["programs_per_block"] = self.rng.choice([1, 2, 4])
        if self.chance(0.2) and self.places.get("d") == Place("dot", True):
            made["loop"]["share"] = self.rng.choice([2, 3, (2, "atomic")])

    def own(self, made: dict[str, Decisions]) -> None:
        """One role, which fills its own rings some trips ahead."""
        rng, in_flight = self.rng, 0
        product = self.product()
        runs_on = product in ("wgmma", "tcgen05")
        warps = [4] if runs_on or self.is_large else [4, 4, 2, 1, 8]
        role: Decisions = {"name": "all", "warps": rng.choice(warps)}
        if self.chance(0.3) and (not runs_on or self.rows == 128):
            role["copies"] = 2
            if self.chance(0.3):
                role["skew"] = 1
        made["kernel"]["roles"] = [role]
        self.grid(made["kernel"])
        stage, later = rng.randint(1, 3), rng.choice([0, 0, 1])
        for number, at in enumerate(self.dots):
            if runs_on:
                in_flight = rng.choice([0, 0, 1]) if self.may_fly(product) else 0
                made[at]["in_flight"] = in_flight
            if runs_on or self.chance(0.9):
                made[at]["atom"] = product
            if self.chance(0.95):
                made[at]["stage"] = stage + (later if number else 0)
        for at in self.places:
            if self.places[at].kind == "op" and self.places[at].in_loop and self.chance(0.2):
                made[at]["stage"] = stage
        kinds = [copy for copy in self.chip.copies if copy != "tma"]
        same, depths = self.chance(0.5), {}
        copy = rng.choice(kinds)
        for number, at in enumerate(self.brought):
            if not self.places[at].in_loop:
                if self.chance(0.4):
                    made[at] |= {"atom": copy, "ring": at}
                continue
            copy = copy if same else rng.choice(kinds)
            begins = rng.randrange(stage) if number and not same else 0
            least = stage + later - begins + (copy != "through_registers") + in_flight
            least += in_flight and copy == "through_registers"
            made[at] |= {"atom": copy, "stage": begins}
            depths[at] = max(least, 1) + rng.choice([0, 0, 1, 2])
            if copy == "through_registers" and begins < stage and self.chance(0.2):
                made[at]["write_stage"] = rng.randrange(begins, stage)
        self.rings(made, depths, same)

    def rings(self, made: dict[str, Decisions], depths: dict[str, int], same: bool) -> None:
        """One depth for the loop, or one for each load."""
        if not depths:
            return
        if same:
            made["loop"]["depth"] = max(depths.values())
            return
        if self.chance(0.3):  # several tiles in a slot
            for at in depths:
                made[at] |= {"ring": "all", "depth": max(depths.values())}
            return
        for at, depth in depths.items():
            made[at] |= {"ring": at, "depth": depth}

    def multiplies(self, product: str, has_turns: bool) -> Decisions:
        role: Decisions = {"name": "mma", "warps": 4}
        if product in ("mma_sync", "matrix"):
            role["warps"] = self.rng.choice([4, 4, 8] if self.is_large else [4, 4, 2, 8])
        if has_turns:
            role["turns"] = self.rng.choice([2, 2, 3])
        elif self.chance(0.4):
            if product in ("mma_sync", "matrix") or self.rows == 128:
                role["copies"] = 2
        return role

    def in_roles(self, made: dict[str, Decisions]) -> None:
        """A role that brings tiles, one that multiplies, perhaps one that stores."""
        rng = self.rng
        product = self.product()
        turns = self.chance(0.15)
        load = {"name": "load", "warps": rng.choice([4, 4, 1, 2])}
        mma = self.multiplies(product, turns)
        if self.chance(0.15):
            load["copies"] = 2
        roles = [mma, load]
        stores = "mma"
        if self.chance(0.15):
            roles.append({"name": "store", "warps": rng.choice([4, 1])})
            stores = "store"
        if "cast" in self.places and self.chance(0.8):
            roles.append({"name": "cast", "warps": rng.choice([4, 4, 2, 8])})
            made["cast"]["role"] = "cast"
            if self.chance(0.3):
                made["cast"]["depth"] = rng.randint(1, 3)
        if load["warps"] == 4 and self.chance(0.7):  # the groups of `wgmma` begin at each fourth
            roles.sort(key=lambda role: role["name"] != "load")
        if self.chip.engine and self.chance(0.2) and all(r["warps"] == 4 for r in roles):
            load["registers"], mma["registers"] = rng.choice([24, 40]), rng.choice([152, 200, 232])
        made["kernel"]["roles"] = roles
        self.grid(made["kernel"], turns)
        in_flight = rng.choice([0, 0, 1, 1, 2]) if self.may_fly(product) else 0
        stage = rng.choice([0, 0, 0, 1])
        copies = [c for c in self.chip.copies if c != "load_to_lds"]
        copies += ["tma"] * (4 if self.chip.engine else 0)
        for number, at in enumerate(self.dots):
            made[at] |= {"role": "mma", "atom": product}
            if product in ("wgmma", "tcgen05"):
                made[at]["in_flight"] = in_flight
            if self.chance(0.5):
                made[at]["stage"] = stage if number else 0
        same, depths = self.chance(0.5), {}
        for at in self.brought:
            made[at] |= {"role": "load", "atom": rng.choice(copies)}
            if not self.places[at].in_loop:
                made[at]["ring"] = at
                if self.chance(0.5):
                    made[at]["depth"] = rng.randint(1, 2)
                continue
            depths[at] = 1 + in_flight + stage + rng.choice([0, 1, 1, 2, 3])
            if self.chance(0.3):
                made[at]["stage"] = 0
        self.rings(made, depths, same)
        if self.chance(0.2):  # what is loaded first
            orders = rng.sample(range(len(depths)), len(depths))
            for at, order in zip(depths, orders, strict=True):
                made[at]["order"] = order
        if "cluster" in made["kernel"] and self.chance(0.6):
            for at, axis in (("x", "y"), ("y", "x")):
                extent = made["kernel"]["cluster"]["xy".index(axis)]
                if made.get(at, {}).get("atom") == "tma" and extent > 1:
                    made[at]["multicast"] = axis
        for at in self.places:
            if self.places[at].kind in ("op", "if") and self.chance(0.2):
                made[at] |= {"role": "mma"}
        if "out" in made and self.chance(0.7 if stores == "mma" else 1):
            made["out"]["role"] = stores
            if self.chip.engine and self.chance(0.4):
                made["out"] |= {"atom": "tma", "in_flight": rng.choice([0, 0, 1])}

    def of_products(self, made: dict[str, Decisions]) -> None:
        rng = self.rng
        for at in self.dots:
            if self.chance(0.12):
                parts = rng.choice([(1, 1, 2), (1, 2, 1), (1, 2, 2), (2, 1, 1)])
                made[at]["parts"] = parts
                if self.chance(0.5):
                    made[at]["reads_ahead"] = rng.randint(0, 1)
            computed = "w" in self.loads and made[at].get("atom") in ("wgmma", "tcgen05")
            if self.chance(0.8 if computed else 0.08):
                made[at]["swap"] = True
        if "x" in made and self.dots and self.chance(0.06):
            made["x"]["residency"] = rng.choice(["registers", "shared"])
        if "if" in made and self.chance(0.3):
            made["if"]["split"] = True


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
            "kernel": ["persistent", "warps", "cluster", "programs_per_block", "overlap"],
            "loop": ["depth", "share", "role", "stage", "order"],
        }.get(at)
        if names is None:
            kind = self.places[at].kind
            names = ["role", "stage", "stage", "order"]
            if kind == "load":
                names += ["ring", "depth", "atom", "write_stage", "residency", "multicast"]
            if kind == "dot":
                names += ["atom", "in_flight", "parts", "reads_ahead", "promote", "swap"]
                names += ["residency", "carried", "columns", "operand_columns", "interleave"]
                names += ["extents"]
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
            "persistent": [(1, 1), (7, 3), (0, 1), 2], "warps": [1, 2, 4, 8, 16],
            "cluster": [(2, 1), (1, 2), (4, 1), (2, 2)], "programs_per_block": [1, 2, 3, 4],
            "overlap": [True], "raster": ["grouped", "chiplets", "longest_x", "longest_y"],
            "per_core": [1, 2, 3], "depth": [1, 1, 2, 3, 5, 7], "share": [2, 5, (3, "atomic"), "stream"],
            "role": roles, "ring": ["r", "x", "y", "q"], "atom": list(atoms) or ["tma"],
            "residency": ["registers", "tensor_memory"] if kind == "dot" else ["registers", "shared"],
            "multicast": ["x", "y", ("x", "y")], "carried": ["registers", "tensor_memory"],
            "columns": [0, 0, 1, 2], "operand_columns": [0, 0, 1, 2],
            "fetched": ["whole", "boxes"], "parts": [(1, 1, 2), (2, 1, 1), (1, 4, 1), (2, 2, 2), (1, 1, 8)],
            "promote": [True], "swap": [True], "split": [True],
            "extents": [(64, 64, 64), (64, 64, 32, 32), (64, 64, 16, 16), (32, 64, 16, 48)],
            "interleave": ["2 x (1 read, 1 matrix)", "1 x (4 matrix), 3 x (1 load, 1 read)"],
        }  # fmt: skip
        return rng.choice(values.get(name, small))
