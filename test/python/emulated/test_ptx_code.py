"""What LLVM's code generator makes of arithmetic for NVIDIA's chips: of each op in each type the
instructions of PTX, by rule. What the chip's own assembler makes of one is the ISA's to say."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from arithmetic_cells import CELLS, PRECISION, final_code, instructions

import kiln

CHIPS = ["sm_80", "sm_90a"]
NAMES = {"addf": "add.rn", "subf": "sub.rn", "mulf": "mul.rn", "maxnumf": "max", "minnumf": "min"}
ROUNDING = {"floor": "rmi", "ceil": "rpi", "trunc": "rzi", "roundeven": "rni"}


def through_f32(element: str, operands: int, *inner: str) -> list[str]:
    """Of f16 and bf16 in f32, which holds more than twice their bits: rounding again is harmless."""
    return [*[f"cvt.f32.{element}"] * operands, *inner, f"cvt.rn.{element}.f32"]


def of_integer(op: str, source: str, target: str, chip: str) -> list[str]:
    letter, bits = "s" if op == "sitofp" else "u", max(16, int(source[1:]))
    direct = [f"cvt.rn.{target}.{letter}{bits}"]
    if target in ("f64", "f32"):
        return direct
    if bits == 16 and (target == "f16" or chip != "sm_80"):
        return direct
    # An integer that f32 holds: of more than 24 bits it was rounded to odd before.
    return [f"cvt.rn.f32.{letter}{bits}", f"cvt.rn.{target}.f32"]


def expected(name: str, chip: str) -> list[str]:
    op, element, *more = name.split()
    if op in ("sitofp", "uitofp"):
        return of_integer(op, element, more[0], chip)
    if op in NAMES:
        if element == "bf16" and op in ("addf", "subf", "mulf") and chip == "sm_80":
            return ["fma.rn.bf16"]  # with one, or with -0
        return [f"{NAMES[op]}.{element}"]
    if op == "fma":
        return [f"fma.rn.{element}"]
    if op in ("divf", "sqrt"):
        how, operands = ("div.rn", 2) if op == "divf" else ("sqrt.rn", 1)
        wide = PRECISION[element] > 11
        return [f"{how}.{element}"] if wide else through_f32(element, operands, f"{how}.f32")
    if op in ("maximumf", "minimumf"):  # of f64 beside a test of NaN and zeros
        return [f"{op[:3]}.f64" if element == "f64" else f"{op[:3]}.NaN.{element}"]
    if op in ROUNDING:
        if element == "bf16" and chip == "sm_80":
            return through_f32(element, 1, f"cvt.{ROUNDING[op]}.f32.f32")
        return [f"cvt.{ROUNDING[op]}.{element}.{element}"]
    if op == "extf":
        if (element, more[0]) == ("bf16", "f64") and chip == "sm_80":
            return ["cvt.f32.bf16", "cvt.f64.f32"]
        return [f"cvt.{more[0]}.{element}"]
    if op == "truncf":
        if element == "f64" and more[0] != "f32":  # to odd, then once
            return ["cvt.rn.f32.f64", "cvt.f64.f32", f"cvt.rn.{more[0]}.f32"]
        return [f"cvt.rn.{more[0]}.{element}"]
    if op in ("divsi", "divui", "remsi", "remui"):
        wide = [f"{op[:3]}.{op[3]}{max(16, int(element[1:]))}"]
        return wide + [f"{op[:3]}.u32"] * (element == "i64")  # where both numbers are that short
    assert op == "muli"
    return [f"mul.lo.s{max(16, int(element[1:]))}"]


RULED = [
    name for name in CELLS
    if name.split()[0] not in ("remf", "fptosi", "fptoui", "exp", "exp2", "log", "log2", "rsqrt")
]  # fmt: skip


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("family", sorted({name.split()[0] for name in RULED}))
def test_each_op_is_the_instruction_that_rounds_once(family: str, chip: str) -> None:
    for name in RULED:
        if name.split()[0] == family:
            got = instructions(final_code(CELLS[name], chip), chip)
            assert Counter(got) == Counter(expected(name, chip)), name


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("element", ["f64", "f32", "f16", "bf16"])
def test_remainders_are_of_integers(element: str, chip: str) -> None:
    """LLVM's own cuts a rounded quotient and multiplies it back."""
    got = set(instructions(final_code(CELLS[f"remf {element}"], chip), chip))
    if PRECISION[element] < 24:
        got -= {f"cvt.f32.{element}", f"cvt.rn.{element}.f32"}
    assert got and got <= {"rem.u32", "rem.u64"}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("op", ["fptosi", "fptoui"])
def test_floats_go_to_integers_by_the_instruction_that_saturates(op: str, chip: str) -> None:
    """Beside it are only the limits, and a test of NaN."""
    for name in CELLS:
        if name.split()[0] == op:
            got = instructions(final_code(CELLS[name], chip), chip)
            got = [one for one in got if one.startswith("cvt") and not one.startswith("cvt.f32.")]
            assert len(got) == 1 and got[0].startswith("cvt.rzi."), name


@kiln.kernel
def divides(x: kiln.View, y: kiln.View, out: kiln.View):
    """By a division of every kind, and by functions that divide."""
    a, b = x.load((0,), (128,)), y.load((0,), (128,))
    r = a / b + 1.0 / b + a * (1.0 / (a * b + 3.0)) + kiln.rsqrt(a) + kiln.sqrt(b) + a % b
    r += kiln.tan(a) + kiln.atan(a) + kiln.tanh(b) + kiln.cbrt(a) + kiln.sinh(b) + kiln.log(a)
    out.store((0,), r + kiln.sum(a, axis=0) / 7.0)


def test_a_division_is_approximate_under_fast_mathematics_alone() -> None:
    """An approximate one is 0 for a divisor beyond 2^126 (docs/runtime.md)."""
    arrays = [np.ones(128, np.float32)] * 3
    exact = divides.compile(*arrays, target="nvptx:sm_90a").asm
    assert not re.findall(r"(?:div|rcp|sqrt|rsqrt|tanh)\.(?:approx|full)\S*", exact)
    assert "div.rn.f32" in exact and "rcp.rn.f32" in exact and "sqrt.rn.f32" in exact
    fast = divides.compile(*arrays, target="nvptx:sm_90a", _fast_math=True).asm
    assert "div.approx" in fast
    out = np.ones(128, np.float32)
    large = np.full(128, 2.0**127, np.float32)
    quotient.options(device="emu:sm_90a")[1](large, large, out)
    assert (out == 1).all()
    quotient.options(device="emu:sm_90a")[1](large, large, out, _fast_math=True)
    assert (out == 0).all()


@kiln.kernel
def quotient(x: kiln.View, y: kiln.View, out: kiln.View):
    out.store((0,), x.load((0,), (128,)) / y.load((0,), (128,)))
