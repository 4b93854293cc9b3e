"""Products that two programs of a cluster make together, each with half of the columns of b in its
shared memory, on the emulated chip, against float64; and what is refused of them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16, E4M3, E5M2 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View,
    X: kiln.constexpr, Y: kiln.constexpr, BM: kiln.constexpr, BN: kiln.constexpr,
    BK: kiln.constexpr, depth: kiln.constexpr, TA: kiln.constexpr, TB: kiln.constexpr,
    precision: kiln.constexpr, share: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)), cluster=(X, Y))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in kiln.pin(range(0, a.shape[0 if TA else 1], BK), depth=depth):
        if TA:
            x = kiln.pin(a.load((k, i * BM), (BK, BM)), role="load", stage=0, atom="tma")
        else:
            x = kiln.pin(a.load((i * BM, k), (BM, BK)), role="load", stage=0, atom="tma")
        if share:
            x = kiln.pin(x, multicast="y")
        if TB:
            y = kiln.pin(b.load((j * BN, k), (BN, BK)), role="load", stage=0, atom="tma")
        else:
            y = kiln.pin(b.load((k, j * BN), (BK, BN)), role="load", stage=0, atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_a=TA, transpose_b=TB, precision=precision),
            role="mma", stage=0, in_flight=0, atom="tcgen05_pair",
        )  # fmt: skip
    kiln.pin(c.store((i * BM, j * BN), acc), role="mma", in_flight=0, atom="tma")


@kiln.kernel
def handed_over(
    a: kiln.View, b: kiln.View, c: kiln.View,
    BN: kiln.constexpr, depth: kiln.constexpr, flight: kiln.constexpr, programs: kiln.constexpr,
    X: kiln.constexpr = 2,
):  # fmt: skip
    """A role of its own scales and stores the sums, and those of the next tile begin meanwhile."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], BN))
    kiln.pin(
        roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4), kiln.role("store", warps=4)),
        cluster=(X, 1), persistent=programs,
    )  # fmt: skip
    acc = kiln.zeros((128, BN), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=depth):
        x = kiln.pin(a.load((i * 128, k), (128, 64)), role="load", stage=0, atom="tma")
        y = kiln.pin(b.load((j * BN, k), (BN, 64)), role="load", stage=0, atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            role="mma", stage=0, in_flight=flight, atom="tcgen05_pair",
        )  # fmt: skip
    scaled = kiln.pin(acc * 2.0, role="store")
    kiln.pin(c.store((i * 128, j * BN), scaled), role="store", in_flight=0, atom="tma")


