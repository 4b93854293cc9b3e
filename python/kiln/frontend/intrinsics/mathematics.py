"""Functions of mathematics, applied element by element."""

from __future__ import annotations

import math
from typing import Any

from kiln.frontend.arithmetic.casts import cast, coerce, compute_dtype, math_dtype
from kiln.frontend.arithmetic.promotion import broadcast_all
from kiln.frontend.errors import Misuse
from kiln.frontend.intrinsics.arithmetic import common_dtype, operand
from kiln.frontend.syntax.calls import implements
from kiln.frontend.values import Value, describe, is_const_number, is_numeric
from kiln.language.dtypes import f32


def _constant(name: str, compute: Any, *arguments: Any) -> float:
    """A function of constants is a constant, computed in f64."""
    try:
        return float(compute(*arguments))
    except (ValueError, ArithmeticError) as problem:
        given = ", ".join(map(repr, arguments))
        raise Misuse(f"expected a constant that {name} takes, got {given} ({problem})") from None


def _in_float(c: Any, x: Any, compute: Any) -> Value:
    """A function computed in f32 or f64, and rounded to the float that was given."""
    x = operand(c, x)
    dtype = x.dtype if x.dtype.is_float else f32
    return cast(c.e, compute(cast(c.e, x, math_dtype(dtype))), dtype)


def _function(name: str, of_constant: Any):
    def apply(c: Any, x: Any) -> Any:
        if is_const_number(x):
            return _constant(name, of_constant, x)
        return _in_float(c, x, lambda wide: c.e.unary(f"math.{name}", wide))

    return apply


def _exponential(name: str, of_constant: Any):
    exact = _function(name, of_constant)

    def apply(c: Any, x: Any, flush: Any = False) -> Any:
        if not isinstance(flush, bool):
            raise Misuse(
                f"expected True or False, known when compiling, got {describe(flush)}",
                argument="flush",
            )
        if is_const_number(x) or not flush:
            return exact(c, x)
        return _in_float(
            c, x, lambda wide: c.e.unary(f"math.{name}", wide, attributes="fastmath<afn>")
        )

    return apply


_FUNCTIONS = {
    "acos": math.acos, "acosh": math.acosh, "asin": math.asin, "asinh": math.asinh,
    "atan": math.atan, "atanh": math.atanh, "cbrt": math.cbrt, "cos": math.cos, "cosh": math.cosh,
    "erf": math.erf, "erfc": math.erfc, "expm1": math.expm1,
    "log": math.log, "log10": math.log10, "log1p": math.log1p, "log2": math.log2,
    "rsqrt": lambda x: 1 / math.sqrt(x), "sin": math.sin, "sinh": math.sinh, "sqrt": math.sqrt,
    "tan": math.tan, "tanh": math.tanh,
}  # fmt: skip
for _name, _compute in _FUNCTIONS.items():
    implements(_name)(_function(_name, _compute))


implements("exp")(_exponential("exp", math.exp))
implements("exp2")(_exponential("exp2", math.exp2))


@implements("sigmoid")
def sigmoid(c: Any, x: Any) -> Any:
    e = c.e
    if is_const_number(x):
        return _constant("sigmoid", lambda v: 1 / (1 + math.exp(-v)), x)

    def compute(wide: Value) -> Value:
        one = e.constant(1.0, wide.dtype, wide.shape)
        small = e.unary("math.exp", e.unary("arith.negf", wide))
        return e.binary("arith.divf", one, e.binary("arith.addf", one, small))

    return _in_float(c, x, compute)


def _of_two(name: str, of_constants: Any, first: str, second: str, computes_in: Any):
    def apply(c: Any, a: Any, b: Any) -> Any:
        for x, argument in ((a, first), (b, second)):
            if not is_numeric(x):
                raise Misuse(
                    f"expected a number, a scalar or a tensor, got {describe(x)}",
                    argument=argument,
                )
        if not isinstance(a, Value) and not isinstance(b, Value):
            return _constant(name, of_constants, a, b)
        dtype = common_dtype(a, b)
        dtype = dtype if dtype.is_float else f32
        shape, wide = broadcast_all(a, b), computes_in(dtype)
        operands = (coerce(c.e, x, shape, wide) for x in (a, b))
        return cast(c.e, c.e.binary(f"math.{name}", *operands), dtype)

    return apply


implements("atan2")(_of_two("atan2", math.atan2, "y", "x", math_dtype))
implements("copysign")(_of_two("copysign", math.copysign, "x", "sign", compute_dtype))


def _round(name: str, op: str, of_constant: Any):
    def apply(c: Any, x: Any) -> Any:
        if is_const_number(x):
            if isinstance(x, float) and math.isfinite(x):
                return math.copysign(float(of_constant(x)), x)
            return x
        x = operand(c, x)
        if not x.dtype.is_float:
            return x
        wide = cast(c.e, x, math_dtype(x.dtype))
        return cast(c.e, c.e.unary(op, wide), x.dtype)

    return implements(name)(apply)


_round("floor", "math.floor", math.floor)
_round("ceil", "math.ceil", math.ceil)
_round("trunc", "math.trunc", math.trunc)
_round("round", "math.roundeven", round)
