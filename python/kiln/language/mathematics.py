"""Functions of mathematics, element by element. docs/reference/math.md says how exact each is."""

from __future__ import annotations

from typing import Any

from kiln.language.intrinsic import intrinsic


@intrinsic
def exp(x: Any) -> Any:
    """e to the power x. Ints are computed in f32; f16, bf16 and narrower by way of f32."""


@intrinsic
def exp2(x: Any) -> Any:
    """2 to the power x; dtypes as `exp`."""


@intrinsic
def log(x: Any) -> Any:
    """The natural logarithm; NaN below 0, minus infinity at 0; dtypes as `exp`."""


@intrinsic
def log2(x: Any) -> Any:
    """The logarithm to base 2; dtypes as `exp`."""


@intrinsic
def sqrt(x: Any) -> Any:
    """The square root, NaN below 0; dtypes as `exp`."""


@intrinsic
def rsqrt(x: Any) -> Any:
    """1 / sqrt(x); dtypes as `exp`."""


@intrinsic
def sin(x: Any) -> Any:
    """The sine of x in radians; dtypes as `exp`."""


@intrinsic
def cos(x: Any) -> Any:
    """The cosine of x in radians; dtypes as `exp`."""


@intrinsic
def tanh(x: Any) -> Any:
    """The hyperbolic tangent; dtypes as `exp`."""


@intrinsic
def erf(x: Any) -> Any:
    """The error function; dtypes as `exp`."""


@intrinsic
def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)); dtypes as `exp`."""


@intrinsic
def expm1(x: Any) -> Any:
    """exp(x) - 1, exact near 0 too; dtypes as `exp`."""


@intrinsic
def log10(x: Any) -> Any:
    """The logarithm to base 10; dtypes as `exp`."""


@intrinsic
def log1p(x: Any) -> Any:
    """log(1 + x), exact near 0 too: NaN below -1, minus infinity at -1; dtypes as `exp`."""


@intrinsic
def cbrt(x: Any) -> Any:
    """The cube root, of the sign of x; dtypes as `exp`."""


@intrinsic
def tan(x: Any) -> Any:
    """The tangent of x in radians; dtypes as `exp`."""


@intrinsic
def asin(x: Any) -> Any:
    """The arc sine in [-pi/2, pi/2], NaN beyond [-1, 1]; dtypes as `exp`."""


@intrinsic
def acos(x: Any) -> Any:
    """The arc cosine in [0, pi], NaN beyond [-1, 1]; dtypes as `exp`."""


@intrinsic
def atan(x: Any) -> Any:
    """The arc tangent in [-pi/2, pi/2]; dtypes as `exp`."""


@intrinsic
def sinh(x: Any) -> Any:
    """The hyperbolic sine; dtypes as `exp`."""


@intrinsic
def cosh(x: Any) -> Any:
    """The hyperbolic cosine; dtypes as `exp`."""


@intrinsic
def asinh(x: Any) -> Any:
    """The inverse of `sinh`; dtypes as `exp`."""


@intrinsic
def acosh(x: Any) -> Any:
    """The inverse of `cosh`, NaN below 1; dtypes as `exp`."""


@intrinsic
def atanh(x: Any) -> Any:
    """The inverse of `tanh`, NaN beyond [-1, 1]; dtypes as `exp`."""


@intrinsic
def erfc(x: Any) -> Any:
    """1 - erf(x), exact where that is near 0 too; dtypes as `exp`."""


@intrinsic
def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y) in [-pi, pi]; promoted as `/` does."""


@intrinsic
def copysign(x: Any, sign: Any) -> Any:
    """The magnitude of x with the sign of `sign`, be it NaN or zero; promoted as `/` does."""


@intrinsic
def floor(x: Any) -> Any:
    """Rounded towards minus infinity, of the same dtype; ints stay."""


@intrinsic
def ceil(x: Any) -> Any:
    """Rounded towards plus infinity, of the same dtype; ints stay."""


@intrinsic
def trunc(x: Any) -> Any:
    """Rounded towards zero, of the same dtype; ints stay."""


@intrinsic
def round(x: Any) -> Any:
    """Rounded to nearest, ties to even, of the same dtype; ints stay."""


__all__ = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos",
    "cosh", "erf", "erfc", "exp", "exp2", "expm1", "floor", "log", "log1p", "log2", "log10",
    "round", "rsqrt", "sigmoid", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
]  # fmt: skip