def whole(rng: np.random.Generator, tiles: int, tile: int) -> int:
    """Rows of so many tiles, of which the last is cut."""
    return tiles * tile - 16 * int(rng.integers(tile // 16))


def check(c: np.ndarray, want: np.ndarray, what) -> None:
    limit, norm = 1e-5, np.linalg.norm(want)
    assert np.linalg.norm(c - want) <= limit * norm, what
    assert np.abs(c - want).max() <= 10 * limit * norm / want.size**0.5, what


# Only 16 bits are read along m or n too; rows of a box are at least 32 bytes.
FORMS = [
    (dtype, ta, tb, "ieee") for dtype in (BF16, np.float16) for ta in (0, 1) for tb in (0, 1)
] + [(E4M3, 0, 1, "ieee"), (E5M2, 0, 1, "ieee"), (np.float32, 0, 1, "tf32")]


@pytest.mark.parametrize("dtype, ta, tb, precision", FORMS)
def test_drawn_products(rng, dtype, ta: int, tb: int, precision: str) -> None:
    def pick(choices):
        return choices[rng.integers(len(choices))]

    size = np.dtype(dtype).itemsize
    X, Y = pick(((2, 1), (4, 1), (2, 2)))
    tile = {
        "X": X, "Y": Y, "BM": pick((128, 128, 256)), "BN": pick((32, 64, 96, 128, 192, 256)),
        "BK": pick((32, 64, 128)) // size, "depth": pick((1, 2, 3)),
        "TA": bool(ta), "TB": bool(tb), "precision": precision, "share": False,
    }  # fmt: skip
    m, n = whole(rng, X * int(rng.integers(1, 3)), tile["BM"]), whole(rng, Y, tile["BN"])
    k = 16 * int(rng.integers(1, 16))
    a = rng.standard_normal((k, m) if ta else (m, k)).astype(dtype)
    b = rng.standard_normal((n, k) if tb else (k, n)).astype(dtype)
    c = np.full((m, n), np.nan, np.float32)
    product.options(device="emu:sm_100a")(a, b, c, **tile)

    def wide(operand: np.ndarray) -> np.ndarray:
        if precision == "tf32":
            operand = (operand.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
        return operand.astype(np.float64)

    want = (wide(a).T if ta else wide(a)) @ (wide(b).T if tb else wide(b))
    check(c, want, (tile, m, n, k))


# Rows of a come to two pairs at once, each of whose programs brings half of them to both.
@pytest.mark.parametrize("depth", [1, 3])
def test_pairs_that_share_rows(rng, depth: int) -> None:
    tile = dict(X=2, Y=2, BM=128, BN=64, BK=64, depth=depth, TA=False, TB=True, precision="ieee")
    m, n, k = whole(rng, 2, 128), whole(rng, 2, 64), 8 * int(rng.integers(1, 50))
    a, b = (rng.standard_normal((rows, k)).astype(BF16) for rows in (m, n))
    c = np.full((m, n), np.nan, np.float32)
    product.options(device="emu:sm_100a")(a, b, c, **tile, share=True)
    check(c, a.astype(np.float64) @ b.astype(np.float64).T, (m, n, k))


# Without trips zeros are handed over; of clusters there are more than tiles for, and fewer.
@pytest.mark.parametrize("k", [0, 8, 200])
@pytest.mark.parametrize(
    "flight, programs, depth, x", [(0, 2, 2, 2), (1, 4, 1, 2), (1, 2, 3, 2), (1, 64, 2, 4)]
)
def test_sums_of_another_role(rng, k: int, flight: int, programs: int, depth: int, x: int) -> None:
    m, n = 8 * (32 * x - int(rng.integers(16))), 8 * int(rng.integers(1, 40))
    a, b = (rng.standard_normal((rows, max(k, 8))).astype(BF16)[:, :k] for rows in (m, n))
    c = np.full((m, n), np.nan, np.float32)
    tile = dict(BN=96, depth=depth, flight=flight, programs=programs, X=x)
    handed_over.options(device="emu:sm_100a")(a, b, c, **tile)
    want = 2 * (a.astype(np.float64) @ b.astype(np.float64).T)
    if k:
        check(c, want, (m, n))
    else:
        assert (c == 0).all()


@kiln.kernel
def twice(a: kiln.View, b: kiln.View, d: kiln.View, c: kiln.View, depth: kiln.constexpr):
    """Two sums over k, one after the other, in a loop over tiles."""
    i = kiln.grid(kiln.cdiv(a.shape[0], 128))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)), cluster=2)
    for j in range(0, c.shape[1], 64):
        first = kiln.zeros((128, 64), kiln.f32)
        for k in kiln.pin(range(0, a.shape[1], 64), depth=depth):
            x = kiln.pin(a.load((i * 128, k), (128, 64)), role="load", stage=0, atom="tma")
            y = kiln.pin(b.load((j, k), (64, 64)), role="load", stage=0, atom="tma")
            first = kiln.pin(
                kiln.dot(x, y, first, transpose_b=True),
                role="mma", stage=0, in_flight=0, atom="tcgen05_pair",
            )  # fmt: skip
        second = kiln.zeros((128, 64), kiln.f32)
        for k in kiln.pin(range(0, a.shape[1], 64), depth=depth):
            x = kiln.pin(a.load((i * 128, k), (128, 64)), role="load", stage=0, atom="tma")
            y = kiln.pin(d.load((j, k), (64, 64)), role="load", stage=0, atom="tma")
            second = kiln.pin(
                kiln.dot(x, y, second, transpose_b=True),
                role="mma", stage=0, in_flight=0, atom="tcgen05_pair",
            )  # fmt: skip
        kiln.pin(c.store((i * 128, j), first - second), role="mma", in_flight=0, atom="tma")


