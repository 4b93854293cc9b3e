#!/usr/bin/env python3
"""Measures Kiln beside its peers: benchmarks/run.py SUITE [--json FILE].

Suites:
  cpu   kernels on this machine, beside NumPy, PyTorch and Triton's interpreter
  host  what a launch, an import, a warm start and a compile cost; where there is a GPU, on it
  memory  on a GPU: kernels bound by its memory, beside PyTorch and plain copies
  gemm  on a GPU: bf16 matrix products, beside cuBLAS and Triton
  attention  on a GPU: attention's forward pass in bf16, beside FlashAttention and cuDNN
  chip  on a GPU: the rates and latencies that the chip's record holds, beside nothing

Each result is one JSON object a line: suite, case, implementation, milliseconds, rate, unit,
error (against a float64 reference). The table gives the ratio of our rate to each peer's, with
the ratio that was asked for. Results are checked before they are timed, and each implementation is
timed with all others at rest (measure.py says how).

Exit codes: 0 measured; 1 a peer is missing or of another version, or a result is wrong;
2 the command line is wrong; 3 with --strict, a ratio is below what was asked for.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import nullcontext
from pathlib import Path

HERE = Path(__file__).resolve().parent
GPU_SUITES = ("memory", "gemm", "attention", "chip")
PEERLESS = ("chip",)  # suites that stand on the driver alone


def has_gpu() -> bool:
    """Whether a driver is here that starts. No peer is imported for the question: they read their
    settings when they are."""
    import ctypes

    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/run.py", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("suite", choices=["cpu", "host", *GPU_SUITES])
    parser.add_argument("--json", metavar="FILE", help="write the lines here; - is standard output")
    parser.add_argument(
        "--threads", type=int, default=len(os.sched_getaffinity(0)), metavar="N",
        help="threads for every implementation (default: the cores of this process)",
    )  # fmt: skip
    parser.add_argument("--only", metavar="TEXT", help="only the cases whose name contains this")
    parser.add_argument(
        "--seconds", type=float, default=2.0, metavar="S",
        help="how long to time each implementation of a case (default: 2)",
    )  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="fail if a ratio is too low")
    options = parser.parse_args(arguments)
    if options.threads < 1:
        parser.error(f"expected at least one thread, got {options.threads}")
    return options


def set_environment(threads: int, on_gpu: bool) -> None:
    """Before any peer is imported, for that is when they read it."""
    for name in ("OMP", "OPENBLAS", "MKL", "KILN"):
        os.environ[f"{name}_NUM_THREADS"] = str(threads)
    os.environ["TRITON_INTERPRET"] = "0" if on_gpu else "1"


def lines(path: str | None):
    """Where the lines of JSON go."""
    if path is None or path == "-":
        return nullcontext(sys.stdout if path else None)
    return open(path, "w", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    is_host = options.suite == "host" and has_gpu()
    on_gpu = options.suite in GPU_SUITES or is_host
    module = "suite_host_gpu" if is_host else f"suite_{options.suite}"
    set_environment(options.threads, on_gpu)
    sys.path.insert(0, str(HERE))
    import peers

    has_peers = options.suite not in PEERLESS
    try:
        if has_peers:
            peers.require(HERE / ("requirements-gpu.txt" if on_gpu else "requirements.txt"))
    except peers.MissingPeer as error:
        print(f"error: {error}", file=sys.stderr)
        return 1

    import importlib

    suite = importlib.import_module(module)
    try:
        context = lines(options.json)
    except OSError as error:
        print(f"error: cannot write {options.json}: {error.strerror}", file=sys.stderr)
        return 2
    with context as output:
        # A suite's report is measure.py's, or its own.
        report = suite.Report("host on a GPU" if is_host else options.suite, output)
        if has_peers:
            print(f"{options.suite}: {peers.describe(options.threads)}", file=sys.stderr)
        try:
            suite.run(report, options)
        except AssertionError as error:
            if report.rows:  # of the cases before
                report.print_table()
            print(f"error: {error}", file=sys.stderr)
            return 1
    missed = report.print_table()
    return 3 if missed and options.strict else 0


if __name__ == "__main__":
    sys.exit(main())
