"""Products whose operand a is what warps have computed, read from tensor memory, on the emulated chip,
against float64: pinned from Python, and as the compiler decides."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from attention_kernels import attention
from product_kernels import assert_near, wide

import kiln

BF16, F16 = ml_dtypes.bfloat16, np.float16
E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
DEVICE, TARGET = "emu:sm_100a", "nvptx:sm_100a"
# The second of the operands in brackets is an address, and no descriptor.
READS_TENSOR_MEMORY = re.compile(
    r"tcgen05\.mma\.cta_group::[12]\.kind::[\w:.]+\s+\[%r\d+[^]]*\], \[%r\d+"
)


def few(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Numbers that eight bits have, and sums and products of few of them, too."""
    return rng.integers(-1, 2, shape).astype(np.float32) * (rng.random(shape) < 0.3)


@kiln.kernel
def chain(
    x: kiln.View, w: kiln.View, v: kiln.View, o: kiln.View,
    BM: kiln.constexpr, D: kiln.constexpr, H: kiln.constexpr, N: kiln.constexpr,
    TV: kiln.constexpr, depth: kiln.constexpr, halves: kiln.constexpr,
):  # fmt: skip
    """A hidden layer of so many columns a trip; of which both products may be halves."""
    i = kiln.grid(kiln.cdiv(o.shape[0], BM))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    rows = kiln.pin(x.load((i * BM, 0), (BM, D)), role="load", atom="tma", ring="x")
    acc = kiln.zeros((BM, N), kiln.f32)
    for h in kiln.pin(range(0, w.shape[0], H), depth=depth):
        first = kiln.pin(w.load((h, 0), (H, D)), role="load", stage=0, atom="tma", ring="w")
        s = kiln.pin(
            kiln.dot(rows, first, transpose_b=True),
            role="mma", stage=0, in_flight=0, atom="tcgen05",
        )  # fmt: skip
        p = kiln.maximum(s, 0.0).to(v.dtype)
        if TV:
            second = kiln.pin(v.load((0, h), (N, H)), role="load", stage=0, atom="tma", ring="v")
        else:
            second = kiln.pin(v.load((h, 0), (H, N)), role="load", stage=0, atom="tma", ring="v")
        acc = kiln.pin(
            kiln.dot(p, second, acc * 0.5 if halves else acc, transpose_b=TV),
            role="mma", stage=0, in_flight=0, atom="tcgen05",
        )  # fmt: skip
    kiln.pin(o.store((i * BM, 0), acc), role="mma", in_flight=0, atom="tma")


FORMS = [(BF16, 0), (BF16, 1), (F16, 0), (F16, 1), (E4M3, 1), (E5M2, 1)]


@pytest.mark.parametrize("draw", range(2))
@pytest.mark.parametrize("dtype, tv", FORMS)
def test_chains(rng, dtype, tv: int, draw: int) -> None:
    rng = np.random.default_rng([FORMS.index((dtype, tv)), draw, int(rng.integers(1 << 62))])

    def pick(*choices):
        return choices[rng.integers(len(choices))]

    tile = dict(BM=pick(128, 128, 256), D=64, H=pick(32, 64), N=pick(32, 64), TV=bool(tv),
                depth=pick(1, 2), halves=bool(draw))  # fmt: skip
    m, trips = int(rng.integers(1, 300)), int(rng.integers(0, 5))
    hidden = trips * tile["H"]
    x, w = few(rng, m, 64).astype(dtype), few(rng, max(hidden, 16), 64).astype(dtype)[:hidden]
    shape = (tile["N"], max(hidden, 16)) if tv else (max(hidden, 16), tile["N"])
    v = few(rng, *shape).astype(dtype)
    v = v[:, :hidden] if tv else v[:hidden]
    o = np.full((m, tile["N"]), np.nan, np.float32)
    chain.options(device=DEVICE)(x, w, v, o, **tile)
    want = np.zeros((m, tile["N"]))
    for h in range(0, hidden, tile["H"]):
        some = slice(h, h + tile["H"])
        p = np.maximum(wide(x) @ wide(w[some]).T, 0).astype(dtype)
        want = want * (0.5 if draw else 1) + wide(p) @ wide(v[:, some].T if tv else v[some])
    if trips:
        assert_near(o, want, 1e-5, (tile, m, hidden))
    else:
        assert (o == 0).all()


