"""Small runs of each kernel of benchmarks/memory_kernels.py, against float64."""

from __future__ import annotations

import math
from functools import partial

import ml_dtypes
import numpy as np
from every_kernel import BF16, Case, Run, check, exact, normal, poisoned

import kiln

ROWS, COLUMNS, BLOCK = 6, 384, 512


def rmsnorm(run: Run, rng: np.random.Generator) -> None:
    x, weight, out = normal(rng, ROWS, COLUMNS), normal(rng, COLUMNS), poisoned(ROWS, COLUMNS)
    run("rmsnorm", x, weight, out, 1e-5, BLOCK=BLOCK)
    t = exact(x)
    check(out, t / np.sqrt((t * t).mean(1, keepdims=True) + 1e-5) * exact(weight))


def layernorm_dropout(run: Run, rng: np.random.Generator) -> None:
    """What is kept is a share; and of all, the mean and the variance are right."""
    rows, keep = 8, 0.75
    x, residual = normal(rng, rows, COLUMNS), np.zeros((rows, COLUMNS), BF16)
    weight, bias = normal(rng, COLUMNS), normal(rng, COLUMNS)
    total, out = poisoned(rows, COLUMNS), poisoned(rows, COLUMNS)
    launch = partial(run, "layernorm_dropout", x, residual, weight, bias, total, out, 5)
    launch(keep, 1e-5, BLOCK=BLOCK)
    kept = exact(total) != 0
    assert abs(kept.mean() - keep) < 6 * math.sqrt(keep * (1 - keep) / kept.size)
    check(exact(total)[kept], exact(x)[kept] / keep)
    residual[:] = normal(rng, rows, COLUMNS)
    launch(1.0, 1e-5, BLOCK=BLOCK)
    h = exact(x) + exact(residual)
    centred = h - h.mean(1, keepdims=True)
    scale = np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
    check(total, h)
    check(out, centred / scale * exact(weight) + exact(bias))


def softmax(run: Run, rng: np.random.Generator) -> None:
    x, out = normal(rng, ROWS, COLUMNS), poisoned(ROWS, COLUMNS)
    run("softmax", x, out, BLOCK=BLOCK)
    e = np.exp(exact(x) - exact(x).max(1, keepdims=True))
    check(out, e / e.sum(1, keepdims=True))


def swiglu(run: Run, rng: np.random.Generator) -> None:
    (gate, up), out = normal(rng, 2, 5000), poisoned(5000)
    run("swiglu", gate, up, out)
    check(out, exact(gate) / (1 + np.exp(-exact(gate))) * exact(up))


def gelu(run: Run, rng: np.random.Generator) -> None:
    x, out = normal(rng, 5000), poisoned(5000)
    run("gelu", x, out)
    check(out, 0.5 * exact(x) * (1 + np.vectorize(math.erf)(exact(x) / math.sqrt(2))))


def rope(run: Run, rng: np.random.Generator) -> None:
    x, out = normal(rng, 3, 40, 128), poisoned(3, 40, 128)
    cos, sin = normal(rng, 2, 40, 64)
    run("rope", x, cos, sin, out, HALF=64)
    low, high, c, s = exact(x)[..., :64], exact(x)[..., 64:], exact(cos), exact(sin)
    check(out, np.concatenate([low * c - high * s, high * c + low * s], -1))


def cross_entropy(run: Run, rng: np.random.Generator) -> None:
    logits, labels = normal(rng, ROWS, 1000), rng.integers(0, 1000, ROWS)
    loss = poisoned(ROWS, dtype=np.float32)
    run("cross_entropy", logits, labels, loss, BLOCK=256)
    t = exact(logits)
    top = t.max(1)
    picked = t[np.arange(ROWS), labels]
    check(loss, np.log(np.exp(t - top[:, None]).sum(1)) + top - picked, 1e-6)


def quantise_f8(run: Run, rng: np.random.Generator) -> None:
    x = normal(rng, ROWS, COLUMNS)
    out = poisoned(ROWS, COLUMNS, dtype=ml_dtypes.float8_e4m3fn)
    scales = poisoned(ROWS, dtype=np.float32)
    run("quantise_f8", x, out, scales, BLOCK=BLOCK)
    check(scales, np.abs(exact(x)).max(1) / 448, 1e-6)
    # Three bits of mantissa, of values that are normal: half a part in 16, at most.
    large = np.abs(exact(x)) > 2.0**-6 * exact(scales)[:, None]
    restored = exact(out) * exact(scales)[:, None]
    assert (np.abs(restored - exact(x)) <= np.abs(exact(x)) / 16 * 1.0001)[large].all()


def quantise_mxfp4(run: Run, rng: np.random.Generator) -> None:
    x = normal(rng, ROWS, COLUMNS) * np.exp2(np.arange(-3, 3)).astype(BF16)[:, None]
    # A group of zeros, ties of every kind, and what is as large as it can be.
    x[0, :32] = 0
    ties = np.array([5, 3.5, 2.5, 1.75, 1.25, 0.75, 0.25, 7.9])
    x[1, :32] = np.concatenate([ties, -ties, ties * 1.01, ties * 0.99])
    x[2, 32:64] = 3.3e38  # nearly the largest of all
    out = kiln.PackedArray.empty((ROWS, COLUMNS), "f4e2m1fn")
    scales = np.zeros((ROWS, COLUMNS // 32), np.uint8)
    run("quantise_mxfp4", x, out, scales, BLOCK=BLOCK, PROGRAMS=4)
    groups = exact(x).reshape(ROWS, -1, 32)
    largest = np.abs(groups).max(2)
    exponent = np.floor(np.log2(np.maximum(largest, 2.0**-124))) - 2
    assert np.array_equal(exact(scales), exponent + 127)
    scaled = (groups / np.exp2(exponent)[:, :, None]).reshape(ROWS, COLUMNS)
    wanted = scaled.astype(np.float32).astype(ml_dtypes.float4_e2m1fn)
    assert np.array_equal(exact(out.to_numpy()), exact(wanted))


def transpose(run: Run, rng: np.random.Generator) -> None:
    x, out = normal(rng, 70, 100), poisoned(100, 70)
    run("transpose", x, out)
    assert np.array_equal(exact(out), exact(x).T)


def cumsum(run: Run, rng: np.random.Generator) -> None:
    x, out = normal(rng, ROWS, COLUMNS), poisoned(ROWS, COLUMNS)
    run("cumsum", x, out, BLOCK=BLOCK)
    check(out, np.cumsum(exact(x), 1))


def gather_rows(run: Run, rng: np.random.Generator) -> None:
    table, out = normal(rng, 50, COLUMNS), poisoned(21, COLUMNS)
    ids = rng.integers(0, 50, 21).astype(np.int32)
    run("gather_rows", table, ids, out, ROWS=4, BLOCK=128)
    np.testing.assert_array_equal(exact(out), exact(table[ids]))


CASES = [rmsnorm, layernorm_dropout, softmax, swiglu, gelu, rope, cross_entropy, quantise_f8,
         quantise_mxfp4, transpose, cumsum, gather_rows]  # fmt: skip
RUNS: dict[str, Case] = {f"memory_kernels.py:{case.__name__}": case for case in CASES}
