"""Kernels of which mutants are made: those that benchmarks pin, and random schedules; each with
launches whose numbers are known. What an emulated chip cannot see is asked of AMD's final code."""

from __future__ import annotations

import json
import math
import os
import re
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any
from unittest import mock

import isa
import kernel_check
import mutation
import numpy as np
import schedule_check
from pinned import compiled
from pinned_subjects import PINNED, Launch, Run
from schedule_writer import Case, write

import kiln
from kiln.runtime.compiled import CompiledKernel
from kiln.runtime.devices import device
from kiln.runtime.emulation import profiled
from kiln.runtime.loaded import LoadedKernel

PLAY = r"\S+commit|nvvm\.bar|rocdl\.s\.barrier|llvm\.call_intrinsic"
# How far a word counts only the arrival that begins it again looks at, and an arrival stands in the
# code once for each round of a loop that was taken apart.
NO_ORDER = r"one arrival more in '.*uinc_wrap"
SEEDS = 3  # other orders of threads in which an order that nobody needs is dropped


@dataclass
class Subject:
    """A module in the LLVM dialect, for an emulated chip."""

    name: str
    chip: str
    text: str
    runs: list[Run]
    case: Case | None = None  # that was drawn

    @property
    def is_drawn(self) -> bool:
        return self.case is not None

    @cached_property
    def mutants(self) -> list[mutation.Mutant]:
        """Of the lines that come to pass."""
        return mutation.mutants(self.text, self.lines)

    @cached_property
    def _told(self) -> tuple[dict[int, set[int]], int]:
        """The lines of the text that come to pass in its runs, which are right, each with warps that come
        to it, and the most steps of one."""
        loaded, lines, most, device = self.load(self.text), {}, [0], f"emu:{self.chip}"

        def launch(*arguments: Any) -> None:
            loaded(*arguments, _device=device)
            told = json.loads(loaded._executable(device).describe())["profile"]
            sites = {site["site"]: site["line"] - 1 for site in told["sites"] if "line" in site}
            for line in sites.values():
                lines.setdefault(line, set())
            for warp in told["timeline"]:
                for *_, site, _ in warp["spans"]:
                    lines.get(sites.get(site, -1), set()).add(warp["warp"])
            most[0] = max(most[0], told["steps"])

        with profiled():
            for run in self.runs:
                assert run(launch), f"wrong numbers of {self.name} on {self.chip}"
        return lines, most[0]

    @property
    def lines(self) -> set[int]:
        return set(self._told[0])

    @property
    def wrong(self) -> list[mutation.Mutant]:
        """The mutants that are other programs, as far as a look at the text tells, and that an emulated
        chip may find."""
        left = [m for m in self.mutants if not m.may_be_same and not m.in_final_code]
        return [m for m in left if not (self.is_drawn and re.match(NO_ORDER, m.what))]

    @property
    def wrong_in_code(self) -> list[mutation.Mutant]:
        """Those that only the final code shows, if that is proven without them."""
        if not isa.has_checker() or not self._final_code:
            return []
        return [m for m in self.mutants if m.in_final_code]

    def load(self, text: str) -> LoadedKernel:
        artifact = mutation.assemble(text, device(f"emu:{self.chip}").target)
        return LoadedKernel(CompiledKernel(artifact))

    def find(self, *mutants: mutation.Mutant, clashes: int = 1) -> str:
        """What an emulated chip finds wrong with it, if it is changed so, or nothing; with so many
        clashes of accesses. What goes on for long never ends."""
        if mutants and all(each.in_final_code for each in mutants):
            return self.refusal(mutation.changed(self.text, *mutants))
        loaded = self.load(mutation.changed(self.text, *mutants))
        limits = {"KILN_EMULATED_CLASHES": str(clashes)}
        if mutants:
            limits["KILN_EMULATED_STEPS"] = str(2 * self._told[1] + 100_000)
        try:
            with mock.patch.dict(os.environ, limits):
                for run in self.runs:
                    if not run(lambda *arguments: loaded(*arguments, _device=f"emu:{self.chip}")):
                        return "wrong numbers"
        except (kiln.DeviceError, kiln.LaunchError) as error:
            return str(error)
        return ""

    @cached_property
    def _final_code(self) -> str:
        """Of a random schedule nothing, if it is not proven: what the proof cannot follow is tried
        elsewhere."""
        code = final_code(self.text, self.chip)
        wrong = isa.refusal(code.encode())
        assert not wrong or self.is_drawn, f"{self.name} on {self.chip}: {wrong}"
        return "" if wrong else code

    def refusal(self, text: str) -> str:
        """What the proof of its final code finds wrong with a text, or nothing."""
        code = final_code(text, self.chip)
        return "" if code == self._final_code else isa.refusal(code.encode())

    def explain(self, mutant: mutation.Mutant) -> str:
        """Why nothing is found of a mutant, as far as its order itself shows it; or nothing."""
        if mutant.in_final_code:
            changed = final_code(mutation.changed(self.text, mutant), self.chip)
            return "the final code is " + (
                "the same" if changed == self._final_code else "another one, and proven"
            )
        if mutant.is_drop:
            return self.stand_in(mutant)
        drops = [m for m in self.mutants if m.is_drop and m.places == mutant.places]
        for drop in drops:
            if not self.find(drop):
                return self.stand_in(drop)
        # Rings may have slots to spare: then a wait may leave one more under way, or a commit come late.
        # And where threads meet there may be play.
        if re.match(rf"one more .*in flight|with '({PLAY})\S* .*(before|behind) line", mutant.what):
            return "a part of it" if drops else ""
        # Of a barrier of whose phases nobody awaits the end one more arrival may lack.
        if re.match("one arrival more in 'nvvm.mbarrier.init", mutant.what) and self.is_drawn:
            return "" if any(map(self.count_uses, mutant.places)) else "nobody waits for it"
        # A role of one copy has a barrier of its own, of whatever number that nobody else has.
        if mutant.what.startswith("another barrier"):
            (line,) = mutant.places
            threads = mutation.THREADS.match(self.text.split("\n")[line])[2]
            group = int(mutation.number_of(self.text.split("\n"), threads)) // 32
            is_alone = len(self._told[0][line]) <= group
            return "one group of warps comes to it" if is_alone else ""
        # Of two warps one fewer is each by itself, which may be enough.
        if mutant.what.startswith("one warp fewer"):
            warps = mutation.Mutant("", {i: mutation.MEET_LANES for i in mutant.places})
            return "" if self.find(warps) else "each warp by itself"
        return ""

    def stand_in(self, drop: mutation.Mutant) -> str:
        """What stands in for an order without which nothing is found: another one, if the emulated chip
        tells of accesses that clash without any order and of which one stands behind the other by way of
        this one. If there are none it orders nothing; then numbers are right in any order of threads."""
        if all(self.count_uses(line) for line in drop.places):
            return "another order"
        if not self.is_drawn:
            return ""
        for seed in range(1, 1 + SEEDS):
            with mock.patch.dict(os.environ, {"KILN_EMULATED_SEED": str(seed)}):
                if self.find(drop):
                    return ""
        return "it orders nothing"

    def count_uses(self, line: int) -> int:
        """How many accesses stand behind others, with which they clash otherwise, by way of the order
        of a line, as the emulated chip counts them."""
        loaded, uses, device = self.load(self.text), 0, f"emu:{self.chip}"

        def launch(*arguments: Any) -> None:
            nonlocal uses
            loaded(*arguments, _device=device)
            uses += json.loads(loaded._executable(device).describe())["watched"]["uses"]

        with mock.patch.dict(os.environ, {"KILN_EMULATED_WATCH": str(line + 1)}):
            for run in self.runs:
                run(launch)
        return uses

    def survivors(self, mutants: list[mutation.Mutant]) -> list[str]:
        """Those of the mutants that nothing is found of, and nothing stands in for."""
        left = [m for m in mutants if not self.find(m) and not self.explain(m)]
        return [f"{self.name} on {self.chip} {each.what}" for each in left]


