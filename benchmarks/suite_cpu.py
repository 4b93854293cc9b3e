"""Suite `cpu`: kernels on this machine beside NumPy, PyTorch and Triton's interpreter.

Matrix products are held against NumPy's BLAS; what only moves memory against a plain copy on
the same threads, by bytes a second; single operations against theirs (operations.py); and all of it
against the same kernels, with the same blocks, in Triton's interpreter, which is how a Triton
kernel runs on a machine without a GPU. How each is timed alone, whatever threads the others leave
behind, is told in measure.py.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import kernels
import ml_dtypes
import numpy as np
import torch
import triton_kernels
from measure import Case, Implementation, Report
from operations import operations

GEMM = {"BM": 256, "BN": 256, "BK": 256}  # a tile of each operand fits the second cache
BLOCKS = {"BM": 64, "BN": 64, "BK": 64}  # what suits the interpreter as well as us
INTERPRETER = {"elementwise": 50.0, "matmul": 5.0}


def run(report: Report, options) -> None:
    rng = np.random.default_rng()
    for make in (gemms, bandwidths, operations, interpreted):
        for case in make(rng, options.threads, options.only or ""):
            case.seconds = options.seconds
            report.run(case)


def wanted(name: str, only: str) -> bool:
    return only in name


# ===- Matrix products -------------------------------------------------------------------------===#


def gemms(rng, threads: int, only: str):
    for n in (1024, 4096):
        for make in (gemm_f32, gemm_bf16):
            if wanted(f"{make.__name__.replace('_', ' ')} {n}", only):
                yield make(rng, n)


def gemm_f32(rng, n: int) -> Case:
    a, b = rng.standard_normal((2, n, n), dtype=np.float32)
    c, d = np.empty((2, n, n), np.float32)
    ta, tb, tc = torch.from_numpy(a), torch.from_numpy(b), torch.empty(n, n)
    return Case(
        f"gemm f32 {n}", 2.0 * n**3, "GFLOP/s",
        [
            Implementation("kiln", lambda: kernels.matmul(a, b, c, **GEMM), lambda: c),
            Implementation("numpy", lambda: np.matmul(a, b, out=d), lambda: d),
            Implementation("torch", lambda: torch.mm(ta, tb, out=tc), tc.numpy),
        ],
        lambda: a.astype(np.float64) @ b.astype(np.float64),
        {"numpy": 0.33},
    )  # fmt: skip


def gemm_bf16(rng, n: int) -> Case:
    """Beside our own f32, which is what bf16 must keep up with."""
    a, b = rng.standard_normal((2, n, n), dtype=np.float32).astype(ml_dtypes.bfloat16)
    fa, fb = a.astype(np.float32), b.astype(np.float32)
    c, fc = np.empty((n, n), ml_dtypes.bfloat16), np.empty((n, n), np.float32)
    ta, tb = torch.from_numpy(fa).bfloat16(), torch.from_numpy(fb).bfloat16()
    tc = torch.empty(n, n, dtype=torch.bfloat16)
    return Case(
        f"gemm bf16 {n}", 2.0 * n**3, "GFLOP/s",
        [
            Implementation("kiln", lambda: kernels.matmul(a, b, c, **GEMM), lambda: c, 4e-3),
            Implementation("kiln f32", lambda: kernels.matmul(fa, fb, fc, **GEMM), lambda: fc),
            Implementation(
                "torch", lambda: torch.mm(ta, tb, out=tc), lambda: tc.float().numpy(), 4e-3
            ),
        ],
        lambda: a.astype(np.float64) @ b.astype(np.float64),
        {"kiln f32": 0.8},
    )  # fmt: skip


# ===- Memory ----------------------------------------------------------------------------------===#


class Copy:
    """`np.copyto` of equal parts on the given number of threads; NumPy releases the lock."""

    def __init__(self, source: np.ndarray, target: np.ndarray, threads: int):
        self.parts = list(
            zip(np.array_split(target, threads), np.array_split(source, threads), strict=True)
        )
        self.pool = ThreadPoolExecutor(threads)

    def __call__(self) -> None:
        for _ in self.pool.map(lambda part: np.copyto(*part), self.parts):
            pass


def bandwidths(rng, threads: int, only: str):
    megabytes = 64  # an array: well beyond the caches
    n = megabytes * 2**20 // 4
    source, target = rng.standard_normal(n, dtype=np.float32), np.empty(n, np.float32)
    copy = Copy(source, target, threads)

    def against_copy(name: str, work: float, implementations: list, reference) -> Case:
        plain = Implementation("copy", copy, work=2.0 * source.nbytes)
        return Case(name, work, "GB/s", [*implementations, plain], reference, {"copy": 0.67})

    if wanted("vector add f32", only):
        x, y = source, rng.standard_normal(n, dtype=np.float32)
        out = np.empty_like(x)
        tx, ty, tout = torch.from_numpy(x), torch.from_numpy(y), torch.empty(n)
        yield against_copy(
            f"vector add f32, {megabytes} MiB", 3.0 * x.nbytes,
            [
                Implementation("kiln", lambda: kernels.add(x, y, out), lambda: out),
                Implementation(
                    "torch", lambda: torch.add(tx, ty, out=tout), tout.numpy
                ),
                Implementation("numpy", lambda: np.add(x, y, out=out)),
            ],
            lambda: x.astype(np.float64) + y,
        )  # fmt: skip

    rows, columns = n // 4096, 4096
    x = source.reshape(rows, columns)
    out = np.empty_like(x)
    tx = torch.from_numpy(x)
    if wanted("softmax f32", only):
        yield against_copy(
            f"softmax f32, {rows} x {columns}", 2.0 * x.nbytes,
            [
                Implementation("kiln", lambda: kernels.softmax(x, out, BLOCK=4096), lambda: out),
                Kept("torch", lambda: torch.softmax(tx, 1)),
            ],
            lambda: reference_softmax(x),
        )  # fmt: skip
    if wanted("RMSNorm f32", only):
        weight = rng.standard_normal(columns, dtype=np.float32)
        tw = torch.from_numpy(weight)
        yield against_copy(
            f"RMSNorm f32, {rows} x {columns}", 2.0 * x.nbytes,
            [
                Implementation(
                    "kiln", lambda: kernels.rmsnorm(x, weight, out, 1e-5, BLOCK=4096), lambda: out
                ),
                Kept("torch", lambda: torch.nn.functional.rms_norm(tx, (columns,), tw, 1e-5)),
            ],
            lambda: reference_rmsnorm(x, weight),
        )  # fmt: skip


class Kept(Implementation):
    """One that returns its result."""

    def __init__(self, name: str, function, tolerance: float = 1e-5):
        def once():
            self.kept = function()

        super().__init__(name, once, lambda: np.asarray(self.kept), tolerance)


def reference_softmax(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def reference_rmsnorm(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5) * weight


# ===- Triton's interpreter --------------------------------------------------------------------===#


def interpreted(rng, threads: int, only: str):
    def pair(name, work, unit, ours, theirs, arrays, arguments, reference, target):
        """The last array is the result; Triton gets its own copy of all."""
        tensors = [torch.from_numpy(array.copy()) for array in arrays]
        values, constants = arguments
        return Case(
            f"{name}, interpreter", work, unit,
            [
                Implementation("kiln", lambda: ours(*arrays, *values, **constants),
                               lambda: arrays[-1]),
                Implementation("triton interpreter", lambda: theirs(*tensors, *values, **constants),
                               tensors[-1].numpy),
            ],
            reference, {"triton interpreter": target},
        )  # fmt: skip

    n = 1 << 20
    if wanted("vector add, interpreter", only):
        x, y = rng.standard_normal((2, n), dtype=np.float32)
        yield pair(
            "vector add", 12.0 * n, "GB/s", kernels.add, triton_kernels.add,
            [x, y, np.empty_like(x)], ((), {"BLOCK": 4096}),
            lambda: x.astype(np.float64) + y, INTERPRETER["elementwise"],
        )  # fmt: skip
    m = rng.standard_normal((1024, 1024), dtype=np.float32)
    if wanted("softmax, interpreter", only):
        yield pair(
            "softmax", 8.0 * n, "GB/s", kernels.softmax, triton_kernels.softmax,
            [m, np.empty_like(m)], ((), {"BLOCK": 1024}),
            lambda: reference_softmax(m), INTERPRETER["elementwise"],
        )  # fmt: skip
    if wanted("RMSNorm, interpreter", only):
        weight = rng.standard_normal(1024, dtype=np.float32)
        yield pair(
            "RMSNorm", 8.0 * n, "GB/s", kernels.rmsnorm, triton_kernels.rmsnorm,
            [m, weight, np.empty_like(m)], ((1e-5,), {"BLOCK": 1024}),
            lambda: reference_rmsnorm(m, weight), INTERPRETER["elementwise"],
        )  # fmt: skip
    if wanted("matmul, interpreter", only):
        a, b = rng.standard_normal((2, 512, 512), dtype=np.float32)
        yield pair(
            "matmul", 2.0 * 512**3, "GFLOP/s", kernels.matmul, triton_kernels.matmul,
            [a, b, np.empty_like(a)], ((), BLOCKS),
            lambda: a.astype(np.float64) @ b, INTERPRETER["matmul"],
        )  # fmt: skip
    if wanted("attention, interpreter", only):
        heads, length, d = 4, 512, 64
        q, k, v = rng.standard_normal((3, heads, length, d), dtype=np.float32)
        yield pair(
            "attention", 4.0 * heads * length**2 * d, "GFLOP/s",
            kernels.attention, triton_kernels.attention,
            [q, k, v, np.empty_like(q)], ((d**-0.5,), {"BM": 64, "BN": 64, "D": d}),
            lambda: reference_attention(q, k, v), INTERPRETER["matmul"],
        )  # fmt: skip


def reference_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    score = q @ k.swapaxes(1, 2) * q.shape[2] ** -0.5
    p = np.exp(score - score.max(axis=2, keepdims=True))
    return p / p.sum(axis=2, keepdims=True) @ v
