"""Suite `host` on a machine with a GPU: what everything around a kernel there costs.

- a launch of an empty kernel from Python, with three tensors and two integers, over the driver's
  own call of the same code from a loop in C (bare-launch.c, loaded into this process), beside
  Triton and PyTorch's `add(out=)`: batches in turns, after each of which the queue is drained;
- compiling with empty caches, Kiln's and the driver's, in a process whose context is live: from the
  source to loaded code. The assembler that made machine code of the text is named;
- the first launch of a kernel in a new process whose context is live, from the disk cache.
"""

from __future__ import annotations

import ctypes
import json
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
import torch
import triton
from measure import Report
from suite_host import c_api_program

HERE = Path(__file__).resolve().parent
BATCH, BATCHES, WARM_UP = 100, 200, 20
OVER_BARE = 1e-6  # seconds: the most that a launch from Python may cost over the driver's call
COMPILE_LIMITS = {"softmax": 0.1, "matmul": 0.25}
WARM_LIMIT = 2e-3
STARTS = 9


def run(report: Report, options) -> None:
    for case in (launches, compiles, warm_starts):
        if (options.only or "") in case.__name__:
            print(f"  {case.__name__} ...", file=sys.stderr, flush=True)
            case(report)


# ===- Launches --------------------------------------------------------------------------------===#


@triton.jit
def triton_empty(a, b, c, m, n):
    pass


def launches(report: Report) -> None:
    a, b, c = (torch.zeros(64, device="cuda") for _ in range(3))
    empty, triton_kernel, add = kernels.empty, triton_empty[(1,)], torch.add
    bare = bare_launch(empty.warmup(a, b, c, 21, 28))

    # Each loop calls what it measures itself: a function between them would be measured too.
    def ours() -> None:
        for _ in range(BATCH):
            empty(a, b, c, 21, 28)

    def tritons() -> None:
        for _ in range(BATCH):
            triton_kernel(a, b, c, 21, 28)

    def torchs() -> None:
        for _ in range(BATCH):
            add(a, b, out=c)

    turns = {
        "bare driver call": lambda: bare(BATCH),
        "kiln": lambda: time_of(ours),
        "triton": lambda: time_of(tritons),
        "torch add(out=)": lambda: time_of(torchs),
    }
    samples: dict[str, list[float]] = {name: [] for name in turns}
    for _ in range(WARM_UP + BATCHES):
        for name, turn in turns.items():
            samples[name].append(turn())
            torch.cuda.synchronize()
    samples = {name: values[WARM_UP:] for name, values in samples.items()}
    base = median(samples["bare driver call"])
    for name, values in samples.items():
        limit = base + OVER_BARE if name == "kiln" else None
        report.add("GPU launch, 3 arrays, 2 integers", name, median(values), 1, "/s", limit=limit)


def time_of(batch: Callable[[], None]) -> float:
    """Seconds a call."""
    start = perf_counter()
    batch()
    return (perf_counter() - start) / BATCH


def bare_launch(compiled: Any) -> Callable[[int], float]:
    """A function that makes so many launches of the same code in C and gives the seconds of one."""
    library = ctypes.CDLL(str(Path(c_api_program()).with_name("kiln-bare-launch.so")))
    library.kiln_bare_launch.restype = ctypes.c_double
    failed = library.kiln_bare_load(compiled.binary + b"\0", compiled.name.encode())
    if failed:
        raise AssertionError(f"expected the driver to load the empty kernel, got {failed}")
    threads = compiled.metadata["warps"] * compiled.metadata["warp_size"]

    def launch(count: int) -> float:
        nanoseconds = library.kiln_bare_launch(count, threads)
        if nanoseconds <= 0:
            raise AssertionError(f"expected the driver to launch, got {-nanoseconds:g}")
        return nanoseconds * 1e-9

    return launch


# ===- Compiles and starts ---------------------------------------------------------------------===#


def child(what: str, **environment: str) -> dict[str, Any]:
    """What gpu_start.py measures in a new process."""
    text = subprocess.check_output(
        [sys.executable, "gpu_start.py", what], env={**os.environ, **environment}, text=True,
        cwd=HERE,
    )  # fmt: skip
    return json.loads(text.splitlines()[-1])


def compiles(report: Report) -> None:
    for place, setting in (("in process", "1"), ("in the worker", "")):
        with tempfile.TemporaryDirectory() as cache:
            found = child("compile", CUDA_CACHE_DISABLE="1", KILN_CACHE_DIR=cache,
                          KILN_COMPILE_IN_PROCESS=setting)  # fmt: skip
        for name, limit in COMPILE_LIMITS.items():
            who = f"kiln, {found['assembler']}"
            seconds = median(found[name])
            report.add(f"GPU compile {name}, {place}", who, seconds, 1, "/s", limit=limit)


def warm_starts(report: Report) -> None:
    with tempfile.TemporaryDirectory() as cache:
        runs = [child("start", KILN_CACHE_DIR=cache) for _ in range(1 + STARTS)]
    cold, warm = runs[0], runs[1:]
    if cold["level"] == "disk" or any(run["level"] != "disk" for run in warm):
        raise AssertionError(f"expected a miss, then hits of the disk cache, got {runs}")
    seconds = median(run["seconds"] for run in warm)
    report.add(
        "GPU first launch, warm disk cache", f"kiln, {warm[0]['assembler']}", seconds, 1, "/s",
        limit=WARM_LIMIT,
    )  # fmt: skip