@pytest.mark.parametrize("k, depth", [(64, 1), (200, 2), (328, 3)])
def test_two_sums_in_turn(rng, k: int, depth: int) -> None:
    m, n = whole(rng, 4, 128), 8 * int(rng.integers(1, 30))
    a, b, d = (rng.standard_normal((rows, k)).astype(BF16) for rows in (m, n, n))
    c = np.full((m, n), np.nan, np.float32)
    twice.options(device="emu:sm_100a")(a, b, d, c, depth=depth)
    check(c, a.astype(np.float64) @ (b.astype(np.float64) - d.astype(np.float64)).T, (m, n))


@kiln.kernel
def kept(a: kiln.View, b: kiln.View, c: kiln.View, depth: kiln.constexpr):
    """Rows that come once: they go back behind the last sum."""
    i = kiln.grid(kiln.cdiv(a.shape[0], 128))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)), cluster=2)
    x = kiln.pin(a.load((i * 128, 0), (128, 64)), role="load", atom="tma", ring="rows")
    for j in kiln.pin(range(0, c.shape[1], 64), depth=depth):
        y = kiln.pin(b.load((j, 0), (64, 64)), role="load", stage=0, atom="tma")
        sums = kiln.pin(
            kiln.dot(x, y, kiln.zeros((128, 64), kiln.f32), transpose_b=True),
            role="mma", stage=0, in_flight=0, atom="tcgen05_pair",
        )  # fmt: skip
        kiln.pin(c.store((i * 128, j), sums), role="mma", in_flight=0, atom="tma")


@pytest.mark.parametrize("depth", [1, 2])
def test_rows_that_come_once(rng, depth: int) -> None:
    m, n = whole(rng, 4, 128), 8 * int(rng.integers(1, 30))
    a, b = (rng.standard_normal((rows, 64)).astype(BF16) for rows in (m, n))
    c = np.full((m, n), np.nan, np.float32)
    kept.options(device="emu:sm_100a")(a, b, c, depth=depth)
    check(c, a.astype(np.float64) @ b.astype(np.float64).T, (m, n))


# Of n each program brings half, in rows of b of eight.
@pytest.mark.parametrize("n", [16, 48, 80, 144, 240])
@pytest.mark.parametrize("dtype", [BF16, E4M3])
def test_columns_in_steps_of_sixteen(rng, n: int, dtype) -> None:
    tile = dict(X=2, Y=1, BM=128, BN=n, BK=64, depth=2, TA=False, TB=True, precision="ieee",
                share=False)  # fmt: skip
    m, columns, k = whole(rng, 2, 128), n - 4 * int(rng.integers(2)), 16 * int(rng.integers(1, 20))
    a, b = (rng.standard_normal((rows, k)).astype(dtype) for rows in (m, columns))
    c = np.full((m, columns), np.nan, np.float32)
    product.options(device="emu:sm_100a")(a, b, c, **tile)
    check(c, a.astype(np.float64) @ b.astype(np.float64).T, (m, n, k))


