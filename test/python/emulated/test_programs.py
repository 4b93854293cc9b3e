"""Which programs run which tiles: rasters of persistent grids, against a model of each, and loops whose
trips several programs share out, against float64. On the CPU and on emulated chips."""

from __future__ import annotations

import itertools
import math

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
DEVICES = ["cpu", "emu:sm_90a", "emu:gfx942"]
CHIPLETS = {"emu:gfx942": 8}
RASTERS = ["grouped", "chiplets", "longest_x", "longest_y", "longest_z"]


@kiln.kernel
def visit(
    out: kiln.View, clock: kiln.View,
    RANK: kiln.constexpr, PROGRAMS: kiln.constexpr, GROUP: kiln.constexpr, RASTER: kiln.constexpr,
):  # fmt: skip
    """Counts how often a tile is run, and says when it was."""
    place = kiln.grid(*out.shape[:RANK])
    kiln.pin(persistent=(PROGRAMS, GROUP), raster=RASTER)
    at = (place,) if RANK == 1 else place
    kiln.atomic_add(out, (*at, 0), 1)
    kiln.atomic_add(out, (*at, 1), kiln.atomic_add(clock, (0,), 1))


CORES = 3
"""Of an emulated chip."""


def longest_first(extents, group, slow, programs) -> list[tuple[int, ...]]:
    """Sections of about `group` tiles, or of all, each from the last place along an axis on; every
    other whole round of a section runs back."""
    others = [axis for axis in range(len(extents)) if axis != slow]
    places = [
        dict(zip(reversed(others), place, strict=True))
        for place in itertools.product(*(range(extents[axis]) for axis in reversed(others)))
    ]
    wide = len(places) if group == 1 else max(1, group // extents[slow])
    order = []
    for first in range(0, len(places), wide):
        section = [
            tuple(({slow: at} | place)[axis] for axis in range(len(extents)))
            for at in reversed(range(extents[slow]))
            for place in places[first : first + wide]
        ]
        for begin in range(programs, len(section) - programs + 1, 2 * programs):
            section[begin : begin + programs] = section[begin : begin + programs][::-1]
        order += section
    return order


def grouped_order(extents, group) -> list[tuple[int, ...]]:
    rank = len(extents)
    slow = 2 if rank == 3 else None
    fast = [axis for axis in range(rank) if axis != slow]
    order = []
    for at in range(extents[slow]) if slow is not None else [None]:
        if len(fast) == 2:
            groups = range(0, extents[fast[0]], group)
            inner = [
                (x, y)
                for first in groups
                for y in range(extents[fast[1]])
                for x in range(first, min(first + group, extents[fast[0]]))
            ]
        else:
            inner = [(x,) for x in range(extents[fast[0]])] if fast else [()]
        for places in inner:
            tile = dict(zip(fast, places, strict=True)) | ({} if at is None else {slow: at})
            order.append(tuple(tile[axis] for axis in range(rank)))
    return order


def expected_order(extents, programs, group, raster, chiplets) -> list[tuple[int, ...]]:
    """The tiles in the order in which programs that run one after another come to them."""
    programs = min(programs, math.prod(extents))
    if raster.startswith("longest"):
        order = longest_first(extents, group, "xyz".index(raster[-1]), programs)
    else:
        order = grouped_order(extents, group)
    numbers = [[t for t in range(p, len(order), programs)] for p in range(programs)]
    if raster == "chiplets":
        # Each chiplet's tiles follow one another, in the order in which it comes to them.
        of_chiplet = [
            sorted(t for p in range(c, programs, chiplets) for t in numbers[p])
            for c in range(chiplets)
        ]
        renumbered = {t: i for i, t in enumerate(t for own in of_chiplet for t in own)}
        numbers = [[renumbered[t] for t in own] for own in numbers]
    return [order[t] for own in numbers for t in own]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("raster", RASTERS)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_each_tile_is_run_once(rng, device: str, raster: str, rank: int) -> None:
    if raster[-1] in "yz" and raster.startswith("longest") and "xyz".index(raster[-1]) >= rank:
        return
    most_grouped = 40 if raster.startswith("longest") else 6 if rank > 1 else 2
    for _ in range(2):
        extents = tuple(int(n) for n in rng.integers(1, (60, 14, 7)[rank - 1], rank))
        programs = int(rng.choice([0, 1, int(rng.integers(2, 40))]))
        group = int(rng.integers(1, most_grouped))
        out, clock = np.zeros((*extents, 2), np.int32), np.zeros(1, np.int32)
        visit.options(device=device)(
            out, clock, RANK=rank, PROGRAMS=programs, GROUP=group, RASTER=raster
        )
        drawn = (extents, programs, group)
        assert (out[..., 0] == 1).all(), drawn
        assert sorted(out[..., 1].ravel()) == list(range(out[..., 1].size)), drawn
        if device == "cpu":
            continue  # whose programs run side by side
        chiplets = CHIPLETS.get(device, 1)
        order = expected_order(extents, programs or CORES, group, raster, chiplets)
        assert [int(out[tile][1]) for tile in order] == list(range(len(order))), drawn


@kiln.kernel
def visit_by_cores(out: kiln.View, clock: kiln.View, PER_CORE: kiln.constexpr):
    at = kiln.grid(out.shape[0])
    kiln.pin(persistent=0, per_core=PER_CORE)
    kiln.atomic_add(out, (at, 0), 1)
    kiln.atomic_add(out, (at, 1), kiln.atomic_add(clock, (0,), 1))


@pytest.mark.parametrize("device", ["emu:sm_90a", "emu:gfx942"])
def test_programs_of_a_core(rng, device: str) -> None:
    """So many programs a core, each of which takes every so many-th tile; no more than there are
    tiles."""
    for per_core in (1, 2, 3):
        for tiles in (int(n) for n in rng.integers(1, 6 * CORES, 3)):
            out, clock = np.zeros((tiles, 2), np.int32), np.zeros(1, np.int32)
            visit_by_cores.options(device=device)(out, clock, PER_CORE=per_core)
            assert (out[:, 0] == 1).all()
            order = expected_order((tiles,), CORES * per_core, 1, "grouped", 1)
            ran = [(int(at),) for at in np.argsort(out[:, 1])]
            assert ran == order, (per_core, tiles)


def test_refused_rasters() -> None:
    out, clock = np.zeros((3, 4, 2), np.int32), np.zeros(1, np.int32)
    with pytest.raises(kiln.CompileError, match='at least 3 extents.*is "longest_z", got 2'):
        visit(out, clock, RANK=2, PROGRAMS=0, GROUP=1, RASTER="longest_z")
    with pytest.raises(kiln.CompileError, match="at least 2 extents.*groups tiles, got 1"):
        visit(out[0], clock, RANK=1, PROGRAMS=0, GROUP=2, RASTER="grouped")


@kiln.kernel
def shared(
    a: kiln.View, b: kiln.View, bias: kiln.View, c: kiln.View,
    SHARE: kiln.constexpr, PERSISTENT: kiln.constexpr, BM: kiln.constexpr, BN: kiln.constexpr,
    BK: kiln.constexpr,
):  # fmt: skip
    """relu(a b^T + bias), of which programs share out the loop over k."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    if PERSISTENT is not None:
        kiln.pin(persistent=PERSISTENT)
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], BK), share=SHARE):
        x = a.load((i * BM, k), (BM, BK))
        y = b.load((j * BN, k), (BN, BK))
        acc = kiln.dot(x, y, acc, transpose_b=True)
    acc = kiln.maximum(acc + bias.load((j * BN,), (BN,))[None, :], 0)
    c.store((i * BM, j * BN), acc.to(c.dtype))


def operands(rng, m: int, n: int, k: int, dtype=BF16):
    a, b = (rng.standard_normal((rows, k)).astype(dtype) for rows in (m, n))
    bias = rng.standard_normal(n).astype(np.float32)
    product = a.astype(np.float64) @ b.astype(np.float64).T + bias.astype(np.float64)
    return a, b, bias, np.maximum(product, 0)


def check(out, reference, *drawn) -> None:
    scale = np.linalg.norm(reference) + 1e-30
    assert np.linalg.norm(out.astype(np.float64) - reference) / scale < 1e-5, drawn


@pytest.mark.parametrize("device", [*DEVICES, "emu:sm_80", "emu:gfx1201"])
@pytest.mark.parametrize("how", ["in order", "atomic"])
def test_a_loop_is_shared_out(rng, device: str, how: str) -> None:
    for persistent in (None, (int(rng.integers(1, 9)), int(rng.integers(1, 4)))):
        m, n = (8 * int(rng.integers(1, 20)) for _ in "mn")
        k = 8 * int(rng.integers(1, 40))
        programs = int(rng.integers(2, 7))
        a, b, bias, reference = operands(rng, m, n, k)
        share = programs if how == "in order" else (programs, "atomic")
        options = dict(SHARE=share, PERSISTENT=persistent, BM=64, BN=64, BK=32)
        outs = [np.zeros((m, n), np.float32) for _ in range(2)]
        for c in outs:
            shared.options(device=device)(a, b, bias, c, **options)
            check(c, reference, m, n, k, options)
        if how == "in order":
            assert np.array_equal(*outs), (m, n, k, options)


@pytest.mark.parametrize("device", [*DEVICES, "emu:sm_80", "emu:gfx1201"])
@pytest.mark.parametrize("how", ["in order", "atomic"])
def test_a_loop_is_streamed(rng, device: str, how: str) -> None:
    """On fewer programs than tiles, which they mostly do not divide, and on more."""
    for most in (6, 40):
        m, n = (8 * int(rng.integers(1, 20)) for _ in "mn")
        k = 8 * int(rng.integers(0, 40))
        persistent = (int(rng.integers(2, most)), int(rng.integers(1, 4)))
        a, b, bias, reference = operands(rng, m, n, k)
        share = "stream" if how == "in order" else ("stream", "atomic")
        options = dict(SHARE=share, PERSISTENT=persistent, BM=64, BN=32, BK=32)
        outs = [np.zeros((m, n), np.float32) for _ in range(2)]
        for c in outs:
            shared.options(device=device)(a, b, bias, c, **options)
            check(c, reference, m, n, k, options)
        if how == "in order":
            assert np.array_equal(*outs), (m, n, k, options)


@pytest.mark.parametrize("device", ["cpu", "emu:sm_90a"])
def test_where_nobody_counts_cores_no_tile_is_cut(rng, device: str) -> None:
    """And the sums are those of as many programs as tiles, to the bit."""
    a, b, bias, _ = operands(rng, 136, 72, 200)
    outs = [np.zeros((136, 72), np.float32) for _ in range(2)]
    for persistent, c in zip((0, 9), outs, strict=True):
        options = dict(SHARE="stream", PERSISTENT=persistent, BM=64, BN=32, BK=32)
        shared.options(device=device)(a, b, bias, c, **options)
    assert np.array_equal(*outs)


def test_refused_streams(rng) -> None:
    a, b, bias, _ = operands(rng, 64, 64, 64)
    c = np.zeros((64, 64), np.float32)
    options = dict(SHARE="stream", BM=64, BN=64, BK=32)
    with pytest.raises(
        kiln.CompileError, match="expected 'tile.persistent' on the kernel"
    ) as error:
        shared(a, b, bias, c, PERSISTENT=None, **options)
    assert "for k in kiln.pin(range(0, a.shape[1], BK), share=SHARE):" in str(error.value)
    with pytest.raises(kiln.LaunchError, match="expected no grid, because the kernel alone"):
        shared[(1, 1)](a, b, bias, c, PERSISTENT=2, **options)


@kiln.kernel
def sums(
    x: kiln.View, out: kiln.View, most: kiln.View, SHARE: kiln.constexpr,
    PERSISTENT: kiln.constexpr = None,
):  # fmt: skip
    """Two sums of one loop, one of them of integers and under a condition, of a grid of three axes."""
    h, i, j = kiln.grid(x.shape[0], x.shape[1], 1)
    if PERSISTENT is not None:
        kiln.pin(persistent=PERSISTENT, raster="chiplets")
    total = kiln.zeros((32,), kiln.f32)
    count = kiln.zeros((32,), kiln.i32)
    for k in kiln.pin(range(0, x.shape[2], 32), share=SHARE):
        part = x[h, i].load((k,), (32,))
        total = total + part
        if k >= 64:
            count = count + (part > 0).to(kiln.i32)
    out.store((h, i, j, 0), total.reshape((1, 1, 1, 32)))
    most.store((h, i, j, 0), count.reshape((1, 1, 1, 32)))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("share", [2, 5, (3, "atomic"), "stream", ("stream", "atomic")])
def test_a_loop_of_two_sums(rng, device: str, share) -> None:
    streams = "stream" in (share if isinstance(share, tuple) else (share,))
    persistent = int(rng.integers(2, 20)) if streams else None
    h, i, k = (int(rng.integers(1, n)) for n in (4, 6, 300))
    x = rng.standard_normal((h, i, k)).astype(np.float32)
    out, most = np.zeros((h, i, 1, 32), np.float32), np.zeros((h, i, 1, 32), np.int32)
    sums.options(device=device)(x, out, most, SHARE=share, PERSISTENT=persistent)
    padded = np.zeros((h, i, -(-k // 32), 32))
    padded.reshape(h, i, -1)[..., :k] = x
    assert np.allclose(out[:, :, 0], padded.sum(2), atol=1e-5), (h, i, k, persistent)
    assert np.array_equal(most[:, :, 0], (padded[:, :, 2:] > 0).sum(2)), (h, i, k, persistent)


def test_a_pinned_grid_is_refused(rng) -> None:
    a, b, bias, _ = operands(rng, 64, 64, 64)
    c = np.zeros((64, 64), np.float32)
    with pytest.raises(kiln.LaunchError, match="expected no grid, because the kernel alone"):
        shared[(1, 1)](a, b, bias, c, SHARE=2, PERSISTENT=None, BM=64, BN=64, BK=32)


@kiln.kernel
def by_roles(
    a: kiln.View, b: kiln.View, c: kiln.View,
    SHARE: kiln.constexpr, copies: kiln.constexpr, PERSISTENT: kiln.constexpr,
    ENGINE: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], 64))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies)))
    if PERSISTENT:
        kiln.pin(persistent=PERSISTENT)
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=3, share=SHARE):
        x = kiln.pin(a.load((i * 128, k), (128, 64)), role="load", stage=0, atom="tma")
        y = kiln.pin(b.load((j * 64, k), (64, 64)), role="load", stage=0, atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True), role="mma", stage=0, in_flight=1, atom="wgmma"
        )
    stored = c.store((i * 128, j * 64), acc)
    if ENGINE:
        kiln.pin(stored, role="mma", in_flight=1, atom="tma")


@pytest.mark.parametrize("copies, engine", [(1, True), (2, False), (2, True)])
@pytest.mark.parametrize(
    "share, persistent",
    [*itertools.product([3, (2, "atomic")], [0, 3]), ("stream", 3), ("stream", 7),
     (("stream", "atomic"), 7)],
)  # fmt: skip
def test_roles_share_a_loop_out(rng, share, persistent: int, copies: int, engine: bool) -> None:
    m, n, k = (8 * int(rng.integers(1, 40)) for _ in range(3))
    a, b, _, _ = operands(rng, m, n, k)
    c = np.zeros((m, n), np.float32)
    by_roles.options(device="emu:sm_90a")(
        a, b, c, SHARE=share, copies=copies, PERSISTENT=persistent, ENGINE=engine
    )
    check(c, a.astype(np.float64) @ b.astype(np.float64).T, m, n, k, share, persistent)


@kiln.kernel
def added(
    a: kiln.View, b: kiln.View, d: kiln.View, c: kiln.View,
    SHARE: kiln.constexpr, PROGRAMS: kiln.constexpr, BN: kiln.constexpr,
):  # fmt: skip
    """a b^T + d: behind the loop one role loads what another one adds."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], BN))
    kiln.pin(
        roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)), persistent=(PROGRAMS, 2)
    )
    acc = kiln.zeros((64, BN), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=3, share=SHARE):
        x = kiln.pin(a.load((i * 64, k), (64, 64)), role="load", stage=0, atom="tma")
        y = kiln.pin(b.load((j * BN, k), (BN, 64)), role="load", stage=0, atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True), role="mma", stage=0, in_flight=1, atom="wgmma"
        )
    e = d.load((i * 64, j * BN), (64, BN))
    if BN == 64:
        e = kiln.pin(e, role="load", atom="tma")
    c.store((i * 64, j * BN), acc + e)


