"""Cases of suite `cpu`: one operation each, beside NumPy and PyTorch.

Each is asked to take at most three times as long as PyTorch, or as NumPy where PyTorch has no such
operation: what a kernel's author reaches for must not be the slow part of the kernel.
"""

from __future__ import annotations

import warnings

import numpy as np
import operation_kernels
import torch
from measure import Case, Implementation

import kiln

N = 1 << 20
ASKED = 1 / 3
# The functions of f32, and the interval that arguments come from.
FUNCTIONS = {
    "acosh": (1, 10), "asinh": (-5, 5), "atan": (-5, 5), "cbrt": (-5, 5), "cos": (-30, 30),
    "cosh": (-5, 5), "erfc": (-3, 3), "log10": (0.01, 100), "sin": (-30, 30), "sinh": (-5, 5),
    "tan": (-30, 30),
}  # fmt: skip
NUMPY = {"acosh": np.arccosh, "asinh": np.arcsinh, "atan": np.arctan}


def operations(rng, threads: int, only: str):
    makers = {f"{name} f32": elementwise for name in FUNCTIONS}
    makers |= {
        "remainder f32": remainder, "integer division": division, "sort": sort, "top-k": topk,
        "reduce of a tuple": argmax, "embedding gather": embedding, "CSR product": sparse_product,
        "conv3d": convolution,
    }  # fmt: skip
    for name, make in makers.items():
        if only in name:
            yield make(rng, name)


def beside(name, work, unit, ours, out, peers, reference):
    """`peers`: a function by its name; the first one's rate is what is asked for."""
    theirs = [Implementation(peer, run) for peer, run in peers.items()]
    asked = {next(iter(peers)): ASKED}
    return Case(name, work, unit, [Implementation("kiln", ours, lambda: out), *theirs],
                reference, asked)  # fmt: skip


def elementwise(rng, name: str) -> Case:
    function = name.split(maxsplit=1)[0]
    kernel = operation_kernels.elementwise(getattr(kiln, function))
    x = rng.uniform(*FUNCTIONS[function], N).astype(np.float32)
    out, other, tx = np.empty_like(x), np.empty_like(x), torch.from_numpy(x)
    numpy, theirs = NUMPY.get(function, getattr(np, function, None)), getattr(torch, function, None)
    peers = {}
    if theirs:
        tout = torch.empty_like(tx)
        peers["torch"] = lambda: theirs(tx, out=tout)
    if numpy:
        peers["numpy"] = lambda: numpy(x, out=other)

    def reference():
        wide = x.astype(np.float64)
        return numpy(wide) if numpy else theirs(torch.from_numpy(wide)).numpy()

    return beside(name, 8.0 * N, "GB/s", lambda: kernel(x, out), out, peers, reference)


def remainder(rng, name: str) -> Case:
    x, y = rng.uniform(0.1, 50, (2, N)).astype(np.float32)
    out, tx, ty = np.empty_like(x), torch.from_numpy(x), torch.from_numpy(y)
    return beside(
        name, 12.0 * N, "GB/s", lambda: operation_kernels.remainder(x, y, out), out,
        {"torch": lambda: torch.remainder(tx, ty), "numpy": lambda: np.remainder(x, y)},
        lambda: np.remainder(x.astype(np.float64), y.astype(np.float64)),
    )  # fmt: skip


def division(rng, name: str) -> Case:
    x = rng.integers(-(2**31), 2**31, N).astype(np.int32)
    out, other = np.empty_like(x), np.empty_like(x)
    return beside(
        name, 8.0 * N, "GB/s", lambda: operation_kernels.divide(x, 7, out), out,
        {"numpy": lambda: np.floor_divide(x, np.int32(7), out=other)},
        lambda: np.floor_divide(x.astype(np.int64), 7).astype(np.float64),
    )  # fmt: skip


