"""The kernels of the suite `memory` compute what they say, against float64: on the CPU, and by the
code for the GPU that they are measured on."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

import kiln

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
ROWS, COLUMNS, BLOCK = 6, 384, 512
BF16 = ml_dtypes.bfloat16


@pytest.fixture(params=["cpu", "emu:sm_90a", "emu:gfx942"])
def kernels(monkeypatch, request):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import memory_kernels

    names = [n for n, k in vars(memory_kernels).items() if hasattr(k, "compile")]
    there = {n: getattr(memory_kernels, n).options(device=request.param) for n in names}
    return SimpleNamespace(**there)


@pytest.fixture
def some(rng):
    return lambda *shape: rng.standard_normal(shape, dtype=np.float32).astype(BF16)


def exact(x: np.ndarray) -> np.ndarray:
    return np.asarray(x).astype(np.float64)


def check(result: np.ndarray, reference: np.ndarray, tolerance: float = 4e-3) -> None:
    result = exact(result)
    assert np.isfinite(result).all()
    assert np.linalg.norm(result - reference) <= tolerance * np.linalg.norm(reference)


def poisoned(*shape: int, dtype=BF16) -> np.ndarray:
    return np.full(shape, float("nan"), dtype)


def test_rmsnorm(kernels, some):
    x, weight, out = some(ROWS, COLUMNS), some(COLUMNS), poisoned(ROWS, COLUMNS)
    kernels.rmsnorm(x, weight, out, 1e-5, BLOCK=BLOCK)
    t = exact(x)
    check(out, t / np.sqrt((t * t).mean(1, keepdims=True) + 1e-5) * exact(weight))


def test_layernorm_without_dropout(kernels, some):
    x, residual, weight, bias = (
        some(ROWS, COLUMNS),
        some(ROWS, COLUMNS),
        some(COLUMNS),
        some(COLUMNS),
    )
    total, out = poisoned(ROWS, COLUMNS), poisoned(ROWS, COLUMNS)
    kernels.layernorm_dropout(
        x, residual, weight, bias, total, out, 5, 1.0, 1e-5, BLOCK=BLOCK
    )  # fmt: skip
    h = exact(x) + exact(residual)
    centred = h - h.mean(1, keepdims=True)
    scale = np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
    check(total, h)
    check(out, centred / scale * exact(weight) + exact(bias))


def test_dropout_keeps_its_share(kernels, some):
    x, weight = some(64, COLUMNS), some(COLUMNS)
    zeros = np.zeros_like(x)
    total, out = poisoned(64, COLUMNS), poisoned(64, COLUMNS)
    kernels.layernorm_dropout(
        x, zeros, weight, weight, total, out, 5, 0.75, 1e-5, BLOCK=BLOCK
    )  # fmt: skip
    kept = exact(total) != 0
    n = kept.size
    assert abs(kept.mean() - 0.75) < 6 * math.sqrt(0.75 * 0.25 / n)
    check(exact(total)[kept], exact(x)[kept] / 0.75)


def test_softmax(kernels, some):
    x, out = some(ROWS, COLUMNS), poisoned(ROWS, COLUMNS)
    kernels.softmax(x, out, BLOCK=BLOCK)
    e = np.exp(exact(x) - exact(x).max(1, keepdims=True))
    check(out, e / e.sum(1, keepdims=True))


def test_swiglu(kernels, some):
    gate, up, out = some(5000), some(5000), poisoned(5000)
    kernels.swiglu(gate, up, out)
    check(out, exact(gate) / (1 + np.exp(-exact(gate))) * exact(up))


def test_gelu(kernels, some):
    x, out = some(5000), poisoned(5000)
    kernels.gelu(x, out)
    check(out, 0.5 * exact(x) * (1 + np.vectorize(math.erf)(exact(x) / math.sqrt(2))))


def test_rope(kernels, some):
    x, out = some(3, 40, 128), poisoned(3, 40, 128)
    cos, sin = some(40, 64), some(40, 64)
    kernels.rope(x, cos, sin, out, HALF=64)
    low, high, c, s = exact(x)[..., :64], exact(x)[..., 64:], exact(cos), exact(sin)
    check(out, np.concatenate([low * c - high * s, high * c + low * s], -1))


def test_cross_entropy(kernels, some, rng):
    logits, labels = some(ROWS, 1000), rng.integers(0, 1000, ROWS)
    loss = poisoned(ROWS, dtype=np.float32)
    kernels.cross_entropy(logits, labels, loss, BLOCK=256)
    t = exact(logits)
    top = t.max(1)
    picked = t[np.arange(ROWS), labels]
    check(loss, np.log(np.exp(t - top[:, None]).sum(1)) + top - picked, 1e-6)


def test_quantise_f8(kernels, some):
    x = some(ROWS, COLUMNS)
    out = poisoned(ROWS, COLUMNS, dtype=ml_dtypes.float8_e4m3fn)
    scales = poisoned(ROWS, dtype=np.float32)
    kernels.quantise_f8(x, out, scales, BLOCK=BLOCK)
    check(scales, np.abs(exact(x)).max(1) / 448, 1e-6)
    # Three bits of mantissa, of values that are normal: half a part in 16, at most.
    large = np.abs(exact(x)) > 2.0**-6 * exact(scales)[:, None]
    restored = exact(out) * exact(scales)[:, None]
    assert (np.abs(restored - exact(x)) <= np.abs(exact(x)) / 16 * 1.0001)[large].all()


def test_quantise_mxfp4(kernels, some):
    x = some(ROWS, COLUMNS) * np.exp2(np.arange(-3, 3)).astype(BF16)[:, None]
    # A group of zeros, ties of every kind, and what is as large as it can be.
    x[0, :32] = 0
    ties = np.array([5, 3.5, 2.5, 1.75, 1.25, 0.75, 0.25, 7.9])
    x[1, :32] = np.concatenate([ties, -ties, ties * 1.01, ties * 0.99])
    x[2, 32:64] = 3.3e38  # nearly the largest of all
    out = kiln.PackedArray.empty((ROWS, COLUMNS), "f4e2m1fn")
    scales = np.zeros((ROWS, COLUMNS // 32), np.uint8)
    kernels.quantise_mxfp4(x, out, scales, BLOCK=BLOCK, PROGRAMS=4)
    groups = exact(x).reshape(ROWS, -1, 32)
    largest = np.abs(groups).max(2)
    exponent = np.floor(np.log2(np.maximum(largest, 2.0**-124))) - 2
    assert np.array_equal(exact(scales), exponent + 127)
    scaled = (groups / np.exp2(exponent)[:, :, None]).reshape(ROWS, COLUMNS)
    wanted = scaled.astype(np.float32).astype(ml_dtypes.float4_e2m1fn)
    assert np.array_equal(exact(out.to_numpy()), exact(wanted))


@kiln.kernel(fast_math=True)
def narrow_to_f4(x: kiln.View, out: kiln.View, BLOCK: kiln.constexpr):
    i = kiln.grid(kiln.cdiv(x.shape[0], BLOCK))
    out.store((i * BLOCK,), x.load((i * BLOCK,), (BLOCK,)).to(kiln.f4e2m1fn))


@pytest.mark.parametrize("device", ["cpu", "emu:sm_90a"])
def test_every_bf16_to_f4(device):
    """Every number: ties, subnormals, both zeros, and what is too large. Fast mathematics says
    nothing of NaN and infinities."""
    x = np.arange(1 << 16, dtype=np.uint16).view(BF16)
    x = x[np.isfinite(x.astype(np.float32))]
    out = kiln.PackedArray.empty(x.shape, "f4e2m1fn")
    narrow_to_f4.options(device=device)(x, out, BLOCK=4096)
    wanted = x.astype(np.float32).astype(ml_dtypes.float4_e2m1fn)
    assert np.array_equal(out.to_numpy().view(np.uint8), wanted.view(np.uint8))


def test_transpose(kernels, some):
    x, out = some(70, 100), poisoned(100, 70)
    kernels.transpose(x, out)
    assert np.array_equal(exact(out), exact(x).T)


def test_cumsum(kernels, some):
    x, out = some(ROWS, COLUMNS), poisoned(ROWS, COLUMNS)
    kernels.cumsum(x, out, BLOCK=BLOCK)
    check(out, np.cumsum(exact(x), 1))


def test_rows_that_are_gathered(kernels, some, rng):
    table, out = some(50, COLUMNS), poisoned(21, COLUMNS)
    ids = rng.integers(0, 50, 21).astype(np.int32)
    kernels.gather_rows(table, ids, out, ROWS=4, BLOCK=128)
    np.testing.assert_array_equal(exact(out), exact(table[ids]))
