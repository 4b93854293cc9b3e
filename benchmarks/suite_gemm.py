"""Suite `gemm`: bf16 matrix products, A·Bᵀ, on a GPU, beside cuBLAS and Triton.

Our kernel is gemm.mlir, whose decisions are pinned: a persistent grid, one role that loads by the
tensor copy engine, two copies of one that multiplies. "python" is the same kernel written in Python
and pinned by `kiln.pin`, "plain" one that pins nothing, "256x192" the pinned one with larger tiles,
which the largest size has alone beside cuBLAS, "in turn 128x192" and the like two copies that take
tiles in turn. "streamed" is the pinned one, whose programs share the trips of the last tiles out
evenly, in sizes whose tiles they do not divide. "even" is a kernel that launches no more programs
than run the tiles in as few rounds, beside one program a multiprocessor: `--only even`. Clusters
that share operands out, "2x1" along m and "1x2" along n, are measured where they are asked for:
`--only clusters`. cuBLAS is reached through PyTorch; Triton's kernel is persistent and loads by
tensor descriptors, the best of a few configurations.

Inputs are fresh and normally distributed: zeros would let the chip draw less power and run faster.
"""

from __future__ import annotations

from pathlib import Path

import pinned_kernels
import plain_kernels
import torch
import triton_gemm
from bursts import LAUNCHES, REST, report_regimes
from measure import Report
from mlir_kernel import MLIRKernel

SIZES = (4096, 8192)
LARGEST = 16384
# m, n and k whose tiles of 128 by 256, on 132 multiprocessors, are 3.9, 1.2 and 0.2 a program.
AWKWARD = ((4096, 4096, 4096), (2304, 2304, 8192), (1024, 1024, 16384))
# Rows and columns of tiles of 128 by 256, and k.
UNEVEN = [
    (rows, columns, k)
    for rows, columns in ((19, 7), (20, 10), (20, 15), (20, 20), (53, 10), (40, 30), (64, 32))
    for k in (512, 4096)
]
ASKED = {4096: 1.09, 8192: 1.04, LARGEST: 1.02}  # of cuBLAS's rate, in bursts
TOLERANCE = 4e-3  # of bf16's rounding
# Of copies that take tiles in turn: rows and columns of a tile, and slots.
IN_TURN = {
    "in turn 64x256": (64, 256, 4),
    "in turn 128x128": (128, 128, 5),
    "in turn 128x192": (128, 192, 4),
}


def run(report: Report, options) -> None:
    if not torch.cuda.is_available():
        raise AssertionError("expected a GPU that PyTorch can use, got none")
    kernel = MLIRKernel(Path(__file__).with_name("gemm.mlir"))
    print(
        f"{torch.cuda.get_device_name()}: our kernel has {kernel.registers} registers a thread at "
        f"its start and {kernel.local_bytes} bytes of spills; bursts of {LAUNCHES} after "
        f"{REST} s, no flush: the three arrays exceed the second-level cache"
    )
    for size in SIZES:
        name = f"gemm bf16 A·Bᵀ {size}"
        if (options.only or "") in name:
            measure(report, name, size, kernel, options.seconds)
    for size in SIZES:
        name = f"gemm bf16 A·Bᵀ {size} clusters"
        if options.only and options.only in name and "clusters" in options.only:
            measure_clusters(report, name, size, options.seconds)
    for rows, columns, k in UNEVEN:
        name = f"even gemm bf16 A·Bᵀ {rows}x{columns} tiles {k}"
        if options.only and options.only in name and "even" in options.only:
            measure_even(report, name, rows, columns, k, options.seconds)
    name = f"gemm bf16 A·Bᵀ {LARGEST}"
    if (options.only or "") in name:
        measure_largest(report, name, LARGEST, options.seconds)
    for m, n, k in AWKWARD:
        name = f"streamed gemm bf16 A·Bᵀ {m}x{n}x{k}"
        if (options.only or "") in name:
            measure_streamed(report, name, m, n, k, options.seconds)


