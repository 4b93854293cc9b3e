"""Loops that hand tiles of a ring on to their next trip, on emulated chips, against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
F32 = kiln.f32
# How tiles come, and what multiplies them.
CHIPS = {
    "sm_80": ("cp_async", "mma_sync"),
    "sm_90a": ("tma", "wgmma"),
    "sm_100a": ("tma", "mma_sync"),
    "gfx942": ("load_to_lds", "matrix"),
    "gfx950": ("load_to_lds", "matrix"),
    "gfx1201": ("through_registers", "matrix"),
}


@kiln.kernel
def neighbours(
    a: kiln.View, c: kiln.View, last: kiln.View, copy: kiln.constexpr, roles: kiln.constexpr,
    depth: kiln.constexpr, atom: kiln.constexpr, turned: kiln.constexpr,
):  # fmt: skip
    """The sum of x[i - 1] @ x[i].T over tiles of 64 columns (or of x[i] @ x[i - 1].T), and the last
    tile."""
    kiln.grid(1)
    if roles == 2:
        kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    else:
        kiln.pin(roles=kiln.role("mma", warps=4))
    s = kiln.zeros((64, 64), F32)
    before = kiln.zeros((64, 64), a.dtype)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=depth):
        x = kiln.pin(a.load((0, k), (64, 64)), atom=copy, role="load" if roles == 2 else "mma")
        if turned:
            s = kiln.pin(kiln.dot(x, before, s, transpose_b=True), role="mma", atom=atom)
        else:
            s = kiln.pin(kiln.dot(before, x, s, transpose_b=True), role="mma", atom=atom)
        before = x
    kiln.pin(c.store((0, 0), s), role="mma")
    kiln.pin(last.store((0, 0), before), role="mma")


@kiln.kernel
def pairs(a: kiln.View, c: kiln.View, copy: kiln.constexpr, depth: kiln.constexpr):
    """The sum of x[i] * x[i - 1] over tiles of 64 columns, in trips that nobody counts."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    s = kiln.zeros((64, 64), F32)
    before = kiln.zeros((64, 64), a.dtype)
    k = 0
    while k < a.shape[1]:
        x = kiln.pin(a.load((0, k), (64, 64)), atom=copy, depth=depth)
        s = s + x.to(F32) * before.to(F32)
        before = x
        k += 64
    c.store((0, 0), s)


