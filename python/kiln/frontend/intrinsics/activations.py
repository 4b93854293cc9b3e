"""Activation functions, composed of functions of mathematics."""

from __future__ import annotations

import math
from typing import Any

from kiln.frontend.arithmetic.casts import cast, math_dtype
from kiln.frontend.intrinsics.arithmetic import operand
from kiln.frontend.syntax.calls import implements
from kiln.frontend.values import Value, as_word, is_const_number
from kiln.language.dtypes import f32


@implements("relu")
def relu(c: Any, x: Any) -> Any:
    return c.intrinsic("maximum", [x, 0], {})


def _computed(c: Any, x: Any, formula: Any) -> Value:
    """A formula in f32 or f64, rounded once to the float that was given."""
    x = operand(c, x)
    dtype = x.dtype if x.dtype.is_float else f32
    return cast(c.e, formula(cast(c.e, x, math_dtype(dtype))), dtype)


@implements("gelu")
def gelu(c: Any, x: Any, approximate: Any) -> Any:
    tanh = as_word(approximate, ("none", "tanh"), "approximate") == "tanh"
    if is_const_number(x):
        if tanh:
            return 0.5 * x * (1 + math.tanh(_TANH_SCALE * (x + _TANH_CUBE * x**3)))
        return 0.5 * x * math.erfc(-x * math.sqrt(0.5))

    def exact(x: Value) -> Value:
        share = c.intrinsic("erfc", [c.binary("*", x, -math.sqrt(0.5))], {})
        return c.binary("*", c.binary("*", x, 0.5), share)

    def by_tanh(x: Value) -> Value:
        square = c.binary("*", x, x)
        slope = c.binary("+", c.binary("*", square, _TANH_CUBE * _TANH_SCALE), _TANH_SCALE)
        bend = c.intrinsic("tanh", [c.binary("*", x, slope)], {})
        return c.binary("*", c.binary("*", x, 0.5), c.binary("+", bend, 1.0))

    return _computed(c, x, by_tanh if tanh else exact)


_TANH_SCALE = math.sqrt(2 / math.pi)
_TANH_CUBE = 0.044715


@implements("silu")
def silu(c: Any, x: Any) -> Any:
    if is_const_number(x):
        return x / (1 + math.exp(-x)) if x > -700 else 0.0

    def formula(x: Value) -> Value:
        growth = c.intrinsic("exp", [c.binary("-", 0.0, x)], {})
        return c.binary("/", x, c.binary("+", growth, 1.0))

    return _computed(c, x, formula)
