"""Kernels in Python whose schedules are pinned by kiln.pin, on emulated chips, against float64: that of
benchmarks/ whose programs share a loop, and products by drawn tiles, depths and numbers of copies, for whose layouts nothing
is pinned."""

from __future__ import annotations

import sys

import ml_dtypes
import numpy as np
import pytest
from pinned import BENCHMARKS

import kiln

sys.path.append(str(BENCHMARKS))
import pinned_kernels  # noqa: E402

BF16 = ml_dtypes.bfloat16


def error(out: np.ndarray, reference: np.ndarray) -> float:
    return float(np.linalg.norm(out.astype(np.float64) - reference) / np.linalg.norm(reference))


def operands(rng: np.random.Generator, m: int, n: int, k: int, dtype=BF16):
    a, b = (rng.standard_normal((rows, k)).astype(dtype) for rows in (m, n))
    return a, b, a.astype(np.float64) @ b.astype(np.float64).T


# On 132 programs, more than there are tiles and than there are trips.
@pytest.mark.parametrize("m, n, k", [(200, 304, 328), (40, 520, 72)])
@pytest.mark.parametrize("share", ["stream", ("stream", "atomic")])
def test_streamed_product(rng, m: int, n: int, k: int, share) -> None:
    a, b, reference = operands(rng, m, n, k)
    outs = [np.full((m, n), np.nan, BF16) for _ in range(2)]
    for c in outs:
        pinned_kernels.gemm.options(device="emu:sm_90a")(a, b, c, SHARE=share)
        assert np.linalg.norm(c.astype(np.float64) - reference) <= 4e-3 * np.linalg.norm(reference)
    if share == "stream":
        assert np.array_equal(*(c.view(np.uint16) for c in outs)), (m, n, k)


@kiln.kernel
def by_roles(
    a: kiln.View, b: kiln.View, c: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr, depth: kiln.constexpr,
    copies: kiln.constexpr, flight: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies)))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], BK), depth=depth):
        x = kiln.pin(a.load((i * BM, k), (BM, BK)), role="load", stage=0, atom="tma")
        y = kiln.pin(b.load((j * BN, k), (BN, BK)), role="load", stage=0, atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            role="mma", stage=0, in_flight=flight, atom="wgmma",
        )  # fmt: skip
    kiln.pin(c.store((i * BM, j * BN), acc.to(c.dtype)), role="mma", in_flight=0, atom="tma")


@kiln.kernel
def by_one_role(
    a: kiln.View, b: kiln.View, c: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr, depth: kiln.constexpr,
    warps: kiln.constexpr, copy: kiln.constexpr, product: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    kiln.pin(roles=(kiln.role("all", warps=warps),))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], BK), depth=depth):
        x = kiln.pin(a.load((i * BM, k), (BM, BK)), role="all", stage=0, atom=copy)
        y = kiln.pin(b.load((j * BN, k), (BN, BK)), role="all", stage=0, atom=copy)
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True), role="all", stage=depth - 1, atom=product
        )
    kiln.pin(c.store((i * BM, j * BN), acc.to(c.dtype)), role="all")


DRAWN = 6


def drawn(rng: np.random.Generator, draw: int) -> np.random.Generator:
    """Another generator for each draw of a test."""
    return np.random.default_rng([draw, int(rng.integers(1 << 62))])


DTYPES = [BF16, np.float16]


@pytest.mark.parametrize("draw", range(DRAWN))
def test_drawn_roles(rng, draw: int) -> None:
    rng = drawn(rng, draw)

    def pick(choices):
        return choices[rng.integers(len(choices))]

    copies = pick((1, 2))
    tile = {
        "BM": 64 * copies * pick((1, 2)), "BN": pick((16, 64, 128)), "BK": pick((16, 32, 64)),
        "depth": pick((2, 3)), "copies": copies, "flight": pick((0, 1)),
    }  # fmt: skip
    m, n, k = rng.integers(1, 300), 8 * rng.integers(1, 30), 8 * rng.integers(1, 30)
    dtype = pick(DTYPES)
    a, b, reference = operands(rng, m, n, k, dtype)
    c = np.zeros((m, n), dtype)
    by_roles.options(device="emu:sm_90a")(a, b, c, **tile)
    assert error(c, reference) < 4e-3, (tile, m, n, k, dtype)


