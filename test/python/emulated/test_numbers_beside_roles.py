"""Numbers of kernels with roles that have to do with no role's tensors: asserted by each role, and
written, counted and printed by one. On emulated chips."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def sums(a: kiln.View, n: kiln.View, c: kiln.View, copy: kiln.constexpr):
    """The sum of tiles of 32 columns, so many columns apart as n[0] tiles are; n[1] is n[0] + 1, n[2]
    counts programs, n[3] is how many trips there were."""
    i = kiln.grid(kiln.cdiv(a.shape[0], 64))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("sum", warps=4)))
    assert a.shape[1] > 31, "no tile"
    s = kiln.zeros((64, 32), kiln.f32)
    trips = 0
    for k in kiln.pin(range(0, a.shape[1], n[0] * 32), depth=2):
        assert k < 10_000, "too wide"
        x = kiln.pin(a.load((i * 64, k), (64, 32)), role="load", atom=copy)
        s = kiln.pin(s + x.to(kiln.f32), role="sum")
        trips += 1
    if i == 0:
        n[1] = n[0] + 1
        n[3] = trips
    kiln.atomic_add(n, (2,), 1)
    kiln.pin(c.store((i * 64, 0), s), role="sum")


@pytest.mark.parametrize(
    "chip, copy",
    [
        ("sm_80", "cp_async"), ("sm_90a", "tma"), ("sm_100a", "tma"), ("gfx942", "load_to_lds"),
        ("gfx1201", "through_registers"),
    ],
)  # fmt: skip
def test_numbers(rng, chip: str, copy: str) -> None:
    rows, count, step = int(rng.integers(1, 200)), int(rng.integers(1, 9)), int(rng.integers(1, 4))
    a = rng.standard_normal((rows, 32 * count)).astype(BF16)
    n, c = np.array([step, -1, 0, -1], np.int32), np.zeros((rows, 32), np.float32)
    sums.options(device=f"emu:{chip}")(a, n, c, copy=copy)
    tiles = a.astype(np.float64).reshape(rows, count, 32)[:, ::step]
    assert np.abs(c - tiles.sum(axis=1)).max() <= 1e-4
    assert n.tolist() == [step, step + 1, -(-rows // 64), tiles.shape[1]]


@pytest.mark.parametrize("columns, why", [(16, "no tile"), (10_048, "too wide")])
def test_asserts(columns: int, why: str) -> None:
    a, n = np.zeros((64, columns), BF16), np.array([1, 0, 0, 0], np.int32)
    with pytest.raises(kiln.DeviceAssertError, match=why):
        sums.options(device="emu:sm_90a")(a, n, np.zeros((64, 32), np.float32), copy="tma")


@kiln.kernel
def greatest(a: kiln.View, n: kiln.View, turned: kiln.constexpr, copy: kiln.constexpr):
    """n[0] is what a sum's greatest element is, n[1] one more, read back; n[2] counts trips; n[3] is
    written twice."""
    kiln.grid(1)
    if turned:
        kiln.pin(roles=(kiln.role("sum", warps=4), kiln.role("load", warps=4)))
    else:
        kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("sum", warps=4)))
    s = kiln.zeros((64, 32), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=2):
        x = kiln.pin(a.load((0, k), (64, 32)), role="load", atom=copy)
        s = kiln.pin(s + x.to(kiln.f32), role="sum")
        n[2] = n[2] + 1
    n[3] = 1
    n[0] = kiln.max(kiln.max(s, axis=1), axis=0).to(kiln.i32)
    n[1] = n[0] + 1
    n[3] = n[1] + 1


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a", "gfx942", "gfx1201"])
@pytest.mark.parametrize("turned", [False, True])
def test_one_role_has_a_memory_in_the_order_of_the_text(rng, chip: str, turned: bool) -> None:
    count = int(rng.integers(1, 9))
    a, n = np.ones((64, 32 * count), BF16), np.zeros(4, np.int32)
    copy = "through_registers" if chip.startswith("gfx") else "cp_async"
    greatest.options(device=f"emu:{chip}")(a, n, turned=turned, copy=copy)
    assert n.tolist() == [count, count + 1, count, count + 2]


@kiln.kernel
def alone(a: kiln.View, n: kiln.View, c: kiln.View, place: kiln.constexpr):
    """Asserts of numbers where no role does anything else."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("sum", warps=4)))
    s = kiln.zeros((64, 32), kiln.f32)
    if place == "loop":
        for j in range(4):
            assert n[j] < 3, "too great"
    if place == "condition":
        if n[0] > 0:
            assert n[1] < 3, "too great"
    for k in kiln.pin(range(0, a.shape[1], 32), depth=2):
        if place == "nested":
            if k > 0:
                assert n[2] < 3, "too great"
        x = kiln.pin(a.load((0, k), (64, 32)), role="load", atom="cp_async")
        s = kiln.pin(s + x.to(kiln.f32), role="sum")
    kiln.pin(c.store((0, 0), s), role="sum")


@pytest.mark.parametrize("place", ["loop", "condition", "nested"])
def test_asserts_where_no_role_is(place: str) -> None:
    a, c = np.ones((64, 64), BF16), np.zeros((64, 32), np.float32)
    run = alone.options(device="emu:sm_90a")
    run(a, np.array([1, 2, 2, 2], np.int32), c, place=place)
    assert (c == 2).all()
    with pytest.raises(kiln.DeviceAssertError, match="too great"):
        run(a, np.array([1, 3, 3, 3], np.int32), c, place=place)
