"""Suite `host`: what everything around a kernel costs.

- a launch of an empty kernel from Python, with NumPy arrays, PyTorch tensors and objects that
  have nothing but `__dlpack__`, over what the C API alone needs for the same launch;
- `import kiln` in a new process;
- the first launch in a new process, with the kernel in the disk cache;
- compiling each of the benchmark's kernels, with an empty cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import kernels
import ml_dtypes
import numpy as np
import torch
from measure import Report

HERE = Path(__file__).resolve().parent
LAUNCHES, BATCH = 100_000, 100


def run(report: Report, options) -> None:
    for case in (launches, imports, warm_starts, compiles):
        if (options.only or "") in case.__name__:
            print(f"  {case.__name__} ...", file=sys.stderr, flush=True)
            case(report)


# ===- Launches --------------------------------------------------------------------------------===#


class PlainDLPack:
    """An array of a library that Kiln knows nothing of. Its two methods are C functions, as those
    of a library are."""

    __slots__ = ("__dlpack__", "__dlpack_device__")

    def __init__(self, array: np.ndarray):
        self.__dlpack__ = array.__dlpack__
        self.__dlpack_device__ = array.__dlpack_device__


def c_api_program() -> str:
    """kiln-launch-cost of the build tree or of the package, or where $KILN_LAUNCH_COST says."""
    places = [HERE.parent / folder / "kiln-launch-cost" for folder in ("build/bin", "bin")]
    if os.environ.get("KILN_LAUNCH_COST"):
        places = [Path(os.environ["KILN_LAUNCH_COST"])]
    for path in places:
        if os.access(path, os.X_OK):
            return str(path)
    raise AssertionError(f"expected the program {places[0]}, got none; build kiln-launch-cost")


def launches(report: Report) -> None:
    arrays = [np.zeros(64, np.float32) for _ in range(3)]
    kinds = {
        "NumPy": arrays,
        "PyTorch": [torch.zeros(64) for _ in range(3)],
        "__dlpack__": [PlainDLPack(array) for array in arrays],
    }
    program, samples = c_api_program(), {"C API": []}
    for name in kinds:
        samples[name] = []
    rounds = 10
    for _ in range(rounds):
        samples["C API"].append(float(subprocess.check_output([program])) * 1e-9)
        for name, (a, b, c) in kinds.items():
            samples[name] += launch_times(a, b, c, LAUNCHES // rounds)
    base = median(samples["C API"])
    for name, values in samples.items():
        limit = None if name == "C API" else base + 1e-6
        report.add("launch, 3 arrays, 2 integers", name, median(values), 1, "/s", limit=limit)


def launch_times(a, b, c, count: int) -> list[float]:
    """Seconds a launch, by batches: a clock read costs a good part of a launch."""
    empty = kernels.empty
    empty(a, b, c, 21, 28)
    out = []
    for _ in range(count // BATCH):
        start = perf_counter()
        for _ in range(BATCH):
            empty(a, b, c, 21, 28)
        out.append((perf_counter() - start) / BATCH)
    return out


# ===- New processes ---------------------------------------------------------------------------===#


def python(code: list[str], **environment: str) -> str:
    return subprocess.check_output(
        [sys.executable, *code], env={**os.environ, **environment}, text=True, cwd=HERE
    )


def imports(report: Report) -> None:
    names = ("kiln", "numpy", "torch", "triton")
    samples: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(8):
        for name in names:
            code = f"from time import perf_counter as t; s = t(); import {name}; print(t() - s)"
            seconds = float(python(["-c", code]))
            if turn:  # the first reads the files from disk
                samples[name].append(seconds)
    ours = median(samples["kiln"])
    for name in names:
        seconds = median(samples[name])
        ratio = None if name == "kiln" else seconds / ours
        report.add("import", name, seconds, 1, "/s", ratio=ratio)


def warm_starts(report: Report) -> None:
    with tempfile.TemporaryDirectory() as cache:
        runs = [python(["warm_start.py"], KILN_CACHE_DIR=cache).split() for _ in range(16)]
    cold, warm = runs[0], runs[1:]
    if cold[1] != "0" or any(hit != "1" for _, hit in warm):
        raise AssertionError("expected a miss, then hits of the disk cache, got " + str(runs))
    report.add("first launch, empty cache", "kiln", float(cold[0]), 1, "/s")
    seconds = median(float(s) for s, _ in warm)
    report.add("first launch, warm disk cache", "kiln", seconds, 1, "/s", limit=2e-3)


# ===- Compiles --------------------------------------------------------------------------------===#


def compiles(report: Report) -> None:
    """Each kernel three times under an empty cache; source to loaded code, without the launch."""
    from kiln.runtime import cache

    bf16 = ml_dtypes.bfloat16
    x, square = np.ones(4096, np.float32), np.ones((64, 1024), np.float32)
    heads = np.ones((2, 128, 64), np.float32)
    blocks = {"BM": 64, "BN": 64, "BK": 64}
    calls: dict[str, Callable[[], Any]] = {
        "add": lambda: kernels.add.warmup(x, x, x),
        "softmax": lambda: kernels.softmax.warmup(square, square, BLOCK=1024),
        "rmsnorm": lambda: kernels.rmsnorm.warmup(square, x, square, 1e-5, BLOCK=1024),
        "matmul f32": lambda: kernels.matmul.warmup(square, square, square, **blocks),
        "matmul bf16": lambda: kernels.matmul.warmup(*[square.astype(bf16)] * 3, **blocks),
        "attention": lambda: kernels.attention.warmup(
            heads, heads, heads, heads, 0.125, BM=64, BN=64, D=64
        ),
    }
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(3):
        for name, call in calls.items():
            cache.use("")
            for kernel in (kernels.add, kernels.softmax, kernels.rmsnorm, kernels.matmul,
                           kernels.attention):  # fmt: skip
                kernel.captured_changed()  # forget what was compiled
            start = perf_counter()
            call()
            samples[name].append(perf_counter() - start)
    cache.use(None)
    for name, values in samples.items():
        report.add("compile, empty cache", f"kiln {name}", median(values), 1, "/s")