@lru_cache(maxsize=4)
def final_code(text: str, chip: str) -> str:
    """Of the chip itself, as assembly, without the lines that it comes from."""
    real = re.sub(r"#emulated\.target<(#amdgcn\.target<[^<>]*>)>", r"\1", text)
    real = real.replace(f'"emu:{chip}"', f'"amdgpu:{chip}"')
    code = isa.assemble(real, chip, "from=llvm").decode()
    return re.sub(r"^\t\.loc\t.*\n", "", code, flags=re.MULTILINE)


@dataclass
class Drawn:
    """A run of a random schedule."""

    case: Case
    number: int

    def __call__(self, launch: Launch) -> bool:
        size = self.case.sizes[self.number]
        arguments, outputs = schedule_check.inputs(self.case, self.number, size)
        launch(*arguments.values())
        with np.errstate(invalid="ignore"):
            return all(
                bool(np.all(np.abs(arguments[name].astype(np.float64) - want) <= allowed))
                for name, (want, allowed) in outputs.items()
            )


@cache
def pinned(name: str) -> Subject:
    """One program, or cluster of them, does all tiles."""
    pin = PINNED[name]
    text = pin.source()
    cluster = re.search(r"tile\.cluster = array<i64: ([\d, ]+)>", text)
    programs = math.prod(map(int, cluster[1].split(","))) if cluster else 1
    text = re.sub(r"programs = \d+", f"programs = {programs}", text)
    target = device(f"emu:{pin.chip}").target
    made = compiled(text.encode(), target, ("llvm",)).section("ir:llvm").decode()
    return Subject(name, pin.chip, made, pin.runs)


def drawn(seed: int, chip: str, kernel: str = "") -> Subject | None:
    """A random schedule that goes round its rings twice; none if it is refused."""
    case = write(seed, chip, kernel)
    try:
        arguments, _ = schedule_check.inputs(case, 0, case.sizes[0])
        realised = kernel_check.define(case.text).compile(*arguments.values(), target=f"emu:{chip}")
    except kiln.CompileError:
        return None
    depths = map(int, re.findall(r"!tile\.channel<(\d+)", realised.ir("schedule")))
    return of_case(schedule_check.lengthened(case, max(depths, default=1)))


def of_case(case: Case) -> Subject | None:
    """A random schedule on the extents that it has; none if it is refused."""
    try:
        arguments, _ = schedule_check.inputs(case, 0, case.sizes[0])
        made = kernel_check.define(case.text).compile(
            *arguments.values(), target=f"emu:{case.chip}"
        )
    except kiln.CompileError:
        return None
    runs = [Drawn(case, number) for number in range(len(case.sizes))]
    name = f"seed {case.seed} ({case.kernel})"
    return Subject(name, case.chip, made.ir("llvm"), runs, case)
