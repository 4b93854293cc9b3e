"""Errors about decisions stand where these were pinned: those of a kernel at their own `kiln.pin`, those
of an op or a loop at it, with a note at what they clash with; and a stage in a condition names the
condition that has it."""

from __future__ import annotations

import inspect
import re

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def copied(x: kiln.View, y: kiln.View, how: kiln.constexpr):
    i = kiln.grid(kiln.cdiv(x.shape[0], 64))
    if how == "idle":
        kiln.pin(
            roles=(
                kiln.role("load", warps=4), kiln.role("use", warps=4), kiln.role("idle", warps=4)
            )
        )  # fmt: skip
    elif how == "warps":
        kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("use", warps=64)))
    elif how == "registers":
        use = kiln.role("use", warps=4, registers=250)
        kiln.pin(roles=(kiln.role("load", warps=4, registers=40), use))
    else:
        kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("use", warps=4)))
    if how == "cluster":
        kiln.pin(cluster=32)
    if how == "persistent":
        kiln.pin(cluster=4)
        kiln.pin(persistent=(2, 1))
    if how == "blocks":
        kiln.pin(programs_per_block=3)
    if how == "sum":
        kiln.pin(warps=16)
    t = kiln.pin(x.load((i * 64, 0), (64, 64)), role="load", atom="tma")
    kiln.pin(y.store((i * 64, 0), kiln.pin(t * 2.0, role="use")), role="use")


@pytest.mark.parametrize(
    "how, said, line",
    [
        ("idle", "something for each role to do", "        kiln.pin(\n"),
        ("warps", "at most 32 warps", "warps=64)"),
        ("registers", 'registers of role "use"', "registers=40), use))"),
        ("cluster", "'tile.cluster' of at most 8", "kiln.pin(cluster=32)"),
        ("persistent", "'tile.persistent' of whole clusters", "kiln.pin(persistent=(2, 1))"),
        ("blocks", "'tile.roles' beside 'tile.block_programs'", "kiln.pin(programs_per_block=3)"),
        ("sum", "'tile.warps' to be those of all roles", "kiln.pin(warps=16)"),
    ],
)
def test_the_statement_of_a_kernels_decision(how: str, said: str, line: str) -> None:
    x = np.zeros((256, 64), BF16)
    with pytest.raises(kiln.CompileError) as refused:
        copied.options(device="emu:sm_90a")(x, x.copy(), how=how)
    assert said in refused.value.message
    lines, first = inspect.getsourcelines(copied.function)
    assert line in lines[refused.value.line - first], str(refused.value)


@kiln.kernel
def conditional(x: kiln.View, y: kiln.View, n: kiln.i32):
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("use", warps=4)))
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, x.shape[0], 64), depth=2):
        if k > n:
            t = kiln.pin(x.load((k, 0), (64, 64)), role="load", atom="tma", stage=1)
            acc = kiln.pin(acc + t.to(kiln.f32), role="use")
    kiln.pin(y.store((0, 0), acc), role="use")


def test_a_stage_in_a_condition() -> None:
    with pytest.raises(kiln.CompileError) as refused:
        conditional.options(device="emu:sm_90a")(
            np.zeros((128, 64), BF16), np.zeros((64, 64), np.float32), n=3
        )
    text = str(refused.value)
    assert "expected the condition that it stands in to have 'tile.stage'" in text, text
    assert "this is the condition" in text and "t = kiln.pin(x.load(" in text, text


@kiln.kernel
def summed(x: kiln.View, y: kiln.View, how: kiln.constexpr):
    kiln.grid(1)
    acc = kiln.zeros((64, 64), kiln.f32)
    steps = range(0, x.shape[1], 64)
    for k in kiln.pin(steps, depth=1000000) if how == "depth" else steps:
        t, u = x.load((0, k), (64, 64)), x.load((64, k), (64, 64))
        s = kiln.dot(t, u, transpose_b=True)
        if how == "order":
            s = kiln.pin(kiln.where(s > 0.0, s, 0.0), order=0)
        acc += s
    y.store((0, 0), acc)


@pytest.mark.parametrize(
    "how, said, line, notes",
    [
        ("order", "an order of more than", "order=0)", ["kiln.dot(t, u"]),
        ("depth", "slots ('tile.depth')", "depth=1000000)", ["x.load(("]),
    ],
)
def test_what_clashes_with_a_pinned_place(how: str, said: str, line: str, notes: list[str]) -> None:
    x = np.zeros((128, 128), BF16)
    with pytest.raises(kiln.CompileError) as refused:
        summed.compile(x, np.zeros((64, 64), np.float32), how=how, target="nvptx:sm_90a")
    assert said in refused.value.message
    lines, first = inspect.getsourcelines(summed.function)
    assert line in lines[refused.value.line - first], str(refused.value)
    told = [int(n) for n in re.findall(r"note: .*?:(\d+):\d+:", str(refused.value))]
    for note in notes:
        assert any(note in lines[number - first] for number in told), str(refused.value)