@kiln.kernel
def across(a: kiln.View, b: kiln.View, o: kiln.View, K: kiln.constexpr, N: kiln.constexpr,
           precision: kiln.constexpr):  # fmt: skip
    """What is computed is read across, as columns of the product."""
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    acc = kiln.zeros((128, N), kiln.f32)
    for k in kiln.pin(range(0, a.shape[0], K), depth=2):
        x = kiln.pin(a.load((k, 0), (K, 128)), role="mma", stage=0) * 2.0
        y = kiln.pin(b.load((0, k), (N, K)), role="load", stage=0, atom="tma")
        acc = kiln.pin(
            kiln.dot(x.to(b.dtype), y, acc, transpose_a=True, transpose_b=True, precision=precision),
            role="mma", stage=0, in_flight=0, atom="tcgen05",
        )  # fmt: skip
    kiln.pin(o.store((0, 0), acc), role="mma", in_flight=0, atom="tma")


@pytest.mark.parametrize("dtype, precision", [(BF16, "ieee"), (F16, "ieee"), (np.float32, "tf32")])
def test_what_is_computed_may_be_read_across(rng, dtype, precision: str) -> None:
    k, n = int(rng.integers(1, 200)), int(rng.choice([16, 64, 128]))
    a = rng.integers(-8, 9, (k, 128)).astype(np.float32)
    b = rng.integers(-8, 9, (n, 8 * k)).astype(dtype)[:, :k]
    o = np.full((128, n), np.nan, np.float32)
    across.options(device=DEVICE)[1](a, b, o, K=32, N=n, precision=precision)
    assert_near(o, 2 * wide(a).T @ wide(b).T, 1e-6)


@kiln.kernel
def two_of_one(x: kiln.View, w: kiln.View, v: kiln.View, o: kiln.View, u: kiln.View):
    """Two products of one tile that is computed: it is written once."""
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    left, right = kiln.zeros((128, 64), kiln.f32), kiln.zeros((128, 32), kiln.f32)
    for k in kiln.pin(range(0, x.shape[1], 32), depth=2):
        t = kiln.exp(kiln.pin(x.load((0, k), (128, 32)), role="mma", stage=0)).to(kiln.bf16)
        a = kiln.pin(w.load((0, k), (64, 32)), role="load", stage=0, atom="tma")
        b = kiln.pin(v.load((0, k), (32, 32)), role="load", stage=0, atom="tma")
        left = kiln.pin(kiln.dot(t, a, left, transpose_b=True),
                        role="mma", stage=0, in_flight=0, atom="tcgen05")  # fmt: skip
        right = kiln.pin(kiln.dot(t, b, right, transpose_b=True),
                         role="mma", stage=0, in_flight=0, atom="tcgen05")  # fmt: skip
    kiln.pin(o.store((0, 0), left), role="mma", in_flight=0, atom="tma")
    kiln.pin(u.store((0, 0), right), role="mma", in_flight=0, atom="tma")


def test_two_products_of_one_tile(rng) -> None:
    k = 32 * int(rng.integers(1, 6))
    x = rng.standard_normal((128, k)).astype(np.float32)
    w, v = (rng.standard_normal((rows, k)).astype(BF16) for rows in (64, 32))
    o, u = np.zeros((128, 64), np.float32), np.zeros((128, 32), np.float32)
    two_of_one.options(device=DEVICE)[1](x, w, v, o, u)
    t = wide(np.exp(x).astype(BF16))
    assert_near(o, t @ wide(w).T, 1e-3)
    assert_near(u, t @ wide(v).T, 1e-3)
    compiled = two_of_one.compile(x, w, v, o, u, target=TARGET)
    zeros = 2  # of the two sums, if there are no trips
    assert compiled.asm.count("tcgen05.wait::st") == 1 + zeros


