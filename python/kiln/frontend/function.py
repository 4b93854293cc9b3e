"""`@kiln.function`: a helper that kernels inline, and what a kernel may capture.

Also the fingerprint of a kernel: a hash over its source, over the sources of all the helpers
it can reach and over the values of the globals that they name.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import types
from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

from kiln.frontend.errors import CompileError
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
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        return as_constant(value.item())
    raise TypeError


def constant_key(value: Any) -> str:
    """A text that is the same for two constants exactly when they compile to the same code.

    For cache keys. Raises CompileError for what cannot be a constant of a kernel.
    """
    try:
        value = as_constant(value)
    except TypeError:
        raise CompileError(
            f"expected a constant, got a {type(value).__name__}", legal=CAPTURES
        ) from None
    if isinstance(value, float):
        return "f:" + (value.hex() if not math.isnan(value) else "nan")
    if isinstance(value, int) and not isinstance(value, bool):
        return f"i:{value:x}"  # in decimal, Python takes no integer of more than 4300 digits
    if isinstance(value, bool) or value is None:
        return f"{type(value).__name__[0]}:{value}"
    if isinstance(value, str):
        return f"s{len(value)}:{value}"
    if isinstance(value, DType):
        return f"d:{value.name}"
    if isinstance(value, Function):
        return f"h:{source_hash(value.source)}"
    if isinstance(value, tuple):
        return f"({','.join(map(constant_key, value))})"
    if isinstance(value, Struct):
        inner = ",".join(f"{n}={constant_key(v)}" for n, v in value.fields.items())
        return f"{value.cls.__module__}.{value.cls.__qualname__}({inner})"
    if isinstance(value, range):
        return repr(value)
    return f"o:{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}"


def source_hash(source: FunctionSource) -> str:
    """A hash over a function, the helpers it can reach and the values that they capture.

    The position in the file counts: it is in the locations, which errors at run time show.
    """
    digest = hashlib.sha256()
    _add_all(digest, [source])
    return digest.hexdigest()


def class_hash(cls: type) -> str:
    """The same over a class, of which an argument is an instance."""
    digest = hashlib.sha256(f"{cls.__module__}.{cls.__qualname__}".encode())
    pending: list[FunctionSource] = []
    _add_class(digest, cls.__qualname__, cls, pending)
    _add_all(digest, pending)
    return digest.hexdigest()


def _add_all(digest, pending: list[FunctionSource]) -> None:
    seen: set[int] = set()
    while pending:
        current = pending.pop()
        if id(current.function) in seen:
            continue
        seen.add(id(current.function))
        digest.update(f"{current.file}:{current.first_line}\n{current.text}".encode())
        for default in current.function.__defaults__ or ():
            _add(digest, "default", default, pending)
        for name, default in (current.function.__kwdefaults__ or {}).items():
            _add(digest, name, default, pending)
        for path in current.free_references():
            found, value = _resolve(current, path)
            if found:
                _add(digest, ".".join(path), value, pending)


def _add(digest, name: str, value: Any, pending: list[FunctionSource]) -> None:
    if isinstance(value, Function):
        digest.update(f"\n{name}=function".encode())
        pending.append(value.source)
    elif isinstance(value, type):
        _add_class(digest, name, value, pending)
    elif not isinstance(value, types.ModuleType):
        try:
            digest.update(f"\n{name}={constant_key(value)}".encode())
        except CompileError:
            return  # the kernel cannot use it
        if is_structure(value):
            _add_class(digest, name, type(value), pending)


def _add_class(digest, name: str, cls: type, pending: list[FunctionSource]) -> None:
    """The constants, defaults and methods that a kernel reaches through a class."""
    for base in cls.__mro__:
        if base.__module__ in ("builtins", "typing"):
            continue
        members = {**vars(base), **getattr(base, "_field_defaults", {})}
        for key, value in members.items():
            if key.startswith("__"):
                continue
            if isinstance(value, type):
                if value.__qualname__ == f"{base.__qualname__}.{key}":
                    _add_class(digest, f"{name}.{key}", value, pending)
                continue
            if isinstance(value, (Function, bool, int, float, str, tuple, DType)) or value is None:
                _add(digest, f"{name}.{key}", value, pending)


def _resolve(source: FunctionSource, path: tuple[str, ...]) -> tuple[bool, Any]:
    if path[0] in source.function.__code__.co_varnames:
        return False, None
    try:
        value = source.lookup(path[0])
        for attribute in path[1:]:
            if not isinstance(value, types.ModuleType):
                return False, None
            value = getattr(value, attribute)
    except (KeyError, AttributeError):
        return False, None
    return True, value
