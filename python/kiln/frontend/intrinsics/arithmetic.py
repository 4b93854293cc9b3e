"""Functions applied element by element."""

from __future__ import annotations

import builtins
import math
from typing import Any

from kiln.frontend.arithmetic.casts import cast, coerce, compute_dtype, math_dtype, scalar_of
from kiln.frontend.arithmetic.operators import binary, minmax
from kiln.frontend.arithmetic.promotion import (
    broadcast_all,
    constant_dtype,
    promote,
    promote_dtypes,
    weak_dtype,
)
from kiln.frontend.errors import Misuse
from kiln.frontend.syntax.calls import implements
from kiln.frontend.values import (
    Value,
    as_weak,
    choices,
    describe,
    is_const_number,
    is_numeric,
    is_weak,
)  # fmt: skip
from kiln.language.dtypes import i32


def operand(c: Any, x: Any, argument: str = "x") -> Value:
    """A run-time scalar or a tensor; constants become scalars."""
    if not is_numeric(x):
        raise Misuse(
            f"expected a number, a scalar or a tensor, got {describe(x)}", argument=argument
        )
    return x if isinstance(x, Value) else scalar_of(c.e, x)


@implements("abs")
def abs(c: Any, x: Any) -> Any:
    if is_const_number(x):
        return builtins.abs(x)
    return as_weak(_absolute(c, operand(c, x)), x)


def _absolute(c: Any, x: Value) -> Value:
    if x.dtype.is_float:
        return cast(c.e, c.e.unary("math.absf", cast(c.e, x, compute_dtype(x.dtype))), x.dtype)
    if x.dtype.kind == "index":
        return minmax(c.e, True, x, binary(c.e, "-", 0, x))
    return c.e.unary("math.absi", x) if x.dtype.kind == "int" else x


@implements("isnan")
def isnan(c: Any, x: Any) -> Any:
    if is_const_number(x):
        return isinstance(x, float) and math.isnan(x)
    x = operand(c, x)
    if not x.dtype.is_float:
        return binary(c.e, "!=", x, x)
    wide = cast(c.e, x, compute_dtype(x.dtype))
    return c.e.compare("arith.cmpf", "uno", wide, wide)


def _classified(of_constant: Any, predicate: str):
    """Whether the magnitude of each element compares with infinity so; integers are finite."""

    def apply(c: Any, x: Any) -> Any:
        if is_const_number(x):
            return isinstance(x, float) and of_constant(x)
        x = operand(c, x)
        if not x.dtype.is_float:
            return binary(c.e, "!=", x, x)
        wide = c.e.unary("math.absf", cast(c.e, x, compute_dtype(x.dtype)))
        infinity = c.e.constant(math.inf, wide.dtype, wide.shape)
        return c.e.compare("arith.cmpf", predicate, wide, infinity)

    return apply


implements("isinf")(_classified(math.isinf, "oeq"))


@implements("isfinite")
def isfinite(c: Any, x: Any) -> Any:
    if is_const_number(x):
        return math.isfinite(x)
    x = operand(c, x)
    if not x.dtype.is_float:
        return binary(c.e, "==", x, x)
    return _classified(math.isinf, "olt")(c, x)


@implements("sign")
def sign(c: Any, x: Any) -> Any:
    if is_const_number(x):
        return type(x)((x > 0) - (x < 0)) if x == x else x
    x = operand(c, x)
    if x.dtype.is_bool:
        return x
    one = where(c, binary(c.e, ">", x, 0), 1, 0)
    if x.dtype.is_float or x.dtype.is_signed:
        one = where(c, binary(c.e, "<", x, 0), -1, one)
    one = cast(c.e, one, x.dtype)
    return where(c, isnan(c, x), x, one) if x.dtype.is_float else one


@implements("fma")
def fma(c: Any, a: Any, b: Any, other: Any) -> Value:
    e = c.e
    for x, name in ((a, "a"), (b, "b"), (other, "c")):
        if not is_numeric(x):
            raise Misuse(f"expected numbers, scalars or tensors, got {describe(x)}", argument=name)
    dtype = common_dtype(a, b, other)
    if not dtype.is_float:
        raise Misuse(f"expected floats, got {dtype}", "a * b + c is exact for integers")
    shape = broadcast_all(a, b, other)
    wide = math_dtype(dtype)
    x, y, z = (coerce(e, v, shape, wide) for v in (a, b, other))
    out = e.value(f"math.fma {x.ref}, {y.ref}, {z.ref} : {x.type.ir}", x.type)
    return cast(e, out, dtype)


def common_dtype(*operands: Any) -> Any:
    """The dtype that several operands meet in."""
    values = [x for x in operands if not is_weak(x)]
    constants = [x for x in operands if is_weak(x)]
    dtype = values[0].dtype if values else constant_dtype(constants[0], None)
    for value in values[1:]:
        dtype = promote_dtypes(dtype, value.dtype)
    for constant in constants:
        dtype = constant_dtype(constant, dtype)
    return dtype


@implements("where")
def where(c: Any, condition: Any, x: Any, y: Any) -> Any:
    e = c.e
    for value, name in ((condition, "condition"), (x, "x"), (y, "y")):
        if not is_numeric(value):
            raise Misuse(
                f"expected numbers, scalars or tensors, got {describe(value)}", argument=name
            )
    if not isinstance(condition, Value):
        if not isinstance(x, Value) and not isinstance(y, Value):
            return x if condition else y
        condition = scalar_of(e, builtins.bool(condition))
    if not condition.dtype.is_bool:
        raise Misuse(f"expected a bool condition, got {describe(condition)}", "x != 0", "condition")
    if isinstance(x, Value) or isinstance(y, Value):
        dtype = promote(x, y)
    elif condition.is_scalar:
        dtype = weak_dtype(x, y)
    else:
        dtype = promote_dtypes(constant_dtype(x, None), constant_dtype(y, None))
        if not dtype.is_float and not dtype.is_bool:
            dtype = i32
    shape = broadcast_all(condition, x, y)
    a, b = coerce(e, x, shape, dtype), coerce(e, y, shape, dtype)
    if condition.is_tensor:
        condition = coerce(e, condition, shape, condition.dtype)
    out = e.select(condition, a, b)
    numbers = not out.dtype.is_bool and (is_weak(x) and is_weak(y))
    return Value(out.ref, out.type, weak=choices(x, y)) if numbers else out


def _extreme(greater: bool):
    def apply(c: Any, a: Any, b: Any) -> Any:
        for x, name in ((a, "a"), (b, "b")):
            if not is_numeric(x):
                raise Misuse(
                    f"expected numbers, scalars or tensors, got {describe(x)}", argument=name
                )
        if isinstance(a, Value) or isinstance(b, Value):
            return minmax(c.e, greater, a, b)
        if any(isinstance(x, float) and math.isnan(x) for x in (a, b)):
            return math.nan
        return builtins.max(a, b) if greater else builtins.min(a, b)

    return apply


maximum = implements("maximum")(_extreme(True))
minimum = implements("minimum")(_extreme(False))


@implements("clamp")
def clamp(c: Any, x: Any, low: Any, high: Any) -> Any:
    return minimum(c, maximum(c, x, low), high)
