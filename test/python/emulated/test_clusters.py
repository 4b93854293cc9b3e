"""Products whose operands programs of a cluster bring once for all of them, on emulated chips, against
float64; and what is refused of clusters."""

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


def operands(rng: np.random.Generator, m: int, n: int, k: int):
    a, b = (rng.standard_normal((rows, k)).astype(BF16) for rows in (m, n))
    return a, b, a.astype(np.float64) @ b.astype(np.float64).T


@kiln.kernel
def shared(
    a: kiln.View, b: kiln.View, c: kiln.View,
    X: kiln.constexpr, Y: kiln.constexpr, BM: kiln.constexpr = 64, BN: kiln.constexpr = 64,
    copies: kiln.constexpr = 1, loading: kiln.constexpr = 1, depth: kiln.constexpr = 2,
    flight: kiln.constexpr = 1,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    kiln.pin(
        roles=(
            kiln.role("load", warps=4, copies=loading), kiln.role("mma", warps=4, copies=copies),
        ),
        cluster=(X, Y),
    )  # fmt: skip
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=depth):
        x = kiln.pin(a.load((i * BM, k), (BM, 64)), role="load", stage=0, atom="tma")
        y = kiln.pin(b.load((j * BN, k), (BN, 64)), role="load", stage=0, atom="tma")
        if Y > 1:
            x = kiln.pin(x, multicast="y")
        if X > 1:
            y = kiln.pin(y, multicast="x")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True),
            role="mma", stage=0, in_flight=flight, atom="wgmma",
        )  # fmt: skip
    kiln.pin(c.store((i * BM, j * BN), acc.to(c.dtype)), role="mma", in_flight=0, atom="tma")


@kiln.kernel
def read_by_lanes(a: kiln.View, c: kiln.View, X: kiln.constexpr):
    """Every program adds up the same rows, which lanes read, and stores them at its own place."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 64))
    kiln.pin(roles=(kiln.role("load", warps=1), kiln.role("sum", warps=4)), cluster=X)
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[0], 64), depth=2):
        x = kiln.pin(a.load((k, 0), (64, 64)), role="load", stage=0, atom="tma", multicast="x")
        acc = kiln.pin(acc + x, role="sum", stage=0)
    kiln.pin(c.store((i * 64, 0), acc), role="sum")


@kiln.kernel
def in_tensor_memory(
    a: kiln.View, b: kiln.View, c: kiln.View, X: kiln.constexpr, Y: kiln.constexpr
):
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], 64))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)), cluster=(X, Y))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=2):
        x = kiln.pin(a.load((i * 128, k), (128, 64)), role="load", stage=0, atom="tma")
        y = kiln.pin(b.load((j * 64, k), (64, 64)), role="load", stage=0, atom="tma")
        if Y > 1:
            x = kiln.pin(x, multicast="y")
        if X > 1:
            y = kiln.pin(y, multicast="x")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True), role="mma", stage=0, in_flight=0, atom="tcgen05"
        )
    kiln.pin(c.store((i * 128, j * 64), acc), role="mma", in_flight=0, atom="tma")


def whole(rng: np.random.Generator, tiles: int, tile: int) -> int:
    """Rows of so many tiles, of which the last is cut."""
    return tiles * tile - 8 * int(rng.integers(tile // 8))


@pytest.mark.parametrize("x, y", [(2, 1), (1, 2), (2, 2), (4, 1)])
@pytest.mark.parametrize(
    "copies, loading, depth, flight", [(1, 1, 2, 1), (2, 1, 3, 0), (2, 2, 4, 1)]
)
def test_product(rng, x, y, copies, loading, depth, flight) -> None:
    bm, bn = 64 * copies, 64
    m = whole(rng, x * int(rng.integers(1, 3)), bm)
    n = whole(rng, y * int(rng.integers(1, 3)), bn)
    k = 8 * int(rng.integers(1, 64))
    a, b, reference = operands(rng, m, n, k)
    c = np.full((m, n), np.nan, BF16)
    shared.options(device="emu:sm_90a")(
        a, b, c, X=x, Y=y, BM=bm, BN=bn, copies=copies, loading=loading, depth=depth, flight=flight
    )
    assert error(c, reference) < 4e-3, f"{m} x {n} x {k}"


# Slots go back by commits, which tell several programs at once.
@pytest.mark.parametrize("x, y", [(2, 1), (2, 2)])
def test_product_in_tensor_memory(rng, x, y) -> None:
    m, n = whole(rng, x, 128), whole(rng, y, 64)
    a, b, reference = operands(rng, m, n, 8 * int(rng.integers(1, 40)))
    c = np.full((m, n), np.nan, np.float32)
    in_tensor_memory.options(device="emu:sm_100a")(a, b, c, X=x, Y=y)
    assert error(c, reference) < 1e-5


@pytest.mark.parametrize("x", [2, 4])
def test_lanes_read_what_programs_share(rng, x) -> None:
    a = rng.standard_normal((64 * int(rng.integers(1, 9)), 64)).astype(np.float32)
    c = np.full((64 * 2 * x, 64), np.nan, np.float32)
    read_by_lanes.options(device="emu:sm_90a")(a, c, X=x)
    sums = a.astype(np.float64).reshape(-1, 64, 64).sum(axis=0)
    assert error(c, np.tile(sums, (2 * x, 1))) < 1e-6


@kiln.kernel
def beside(
    a: kiln.View, b: kiln.View, c: kiln.View,
    X: kiln.constexpr, Y: kiln.constexpr, programs: kiln.constexpr, turns: kiln.constexpr,
):  # fmt: skip
    """Programs lie side by side, and each loads all of its own tiles."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 64))
    kiln.pin(
        roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, turns=turns)),
        persistent=(programs, 4), cluster=(X, Y),
    )  # fmt: skip
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=3):
        x = kiln.pin(a.load((i * 64, k), (64, 64)), role="load", atom="tma")
        y = kiln.pin(b.load((j * 64, k), (64, 64)), role="load", atom="tma")
        product = kiln.dot(x, y, acc, transpose_b=True)
        acc = kiln.pin(product, role="mma", in_flight=1, atom="wgmma")
    c.store((i * 64, j * 64), acc)


