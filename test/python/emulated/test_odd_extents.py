"""Products by tiles whose extents have odd factors, plain and pinned, on emulated chips of all kinds of
matrix instructions and the CPU, against float64: by the norm and by the worst element.

What an instruction can make is exact, all else grows, and numbers are the same. What is summed up behind a
product never sees what has grown.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from product_kernels import assert_sums

import kiln

BF16 = ml_dtypes.bfloat16
EXTENTS = [16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256]
CHIPS = ["sm_90a", "sm_80", "gfx942", "gfx1201", "sm_100a"]
DEVICES = ["cpu"] + [f"emu:{chip}" for chip in CHIPS]
# By type, in which precision: tf32 of what has no more bits.
DTYPES = [
    (BF16, "ieee"), (np.float16, "ieee"), (np.int8, "ieee"), (ml_dtypes.float8_e4m3fn, "ieee"),
    (ml_dtypes.float8_e5m2, "ieee"), (np.float32, "tf32"),
]  # fmt: skip
COPIES = {"sm_80": "cp_async", "sm_90a": "cp_async", "gfx942": "load_to_lds"}
ATOMS = {"sm_80": "mma_sync", "sm_90a": "mma_sync", "gfx942": "matrix", "gfx1201": "matrix"}


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View, M: kiln.constexpr, N: kiln.constexpr,
    K: kiln.constexpr, ta: kiln.constexpr, tb: kiln.constexpr, sum_type: kiln.constexpr,
    precision: kiln.constexpr,
):  # fmt: skip
    """A product in a loop that pins nothing."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], M), kiln.cdiv(c.shape[1], N))
    acc = kiln.zeros((M, N), sum_type)
    for k in range(0, a.shape[0] if ta else a.shape[1], K):
        x = a.load((k, i * M), (K, M)) if ta else a.load((i * M, k), (M, K))
        y = b.load((j * N, k), (N, K)) if tb else b.load((k, j * N), (K, N))
        acc = kiln.dot(x, y, acc, transpose_a=ta, transpose_b=tb, precision=precision)
    c.store((i * M, j * N), acc)


