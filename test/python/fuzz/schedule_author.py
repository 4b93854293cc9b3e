"""Draws schedules that an author might try: a style (a role that brings tiles for another, one that
fills its own rings, none), and depths that follow from stages."""

from __future__ import annotations

import random
from typing import Any

from schedule_chips import Chip
from schedule_kernels import Form, Place

Decisions = dict[str, Any]

# Loads of few numbers, which lie in no ring.
SMALL = ("first", "last", "at", "s", "t", "u", "row", "flag")


class Author:
    """Draws what is meant to hold. Each decision stands with some chance alone, so that what is not
    said follows from the rest."""

    def __init__(self, rng: random.Random, chip: Chip, places: dict[str, Place], form: Form):
        self.rng, self.chip, self.places, self.form = rng, chip, places, form
        self.loads = [at for at, place in places.items() if place.kind == "load"]
        self.brought = [at for at in self.loads if at not in SMALL]
        self.dots = [at for at, place in places.items() if place.kind == "dot"]
        self.is_flat = "q" not in places and "ahead" not in form  # the grid has two axes
        self.is_one_loop = not any(at in places for at in ("inner", "next", "if"))
        # What products of tensor memory and groups of warps have as rows.
        self.computed = "w" in places and bool(self.dots)
        self.rows = form["N"] if self.computed else form.get("M", 0)  # what is computed comes first
        # Products whose operands warps compute, or that need one another, end in their own trip.
        self.ends_early = any(at in places for at in ("act", "mask", "w", "o"))
        self.ends_early |= any(place.kind == "gather" for place in places.values())
        # One warp would have more of it than registers, and much code.
        self.is_large = self.rows * form.get("N", form.get("B", 0)) > 4096 or "o" in places
        self.is_integer = form.get("dtype") == "i8"
        self.is_narrow = str(form.get("dtype")).startswith("f8")
        self.has_scales = "kinds" in form
        # What stands in a condition has its place in a trip.
        self.free = [at for at, place in places.items() if place.in_loop and not place.in_if]

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def pins(self) -> dict[str, Decisions]:
        styles = ["plain", "own", "own", "own"]
        styles += ["in_roles"] * 4 if self.chip.roles else []
        made = {at: {} for at in (*self.places, "kernel", "loop")}
        getattr(self, self.rng.choice(styles))(made)
        self.of_products(made)
        self.of_roles(made)
        if made["kernel"].get("roles"):
            self.share(made, 0.05)
        if self.chance(0.2):
            self.leave_out(made)
        return made

    def leave_out(self, made: dict[str, Decisions]) -> None:
        """What is not said of a schedule follows from the rest."""
        said = [(at, name) for at, each in made.items() for name in each if name != "roles"]
        for at, name in self.rng.sample(said, min(len(said), self.rng.randint(1, 4))):
            del made[at][name]

    def product(self) -> str:
        """An instruction that may fit, the chip's own more often than that of single warps; none of a
        product with scales, but for one."""
        if self.has_scales and self.chance(0.95):
            return "tcgen05" if "tcgen05" in self.chip.products and self.rows == 128 else ""
        fits = {"tcgen05": self.rows == 128 and not self.is_integer, "wgmma": self.rows % 64 == 0}
        names = [name for name in self.chip.products if fits.get(name, True)]
        return self.rng.choice([names[0], names[0], *names])

    def may_fly(self, product: str) -> bool:
        """Now and then also where it cannot be."""
        return product == "wgmma" and (not self.ends_early or self.chance(0.1))

    def grid(self, kernel: Decisions, turns: bool = False) -> None:
        if turns or self.chance(0.4):
            groups = [1, 2, 8] if self.is_flat else [1]
            kernel["persistent"] = (self.rng.choice([1, 2, 3, 5]), self.rng.choice(groups))
            if self.chance(0.35):
                kernel["persistent"] += ("even",)
            if self.chance(0.3):
                rasters = ["grouped", "chiplets", "longest_x"]
                rasters += ["longest_y"] if self.is_flat else []
                kernel["raster"] = self.rng.choice(rasters)
            if self.chance(0.15):
                kernel["persistent"], kernel["per_core"] = (0, 1), self.rng.randint(1, 2)
        elif self.chance(0.05):
            kernel["persistent"] = False
        if self.chip.clusters and self.chance(0.1 if "persistent" in kernel else 0.25):
            kernel["cluster"] = self.rng.choice(
                [(2, 1), (1, 2), (2, 2)] if self.is_flat else [(2, 1)]
            )
            if kernel.get("persistent"):  # of whole clusters
                extent = kernel["cluster"][0] * kernel["cluster"][1]
                programs, group, *even = kernel["persistent"]
                kernel["persistent"] = (
                    extent * programs,
                    group if group == 1 else 2 * group,
                    *even,
                )
        if self.chance(0.06 if self.chip.engine else 0.005):
            kernel["overlap"] = True

    def plain(self, made: dict[str, Decisions]) -> None:
        """No roles: who does what passes decide, if anything."""
        kernel = made["kernel"]
        self.grid(kernel)
        if self.chance(0.5):
            kernel["warps"] = self.rng.choice([4, 8] if self.is_large else [1, 2, 4, 8])
        if self.chance(0.15):
            kernel["programs_per_block"] = self.rng.choice([1, 2, 4])
        self.share(made, 0.2)

    def share(self, made: dict[str, Decisions], chance: float) -> None:
        """Of the trips of a loop that sums products alone, among programs."""
        if self.chance(chance) and self.places.get("d") == Place("dot", True) and self.is_flat:
            shares = [2, 3, (2, "atomic")]
            if made["kernel"].get("persistent"):
                shares += ["stream", ("stream", "atomic")]
            made["loop"]["share"] = self.rng.choice(shares)

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
            if product and (runs_on or self.chance(0.9)):
                made[at]["atom"] = product
            if at in self.free and self.chance(0.95):
                made[at]["stage"] = stage + (later if number else 0)
        for at in self.free:
            if self.places[at].kind == "if" and self.dots and self.dots[0] not in self.free:
                made[at]["stage"] = stage
            elif self.places[at].kind == "op" and self.chance(0.2):
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
            begins = begins if at in self.free else stage
            least = stage + later - begins + (copy != "through_registers") + in_flight
            least += in_flight and copy == "through_registers"
            made[at] |= {"atom": copy} | ({"stage": begins} if at in self.free else {})
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
            atom = made[next(iter(depths))]["atom"]
            for at in depths:
                made[at] |= {"ring": "all", "depth": max(depths.values()), "atom": atom}
            return
        for at, depth in depths.items():
            made[at] |= {"ring": at, "depth": depth}

    def multiplies(self, product: str, has_turns: bool) -> Decisions:
        role: Decisions = {"name": "mma", "warps": 4}
        if product not in ("wgmma", "tcgen05"):
            role["warps"] = self.rng.choice([4, 4, 8] if self.is_large else [4, 4, 2, 8])
        if has_turns:
            role["turns"] = self.rng.choice([2, 2, 3])
        elif self.chance(0.4):
            if product not in ("wgmma", "tcgen05") or self.rows == 128:
                role["copies"] = 2
                if self.chance(0.04):
                    role["skew"] = 1
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
        if not self.chip.engine:  # warps of 64 lanes are fewer
            for role in roles:
                role["warps"] = min(role["warps"], 4)
        if load["warps"] == 4 and self.chance(0.7):  # the groups of `wgmma` begin at each fourth
            roles.sort(key=lambda role: role["name"] != "load")
        if self.chip.engine and self.chance(0.2) and all(r["warps"] == 4 for r in roles):
            load["registers"], mma["registers"] = rng.choice([24, 40]), rng.choice([152, 200, 232])
        made["kernel"]["roles"] = roles
        self.grid(made["kernel"], turns)
        in_flight = rng.choice([0, 0, 1, 1, 2]) if self.may_fly(product) else 0
        stage = rng.choice([0, 0, 0, 1])
        copies = [c for c in self.chip.copies if c != "load_to_lds" or self.chance(0.15)]
        copies += ["tma"] * (4 if self.chip.engine else 0)
        if product == "tcgen05" and self.is_flat and self.chance(0.25):
            product, made["kernel"]["cluster"] = "tcgen05_pair", (2, 1)
            made["kernel"].pop("persistent", None)
        for number, at in enumerate(self.dots):
            made[at] |= {"role": "mma"} | ({"atom": product} if product else {})
            if product in ("wgmma", "tcgen05", "tcgen05_pair"):
                made[at]["in_flight"] = in_flight
            if at in self.free and self.chance(0.5):
                made[at]["stage"] = stage if number else 0
        same, depths, copy = self.chance(0.5), {}, rng.choice(copies)
        for at in self.brought:
            made[at] |= {"role": "load", "atom": copy if same else rng.choice(copies)}
            if not self.places[at].in_loop:
                made[at]["ring"] = at
                if self.chance(0.5):
                    made[at]["depth"] = rng.randint(1, 2)
                continue
            depths[at] = 1 + in_flight + stage + rng.choice([0, 1, 1, 2, 3])
            if at in self.free and self.chance(0.3):
                made[at]["stage"] = 0
        self.rings(made, depths, same)
        if self.chance(0.2 if self.is_one_loop else 0.02):  # what is loaded first
            orders = rng.sample(range(len(depths)), len(depths))
            for at, order in zip(depths, orders, strict=True):
                made[at]["order"] = order
        if "cluster" in made["kernel"] and self.chance(0.6):
            for at, axis in (("x", "y"), ("y", "x"), ("k", "x"), ("v", "x")):
                extent = made["kernel"]["cluster"]["xy".index(axis)]
                if made.get(at, {}).get("atom") == "tma" and extent > 1:
                    made[at]["multicast"] = axis
        for at in self.places:
            if self.places[at].kind in ("op", "if") and self.chance(0.2 if self.dots else 0.9):
                made[at] |= {"role": "mma"}
            if at in SMALL and self.chance(0.25):
                made[at] |= {"role": rng.choice(roles)["name"]}
            if self.places[at].kind in ("store", "atomic") and at != "out" and self.chance(0.5):
                made[at] |= {"role": rng.choice(["mma", stores])}
        if "sum" in self.places and stores == "store" and self.chance(0.5):
            made["row"]["role"] = made["sum"]["role"] = stores
        if "out" in made and self.chance(0.7 if stores == "mma" else 1):
            made["out"]["role"] = stores
            if self.places["out"].kind == "store" and self.chip.engine and self.chance(0.4):
                made["out"] |= {"atom": "tma", "in_flight": rng.choice([0, 0, 1])}
                if product == "tcgen05" and self.chance(0.3):
                    made["out"]["fetched"] = rng.choice(["whole", "boxes"])

    def of_products(self, made: dict[str, Decisions]) -> None:
        rng = self.rng
        for at in self.dots:
            if self.has_scales and self.chance(0.95):
                continue
            if self.chance(0.12):
                self.parts(made[at])
            computed = self.computed and made[at].get("atom") in ("wgmma", "tcgen05")
            if self.chance(0.8 if computed else 0.08):
                made[at]["swap"] = True
            elif self.chance(0.08):
                made[at]["swap"] = False
            if self.chance(0.3 if self.is_narrow else 0.04):
                made[at]["promote"] = rng.choice([True, False])
            if "matrix" in self.chip.products and made[at].get("atom") and self.chance(0.08):
                made[at]["interleave"] = rng.choice(["2 x (1 read, 1 matrix)", "4 x (1 matrix)"])
        if "x" in made and self.dots and self.chance(0.04):
            made["x"]["residency"] = rng.choice(["registers", "shared"])
        if "if" in made and self.chance(0.3 if self.dots[0] in self.free else 0.03):
            made["if"]["split"] = True
        if "mask" in made and self.chance(0.3):
            made["mask"]["guarded"] = rng.choice([True, False])

    def parts(self, product: Decisions) -> None:
        """Cut along an axis or two; reads and products by a rule, or each at a stage and a place."""
        rng, parts = self.rng, self.rng.choice([(1, 1, 2), (1, 2, 1), (1, 2, 2), (2, 1, 1)])
        product["parts"] = parts
        count = parts[0] * parts[1] * parts[2]
        if self.chance(0.4):
            product["reads_ahead"] = rng.randint(0, 1)
        elif self.chance(0.4):
            last = product.setdefault("stage", 0)
            stages = [max(last - rng.choice([0, 0, 1]), 0) for _ in range(count)]
            product["part_stages"] = tuple((stage, last) for stage in stages)
            if self.chance(0.5):
                product.setdefault("order", 0)
                places = [*range(2 * count)]
                if self.chance(0.3):
                    rng.shuffle(places)
                product["part_orders"] = tuple(zip(places[::2], places[1::2], strict=True))

    def of_roles(self, made: dict[str, Decisions]) -> None:
        """Conditions, bounds and stores of another role than the one that would follow."""
        roles = [role["name"] for role in made["kernel"].get("roles", [])]
        if len(roles) > 1 and self.chance(0.05):
            at = self.rng.choice(list(self.places))
            made[at]["role"] = self.rng.choice(roles)