def rows_of(rng, columns: int) -> np.ndarray:
    return rng.standard_normal((N // columns, columns), dtype=np.float32)


def sort(rng, name: str) -> Case:
    x = rows_of(rng, 1024)
    out, tx = np.empty_like(x), torch.from_numpy(x)
    return beside(
        name, float(N), "/s", lambda: operation_kernels.sort(x, out, COLUMNS=1024), out,
        {"torch": lambda: torch.sort(tx, 1), "numpy": lambda: np.sort(x, axis=1)},
        lambda: np.sort(x, axis=1).astype(np.float64),
    )  # fmt: skip


def topk(rng, name: str) -> Case:
    x, k = rows_of(rng, 1024), 8
    out, tx = np.empty((len(x), k), np.float32), torch.from_numpy(x)
    return beside(
        name, float(N), "/s", lambda: operation_kernels.topk(x, out, K=k, COLUMNS=1024), out,
        {"torch": lambda: torch.topk(tx, k, 1),
         "numpy": lambda: np.partition(x, 1024 - k, axis=1)},
        lambda: np.sort(x, axis=1)[:, ::-1][:, :k].astype(np.float64),
    )  # fmt: skip


def argmax(rng, name: str) -> Case:
    x = rows_of(rng, 1024)
    out, tx = np.empty(len(x), np.int32), torch.from_numpy(x)
    return beside(
        name, 4.0 * N, "GB/s", lambda: operation_kernels.argmax(x, out, COLUMNS=1024), out,
        {"torch": lambda: torch.max(tx, 1), "numpy": lambda: x.argmax(1)},
        lambda: x.argmax(1).astype(np.float64),
    )  # fmt: skip


def embedding(rng, name: str) -> Case:
    count, d = 4096, 256
    table = rng.standard_normal((30000, d), dtype=np.float32)
    rows = rng.integers(0, len(table), count).astype(np.int64)
    out = np.empty((count, d), np.float32)
    tt, tr = torch.from_numpy(table), torch.from_numpy(rows)
    return beside(
        name, 2.0 * out.nbytes, "GB/s",
        lambda: operation_kernels.embedding(rows, table, out, T=64, D=d), out,
        {"torch": lambda: torch.nn.functional.embedding(tr, tt),
         "numpy": lambda: np.take(table, rows, axis=0)},
        lambda: table[rows].astype(np.float64),
    )  # fmt: skip


def sparse_product(rng, name: str) -> Case:
    n, most = 20000, 64
    starts = np.concatenate([[0], rng.integers(0, most, n).cumsum()]).astype(np.int32)
    columns = rng.integers(0, n, starts[-1]).astype(np.int32)
    values = rng.standard_normal(starts[-1], dtype=np.float32)
    x, out = rng.standard_normal(n, dtype=np.float32), np.empty(n, np.float32)
    parts = [torch.from_numpy(part) for part in (starts, columns, values, x)]
    with warnings.catch_warnings(action="ignore"):  # it is in beta state
        matrix = torch.sparse_csr_tensor(*parts[:3], (n, n))
    return beside(
        name, 2.0 * len(values), "GFLOP/s",
        lambda: operation_kernels.sparse_product(starts, columns, values, x, out, BLOCK=16), out,
        {"torch": lambda: torch.mv(matrix, parts[3])},
        lambda: torch.mv(matrix.double(), parts[3].double()).numpy(),
    )  # fmt: skip


def convolution(rng, name: str) -> Case:
    ci, co, size, k = 16, 32, 34, 3
    x = rng.standard_normal((1, ci, size, size, size), dtype=np.float32)
    weight = rng.standard_normal((co, ci, k, k, k), dtype=np.float32)
    ours = np.ascontiguousarray(weight.transpose(2, 3, 4, 0, 1).reshape(k**3, co, ci))
    width = size - k + 1
    out = np.empty((1, co, width, width, width), np.float32)
    tx, tw = torch.from_numpy(x), torch.from_numpy(weight)
    return beside(
        name, 2.0 * out.size * ci * k**3, "GFLOP/s",
        lambda: operation_kernels.convolution(
            x, ours, out, CI=ci, CO=co, KERNEL=k, WIDTH=width
        ), out,
        {"torch": lambda: torch.nn.functional.conv3d(tx, tw)},
        lambda: torch.nn.functional.conv3d(tx.double(), tw.double()).numpy(),
    )  # fmt: skip
