"""Copies of a role that take whole tiles in turn, by schedules and shapes drawn at random: one
multiplies while another stores. On an emulated chip, against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
DEVICE = "emu:sm_90a"
COPIES = ["tma", "cp_async", "through_registers"]


def error(out: np.ndarray, reference: np.ndarray) -> float:
    off = np.linalg.norm(out.astype(np.float64) - reference)
    return float(off / max(np.linalg.norm(reference), 1e-9))


@kiln.kernel
def in_turn(
    a: kiln.View, b: kiln.View, c: kiln.View, turns: kiln.constexpr, slots: kiln.constexpr,
    store: kiln.constexpr, copy: kiln.constexpr, triangle: kiln.constexpr,
    in_flight: kiln.constexpr, loaders: kiln.constexpr, product: kiln.constexpr = "wgmma",
    parts: kiln.constexpr = (1, 1, 1),
):  # fmt: skip
    """With `triangle` each row of tiles has as many trips as its place says."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 64))
    load = kiln.role("load", warps=4, turns=loaders)
    kiln.pin(roles=(load, kiln.role("mma", warps=4, turns=turns)), persistent=(2, 1))
    acc = kiln.zeros((64, 64), kiln.f32)
    end = kiln.minimum(a.shape[1], i * 64) if triangle else a.shape[1]
    for k in kiln.pin(range(0, end, 32), depth=slots):
        x = kiln.pin(a.load((i * 64, k), (64, 32)), role="load", atom=copy)
        y = kiln.pin(b.load((j * 64, k), (64, 32)), role="load", atom=copy)
        acc = kiln.dot(x, y, acc, transpose_b=True)
        kiln.pin(acc, role="mma", in_flight=in_flight, atom=product, parts=parts)
    out = c.store((i * 64, j * 64), acc.to(c.dtype))
    kiln.pin(out, role="mma")
    if store:
        kiln.pin(out, in_flight=0, atom=store)


