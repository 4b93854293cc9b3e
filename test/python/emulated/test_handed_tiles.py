"""Tiles that one role makes and another uses, of roles of unlike warps and copies: bytes and masks,
transposes, and what its maker uses, too. On emulated chips, against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def handed(
    x: kiln.View, y: kiln.View, z: kiln.View, kind: kiln.constexpr, warps: kiln.constexpr,
    makers: kiln.constexpr, users: kiln.constexpr, depth: kiln.constexpr, rows: kiln.constexpr,
    columns: kiln.constexpr, copy: kiln.constexpr,
):  # fmt: skip
    i = kiln.grid(kiln.cdiv(x.shape[0], rows))
    kiln.pin(
        roles=(
            kiln.role("load", warps=4),
            kiln.role("make", warps=warps, copies=makers),
            kiln.role("use", warps=4, copies=users),
        )
    )
    sums = kiln.zeros((rows, columns), kiln.f32)
    own = kiln.zeros((rows,), kiln.f32)
    for k in kiln.pin(range(0, x.shape[1], columns), depth=depth):
        t = kiln.pin(x.load((i * rows, k), (rows, columns)), role="load", atom=copy)
        u = kiln.pin(t.to(kiln.f32) * 2.0, role="make")
        if kind == "bytes":
            sums = kiln.pin(sums + kiln.pin(u.to(kiln.i8), role="make").to(kiln.f32), role="use")
        elif kind == "masks":
            mask = kiln.pin(u > 1.0, role="make")
            sums = kiln.pin(kiln.where(mask, sums + 1.0, sums), role="use")
        elif kind == "transposes":
            sums = kiln.pin(sums + u.T, role="use")
        else:
            sums = kiln.pin(sums + u, role="use")
            own = kiln.pin(own + kiln.sum(u, axis=1), role="make")
    if kind == "both":
        kiln.pin(z.store((i * rows,), own), role="make")
    kiln.pin(y.store((i * rows, 0), sums), role="use")


@pytest.mark.parametrize("draw", range(5))
@pytest.mark.parametrize("kind", ["bytes", "masks", "transposes", "both"])
@pytest.mark.parametrize(
    "warps, makers, users", [(2, 1, 1), (8, 1, 1), (4, 2, 1), (4, 1, 2), (2, 2, 2)]
)
def test_roles_of_unlike_threads(
    rng, kind: str, warps: int, makers: int, users: int, draw: int
) -> None:
    rows, columns = (64, 64) if kind == "transposes" else ((64, 32), (128, 32), (64, 64))[draw % 3]
    trips, programs = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    x = rng.integers(-8, 9, (rows * programs, columns * trips)).astype(BF16)
    y = np.full((rows * programs, columns), np.nan, np.float32)
    z = np.zeros(rows * programs, np.float32)
    chip, copy = (
        ("sm_90a", "tma"), ("sm_80", "cp_async"), ("sm_80", "through_registers"),
        ("gfx942", "load_to_lds"), ("gfx1201", "through_registers"),
    )[draw]  # fmt: skip
    # LDS has room for one slot of each ring of the greater tiles.
    depth = 1 if chip.startswith("gfx") and rows * columns > 2048 else int(rng.integers(1, 4))
    tile = dict(kind=kind, warps=warps, makers=makers, users=users, depth=depth, rows=rows,
                columns=columns, copy=copy)  # fmt: skip
    handed.options(device=f"emu:{chip}")(x, y, z, **tile)
    u = 2 * x.astype(np.float64).reshape(programs, rows, trips, columns)
    if kind == "masks":
        u = (u > 1).astype(np.float64)
    want = u.sum(2)
    if kind == "transposes":
        want = want.swapaxes(1, 2)
    assert np.array_equal(y, want.reshape(y.shape)), tile
    if kind == "both":
        assert np.array_equal(z, u.sum((2, 3)).reshape(-1)), tile


@kiln.kernel
def numbers(
    x: kiln.View, y: kiln.View, dtype: kiln.constexpr, makers: kiln.constexpr, users: kiln.constexpr,
    copy: kiln.constexpr,
):  # fmt: skip
    """Adds up twice the largest element of each tile of a row."""
    i = kiln.grid(kiln.cdiv(x.shape[0], 64))
    kiln.pin(
        roles=(
            kiln.role("load", warps=2),
            kiln.role("make", warps=4, copies=makers),
            kiln.role("use", warps=4, copies=users),
        )
    )
    acc = kiln.zeros((64, 32), kiln.f32)
    for k in kiln.pin(range(0, x.shape[1], 32), depth=2):
        t = kiln.pin(x.load((i * 64, k), (64, 32)), role="load", atom=copy)
        u = kiln.pin((t + t).to(dtype), role="make")
        most = kiln.pin(kiln.max(kiln.max(u, axis=1), axis=0), role="make")
        acc = kiln.pin(acc + kiln.full((64, 32), most.to(kiln.f32), kiln.f32), role="use")
    kiln.pin(y.store((i * 64, 0), acc), role="use")


@pytest.mark.parametrize("dtype", ["f32", "bf16", "i32", "i8"])
@pytest.mark.parametrize("makers, users", [(2, 1), (1, 2), (2, 2), (4, 1)])
@pytest.mark.parametrize(
    "chip, copy",
    [
        ("sm_90a", "tma"), ("sm_80", "cp_async"), ("sm_100a", "through_registers"),
        ("gfx1201", "through_registers"),
    ],
)  # fmt: skip
def test_numbers_of_several_copies(rng, dtype: str, makers: int, users: int, chip: str, copy: str):
    trips, programs = int(rng.integers(1, 5)), int(rng.integers(1, 3))
    x = rng.integers(-8, 9, (64 * programs, 32 * trips)).astype(BF16)
    y = np.full((64 * programs, 32), np.nan, np.float32)
    numbers.options(device=f"emu:{chip}")(
        x, y, dtype=getattr(kiln, dtype), makers=makers, users=users, copy=copy
    )
    most = 2 * x.astype(np.float64).reshape(programs, 64, trips, 32).max(axis=(1, 3)).sum(axis=1)
    assert np.array_equal(y, np.broadcast_to(most.repeat(64)[:, None], y.shape))


@kiln.kernel
def handed_whole(a: kiln.View, c: kiln.View):
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("p", warps=2, copies=4), kiln.role("q", warps=2, copies=3)))
    y = kiln.pin(kiln.pin(a.load((0, 0), (24, 48)), role="p") * 2.0, role="p")
    z = kiln.pin(y + kiln.sum(y, axis=1)[:, None], role="q")
    kiln.pin(c.store((0, 0), z), role="q")


def test_what_no_copies_share_out(rng) -> None:
    """Tiles that have grown in both extents each copy has whole, of either role."""
    a = rng.integers(-8, 9, (24, 48)).astype(np.float32)
    c = np.full(a.shape, np.nan, np.float32)
    handed_whole.options(device="emu:gfx942")(a, c)
    np.testing.assert_array_equal(c, 2 * a + 2 * a.sum(1, keepdims=True))


@kiln.kernel
def conditional(
    x: kiln.View, y: kiln.View, n: kiln.i32, kind: kiln.constexpr, copies: kiln.constexpr
):
    """What a trip adds depends on its number, n, or what the tile has."""
    i = kiln.grid(x.shape[0] // 32)
    kiln.pin(roles=(kiln.role("make", warps=4, copies=copies), kiln.role("use", warps=4)))
    acc = kiln.zeros((32, 32), kiln.f32)
    for t in kiln.pin(range(0, x.shape[1], 32), depth=2):
        u = kiln.pin(x.load((i * 32, t), (32, 32)), role="make")
        u = kiln.pin(u * 2.0, role="make")
        if kind == "trip":
            w = kiln.zeros((32, 32), kiln.f32)
            if t // 32 % 2 == n:
                w = kiln.pin(u + 1.0, role="make")
                acc = kiln.pin(acc + w, role="use")
            else:
                w = kiln.pin(acc - 1.0, role="use")
            acc = kiln.pin(acc + w, role="use")
        elif kind == "number":
            most = kiln.pin(kiln.max(kiln.max(u, axis=1), axis=0), role="make")
            if most > 5.0:
                acc = kiln.pin(acc + kiln.pin(u + 1.0, role="make"), role="use")
        elif kind == "for":
            for j in range(n):
                acc = kiln.pin(acc + kiln.pin(u + j.to(kiln.f32), role="make"), role="use")
        else:
            j = n
            while j > 0:
                acc = kiln.pin(acc + kiln.pin(u + j.to(kiln.f32), role="make"), role="use")
                j = j // 2
    kiln.pin(y.store((i * 32, 0), acc), role="use")


@pytest.mark.parametrize("kind", ["trip", "number", "for", "while"])
@pytest.mark.parametrize("chip, copies", [("sm_90a", 2), ("gfx942", 1)])
def test_conditions_around_what_is_handed_over(rng, kind: str, chip: str, copies: int) -> None:
    for n in (0, 1, 3):
        x = rng.integers(-3, 4, (64, 160)).astype(np.float32)
        x[:, 32:64] = np.minimum(x[:, 32:64], 2)
        y, want = np.full((64, 32), np.nan, np.float32), np.zeros((64, 32))
        conditional.options(device=f"emu:{chip}")(x, y, n, kind=kind, copies=copies)
        for i in range(2):
            rows = slice(32 * i, 32 * i + 32)
            acc = np.zeros((32, 32))
            for t in range(5):
                u = 2 * x[rows, 32 * t : 32 * t + 32].astype(np.float64)
                if kind == "trip":
                    acc = acc + 2 * (u + 1) if t % 2 == n else 2 * acc - 1
                elif kind == "number":
                    acc = acc + u + 1 if u.max() > 5 else acc
                else:
                    trips = range(n) if kind == "for" else [n >> s for s in range(n.bit_length())]
                    acc = acc + sum((u + j for j in trips), np.zeros((32, 32)))
            want[rows] = acc
        np.testing.assert_array_equal(y, want)