@kiln.kernel
def heads(a: kiln.View, c: kiln.View, copy: kiln.constexpr, depth: kiln.constexpr):
    """The sum of each tile of 64 columns times the last one in front of it whose number is even."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    s = kiln.zeros((64, 64), F32)
    head = kiln.zeros((64, 64), a.dtype)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=depth):
        x = kiln.pin(a.load((0, k), (64, 64)), atom=copy)
        s = s + x.to(F32) * head.to(F32)
        if k % 128 == 0:
            head = x
    c.store((0, 0), s)


@kiln.kernel
def divided(
    a: kiln.View, c: kiln.View, d: kiln.View,
    copy: kiln.constexpr, depth: kiln.constexpr, warps: kiln.constexpr,
):  # fmt: skip
    """Two roles use what the loop hands on, and one of them the last of it."""
    kiln.grid(1)
    kiln.pin(
        roles=(kiln.role("load", warps=4), kiln.role("one", warps=4), kiln.role("two", warps=warps))
    )
    s, t = kiln.zeros((64, 64), F32), kiln.zeros((64, 64), F32)
    before = kiln.zeros((64, 64), a.dtype)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=depth):
        x = kiln.pin(a.load((0, k), (64, 64)), atom=copy, role="load")
        s = kiln.pin(s + x.to(F32) * before.to(F32), role="one")
        t = kiln.pin(t + before.to(F32), role="two")
        before = x
    kiln.pin(c.store((0, 0), s), role="one")
    kiln.pin(d.store((0, 0), t + 2.0 * before.to(F32)), role="two")


@kiln.kernel
def last_of(
    a: kiln.View, c: kiln.View, d: kiln.View,
    copy: kiln.constexpr, depth: kiln.constexpr, warps: kiln.constexpr,
):  # fmt: skip
    """The same in trips that nobody counts; one role uses the last alone."""
    kiln.grid(1)
    kiln.pin(
        roles=(kiln.role("load", warps=4), kiln.role("one", warps=4), kiln.role("two", warps=warps))
    )
    s = kiln.zeros((64, 64), F32)
    before = kiln.zeros((64, 64), a.dtype)
    k = 0
    while k < a.shape[1]:
        x = kiln.pin(a.load((0, k), (64, 64)), atom=copy, role="load", depth=depth)
        s = kiln.pin(s + x.to(F32) * before.to(F32), role="one")
        before = x
        k += 64
    kiln.pin(c.store((0, 0), s), role="one")
    kiln.pin(d.store((0, 0), before.to(F32)), role="two")


@kiln.kernel
def two_back(a: kiln.View, c: kiln.View, d: kiln.View):
    """What the loop hands on it hands on further."""
    kiln.grid(1)
    kiln.pin(
        roles=(kiln.role("load", warps=4), kiln.role("one", warps=4), kiln.role("two", warps=4))
    )
    s, t = kiln.zeros((64, 64), F32), kiln.zeros((64, 64), F32)
    before = kiln.zeros((64, 64), a.dtype)
    earlier = kiln.zeros((64, 64), a.dtype)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=2):
        x = kiln.pin(a.load((0, k), (64, 64)), atom="tma", role="load")
        s = kiln.pin(s + x.to(F32) * before.to(F32), role="one")
        t = kiln.pin(t + earlier.to(F32), role="two")
        earlier = before
        before = x
    kiln.pin(c.store((0, 0), s), role="one")
    kiln.pin(d.store((0, 0), t), role="two")


def drawn(rng) -> np.ndarray:
    return rng.standard_normal((64, 64 * int(rng.integers(1, 9)))).astype(BF16)


def tiles(a: np.ndarray) -> np.ndarray:
    """[n, 64, 64]: the tiles of 64 columns of [64, 64 n]."""
    return a.astype(np.float64).reshape(64, -1, 64).swapaxes(0, 1)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("roles", [1, 2])
def test_products_of_neighbours(rng, chip: str, roles: int) -> None:
    copy, atom = CHIPS[chip]
    a, turned, depth = drawn(rng), bool(rng.integers(2)), int(rng.integers(2, 4))
    c, last = np.zeros((64, 64), np.float32), np.zeros((64, 64), BF16)
    neighbours.options(device=f"emu:{chip}")(
        a, c, last, copy=copy, roles=roles, depth=depth, atom=atom, turned=turned
    )
    x = tiles(a)
    want = sum((p @ q.T for p, q in zip(x, x[1:])), np.zeros((64, 64)))
    assert np.abs(c - (want.T if turned else want)).max() <= 1e-3, (turned, depth)
    np.testing.assert_array_equal(last.astype(np.float64), x[-1])


@pytest.mark.parametrize("chip", CHIPS)
def test_other_loops(rng, chip: str) -> None:
    copy, depth = CHIPS[chip][0], int(rng.integers(1, 4))
    a, c = drawn(rng), np.zeros((64, 64), np.float32)
    x = tiles(a)
    pairs.options(device=f"emu:{chip}")(a, c, copy=copy, depth=depth)
    assert np.abs(c - (x[1:] * x[:-1]).sum(0)).max() <= 1e-3, depth
    heads.options(device=f"emu:{chip}")(a, c, copy=copy, depth=depth)
    want = sum((x[i] * x[(i - 1) // 2 * 2] for i in range(1, len(x))), np.zeros((64, 64)))
    assert np.abs(c - want).max() <= 1e-3, depth


@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize(
    "chip, copy",
    [("sm_80", "cp_async"), ("sm_90a", "tma"), ("sm_90a", "through_registers"), ("sm_100a", "tma")],
)
def test_each_role_has_its_own(rng, chip: str, copy: str, warps: int) -> None:
    for depth in (1, 2, 3):
        a = drawn(rng)
        c, d, e, f = (np.zeros((64, 64), np.float32) for _ in range(4))
        x = tiles(a)
        options = {"copy": copy, "depth": depth, "warps": warps}
        divided.options(device=f"emu:{chip}")(a, c, d, **options)
        last_of.options(device=f"emu:{chip}")(a, e, f, **options)
        for got in (c, e):
            assert np.abs(got - (x[1:] * x[:-1]).sum(0)).max() <= 1e-3, (depth, len(x))
        assert np.abs(d - x[:-1].sum(0) - 2 * x[-1]).max() <= 1e-3, (depth, len(x))
        np.testing.assert_array_equal(f, x[-1])


@kiln.kernel
def left_behind(
    a: kiln.View, c: kiln.View, d: kiln.View,
    copy: kiln.constexpr, warps: kiln.constexpr, counted: kiln.constexpr,
):  # fmt: skip
    """What trips only hand on has the threads of the role that uses it behind the loop."""
    kiln.grid(1)
    kiln.pin(
        roles=tuple(kiln.role(name, warps=its) for name, its in zip(("load", "one", "two"), warps))
    )
    s = kiln.zeros((64, 64), F32)
    last = kiln.zeros((64, 64), a.dtype)
    if counted:
        for k in range(0, a.shape[1], 64):
            x = kiln.pin(a.load((0, k), (64, 64)), atom=copy, role="load", depth=2)
            s = kiln.pin(s + x.to(F32), role="one")
            last = x
    else:
        k = 0
        while k < a.shape[1]:
            x = kiln.pin(a.load((0, k), (64, 64)), atom=copy, role="load", depth=2)
            s = kiln.pin(s + x.to(F32) * last.to(F32), role="one")
            last = x
            k += 64
    kiln.pin(c.store((0, 0), s), role="one")
    kiln.pin(d.store((0, 0), last.to(F32)), role="two")


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("warps", [(4, 4, 1), (4, 1, 2), (2, 4, 1), (1, 2, 4)])
@pytest.mark.parametrize(
    "chip, copy",
    [("sm_80", "cp_async"), ("sm_90a", "tma"), ("gfx942", "through_registers"),
     ("gfx950", "load_to_lds"), ("gfx1201", "through_registers")],
)  # fmt: skip
def test_threads_of_who_uses_it_behind_the_loop(rng, chip: str, copy: str, warps, counted) -> None:
    a = drawn(rng)
    c, d = (np.full((64, 64), np.nan, np.float32) for _ in range(2))
    left_behind.options(device=f"emu:{chip}")(a, c, d, copy=copy, warps=warps, counted=counted)
    x = tiles(a)
    want = x.sum(0) if counted else (x[1:] * x[:-1]).sum(0)
    assert np.abs(c - want).max() <= 1e-3, len(x)
    np.testing.assert_array_equal(d, x[-1])


def test_what_is_handed_on_further_is_refused_to_two_roles() -> None:
    a, c = np.zeros((64, 64), BF16), np.zeros((64, 64), np.float32)
    with pytest.raises(
        kiln.CompileError, match="expected one role to use what the loop hands on"
    ) as error:
        two_back.compile(a, c, c, target="nvptx:sm_90a")
    assert error.value.line
