"""Loads and hand-overs of one role of which nobody says a ring, a depth or a stage: what is left open is
decided so that the rest can be obeyed. Operands are whole numbers, so sums are exact."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def chained(
    q: kiln.View, k: kiln.View, v: kiln.View, c: kiln.View, atom: kiln.constexpr,
    load: kiln.constexpr, stage: kiln.constexpr, flight: kiln.constexpr,
):  # fmt: skip
    """[rows, D] sums of (q kᵀ / 2) v, a tile of keys a trip: v is loaded behind a use of k."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 128))
    kiln.pin(roles=kiln.role("all", warps=4))
    x = q.load((i * 128, 0), (128, 32))
    acc = kiln.zeros((128, 32), kiln.f32)
    for j in range(0, k.shape[0], 32):
        y = kiln.pin(k.load((j, 0), (32, 32)), atom=load)
        s = kiln.pin(kiln.dot(x, y, transpose_b=True), atom=atom, in_flight=flight)
        w = s * 0.5
        z = kiln.pin(v.load((j, 0), (32, 32)), atom=load)
        acc = kiln.dot(w.to(kiln.bf16), z, acc)
        acc = kiln.pin(acc, atom=atom, stage=stage, in_flight=flight)
    c.store((i * 128, 0), acc)


@pytest.mark.parametrize("stage", [None, 1, 3])
@pytest.mark.parametrize(
    "chip, atom, load",
    [
        ("sm_80", "mma_sync", "cp_async"), ("sm_90a", "wgmma", "cp_async"),
        ("sm_90a", "wgmma", "tma"), ("sm_90a", "wgmma", "through_registers"),
        ("sm_100a", "tcgen05", "tma"), ("sm_100a", "tcgen05", "through_registers"),
        ("gfx942", "matrix", "load_to_lds"), ("gfx1201", "matrix", "through_registers"),
    ],
)  # fmt: skip
def test_loads_around_a_product(rng, chip: str, atom: str, load: str, stage) -> None:
    keys = 8 * int(rng.integers(1, 40))
    q, k, v = (rng.integers(-2, 3, (rows, 32)).astype(BF16) for rows in (200, keys, keys))
    c = np.full((200, 32), np.nan, np.float32)
    flight = 0 if atom == "wgmma" else None
    chained.options(device=f"emu:{chip}")(q, k, v, c, atom, load, stage, flight)
    scores = (q.astype(np.float64) @ k.astype(np.float64).T) * 0.5
    np.testing.assert_array_equal(c, scores @ v.astype(np.float64), err_msg=f"{keys}")


@kiln.kernel
def gathered(
    a: kiln.View, b: kiln.View, rows: kiln.View, c: kiln.View,
    atom: kiln.constexpr, stage: kiln.constexpr, flight: kiln.constexpr,
):  # fmt: skip
    """Rows that warps gather go through a slot of shared memory; the product reads it there."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    at = rows.load((0,), (128,))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in range(0, a.shape[1], 32):
        x = a.gather((at[:, None], k + kiln.arange(32)[None, :]))
        x = kiln.pin(x, residency="shared")
        y = b.load((0, k), (64, 32))
        acc = kiln.dot(x, y, acc, transpose_b=True)
        acc = kiln.pin(acc, atom=atom, stage=stage, in_flight=flight)
    c.store((0, 0), acc)


@pytest.mark.parametrize("stage", [None, 0, 1, 2])
@pytest.mark.parametrize("chip, atom", [("sm_90a", "wgmma"), ("sm_100a", "tcgen05")])
def test_a_slot_that_is_written_as_late_as_it_is_read(rng, chip: str, atom: str, stage) -> None:
    k = 8 * int(rng.integers(1, 30))
    a, b = (rng.integers(-4, 5, (rows, k)).astype(BF16) for rows in (70, 64))
    rows = rng.integers(0, 70, 128).astype(np.int32)
    c = np.full((128, 64), np.nan, np.float32)
    gathered.options(device=f"emu:{chip}")(
        a, b, rows, c, atom, stage, 0 if atom == "wgmma" else None
    )
    np.testing.assert_array_equal(c, a.astype(np.float64)[rows] @ b.astype(np.float64).T)


@kiln.kernel
def touched(
    a: kiln.View, b: kiln.View, c: kiln.View, load: kiln.constexpr, stage: kiln.constexpr
):  # fmt: skip
    """One role that doubles an operand which it has brought itself, for a product that commits."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x = a.load((0, k), (128, 64))
        y = kiln.pin(b.load((0, k), (64, 64)), atom=load)
        product = kiln.dot(x, y * 2, acc, transpose_b=True)
        acc = kiln.pin(product, atom="tcgen05", stage=stage)
    c.store((0, 0), acc)


@pytest.mark.parametrize("stage", [None, 0, 1, 2, 3, 4])
@pytest.mark.parametrize("load", ["cp_async", "through_registers", "tma"])
def test_a_sum_of_what_its_role_has_touched(rng, load: str, stage: int | None) -> None:
    if (load, stage) == ("through_registers", 0):
        pytest.skip("refused: what comes through registers is read a trip later")
    # Of an empty array no address is known, which cp_async asks for.
    for trips in (0, 1, 2, 3, 4, 7) if load == "through_registers" else (1, 2, 3, 4, 7):
        a, b = (rng.integers(-4, 5, (rows, 64 * trips)).astype(BF16) for rows in (128, 64))
        c = np.full((128, 64), np.nan, np.float32)
        touched.options(device="emu:sm_100a")(a, b, c, load, stage)
        np.testing.assert_array_equal(c, 2 * a.astype(np.float64) @ b.astype(np.float64).T)