@pytest.mark.parametrize("share", [2, "stream"])
@pytest.mark.parametrize("width", [64, 192])
def test_what_follows_a_shared_loop_has_roles(rng, share, width: int) -> None:
    """The role that loads is told which program goes on; and sums of extents that are exact."""
    m, n, k = (8 * int(rng.integers(1, 30)) for _ in range(3))
    a, b, _, _ = operands(rng, m, n, k)
    d = rng.standard_normal((m, n)).astype(np.float32)
    c = np.zeros((m, n), np.float32)
    programs = int(rng.integers(2, 12))
    added.options(device="emu:sm_90a")(a, b, d, c, SHARE=share, PROGRAMS=programs, BN=width)
    check(c, a.astype(np.float64) @ b.astype(np.float64).T + d, m, n, k, programs)


@pytest.mark.parametrize(
    "chip, what", [("sm_90a", "wgmma"), ("sm_80", "cp.async"), ("gfx942", "mfma")]
)
@pytest.mark.parametrize("share, persistent", [(4, None), ("stream", 7)])
def test_plain_loops_keep_their_instructions(
    rng, chip: str, what: str, share, persistent: int | None
) -> None:
    """Sharing a loop out is no reason to run its products in another way."""
    a, b, bias, _ = operands(rng, 256, 256, 512)
    target = ("amdgpu:" if chip.startswith("gfx") else "nvptx:") + chip
    compiled = shared.compile(
        a, b, bias, np.zeros((256, 256), np.float32), SHARE=share, PERSISTENT=persistent, BM=128,
        BN=128, BK=64, target=target,
    )  # fmt: skip
    assert what in compiled.asm
