"""Small runs of each kernel of benchmarks/ but those of memory_kernels.py and those that are pinned,
against float64."""

from __future__ import annotations

from typing import Any

import memory_runs
import numpy as np
import pinned_runs
from every_kernel import Case, Run, check, exact, module_of, normal, poisoned

import kiln

F32 = np.float32


def add(run: Run, rng: np.random.Generator) -> None:
    (x, y), out = normal(rng, 2, 700, dtype=F32), poisoned(700, dtype=F32)
    run("add", x, y, out, BLOCK=256)
    check(out, exact(x) + y, 1e-7)


def softmax(run: Run, rng: np.random.Generator) -> None:
    x, out = normal(rng, 3, 200, dtype=F32), poisoned(3, 200, dtype=F32)
    run("softmax", x, out, BLOCK=256)
    e = np.exp(exact(x) - exact(x).max(1, keepdims=True))
    check(out, e / e.sum(1, keepdims=True), 1e-6)


def rmsnorm(run: Run, rng: np.random.Generator) -> None:
    x, weight = normal(rng, 3, 200, dtype=F32), normal(rng, 200, dtype=F32)
    out = poisoned(3, 200, dtype=F32)
    run("rmsnorm", x, weight, out, 1e-5, BLOCK=256)
    t = exact(x)
    check(out, t / np.sqrt((t * t).mean(1, keepdims=True) + 1e-5) * weight, 1e-6)


def matmul(run: Run, rng: np.random.Generator) -> None:
    a, b, c = normal(rng, 72, 88), normal(rng, 88, 136), poisoned(72, 136)
    run("matmul", a, b, c, BM=64, BN=64, BK=32)
    check(c, exact(a) @ exact(b))


def weights_of(scores: np.ndarray) -> np.ndarray:
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(run: Run, rng: np.random.Generator) -> None:
    (q, k, v), out = normal(rng, 3, 2, 40, 32, dtype=F32), poisoned(2, 40, 32, dtype=F32)
    run("attention", q, k, v, out, 0.25, BM=32, BN=32, D=32)
    scores = exact(q) @ exact(k).swapaxes(1, 2) * 0.25
    check(out, weights_of(scores) @ exact(v), 2e-6)


def empty(run: Run, rng: np.random.Generator) -> None:
    a, b, c = normal(rng, 3, 4, 4, dtype=F32)
    before = c.copy()
    run("empty", a, b, c, 1, 2)
    assert np.array_equal(c, before)


def elementwise(run: Run, rng: np.random.Generator) -> None:
    """The maker of kernels, with a function that no other of these has."""
    x, out = rng.uniform(-3, 3, 700).astype(F32), poisoned(700, dtype=F32)
    run(module_of("benchmarks", "operation_kernels").elementwise(kiln.sin), x, out, BLOCK=512)
    check(out, np.sin(exact(x)), 1e-6)


def remainder(run: Run, rng: np.random.Generator) -> None:
    (x, y), out = rng.uniform(0.1, 50, (2, 700)).astype(F32), poisoned(700, dtype=F32)
    run("remainder", x, y, out, BLOCK=512)
    check(out, np.remainder(exact(x), exact(y)), 1e-6)


