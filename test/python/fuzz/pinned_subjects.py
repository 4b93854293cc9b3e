"""Every kernel of benchmarks/ whose schedule is pinned, on every chip that it is pinned for, and the launches
of it of which mutants are tried: several tiles, of more trips than a ring has slots; where loops are left
early, of each number; and no trip at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import ml_dtypes
import numpy as np
import pinned_runs
from pinned import BENCHMARKS
from python_pins import in_python

BF16 = ml_dtypes.bfloat16
Launch = Callable[..., None]
# Says of a kernel whether its numbers are right.
Run = Callable[[Launch], bool]
# The module's text.
Source = Callable[[], str]


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
    width: int = 128

    def __call__(self, launch: Launch) -> bool:
        n, head = self.n, self.width
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


def in_text(name: str, replaced: dict[str, str] | None = None) -> str:
    source = (BENCHMARKS / f"{name}.mlir").read_text()
    for before, after in (replaced or {}).items():
        assert before in source, before
        source = source.replace(before, after)
    return source


ATTENTION = [Attention(2, 384, True), Attention(1, 200, False)]
# What is replaced in the text of a pinned kernel for another role to store.
HANDED = {
    "copies = 2, registers = 240>": "copies = 2, registers = 232>, "
    '#tile.role<"store", warps = 4, registers = 24>',
    '#copy, role = "mma", in_flight = 1': '#copy, role = "store", in_flight = 0',
}
# By the kernel's name in pinned_runs; where it has several forms, what each is called.
RUNS: dict[str, list[Run] | dict[str, list[Run]]] = {
    "gemm.mlir:gemm": [Product(256, 512, 320), Product(256, 256, 64)],
    "gemm-sm_80.mlir:gemm": [Product(256, 256, k) for k in (320, 32, 64, 96, 128)],
    "gemm-sm_100a.mlir:gemm_sm_100a": [Product(512, 1024, 128), Product(512, 512, 0)],
    "gemm-gfx942.mlir:gemm": [Product(512, 256, 192), Product(256, 256, 32)],
    "gemm-gfx950.mlir:gemm": [Product(512, 256, 256), Product(256, 256, 64)],
    "attention.mlir:attention": {"": ATTENTION, "stores in a role": ATTENTION},
    "pinned_kernels.py:gemm": [Product(256, 512, 320)],
    "pinned_kernels.py:large_gemm": [Product(256, 384, 256)],
    "pinned_kernels.py:clustered_gemm": [Product(512, 512, 320)],
    "pinned_kernels.py:gemm_in_turn": [Product(320, 256, 320)],
    "pinned_kernels.py:attention": [Attention(1, 384, True)],
    "pinned_kernels.py:gemm_skewed": [Product(256, 256, 160)],
    "pinned_kernels.py:gemm_interleaved": [Product(256, 256, 160)],
    "pinned_kernels.py:gemm_through_registers": [Product(256, 128, 160)],
    "pinned_kernels.py:attention_by_waves": {
        f"heads of {width}": [Attention(1, n, True, width)] for width, n in ((64, 256), (128, 160))
    },
}


def source_of(kernel: str, chip: str, form: str) -> Source:
    file, _, name = kernel.partition(":")
    if file == "pinned_kernels.py":
        width = int(form.removeprefix("heads of ")) if form.startswith("heads of ") else 128
        return partial(in_python, name, chip, width)
    return partial(in_text, file.removesuffix(".mlir"), HANDED if form else None)


@dataclass(frozen=True)
class Pin:
    kernel: str
    chip: str
    form: str

    @property
    def name(self) -> str:
        return ", ".join(filter(None, (self.kernel, self.chip, self.form)))

    @property
    def source(self) -> Source:
        return source_of(self.kernel, self.chip, self.form)

    @property
    def runs(self) -> list[Run]:
        runs = RUNS[self.kernel]
        return runs[self.form] if isinstance(runs, dict) else runs


def pins() -> list[Pin]:
    """Each kernel on each of its chips in each of its forms."""
    found = []
    for kernel, (_, chips) in pinned_runs.PINNED.items():
        forms = RUNS[kernel] if isinstance(RUNS[kernel], dict) else {"": None}
        found += [Pin(kernel, chip, form) for chip in sorted(chips) for form in forms]
    return found


PINNED = {pin.name: pin for pin in pins()}
