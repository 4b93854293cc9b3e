"""Kernels of which mutants are made: those that benchmarks pin, and random schedules; each with
launches whose numbers are known."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import kernel_check
import ml_dtypes
import mutation
import numpy as np
import schedule_check
from pinned import BENCHMARKS, compiled
from schedule_catalogue import KERNELS
from schedule_writer import Case, write

import kiln
from kiln.runtime.compiled import CompiledKernel
from kiln.runtime.devices import device
from kiln.runtime.loaded import LoadedKernel

BF16 = ml_dtypes.bfloat16
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
    programs: bool = False  # launched like a kernel of a Python module
    mutants: list[mutation.Mutant] = field(init=False)

    def __post_init__(self) -> None:
        self.mutants = mutation.mutants(self.text)

    def find(self, text: str) -> str:
        """What an emulated chip finds wrong with it, or nothing."""
        artifact = mutation.assemble(text, device(f"emu:{self.chip}").target)
        loaded = LoadedKernel(CompiledKernel(artifact))
        try:
            for run in self.runs:
                if not run(lambda *arguments: loaded(*arguments, _device=f"emu:{self.chip}")):
                    return "wrong numbers"
        except (kiln.DeviceError, kiln.LaunchError) as error:
            return str(error)
        return ""

    def survivors(self, mutants: list[mutation.Mutant]) -> list[str]:
        """Those of the mutants that nothing is found of, though they are other programs."""
        left = [each for each in mutants if not each.may_be_same and not self.find(each.text)]
        return [f"{self.name} on {self.chip} {each.what}" for each in left]


def is_near(got: np.ndarray, want: np.ndarray) -> bool:
    norm = np.linalg.norm(want)
    return bool(np.linalg.norm(got.astype(float) - want) <= 1e-2 * norm)


def product(m: int, n: int, k: int) -> Run:
    def run(launch: Launch) -> bool:
        rng = np.random.default_rng([m, n, k])
        a, b = (rng.standard_normal((rows, max(k, 8))).astype(BF16)[:, :k] for rows in (m, n))
        c = np.ones((m, n), BF16)
        launch(a, b, c)
        return is_near(c, a.astype(float) @ b.astype(float).T)

    return run


def attention(heads: int, n: int, causal: bool) -> Run:
    head = 128

    def run(launch: Launch) -> bool:
        rng = np.random.default_rng([heads, n])
        q, k, v = (rng.standard_normal((heads, n, head)).astype(BF16) for _ in range(3))
        out = np.ones((heads * n, head), BF16)
        launch(*(x.reshape(-1, head) for x in (q, k, v)), out, n, int(causal))
        scores = q.astype(float) @ np.swapaxes(k.astype(float), 1, 2) / head**0.5
        if causal:
            scores = np.where(np.tril(np.ones((n, n), bool)), scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=2, keepdims=True))
        want = weights @ v.astype(float) / weights.sum(axis=2, keepdims=True)
        return is_near(out, want.reshape(-1, head))

    return run


# Several tiles, of more trips than a ring has slots; where loops are left early, of each number; and
# no trip at all.
SM_80 = [product(256, 256, k) for k in (320, 32, 64, 96, 128)]
ATTENTION = [attention(2, 384, True), attention(1, 200, False)]
# What is replaced in the text of a pinned kernel.
HANDED = {
    "copies = 2, registers = 240>": "copies = 2, registers = 232>, "
    '#tile.role<"store", warps = 4, registers = 24>',
    '#copy, role = "mma", in_flight = 1': '#copy, role = "store", in_flight = 0',
}
PINNED: dict[str, tuple[str, str, list[Run], dict[str, str]]] = {
    "gemm-sm_90a": ("gemm", "sm_90a", [product(256, 512, 320), product(256, 256, 64)], {}),
    "gemm-sm_80": ("gemm-sm_80", "sm_80", SM_80, {}),
    "gemm-sm_100a": (
        "gemm-sm_100a", "sm_100a", [product(512, 1024, 128), product(512, 512, 0)], {}
    ),
    "gemm-gfx942": ("gemm-gfx942", "gfx942", [product(512, 256, 192), product(256, 256, 32)], {}),
    "gemm-gfx950": ("gemm-gfx950", "gfx950", [product(512, 256, 256), product(256, 256, 64)], {}),
    "attention": ("attention", "sm_90a", ATTENTION, {}),
    "attention-stores": ("attention", "sm_90a", ATTENTION, HANDED),
}  # fmt: skip


def pinned(name: str) -> Subject:
    """One program does all tiles."""
    kernel, chip, runs, replaced = PINNED[name]
    source = (BENCHMARKS / f"{kernel}.mlir").read_text()
    for before, after in replaced.items():
        assert before in source, before
        source = source.replace(before, after)
    source = re.sub(r"programs = \d+", "programs = 1", source)
    target = device(f"emu:{chip}").target
    text = compiled(source.encode(), target, ("llvm",)).section("ir:llvm").decode()
    return Subject(name, chip, text, runs)


def drawn(seed: int, chip: str, kernel: str = "") -> Subject | None:
    """A random schedule; none if it is refused or has nothing to break."""
    case = write(seed, chip, kernel)
    if schedule_check.check(case):
        return None
    made = kernel_check.define(case.text)
    arguments, _ = inputs(case)
    text = made.compile(*arguments.values(), target=f"emu:{chip}").ir("llvm")
    subject = Subject(f"seed {seed} ({case.kernel})", chip, text, [random_run(case)])
    return subject if subject.mutants and not subject.find(text) else None


def inputs(case: Case):
    """Of the first extents: the module is for the facts of these."""
    size = case.sizes[0]
    rng = np.random.default_rng([case.seed, 0, zlib.crc32(repr(size).encode())])
    return KERNELS[case.kernel].run(rng, case.form, size)


def random_run(case: Case) -> Run:
    def run(launch: Launch) -> bool:
        arguments, outputs = inputs(case)
        launch(*arguments.values())
        return all(
            bool(np.all(np.abs(arguments[name].astype(np.float64) - want) <= allowed))
            for name, (want, allowed) in outputs.items()
        )

    return run
