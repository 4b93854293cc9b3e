"""Schedules drawn at random for the kernels of schedule_catalogue: decisions at places of a kernel's
text, as `kiln.pin` takes them.

Most are such as an author might try (schedule_author). A quarter are such as no solver would choose:
some decisions of these are changed, dropped, or added where they stand nowhere else
(schedule_disturber).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any

from schedule_author import Author, Decisions
from schedule_catalogue import KERNELS
from schedule_chips import CHIPS
from schedule_disturber import Disturber
from schedule_kernels import Form, Place


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
    if cluster and rng.random() < 0.5:  # grids of whole ones
        for size in sizes:
            size |= {name: form[tile] * n for name, tile, n in
                     (("m", "M", cluster[0]), ("n", "N", cluster[1]), ("rows", "M", cluster[0]))
                     if name in size and tile in form}  # fmt: skip
    return Case(seed, chip, kernel, form, pins, sizes, odd)
