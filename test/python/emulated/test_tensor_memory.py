"""Products into tensor memory, pinned from Python, on the emulated chip, against float64: drawn tiles,
types and orders of the operands, depths and extents."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16, E4M3, E5M2 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr, depth: kiln.constexpr,
    TA: kiln.constexpr, TB: kiln.constexpr, precision: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in kiln.pin(range(0, a.shape[0 if TA else 1], BK), depth=depth):
        if TA:
            x = kiln.pin(a.load((k, i * BM), (BK, BM)), role="load", stage=0, atom="tma")
        else:
            x = kiln.pin(a.load((i * BM, k), (BM, BK)), role="load", stage=0, atom="tma")
        if TB:
            y = kiln.pin(b.load((j * BN, k), (BN, BK)), role="load", stage=0, atom="tma")
        else:
            y = kiln.pin(b.load((k, j * BN), (BK, BN)), role="load", stage=0, atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_a=TA, transpose_b=TB, precision=precision),
            role="mma", stage=0, in_flight=0, atom="tcgen05",
        )  # fmt: skip
    kiln.pin(c.store((i * BM, j * BN), acc), role="mma", in_flight=0, atom="tma")


# Only 16 bits are read along m or n too; rows of a box are at least 32 bytes.
FORMS = [
    (dtype, ta, tb, "ieee") for dtype in (BF16, np.float16) for ta in (0, 1) for tb in (0, 1)
] + [(E4M3, 0, 1, "ieee"), (E5M2, 0, 1, "ieee"), (np.float32, 0, 1, "tf32")]


def drawn(rng: np.random.Generator, draw: int) -> np.random.Generator:
    """Another generator for each draw of a test."""
    return np.random.default_rng([draw, int(rng.integers(1 << 62))])


@pytest.mark.parametrize("draw", range(3))
@pytest.mark.parametrize("dtype, ta, tb, precision", FORMS)
def test_drawn_products(rng, dtype, ta: int, tb: int, precision: str, draw: int) -> None:
    rng = drawn(rng, draw)

    def pick(choices):
        return choices[rng.integers(len(choices))]

    size = np.dtype(dtype).itemsize
    tile = {
        "BM": pick((128, 128, 256)), "BN": pick((16, 32, 48, 64, 80, 96, 128, 192)),
        "BK": pick((32, 64, 128)) // size, "depth": pick((1, 2, 3)),
        "TA": bool(ta), "TB": bool(tb), "precision": precision,
    }  # fmt: skip
    m, n, k = (16 * int(rng.integers(1, limit)) for limit in (20, 12, 16))
    a = rng.standard_normal((k, m) if ta else (m, k)).astype(dtype)
    b = rng.standard_normal((n, k) if tb else (k, n)).astype(dtype)
    c = np.full((m, n), np.nan, np.float32)
    product.options(device="emu:sm_100a")(a, b, c, **tile)

    def wide(operand: np.ndarray) -> np.ndarray:
        if precision == "tf32":
            operand = (operand.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
        return operand.astype(np.float64)

    want = (wide(a).T if ta else wide(a)) @ (wide(b).T if tb else wide(b))
    limit, norm = 1e-5, np.linalg.norm(want)
    assert np.linalg.norm(c - want) <= limit * norm, (tile, m, n, k)
    assert np.abs(c - want).max() <= 10 * limit * norm / want.size**0.5, (tile, m, n, k)


@kiln.kernel
def twice(a: kiln.View, b: kiln.View, c: kiln.View, depth: kiln.constexpr):
    """Two sums over k, one after the other, and one dot beside them, in a loop over tiles."""
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    for j in range(0, c.shape[1], 64):
        first = kiln.zeros((128, 64), kiln.f32)
        for k in kiln.pin(range(0, a.shape[1], 64), depth=depth):
            x = kiln.pin(a.load((0, k), (128, 64)), role="load", stage=0, atom="tma")
            y = kiln.pin(b.load((j, k), (64, 64)), role="load", stage=0, atom="tma")
            first = kiln.pin(
                kiln.dot(x, y, first, transpose_b=True),
                role="mma", stage=0, in_flight=0, atom="tcgen05",
            )  # fmt: skip
        second = kiln.zeros((128, 64), kiln.f32)
        for k in kiln.pin(range(0, a.shape[1], 64), depth=depth):
            x = kiln.pin(a.load((128, k), (128, 64)), role="load", stage=0, atom="tma")
            y = kiln.pin(b.load((j, k), (64, 64)), role="load", stage=0, atom="tma")
            second = kiln.pin(
                kiln.dot(x, y, second, transpose_b=True),
                role="mma", stage=0, in_flight=0, atom="tcgen05",
            )  # fmt: skip
        kiln.pin(c.store((0, j), first - second), role="mma", in_flight=0, atom="tma")


@pytest.mark.parametrize("k, n, depth", [(64, 64, 1), (200, 136, 2), (328, 64, 3), (0, 64, 2)])
def test_two_sums_in_turn(rng, k: int, n: int, depth: int) -> None:
    a, b = (rng.standard_normal((rows, max(k, 8))).astype(BF16)[:, :k] for rows in (256, n))
    c = np.full((128, n), np.nan, np.float32)
    twice.options(device="emu:sm_100a")[1](a, b, c, depth=depth)
    wide = a.astype(np.float64) @ b.astype(np.float64).T
    want = wide[:128] - wide[128:]
    assert np.linalg.norm(c - want) <= 1e-5 * np.linalg.norm(want)


@kiln.kernel
def handed_over(
    a: kiln.View, b: kiln.View, c: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr, depth: kiln.constexpr,
    flight: kiln.constexpr, programs: kiln.constexpr,
):  # fmt: skip
    """A role of its own scales and stores the sums, and those of the next tile begin meanwhile."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    kiln.pin(
        roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4), kiln.role("store", warps=4)),
        persistent=programs,
    )
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], BK), depth=depth):
        x = kiln.pin(a.load((i * BM, k), (BM, BK)), role="load", stage=0, atom="tma")
        y = kiln.pin(b.load((j * BN, k), (BN, BK)), role="load", stage=0, atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            role="mma", stage=0, in_flight=flight, atom="tcgen05",
        )  # fmt: skip
    scaled = kiln.pin(acc * 2.0, role="store")
    kiln.pin(c.store((i * BM, j * BN), scaled), role="store", in_flight=0, atom="tma")


