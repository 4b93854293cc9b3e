"""The parameters of a kernel: what each is, and what a call may leave out."""

from __future__ import annotations

import inspect
import typing
from dataclasses import dataclass, replace
from types import FunctionType, UnionType
from typing import Any

from kiln.frontend.errors import CompileError
from kiln.frontend.function import field_annotations
from kiln.frontend.source import FunctionSource, evaluated
from kiln.frontend.structures import LEAF, items_of
from kiln.language.annotations import (
    CHOSEN,
    OptionalSpec,
    PointerSpec,
    ViewSpec,
    constexpr,
    tunable,
)  # fmt: skip
from kiln.language.dtypes import DType
from kiln.language.values import Pointer, View

EMPTY = inspect.Parameter.empty


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel.

    kind        "view", "pointer" or "scalar" by its annotation; "tuple", which lists are too;
                "auto" without one (the argument decides); "constexpr"; "tunable"
    dtype       fixed by the annotation, or None
    shape       of a view: the extents that the annotation fixes (None: at launch), or None
    default     what a call that leaves it out gets, or `EMPTY`; of a tunable, its default, or
                `CHOSEN`
    candidates  of a tunable
    optional    whether None may stand for it
    items       of a tuple: the annotations of what it holds; `...` at the end repeats the first
    of          for a part of a tuple, as `leaf_parameters` gives: the kernel's own parameter
    """

    name: str
    kind: str
    dtype: DType | None = None
    shape: tuple[int | None, ...] | None = None
    default: Any = EMPTY
    candidates: tuple[Any, ...] = ()
    keyword_only: bool = False
    optional: bool = False
    items: tuple[Any, ...] = ()
    of: str = ""

    @property
    def has_default(self) -> bool:
        return self.default is not EMPTY

    @property
    def is_constant(self) -> bool:
        """Whether its value is known when the kernel is compiled."""
        return self.kind in ("constexpr", "tunable")

    @property
    def is_chosen(self) -> bool:
        """Whether the model chooses its value where a call leaves it out."""
        return self.default is CHOSEN

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
    try:
        return evaluated(function, annotation)
    except Exception as error:
        raise wrong_parameter(
            function,
            name,
            f"expected an annotation that can be evaluated, got {annotation!r} ({error})",
        ) from None


def leaf_parameters(function: FunctionType, parameter: Parameter, structure: Any):
    """A parameter for each leaf of an argument of a structure. Raises TypeError where the
    structure is none that the annotation allows."""
    name = parameter.name
    if structure is None:
        if parameter.optional or parameter.kind == "auto":
            return []
        raise TypeError(
            f"expected {_WORDS[parameter.kind]}, got None; an argument that may be left out is "
            f"annotated as in `{name}: kiln.View | None = None`"
        )
    if structure == LEAF:
        if parameter.kind == "tuple":
            raise TypeError("expected a tuple or a list, got one array or number")
        return [parameter]
    inner = items_of(name, structure)
    if parameter.kind not in ("auto", "tuple"):
        raise TypeError(f"expected {_WORDS[parameter.kind]}, got a tuple or a list of {len(inner)}")
    annotations = parameter.items
    if annotations[1:] == (...,):
        annotations = annotations[:1] * len(inner)
    if annotations and len(annotations) != len(inner):
        raise TypeError(f"expected {len(annotations)} in the tuple, got {len(inner)}")
    out = []
    for i, (item, below) in enumerate(inner):
        given = inspect.Parameter("_", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        made = _parameter(function, given, annotations[i] if annotations else EMPTY)
        made = replace(made, name=item, of=parameter.of or name)
        out += leaf_parameters(function, made, below)
    return out


_WORDS = {"view": "a view", "pointer": "a pointer", "scalar": "a scalar", "tuple": "a tuple"}


def _optional(annotation: Any) -> tuple[Any, bool]:
    """An annotation without its `| None`, and whether it had one."""
    if isinstance(annotation, OptionalSpec):
        return annotation.inner, True
    if isinstance(annotation, UnionType) or typing.get_origin(annotation) is typing.Union:
        inner = [one for one in typing.get_args(annotation) if one is not type(None)]
        if len(inner) == 1 and len(typing.get_args(annotation)) == 2:
            return inner[0], True
    return annotation, False


def _tuple_items(annotation: Any) -> tuple[Any, ...] | None:
    """The annotations of what a tuple or a list holds; None for other annotations."""
    if annotation in (tuple, list):
        return ()
    origin, items = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is list:
        return (*items, ...)
    if origin is tuple:
        return items
    if isinstance(annotation, type) and issubclass(annotation, tuple):
        return field_annotations(annotation)
    return None


def _parameter(function: FunctionType, parameter: Any, annotation: Any) -> Parameter:
    name, default = parameter.name, parameter.default
    keyword_only = parameter.kind is parameter.KEYWORD_ONLY
    annotation, optional = _optional(annotation)

    def make(kind, **fields) -> Parameter:
        fields.setdefault("default", default)
        may_be_none = optional or (default is None and kind not in ("constexpr", "tunable"))
        return Parameter(name, kind, keyword_only=keyword_only, optional=may_be_none, **fields)

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
    items = _tuple_items(annotation)
    if items is not None:
        return make("tuple", items=items)
    if isinstance(annotation, type) and annotation in _PYTHON_SCALARS:
        return make("scalar", dtype=_PYTHON_SCALARS[annotation])
    raise wrong_parameter(
        function,
        name,
        f"expected an annotation that a kernel's parameter can have, got {annotation!r}",
        "kiln.View, kiln.View[dtype, rank], kiln.Pointer[dtype], a dtype such as kiln.f32, "
        "each of them `| None`, tuple, list, kiln.constexpr, kiln.tunable, or none",
    )


def _python_scalars() -> dict[type, DType]:
    from kiln.language import dtypes

    return {int: dtypes.i64, float: dtypes.f32, bool: dtypes.bool_}


_PYTHON_SCALARS = _python_scalars()
