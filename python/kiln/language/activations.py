"""Activation functions of networks, element by element."""

from __future__ import annotations

from typing import Any

from kiln.language.intrinsic import intrinsic


@intrinsic
def relu(x: Any) -> Any:
    """x where it is above 0, else 0; a NaN stays. Keeps the dtype.

    Example: `z = kiln.relu(kiln.dot(x, y))`

    Errors: something that is not a number, a scalar or a tensor.
    """


@intrinsic
def gelu(x: Any, approximate: str = "none") -> Any:
    """x times the share of a normal distribution below x; dtypes as `exp`.

    `approximate="none"` is `x * erfc(-x / sqrt(2)) / 2`, exact in the far tail too;
    `approximate="tanh"` is PyTorch's `x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x**3))) / 2`.

    Example: `z = kiln.gelu(x, approximate="tanh")`

    Errors: an `approximate` that is neither.
    """


@intrinsic
def silu(x: Any) -> Any:
    """x / (1 + exp(-x)), also called swish; dtypes as `exp`.

    Example: `z = kiln.silu(x) * y`

    Errors: something that is not a number, a scalar or a tensor.
    """


__all__ = ["gelu", "relu", "silu"]