@kiln.kernel
def pinned(
    a: kiln.View, b: kiln.View, c: kiln.View, M: kiln.constexpr, N: kiln.constexpr,
    K: kiln.constexpr, atom: kiln.constexpr, copy: kiln.constexpr, warps: kiln.constexpr,
):  # fmt: skip
    """One that pins its instruction, and rings that its warps fill."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], M), kiln.cdiv(c.shape[1], N))
    kiln.pin(roles=kiln.role("all", warps=warps))
    acc = kiln.zeros((M, N), kiln.f32)
    for k in range(0, a.shape[1], K):
        x = kiln.pin(a.load((i * M, k), (M, K)), atom=copy, ring="r", depth=3, stage=0)
        y = kiln.pin(b.load((j * N, k), (N, K)), atom=copy, ring="r", depth=3, stage=0)
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), stage=2, atom=atom)
    kiln.pin(c.store((i * M, j * N), acc), role="all")


def test_copies_that_all_write_a_tile(rng) -> None:
    """Three copies cannot share 16 rows out: each writes all of them, by matrices, the same bits."""
    a, b, want, terms = operands(rng, (311, 18, 83), np.float16, ta=True, tb=True)
    c = np.full((311, 18), np.nan, np.float32)
    product.options(device="emu:sm_90a")(
        a, b, c, M=192, N=16, K=64, ta=True, tb=True, sum_type=kiln.f32, precision="ieee"
    )
    assert np.abs((c - want) / terms).max() <= 1e-5


@kiln.kernel
def weighted(
    q: kiln.View, k: kiln.View, v: kiln.View, o: kiln.View,
    M: kiln.constexpr, N: kiln.constexpr, D: kiln.constexpr,
):  # fmt: skip
    """Attention over as many keys as a tile has: of each query the weights add to one."""
    i = kiln.grid(kiln.cdiv(o.shape[0], M))
    x, y = q.load((i * M, 0), (M, D)), k.load((0, 0), (N, D))
    scores = kiln.dot(x, y, transpose_b=True)
    weights = kiln.exp(scores - kiln.max(scores, axis=1)[:, None])
    total = kiln.sum(weights, axis=1)[:, None]
    o.store((i * M, 0), kiln.dot(weights.to(q.dtype), v.load((0, 0), (N, D))) / total)


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype) -> np.ndarray:
    if dtype == np.int8:
        return rng.integers(-128, 128, shape).astype(dtype)
    if dtype == np.float32:
        bits = rng.standard_normal(shape).astype(dtype).view(np.uint32) & np.uint32(0xFFFFE000)
        return bits.view(dtype)
    return rng.standard_normal(shape).astype(dtype)


def draw_tile(rng: np.random.Generator, bytes_each: int) -> tuple[int, int, int]:
    """One whose sums and operands have room on each chip, were all extents to grow."""
    while True:
        tile = tuple(int(extent) for extent in rng.choice(EXTENTS, 3))
        m, n, k = (1 << (extent - 1).bit_length() for extent in tile)
        if bytes_each * (m + n) * k <= 48 * 1024 and m * n <= 128 * 128:
            return tile


def draw_sizes(rng: np.random.Generator, tile: tuple[int, int, int]) -> list[int]:
    """Of a few tiles, some of them in part; half of the time of strides that an engine can follow."""
    step = int(rng.choice([1, 16]))
    return [max(step, int(rng.integers(1, 2 * extent)) // step * step) for extent in tile]


def operands(rng, sizes, dtype, ta: bool, tb: bool):
    m, n, k = sizes
    a = numbers(rng, (k, m) if ta else (m, k), dtype)
    b = numbers(rng, (n, k) if tb else (k, n), dtype)
    x, y = (np.asarray(t, np.float64) for t in (a.T if ta else a, b.T if tb else b))
    return a, b, x @ y, np.abs(x) @ np.abs(y) + 1e-30


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("draw", range(6))
def test_drawn_plain_products(rng, device: str, draw: int) -> None:
    rng = np.random.default_rng([draw, DEVICES.index(device), int(rng.integers(1 << 62))])
    dtype, precision = DTYPES[int(rng.integers(len(DTYPES)))]
    tile = draw_tile(rng, max(2, np.dtype(dtype).itemsize))
    sizes = draw_sizes(rng, tile)
    ta, tb = (bool(rng.integers(2)) for _ in "ab")
    a, b, want, terms = operands(rng, sizes, dtype, ta, tb)
    out, sum_type = (np.int32, kiln.i32) if dtype == np.int8 else (np.float32, kiln.f32)
    guard = np.full((sizes[0], sizes[1] + 16), 77, out)
    c = guard[:, : sizes[1]]
    print(tile, sizes, np.dtype(dtype), precision, ta, tb)
    M, N, K = tile
    product.options(device=device)(
        a, b, c, M=M, N=N, K=K, ta=ta, tb=tb, sum_type=sum_type, precision=precision
    )
    # sm_90a sums 14 bits of products of byte floats, 128 at a time (docs/rationale/parts.md).
    is_short = device == "emu:sm_90a" and np.dtype(dtype).name.startswith("float8")
    assert_sums(c, want, terms, 1e-30 if dtype == np.int8 else 2e-3 if is_short else 2e-5)
    assert (guard[:, sizes[1] :] == 77).all(), "expected nothing beyond the last column"


@pytest.mark.parametrize("chip", list(ATOMS))
@pytest.mark.parametrize("draw", range(4))
def test_drawn_pinned_products(rng, chip: str, draw: int) -> None:
    rng = np.random.default_rng([draw, list(ATOMS).index(chip), int(rng.integers(1 << 62))])
    while True:
        M, N, K = draw_tile(rng, 3 * 2)  # for three slots
        if min(M, N) * K >= 2048:  # each of eight warps copies something
            break
    sizes, dtype = draw_sizes(rng, (M, N, K)), [BF16, np.float16][int(rng.integers(2))]
    sizes[2] = max(sizes[2], 2)  # of one element along k there is no loop, and a stage is refused
    is_wide = sizes[2] % 8 == 0 and rng.integers(2)
    copy = COPIES.get(chip, "through_registers") if is_wide else "through_registers"
    a, b, want, terms = operands(rng, sizes, dtype, False, True)
    c = np.full(tuple(sizes[:2]), np.nan, np.float32)
    print((M, N, K), sizes, np.dtype(dtype), copy)
    pinned.options(device=f"emu:{chip}")(
        a, b, c, M=M, N=N, K=K, atom=ATOMS[chip], copy=copy,
        warps=int(rng.choice([4, 8])),
    )  # fmt: skip
    assert_sums(c, want, terms, 2e-5)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("M, N, D", [(64, 96, 64), (64, 80, 96), (48, 96, 48), (128, 48, 80)])
def test_sums_behind_odd_products(rng, device: str, M: int, N: int, D: int) -> None:
    queries = int(rng.integers(1, 2 * M))
    q = (rng.standard_normal((queries, D)) + 1).astype(BF16)
    # All scores are far below zero: an element that has grown would be the largest.
    k = (rng.standard_normal((N, D)) - 3).astype(BF16)
    v = rng.standard_normal((N, D)).astype(BF16)
    o = np.full((queries, D), np.nan, np.float32)
    weighted.options(device=device)(q, k, v, o, M=M, N=N, D=D)
    x, y, z = (np.asarray(t, np.float64) for t in (q, k, v))
    weights = np.exp(x @ y.T - (x @ y.T).max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    assert_sums(o, weights @ z, weights @ np.abs(z) + 1e-30, 8e-3)


@pytest.mark.parametrize(
    "target, tile, instruction",
    [
        ("nvptx:sm_90a", (256, 192, 64), "m64n192k16"),
        ("nvptx:sm_90a", (192, 192, 128), "m64n192k16"),
        ("nvptx:sm_90a", (192, 128, 64), "m64n128k16"),
        ("nvptx:sm_90a", (128, 96, 64), "m64n96k16"),
        ("nvptx:sm_90a", (128, 192, 96), "m64n192k16"),
        ("nvptx:sm_100a", (128, 192, 64), "tcgen05.mma"),
    ],
)
def test_plain_tiles_are_exact(target: str, tile, instruction: str) -> None:
    M, N, K = tile
    a, b, c = (np.zeros((4096, 4096), BF16) for _ in range(3))
    made = product.compile(
        a, b, c.astype(np.float32), M=M, N=N, K=K, ta=False, tb=True, sum_type=kiln.f32,
        precision="ieee", target=target,
    )  # fmt: skip
    assert instruction in made.asm and made.metadata["proposal"] == 0
