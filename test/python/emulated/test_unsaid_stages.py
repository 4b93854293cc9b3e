"""Rings of which nobody says when they are read, by products in flight: on emulated chips, against
float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def squared(
    a: kiln.View, c: kiln.View,
    depth: kiln.constexpr, flight: kiln.constexpr, copy: kiln.constexpr, twice: kiln.constexpr,
):  # fmt: skip
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=depth):
        x = kiln.pin(a.load((0, k), (64, 32)), atom=copy)
        acc = kiln.pin(kiln.dot(x, x, acc, transpose_b=True), atom="wgmma", in_flight=flight)
        if twice:
            y = kiln.pin(a.load((0, k), (64, 32)), atom=copy)
            acc = kiln.pin(kiln.dot(y, y, acc, transpose_b=True), atom="wgmma", in_flight=flight)
    c.store((0, 0), acc)


# The least slots by what is in flight, of one use a trip and of two.
LEAST = {
    ("cp_async", False): (1, 2, 3),
    ("through_registers", False): (2, 3, 4),
    ("cp_async", True): (2, 3, 4),
    ("through_registers", True): (4, 5, 6),
}


@pytest.mark.parametrize("flight", [0, 1, 2])
@pytest.mark.parametrize("copy, twice", list(LEAST))
def test_every_depth_from_the_least_on(rng, copy: str, twice: bool, flight: int) -> None:
    least = LEAST[copy, twice][flight]
    kernel = squared.options(device="emu:sm_90a")
    for depth in range(1, least + 2):
        a = rng.standard_normal((64, 32 * int(rng.integers(1, 9)))).astype(BF16)
        c = np.zeros((64, 64), np.float32)
        constants = {"depth": depth, "flight": flight, "copy": copy, "twice": twice}
        if depth < least:
            message = rf"expected at least {least} slots \('depth'\).*'in_flight' is {flight}"
            with pytest.raises(kiln.CompileError, match=message):
                kernel(a, c, **constants)
            continue
        kernel(a, c, **constants)
        reference = (1 + twice) * (a.astype(np.float64) @ a.astype(np.float64).T)
        assert np.linalg.norm(c - reference) <= 1e-5 * np.linalg.norm(reference), constants


@kiln.kernel
def of_two_rings(
    a: kiln.View, b: kiln.View, c: kiln.View, copies: kiln.constexpr, depths: kiln.constexpr,
    product: kiln.constexpr, flight: kiln.constexpr,
):  # fmt: skip
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x = kiln.pin(a.load((0, k), (128, 64)), atom=copies[0], ring="x", depth=depths[0])
        y = kiln.pin(b.load((0, k), (64, 64)), atom=copies[1], ring="y", depth=depths[1])
        acc = kiln.dot(x, y, acc, transpose_b=True)
        kiln.pin(acc, atom=product, in_flight=flight)
    c.store((0, 0), acc)


@pytest.mark.parametrize("chip, product, flight", [
    ("sm_90a", "wgmma", 0), ("sm_90a", "wgmma", 1), ("sm_100a", "tcgen05", 0),
])  # fmt: skip
def test_one_product_reads_rings_of_unlike_depth(rng, chip: str, product: str, flight: int) -> None:
    kernel = of_two_rings.options(device=f"emu:{chip}")
    for _ in range(4):
        copies = tuple(rng.choice(["cp_async", "through_registers"], 2).tolist())
        depths = tuple(flight + 1 + (copy != "cp_async") + int(rng.integers(4)) for copy in copies)
        a, b = (
            rng.standard_normal((rows, 64 * int(rng.integers(1, 7)))).astype(BF16)
            for rows in (128, 64)
        )
        length = min(a.shape[1], b.shape[1])
        a, b = a[:, :length].copy(), b[:, :length].copy()
        c = np.zeros((128, 64), np.float32)
        kernel(a, b, c, copies, depths, product, flight)
        reference = a.astype(np.float64) @ b.astype(np.float64).T
        drawn = (copies, depths)
        assert np.linalg.norm(c - reference) <= 1e-5 * np.linalg.norm(reference), drawn


@kiln.kernel
def beside_an_outer_ring(a: kiln.View, b: kiln.View, c: kiln.View, depth: kiln.constexpr):
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    for i in range(0, c.shape[0], 64):
        x = kiln.pin(a.load((i, 0), (64, 64)), atom="cp_async", ring="x", depth=1)
        acc = kiln.zeros((64, 64), kiln.f32)
        for k in range(0, b.shape[0], 64):
            y = kiln.pin(b.load((k, 0), (64, 64)), atom="cp_async", ring="y", depth=depth)
            acc = kiln.dot(x, y, acc, transpose_b=True)
            kiln.pin(acc, atom="wgmma", in_flight=0)
        c.store((i, 0), acc)


def test_a_ring_of_an_inner_loop_runs_ahead_by_its_own_slots(rng) -> None:
    a, b = (rng.integers(-3, 4, (rows, 64)).astype(BF16) for rows in (192, 320))
    puts = []
    for depth in (2, 4):
        c = np.zeros((192, 64), np.float32)
        beside_an_outer_ring.options(device="emu:sm_90a")(a, b, c, depth)
        blocks = b.astype(np.float64).reshape(5, 64, 64).sum(0)
        np.testing.assert_array_equal(c, a.astype(np.float64) @ blocks.T)
        made = beside_an_outer_ring.compile(
            a, b, c, depth, target="nvptx:sm_90a", _pipeline="stop-after=schedule"
        )
        puts.append(made.ir("schedule").count("tile.put "))
    assert puts[0] < puts[1], puts


@kiln.kernel
def of_the_trip_before(w: kiln.View, x: kiln.View, c: kiln.View, copy: kiln.constexpr):
    kiln.grid(1)
    kiln.pin(roles=kiln.role("mma", warps=4))
    acc = kiln.zeros((64, 64), kiln.f32)
    before = kiln.full((64, 64), 1, kiln.bf16)
    for k in kiln.pin(range(0, x.shape[1], 64), depth=3):
        y = kiln.pin(w.load((0, k), (64, 64)), atom=copy)
        t = kiln.pin(x.load((0, k), (64, 64)), atom=copy)
        acc = kiln.pin(kiln.dot(before, t, acc, transpose_b=True), atom="wgmma")
        before = y.to(kiln.bf16)
    c.store((0, 0), acc)


@pytest.mark.parametrize("trips", [1, 2, 5])
@pytest.mark.parametrize("copy", ["cp_async", "through_registers"])
def test_a_tile_that_only_the_next_trip_uses(rng, copy: str, trips: int) -> None:
    w, x = (rng.integers(-3, 4, (64, 64 * trips)) for _ in "wx")
    c = np.zeros((64, 64), np.float32)
    kernel = of_the_trip_before.options(device="emu:sm_90a")
    kernel(w.astype(np.int8), x.astype(BF16), c, copy)
    earlier = np.concatenate([np.ones((64, 64)), w[:, : 64 * (trips - 1)]], axis=1)
    np.testing.assert_array_equal(c, earlier @ x.T)