@kiln.kernel
def begun(
    a: kiln.View, b: kiln.View, c: kiln.View, o: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, depth: kiln.constexpr, halves: kiln.constexpr,
):  # fmt: skip
    """Sums that begin as a tile, which are those of another when each trip halves them."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)), cluster=(2, 1))
    acc = kiln.pin(c.load((i * BM, j * BN), (BM, BN)), role="mma")
    for k in kiln.pin(range(0, a.shape[1], 64), depth=depth):
        x = kiln.pin(a.load((i * BM, k), (BM, 64)), role="load", stage=0, atom="tma")
        y = kiln.pin(b.load((j * BN, k), (BN, 64)), role="load", stage=0, atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc * 0.5 if halves else acc, transpose_b=True),
            role="mma", stage=0, in_flight=0, atom="tcgen05_pair",
        )  # fmt: skip
    kiln.pin(o.store((i * BM, j * BN), acc), role="mma", in_flight=0, atom="tma")


@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("k", [0, 64, 200])
def test_sums_that_begin_as_a_tile(rng, k: int, halves: bool) -> None:
    tile = dict(BM=int(rng.choice([128, 256])), BN=int(rng.choice([16, 64, 96])),
                depth=int(rng.integers(1, 3)), halves=halves)  # fmt: skip
    m, n = whole(rng, 2, tile["BM"]), 8 * int(rng.integers(1, 20))
    a, b = (rng.standard_normal((rows, max(k, 8))).astype(BF16)[:, :k] for rows in (m, n))
    c = rng.standard_normal((m, n)).astype(np.float32)
    o = np.full((m, n), np.nan, np.float32)
    begun.options(device="emu:sm_100a")(a, b, c, o, **tile)
    want = c.astype(np.float64)
    for at in range(0, k, 64):
        part = a[:, at : at + 64].astype(np.float64) @ b[:, at : at + 64].astype(np.float64).T
        want = want * (0.5 if halves else 1) + part
    check(o, want, (tile, m, n))


@kiln.kernel
def computed(a: kiln.View, b: kiln.View, c: kiln.View, depth: kiln.constexpr):
    """Each program computes its own rows of a, which lie in its own tensor memory."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 128))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)), cluster=2)
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=depth):
        x = kiln.pin(a.load((i * 128, k), (128, 32)), role="mma", stage=0) * 2.0
        y = kiln.pin(b.load((0, k), (64, 32)), role="load", stage=0, atom="tma")
        acc = kiln.pin(
            kiln.dot(x.to(kiln.bf16), y, acc, transpose_b=True),
            role="mma", stage=0, in_flight=0, atom="tcgen05_pair",
        )  # fmt: skip
    kiln.pin(c.store((i * 128, 0), acc), role="mma", in_flight=0, atom="tma")


@pytest.mark.parametrize("depth", [1, 2])
def test_rows_that_are_computed(rng, depth: int) -> None:
    m, n, k = whole(rng, 4, 128), 8 * int(rng.integers(1, 9)), 8 * int(rng.integers(1, 30))
    a = rng.integers(-8, 9, (m, k)).astype(np.float32)
    b = rng.integers(-8, 9, (n, k)).astype(BF16)
    c = np.full((m, n), np.nan, np.float32)
    computed.options(device="emu:sm_100a")(a, b, c, depth=depth)
    check(c, 2 * a.astype(np.float64) @ b.astype(np.float64).T, (m, n, k))


