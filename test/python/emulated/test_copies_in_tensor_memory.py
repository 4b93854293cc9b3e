"""Two copies of a role whose products have their sums in tensor memory: each starts, fetches and
writes its own 128 rows, on the emulated chip, against float64."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from attention_kernels import attention
from product_kernels import assert_near, wide

import kiln

BF16, E4M3 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn
DEVICE, TARGET = "emu:sm_100a", "nvptx:sm_100a"


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View, BN: kiln.constexpr, BK: kiln.constexpr,
    depth: kiln.constexpr, X: kiln.constexpr, PAIR: kiln.constexpr, programs: kiln.constexpr,
    share: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 256), kiln.cdiv(c.shape[1], BN))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=2)))
    if X > 1:
        kiln.pin(cluster=(X, 1))
    if programs:
        kiln.pin(persistent=programs)
    acc = kiln.zeros((256, BN), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], BK), depth=depth):
        x = kiln.pin(a.load((i * 256, k), (256, BK)), role="load", stage=0, atom="tma")
        y = kiln.pin(b.load((j * BN, k), (BN, BK)), role="load", stage=0, atom="tma")
        if share:
            y = kiln.pin(y, multicast="x")
        acc = kiln.dot(x, y, acc, transpose_b=True)
        if PAIR:
            acc = kiln.pin(acc, role="mma", stage=0, in_flight=0, atom="tcgen05_pair")
        else:
            acc = kiln.pin(acc, role="mma", stage=0, in_flight=0, atom="tcgen05")
    kiln.pin(c.store((i * 256, j * BN), acc), role="mma", in_flight=0, atom="tma")


# One program, clusters that share b out, and pairs, of as many columns as there is room for.
@pytest.mark.parametrize("dtype", [BF16, E4M3])
@pytest.mark.parametrize("x, pair, share", [(1, 0, 0), (2, 0, 1), (2, 1, 0)])
def test_products(rng, dtype, x: int, pair: int, share: int) -> None:
    size = np.dtype(dtype).itemsize
    tile = dict(
        BN=int(rng.choice([32, 64, 128, 256] + [96] * (not share))), BK=int(rng.choice([64, 128])) // size,
        depth=int(rng.integers(1, 4)), X=x, PAIR=bool(pair), share=bool(share),
        programs=int(rng.choice([0, x])),
    )  # fmt: skip
    m, n = 256 * x - 16 * int(rng.integers(15)), tile["BN"] + 16 * int(rng.integers(4))
    k = 16 * int(rng.integers(1, 16))
    a, b = (rng.standard_normal((rows, k)).astype(dtype) for rows in (m, n))
    c = np.full((m, n), np.nan, np.float32)
    product.options(device=DEVICE)(a, b, c, **tile)
    assert_near(c, wide(a) @ wide(b).T, 1e-5, (tile, m, n, k))


@kiln.kernel
def chain(
    x: kiln.View, w: kiln.View, v: kiln.View, c: kiln.View, o: kiln.View,
    H: kiln.constexpr, N: kiln.constexpr, depth: kiln.constexpr, halves: kiln.constexpr,
    PAIR: kiln.constexpr,
):  # fmt: skip
    """A hidden layer of so many columns a trip, added to what there was, or to half of it."""
    i = kiln.grid(kiln.cdiv(o.shape[0], 256))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=2)))
    if PAIR:
        kiln.pin(cluster=2)
    rows = kiln.pin(x.load((i * 256, 0), (256, 64)), role="load", atom="tma", ring="x")
    acc = kiln.pin(c.load((i * 256, 0), (256, N)), role="mma")
    for h in kiln.pin(range(0, w.shape[0], H), depth=depth):
        first = kiln.pin(w.load((h, 0), (H, 64)), role="load", stage=0, atom="tma", ring="w")
        s = kiln.dot(rows, first, transpose_b=True)
        if PAIR:
            s = kiln.pin(s, role="mma", stage=0, in_flight=0, atom="tcgen05_pair")
        else:
            s = kiln.pin(s, role="mma", stage=0, in_flight=0, atom="tcgen05")
        p = kiln.maximum(s, 0.0).to(v.dtype)
        second = kiln.pin(v.load((h, 0), (H, N)), role="load", stage=0, atom="tma", ring="v")
        acc = kiln.dot(p, second, acc * 0.5 if halves else acc)
        if PAIR:
            acc = kiln.pin(acc, role="mma", stage=0, in_flight=0, atom="tcgen05_pair")
        else:
            acc = kiln.pin(acc, role="mma", stage=0, in_flight=0, atom="tcgen05")
    kiln.pin(o.store((i * 256, 0), acc), role="mma", in_flight=0, atom="tma")


@pytest.mark.parametrize("pair", [False, True])
@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("trips", [0, 1, 3])
def test_chains(rng, trips: int, halves: bool, pair: bool) -> None:
    tile = dict(H=32, N=int(rng.choice([32, 64])), depth=int(rng.integers(1, 3)), halves=halves,
                PAIR=pair)  # fmt: skip
    m, hidden = (512 if pair else 256) - 16 * int(rng.integers(15)), 32 * trips
    x, w, v = (
        rng.integers(-1, 2, shape).astype(np.float32) * (rng.random(shape) < 0.3)
        for shape in ((m, 64), (max(hidden, 32), 64), (max(hidden, 32), tile["N"]))
    )
    x, w, v = x.astype(BF16), w.astype(BF16)[:hidden], v.astype(BF16)[:hidden]
    c = rng.standard_normal((m, tile["N"])).astype(np.float32)
    o = np.full((m, tile["N"]), np.nan, np.float32)
    chain.options(device=DEVICE)(x, w, v, c, o, **tile)
    want = wide(c)
    for h in range(0, hidden, 32):
        p = np.maximum(wide(x) @ wide(w[h : h + 32]).T, 0).astype(BF16)
        want = want * (0.5 if halves else 1) + wide(p) @ wide(v[h : h + 32])
    assert_near(o, want, 1e-5, (tile, m))


# ---- Each copy hands its sums to the copy of its own number of another role


@kiln.kernel
def handed_over(
    a: kiln.View, b: kiln.View, bias: kiln.View, c: kiln.View, BN: kiln.constexpr,
    BK: kiln.constexpr, in_flight: kiln.constexpr, PAIR: kiln.constexpr,
    programs: kiln.constexpr, begun: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 256), kiln.cdiv(c.shape[1], BN))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=2),
                    kiln.role("store", warps=4, copies=2)))  # fmt: skip
    if PAIR:
        kiln.pin(cluster=(2, 1))
    if programs:
        kiln.pin(persistent=programs)
    acc = kiln.zeros((256, BN), kiln.f32)
    if begun:
        acc = acc + 0.5
    for k in kiln.pin(range(0, a.shape[1], BK), depth=2):
        x = kiln.pin(a.load((i * 256, k), (256, BK)), role="load", stage=0, atom="tma")
        y = kiln.pin(b.load((j * BN, k), (BN, BK)), role="load", stage=0, atom="tma")
        acc = kiln.dot(x, y, acc, transpose_b=True)
        if PAIR:
            acc = kiln.pin(acc, role="mma", stage=0, in_flight=in_flight, atom="tcgen05_pair")
        else:
            acc = kiln.pin(acc, role="mma", stage=0, in_flight=in_flight, atom="tcgen05")
    more = kiln.pin(bias.load((j * BN,), (BN,)), role="store")
    scaled = kiln.pin(kiln.pin(acc * 2.0, role="store") + more[None, :], role="store")
    kiln.pin(c.store((i * 256, j * BN), scaled), role="store", in_flight=0, atom="tma")


@pytest.mark.parametrize("trips", [0, 1, 4])
@pytest.mark.parametrize("pair", [False, True])
def test_each_copy_hands_its_sums_over(rng, pair: bool, trips: int) -> None:
    bn = 32 * int(rng.choice([1, 2]))
    tile = dict(
        BN=bn, BK=32, in_flight=int(rng.integers(4)), PAIR=pair, begun=bool(rng.integers(2)),
        programs=int(rng.integers(2)) * (2 if pair else int(rng.integers(1, 4))),
    )  # fmt: skip
    m = 512 * int(rng.integers(1, 3)) - 16 * int(rng.integers(8))
    n, k = 3 * bn - 8 * int(rng.integers(4)), max(32 * trips - 8 * int(rng.integers(4)), 0)
    a, b = (rng.standard_normal((rows, max(k, 8))).astype(BF16)[:, :k] for rows in (m, n))
    bias, c = rng.standard_normal(n).astype(np.float32), np.full((m, n), np.nan, np.float32)
    handed_over.options(device=DEVICE)(a, b, bias, c, **tile)
    want = 2 * (wide(a) @ wide(b).T + 0.5 * tile["begun"]) + wide(bias)
    assert_near(c, want, 1e-5, (tile, m, n, k))


# Copies of the one role fetch nothing of two of the other.
@pytest.mark.parametrize("copies", [1, 4])
def test_as_many_copies_fetch_as_hand_over(copies: int) -> None:
    @kiln.kernel
    def kernel(a: kiln.View, b: kiln.View, c: kiln.View):
        kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=2),
                        kiln.role("store", warps=4, copies=copies)))  # fmt: skip
        x = kiln.pin(a.load((0, 0), (256, 64)), role="load", atom="tma")
        y = kiln.pin(b.load((0, 0), (64, 64)), role="load", atom="tma")
        acc = kiln.pin(kiln.dot(x, y, transpose_b=True), role="mma", in_flight=0, atom="tcgen05")
        twice = kiln.pin(acc * 2.0, role="store")
        kiln.pin(c.store((0, 0), twice), role="store", in_flight=0, atom="tma")

    a, b, c = np.zeros((256, 64), BF16), np.zeros((64, 64), BF16), np.zeros((256, 64), np.float32)
    why = f'expected as many copies of role "store" as of role "mma", 2, .* got {copies}'
    with pytest.raises(kiln.CompileError, match=why):
        kernel.options(device=DEVICE)[1](a, b, c)


# ---- What the compiler decides


@kiln.kernel
def plain(
    a: kiln.View, b: kiln.View, c: kiln.View, BM: kiln.constexpr, BN: kiln.constexpr
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x, y = a.load((i * BM, k), (BM, 64)), b.load((j * BN, k), (BN, 64))
        acc = kiln.dot(x, y, acc, transpose_b=True)
    c.store((i * BM, j * BN), acc.to(c.dtype))


def count_threads(kernel: Any, *args: Any, **constants: Any) -> int:
    """Of a program whose products are in tensor memory, and whose threads have registers enough."""
    compiled = kernel.compile(*args, target=TARGET, **constants)
    assert "tcgen05.mma" in compiled.asm and "mma.sync" not in compiled.asm
    assert compiled.metadata["proposal"] in (0, 1)  # whether their trips overlap or not
    assert compiled.metadata.get("local_bytes", 0) == 0
    return int(re.search(r"\.reqntid (\d+)", compiled.asm).group(1))


# A thread fetches no more of its row than it stores at once, so rows may be as wide as there is room for.
@pytest.mark.parametrize("bm, bn", [(256, 128), (256, 192), (256, 256), (384, 128), (128, 256)])
def test_plain_products_by_wide_tiles(rng, bm: int, bn: int) -> None:
    m, n = bm - 16 * int(rng.integers(5)), bn + 16 * int(rng.integers(3))
    for k in (0, 8 * int(rng.integers(1, 20))):
        a, b = (rng.standard_normal((rows, max(k, 8))).astype(BF16)[:, :k] for rows in (m, n))
        c = np.full((m, n), np.nan, BF16)
        plain.options(device=DEVICE)(a, b, c, BM=bm, BN=bn)
        if k:
            assert_near(c, wide(a) @ wide(b).T, 4e-3, (m, n, k))
        else:
            assert (c == 0).all()
    threads = count_threads(plain, a, b, c, BM=bm, BN=bn)
    assert threads == 128 * (bm // 128) + 32


# Where a trip computes with whole rows, warps that load hand registers over.
@pytest.mark.parametrize(
    "bn, d, threads", [(64, 64, 288), (128, 64, 384), (64, 128, 384), (128, 128, 384)]
)
def test_plain_attention_by_two_copies(rng, bn: int, d: int, threads: int) -> None:
    n, causal = int(rng.integers(200, 400)), bool(rng.integers(2))
    q, k, v = (rng.standard_normal((n, d)).astype(BF16) for _ in range(3))
    out, tile = np.zeros((n, d), np.float32), dict(CAUSAL=causal, BM=256, BN=bn, D=d)
    scale = d**-0.5 * 1.4426950408889634
    attention.options(device=DEVICE)(q, k, v, out, scale, **tile)
    scores = wide(q) @ wide(k).T * d**-0.5
    if causal:
        scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    assert_near(out, weights @ wide(v) / weights.sum(1, keepdims=True), 4e-3)
    assert count_threads(attention, q, k, v, out, scale, **tile) == threads
