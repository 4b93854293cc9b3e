"""Every kernel of examples and benchmarks, with small runs of it on emulated chips, which accuse none
of them: what it leaves is held against float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from every_kernel import ROOT, Run, places, runs_of


@dataclass
class Whole:
    folder: str
    name: str  # file:kernel
    chip: str

    @property
    def text(self) -> str:
        return (ROOT / self.folder / self.name.split(":")[0]).read_text(encoding="utf-8")

    def find(self) -> str:
        """What is wrong with it on the emulated chip, or nothing."""
        run = Run(self.folder, self.name.split(":")[0], f"emu:{self.chip}")
        try:
            runs_of(self.folder)[self.name](run, np.random.default_rng(1))
        except Exception as error:  # whatever it is, these kernels are right
            return f"{type(error).__name__}: {error}"
        return ""


def programs(chips: tuple[str, ...]) -> Iterator[Whole]:
    """Each kernel on each of these chips whose instructions it needs."""
    for folder in ("examples", "benchmarks"):
        yield from (Whole(folder, name, chip) for name, chip in places(folder) if chip in chips)