@kiln.kernel
def in_clusters(
    a: kiln.View, b: kiln.View, c: kiln.View, BM: kiln.constexpr, BN: kiln.constexpr,
    TB: kiln.constexpr, X: kiln.constexpr,
):  # fmt: skip
    """Of which nothing is pinned but that its grid is one of whole clusters."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    kiln.pin(cluster=(X, 1))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, a.shape[1], 64):
        y = b.load((j * BN, k), (BN, 64)).T if TB else b.load((k, j * BN), (64, BN))
        acc = kiln.dot(a.load((i * BM, k), (BM, 64)), y, acc)
    c.store((i * BM, j * BN), acc.to(c.dtype))


# Of 32 columns half is little beside 128 rows; three programs are no pairs.
@pytest.mark.parametrize(
    "bm, bn, x, pairs",
    [(128, 256, 2, True), (256, 128, 2, True), (256, 256, 2, True), (128, 64, 4, True),
     (128, 32, 2, False), (128, 128, 3, False)],
)  # fmt: skip
@pytest.mark.parametrize("tb", [False, True])
def test_pairs_that_are_decided(rng, bm: int, bn: int, x: int, pairs: bool, tb: bool) -> None:
    tile = dict(BM=bm, BN=bn, TB=tb, X=x)
    m, n, k = whole(rng, x, bm), 16 * int(rng.integers(1, 20)), 16 * int(rng.integers(1, 12))
    a = rng.standard_normal((m, k)).astype(BF16)
    b = rng.standard_normal((n, k) if tb else (k, n)).astype(BF16)
    c = np.full((m, n), np.nan, np.float32)
    in_clusters.options(device="emu:sm_100a")(a, b, c, **tile)
    check(c, a.astype(np.float64) @ (b.T if tb else b).astype(np.float64), (tile, m, n, k))
    compiled = in_clusters.compile(a, b, c, target="nvptx:sm_100a", **tile)
    assert compiled.metadata["proposal"] == 0
    assert compiled.metadata.get("local_bytes", 0) == 0
    assert ("tcgen05.mma.cta_group::2" in compiled.asm) == pairs
    assert ("tcgen05.mma.cta_group::1" in compiled.asm) != pairs


@kiln.kernel
def refused(a: kiln.View, b: kiln.View, c: kiln.View, KIND: kiln.constexpr):
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], 64))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    if KIND == "odd":
        kiln.pin(cluster=3)
    elif KIND == "beside":
        kiln.pin(cluster=(1, 2))
    elif KIND != "alone":
        kiln.pin(cluster=2)
    acc = kiln.zeros((128, 512 if KIND == "columns" else 64), kiln.f32)
    end = a.shape[1]
    if KIND == "trips":
        end = i * 64
    for k in kiln.pin(range(0, end, 64), depth=2):
        x = kiln.pin(a.load((i * 128, k), (128, 64)), role="load", stage=0, atom="tma")
        if KIND == "columns":
            y = kiln.pin(b.load((j * 512, k), (512, 64)), role="load", stage=0, atom="tma")
        elif KIND == "multicast":
            y = kiln.pin(b.load((j * 64, k), (64, 64)), role="load", stage=0, atom="tma",
                         multicast="x")  # fmt: skip
        elif KIND == "registers":
            y = kiln.pin(b.load((j * 64, k), (64, 64)), role="load", stage=0, atom="cp_async")
        else:
            y = kiln.pin(b.load((j * 64, k), (64, 64)), role="load", stage=0, atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            role="mma", stage=0, in_flight=0, atom="tcgen05_pair",
        )  # fmt: skip
    kiln.pin(c.store((i * 128, j * 64), acc), role="mma", in_flight=0, atom="tma")


@pytest.mark.parametrize(
    "kind, why",
    [
        ("alone", "expected a kernel with 'tile.cluster'"),
        ("odd", "expected a cluster of an even number of programs along x"),
        ("beside", "expected the same tile for two programs along y"),
        ("columns", 'got "tcgen05_pair"'),
        ("trips", "got a loop with trips that may differ from program to program"),
        ("multicast", "expected no 'multicast' along x"),
        ("registers", "expected 'atom' of an engine that counts the bytes it brings"),
    ],
)
def test_what_no_pair_can_multiply_is_refused(kind: str, why: str) -> None:
    a, b, c = (np.zeros(shape, dtype) for shape, dtype in
               (((768, 64), BF16), ((128, 64), BF16), ((768, 128), np.float32)))  # fmt: skip
    with pytest.raises(kiln.CompileError, match=why):
        refused.options(device="emu:sm_100a")(a, b, c, KIND=kind)


def test_a_chip_without_it_says_so() -> None:
    a, b, c = np.zeros((256, 64), BF16), np.zeros((64, 64), BF16), np.zeros((256, 64), np.float32)
    with pytest.raises(kiln.CompileError, match='got "tcgen05_pair"'):
        refused.options(device="emu:sm_90a")(a, b, c, KIND="right")
