"""What operators and casts mean, number by number: the emitted arithmetic against Python's."""

import math
import operator

import numpy as np
import pytest
from evaluator import FLOATS, evaluate, make, rounded, signed
from hypothesis import example, given
from hypothesis import strategies as st
from lowered import Lowered, from_text

import kiln
from kiln.frontend import KernelSource, ScalarType, ViewType
from kiln.language.dtypes import DTYPES

INTEGERS = [d for d in DTYPES.values() if d.is_integer and d.name != "index"]
names = pytest.mark.parametrize("dtype", INTEGERS, ids=str)


def compiled(expression: str, dtypes: dict, result):
    """A function from numbers to what the expression computes."""
    parameters = ", ".join(dtypes)
    kernel = from_text(f"def kernel(v, {parameters}):\n    v[0] = {expression}\n")
    types = {name: ScalarType(dtype) for name, dtype in dtypes.items()}
    text = KernelSource(kernel).lower({"v": ViewType(result, (None,)), **types})

    def run(**numbers):
        out = evaluate(text, numbers)
        if result.is_float or result.is_bool:
            return out
        return signed(out, result.ir) if result.is_signed else out

    return run


def fitted(value: int, dtype) -> int:
    """An integer wrapped to a dtype."""
    value &= (1 << dtype.bits) - 1
    return signed(value, dtype.ir) if dtype.is_signed else value


def numbers(dtype):
    edges = [dtype.minimum, dtype.minimum + 1, dtype.maximum, dtype.maximum - 1, 0, 1]
    return st.one_of(st.sampled_from(edges), st.integers(dtype.minimum, dtype.maximum))


@names
@given(data=st.data())
def test_integer_operators_are_pythons_and_wrap(dtype, data):
    a, b = data.draw(numbers(dtype)), data.draw(numbers(dtype))
    for op, python in [
        ("+", operator.add), ("-", operator.sub), ("*", operator.mul), ("&", operator.and_),
        ("|", operator.or_), ("^", operator.xor), ("//", _floor), ("%", _mod),
    ]:  # fmt: skip
        got = _operator(op, dtype)(a=a, b=b)
        assert got == fitted(python(a, b), dtype), f"{a} {op} {b}"


def _floor(a, b):
    return a // b if b else 0


def _mod(a, b):
    return a % b if b else 0


_known = {}


def _operator(op: str, dtype):
    key = op, dtype
    if key not in _known:
        _known[key] = compiled(f"a {op} b", {"a": dtype, "b": dtype}, dtype)
    return _known[key]


@names
@given(data=st.data())
def test_division_by_constants(dtype, data):
    a = data.draw(numbers(dtype))
    b = data.draw(st.integers(max(dtype.minimum, -20), min(dtype.maximum, 20)).filter(bool))
    for op, python in (("//", operator.floordiv), ("%", operator.mod)):
        got = compiled(f"a {op} {b}", {"a": dtype}, dtype)(a=a)
        assert got == fitted(python(a, b), dtype), f"{a} {op} {b}"


@names
@given(data=st.data())
def test_shifts(dtype, data):
    a, b = data.draw(numbers(dtype)), data.draw(numbers(kiln.i32) | st.integers(-2, 70))
    amount = b if 0 <= b < dtype.bits else None
    left = 0 if amount is None else fitted(a << amount, dtype)
    right = (-1 if a < 0 else 0) if amount is None else a >> amount
    shift = {"a": dtype, "b": kiln.i32}
    for op, wanted in (("<<", left), (">>", right)):
        key = op, dtype, "shift"
        if key not in _known:
            _known[key] = compiled(f"a {op} b", shift, dtype)
        assert _known[key](a=a, b=b) == wanted, f"{a} {op} {b}"


