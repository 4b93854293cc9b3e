"""Ten loops that nobody has tuned and that pin nothing, each with arguments and what it must leave in
float64: what tests of the compiler's own choices share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

import kiln

BF16 = ml_dtypes.bfloat16
Case = tuple[Any, list[Any], dict[str, Any], np.ndarray, np.ndarray]


def drawn(rng: np.random.Generator, *shape: int, scale: float = 1, dtype: Any = BF16) -> np.ndarray:
    return (scale * rng.standard_normal(shape)).astype(dtype)


def wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)


def rounded(array: np.ndarray) -> np.ndarray:
    return wide(array.astype(BF16))


@kiln.kernel
def sigmoid(q: kiln.View, k: kiln.View, v: kiln.View, o: kiln.View, BM: kiln.constexpr):
    i = kiln.grid(kiln.cdiv(q.shape[0], BM))
    x = q.load((i * BM, 0), (BM, 64))
    acc = kiln.zeros((BM, 64), kiln.f32)
    for j in range(0, k.shape[0], 64):
        s = kiln.dot(x, k.load((j, 0), (64, 64)), transpose_b=True)
        w = 1.0 / (1.0 + kiln.exp(-s))
        acc = kiln.dot(w.to(v.dtype), v.load((j, 0), (64, 64)), acc)
    o.store((i * BM, 0), acc)


def make_sigmoid(rng: np.random.Generator, BM: int) -> Case:
    q, k, v = drawn(rng, 130, 64, scale=0.3), drawn(rng, 200, 64, scale=0.3), drawn(rng, 200, 64)
    o = np.zeros((130, 64), np.float32)
    want = rounded(1 / (1 + np.exp(-(wide(q) @ wide(k).T)))) @ wide(v)
    return sigmoid, [q, k, v, o], dict(BM=BM), o, want


@kiln.kernel
def biased(
    a: kiln.View, b: kiln.View, u: kiln.View, w: kiln.View, c: kiln.View, BM: kiln.constexpr
):
    """A bias that is a product of two thin matrices, as of adapters."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], 64))
    acc = kiln.zeros((BM, 64), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x = a.load((i * BM, k), (BM, 64))
        acc = kiln.dot(x, b.load((j * 64, k), (64, 64)), acc, transpose_b=True)
    acc = kiln.dot(u.load((i * BM, 0), (BM, 32)), w.load((0, j * 64), (32, 64)), acc)
    c.store((i * BM, j * 64), acc)


def make_biased(rng: np.random.Generator, BM: int) -> Case:
    a, b, u, w = (drawn(rng, *s) for s in ((150, 200), (72, 200), (150, 32), (32, 72)))
    c = np.zeros((150, 72), np.float32)
    return biased, [a, b, u, w, c], dict(BM=BM), c, wide(a) @ wide(b).T + wide(u) @ wide(w)


@kiln.kernel
def chained(
    q: kiln.View, k: kiln.View, v: kiln.View, w: kiln.View, o: kiln.View, BM: kiln.constexpr
):
    i = kiln.grid(kiln.cdiv(q.shape[0], BM))
    x = q.load((i * BM, 0), (BM, 64))
    acc = kiln.zeros((BM, 64), kiln.f32)
    for j in range(0, k.shape[0], 64):
        s = kiln.dot(x, k.load((j, 0), (64, 64)), transpose_b=True)
        t = kiln.dot(kiln.maximum(s, 0.0).to(v.dtype), v.load((j, 0), (64, 64)))
        acc = kiln.dot(t.to(w.dtype), w.load((j, 0), (64, 64)), acc)
    o.store((i * BM, 0), acc)


def make_chained(rng: np.random.Generator, BM: int) -> Case:
    q, k, v, w = (drawn(rng, n, 64, scale=0.3) for n in (130, 192, 192, 192))
    o = np.zeros((130, 64), np.float32)
    want = np.zeros((130, 64))
    for j in range(0, 192, 64):
        s = rounded(np.maximum(wide(q) @ wide(k[j : j + 64]).T, 0))
        want += rounded(s @ wide(v[j : j + 64])) @ wide(w[j : j + 64])
    return chained, [q, k, v, w, o], dict(BM=BM), o, want


@kiln.kernel
def gated(x: kiln.View, g: kiln.View, u: kiln.View, d: kiln.View, o: kiln.View, BM: kiln.constexpr):
    """Two products of one tile, one of which gates the other, and a third of both."""
    i = kiln.grid(kiln.cdiv(x.shape[0], BM))
    t = x.load((i * BM, 0), (BM, 64))
    acc = kiln.zeros((BM, 64), kiln.f32)
    for h in range(0, g.shape[0], 64):
        gate = kiln.dot(t, g.load((h, 0), (64, 64)), transpose_b=True)
        up = kiln.dot(t, u.load((h, 0), (64, 64)), transpose_b=True)
        y = gate / (1.0 + kiln.exp(-gate)) * up
        acc = kiln.dot(y.to(d.dtype), d.load((h, 0), (64, 64)), acc)
    o.store((i * BM, 0), acc)


def make_gated(rng: np.random.Generator, BM: int) -> Case:
    x, g, u, d = (drawn(rng, n, 64, scale=0.3) for n in (130, 200, 200, 200))
    o = np.zeros((130, 64), np.float32)
    gate = wide(x) @ wide(g).T
    want = rounded(gate / (1 + np.exp(-gate)) * (wide(x) @ wide(u).T)) @ wide(d)
    return gated, [x, g, u, d, o], dict(BM=BM), o, want


@kiln.kernel
def dequantised(a: kiln.View, b: kiln.View, s: kiln.View, c: kiln.View, BM: kiln.constexpr):
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], 64))
    acc = kiln.zeros((BM, 64), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x = a.load((i * BM, k), (BM, 64))
        y = b.load((j * 64, k), (64, 64)).to(kiln.f32) * s.load((j * 64, 0), (64, 1))
        acc = kiln.dot(x, y.to(a.dtype), acc, transpose_b=True)
    c.store((i * BM, j * 64), acc)


def make_dequantised(rng: np.random.Generator, BM: int) -> Case:
    a, b = drawn(rng, 130, 192), rng.integers(-8, 8, (64, 192)).astype(np.int8)
    s = drawn(rng, 64, 1, dtype=np.float32)
    c = np.zeros((130, 64), np.float32)
    return dequantised, [a, b, s, c], dict(BM=BM), c, wide(a) @ rounded(wide(b) * wide(s)).T


@kiln.kernel
def scanned(q: kiln.View, k: kiln.View, v: kiln.View, o: kiln.View, BM: kiln.constexpr):
    """Weights are running sums of scores within a block."""
    i = kiln.grid(kiln.cdiv(q.shape[0], BM))
    x = q.load((i * BM, 0), (BM, 64))
    acc = kiln.zeros((BM, 64), kiln.f32)
    for j in range(0, k.shape[0], 64):
        s = kiln.dot(x, k.load((j, 0), (64, 64)), transpose_b=True)
        w = kiln.cumsum(s, axis=1)
        acc = kiln.dot(w.to(v.dtype), v.load((j, 0), (64, 64)), acc)
    o.store((i * BM, 0), acc)


def make_scanned(rng: np.random.Generator, BM: int) -> Case:
    q, k, v = drawn(rng, 130, 64, scale=0.3), drawn(rng, 128, 64, scale=0.3), drawn(rng, 128, 64)
    o = np.zeros((130, 64), np.float32)
    want = np.zeros((130, 64))
    for j in range(0, 128, 64):
        w = np.cumsum(wide(q) @ wide(k[j : j + 64]).T, axis=1)
        want += rounded(w) @ wide(v[j : j + 64])
    return scanned, [q, k, v, o], dict(BM=BM), o, want


@kiln.kernel
def turned(k: kiln.View, q: kiln.View, v: kiln.View, o: kiln.View, BM: kiln.constexpr):
    """What a product makes is the next one's operand the other way round."""
    i = kiln.grid(kiln.cdiv(q.shape[0], BM))
    x = q.load((i * BM, 0), (BM, 64))
    acc = kiln.zeros((BM, 64), kiln.f32)
    for j in range(0, k.shape[0], 64):
        s = kiln.dot(k.load((j, 0), (64, 64)), x, transpose_b=True)
        w = kiln.maximum(s, 0.0).to(v.dtype)
        acc = kiln.dot(w, v.load((j, 0), (64, 64)), acc, transpose_a=True)
    o.store((i * BM, 0), acc)


def make_turned(rng: np.random.Generator, BM: int) -> Case:
    q, k, v = drawn(rng, 130, 64, scale=0.3), drawn(rng, 200, 64, scale=0.3), drawn(rng, 200, 64)
    o = np.zeros((130, 64), np.float32)
    want = rounded(np.maximum(wide(q) @ wide(k).T, 0)) @ wide(v)
    return turned, [k, q, v, o], dict(BM=BM), o, want


@kiln.kernel
def largest(q: kiln.View, k: kiln.View, o: kiln.View, BM: kiln.constexpr):
    """The nearest of many, for each row."""
    i = kiln.grid(kiln.cdiv(q.shape[0], BM))
    x = q.load((i * BM, 0), (BM, 64))
    most = kiln.full((BM,), -1e30, kiln.f32)
    for j in range(0, k.shape[0], 64):
        s = kiln.dot(x, k.load((j, 0), (64, 64)), transpose_b=True)
        s = kiln.where((j + kiln.arange(64))[None, :] < k.shape[0], s, -1e30)
        most = kiln.maximum(most, kiln.max(s, axis=1))
    o.store((i * BM,), most)


def make_largest(rng: np.random.Generator, BM: int) -> Case:
    q, k = drawn(rng, 130, 64), drawn(rng, 200, 64)
    o = np.zeros(130, np.float32)
    return largest, [q, k, o], dict(BM=BM), o, (wide(q) @ wide(k).T).max(axis=1)


@kiln.kernel
def gathered(a: kiln.View, b: kiln.View, rows: kiln.View, c: kiln.View, BM: kiln.constexpr):
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], 64))
    at = rows.load((i * BM,), (BM,))
    acc = kiln.zeros((BM, 64), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x = a.gather((at[:, None], k + kiln.arange(64)[None, :]))
        acc = kiln.dot(x, b.load((j * 64, k), (64, 64)), acc, transpose_b=True)
    c.store((i * BM, j * 64), acc)


def make_gathered(rng: np.random.Generator, BM: int) -> Case:
    a, b = drawn(rng, 40, 192), drawn(rng, 72, 192)
    rows = rng.integers(0, 40, 150).astype(np.int32)
    c = np.zeros((150, 72), np.float32)
    return gathered, [a, b, rows, c], dict(BM=BM), c, wide(a)[rows] @ wide(b).T


@kiln.kernel
def in_sequence(
    a: kiln.View, b: kiln.View, d: kiln.View, e: kiln.View, c: kiln.View, BM: kiln.constexpr
):
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], 64))
    acc = kiln.zeros((BM, 64), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x, y = a.load((i * BM, k), (BM, 64)), b.load((j * 64, k), (64, 64))
        acc = kiln.dot(x, y, acc, transpose_b=True)
    acc = kiln.maximum(acc, 0.0)
    for k in range(0, d.shape[1], 64):
        x, y = d.load((i * BM, k), (BM, 64)), e.load((j * 64, k), (64, 64))
        acc = kiln.dot(x, y, acc, transpose_b=True)
    c.store((i * BM, j * 64), acc)


def make_in_sequence(rng: np.random.Generator, BM: int) -> Case:
    a, b, d, e = (drawn(rng, *s) for s in ((150, 200), (72, 200), (150, 136), (72, 136)))
    c = np.zeros((150, 72), np.float32)
    want = np.maximum(wide(a) @ wide(b).T, 0) + wide(d) @ wide(e).T
    return in_sequence, [a, b, d, e, c], dict(BM=BM), c, want


LOOPS: dict[str, Callable[[np.random.Generator, int], Case]] = {
    "sigmoid": make_sigmoid, "biased": make_biased, "chained": make_chained, "gated": make_gated,
    "dequantised": make_dequantised, "scanned": make_scanned, "turned": make_turned,
    "largest": make_largest, "gathered": make_gathered, "in_sequence": make_in_sequence,
}  # fmt: skip