@pytest.mark.parametrize("turns", [1, 2])
@pytest.mark.parametrize("x, y, programs", [(2, 1, 4), (1, 2, 2)])
def test_persistent_clusters_that_share_nothing(rng, x, y, programs, turns) -> None:
    """A launch is of whole clusters, by which programs step from tile to tile."""
    a, b, reference = operands(rng, 256, 256, 16 * int(rng.integers(1, 25)))
    c = np.zeros(reference.shape, np.float32)
    beside.options(device="emu:sm_90a")(a, b, c, X=x, Y=y, programs=programs, turns=turns)
    assert error(c, reference) < 1e-5


@pytest.mark.parametrize("x, y", [(2, 1), (1, 2), (2, 2), (4, 1)])
def test_programs_beyond_the_grid_write_nothing(rng, x, y) -> None:
    """Of grids that are not of whole clusters: programs without a tile load for the others."""
    for _ in range(3):
        m, n = (64 * int(rng.integers(1, 6)) - 8 * int(rng.integers(8)) for _ in "mn")
        a, b, reference = operands(rng, m, n, 8 * int(rng.integers(1, 40)))
        c = np.full((m, n), np.nan, BF16)
        shared.options(device="emu:sm_90a")(a, b, c, X=x, Y=y)
        assert error(c, reference) < 4e-3, (m, n)
    # Programs that run tiles in turn, by clusters.
    m, n = (128 * int(rng.integers(1, 4)) for _ in "mn")
    a, b, reference = operands(rng, m, n, 64)
    c = np.full((m, n), np.nan, BF16)
    pinned_kernels.clustered_gemm.options(device="emu:sm_90a")(
        a, b, c, X=x, Y=y, programs=2 * x * y
    )
    assert error(c, reference) < 4e-3, (m, n)


@kiln.kernel
def tells_of_itself(
    rows: kiln.View, counts: kiln.View, places: kiln.View, olds: kiln.View, X: kiln.constexpr
):
    """Programs of a cluster that share nothing, and each write in every way there is."""
    i = kiln.grid(rows.shape[0])
    kiln.pin(cluster=X)
    kiln.device_assert(i < rows.shape[0], "a program beyond the grid")
    rows.store((i, 0), kiln.full((1, 32), i.to(kiln.f32), kiln.f32))
    kiln.atomic_add(counts, (0,), kiln.num_programs(0).to(kiln.i32))
    lanes = kiln.arange(32)
    kiln.atomic_add(counts, (1 + lanes,), kiln.full((32,), 1, kiln.i32))
    places.scatter((i.to(kiln.i32) % 8 * 32 + lanes,), lanes)
    olds.store((i,), kiln.full((1,), 7, kiln.i32))


def test_programs_beyond_the_grid_tell_nobody(rng) -> None:
    tiles = int(rng.integers(1, 16))
    rows = np.full((tiles, 32), np.nan, np.float32)
    counts, places = np.zeros(33, np.int32), np.full(256, -1, np.int32)
    olds = np.zeros(tiles + 8, np.int32)
    tells_of_itself.options(device="emu:sm_90a")(rows, counts, places, olds, X=4)
    assert (rows == np.arange(tiles)[:, None]).all()
    assert counts.tolist() == [tiles * tiles] + [tiles] * 32
    assert (places.reshape(8, 32)[: min(tiles, 8)] == np.arange(32)).all()
    assert (places.reshape(8, 32)[min(tiles, 8) :] == -1).all()
    assert olds.tolist() == [7] * tiles + [0] * 8