@names
@given(data=st.data())
def test_rounded_up_division(dtype, data):
    a, b = data.draw(numbers(dtype)), data.draw(numbers(dtype))
    key = "cdiv", dtype
    if key not in _known:
        _known[key] = compiled("kiln.cdiv(a, b)", {"a": dtype, "b": dtype}, dtype)
    assert _known[key](a=a, b=b) == fitted(-(-a // b) if b else 0, dtype)


@pytest.mark.crossed(1)
@pytest.mark.parametrize("source", ["f64", "f32", "f16", "bf16", "f8e4m3fn", "f8e5m2"])
@pytest.mark.parametrize("to", [d for d in DTYPES.values() if d.is_integer], ids=str)
@given(x=st.floats() | st.integers(-(2**70), 2**70).map(float) | st.integers(-300, 300).map(float))
@example(x=math.nan)
@example(x=math.inf)
@example(x=-math.inf)
@example(x=2.0**31)
@example(x=-(2.0**31) - 1)
@example(x=2.0**63)
def test_float_to_int_saturates(source, to, x):
    key = source, to, "saturate"
    source = DTYPES[source]
    if key not in _known:
        index = to.name == "index"
        expression = f"x.to(kiln.{to})" + ".to(kiln.i64)" * index
        _known[key] = compiled(expression, {"x": source}, kiln.i64 if index else to)
    x = float(make(x, source.ir))
    wanted = 0 if math.isnan(x) else max(to.minimum, min(to.maximum, _truncated(x)))
    assert _known[key](x=x) == wanted


def _truncated(x: float) -> int:
    return int(x) if math.isfinite(x) else int(math.copysign(2**80, x))


@pytest.mark.crossed(1)
@pytest.mark.parametrize("source", INTEGERS, ids=str)
@pytest.mark.parametrize("to", ["f64", "f32", "f16", "bf16", "f8e5m2"])
@given(data=st.data())
def test_int_to_float(source, to, data):
    a = data.draw(numbers(source))
    key = source, to, "float"
    to = DTYPES[to]
    if key not in _known:
        _known[key] = compiled(f"a.to(kiln.{to})", {"a": source}, to)
    got = _known[key](a=a)
    assert got == rounded(a, FLOATS[to.ir]) or math.isnan(got)


@pytest.mark.crossed(1)
@pytest.mark.parametrize("source", INTEGERS, ids=str)
@pytest.mark.parametrize("to", INTEGERS, ids=str)
@given(data=st.data())
def test_int_to_int_wraps(source, to, data):
    a = data.draw(numbers(source))
    key = source, to, "int"
    if key not in _known:
        _known[key] = compiled(f"a.to(kiln.{to})", {"a": source}, to)
    assert _known[key](a=a) == fitted(a, to)


@given(x=st.floats(width=32), y=st.floats(width=32))
@example(x=-0.0, y=3.0)
@example(x=1.0, y=0.0)
def test_float_floor_division_and_remainder(x, y):
    for op in ("//", "%"):
        if op not in _known:
            _known[op] = compiled(f"x {op} y", {"x": kiln.f32, "y": kiln.f32}, kiln.f32)
    with np.errstate(all="ignore"):
        quotient = np.floor(np.float32(x) / np.float32(y))
        rest = np.fmod(np.float32(x), np.float32(y))
        if rest != 0 and (rest < 0) != (np.float32(y) < 0):
            rest += np.float32(y)
    np.testing.assert_array_equal(_known["//"](x=x, y=y), quotient)
    np.testing.assert_array_equal(_known["%"](x=x, y=y), rest)


@given(x=st.floats(width=16), y=st.floats(width=16))
def test_narrow_floats_round_each_result(x, y):
    if "f8" not in _known:
        _known["f8"] = compiled("x * y + x", {"x": kiln.f8e5m2, "y": kiln.f8e5m2}, kiln.f8e5m2)
    kind = FLOATS["f8E5M2"]
    with np.errstate(all="ignore"):
        x, y = kind(x), kind(y)
        wanted = kind(np.float32(kind(np.float32(x) * np.float32(y))) + np.float32(x))
    np.testing.assert_array_equal(float(_known["f8"](x=x, y=y)), float(wanted))


@given(x=st.floats(width=32), y=st.floats(width=32))
def test_comparisons_minimum_maximum(x, y):
    for op in ("==", "!=", "<", "<=", ">", ">="):
        if op not in _known:
            _known[op] = compiled(
                f"(x {op} y).to(kiln.i32)", {"x": kiln.f32, "y": kiln.f32}, kiln.i32
            )
        assert _known[op](x=x, y=y) == eval(f"x {op} y")
    for name, python in (("minimum", np.minimum), ("maximum", np.maximum)):
        if name not in _known:
            _known[name] = compiled(f"kiln.{name}(x, y)", {"x": kiln.f32, "y": kiln.f32}, kiln.f32)
        np.testing.assert_array_equal(_known[name](x=x, y=y), python(np.float32(x), np.float32(y)))


PROMOTIONS = [
    ("i8", "i32", "i32"), ("u8", "u32", "u32"), ("u8", "i8", "i16"), ("u32", "i32", "i64"),
    ("u64", "i64", "i64"), ("u4", "i4", "i8"), ("bool", "i8", "i8"), ("bool", "bool", "i32"),
    ("f16", "bf16", "f32"), ("bf16", "f32", "f32"), ("f32", "f64", "f64"), ("f16", "i64", "f16"),
    ("f8e4m3fn", "f8e5m2", "f32"), ("f8e4m3fn", "f16", "f16"), ("f8e8m0fnu", "f16", "f32"),
    ("f4e2m1fn", "f8e4m3fn", "f8e4m3fn"), ("tf32", "f32", "f32"), ("tf32", "bf16", "tf32"),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "wanted"), PROMOTIONS)
def test_promotion(a, b, wanted):
    for x, y in ((a, b), (b, a)):
        kernel = from_text(
            "def kernel(v, a, b):\n"
            "    zero = kiln.zeros(4, kiln.i32)\n"
            f"    x, y = zero.to(kiln.{x}), zero.to(kiln.{y})\n"
            f"    kiln.static_assert((x + y).dtype == kiln.{wanted}, f'{{(x + y).dtype}}')\n"
        )
        types = {"v": (kiln.f32, 1), "a": kiln.f32, "b": kiln.f32}
        Lowered()(kernel, **types)


def test_promotion_of_constants_and_division(lower):
    def kernel(v, n):
        x = v.load(0, 4)
        i = n.load(0, 4)
        at = kiln.program_id(0)
        kiln.static_assert((x + 1).dtype == kiln.bf16 and (x * 2.5).dtype == kiln.bf16)
        kiln.static_assert((i + 1).dtype == kiln.u8 and (i * 2.5).dtype == kiln.f32)
        kiln.static_assert((i / 2).dtype == kiln.f32 and (x / i).dtype == kiln.bf16)
        kiln.static_assert((i < 2).dtype == kiln.bool and ((i < 2) + 1).dtype == kiln.i32)
        kiln.static_assert((at + 1).dtype == kiln.index and (at * kiln.i32(3)).dtype == kiln.index)
        kiln.static_assert((at + kiln.arange(4)).dtype == kiln.i64 and (at / 2).dtype == kiln.f32)
        kiln.static_assert((x**2).dtype == kiln.bf16 and (2**x).dtype == kiln.bf16)
        kiln.static_assert(kiln.exp(x).dtype == kiln.bf16 and kiln.exp(i).dtype == kiln.f32)
        kiln.static_assert((-(i < 2)).dtype == kiln.i32 and (~(i < 2)).dtype == kiln.bool)
        kiln.static_assert((i & 3).dtype == kiln.u8 and (1 << i).dtype == kiln.u8)

    lower(kernel, v=(kiln.bf16, 1), n=(kiln.u8, 1))


LITERALS = [
    ("f32", "1e-5", "1.0e-05"), ("f32", "float('inf')", "0x7F800000"),
    ("f16", "-float('inf')", "0xFC00"),
    ("bf16", "float('nan')", "0x7FC0"), ("f64", "1e300", "1.0e+300"), ("u64", "2**64 - 1", "-1"),
    ("u8", "200", "-56"), ("i4", "-8", "-8"), ("u4", "15", "-1"), ("f8e4m3fn", "448", "448.0"),
    ("f8e5m2", "float('inf')", "0x7C"), ("tf32", "float('inf')", "0x3FC00"),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "value", "text"), LITERALS)
def test_literals(lower, dtype, value, text):
    kernel = from_text(f"def kernel(v):\n    x = kiln.full(4, {value}, kiln.{dtype})\n")
    assert f"dense<{text}>" in lower(kernel, v=(kiln.f32, 1))
