"""Kernels of which mutants are made: those that benchmarks pin, and random schedules; each with
launches whose numbers are known."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any
from unittest import mock

import kernel_check
import ml_dtypes
import mutation
import numpy as np
import schedule_check
from pinned import BENCHMARKS, compiled
from python_pins import in_python
from schedule_writer import Case, write

import kiln
from kiln.runtime.compiled import CompiledKernel
from kiln.runtime.devices import device
from kiln.runtime.emulation import profiled
from kiln.runtime.loaded import LoadedKernel

BF16 = ml_dtypes.bfloat16
PLAY = r"\S+commit|nvvm\.bar|rocdl\.s\.barrier|llvm\.call_intrinsic"
# How far a word counts only the arrival that begins it again looks at, and an arrival stands in the
# code once for each round of a loop that was taken apart.
NO_ORDER = r"one arrival more in '.*uinc_wrap"
SEEDS = 3  # other orders of threads in which an order that nobody needs is dropped
Launch = Callable[..., None]
# Says of a kernel whether its numbers are right.
Run = Callable[[Launch], bool]


@dataclass
class Subject:
    """A module in the LLVM dialect, for an emulated chip."""

    name: str
    chip: str
    text: str
    runs: list[Run]
    is_drawn: bool = False

    @cached_property
    def mutants(self) -> list[mutation.Mutant]:
        """Of the lines that come to pass."""
        return mutation.mutants(self.text, self.lines)

    @cached_property
    def _told(self) -> tuple[set[int], int]:
        """The lines of the text that come to pass in its runs, which are right, and the most steps of one."""
        loaded, lines, most, device = self.load(self.text), set(), [0], f"emu:{self.chip}"

        def launch(*arguments: Any) -> None:
            loaded(*arguments, _device=device)
            told = json.loads(loaded._executable(device).describe())["profile"]
            lines.update(site["line"] - 1 for site in told["sites"] if "line" in site)
            most[0] = max(most[0], told["steps"])

        with profiled():
            for run in self.runs:
                assert run(launch), f"wrong numbers of {self.name} on {self.chip}"
        return lines, most[0]

    @property
    def lines(self) -> set[int]:
        return self._told[0]

    @property
    def wrong(self) -> list[mutation.Mutant]:
        """The mutants that are other programs, as far as a look at the text tells."""
        left = [m for m in self.mutants if not m.may_be_same]
        return [m for m in left if not (self.is_drawn and re.match(NO_ORDER, m.what))]

    def load(self, text: str) -> LoadedKernel:
        artifact = mutation.assemble(text, device(f"emu:{self.chip}").target)
        return LoadedKernel(CompiledKernel(artifact))

    def find(self, *mutants: mutation.Mutant, clashes: int = 1) -> str:
        """What an emulated chip finds wrong with it, if it is changed so, or nothing; with so many
        clashes of accesses. What goes on for long never ends."""
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

    def explain(self, mutant: mutation.Mutant) -> str:
        """Why nothing is found of a mutant, as far as its order itself shows it; or nothing."""
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


def is_near(got: np.ndarray, want: np.ndarray) -> bool:
    norm = np.linalg.norm(want)
    return bool(np.linalg.norm(got.astype(float) - want) <= 1e-2 * norm)


@dataclass
class Product:
    m: int
    n: int
    k: int

    def __call__(self, launch: Launch) -> bool:
        m, n, k = self.m, self.n, self.k
        rng = np.random.default_rng([m, n, k])
        a, b = (rng.standard_normal((rows, max(k, 8))).astype(BF16)[:, :k] for rows in (m, n))
        c = np.ones((m, n), BF16)
        launch(a, b, c)
        return is_near(c, a.astype(float) @ b.astype(float).T)


@dataclass
class Attention:
    heads: int
    n: int
    causal: bool

    def __call__(self, launch: Launch) -> bool:
        n, head = self.n, 128
        rng = np.random.default_rng([self.heads, n])
        q, k, v = (rng.standard_normal((self.heads, n, head)).astype(BF16) for _ in range(3))
        out = np.ones((self.heads * n, head), BF16)
        launch(*(x.reshape(-1, head) for x in (q, k, v)), out, n, int(self.causal))
        scores = q.astype(float) @ np.swapaxes(k.astype(float), 1, 2) / head**0.5
        if self.causal:
            scores = np.where(np.tril(np.ones((n, n), bool)), scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=2, keepdims=True))
        want = weights @ v.astype(float) / weights.sum(axis=2, keepdims=True)
        return is_near(out, want.reshape(-1, head))


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


# Several tiles, of more trips than a ring has slots; where loops are left early, of each number; and
# no trip at all.
SM_80 = [Product(256, 256, k) for k in (320, 32, 64, 96, 128)]
ATTENTION = [Attention(2, 384, True), Attention(1, 200, False)]
# What is replaced in the text of a pinned kernel.
HANDED = {
    "copies = 2, registers = 240>": "copies = 2, registers = 232>, "
    '#tile.role<"store", warps = 4, registers = 24>',
    '#copy, role = "mma", in_flight = 1': '#copy, role = "store", in_flight = 0',
}


def in_text(name: str, replaced: dict[str, str] | None = None) -> str:
    source = (BENCHMARKS / f"{name}.mlir").read_text()
    for before, after in (replaced or {}).items():
        assert before in source, before
        source = source.replace(before, after)
    return source


Source = Callable[[], str]
PINNED: dict[str, tuple[Source, str, list[Run]]] = {
    "gemm-sm_90a": (
        partial(in_text, "gemm"), "sm_90a", [Product(256, 512, 320), Product(256, 256, 64)]
    ),
    "gemm-sm_80": (partial(in_text, "gemm-sm_80"), "sm_80", SM_80),
    "gemm-sm_100a": (
        partial(in_text, "gemm-sm_100a"), "sm_100a", [Product(512, 1024, 128), Product(512, 512, 0)]
    ),
    "gemm-gfx942": (
        partial(in_text, "gemm-gfx942"), "gfx942", [Product(512, 256, 192), Product(256, 256, 32)]
    ),
    "gemm-gfx950": (
        partial(in_text, "gemm-gfx950"), "gfx950", [Product(512, 256, 256), Product(256, 256, 64)]
    ),
    "attention": (partial(in_text, "attention"), "sm_90a", ATTENTION),
    "attention-stores": (partial(in_text, "attention", HANDED), "sm_90a", ATTENTION),
    "clustered_gemm": (
        partial(in_python, "clustered_gemm"), "sm_90a", [Product(512, 512, 320)]
    ),
    "large_gemm": (partial(in_python, "large_gemm"), "sm_90a", [Product(256, 384, 256)]),
    "gemm_in_turn": (partial(in_python, "gemm_in_turn"), "sm_90a", [Product(320, 256, 320)]),
    "gemm_interleaved": (
        partial(in_python, "gemm_interleaved", "gfx950"), "gfx950", [Product(256, 256, 160)]
    ),
    "gemm_through_registers": (
        partial(in_python, "gemm_through_registers", "gfx1201"), "gfx1201",
        [Product(256, 128, 160)],
    ),
    "attention_by_waves": (
        partial(in_python, "attention_by_waves", "gfx942"), "gfx942", [Attention(1, 256, True)]
    ),
}  # fmt: skip


@cache
def pinned(name: str) -> Subject:
    """One program, or cluster of them, does all tiles."""
    source, chip, runs = PINNED[name]
    text = source()
    cluster = re.search(r"tile\.cluster = array<i64: ([\d, ]+)>", text)
    programs = math.prod(map(int, cluster[1].split(","))) if cluster else 1
    text = re.sub(r"programs = \d+", f"programs = {programs}", text)
    target = device(f"emu:{chip}").target
    made = compiled(text.encode(), target, ("llvm",)).section("ir:llvm").decode()
    return Subject(name, chip, made, runs)


def drawn(seed: int, chip: str, kernel: str = "") -> Subject | None:
    """A random schedule that goes round its rings twice; none if it is refused."""
    case = write(seed, chip, kernel)
    where = {"target": f"emu:{chip}"}
    try:
        arguments, _ = schedule_check.inputs(case, 0, case.sizes[0])
        realised = kernel_check.define(case.text).compile(*arguments.values(), **where)
        depths = map(int, re.findall(r"!tile\.channel<(\d+)", realised.ir("schedule")))
        case = schedule_check.lengthened(case, max(depths, default=1))
        arguments, _ = schedule_check.inputs(case, 0, case.sizes[0])
        text = kernel_check.define(case.text).compile(*arguments.values(), **where).ir("llvm")
    except kiln.CompileError:
        return None
    runs = [Drawn(case, number) for number in range(len(case.sizes))]
    return Subject(f"seed {seed} ({case.kernel})", chip, text, runs, is_drawn=True)
