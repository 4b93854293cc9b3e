"""Orders of some of a role's ops: each is a place among all of them, obeyed or refused."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

import kiln


@kiln.kernel
def ordered(
    a: kiln.View, b: kiln.View, c: kiln.View, first: kiln.constexpr, total: kiln.constexpr,
    power: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 64))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    acc, t = kiln.zeros((64, 64), kiln.f32), kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=3):
        x = kiln.pin(a.load((i * 64, k), (64, 32)), role="load", atom="tma")
        y = kiln.pin(b.load((j * 64, k), (64, 32)), role="load", atom="tma", ring="y")
        s = kiln.pin(kiln.dot(x, y, transpose_b=True), role="mma", atom="wgmma", in_flight=0)
        p = kiln.pin(kiln.exp2(s), role="mma")
        t = kiln.pin(t + p, role="mma")
        acc = kiln.pin(acc * 2 + s, role="mma")
        if first is not None:
            kiln.pin(x, order=first)
        if total is not None:
            kiln.pin(t, order=total)
        if power is not None:
            kiln.pin(p, stage=1, order=power)
    kiln.pin(c.store((i * 64, j * 64), acc + t), role="mma")


def code(**orders) -> str:
    """The PTX, but for what names the source."""
    a, c = np.zeros((128, 128), ml_dtypes.bfloat16), np.zeros((128, 128), np.float32)
    schedule = dict(first=None, total=None, power=None) | orders
    asm = ordered.compile(a, a, c, target="nvptx:sm_90a", **schedule).asm
    return re.sub(r"//.*|\.(file|loc|section)[^\n]*", "", asm)


def test_one_order_moves_its_op() -> None:
    usual = code()
    assert code(first=1) != usual
    assert code(first=0) == usual
    assert code(power=0) != code(power=1)


@pytest.mark.parametrize("orders", [dict(total=0), dict(power=3)])
def test_orders_in_front_of_what_is_needed(orders) -> None:
    with pytest.raises(kiln.CompileError, match="expected an order of (less|more) than") as error:
        code(**orders)
    assert error.value.line and "note: " in str(error.value)
