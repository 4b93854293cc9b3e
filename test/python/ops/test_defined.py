"""What processors leave undefined and the language defines: division by zero, shifts by too much,
floats that no integer holds."""

from __future__ import annotations

import numpy as np
import pytest
from tiles import NUMPY, apply, tensor

INTEGERS = ["i8", "i16", "i32", "i64"]


def binary(op: str, a: np.ndarray, b: np.ndarray, element: str) -> np.ndarray:
    t = tensor(a.shape, element)
    return apply(f"%r = arith.{op} %a, %b : {t}", {"a": a, "b": b}, {"r": (a.shape, element)})


@pytest.mark.parametrize("element", INTEGERS)
@pytest.mark.parametrize("op", ["divsi", "divui", "remsi", "remui", "ceildivsi", "floordivsi"])
def test_division_by_zero_is_zero(op, element, rng):
    info = np.iinfo(NUMPY[element])
    a = rng.integers(info.min, info.max, 64, NUMPY[element], endpoint=True)
    b = rng.choice(np.array([0, 1], NUMPY[element]), 64)
    got = binary(op, a, b, element)
    assert np.array_equal(got, np.where((b == 0) | (op[:3] == "rem"), 0, a))


@pytest.mark.parametrize("element", INTEGERS)
def test_the_one_quotient_that_does_not_fit_wraps(element):
    least = np.iinfo(NUMPY[element]).min
    a, b = np.full(32, least, NUMPY[element]), np.full(32, -1, NUMPY[element])
    assert np.all(binary("divsi", a, b, element) == least)
    assert np.all(binary("remsi", a, b, element) == 0)


@pytest.mark.parametrize("element", INTEGERS)
@pytest.mark.parametrize("op", ["shli", "shrui", "shrsi"])
def test_shifts_by_the_width_or_more(op, element, rng):
    info = np.iinfo(NUMPY[element])
    a = rng.integers(info.min, info.max, 64, NUMPY[element], endpoint=True)
    b = rng.choice(np.array([info.bits, info.bits + 3, -1, info.max], NUMPY[element]), 64)
    assert np.array_equal(binary(op, a, b, element), np.where((op == "shrsi") & (a < 0), -1, 0))


@pytest.mark.parametrize("integer", INTEGERS)
@pytest.mark.parametrize("real", ["f64", "f32", "f16", "bf16"])
@pytest.mark.parametrize("signed", [True, False])
def test_what_does_not_fit_saturates(real, integer, signed):
    values = [np.nan, np.inf, -np.inf, 60000.0, -60000.0, 1.9, -1.9, -0.5]
    a = np.tile(np.array(values).astype(NUMPY[real]), 8)
    bits = np.iinfo(NUMPY[integer]).bits
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    letter = "s" if signed else "u"
    got = apply(
        f"%r = arith.fpto{letter}i %a : {tensor(a.shape, real)} to {tensor(a.shape, integer)}",
        {"a": a},
        {"r": (a.shape, integer)},
    )
    for x, y in zip(a.astype(np.float64), got, strict=True):
        want = 0 if np.isnan(x) else high if x == np.inf else low if x == -np.inf else int(x)
        assert (int(y) - min(max(want, low), high)) % 2**bits == 0, x
