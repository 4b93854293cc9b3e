"""Rings of a role's own that straight code, conditions and loops fill in turn, at few slots: all meet
between a use that gave a slot back and the one that fills it again. On emulated chips, against
float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
OWN = {
    "sm_80": ("cp_async", "mma_sync"), "sm_90a": ("through_registers", "mma_sync"),
    "gfx942": ("through_registers", "matrix"), "gfx950": ("load_to_lds", "matrix"),
    "gfx1201": ("through_registers", "matrix"),
}  # fmt: skip


@kiln.kernel
def straight(
    a: kiln.View, b: kiln.View, c: kiln.View, n: kiln.i32,
    copy: kiln.constexpr, product: kiln.constexpr, depth: kiln.constexpr, turns: kiln.constexpr,
):  # fmt: skip
    """Three columns of tiles by one ring, in no loop but that of programs."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 64))
    kiln.pin(roles=kiln.role("all", warps=4), persistent=turns)
    y = b.load((0, 0), (64, 64))
    acc = kiln.zeros((64, 64), kiln.f32)
    for h in kiln.static_range(3):
        x = kiln.pin(a.load((i * 64, h * 64), (64, 64)), atom=copy, ring="r", depth=depth)
        acc = kiln.pin(kiln.dot(x, y, acc), atom=product)
    c.store((i * 64, 0), acc)


@kiln.kernel
def chosen(
    a: kiln.View, b: kiln.View, c: kiln.View, n: kiln.i32,
    copy: kiln.constexpr, product: kiln.constexpr, depth: kiln.constexpr, turns: kiln.constexpr,
):  # fmt: skip
    """Conditions in sequence, the second of two uses, and a use in none."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 64))
    kiln.pin(roles=kiln.role("all", warps=4), persistent=turns)
    y = b.load((0, 0), (64, 64))
    acc = kiln.zeros((64, 64), kiln.f32)
    if n > 0:
        x = kiln.pin(a.load((i * 64, 0), (64, 64)), atom=copy, ring="r", depth=depth)
        acc = kiln.pin(kiln.dot(x, y, acc), atom=product)
    if n > 1:
        for h in kiln.static_range(2):
            x = kiln.pin(a.load((i * 64, h * 64), (64, 64)), atom=copy, ring="r", depth=depth)
            acc = kiln.pin(kiln.dot(x, y, acc), atom=product)
    x = kiln.pin(a.load((i * 64, 128), (64, 64)), atom=copy, ring="r", depth=depth)
    acc = kiln.pin(kiln.dot(x, y, acc), atom=product)
    c.store((i * 64, 0), acc)


@kiln.kernel
def behind(
    a: kiln.View, b: kiln.View, c: kiln.View, n: kiln.i32,
    copy: kiln.constexpr, product: kiln.constexpr, depth: kiln.constexpr, turns: kiln.constexpr,
):  # fmt: skip
    """Two uses behind a loop's."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 64))
    kiln.pin(roles=kiln.role("all", warps=4), persistent=turns)
    y = b.load((0, 0), (64, 64))
    acc = kiln.zeros((64, 64), kiln.f32)
    for t in kiln.pin(range(0, n), depth=depth):
        x = kiln.pin(a.load((i * 64, 64 * t), (64, 64)), atom=copy, ring="r")
        acc = kiln.pin(kiln.dot(x, y, acc), atom=product)
    for h in kiln.static_range(1, 3):
        x = kiln.pin(a.load((i * 64, h * 64), (64, 64)), atom=copy, ring="r", depth=depth)
        acc = kiln.pin(kiln.dot(x, y, acc), atom=product)
    c.store((i * 64, 0), acc)


@kiln.kernel
def nested(
    a: kiln.View, b: kiln.View, c: kiln.View, n: kiln.i32,
    copy: kiln.constexpr, product: kiln.constexpr, depth: kiln.constexpr, turns: kiln.constexpr,
):  # fmt: skip
    """A condition's uses, between which a loop or none uses the ring."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 64))
    kiln.pin(roles=kiln.role("all", warps=4), persistent=turns)
    y = b.load((0, 0), (64, 64))
    acc = kiln.zeros((64, 64), kiln.f32)
    if n > 0:
        x = kiln.pin(a.load((i * 64, 0), (64, 64)), atom=copy, ring="r", depth=depth)
        acc = kiln.pin(kiln.dot(x, y, acc), atom=product)
        t = 0
        while t < n:
            x = kiln.pin(a.load((i * 64, 64 * t), (64, 64)), atom=copy, ring="r", depth=depth)
            acc = kiln.pin(kiln.dot(x, y, acc), atom=product)
            t += 1
        for h in kiln.static_range(1, 3):
            x = kiln.pin(a.load((i * 64, h * 64), (64, 64)), atom=copy, ring="r", depth=depth)
            acc = kiln.pin(kiln.dot(x, y, acc), atom=product)
    c.store((i * 64, 0), acc)


@kiln.kernel
def around(
    a: kiln.View, b: kiln.View, c: kiln.View, n: kiln.i32,
    copy: kiln.constexpr, product: kiln.constexpr, depth: kiln.constexpr, turns: kiln.constexpr,
):  # fmt: skip
    """Two uses in front of a loop's, which the next program's come behind."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 64))
    kiln.pin(roles=kiln.role("all", warps=4), persistent=turns)
    y = b.load((0, 0), (64, 64))
    acc = kiln.zeros((64, 64), kiln.f32)
    for h in kiln.static_range(1, 3):
        x = kiln.pin(a.load((i * 64, h * 64), (64, 64)), atom=copy, ring="r", depth=depth)
        acc = kiln.pin(kiln.dot(x, y, acc), atom=product)
    for t in range(0, n):
        x = kiln.pin(a.load((i * 64, 64 * t), (64, 64)), atom=copy, ring="r", depth=depth)
        acc = kiln.pin(kiln.dot(x, y, acc), atom=product)
    c.store((i * 64, 0), acc)