@pytest.mark.parametrize("k", [0, 8, 64, 200])
@pytest.mark.parametrize("flight, programs, depth", [(0, 1, 2), (1, 2, 1), (1, 1, 3), (2, 1, 2)])
def test_sums_of_another_role(rng, k: int, flight: int, programs: int, depth: int) -> None:
    m, n = 8 * int(rng.integers(1, 60)), 8 * int(rng.integers(1, 30))
    a, b = (rng.standard_normal((rows, max(k, 8))).astype(BF16)[:, :k] for rows in (m, n))
    c = np.full((m, n), np.nan, np.float32)
    tile = dict(BM=128, BN=64, BK=64, depth=depth, flight=flight, programs=programs)
    handed_over.options(device="emu:sm_100a")(a, b, c, **tile)
    want = 2 * (a.astype(np.float64) @ b.astype(np.float64).T)
    assert np.linalg.norm(c - want) <= 1e-5 * np.linalg.norm(want), (m, n)


@kiln.kernel
def handed_over_by_pages(
    a: kiln.View, b: kiln.View, c: kiln.View, following: kiln.View, first: kiln.i32,
    ATOM: kiln.constexpr, depth: kiln.constexpr, flight: kiln.constexpr, programs: kiln.constexpr,
):  # fmt: skip
    """The same of sums over pages that lead to one another: nobody counts the trips."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], 64))
    kiln.pin(
        roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4), kiln.role("store", warps=4)),
        persistent=programs,
    )
    acc = kiln.zeros((128, 64), kiln.f32)
    page = first
    while page >= 0:
        x, y = a.load((i * 128, page * 64), (128, 64)), b.load((j * 64, page * 64), (64, 64))
        kiln.pin(x, role="load", stage=0, atom="tma", depth=depth)
        kiln.pin(y, role="load", stage=0, atom="tma", depth=depth)
        acc = kiln.dot(x, y, acc, transpose_b=True)
        kiln.pin(acc, role="mma", stage=0, in_flight=flight, atom=ATOM)
        page = following[page]
    scaled = kiln.pin(acc * 2.0, role="store")
    kiln.pin(c.store((i * 128, j * 64), scaled), role="store", in_flight=0, atom="tma")


@pytest.mark.parametrize("flight, programs, depth", [(0, 1, 2), (1, 2, 2), (1, 1, 3)])
@pytest.mark.parametrize("chip, atom", [("sm_90a", "wgmma"), ("sm_100a", "tcgen05")])
def test_sums_of_trips_that_nobody_counts(rng, chip, atom, flight, programs, depth) -> None:
    m, n = 8 * int(rng.integers(1, 60)), 8 * int(rng.integers(1, 30))
    for trips in (0, 1, 2, 5):
        order = [int(page) for page in rng.permutation(8)[:trips]]
        following = np.full(8, -7, np.int32)
        for page, after in zip(order, [*order[1:], -1], strict=False):
            following[page] = after
        a, b = (rng.standard_normal((rows, 512)).astype(BF16) for rows in (m, n))
        c = np.full((m, n), np.nan, np.float32)
        first = order[0] if order else -1
        constants = dict(ATOM=atom, depth=depth, flight=flight, programs=programs)
        handed_over_by_pages.options(device=f"emu:{chip}")(a, b, c, following, first, **constants)
        columns = np.array([64 * page + at for page in order for at in range(64)], int)
        want = 2 * (a.astype(np.float64)[:, columns] @ b.astype(np.float64)[:, columns].T)
        assert np.linalg.norm(c - want) <= 1e-5 * np.linalg.norm(want), (m, n, order)


@kiln.kernel
def added(a: kiln.View, b: kiln.View, c: kiln.View, o: kiln.View, N: kiln.constexpr):
    """A sum that begins as a tile."""
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    acc = kiln.pin(c.load((0, 0), (128, N)), role="mma")
    for k in kiln.pin(range(0, a.shape[1], 32), depth=2):
        x = kiln.pin(a.load((0, k), (128, 32)), role="load", stage=0, atom="tma")
        y = kiln.pin(b.load((0, k), (N, 32)), role="load", stage=0, atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            role="mma", stage=0, in_flight=0, atom="tcgen05",
        )  # fmt: skip
    kiln.pin(o.store((0, 0), acc), role="mma", in_flight=0, atom="tma")


@pytest.mark.parametrize("n", [16, 64, 128])
@pytest.mark.parametrize("k", [0, 32, 104])
def test_a_sum_that_begins_as_a_tile(rng, n: int, k: int) -> None:
    a, b = (rng.standard_normal((rows, max(k, 8))).astype(BF16)[:, :k] for rows in (128, n))
    c = rng.standard_normal((128, n)).astype(np.float32)
    o = np.full((128, n), np.nan, np.float32)
    added.options(device="emu:sm_100a")[1](a, b, c, o, N=n)
    want = a.astype(np.float64) @ b.astype(np.float64).T + c
    assert np.linalg.norm(o - want) <= 1e-5 * np.linalg.norm(want)


def test_a_chip_without_it_says_so(rng) -> None:
    x = np.zeros((128, 64), BF16)
    c = np.zeros((128, 64), np.float32)
    tile = dict(BM=128, BN=64, BK=64, depth=2, TA=False, TB=True, precision="ieee")
    with pytest.raises(kiln.CompileError, match="tcgen05"):
        product.options(device="emu:sm_90a")(x, x[:64], c, **tile)


@kiln.kernel
def widths(a: kiln.View, b: kiln.View, c: kiln.View):
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    first, second = kiln.zeros((128, 160), kiln.f32), kiln.zeros((128, 96), kiln.f32)
    third = kiln.zeros((128, 224), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=2):
        x = kiln.pin(a.load((0, k), (128, 32)), role="load", atom="tma")
        y = kiln.pin(b.load((0, k), (160, 32)), role="load", atom="tma")
        z = kiln.pin(b.load((160, k), (96, 32)), role="load", atom="tma")
        w = kiln.pin(b.load((256, k), (224, 32)), role="load", atom="tma")
        first, second, third = (
            kiln.pin(kiln.dot(x, y, first, transpose_b=True), role="mma", atom="tcgen05", in_flight=0),
            kiln.pin(kiln.dot(x, z, second, transpose_b=True), role="mma", atom="tcgen05", in_flight=0),
            kiln.pin(kiln.dot(x, w, third, transpose_b=True), role="mma", atom="tcgen05", in_flight=0),
        )  # fmt: skip
    c.store((0, 0), first)
    c.store((0, 160), second)
    c.store((0, 256), third)


def test_sums_side_by_side(rng) -> None:
    """Columns are set aside in powers of two, for all sums together: these take 480 of the 512, and
    by themselves would take 640."""
    a, b = (rng.integers(-3, 4, (rows, 96)).astype(BF16) for rows in (128, 480))
    c = np.full((128, 480), np.nan, np.float32)
    widths.options(device="emu:sm_100a")(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64).T)
