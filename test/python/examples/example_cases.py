"""The examples with arguments as a model would have them: compiled for a chip, never run."""

from __future__ import annotations

import importlib.util
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

ROOT = Path(__file__).resolve().parents[3]
BF16 = ml_dtypes.bfloat16


def bf16(*shape: int) -> np.ndarray:
    return np.empty(shape, BF16)


def f32(*shape: int) -> np.ndarray:
    return np.empty(shape, np.float32)


def several(count: int, make: Any, *shape: int) -> tuple[np.ndarray, ...]:
    """Arrays that do not overlap."""
    return tuple(make(*shape) for _ in range(count))


# Arguments and constants by example, and by what it is about where one stands here more than once.
CASES: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "01_vector_add": ("add", lambda: several(3, f32, 1 << 20), {}),
    "02_softmax": ("softmax", lambda: several(2, bf16, 64, 4096), {"BLOCK": 4096}),
    "03_rmsnorm": (
        "rmsnorm", lambda: (bf16(64, 4096), bf16(4096), bf16(64, 4096), 1e-5), {"BLOCK": 4096},
    ),
    "04_layernorm_dropout": (
        "layernorm_dropout",
        lambda: (
            *several(2, f32, 64, 1024), *several(2, f32, 1024), *several(2, f32, 64, 1024),
            7, 0.75, 1e-5,
        ),
        {"BLOCK": 1024},
    ),
    "05_matmul": ("matmul", lambda: several(3, bf16, 512, 512), {"BM": 64, "BN": 128, "BK": 32}),
    "06_attention": (
        "attention",
        lambda: (*several(4, bf16, 2, 8, 512, 64), 0.125),
        {"CAUSAL": False, "D": 64, "BM": 64, "BN": 64},
    ),
    "06_attention, head size 80": (
        "attention",
        lambda: (*several(4, bf16, 2, 8, 512, 80), 0.125),
        {"CAUSAL": True, "D": 80, "BM": 64, "BN": 64},
    ),
    "07_cumsum": ("cumsum", lambda: several(2, f32, 64, 4096), {}),
    "08_histogram": (
        "histogram", lambda: (np.empty(1 << 20, np.uint8), np.empty(256, np.int32)), {},
    ),
    "09_dequant_matmul": (
        "dequant_matmul",
        lambda: (f32(64, 512), *dequantised(), f32(64, 512)),
        {"BM": 32, "BN": 64},
    ),
    "10_image_filter": (
        "sharpen", lambda: (*several(2, np.empty, (480, 1920), np.uint8), 1.5), {},
    ),
}  # fmt: skip


@cache
def example(name: str):
    folder = str(ROOT / "examples")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(name, Path(folder) / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def dequantised() -> tuple[Any, np.ndarray]:
    module = example("09_dequant_matmul")
    planes = module.pack(np.zeros((512, 512), np.int64))
    return planes, f32(512 // module.GROUP, 512)


def compile_case(name: str, target: str, cases: dict[str, tuple[str, Any, dict]] = CASES):
    kernel, arguments, constants = cases[name]
    function = getattr(example(name.split(",")[0]), kernel)
    return function.compile(*arguments(), target=target, **constants)


def write_rows(path: Path, figures: dict[str, Any]) -> None:
    """Figures by case and chip, a line each."""
    rows = ",\n".join(
        f'  "{name}": {{\n'
        + ",\n".join(f'    "{chip}": {json.dumps(kept)}' for chip, kept in chips.items())
        + "\n  }"
        for name, chips in figures.items()
    )
    path.write_text(f"{{\n{rows}\n}}\n", encoding="utf-8")
