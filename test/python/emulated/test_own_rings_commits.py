"""Rings that a role fills for its own products in tensor memory, which give their slots back
themselves: on an emulated chip, against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View, depth: kiln.constexpr, stage: kiln.constexpr,
    copy: kiln.constexpr, again: kiln.constexpr, often: kiln.constexpr,
):  # fmt: skip
    i = kiln.grid(kiln.cdiv(c.shape[0], 128))
    kiln.pin(roles=kiln.role("all", warps=4))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in range(0, a.shape[1], 32):
        if not often or k % 64 == 0:
            x = kiln.pin(a.load((i * 128, k), (128, 32)), atom=copy, depth=depth)
            y = kiln.pin(b.load((0, k), (64, 32)), atom=copy, depth=depth)
            acc = kiln.dot(x, y, acc, transpose_b=True)
            if stage is not None:
                kiln.pin(x, stage=0)
                kiln.pin(y, stage=0)
                acc = kiln.pin(acc, stage=stage)
            acc = kiln.pin(acc, atom="tcgen05", in_flight=0)
    if again:
        for k in kiln.pin(range(0, a.shape[1], 32), depth=depth):
            x = kiln.pin(a.load((i * 128, k), (128, 32)), atom=copy)
            y = kiln.pin(b.load((0, k), (64, 32)), atom=copy)
            acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), atom="tcgen05", in_flight=0)
    c.store((i * 128, 0), acc)


def check(rng, factor: float = 1, often: bool = False, **constants) -> None:
    m, k = int(rng.integers(1, 300)), 8 * int(rng.integers(1, 40))
    a, b = (rng.standard_normal((rows, k)).astype(BF16) for rows in (m, 64))
    c = np.full((m, 64), np.nan, np.float32)
    constants = {"stage": None, "again": False, "often": often, **constants}
    product.options(device="emu:sm_100a")(a, b, c, **constants)
    x, y = (operand.astype(np.float64) for operand in (a, b))
    if often:
        kept = np.arange(k) // 32 % 2 == 0
        x, y = x[:, kept], y[:, kept]
    reference = factor * (x @ y.T)
    assert np.linalg.norm(c - reference) <= 1e-5 * np.linalg.norm(reference), (m, k, constants)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("copy", ["cp_async", "through_registers"])
def test_every_stage_that_a_depth_has_slots_for(rng, copy: str, depth: int) -> None:
    through = copy == "through_registers"
    for stage in (None, *range(through, depth + through)):
        check(rng, copy=copy, depth=depth, stage=stage)
    with pytest.raises(kiln.CompileError, match=rf"at least {depth + 1} slots \('depth'\)"):
        check(rng, copy=copy, depth=depth, stage=depth + through)


@pytest.mark.parametrize("copy", ["cp_async", "through_registers"])
def test_loops_in_sequence(rng, copy: str) -> None:
    check(rng, copy=copy, depth=3, again=True, factor=2)


@pytest.mark.parametrize("copy", ["cp_async", "through_registers"])
def test_behind_a_condition(rng, copy: str) -> None:
    check(rng, copy=copy, depth=2, often=True)