# ---- What the compiler decides


def reads_tensor_memory(kernel: Any, *args: Any, **constants: Any) -> bool:
    compiled = kernel.compile(*args, target=TARGET, **constants)
    assert "mma.sync" not in compiled.asm
    return READS_TENSOR_MEMORY.search(compiled.asm) is not None


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", [BF16, F16])
def test_plain_attention(rng, dtype, causal: bool) -> None:
    n, d, bn = int(rng.integers(130, 300)), int(rng.choice([32, 64])), int(rng.choice([32, 64]))
    q, k, v = (rng.standard_normal((n, d)).astype(dtype) for _ in range(3))
    out = np.zeros((n, d), np.float32)
    scale = d**-0.5 * 1.4426950408889634
    tile = dict(CAUSAL=causal, BM=128, BN=bn, D=d)
    attention.options(device=DEVICE)(q, k, v, out, scale, **tile)
    scores = wide(q) @ wide(k).T * d**-0.5
    if causal:
        scores = np.where(np.tri(n, n, 0, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    assert_near(out, weights @ wide(v) / weights.sum(1, keepdims=True), 4e-3)
    assert reads_tensor_memory(attention, q, k, v, out, scale, **tile)


def test_attention_by_128_keys_and_heads_of_128(rng) -> None:
    """The sum stays in tensor memory beside the scores: no thread's registers are short."""
    q, k, v = (rng.standard_normal((150, 128)).astype(BF16) for _ in range(3))
    out = np.zeros((150, 128), np.float32)
    scale = 128**-0.5 * 1.4426950408889634
    tile = dict(CAUSAL=True, BM=128, BN=128, D=128)
    attention.options(device=DEVICE)(q, k, v, out, scale, **tile)
    scores = np.where(np.tri(150, dtype=bool), wide(q) @ wide(k).T * 128**-0.5, -np.inf)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    assert_near(out, weights @ wide(v) / weights.sum(1, keepdims=True), 4e-3)
    assert reads_tensor_memory(attention, q, k, v, out, scale, **tile)
    compiled = attention.compile(q, k, v, out, scale, **tile, target=TARGET)
    assert compiled.metadata.get("local_bytes", 0) == 0


@kiln.kernel
def perceptron(x: kiln.View, w: kiln.View, v: kiln.View, out: kiln.View):
    i = kiln.grid(kiln.cdiv(out.shape[0], 128))
    t = x.load((i * 128, 0), (128, 64))
    acc = kiln.zeros((128, 64), kiln.f32)
    for h in range(0, w.shape[0], 64):
        z = kiln.maximum(kiln.dot(t, w.load((h, 0), (64, 64)), transpose_b=True), 0.0)
        acc = kiln.dot(z.to(kiln.bf16), v.load((h, 0), (64, 64)), acc)
    out.store((i * 128, 0), acc)


def test_plain_perceptron(rng) -> None:
    m, h = int(rng.integers(2, 300)), int(rng.integers(2, 250))
    x, v = (rng.standard_normal((rows, 64)).astype(BF16) for rows in (m, h))
    w = (0.2 * rng.standard_normal((h, 64))).astype(BF16)
    out = np.zeros((m, 64), np.float32)
    perceptron.options(device=DEVICE)(x, w, v, out)
    z = np.maximum(wide(x) @ wide(w).T, 0)
    assert_near(out, wide(z.astype(BF16)) @ wide(v), 2e-3)
    assert reads_tensor_memory(perceptron, x, w, v, out)


@kiln.kernel
def scaled_weights(x: kiln.View, w: kiln.View, s: kiln.View, out: kiln.View):
    """Weights of few bits, scaled: the transpose's first operand."""
    i, j = kiln.grid(kiln.cdiv(out.shape[0], 32), kiln.cdiv(out.shape[1], 128))
    acc = kiln.zeros((32, 128), kiln.f32)
    for k in range(0, x.shape[1], 64):
        y = w.load((j * 128, k), (128, 64)).to(kiln.bf16) * s.load((j * 128,), (128,))[:, None]
        acc = kiln.dot(x.load((i * 32, k), (32, 64)), y, acc, transpose_b=True)
    out.store((i * 32, j * 128), acc)


def test_plain_product_of_scaled_weights(rng) -> None:
    m, n, k = int(rng.integers(1, 70)), 16 * int(rng.integers(1, 12)), 64 * int(rng.integers(1, 4))
    x = rng.standard_normal((m, k)).astype(BF16)
    w, s = rng.integers(-8, 8, (n, k)).astype(np.int8), rng.choice([0.5, 1, 2], n).astype(BF16)
    out = np.zeros((m, n), np.float32)
    scaled_weights.options(device=DEVICE)(x, w, s, out)
    assert_near(out, wide(x) @ (wide(w) * wide(s)[:, None]).T, 1e-5)
    assert reads_tensor_memory(scaled_weights, x, w, s, out)


@kiln.kernel
def gated(x: kiln.View, w: kiln.View, v: kiln.View, out: kiln.View, BN: kiln.constexpr):
    i, j = kiln.grid(kiln.cdiv(out.shape[0], 128), kiln.cdiv(out.shape[1], BN))
    g, u = kiln.zeros((128, BN), kiln.f32), kiln.zeros((128, BN), kiln.f32)
    for k in range(0, x.shape[1], 64):
        t = x.load((i * 128, k), (128, 64))
        g = kiln.dot(t, w.load((j * BN, k), (BN, 64)), g, transpose_b=True)
        u = kiln.dot(t, v.load((j * BN, k), (BN, 64)), u, transpose_b=True)
    out.store((i * 128, j * BN), (g / (1.0 + kiln.exp(-g)) * u).to(out.dtype))


@pytest.mark.parametrize("dtype", [BF16, np.float32])
def test_gated_sums_are_fetched_as_they_are_stored(rng, dtype) -> None:
    m, n, k = int(rng.integers(1, 200)), 8 * int(rng.integers(1, 25)), 8 * int(rng.integers(1, 20))
    x, w, v = (rng.standard_normal((rows, k)).astype(BF16) for rows in (m, n, n))
    out = np.zeros((m, n), dtype)
    gated.options(device=DEVICE)(x, w * BF16(0.25), v, out, BN=128)
    g, u = wide(x) @ wide(w * BF16(0.25)).T, wide(x) @ wide(v).T
    assert_near(out, g / (1 + np.exp(-g)) * u, 4e-3 if dtype == BF16 else 1e-5)
    compiled = gated.compile(x, w, v, out, BN=128, target=TARGET)
    assert compiled.metadata["proposal"] == 0
    assert compiled.metadata.get("local_bytes", 0) == 0


# ---- What tensor memory cannot have


@kiln.kernel
def scaled_right(a: kiln.View, b: kiln.View, o: kiln.View):
    """Operand b is read from shared memory alone, so warps write there what they compute."""
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=2):
        x = kiln.pin(a.load((0, k), (128, 64)), role="load", stage=0, atom="tma")
        y = kiln.pin(b.load((0, k), (64, 64)), role="mma", stage=0) * 2.0
        acc = kiln.pin(
            kiln.dot(x, y.to(kiln.bf16), acc, transpose_b=True),
            role="mma", stage=0, in_flight=0, atom="tcgen05",
        )  # fmt: skip
    kiln.pin(o.store((0, 0), acc), role="mma", in_flight=0, atom="tma")


def test_what_tensor_memory_cannot_have_goes_through_shared_memory(rng) -> None:
    k = 64 * int(rng.integers(1, 5))
    a, b = (rng.integers(-8, 9, (rows, k)).astype(BF16) for rows in (128, 64))
    o = np.full((128, 64), np.nan, np.float32)
    scaled_right.options(device=DEVICE)[1](a, b, o)
    assert_near(o, 2 * wide(a) @ wide(b).T, 1e-6)
