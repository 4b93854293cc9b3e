"""Suite `attention`: bf16 attention's forward pass, heads of 128, on a GPU, beside PyTorch's.

Our kernel is attention.mlir, whose decisions are pinned to sm_90a: a persistent grid, one role that
loads by the tensor copy engine, two copies of one that multiplies. "python" is the same kernel
written in Python and pinned by `kiln.pin`, "plain" one that pins nothing. Its peers are the
backends of `scaled_dot_product_attention`, each asked for alone: FlashAttention 2 ("flash") and
cuDNN ("cudnn"). All get the same arrays; PyTorch's allocate their results, from its cache.

A case has 16384 queries a head in all, over the batch. Half of a causal case's products count as
work, whatever an implementation computes. A peer that this PyTorch or this chip does not have is
left out, and the suite fails in the end by its name.

Inputs are fresh and normally distributed: zeros would let the chip draw less power and run faster.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from pathlib import Path

import pinned_kernels
import plain_kernels
import torch
import torch.nn.functional as F
from bursts import LAUNCHES, REST, report_regimes
from measure import Measurement, Report
from mlir_kernel import MLIRKernel
from torch.nn.attention import SDPBackend, sdpa_kernel

TOKENS, HEADS, HEAD = 16384, 16, 128
SIZES = (4096, 8192, 16384)
PEERS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
ASKED = 0.97  # of each peer's rate, in each case
ASKED_OF_ALL = {"burst": 1.0, "sustained": 0.98}  # of cuDNN's, geometric means over all cases
TOLERANCE = 5e-3  # of bf16's rounding
ROW_TOLERANCE = 1e-2  # the same of the worst row


def run(report: Report, options) -> None:
    if not torch.cuda.is_available():
        raise AssertionError("expected a GPU that PyTorch can use, got none")
    if torch.cuda.get_device_capability() != (9, 0):
        raise AssertionError(
            "expected a GPU of compute capability 9.0, to which the kernel is pinned, got "
            f"{torch.cuda.get_device_name()}"
        )
    kernel = MLIRKernel(Path(__file__).with_name("attention.mlir"))
    print(
        f"{torch.cuda.get_device_name()}: our kernel has {kernel.registers} registers a thread at "
        f"its start and {kernel.local_bytes} bytes of spills; bursts of {LAUNCHES} after "
        f"{REST} s, no flush: the four arrays exceed the second-level cache"
    )
    kernels = {"kiln": kernel, "python": pinned_kernels.attention, "plain": plain}
    missing: dict[str, str] = {}
    first = len(report.rows)
    for size in SIZES:
        for causal in (False, True):
            name = name_of(size, causal)
            if (options.only or "") in name:
                inputs = [
                    torch.randn(TOKENS // size, HEADS, size, HEAD, device="cuda").bfloat16()
                    for _ in range(3)
                ]
                missing |= measure(report, name, inputs, causal, kernels, options.seconds)
    if not options.only and "cudnn" not in missing:
        report_means(report, report.rows[first:])
    if missing:
        whom = "; ".join(f"{who}: {why}" for who, why in missing.items())
        raise AssertionError(f"expected peers {' and '.join(PEERS)}, got none of {whom}")


def plain(q, k, v, out, n: int, causal: int) -> None:
    exponent = math.log2(math.e) / math.sqrt(HEAD)
    plain_kernels.attention(q, k, v, out, n, exponent, CAUSAL=bool(causal), D=HEAD)


def name_of(size: int, causal: bool) -> str:
    return f"attention bf16 d{HEAD} {size} {'causal' if causal else 'full'}"


def work_of(batch: int, heads: int, size: int, head: int, causal: bool) -> float:
    """Floating-point operations of two products, half of them where a query sees no later key."""
    return 4.0 * batch * heads * size**2 * head / (2 if causal else 1)


def errors_of(out: torch.Tensor, inputs: list[torch.Tensor], causal: bool) -> tuple[float, float]:
    """‖out − reference‖ / ‖reference‖ in float64, of all and of the worst row, by strips."""
    size, head = out.shape[-2:]
    lost = total = worst = 0.0
    heads = zip(*(x.reshape(-1, size, head) for x in (out, *inputs)), strict=True)
    for got, q, k, v in heads:
        keys, values = k.double(), v.double()
        for rows in torch.arange(size, device=out.device).split(1024):
            scores = q[rows].double() @ keys.T / head**0.5
            if causal:
                later = torch.arange(size, device=out.device) > rows[:, None]
                scores.masked_fill_(later, float("-inf"))
            reference = scores.softmax(1) @ values
            difference = (got[rows].double() - reference).square().sum(1)
            norm = reference.square().sum(1)
            # A NaN shows in the sums: the greatest of Python's numbers would not be one.
            lost += float(difference.sum())
            total += float(norm.sum())
            worst = max(worst, float((difference / norm).max()))
    return (lost / total) ** 0.5, worst**0.5


def peer(backend: SDPBackend, inputs: list[torch.Tensor], causal: bool) -> torch.Tensor:
    with sdpa_kernel([backend]):
        return F.scaled_dot_product_attention(*inputs, is_causal=causal)


def measure(
    report: Report, name: str, inputs: list[torch.Tensor], causal: bool,
    kernels: dict[str, Callable[..., None]], seconds: float,
) -> dict[str, str]:  # fmt: skip
    """The peers that are not here, and why."""
    batch, heads, size, head = inputs[0].shape
    results: dict[str, torch.Tensor] = {}
    runs: dict[str, Callable[[], object]] = {}
    for who, kernel in kernels.items():
        out = results[who] = torch.full_like(inputs[0], float("nan"))
        # The kernels' heads lie below one another.
        arguments = [*(x.view(-1, head) for x in (*inputs, out)), size, int(causal)]
        runs[who] = lambda kernel=kernel, arguments=arguments: kernel(*arguments)
        runs[who]()
    missing = {}
    for who, backend in PEERS.items():
        try:
            results[who] = peer(backend, inputs, causal)
        except RuntimeError as error:
            missing[who] = str(error).partition("\n")[0]
            continue
        runs[who] = lambda backend=backend: peer(backend, inputs, causal)
    errors = {}
    for who, result in results.items():
        errors[who], worst = errors_of(result, inputs, causal)
        if not (errors[who] <= TOLERANCE and worst <= ROW_TOLERANCE):
            raise AssertionError(
                f"{name}: expected {who} within {TOLERANCE:.1e} of the reference and each row "
                f"within {ROW_TOLERANCE:.1e}, got {errors[who]:.1e} and {worst:.1e}"
            )
    results.clear()
    work = work_of(batch, heads, size, head, causal)
    asked = dict.fromkeys(ASKED_OF_ALL, dict.fromkeys(PEERS, ASKED))
    report_regimes(report, name, runs, work, errors, asked, seconds)
    return missing


def report_means(report: Report, rows: list[Measurement]) -> None:
    """Geometric means over the cases, of what cuDNN takes and of our rate over its, by regime."""
    for regime, asked in ASKED_OF_ALL.items():
        of = [r for r in rows if r.implementation == "cudnn" and r.case.endswith(regime)]
        mean = statistics.geometric_mean
        seconds = mean([r.milliseconds for r in of]) * 1e-3
        report.add(
            f"attention bf16 d{HEAD}, geometric mean, {regime}", "cudnn", seconds,
            mean([r.rate for r in of]) * 1e9 * seconds, "GFLOP/s", max(r.error for r in of),
            mean([r.ratio for r in of]), asked,
        )  # fmt: skip
