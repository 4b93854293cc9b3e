"""Arithmetic, comparisons and bit operations on scalars and tensors.

At least one operand exists only at run time; constants are computed by Python itself before
anything gets here. `binary` and `unary` take the Python operator's spelling.
"""

from __future__ import annotations

from typing import Any

from kiln.frontend.arithmetic.casts import cast, coerce, compute_dtype, truth
from kiln.frontend.arithmetic.promotion import broadcast_all, promote
from kiln.frontend.emitter import Emitter
from kiln.frontend.errors import Misuse
from kiln.frontend.values import Value, access_of, as_weak, describe, is_numeric, is_weak
from kiln.language.dtypes import DType, bool_, f32, i32, index

_ARITHMETIC = {
    "+": ("arith.addf", "arith.addi"),
    "-": ("arith.subf", "arith.subi"),
    "*": ("arith.mulf", "arith.muli"),
}
_BITWISE = {"&": "arith.andi", "|": "arith.ori", "^": "arith.xori"}
_COMPARE_FLOAT = {"==": "oeq", "!=": "une", "<": "olt", "<=": "ole", ">": "ogt", ">=": "oge"}
_COMPARE_INT = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_REMOVED = "for tensors use &, |, ~ and kiln.where"


def meet(e: Emitter, a: Any, b: Any, dtype: DType) -> tuple[Value, Value]:
    """Both operands in one dtype and one shape."""
    shape = broadcast_all(a, b)
    return coerce(e, a, shape, dtype), coerce(e, b, shape, dtype)


def binary(e: Emitter, op: str, a: Any, b: Any) -> Value:
    """`a op b`, with the promotions and the broadcasting of the language."""
    return as_weak(_binary(e, op, a, b), a, b)


def _binary(e: Emitter, op: str, a: Any, b: Any) -> Value:
    for x in (a, b):
        if not is_numeric(x):
            raise Misuse(
                f"expected numbers, scalars or tensors on both sides of `{op}`, got {describe(x)}",
                access_of(x),
            )
    if op in _COMPARE_INT:
        return compare(e, op, a, b)
    dtype = promote(a, b)
    if op in _BITWISE:
        if dtype.is_float:
            raise Misuse(
                f"expected integers or bools around `{op}`, got {dtype}",
                "kiln.bitcast(x, kiln.u32) gives the bits of a float",
            )
        return e.binary(_BITWISE[op], *meet(e, a, b, dtype))
    if op in ("<<", ">>"):
        return _shift(e, op, a, b)
    if op == "**":
        return _power(e, a, b)
    if dtype.is_bool:
        dtype = i32
    if op == "/" and not dtype.is_float:
        dtype = f32
    if op in ("//", "%"):
        divide = _float_floor if dtype.is_float else _int_floor
        wide = compute_dtype(dtype)
        return cast(e, divide(e, op, a, b, wide), dtype)
    wide = compute_dtype(dtype)
    x, y = meet(e, a, b, wide)
    if op == "/":
        return cast(e, e.binary("arith.divf", x, y), dtype)
    name = _ARITHMETIC[op][0 if dtype.is_float else 1]
    return cast(e, e.binary(name, x, y), dtype)


def compare(e: Emitter, op: str, a: Any, b: Any) -> Value:
    """`a op b` as bools. Ordered: NaN is unequal to everything."""
    dtype = promote(a, b)
    if dtype.is_float:
        x, y = meet(e, a, b, compute_dtype(dtype))
        return e.compare("arith.cmpf", _COMPARE_FLOAT[op], x, y)
    x, y = meet(e, a, b, dtype)
    predicate = _COMPARE_INT[op]
    if op not in ("==", "!="):
        predicate = ("s" if dtype.is_signed else "u") + predicate
    return e.compare("arith.cmpi", predicate, x, y)


def compare_checked(e: Emitter, op: str, a: Any, b: Any) -> Value:
    """`compare`, for operands that may be anything."""
    for x in (a, b):
        if not is_numeric(x):
            raise Misuse(
                f"expected numbers, scalars or tensors on both sides of `{op}`, got {describe(x)}",
                "`is None` compares with None" if x is None else None,
            )
    return compare(e, op, a, b)