@pytest.mark.parametrize("draw", range(DRAWN))
@pytest.mark.parametrize(
    "chip, copy, product",
    [
        ("sm_80", "cp_async", "mma_sync"),
        ("gfx942", "load_to_lds", "matrix"),
        ("gfx950", "load_to_lds", "matrix"),
    ],
)
def test_drawn_own_rings(rng, chip: str, copy: str, product: str, draw: int) -> None:
    rng = drawn(rng, draw)

    def pick(choices):
        return choices[rng.integers(len(choices))]

    tile = {
        "BM": pick((64, 128)), "BN": pick((64, 128)), "BK": pick((32, 64)),
        "depth": 2 if chip == "gfx942" else pick((2, 3)), "warps": pick((4, 8)), "copy": copy, "product": product,
    }  # fmt: skip
    m, n, k = rng.integers(1, 200), 8 * rng.integers(1, 25), 8 * rng.integers(1, 25)
    dtype = pick(DTYPES)
    a, b, reference = operands(rng, m, n, k, dtype)
    c = np.zeros((m, n), dtype)
    by_one_role.options(device=f"emu:{chip}")(a, b, c, **tile)
    assert error(c, reference) < 4e-3, (tile, m, n, k, dtype)


@kiln.kernel
def attention_of_one_role(
    q: kiln.View, k: kiln.View, v: kiln.View, o: kiln.View, n,
    warps: kiln.constexpr, copy: kiln.constexpr, product: kiln.constexpr,
):  # fmt: skip
    """Heads of 64. The weights of a product become an operand of the next one, which the role
    converts through shared memory where registers do not do."""
    i = kiln.grid(kiln.cdiv(n, 128))
    kiln.pin(roles=kiln.role("all", warps=warps))
    x = kiln.pin(q.load((i * 128, 0), (128, 64)), role="all")
    acc = kiln.zeros((128, 64), kiln.f32)
    largest = kiln.full((128,), -float("inf"), kiln.f32)
    total = kiln.zeros((128,), kiln.f32)
    for j in kiln.pin(range(0, n, 64), depth=2):
        keys = kiln.pin(k.load((j, 0), (64, 64)), role="all", stage=0, atom=copy)
        values = kiln.pin(v.load((j, 0), (64, 64)), role="all", stage=0, atom=copy)
        scores = kiln.pin(kiln.dot(x, keys, transpose_b=True), role="all", stage=1, atom=product)
        scores = kiln.where((j + kiln.arange(64))[None, :] < n, scores / 8, -float("inf"))
        most = kiln.maximum(largest, kiln.max(scores, axis=1))
        shrink = kiln.exp(largest - most)
        weights = kiln.exp(scores - most[:, None])
        total = total * shrink + kiln.sum(weights, axis=1)
        largest = most
        acc = kiln.pin(
            kiln.dot(weights.to(kiln.bf16), values, acc * shrink[:, None]),
            role="all", stage=1, atom=product,
        )  # fmt: skip
    kiln.pin(o.store((i * 128, 0), (acc / total[:, None]).to(kiln.bf16)), role="all")


@pytest.mark.parametrize(
    "chip, copy, product, warps",
    [
        ("sm_80", "cp_async", "mma_sync", 4),
        ("sm_80", "cp_async", "mma_sync", 8),
        ("gfx942", "load_to_lds", "matrix", 4),
        ("gfx950", "load_to_lds", "matrix", 4),
        ("gfx950", "load_to_lds", "matrix", 8),
    ],
)
def test_attention_of_one_role(rng, chip: str, copy: str, product: str, warps: int) -> None:
    n = int(rng.integers(1, 300))
    q, k, v = (rng.standard_normal((n, 64)).astype(BF16) for _ in range(3))
    o = np.zeros((n, 64), BF16)
    kernel = attention_of_one_role.options(device=f"emu:{chip}")
    kernel(q, k, v, o, n, warps=warps, copy=copy, product=product)
    scores = q.astype(np.float64) @ k.astype(np.float64).T / 8
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    assert error(o, weights @ v.astype(np.float64)) < 1e-2, n


@kiln.kernel
def two_reduce(a: kiln.View, sums: kiln.View, most: kiln.View, COPIES: kiln.constexpr):
    """Two roles at once, each of which reduces rows that its warps share, several times."""
    i = kiln.grid(kiln.cdiv(a.shape[0], 8))
    kiln.pin(roles=(kiln.role("sums", warps=4, copies=COPIES), kiln.role("most", warps=2)))
    for j in range(4):
        row = i * 8 + j * 2
        x = kiln.pin(a.load((row, 0), (2, 1024)), role="sums")
        kiln.pin(sums.store((row,), kiln.sum(x, axis=1)), role="sums")
        y = kiln.pin(a.load((row, 0), (2, 1024)), role="most")
        kiln.pin(most.store((row,), kiln.max(y, axis=1)), role="most")