def divide(run: Run, rng: np.random.Generator) -> None:
    x = rng.integers(-(2**31), 2**31, 700).astype(np.int32)
    out = np.zeros_like(x)
    run("divide", x, 7, out, BLOCK=512)
    assert np.array_equal(out, x.astype(np.int64) // 7)


def sort(run: Run, rng: np.random.Generator) -> None:
    x, out = normal(rng, 3, 128, dtype=F32), poisoned(3, 128, dtype=F32)
    run("sort", x, out, COLUMNS=128)
    assert np.array_equal(out, np.sort(x, axis=1))


def topk(run: Run, rng: np.random.Generator) -> None:
    x, out = normal(rng, 3, 128, dtype=F32), poisoned(3, 8, dtype=F32)
    run("topk", x, out, K=8, COLUMNS=128)
    assert np.array_equal(out, np.sort(x, axis=1)[:, ::-1][:, :8])


def argmax(run: Run, rng: np.random.Generator) -> None:
    x, out = normal(rng, 3, 256, dtype=F32), np.zeros(3, np.int32)
    run("argmax", x, out, COLUMNS=256)
    assert np.array_equal(out, x.argmax(1))


def embedding(run: Run, rng: np.random.Generator) -> None:
    table, rows = normal(rng, 50, 64, dtype=F32), rng.integers(0, 50, 21)
    out = poisoned(21, 64, dtype=F32)
    run("embedding", rows, table, out, T=8, D=64)
    assert np.array_equal(out, table[rows])


def sparse_product(run: Run, rng: np.random.Generator) -> None:
    n = 30
    starts = np.concatenate([[0], rng.integers(0, 40, n).cumsum()]).astype(np.int32)
    columns = rng.integers(0, n, starts[-1]).astype(np.int32)
    values, x = normal(rng, int(starts[-1]), dtype=F32), normal(rng, n, dtype=F32)
    out = poisoned(n, dtype=F32)
    run("sparse_product", starts, columns, values, x, out, BLOCK=16)
    whole = np.zeros((n, n))
    rows = np.repeat(np.arange(n), np.diff(starts))
    np.add.at(whole, (rows, columns), exact(values))
    check(out, whole @ exact(x), 1e-6)


def convolution(run: Run, rng: np.random.Generator) -> None:
    ci, co, size, k = 16, 16, 17, 2
    x = normal(rng, 1, ci, 3, 3, size, dtype=F32)
    weight = normal(rng, k, k, k, co, ci, dtype=F32)
    out = poisoned(1, co, 2, 2, size - 1, dtype=F32)
    parts = weight.reshape(k**3, co, ci)
    run("convolution", x, parts, out, CI=ci, CO=co, KERNEL=k, WIDTH=size - 1)
    windows = np.lib.stride_tricks.sliding_window_view(exact(x), (k, k, k), axis=(2, 3, 4))
    check(out, np.einsum("nidhwabc,abcoi->nodhw", windows, exact(weight)), 1e-6)


def plain_gemm(run: Run, rng: np.random.Generator) -> None:
    a, b, c = normal(rng, 72, 88), normal(rng, 88, 136), poisoned(72, 136)
    run("gemm", a, b, c, BM=64, BN=128, BK=32)
    check(c, exact(a) @ exact(b))


def plain_attention(run: Run, rng: np.random.Generator) -> None:
    """Rows of one head that fill no tile, and those of two that do."""
    size = 64
    for heads, n in ((1, 100), (2, 64)):
        (q, k, v), o = normal(rng, 3, heads * n, size), poisoned(heads * n, size)
        run("attention", q, k, v, o, n, 1.4426950408889634 / size**0.5, CAUSAL=True, D=size,
            BM=64, BN=64)  # fmt: skip
        q, k, v = (exact(x).reshape(heads, n, size) for x in (q, k, v))
        scores = np.where(np.tri(n, dtype=bool), q @ k.swapaxes(1, 2) / size**0.5, -np.inf)
        check(o, (weights_of(scores) @ v).reshape(-1, size), 8e-3)


def of(file: str, *cases: Any) -> dict[str, Case]:
    return {f"{file}:{case.__name__}": case for case in cases}


RUNS: dict[str, Case] = {
    **of("kernels.py", add, softmax, rmsnorm, matmul, attention, empty),
    "operation_kernels.py:elementwise.kernel": elementwise,
    **of("operation_kernels.py", remainder, divide, sort, topk, argmax, embedding, sparse_product,
         convolution),
    "plain_kernels.py:gemm": plain_gemm, "plain_kernels.py:attention": plain_attention,
    **memory_runs.RUNS,
    **pinned_runs.RUNS,
}  # fmt: skip
