"""Matching the arguments of a call to parameters, with errors that name them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from kiln.frontend.errors import Misuse

EMPTY = inspect.Parameter.empty


class Parameters:
    """The parameters of something that can be called in a kernel.

    names         those that have a name, in order; the first `positional` of them may be
                  given by position
    defaults      what a name left out gets
    rest          the name of a `*args`, or None; its values come as a tuple
    annotations   as Python has them
    """

    def __init__(self, name: str):
        self.name = name
        self.names: list[str] = []
        self.positional = 0
        self.defaults: dict[str, Any] = {}
        self.rest: str | None = None
        self.annotations: dict[str, Any] = {}

    def bind(self, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """What each parameter gets. Raises Misuse."""
        bound = dict(zip(self.names[: self.positional], args, strict=False))
        extra = args[self.positional :]
        if self.rest is not None:
            bound[self.rest] = tuple(extra)
        elif extra:
            raise Misuse(
                f"expected at most {self.positional} arguments by position for `{self.name}`, "
                f"got {len(args)}",
                f"{self.name}({self.text()})",
            )
        for name, value in kwargs.items():
            if name not in self.names:
                raise Misuse(
                    f"expected a parameter of `{self.name}`, got `{name}=`",
                    f"{self.name}({self.text()})" + self._without(name),
                )
            if name in bound:
                raise Misuse(f"expected one value for `{name}`, got two")
            bound[name] = value
        for name in self.names:
            if name not in bound:
                if name not in self.defaults:
                    raise Misuse(
                        f"expected a value for `{name}` of `{self.name}`, got none",
                        f"{self.name}({self.text()})",
                    )
                bound[name] = self.defaults[name]
        return bound

    def _without(self, name: str) -> str:
        """What stands in for a parameter that other languages of tiles have."""
        if name == "mask" and "offsets" in self.names:
            return (
                "; beyond the view's edges loads give `pad` and stores write nothing, "
                "kiln.gather and kiln.scatter take masks"
            )
        if name == "other" and "pad" in self.names:
            return "; `pad=` is what is read beyond the view's edges"
        return ""

    def text(self) -> str:
        """The parameters as a signature shows them."""
        parts = []
        for i, name in enumerate(self.names):
            if i == self.positional:
                parts.append(f"*{self.rest}" if self.rest else "*")
            default = self.defaults.get(name, EMPTY)
            parts.append(name if default is EMPTY else f"{name}={default!r}")
        if self.rest and self.positional == len(self.names):
            parts.append(f"*{self.rest}")
        return ", ".join(parts)


@lru_cache(maxsize=1024)
def parameters_of(function: Callable[..., Any], name: str) -> Parameters:
    """The parameters of a Python function."""
    out = Parameters(name)
    later = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            out.rest = parameter.name
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            raise Misuse(f"expected named parameters in `{name}`, got **{parameter.name}")
        if parameter.default is not EMPTY:
            out.defaults[parameter.name] = parameter.default
        if parameter.annotation is not EMPTY:
            out.annotations[parameter.name] = parameter.annotation
        if parameter.kind is parameter.KEYWORD_ONLY:
            later.append(parameter.name)
        else:
            out.names.append(parameter.name)
    out.positional = len(out.names)
    out.names += later
    return out


def parameters_of_tree(
    tree: ast.Lambda | ast.FunctionDef, name: str, defaults: dict[str, Any]
) -> Parameters:
    """The parameters of a lambda or a nested function."""
    out = Parameters(name)
    a = tree.args
    if a.kwarg is not None:
        raise Misuse(f"expected named parameters in `{name}`, got **{a.kwarg.arg}")
    out.names = [x.arg for x in a.posonlyargs + a.args]
    out.positional = len(out.names)
    out.names += [x.arg for x in a.kwonlyargs]
    out.rest = a.vararg.arg if a.vararg else None
    out.defaults = defaults
    return out
