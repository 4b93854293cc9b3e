"""The parameters of a kernel: what each is, and what a call may leave out."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from kiln.frontend.errors import CompileError
from kiln.frontend.source import FunctionSource
from kiln.language.annotations import PointerSpec, ViewSpec, constexpr, tunable
from kiln.language.dtypes import DType
from kiln.language.values import Pointer, View

EMPTY = inspect.Parameter.empty


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel.

    kind        "view", "pointer" or "scalar" by its annotation; "auto" without one (the
                argument decides); "constexpr"; "tunable"
    dtype       fixed by the annotation, or None
    shape       of a view: the extents that the annotation fixes (None: at launch), or None
    default     what a call that leaves it out gets, or `EMPTY`; of a tunable, its default
    candidates  of a tunable
    """

    name: str
    kind: str
    dtype: DType | None = None
    shape: tuple[int | None, ...] | None = None
    default: Any = EMPTY
    candidates: tuple[Any, ...] = ()
    keyword_only: bool = False

    @property
    def has_default(self) -> bool:
        return self.default is not EMPTY

    @property
    def is_constant(self) -> bool:
        """Whether its value is known when the kernel is compiled."""
        return self.kind in ("constexpr", "tunable")

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)


def kernel_parameters(function: FunctionType) -> tuple[Parameter, ...]:
    """The parameters of a kernel, from its signature. The source is read for errors only."""
    out = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise wrong_parameter(
                function,
                name,
                f"expected named parameters in a kernel, got *{name}",
                "one parameter for each argument",
            )
        annotation = resolve_annotation(function, name, parameter.annotation)
        out.append(_parameter(function, parameter, annotation))
    return tuple(out)


def wrong_parameter(
    function: FunctionType, name: str | None, message: str, legal: str | None = None
) -> CompileError:
    """An error at a parameter of a function."""
    source = FunctionSource(function)
    a = source.tree.args
    nodes = {x.arg: x for x in a.posonlyargs + a.args + a.kwonlyargs}
    return CompileError(message, legal=legal, span=source.span(nodes.get(name, source.tree)))


def resolve_annotation(function: FunctionType, name: str, annotation: Any) -> Any:
    """The object an annotation stands for, also where annotations are kept as strings."""
    if not isinstance(annotation, str):
        return annotation
    free = dict(
        zip(
            function.__code__.co_freevars,
            (c.cell_contents for c in function.__closure__ or ()),
            strict=False,
        )
    )
    try:
        return eval(annotation, function.__globals__, free)
    except Exception as error:
        raise wrong_parameter(
            function,
            name,
            f"expected an annotation that can be evaluated, got {annotation!r} ({error})",
        ) from None


def _parameter(function: FunctionType, parameter: Any, annotation: Any) -> Parameter:
    name, default = parameter.name, parameter.default
    keyword_only = parameter.kind is parameter.KEYWORD_ONLY

    def make(kind, **fields) -> Parameter:
        fields.setdefault("default", default)
        return Parameter(name, kind, keyword_only=keyword_only, **fields)

    if isinstance(annotation, tunable):
        default, annotation = annotation, tunable
    if isinstance(default, tunable):
        return make("tunable", default=default.default, candidates=default.candidates)
    if annotation is tunable:
        raise wrong_parameter(
            function,
            name,
            f"expected candidates for the tunable `{name}`, got no default",
            f"{name}: kiln.tunable = kiln.tunable(32, 64, default=64)",
        )
    if annotation is constexpr:
        return make("constexpr")
    if annotation is EMPTY:
        return make("auto")
    if annotation is View:
        return make("view")
    if isinstance(annotation, ViewSpec):
        return make("view", dtype=annotation.dtype, shape=annotation.shape)
    if isinstance(annotation, PointerSpec):
        return make("pointer", dtype=annotation.dtype)
    if annotation is Pointer:
        return make("pointer")
    if isinstance(annotation, DType):
        return make("scalar", dtype=annotation)
    if annotation in _PYTHON_SCALARS:
        return make("scalar", dtype=_PYTHON_SCALARS[annotation])
    raise wrong_parameter(
        function,
        name,
        f"expected an annotation that a kernel's parameter can have, got {annotation!r}",
        "kiln.View, kiln.View[dtype, rank], kiln.Pointer[dtype], a dtype such as kiln.f32, "
        "kiln.constexpr, kiln.tunable, or none",
    )


def _python_scalars() -> dict[type, DType]:
    from kiln.language import dtypes

    return {int: dtypes.i64, float: dtypes.f32, bool: dtypes.bool_}


_PYTHON_SCALARS = _python_scalars()