def unary(e: Emitter, op: str, x: Any) -> Value:
    """`-x`, `+x`, `~x` or `not x` of a run-time value."""
    return as_weak(_unary(e, op, x), x)


def _unary(e: Emitter, op: str, x: Any) -> Value:
    if not is_numeric(x):
        raise Misuse(f"expected a scalar or a tensor after `{op}`, got {describe(x)}")
    dtype = x.dtype
    if op == "not":
        if x.is_tensor:
            raise Misuse(f"expected a scalar after `not`, got {describe(x)}", _REMOVED)
        return e.binary("arith.xori", truth(e, x), e.constant(True, bool_))
    if op == "~":
        if dtype.is_float:
            raise Misuse(f"expected integers or bools after `~`, got {dtype}")
        ones = True if dtype.is_bool else (dtype.maximum if dtype.kind == "uint" else -1)
        return e.binary("arith.xori", x, e.constant(ones, dtype, x.shape))
    if dtype.is_bool:
        x, dtype = cast(e, x, i32), i32
    if op == "+":
        return x
    if dtype.is_float:
        wide = cast(e, x, compute_dtype(dtype))
        return cast(e, e.unary("arith.negf", wide), dtype)
    return e.binary("arith.subi", e.constant(0, dtype, x.shape), x)


def minmax(e: Emitter, greater: bool, a: Any, b: Any) -> Value:
    """The lesser or the greater of each pair; NaN wins."""
    dtype = promote(a, b)
    x, y = meet(e, a, b, compute_dtype(dtype))
    return as_weak(cast(e, e.binary(minmax_op(dtype, greater), x, y), dtype), a, b)


def minmax_op(dtype: DType, greater: bool) -> str:
    side = "max" if greater else "min"
    if dtype.is_float:
        return f"arith.{side}imumf"
    return f"arith.{side}{'s' if dtype.is_signed else 'u'}i"


def ceil_divide(e: Emitter, a: Any, b: Any) -> Value:
    """`a / b` rounded up, for integers; 0 where b is 0."""
    dtype = promote(a, b)
    if not dtype.is_integer:
        raise Misuse(f"expected integers, got {dtype}", "kiln.ceil(a / b) for floats")
    if b == 0 and not isinstance(b, Value):
        raise Misuse("expected a divisor that is not zero, got 0", argument="b")
    x, y = meet(e, a, b, dtype)
    op = "arith.ceildivsi" if dtype.is_signed else "arith.ceildivui"
    return as_weak(_guarded(e, op, x, y, b), a, b)


def _guarded(e: Emitter, op: str, x: Value, y: Value, divisor: Any) -> Value:
    """An integer division that never meets a divisor which the hardware refuses: by 0 it is 0,
    and the least integer by -1 wraps."""
    if not isinstance(divisor, Value) and divisor != -1:
        return e.binary(op, x, y)
    dtype, shape = x.dtype, x.shape
    zero = e.constant(0, dtype, shape)
    if not isinstance(divisor, Value):
        return e.binary("arith.subi", zero, x)
    none = e.compare("arith.cmpi", "eq", y, zero)
    bad = none
    if dtype.is_signed:
        minus = e.compare("arith.cmpi", "eq", y, e.constant(-1, dtype, shape))
        bad = e.binary("arith.ori", none, minus)
    quotient = e.binary(op, x, e.select(bad, e.constant(1, dtype, shape), y))
    if dtype.is_signed:
        quotient = e.select(minus, e.binary("arith.subi", zero, x), quotient)
    return e.select(none, zero, quotient)


def _int_floor(e: Emitter, op: str, a: Any, b: Any, dtype: DType) -> Value:
    x, y = meet(e, a, b, dtype)
    if not isinstance(b, Value):
        if b == 0:
            raise Misuse("expected a divisor that is not zero, got 0")
        if b > 0 and b & (b - 1) == 0 and not isinstance(b, bool):
            return _by_power_of_two(e, op, x, b, dtype)
    divide = "arith.floordivsi" if dtype.is_signed else "arith.divui"
    quotient = _guarded(e, divide, x, y, b)
    if op == "//":
        return quotient
    rest = e.binary("arith.subi", x, e.binary("arith.muli", quotient, y))
    if isinstance(b, Value):
        zero = e.constant(0, dtype, x.shape)
        return e.select(e.compare("arith.cmpi", "eq", y, zero), zero, rest)
    return rest