def test_a_grid_of_the_launch_must_be_one_of_whole_clusters(rng) -> None:
    a, b, _ = operands(rng, 192, 64, 64)
    kernel = shared.options(device="emu:sm_90a")
    with pytest.raises(kiln.LaunchError, match="expected a grid of whole clusters of 2 x 1 x 1"):
        kernel[(3, 1)](a, b, np.zeros((192, 64), BF16), X=2, Y=1)


def test_other_clusters_than_compiled_are_refused(rng) -> None:
    a, b, _ = operands(rng, 256, 64, 64)
    with pytest.raises(kiln.LaunchError, match="expected the clusters that the kernel is compiled"):
        shared.options(device="emu:sm_90a", cluster=4)(a, b, np.zeros((256, 64), BF16), X=2, Y=1)


@kiln.kernel
def refused(a: kiln.View, c: kiln.View, KIND: kiln.constexpr):
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 64))
    kiln.pin(roles=(kiln.role("load", warps=1), kiln.role("sum", warps=4)))
    if KIND != "alone":
        kiln.pin(cluster=2)
    acc = kiln.zeros((64, 64), kiln.f32)
    end = a.shape[0]
    if KIND == "trips":
        end = i * 64
    at = 0
    if KIND == "tile":
        at = i * 64
    for k in kiln.pin(range(0, end, 64), depth=2):
        if KIND == "warps":
            x = kiln.pin(a.load((k, at), (64, 64)), role="load", stage=0, atom="cp_async",
                         multicast="x")  # fmt: skip
        elif KIND == "axis":
            x = kiln.pin(a.load((k, at), (64, 64)), role="load", stage=0, atom="tma", multicast="y")
        else:
            x = kiln.pin(a.load((k, at), (64, 64)), role="load", stage=0, atom="tma", multicast="x")
        acc = kiln.pin(acc + x, role="sum", stage=0)
    kiln.pin(c.store((i * 64, j * 64), acc), role="sum")


@pytest.mark.parametrize(
    "kind, why",
    [
        ("alone", "expected a kernel with 'tile.cluster'"),
        ("trips", "got a loop with trips that may differ from program to program"),
        ("tile", "got an offset along dimension 1 that may differ from program to program"),
        ("warps", "expected 'atom' of an engine"),
        ("axis", "expected several programs of a cluster along y"),
    ],
)
def test_what_programs_cannot_share_is_refused(kind, why) -> None:
    a, c = np.zeros((128, 256), np.float32), np.zeros((128, 64), np.float32)
    with pytest.raises(kiln.CompileError, match=why):
        refused.options(device="emu:sm_90a")(a, c, KIND=kind)


def test_a_chip_without_clusters_is_refused() -> None:
    a, c = np.zeros((128, 64), np.float32), np.zeros((128, 64), np.float32)
    with pytest.raises(kiln.CompileError, match="expected a chip that has clusters"):
        refused.options(device="emu:sm_80")(a, c, KIND="warps")


@kiln.kernel
def plain(
    a: kiln.View, b: kiln.View, c: kiln.View, BM: kiln.constexpr, BN: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x, y = a.load((i * BM, k), (BM, 64)), b.load((j * BN, k), (BN, 64))
        acc = kiln.dot(x, y.T, acc)
    c.store((i * BM, j * BN), acc.to(c.dtype))


@pytest.mark.parametrize("rows, columns, cluster", [(64, 128, [2, 1, 1]), (128, 64, [1, 2, 1])])
def test_programs_whose_rows_begin_amid_sectors_share_tiles(rng, rows, columns, cluster):
    """What tile-decide-clusters decides, of grids that are no whole clusters, too."""
    m, n = (int(rng.integers(1, 5)) * 64 + int(rng.integers(1, 64)) for _ in "mn")
    a, b, reference = operands(rng, m, n, int(rng.integers(5, 20)) * 16 + 8)
    c = np.full((m, n), np.nan, BF16)
    device = plain.options(device="emu:sm_90a")
    assert device.warmup(a, b, c, BM=rows, BN=columns).metadata["cluster"] == cluster
    device(a, b, c, BM=rows, BN=columns)
    assert error(c, reference) < 4e-3
    # A call's own grid is run as it is.
    c[:] = np.nan
    grid = (-(-m // rows), -(-n // columns))
    plain.options(device="emu:sm_90a", grid=grid)(a, b, c, BM=rows, BN=columns)
    assert error(c, reference) < 4e-3
