"""`@kiln.function`: a helper that kernels inline, and what a kernel may capture."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import types
from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

from kiln.frontend.source import FunctionSource, remember
from kiln.frontend.values import Struct
from kiln.language.dtypes import DType

P = ParamSpec("P")
R = TypeVar("R")


class Function(Generic[P, R]):
    """A function of the language. Inside a kernel a call is inlined; on the host it is a call
    of the Python function, which works as long as nothing in it needs a kernel."""

    def __init__(self, function: Callable[P, R]):
        if not isinstance(function, types.FunctionType):
            raise TypeError(f"expected a function, got {function!r}")
        self.function = function
        remember(function)
        update_wrapper(self, function)

    @cached_property
    def source(self) -> FunctionSource:
        return FunctionSource(self.function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<kiln.function {self.function.__qualname__}>"

    def __copy__(self) -> Function[P, R]:
        return self

    def __deepcopy__(self, _: Any) -> Function[P, R]:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """By its name where a module has it, else with its code."""
        from kiln.frontend import travel

        if travel.is_found(self, self.function):
            return travel.find, (self.__module__, self.__qualname__)
        return _function_of, (travel.packed(self.function),)


def _function_of(content: dict[str, Any]) -> Function:
    from kiln.frontend.travel import unpacked

    return Function(unpacked(content))


def is_structure(value: Any) -> bool:
    """Whether an object is an instance of a NamedTuple or of a dataclass."""
    return not isinstance(value, type) and bool(field_names(type(value)))


def field_names(cls: type) -> tuple[str, ...]:
    """The fields of a NamedTuple or a dataclass; () for every other class."""
    if issubclass(cls, tuple):
        return getattr(cls, "_fields", ())
    if dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls))
    return ()


def field_annotations(cls: type) -> tuple[Any, ...]:
    """The annotations of a NamedTuple's fields, also where they are kept as strings; () where one
    cannot be evaluated in the class's module."""
    kept, module = getattr(cls, "__annotations__", {}), sys.modules.get(cls.__module__)
    out = []
    for name in field_names(cls):
        item = kept.get(name, inspect.Parameter.empty)
        item = getattr(item, "__forward_arg__", item)
        if isinstance(item, str):
            try:
                item = eval(item, vars(module) if module else {})
            except Exception:
                return ()
        out.append(item)
    return tuple(out)


def function(fn: Callable[P, R]) -> Function[P, R]:
    """Marks a helper that kernels call or take as an argument; it is inlined at each call.

    Its parameters take anything the language has: scalars, tensors, views, tuples, functions,
    constants. `x: kiln.constexpr` asks for a constant. It may return a value from several
    places, but not from inside a loop. It cannot call itself.
    """
    return Function(fn)


CAPTURES = "ints, floats, bools, strings, None, dtypes, tuples of these, and kiln functions"


def as_constant(value: Any) -> Any:
    """What a captured or passed Python object is to a kernel; raises TypeError for others."""
    if value is None or isinstance(value, (bool, int, float, str, DType, Function, Struct, range)):
        return value
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(map(as_constant, value))
    if is_structure(value):
        fields = {name: as_constant(getattr(value, name)) for name in field_names(type(value))}
        return Struct(type(value), fields)
    if hasattr(value, "__kiln_intrinsic__") or isinstance(value, (types.ModuleType, type)):
        return value
    if isinstance(value, types.BuiltinFunctionType):
        return value
    # A scalar of NumPy. An array without dimensions is none: its element may change.
    bases = type(value).__mro__
    if any(base.__module__ == "numpy" and base.__name__ == "generic" for base in bases):
        return as_constant(value.item())
    raise TypeError
