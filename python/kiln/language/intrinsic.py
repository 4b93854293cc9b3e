"""What makes a name of the language callable inside a kernel, and only there."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def intrinsic(function: Callable[P, R]) -> Callable[P, R]:
    """Marks a declaration whose meaning the compiler supplies.

    The body is never run: the declaration gives the name, the parameters with their defaults
    and the documentation. Outside a kernel a call is an error, but for what `on_host` adds.
    """

    @wraps(function)
    def outside(*args, **kwargs):
        host = getattr(outside, "__kiln_host__", None)
        if host is not None:
            return host(*args, **kwargs)
        raise TypeError(
            f"expected kiln.{function.__name__} inside a kernel or a @kiln.function, "
            "got a call on the host"
        )

    outside.__kiln_intrinsic__ = function.__name__
    return outside


def on_host(declaration: Callable[P, R], function: Callable[..., Any]) -> None:
    """Makes a name of the language mean something else outside of kernels."""
    declaration.__kiln_host__ = function  # type: ignore[attr-defined]


def alike(declaration: Callable[P, R], name: str, documentation: str) -> Callable[P, R]:
    """Another intrinsic that takes and gives what an intrinsic declared before does."""
    body: FunctionType = declaration.__wrapped__  # type: ignore[attr-defined]
    twin = FunctionType(body.__code__, body.__globals__, name, body.__defaults__)
    twin.__kwdefaults__ = body.__kwdefaults__
    twin.__annotations__ = body.__annotations__
    twin.__module__, twin.__qualname__, twin.__doc__ = body.__module__, name, documentation
    return intrinsic(twin)
