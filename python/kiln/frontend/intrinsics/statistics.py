"""Means, deviations and soft maxima, composed of reductions and functions of mathematics."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from kiln.frontend.arithmetic.casts import cast
from kiln.frontend.errors import Misuse
from kiln.frontend.syntax.calls import implements
from kiln.frontend.values import Value, as_axis, as_int, as_tensor
from kiln.language.dtypes import DType, f32, f64


def _wide(c: Any, x: Any) -> Value:
    """A tensor in the float that it is summed in."""
    x = as_tensor(x, "x")
    return cast(c.e, x, f64 if x.dtype is f64 else f32)


def _float_of(x: Value) -> DType:
    return x.dtype if x.dtype.is_float else f32


def _count(x: Value, reduced: Value) -> int:
    """How many elements were combined into each one."""
    return math.prod(x.shape) // math.prod(reduced.shape)


def _mean(c: Any, x: Value, axis: Any, keepdims: Any) -> Value:
    total = c.intrinsic("sum", [x, axis, keepdims], {})
    return c.binary("/", total, float(_count(x, total)))


@implements("mean")
def mean(c: Any, x: Any, axis: Any, keepdims: Any) -> Value:
    return _mean(c, _wide(c, x), axis, keepdims)


@implements("var")
def var(c: Any, x: Any, axis: Any, ddof: Any, keepdims: Any) -> Value:
    x = _wide(c, x)
    ddof = as_int(ddof, "ddof")
    distance = c.binary("-", x, _mean(c, x, axis, True))
    squares = c.intrinsic("sum", [c.binary("*", distance, distance), axis, keepdims], {})
    count = _count(x, squares)
    if not 0 <= ddof < count:
        raise Misuse(
            f"expected a ddof from 0 to {count - 1} for {count} elements, got {ddof}",
            argument="ddof",
        )
    return c.binary("/", squares, float(count - ddof))


@implements("std")
def std(c: Any, x: Any, axis: Any, ddof: Any, keepdims: Any) -> Value:
    return c.intrinsic("sqrt", [var(c, x, axis, ddof, keepdims)], {})


def _shifted(c: Any, x: Any, axis: Any) -> Value:
    """A tensor less its greatest element along an axis: no exponential of it overflows."""
    axis = as_axis(axis, len(as_tensor(x, "x").shape))
    x = _wide(c, x)
    return c.binary("-", x, c.intrinsic("max", [x, axis, True], {}))


def _soft(finish: Callable[[Any, Value, Value, Value], Value]) -> Callable[..., Value]:
    def apply(c: Any, x: Any, axis: Any) -> Value:
        shifted = _shifted(c, x, axis)
        powers = c.intrinsic("exp", [shifted], {})
        total = c.intrinsic("sum", [powers, axis, True], {})
        return cast(c.e, finish(c, shifted, powers, total), _float_of(x))

    return apply


implements("softmax")(_soft(lambda c, shifted, powers, total: c.binary("/", powers, total)))
implements("log_softmax")(
    _soft(lambda c, shifted, powers, total: c.binary("-", shifted, c.intrinsic("log", [total], {})))
)


@implements("logsumexp")
def logsumexp(c: Any, x: Any, axis: Any, keepdims: Any) -> Value:
    x = _wide(c, x)
    kept = _reference(c, x, axis, True)
    powers = c.intrinsic("exp", [c.binary("-", x, kept)], {})
    total = c.intrinsic("sum", [powers, axis, keepdims], {})
    reference = kept if keepdims is True else _reference(c, x, axis, keepdims)
    return c.binary("+", c.intrinsic("log", [total], {}), reference)


def _reference(c: Any, x: Value, axis: Any, keepdims: Any) -> Value:
    """The greatest element, or 0 where that is not finite: infinities then cancel nowhere."""
    greatest = c.intrinsic("max", [x, axis, keepdims], {})
    return c.intrinsic("where", [c.intrinsic("isfinite", [greatest], {}), greatest, 0.0], {})