def error_of(c: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> float:
    """‖c − a·bᵀ‖ / ‖a·bᵀ‖ in float64, by strips of rows."""
    lost = total = 0.0
    for rows in torch.arange(len(a), device=a.device).split(1024):
        reference = a[rows].double() @ b.double().T
        lost += float((c[rows].double() - reference).square().sum())
        total += float(reference.square().sum())
    return (lost / total) ** 0.5


def measure(report: Report, name: str, size: int, kernel: MLIRKernel, seconds: float) -> None:
    a, b = (torch.randn(size, size, device="cuda").bfloat16() for _ in range(2))
    names = ("kiln", "python", "plain", "cublas", "triton", *IN_TURN)
    outputs = {who: torch.empty_like(a) for who in names}
    triton_run = triton_gemm.best(a, b, outputs["triton"])
    runs = {
        "kiln": lambda: kernel(a, b, outputs["kiln"]),
        "python": lambda: pinned_kernels.gemm(a, b, outputs["python"]),
        "plain": lambda: plain_kernels.gemm(a, b.T, outputs["plain"]),
        "cublas": lambda: torch.matmul(a, b.T, out=outputs["cublas"]),
        "triton": triton_run,
        **{who: in_turn(a, b, outputs[who], *tile) for who, tile in IN_TURN.items()},
    }
    errors = check(name, runs, outputs, a, b)
    asked = {"burst": {"cublas": ASKED[size]}}
    report_regimes(report, name, runs, 2.0 * size**3, errors, asked, seconds)


def in_turn(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, rows: int, columns: int, slots: int):
    def once() -> None:
        pinned_kernels.gemm_in_turn(a, b, c, rows=rows, columns=columns, slots=slots)

    return once


def measure_largest(report: Report, name: str, size: int, seconds: float) -> None:
    a, b = (torch.randn(size, size, device="cuda").bfloat16() for _ in range(2))
    outputs = {who: torch.empty_like(a) for who in ("256x192", "cublas")}
    runs = {
        "256x192": lambda: pinned_kernels.large_gemm(a, b, outputs["256x192"]),
        "cublas": lambda: torch.matmul(a, b.T, out=outputs["cublas"]),
    }
    errors = check(name, runs, outputs, a, b)
    asked = {"burst": {"cublas": ASKED[size]}}
    report_regimes(report, name, runs, 2.0 * size**3, errors, asked, seconds)


def measure_streamed(report: Report, name: str, m: int, n: int, k: int, seconds: float) -> None:
    """Beside whole tiles, and beside four programs a tile."""
    a, b = (torch.randn(rows, k, device="cuda").bfloat16() for rows in (m, n))
    shares = {
        "streamed": "stream", "streamed, atomic": ("stream", "atomic"), "whole tiles": None,
        "four a tile": 4,
    }  # fmt: skip
    outputs = {who: a.new_empty(m, n) for who in (*shares, "cublas")}
    runs = {
        who: lambda share=share, who=who: pinned_kernels.gemm(a, b, outputs[who], SHARE=share)
        for who, share in shares.items()
    }
    runs["cublas"] = lambda: torch.matmul(a, b.T, out=outputs["cublas"])
    errors = check(name, runs, outputs, a, b)
    report_regimes(report, name, runs, 2.0 * m * n * k, errors, {}, seconds)


def measure_even(
    report: Report, name: str, rows: int, columns: int, k: int, seconds: float
) -> None:
    m, n = 128 * rows, 256 * columns
    a, b = (torch.randn(extent, k, device="cuda").bfloat16() for extent in (m, n))
    outputs = {who: a.new_empty(m, n) for who in ("even", "each")}
    runs = {
        "even": lambda: pinned_kernels.gemm(a, b, outputs["even"]),
        "each": lambda: pinned_kernels.gemm(a, b, outputs["each"], EVEN=False),
    }
    errors = check(name, runs, outputs, a, b)
    report_regimes(report, name, runs, 2.0 * m * n * k, errors, {}, seconds)


def measure_clusters(report: Report, name: str, size: int, seconds: float) -> None:
    a, b = (torch.randn(size, size, device="cuda").bfloat16() for _ in range(2))
    outputs = {}
    runs = {}

    def add(who: str, run) -> None:
        out = outputs[who] = torch.empty_like(a)
        runs[who] = lambda: run(out)

    add("alone", lambda c: pinned_kernels.gemm(a, b, c))
    for x, y in ((2, 1), (1, 2)):
        add(f"{x}x{y}", lambda c, x=x, y=y: pinned_kernels.clustered_gemm(a, b, c, X=x, Y=y))
    # Clusters of four fill 120 of an H200's multiprocessors.
    add("2x2", lambda c: pinned_kernels.clustered_gemm(a, b, c, X=2, Y=2, programs=120))
    # By tiles of 256 by 128, of which each copy makes 128 rows.
    for x, y in ((2, 1), (1, 2)):
        add(
            f"{x}x{y} 256x128",
            lambda c, x=x, y=y: pinned_kernels.clustered_gemm(a, b, c, X=x, Y=y, BM=256, BN=128),
        )
    add("cublas", lambda c: torch.matmul(a, b.T, out=c))
    errors = check(name, runs, outputs, a, b)
    report_regimes(report, name, runs, 2.0 * size**3, errors, {}, seconds)


def check(
    name: str, runs: dict, outputs: dict[str, torch.Tensor], a: torch.Tensor, b: torch.Tensor
) -> dict[str, float]:
    """Runs each once; how far each is off."""
    errors = {}
    for who, once in runs.items():
        outputs[who].fill_(float("nan"))
        once()
        errors[who] = error_of(outputs[who], a, b)
        if not errors[who] <= TOLERANCE:
            raise AssertionError(
                f"{name}: expected {who} within {TOLERANCE:.1e} of the reference, "
                f"got {errors[who]:.1e}"
            )
    return errors