# How often each adds each of the columns.
USES = {
    "around": lambda n: (n > 0, 1 + (n > 1), 1 + (n > 2)),
    "nested": lambda n: (2 * (n > 0), (n > 0) + (n > 1), (n > 0) + (n > 2)),
    "straight": lambda n: (1, 1, 1),
    "chosen": lambda n: ((n > 0) + (n > 1), n > 1, 1),
    "behind": lambda n: (n > 0, 1 + (n > 1), 1 + (n > 2)),
}


KERNELS = {
    "nested": nested, "around": around, "straight": straight, "chosen": chosen, "behind": behind,
}  # fmt: skip


@pytest.mark.parametrize("turns", [False, 1])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("chip", OWN)
def test_slots_that_straight_code_fills_again(rng, chip: str, name: str, depth, turns) -> None:
    copy, product = OWN[chip]
    kernel = KERNELS[name]
    b = rng.standard_normal((64, 64)).astype(BF16)
    for n in map(int, rng.permutation(4)[:2]):
        a = rng.standard_normal((int(rng.integers(1, 200)), 192)).astype(BF16)
        c = np.full((a.shape[0], 64), np.nan, np.float32)
        kernel.options(device=f"emu:{chip}")(
            a, b, c, n, copy=copy, product=product, depth=depth, turns=turns
        )
        x, y = a.astype(np.float64), b.astype(np.float64)
        want = sum(m * (x[:, 64 * h : 64 * h + 64] @ y) for h, m in enumerate(USES[name](n)))
        assert np.abs(c - want).max() <= 1e-3, (n, a.shape)


@kiln.kernel
def still_read(a: kiln.View, c: kiln.View, product: kiln.constexpr):
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    x = kiln.pin(a.load((0, 0), (64, 64)), atom="cp_async", ring="r", depth=1)
    acc = kiln.pin(kiln.dot(x, x, transpose_b=True), atom="wgmma", in_flight=0)
    z = kiln.pin(a.load((0, 64), (64, 64)), atom="cp_async", ring="r", depth=1)
    acc = kiln.pin(kiln.dot(z, x, acc, transpose_b=True), atom="wgmma", in_flight=0)
    c.store((0, 0), acc)


def test_a_slot_that_is_read_still() -> None:
    """The ring's one slot holds the first tile until both products have read it."""
    a, c = np.zeros((64, 128), BF16), np.zeros((64, 64), np.float32)
    with pytest.raises(kiln.CompileError, match=r"expected a ring of more than 1 slots") as got:
        still_read.compile(a, c, target="nvptx:sm_90a", product="wgmma")
    assert "x = kiln.pin(a.load((0, 0), (64, 64))" in str(got.value)


@kiln.kernel
def two_a_trip(
    a: kiln.View, b: kiln.View, c: kiln.View,
    copy: kiln.constexpr, product: kiln.constexpr, first: kiln.constexpr, second: kiln.constexpr,
):  # fmt: skip
    """One ring, of which nobody says how many slots it has, by two uses a trip."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 64))
    kiln.pin(roles=kiln.role("all", warps=4))
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in range(0, a.shape[1], 32):
        x = kiln.pin(a.load((i * 64, k), (64, 32)), atom=copy, ring="r", stage=0)
        acc = kiln.pin(kiln.dot(x, x, acc, transpose_b=True), atom=product, stage=first)
        y = kiln.pin(b.load((0, k), (64, 32)), atom=copy, ring="r", stage=0)
        acc = kiln.pin(kiln.dot(y, y, acc, transpose_b=True), atom=product, stage=second)
    c.store((i * 64, 0), acc)


@pytest.mark.parametrize("first, second", [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (3, 3)])
@pytest.mark.parametrize("chip", OWN)
def test_slots_of_two_uses_a_trip(rng, chip: str, first: int, second: int) -> None:
    copy, product = OWN[chip]
    for k in (8, 32, 8 * int(rng.integers(5, 30))):
        a, b = (rng.standard_normal((64, k)).astype(BF16) for _ in range(2))
        c = np.full((64, 64), np.nan, np.float32)
        two_a_trip.options(device=f"emu:{chip}")(
            a, b, c, copy=copy, product=product, first=first, second=second
        )
        want = sum(x @ x.T for x in (a.astype(np.float64), b.astype(np.float64)))
        assert np.abs(c - want).max() <= 1e-3, k
