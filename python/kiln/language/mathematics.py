"""Functions of mathematics, element by element. docs/reference/math.md says how exact each is."""

from __future__ import annotations

from typing import Any

from kiln.language.intrinsic import intrinsic


@intrinsic
def exp(x: Any, flush: bool = False) -> Any:
    """e to the power x. Ints are computed in f32; f16, bf16 and narrower by way of f32.

    flush: in f32, results below 2^-126 may be 0, which a GPU's own instruction makes of them.
    It is as exact otherwise. On AMD's chips it takes fewer instructions; on NVIDIA's none.

    Example: `e = kiln.exp(x - kiln.max(x, axis=1, keepdims=True))`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def exp2(x: Any, flush: bool = False) -> Any:
    """2 to the power x; dtypes and `flush` as for `exp`, and with it one instruction on every GPU.

    Example: `e = kiln.exp2(x * 1.4426950408889634)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def log(x: Any) -> Any:
    """The natural logarithm; NaN below 0, minus infinity at 0; dtypes as `exp`.

    Example: `nats = kiln.log(kiln.abs(x) + 1.0)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def log2(x: Any) -> Any:
    """The logarithm to base 2; dtypes as `exp`.

    Example: `bits = kiln.log2(kiln.abs(x) + 1.0)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def sqrt(x: Any) -> Any:
    """The square root, NaN below 0; dtypes as `exp`.

    Example: `root = kiln.sqrt(kiln.abs(x))`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def rsqrt(x: Any) -> Any:
    """1 / sqrt(x); dtypes as `exp`.

    Example: `scale = kiln.rsqrt(kiln.sum(x * x, axis=1, keepdims=True) + 1e-5)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def sin(x: Any) -> Any:
    """The sine of x in radians; dtypes as `exp`.

    Example: `wave = kiln.sin(x)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def cos(x: Any) -> Any:
    """The cosine of x in radians; dtypes as `exp`.

    Example: `wave = kiln.cos(x)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def tanh(x: Any) -> Any:
    """The hyperbolic tangent; dtypes as `exp`.

    Example: `gate = kiln.tanh(x)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def erf(x: Any) -> Any:
    """The error function; dtypes as `exp`.

    Example: `share = 0.5 * (1.0 + kiln.erf(x * 0.70710678))`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)); dtypes as `exp`.

    Example: `gate = kiln.sigmoid(x)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def expm1(x: Any) -> Any:
    """exp(x) - 1, exact near 0 too; dtypes as `exp`.

    Example: `interest = kiln.expm1(x * 1e-4)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def log10(x: Any) -> Any:
    """The logarithm to base 10; dtypes as `exp`.

    Example: `decibels = 10.0 * kiln.log10(kiln.abs(x) + 1e-9)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def log1p(x: Any) -> Any:
    """log(1 + x), exact near 0 too: NaN below -1, minus infinity at -1; dtypes as `exp`.

    Example: `softplus = kiln.log1p(kiln.exp(x))`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def cbrt(x: Any) -> Any:
    """The cube root, of the sign of x; dtypes as `exp`.

    Example: `side = kiln.cbrt(x)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def tan(x: Any) -> Any:
    """The tangent of x in radians; dtypes as `exp`.

    Example: `slope = kiln.tan(x)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def asin(x: Any) -> Any:
    """The arc sine in [-pi/2, pi/2], NaN beyond [-1, 1]; dtypes as `exp`.

    Example: `angle = kiln.asin(kiln.clamp(x, -1.0, 1.0))`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def acos(x: Any) -> Any:
    """The arc cosine in [0, pi], NaN beyond [-1, 1]; dtypes as `exp`.

    Example: `angle = kiln.acos(kiln.clamp(x, -1.0, 1.0))`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def atan(x: Any) -> Any:
    """The arc tangent in [-pi/2, pi/2]; dtypes as `exp`.

    Example: `angle = kiln.atan(x)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def sinh(x: Any) -> Any:
    """The hyperbolic sine; dtypes as `exp`.

    Example: `y = kiln.sinh(x)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def cosh(x: Any) -> Any:
    """The hyperbolic cosine; dtypes as `exp`.

    Example: `y = kiln.cosh(x)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def asinh(x: Any) -> Any:
    """The inverse of `sinh`; dtypes as `exp`.

    Example: `y = kiln.asinh(x)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def acosh(x: Any) -> Any:
    """The inverse of `cosh`, NaN below 1; dtypes as `exp`.

    Example: `y = kiln.acosh(1.0 + x * x)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def atanh(x: Any) -> Any:
    """The inverse of `tanh`, NaN beyond [-1, 1]; dtypes as `exp`.

    Example: `y = kiln.atanh(kiln.clamp(x, -0.9, 0.9))`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def erfc(x: Any) -> Any:
    """1 - erf(x), exact where that is near 0 too; dtypes as `exp`.

    Example: `tail = kiln.erfc(x)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y) in [-pi, pi]; promoted as `/` does.

    Example: `angle = kiln.atan2(y, x)`

    Errors: something that is not a number, a scalar or a tensor; a constant that the function
    does not take.
    """


@intrinsic
def copysign(x: Any, sign: Any) -> Any:
    """The magnitude of x with the sign of `sign`, be it NaN or zero; promoted as `/` does.

    Example: `z = kiln.copysign(x, y)`

    Errors: something that is not a number, a scalar or a tensor.
    """


@intrinsic
def floor(x: Any) -> Any:
    """Rounded towards minus infinity, of the same dtype; ints stay.

    Example: `cell = kiln.floor(x).to(kiln.i32)`

    Errors: something that is not a number, a scalar or a tensor.
    """


@intrinsic
def ceil(x: Any) -> Any:
    """Rounded towards plus infinity, of the same dtype; ints stay.

    Example: `z = kiln.ceil(x)`

    Errors: something that is not a number, a scalar or a tensor.
    """


@intrinsic
def trunc(x: Any) -> Any:
    """Rounded towards zero, of the same dtype; ints stay.

    Example: `z = kiln.trunc(x)`

    Errors: something that is not a number, a scalar or a tensor.
    """


@intrinsic
def round(x: Any) -> Any:
    """Rounded to nearest, ties to even, of the same dtype; ints stay.

    Example: `z = kiln.round(x * 127.0).to(kiln.i8)`

    Errors: something that is not a number, a scalar or a tensor.
    """


__all__ = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos",
    "cosh", "erf", "erfc", "exp", "exp2", "expm1", "floor", "log", "log1p", "log2", "log10",
    "round", "rsqrt", "sigmoid", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
]  # fmt: skip