@pytest.mark.parametrize("copies", [1, 2])
def test_roles_reduce_over_their_own_warps(rng, copies: int) -> None:
    a = rng.integers(-99, 99, (16, 1024)).astype(np.float32)
    sums, most = np.zeros(16, np.float32), np.zeros(16, np.float32)
    two_reduce.options(device="emu:sm_90a")(a, sums, most, COPIES=copies)
    assert np.array_equal(sums, a.sum(1))
    assert np.array_equal(most, a.max(1))


@kiln.kernel
def doubled(a: kiln.View, o: kiln.View, ROWS: kiln.constexpr, COPIES: kiln.constexpr):
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("work", warps=2, copies=COPIES)))
    i = kiln.program_id(0)
    x = kiln.pin(a.load((i * ROWS, 0), (ROWS, 64)), role="load", depth=1, atom="tma")
    kiln.pin(o.store((i * ROWS, 0), kiln.pin(x + x, role="work")), role="work")


@pytest.mark.parametrize("rows, copies", [(8, 2), (8, 4), (16, 4), (64, 2)])
def test_copies_share_few_rows(rng, rows: int, copies: int) -> None:
    """A copy's rows may be fewer than those over which a tile's pieces are permuted."""
    a = rng.standard_normal((2 * rows, 64)).astype(np.float16)
    o = np.zeros_like(a)
    doubled.options(device="emu:sm_90a")[2](a, o, ROWS=rows, COPIES=copies)
    assert np.array_equal(o, a + a)


@pytest.mark.parametrize("rows, columns, warps", [(64, 16, 4), (64, 32, 8), (16, 16, 2)])
def test_an_operand_made_of_a_loaded_tile(rng, rows: int, columns: int, warps: int) -> None:
    """What a role computes of a tile before it multiplies is converted by the role."""

    @kiln.kernel
    def negated(
        a: kiln.View, b: kiln.View, c: kiln.View,
        M: kiln.constexpr, N: kiln.constexpr, W: kiln.constexpr,
    ):  # fmt: skip
        kiln.pin(roles=kiln.role("all", warps=W))
        acc = kiln.zeros((M, N), kiln.f32)
        for k in kiln.pin(range(0, 64, 16), depth=2):
            x = kiln.pin(a.load((0, k), (M, 16)), role="all", stage=0, atom="cp_async")
            y = kiln.pin(b.load((0, k), (N, 16)), role="all", stage=0, atom="cp_async")
            y = kiln.pin(-y, role="all", stage=1)
            acc = kiln.pin(
                kiln.dot(x, y, acc, transpose_b=True), role="all", stage=1, atom="mma_sync"
            )
        kiln.pin(c.store((0, 0), acc), role="all")

    a, b = (rng.standard_normal((n, 64)).astype(np.float16) for n in (rows, columns))
    c = np.zeros((rows, columns), np.float32)
    negated.options(device="emu:sm_80")[1](a, b, c, M=rows, N=columns, W=warps)
    assert error(c, -a.astype(np.float64) @ b.astype(np.float64).T) < 1e-3


@kiln.kernel
def scaled(a: kiln.View, b: kiln.View, c: kiln.View, flight: kiln.constexpr):
    i = kiln.grid(kiln.cdiv(c.shape[0], 64))
    kiln.pin(roles=(kiln.role("mma", warps=4), kiln.role("load", warps=1)))
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=3):
        x = kiln.pin(a.load((i * 64, k), (64, 32)), role="load", stage=0, atom="tma")
        y = kiln.pin(b.load((0, k), (64, 32)), role="load", stage=0, atom="tma")
        x = (x.to(kiln.f32) * 0.5).to(kiln.bf16)
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            role="mma", stage=0, in_flight=flight, atom="wgmma",
        )  # fmt: skip
    kiln.pin(c.store((i * 64, 0), acc), role="mma")


@pytest.mark.parametrize("flight", [0, 1, 2])
def test_registers_are_read_until_the_wait(rng, flight: int) -> None:
    a, b, reference = operands(rng, 64, 64, 96)
    c = np.zeros((64, 64), np.float32)
    scaled.options(device="emu:sm_90a")(a, b, c, flight)
    assert error(c, reference * 0.5) < 1e-2