@pytest.mark.parametrize("turn", range(9))
def test_tiles_in_turn(rng, turn: int) -> None:
    """Tiles with no trip, with fewer than the ring has slots and with many; two copies and three."""
    copy = COPIES[turn % 3]
    in_flight = int(rng.integers(2))
    # Copies by warps are of all copies of a role.
    loaders = 1 if copy == "cp_async" else int(rng.integers(1, 3))
    schedule = dict(
        turns=int(rng.integers(2 if loaders == 1 else 1, 4)), loaders=loaders,
        slots=int(rng.integers(1 + in_flight, 6)), in_flight=in_flight,
        store=[None, "tma"][turn // 2 % 2], copy=copy, triangle=bool(turn // 3 % 2),
    )  # fmt: skip
    check_turns(rng, DEVICE, schedule)


@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize("chip", ["sm_80", "sm_86", "sm_89", "gfx942", "gfx950", "gfx1201"])
def test_tiles_in_turn_without_engines(rng, chip: str, turn: int) -> None:
    is_amd = chip.startswith("gfx")
    direct = {"gfx942": "load_to_lds", "gfx950": "load_to_lds", "gfx1201": COPIES[2]}
    copy = (direct.get(chip, COPIES[1]), COPIES[2])[turn % 2]
    loaders = int(rng.integers(1, 3)) if copy == COPIES[2] else 1
    most = 4 - loaders if is_amd else 3  # blocks of 16 warps
    schedule = dict(
        turns=int(rng.integers(2 if loaders == 1 else 1, most + 1)), loaders=loaders,
        slots=int(rng.integers(1, 6)), in_flight=None, store=None, copy=copy,
        triangle=bool(turn // 2), product="matrix" if is_amd else "mma_sync",
        parts=(1 + turn % 2, 1 + turn // 2, 1),
    )  # fmt: skip
    check_turns(rng, f"emu:{chip}", schedule)


def check_turns(rng, device: str, schedule: dict) -> None:
    print(schedule)
    m, n = int(rng.integers(1, 300)), 8 * int(rng.integers(1, 40))
    # Loads to LDS are of rows that are known to be whole words.
    for k in (8 if schedule["copy"] == "load_to_lds" else 0, 8 * int(rng.integers(1, 40))):
        a, b = (rng.standard_normal((rows, max(k, 8))).astype(BF16)[:, :k] for rows in (m, n))
        c = np.full((m, n), np.nan, BF16)
        in_turn.options(device=device)(a, b, c, **schedule)
        x = a.astype(np.float64)
        if schedule["triangle"]:
            x = np.where(np.arange(k)[None, :] < np.arange(m)[:, None] // 64 * 64, x, 0)
        assert error(c, x @ b.astype(np.float64).T) < 4e-3, (m, n, k, schedule)


@kiln.kernel
def in_turn_shared(
    a: kiln.View, b: kiln.View, c: kiln.View, turns: kiln.constexpr, slots: kiln.constexpr,
    store: kiln.constexpr, in_flight: kiln.constexpr, loaders: kiln.constexpr,
    X: kiln.constexpr, Y: kiln.constexpr, programs: kiln.constexpr,
):  # fmt: skip
    """Programs of a cluster share b out along x, and a along y."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 64))
    load = kiln.role("load", warps=4, turns=loaders)
    kiln.pin(roles=(load, kiln.role("mma", warps=4, turns=turns)), persistent=(programs, 1))
    kiln.pin(cluster=(X, Y))
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=slots):
        x = kiln.pin(a.load((i * 64, k), (64, 32)), role="load", atom="tma")
        y = kiln.pin(b.load((j * 64, k), (64, 32)), role="load", atom="tma", multicast="x")
        if Y > 1:
            x = kiln.pin(x, multicast="y")
        acc = kiln.dot(x, y, acc, transpose_b=True)
        kiln.pin(acc, role="mma", in_flight=in_flight, atom="wgmma")
    out = c.store((i * 64, j * 64), acc.to(c.dtype))
    kiln.pin(out, role="mma")
    if store:
        kiln.pin(out, in_flight=0, atom=store)


@pytest.mark.parametrize("turn", range(6))
def test_clusters_in_turn(rng, turn: int) -> None:
    """Each copy steps over what the other takes of what all programs of a cluster bring, as the one that
    loads may, too."""
    x, y = (2, 1 + turn % 2)
    in_flight = int(rng.integers(2))
    loaders = 1 + turn // 2 % 2
    schedule = dict(
        turns=int(rng.integers(2, 4)), loaders=loaders, in_flight=in_flight, X=x, Y=y,
        slots=int(rng.integers(1 + in_flight, 6)), store=[None, "tma"][int(rng.integers(2))],
        programs=x * y * int(rng.integers(1, 3)),
    )  # fmt: skip
    print(schedule)
    m = 64 * x * int(rng.integers(1, 4)) - int(rng.integers(64))
    n = 64 * y * int(rng.integers(1, 5)) - 8 * int(rng.integers(8))
    for k in (0, 8 * int(rng.integers(1, 40))):
        a, b = (rng.standard_normal((rows, max(k, 8))).astype(BF16)[:, :k] for rows in (m, n))
        c = np.full((m, n), np.nan, BF16)
        in_turn_shared.options(device=DEVICE)(a, b, c, **schedule)
        assert error(c, a.astype(np.float64) @ b.astype(np.float64).T) < 4e-3, (m, n, k, schedule)


@kiln.kernel
def scaled(
    a: kiln.View, b: kiln.View, bias: kiln.View, rest: kiln.View, c: kiln.View,
    turns: kiln.constexpr, handed: kiln.constexpr, slots: kiln.constexpr,
):  # fmt: skip
    """Bytes that are widened in registers in front of the product; behind it a bias, what an engine
    brings of another matrix, and rows that are divided by their largest elements. What is stored
    may be handed to a role of its own."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 64))
    roles = (kiln.role("load", warps=4), kiln.role("mma", warps=4, turns=turns))
    if handed:
        roles = (*roles, kiln.role("store", warps=4))
    kiln.pin(roles=roles, persistent=(2, 1))
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=slots):
        x = kiln.pin(a.load((i * 64, k), (64, 64)), role="load", atom="tma")
        y = kiln.pin(b.load((j * 64, k), (64, 64)), role="load", atom="tma")
        acc = kiln.dot(x.to(kiln.bf16), y, acc, transpose_b=True)
        kiln.pin(acc, role="mma", in_flight=0, atom="wgmma")
    other = kiln.pin(
        rest.load((i * 64, j * 64), (64, 64)), role="load", ring="rest", depth=1, atom="tma"
    )
    row = kiln.pin(bias.load((j * 64,), (64,)), role="mma")
    total = acc + row[None, :] + other.to(kiln.f32)
    largest = kiln.max(kiln.abs(total), axis=1)
    out = c.store((i * 64, j * 64), (total / (largest + 1)[:, None]).to(kiln.bf16))
    kiln.pin(out, role="store" if handed else "mma", in_flight=int(handed), atom="tma")


@pytest.mark.parametrize("turn", range(4))
def test_what_stands_around_the_product(rng, turn: int) -> None:
    m, n, k = int(rng.integers(1, 300)), 8 * int(rng.integers(1, 40)), 16 * int(rng.integers(1, 20))
    schedule = dict(turns=2 + turn % 2, handed=turn >= 2, slots=int(rng.integers(1, 4)))
    a = rng.integers(-8, 9, (m, k)).astype(np.int8)
    b = rng.standard_normal((n, k)).astype(BF16)
    bias = rng.standard_normal(n).astype(np.float32)
    rest = rng.standard_normal((m, n)).astype(BF16)
    c = np.full((m, n), np.nan, BF16)
    scaled.options(device=DEVICE)(a, b, bias, rest, c, **schedule)
    total = a.astype(np.float64) @ b.astype(np.float64).T + bias + rest.astype(np.float64)
    want = np.empty_like(total)
    for first in range(0, n, 64):
        part = np.abs(total[:, first : first + 64]).max(axis=1)
        want[:, first : first + 64] = total[:, first : first + 64] / (part + 1)[:, None]
    assert error(c, want) < 6e-3, (m, n, k, schedule)


@kiln.kernel
def counted(a: kiln.View, counts: kiln.View, c: kiln.View):
    """Each copy draws numbers of its own."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 64))
    kiln.pin(roles=(kiln.role("load", warps=1), kiln.role("add", warps=2, turns=2)))
    kiln.pin(persistent=(1, 1))
    x = kiln.pin(a.load((i * 64,), (64,)), role="load", ring="a", depth=2, atom="tma")
    drawn = kiln.pin(kiln.atomic_add(counts, (0,), 1), role="add")
    kiln.pin(c.store((i * 64,), x + drawn), role="add")


def test_each_copy_draws_numbers_of_its_own(rng) -> None:
    tiles = int(rng.integers(2, 8))
    a = rng.integers(0, 1000, 64 * tiles).astype(np.int32) * 100
    counts, c = np.zeros(1, np.int32), np.zeros(64 * tiles, np.int32)
    counted.options(device=DEVICE)(a, counts, c)
    drawn = (c - a).reshape(tiles, 64)
    assert (drawn == drawn[:, :1]).all()
    assert sorted(drawn[:, 0]) == list(range(tiles)) and counts[0] == tiles


@kiln.kernel
def refused(
    a: kiln.View, c: kiln.View, persistent: kiln.constexpr, copies: kiln.constexpr,
    atom: kiln.constexpr,
):  # fmt: skip
    i = kiln.grid(kiln.cdiv(c.shape[0], 64))
    kiln.pin(roles=(kiln.role("load", warps=1), kiln.role("add", warps=2, copies=copies, turns=2)))
    if persistent:
        kiln.pin(persistent=(1, 1))
    x = kiln.pin(a.load((i * 64,), (64,)), role="load", ring="a", depth=2, atom=atom)
    kiln.pin(c.store((i * 64,), x), role="add")


@pytest.mark.parametrize(
    "persistent, copies, device, message",
    [
        (False, 1, DEVICE, r"expected 'tile.persistent', since 'tile.turns' is decided"),
        (True, 2, DEVICE, r"expected turns or copies of a role, got 2 and 2"),
    ],
)
def test_refusals(persistent: bool, copies: int, device: str, message: str) -> None:
    a = np.zeros(256, np.float32)
    options = dict(persistent=persistent, copies=copies, atom="through_registers")
    with pytest.raises(kiln.CompileError, match=message):
        refused.options(device=device)(a, a.copy(), **options)
