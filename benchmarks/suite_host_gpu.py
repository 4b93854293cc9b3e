"""Suite `host` on a machine with a GPU: what everything around a kernel there costs.

- a launch of an empty kernel from Python, with three tensors and two integers, over the driver's
  own call from a loop in C (kiln-launch-cost, which also goes through Kiln's C API), beside Triton
  and PyTorch's `add(out=)`; the queue is drained between batches, so that no launch waits for room;
- compiling with empty caches, Kiln's and the driver's, in a process whose context is live: from the
  source to loaded code. The assembler that made machine code of the text is named;
- the first launch of a kernel in a new process whose context is live, from the disk cache.
"""

from __future__ import annotations

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
BATCH, BATCHES, ROUNDS = 100, 100, 10
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
    grid = (1,)
    calls: dict[str, Callable[[], Any]] = {
        "kiln": lambda: kernels.empty(a, b, c, 21, 28),
        "triton": lambda: triton_empty[grid](a, b, c, 21, 28),
        "torch add(out=)": lambda: torch.add(a, b, out=c),
    }
    samples: dict[str, list[float]] = {"bare driver call": [], "kiln C API": []}
    samples.update((name, []) for name in calls)
    program = c_api_program()
    for _ in range(ROUNDS):
        through_c, bare = subprocess.check_output([program, "cuda:0"], text=True).split()
        samples["bare driver call"].append(float(bare) * 1e-9)
        samples["kiln C API"].append(float(through_c) * 1e-9)
        for name, call in calls.items():
            samples[name] += batches(call, BATCHES // ROUNDS)
    base = median(samples["bare driver call"])
    for name, values in samples.items():
        limit = base + OVER_BARE if name == "kiln" else None
        report.add("GPU launch, 3 arrays, 2 integers", name, median(values), 1, "/s", limit=limit)


def batches(call: Callable[[], Any], count: int) -> list[float]:
    """Seconds a call, by batches; what they queued has ended before the next one begins."""
    call()
    torch.cuda.synchronize()
    out = []
    for _ in range(count):
        start = perf_counter()
        for _ in range(BATCH):
            call()
        out.append((perf_counter() - start) / BATCH)
        torch.cuda.synchronize()
    return out


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