def _by_power_of_two(e: Emitter, op: str, x: Value, b: int, dtype: DType) -> Value:
    if op == "%":
        return e.binary("arith.andi", x, e.constant(b - 1, dtype, x.shape))
    if b == 1:
        return x
    shift = "arith.shrsi" if dtype.is_signed else "arith.shrui"
    return e.binary(shift, x, e.constant(b.bit_length() - 1, dtype, x.shape))


def _float_floor(e: Emitter, op: str, a: Any, b: Any, dtype: DType) -> Value:
    x, y = meet(e, a, b, dtype)
    if op == "//":
        return e.unary("math.floor", e.binary("arith.divf", x, y))
    rest = e.binary("arith.remf", x, y)
    zero = e.constant(0.0, dtype, x.shape)
    other_sign = e.binary(
        "arith.xori",
        e.compare("arith.cmpf", "olt", rest, zero),
        e.compare("arith.cmpf", "olt", y, zero),
    )
    not_zero = e.compare("arith.cmpf", "une", rest, zero)
    wrong = e.binary("arith.andi", other_sign, not_zero)
    return e.select(wrong, e.binary("arith.addf", rest, y), rest)


def _shift(e: Emitter, op: str, a: Any, b: Any) -> Value:
    dtype = promote(a, b) if is_weak(a) else a.dtype
    if dtype is index and isinstance(b, Value) and b.is_tensor:
        dtype = promote(a, b)
    if not dtype.is_integer or (isinstance(b, Value) and not b.dtype.is_integer):
        raise Misuse(f"expected integers around `{op}`, got {describe(a)} and {describe(b)}")
    right = op == ">>"
    name = "arith.shli" if not right else ("arith.shrsi" if dtype.is_signed else "arith.shrui")
    if not isinstance(b, Value):
        if isinstance(b, float) or not 0 <= b < dtype.bits:
            raise Misuse(f"expected a shift of 0 to {dtype.bits - 1} bits for {dtype}, got {b!r}")
        return e.binary(name, *meet(e, a, b, dtype))
    if b.dtype.bits < dtype.bits:
        b = cast(e, b, dtype)
    last = e.constant(dtype.bits - 1, b.dtype, b.shape)
    fits = e.compare("arith.cmpi", "ule", b, last)
    out = e.binary(name, *meet(e, a, e.binary("arith.minui", b, last), dtype))
    if right and dtype.is_signed:
        return out
    fits = coerce(e, fits, out.shape, bool_)
    return e.select(fits, out, e.constant(0, dtype, out.shape))


def _power(e: Emitter, a: Any, b: Any) -> Value:
    dtype = promote(a, b)
    if (
        isinstance(b, int)
        and not isinstance(b, bool)
        and (b >= 0 or dtype.is_float)
        and abs(b) <= 64
    ):
        return _integer_power(e, a, b)
    if not dtype.is_float:
        raise Misuse(
            f"expected a float or a constant power of 0 to 64, got {describe(a)} ** {describe(b)}",
            "x.to(kiln.f32) ** y",
        )
    if isinstance(b, float) and b == 0.5:
        return _math(e, "math.sqrt", cast(e, a, dtype))
    wide = f32 if dtype.bits < 32 else dtype
    x, y = meet(e, a, b, wide)
    return cast(e, e.binary("math.powf", x, y), dtype)


def _math(e: Emitter, op: str, x: Value) -> Value:
    wide = cast(e, x, f32) if x.dtype.bits < 32 else x
    return cast(e, e.unary(op, wide), x.dtype)


def _integer_power(e: Emitter, x: Value, power: int) -> Value:
    if x.dtype.is_bool:
        x = cast(e, x, i32)
    one = 1.0 if x.dtype.is_float else 1
    if power == 0:
        return e.constant(one, x.dtype, x.shape)
    base, out, left = x, None, abs(power)
    while left:
        if left & 1:
            out = base if out is None else binary(e, "*", out, base)
        left >>= 1
        if left:
            base = binary(e, "*", base, base)
    return binary(e, "/", one, out) if power < 0 else out
