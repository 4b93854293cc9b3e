"""Examples on small arrays, and tests of kernels of benchmarks: on emulated chips, which accuse none of
them. An example must leave what it leaves on the host."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
BF16 = ml_dtypes.bfloat16
Rng = np.random.Generator


def bf16(rng: Rng, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(BF16)


def f32(rng: Rng, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


def u8(rng: Rng, *shape: int) -> np.ndarray:
    return rng.integers(0, 256, shape).astype(np.uint8)


def dequantised(rng: Rng, module: Any) -> list[Any]:
    planes, groups = module.pack(rng.integers(0, 8, (128, 72))), 128 // module.GROUP
    return [f32(rng, 20, 128), planes, f32(rng, groups, 72), f32(rng, 20, 72)]


# By example: its kernel, arguments of which the last array is what it makes, and constants.
CASES: dict[str, tuple[str, Callable[[Rng, Any], list[Any]], dict[str, Any]]] = {
    "01_vector_add": ("add", lambda r, _: [f32(r, 9000) for _ in range(3)], {}),
    "02_softmax": ("softmax", lambda r, _: [bf16(r, 3, 200), bf16(r, 3, 200)], {"BLOCK": 256}),
    "03_rmsnorm": (
        "rmsnorm", lambda r, _: [bf16(r, 3, 200), bf16(r, 200), bf16(r, 3, 200), 1e-5],
        {"BLOCK": 256},
    ),
    "04_layernorm_dropout": (
        "layernorm_dropout",
        lambda r, _: [*(f32(r, 3, 200) for _ in range(2)), *(f32(r, 200) for _ in range(2)),
                      *(f32(r, 3, 200) for _ in range(2)), 7, 0.75, 1e-5],
        {"BLOCK": 256},
    ),
    "05_matmul": (
        "matmul", lambda r, _: [bf16(r, 70, 80), bf16(r, 80, 136), bf16(r, 70, 136)],
        {"BM": 64, "BN": 128, "BK": 32},
    ),
    "06_attention": (
        "attention", lambda r, _: [*(bf16(r, 1, 2, 100, 64) for _ in range(4)), 0.125],
        {"CAUSAL": True, "D": 64, "BM": 64, "BN": 64},
    ),
    "07_cumsum": ("cumsum", lambda r, _: [f32(r, 3, 500), f32(r, 3, 500)], {}),
    "08_histogram": ("histogram", lambda r, _: [u8(r, 5000), np.zeros(256, np.int32)], {}),
    "09_dequant_matmul": ("dequant_matmul", dequantised, {"BM": 32, "BN": 64}),
    "10_image_filter": ("sharpen", lambda r, _: [u8(r, 20, 140), u8(r, 20, 140), 1.5], {}),
}  # fmt: skip
# Tests of kernels of benchmarks, against float64, and the emulated chips of those that have several.
TESTED = {
    "test/python/benchmarks/test_memory_kernels.py": ("sm_90a", "gfx942"),
    "test/python/emulated/test_pinned_python.py": ("",),
    "test/python/emulated/test_pinned_waves.py": ("",),
}


@dataclass
class Example:
    name: str
    chip: str

    @property
    def text(self) -> str:
        return (EXAMPLES / f"{self.name}.py").read_text(encoding="utf-8")

    def load(self) -> Any:
        if str(EXAMPLES) not in sys.path:
            sys.path.insert(0, str(EXAMPLES))
        spec = importlib.util.spec_from_file_location(self.name, EXAMPLES / f"{self.name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[self.name] = module  # which kernels look themselves up in
        spec.loader.exec_module(module)
        return module

    def find(self) -> str:
        """What is wrong with it on the emulated chip, or nothing."""
        name, make, constants = CASES[self.name]
        module, made = self.load(), {}
        for device in ("cpu", f"emu:{self.chip}"):
            arguments = make(np.random.default_rng(1), module)
            try:
                getattr(module, name)(*arguments, **constants, _device=device)
            except Exception as error:  # whatever it is, an example is right
                return f"{type(error).__name__}: {error}"
            made[device] = [x for x in arguments if isinstance(x, np.ndarray)][-1]
        want, got = (each.astype(np.float64) for each in made.values())
        return "" if np.allclose(got, want, rtol=2e-2, atol=2e-2) else "wrong numbers"


@dataclass
class Tests:
    file: str
    chip: str

    @property
    def name(self) -> str:
        return Path(self.file).stem

    @property
    def text(self) -> str:
        return (ROOT / self.file).read_text(encoding="utf-8")

    def find(self) -> str:
        only = ["-k", f"emu and {self.chip}"] if self.chip else []
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *only]
        done = subprocess.run(
            [*command, self.file], capture_output=True, text=True, check=False, cwd=ROOT
        )
        return done.stdout[-3000:] if done.returncode else ""


def programs(chips: tuple[str, ...]) -> Iterator[Example | Tests]:
    """Each example on these chips, and each file of tests."""
    for name in CASES:
        yield from (Example(name, chip) for chip in chips)
    for file, of in TESTED.items():
        yield from (Tests(file, chip) for chip in of)
