"""Suite `memory`: kernels that are bound by a GPU's memory, beside PyTorch and plain copies.

Each case says which bytes must move: every operand read once, every result written once, what all
rows share not counted. Its peers are PyTorch eager, torch.compile, `copy_` (the driver's memcpy)
of as many bytes in all, and a tuned copy kernel that reads and writes as much as the case does.
Asked for: 0.95 of the faster copy, 0.99 of the faster PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import memory_kernels as ours
import numpy as np
import torch
import torch.nn.functional as F
from device import Device, implementation_of_fastest
from measure import Case, Implementation, Report
from triton_copy import copies

ROWS, COLUMNS, CLASSES = 16384, 4096, 128256
COPY, TORCH = 0.95, 0.99


@dataclass
class Work:
    """One kernel's work.

    candidates  ways to launch ours, by what they are tuned with
    eager       the same in PyTorch; torch.compile is given this as well
    result      what ours wrote, on some rows (or columns, for a transpose), in float64
    reference   what it should have written there
    """

    name: str
    read: int
    written: int
    candidates: dict[str, Callable[[], Any]]
    eager: Callable[[], Any]
    result: Callable[[], np.ndarray]
    reference: Callable[[], np.ndarray]
    tolerance: float = 4e-3


def run(report: Report, options) -> None:
    device = Device()
    for make in WORKS:
        if (options.only or "") in make.__name__:
            work = make()
            report.run(to_case(device, work), device.time_in_turns)
            del work
            torch.cuda.empty_cache()


def to_case(device: Device, work: Work) -> Case:
    moved = work.read + work.written
    best = implementation_of_fastest(
        device, "kiln", work.candidates, result=work.result, tolerance=work.tolerance
    )
    compiled = torch.compile(work.eager, dynamic=False)
    copy = implementation_of_fastest(device, "copy", copies(work.read, work.written))
    source = torch.empty(moved // 2, dtype=torch.uint8, device="cuda").random_()
    target = torch.empty_like(source)
    return Case(
        work.name, moved, "GB/s",
        [
            best,
            Implementation("torch", work.eager),
            Implementation("torch.compile", compiled),
            Implementation("memcpy", lambda: target.copy_(source)),
            copy,
        ],
        work.reference,
        {"torch": TORCH, "torch.compile": TORCH, "memcpy": COPY, copy.name: COPY},
    )  # fmt: skip


# ===- The works -----------------------------------------------------------------------------===#


def rows_of(rows: int = ROWS) -> torch.Tensor:
    """Some rows on which to compare."""
    return torch.randint(rows, (64,), device="cuda")


def some(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.randn(*shape, device="cuda").to(dtype)


def exact(x: torch.Tensor) -> np.ndarray:
    return x.double().cpu().numpy()


def by_warps(launch: Callable[[int], Any], warps: tuple[int, ...] = (4, 8, 16)) -> dict:
    return {f"{w} warps": (lambda w=w: launch(w)) for w in warps}


def rmsnorm(columns: int = COLUMNS, block: int = COLUMNS, name: str = "RMSNorm") -> Work:
    x, weight, out, rows = some(ROWS, columns), some(columns), some(ROWS, columns), rows_of()

    def reference():
        t = exact(x[rows])
        return t / np.sqrt((t * t).mean(1, keepdims=True) + 1e-5) * exact(weight)

    return Work(
        name, x.nbytes, out.nbytes,
        by_warps(lambda w: ours.rmsnorm(x, weight, out, 1e-5, BLOCK=block, W=w)),
        lambda: F.rms_norm(x, (columns,), weight, 1e-5),
        lambda: exact(out[rows]), reference,
    )  # fmt: skip


def ragged_rmsnorm() -> Work:
    """Rows that are no multiple of 16 elements, but of 8."""
    return rmsnorm(5000, 8192, "RMSNorm of ragged extents (5000)")


def gather_of_rows() -> Work:
    """An embedding: rows of a table that lie anywhere."""
    table, out, rows = some(4 * ROWS, COLUMNS), some(ROWS, COLUMNS), rows_of()
    ids = torch.randint(len(table), (ROWS,), device="cuda", dtype=torch.int32)
    return Work(
        "gather of rows", out.nbytes, out.nbytes,
        {
            f"{r} rows of {b} by {w} warps": (
                lambda r=r, b=b, w=w: ours.gather_rows(table, ids, out, ROWS=r, BLOCK=b, W=w)
            )
            for r, b in ((1, 4096), (2, 2048), (4, 2048), (8, 1024))
            for w in (4, 8)
        },
        lambda: F.embedding(ids, table), lambda: exact(out[rows]), lambda: exact(table[ids[rows]]),
        0.0,
    )  # fmt: skip


def layernorm_dropout() -> Work:
    """The mask is not compared with PyTorch's, whose random numbers are others: `keep` is 1 for
    the check of LayerNorm's numbers; the examples check the mask."""
    x, residual, total, out = (some(ROWS, COLUMNS) for _ in range(4))
    weight, bias, rows = some(COLUMNS), some(COLUMNS), rows_of()

    def eager():
        h = F.dropout(x, 0.25, training=True) + residual
        return h, F.layer_norm(h, (COLUMNS,), weight, bias, 1e-5)

    def launch(w: int, keep: float = 0.75):
        ours.layernorm_dropout(
            x, residual, weight, bias, total, out, 7, keep, 1e-5, BLOCK=COLUMNS, W=w
        )

    def result():
        launch(8, 1.0)
        return exact(out[rows])

    def reference():
        h = exact(x[rows]) + exact(residual[rows])
        c = h - h.mean(1, keepdims=True)
        return c / np.sqrt((c * c).mean(1, keepdims=True) + 1e-5) * exact(weight) + exact(bias)

    return Work(
        "dropout + residual + LayerNorm", x.nbytes + residual.nbytes, total.nbytes + out.nbytes,
        by_warps(launch), eager, result, reference,
    )  # fmt: skip


