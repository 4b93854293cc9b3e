"""Small runs of each kernel of examples/, against float64."""

from __future__ import annotations

from typing import Any

import numpy as np
from every_kernel import Case, Run, check, exact, module_of, normal, poisoned


def example(name: str) -> Any:
    return module_of("examples", name)


def add(run: Run, rng: np.random.Generator) -> None:
    x, y = normal(rng, 2, 700, dtype=np.float32)
    out = poisoned(700, dtype=np.float32)
    run("add", x, y, out, BLOCK=256)
    check(out, exact(x) + y, 1e-7)


def softmax(run: Run, rng: np.random.Generator) -> None:
    x, out = 4 * normal(rng, 3, 200), poisoned(3, 200)
    run("softmax", x, out, BLOCK=256)
    check(out, example("02_softmax").reference(x))


def rmsnorm(run: Run, rng: np.random.Generator) -> None:
    x, weight = normal(rng, 3, 200), normal(rng, 200)
    out = poisoned(3, 200)
    run("rmsnorm", x, weight, out, 1e-5, BLOCK=256)
    check(out, example("03_rmsnorm").reference(x, weight, 1e-5))


def layernorm_dropout(run: Run, rng: np.random.Generator) -> None:
    rows, columns, keep = 3, 200, 0.75
    x, residual = normal(rng, 2, rows, columns, dtype=np.float32)
    weight, bias = normal(rng, 2, columns, dtype=np.float32)
    total, out = poisoned(2, rows, columns, dtype=np.float32)
    seed = int(rng.integers(2**62))
    run("layernorm_dropout", x, residual, weight, bias, total, out, seed, keep, 1e-5, BLOCK=256)
    uniform = example("04_layernorm_dropout").philox_uniform
    kept = uniform(seed, np.arange(rows)[:, None], np.arange(columns)[None]) < keep
    h = np.where(kept, exact(x) / keep, 0) + residual
    centred = h - h.mean(axis=1, keepdims=True)
    scale = np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    check(total, h, 1e-6)
    check(out, centred / scale * weight + bias, 2e-6)


def matmul(run: Run, rng: np.random.Generator) -> None:
    a, b, c = normal(rng, 72, 88), normal(rng, 88, 136), poisoned(72, 136)
    run("matmul", a, b, c, BM=64, BN=128, BK=32)
    check(c, exact(a) @ exact(b))


def attention(run: Run, rng: np.random.Generator) -> None:
    q, (k, v) = normal(rng, 1, 2, 65, 40), normal(rng, 2, 1, 1, 90, 40)
    out = poisoned(1, 2, 65, 40)
    run("attention", q, k, v, out, 40**-0.5, CAUSAL=True, D=64, BM=64, BN=64)
    check(out, example("06_attention").reference(q, k, v, 40**-0.5, True), 8e-3)


def cumsum(run: Run, rng: np.random.Generator) -> None:
    x, out = rng.random((2, 300), dtype=np.float32), poisoned(2, 300, dtype=np.float32)
    run("cumsum", x, out, BLOCK=128)
    check(out, np.cumsum(exact(x), axis=1), 2e-6)


def histogram(run: Run, rng: np.random.Generator) -> None:
    x = np.minimum(rng.exponential(40.0, 700), 255).astype(np.uint8)
    counts = np.zeros(256, np.int32)
    run("histogram", x, counts, BLOCK=512)
    assert np.array_equal(counts, np.bincount(x, minlength=256))


def dequant_matmul(run: Run, rng: np.random.Generator) -> None:
    module = example("09_dequant_matmul")
    m, n, k = 20, 72, 2 * module.GROUP
    a, q = normal(rng, m, k, dtype=np.float32), rng.integers(0, 8, (k, n))
    scales = rng.uniform(0.5, 2, (k // module.GROUP, n)).astype(np.float32)
    c = poisoned(m, n, dtype=np.float32)
    run("dequant_matmul", a, module.pack(q), scales, c, BM=16, BN=32)
    check(c, exact(a) @ ((q - 4) * np.repeat(exact(scales), module.GROUP, axis=0)), 1e-6)


def sharpen(run: Run, rng: np.random.Generator) -> None:
    picture = rng.integers(0, 256, (20, 30, 3)).astype(np.uint8)
    out = np.zeros_like(picture)
    run("sharpen", picture.reshape(20, 90), out.reshape(20, 90), 1.5, BH=8, BW=64)
    wanted = example("10_image_filter").reference(picture, 1.5)
    assert (np.abs(exact(out) - wanted) <= 0.501).all()


def swiglu(run: Run, rng: np.random.Generator) -> None:
    gate, up = normal(rng, 2, 20, 300, dtype=np.float32)
    out = poisoned(20, 300, dtype=np.float32)
    run("swiglu", gate, up, out)
    check(out, exact(gate) / (1 + np.exp(-exact(gate))) * up, 1e-6)


RUNS: dict[str, Case] = {
    "01_vector_add.py:add": add, "02_softmax.py:softmax": softmax, "03_rmsnorm.py:rmsnorm": rmsnorm,
    "04_layernorm_dropout.py:layernorm_dropout": layernorm_dropout, "05_matmul.py:matmul": matmul,
    "06_attention.py:attention": attention, "07_cumsum.py:cumsum": cumsum,
    "08_histogram.py:histogram": histogram, "09_dequant_matmul.py:dequant_matmul": dequant_matmul,
    "10_image_filter.py:sharpen": sharpen, "11_swiglu.mlir:swiglu": swiglu,
}  # fmt: skip