def softmax() -> Work:
    x, out, rows = some(ROWS, COLUMNS), some(ROWS, COLUMNS), rows_of()

    def reference():
        t = exact(x[rows])
        e = np.exp(t - t.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    return Work(
        "softmax", x.nbytes, out.nbytes,
        by_warps(lambda w: ours.softmax(x, out, BLOCK=COLUMNS, W=w)),
        lambda: torch.softmax(x, 1), lambda: exact(out[rows]), reference,
    )  # fmt: skip


def swiglu() -> Work:
    gate, up, out, rows = some(ROWS, COLUMNS), some(ROWS, COLUMNS), some(ROWS, COLUMNS), rows_of()

    def reference():
        g = exact(gate[rows])
        return g / (1 + np.exp(-g)) * exact(up[rows])

    return Work(
        "SwiGLU", gate.nbytes + up.nbytes, out.nbytes,
        flat_candidates(lambda **k: ours.swiglu(gate.view(-1), up.view(-1), out.view(-1), **k)),
        lambda: F.silu(gate) * up, lambda: exact(out[rows]), reference,
    )  # fmt: skip


def gelu() -> Work:
    x, out, rows = some(ROWS, COLUMNS), some(ROWS, COLUMNS), rows_of()

    def reference():
        t = exact(x[rows])
        return 0.5 * t * (1 + np.vectorize(math.erf)(t / math.sqrt(2)))

    return Work(
        "GELU", x.nbytes, out.nbytes,
        flat_candidates(lambda **k: ours.gelu(x.view(-1), out.view(-1), **k)),
        lambda: F.gelu(x), lambda: exact(out[rows]), reference,
    )  # fmt: skip


def flat_candidates(launch: Callable[..., Any]) -> dict[str, Callable[[], Any]]:
    return {
        f"{block} by {w} warps": (lambda block=block, w=w: launch(BLOCK=block, W=w))
        for block in (1024, 2048, 4096, 8192)
        for w in (4, 8)
    }


def rope() -> Work:
    heads, positions, half = 8 * 32, 4096, 64
    x, out = some(heads, positions, 2 * half), some(heads, positions, 2 * half)
    angle = torch.outer(
        torch.arange(positions, device="cuda"),
        10000.0 ** (-torch.arange(half, device="cuda") / half),
    )
    cos, sin, rows = angle.cos().bfloat16(), angle.sin().bfloat16(), rows_of(heads)[:2]

    def eager():
        low, high = x[..., :half], x[..., half:]
        return torch.cat([low * cos - high * sin, high * cos + low * sin], -1)

    def reference():
        low, high = exact(x[rows, :, :half]), exact(x[rows, :, half:])
        c, s = exact(cos), exact(sin)
        return np.concatenate([low * c - high * s, high * c + low * s], -1)

    return Work(
        "RoPE 8x32x4096x128", x.nbytes, out.nbytes,
        {
            f"{r} rows by {w} warps": (
                lambda r=r, w=w: ours.rope(x, cos, sin, out, HALF=half, ROWS=r, W=w)
            )
            for r in (16, 32, 64)
            for w in (4, 8)
        },
        eager, lambda: exact(out[rows]), reference,
    )  # fmt: skip


def cross_entropy() -> Work:
    logits, rows = some(4096, CLASSES), rows_of(4096)
    labels = torch.randint(CLASSES, (4096,), device="cuda")
    loss = torch.empty(4096, device="cuda")

    def reference():
        t = exact(logits[rows])
        top = t.max(1)
        picked = t[np.arange(len(t)), labels[rows].cpu().numpy()]
        return np.log(np.exp(t - top[:, None]).sum(1)) + top - picked

    return Work(
        "cross-entropy 4096x128256", logits.nbytes, loss.nbytes,
        {
            f"{block} by {w} warps": (
                lambda block=block, w=w: ours.cross_entropy(logits, labels, loss, BLOCK=block, W=w)
            )
            for block in (2048, 4096, 8192, 16384)
            for w in (4, 8, 16)
        },
        lambda: F.cross_entropy(logits.float(), labels, reduction="none"),
        lambda: exact(loss[rows]), reference, 1e-5,
    )  # fmt: skip


def quantise_f8() -> Work:
    x, rows = some(ROWS, COLUMNS), rows_of()
    out = torch.empty(ROWS, COLUMNS, dtype=torch.float8_e4m3fn, device="cuda")
    scales = torch.empty(ROWS, device="cuda")

    def eager():
        largest = x.abs().amax(1, keepdim=True).float().clamp_min(1e-30)
        return (x.float() * (448.0 / largest)).to(torch.float8_e4m3fn), largest / 448.0

    return Work(
        "quantise to f8, by rows", x.nbytes, out.nbytes + scales.nbytes,
        by_warps(lambda w: ours.quantise_f8(x, out, scales, BLOCK=COLUMNS, W=w)), eager,
        lambda: exact(out[rows].float()) * exact(scales[rows])[:, None],
        lambda: exact(x[rows]), 0.04,
    )  # fmt: skip


def quantise_mxfp4() -> Work:
    """PyTorch has no conversion to f4, nor has this chip: its peer finds the nearest of eight
    values by seven comparisons, ties to even, and packs two codes to a byte, all of which
    torch.compile may fuse into one kernel."""
    x, rows = some(ROWS, COLUMNS), rows_of()
    out = torch.empty(ROWS, COLUMNS // 2, dtype=torch.uint8, device="cuda")
    scales = torch.empty(ROWS, COLUMNS // 32, dtype=torch.uint8, device="cuda")
    packed = out.view(torch.float4_e2m1fn_x2)
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])

    def eager():
        groups = x.view(ROWS, -1, 32)
        largest = groups.abs().amax(2, keepdim=True)
        # The exponent of f8E8M0FNU, from the pattern of the bf16.
        exponent = ((largest.view(torch.int16) >> 7) - 2).clamp_min(1)
        scaled = groups * ((254 - exponent) << 7).view(torch.bfloat16)
        size = scaled.abs()
        code = (size > 0.25).to(torch.uint8)
        for i, tie in enumerate((0.75, 1.25, 1.75, 2.5, 3.5, 5.0)):
            code += size >= tie if i % 2 == 0 else size > tie
        code = code | (scaled < 0).to(torch.uint8) << 3
        code = code.view(ROWS, COLUMNS // 2, 2)
        return code[..., 0] | code[..., 1] << 4, exponent.to(torch.uint8)

    def result():
        codes = out[rows].cpu().numpy()
        codes = np.stack([codes & 15, codes >> 4], -1).reshape(len(rows), -1)
        restored = values[codes & 7] * np.where(codes & 8, -1, 1)
        return restored * np.exp2(np.repeat(scales[rows].cpu().numpy().astype(float), 32, 1) - 127)

    def reference():
        groups = exact(x[rows]).reshape(len(rows), -1, 32)
        scale = np.exp2(np.floor(np.log2(np.abs(groups).max(2, keepdims=True))) - 2)
        scaled = groups / scale
        step = np.exp2(np.clip(np.floor(np.log2(np.abs(scaled) + 1e-30)), 0, 2) - 1)
        nearest = np.clip(np.rint(scaled / step) * step, -6, 6)
        return (nearest * scale).reshape(len(rows), -1)

    return Work(
        "quantise to MXFP4, by rows", x.nbytes, out.nbytes + scales.nbytes,
        {
            f"{programs} programs of {w} warps": (
                lambda programs=programs, w=w: ours.quantise_mxfp4(
                    x, packed, scales, BLOCK=COLUMNS, W=w, PROGRAMS=programs
                )
            )
            for programs in (1056, 2048, 4096, 8192)
            for w in (4, 8)
        },
        eager, result, reference, 0.0,
    )  # fmt: skip


def transpose() -> Work:
    x, out, rows = some(ROWS, COLUMNS), some(COLUMNS, ROWS), rows_of()
    return Work(
        "transpose", x.nbytes, out.nbytes,
        {
            f"{r}x{c} by {w} warps": (
                lambda r=r, c=c, w=w: ours.transpose(x, out, ROWS=r, COLUMNS=c, W=w)
            )
            for r, c in ((64, 64), (128, 64), (64, 128), (128, 128))
            for w in (4, 8)
        },
        lambda: x.t().contiguous(), lambda: exact(out[:, rows]), lambda: exact(x[rows]).T, 0.0,
    )  # fmt: skip


def cumsum() -> Work:
    x, out, rows = some(ROWS, COLUMNS), some(ROWS, COLUMNS), rows_of()
    return Work(
        "cumulative sum of rows", x.nbytes, out.nbytes,
        by_warps(lambda w: ours.cumsum(x, out, BLOCK=COLUMNS, W=w)),
        lambda: torch.cumsum(x, 1), lambda: exact(out[rows]),
        lambda: np.cumsum(exact(x[rows]), 1),
    )  # fmt: skip


WORKS: tuple[Callable[[], Work], ...] = (
    rmsnorm, layernorm_dropout, softmax, swiglu, gelu, rope, cross_entropy, quantise_f8,
    quantise_mxfp4, transpose, cumsum, ragged_rmsnorm, gather_of_rows,
)  # fmt: skip
