"""The fingerprint of a kernel: a hash over all that its code depends on, and where that stands.

It is taken over the kernel's source, its annotations and defaults, the sources of all helpers that
it can reach, and the values of the globals, closures, modules' names, classes' members and
structures' fields that they name. Which of these may change while the program runs is kept as
places, for a launcher to look at: what was found there stands for what was compiled.
"""

from __future__ import annotations

import hashlib
import math
import types
import typing
from typing import Any

from kiln.frontend.errors import CompileError
from kiln.frontend.function import (
    CAPTURES,
    Function,
    as_constant,
    field_annotations,
    field_names,
    is_structure,
)  # fmt: skip
from kiln.frontend.source import FunctionSource, evaluated, free_names
from kiln.frontend.values import Struct
from kiln.language.annotations import OptionalSpec, PointerSpec, ViewSpec, tunable
from kiln.language.dtypes import DType

_SPECS = (OptionalSpec, PointerSpec, ViewSpec, tunable, DType)
_NOT_WALKED = ("builtins", "enum", "numpy", "typing")


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
    if isinstance(value, Function):
        return f"h:{source_hash(value.source)}"
    if isinstance(value, tuple):
        return f"({','.join(map(constant_key, value))})"
    if isinstance(value, Struct):
        inner = ",".join(f"{n}={constant_key(v)}" for n, v in value.fields.items())
        return f"{_spelled(value.cls)}({inner}):{class_hash(value.cls)}"
    if isinstance(value, type):
        return f"o:{_spelled(value)}:{class_hash(value)}"
    return _plain(value)


def _plain(value: Any) -> str:
    """The same of a constant through which no code is reached."""
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
    if isinstance(value, range):
        return repr(value)
    return f"o:{_spelled(value)}"


def _spelled(value: Any) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}"


def source_hash(source: FunctionSource) -> str:
    """A hash over a function, the helpers it can reach and the values that they capture."""
    return Fingerprint(source).hash


def class_hash(cls: type) -> str:
    """The same over a class, of which an argument is an instance."""
    return Fingerprint(cls).hash


class Fingerprint:
    """Of a function or a class, as they are when it is taken.

    hash    64 hexadecimal digits
    places  (where, name, what was found there), or (a dictionary, name) of what must not come to
            be there: globals and modules as their dictionaries, classes and structures themselves

    A closure's variable has no place: `FunctionSource` takes it once.
    """

    def __init__(self, of: FunctionSource | type):
        self._digest = hashlib.sha256()
        self._pending: list[FunctionSource] = []
        self._functions: set[int] = set()
        self._classes: set[type] = set()
        self._names: set[str] = set()
        self._found: dict[tuple[int, str], tuple] = {}
        self._members: list[tuple[type, str, Any]] = []
        if isinstance(of, type):
            self._class(of.__qualname__, of)
        else:
            self._pending.append(of)
        while self._pending:
            self._function(self._pending.pop())
        self.hash = self._digest.hexdigest()
        for cls, name, value in self._members:
            if name in self._names:
                self._place(cls, name, value)
        self.places = list(self._found.values())

    def _say(self, text: str) -> None:
        self._digest.update(text.encode())

    def _place(self, where: Any, name: str, *value: Any) -> None:
        self._found[id(where), name] = (where, name, *value)

    def _function(self, source: FunctionSource) -> None:
        function = source.function
        if id(function) in self._functions:
            return
        self._functions.add(id(function))
        # The position in the file counts: it is in the locations, which errors at run time show.
        self._say(f"{source.file}:{source.first_line}\n{source.text}")
        for name, annotation in function.__annotations__.items():
            self._say(f"\n{name}:")
            self._annotation(function, annotation)
        for default in function.__defaults__ or ():
            self._value("default", default)
        for name, default in (function.__kwdefaults__ or {}).items():
            self._value(name, default)
        self._names.update(free_names(function.__code__))
        for path in source.free_references():
            self._reach(source, path)

    def _annotation(self, function: types.FunctionType, annotation: Any) -> None:
        """What the types of parameters fix: a text of the source may name them by variables."""
        if isinstance(annotation, str):
            try:
                annotation = evaluated(function, annotation)
            except Exception:  # an error where it is used
                return
        if isinstance(annotation, _SPECS):
            self._say(f"{annotation!r};")
            return
        inner = typing.get_args(annotation)
        if isinstance(annotation, type):
            self._say(f"{_spelled(annotation)};")
            if issubclass(annotation, tuple):
                inner = field_annotations(annotation)
        for each in inner:
            self._annotation(function, each)

    def _reach(self, source: FunctionSource, path: tuple[str, ...]) -> None:
        code, scope, name = source.function.__code__, source.function.__globals__, path[0]
        if name in code.co_varnames:
            return
        try:
            value = source.lookup(name)
            if name in scope and scope[name] is value:
                self._place(scope, name, value)
            elif name not in code.co_freevars:  # a builtin, until somebody defines the name
                self._place(scope, name)
            for attribute in path[1:]:
                if not isinstance(value, types.ModuleType):
                    return
                module, value = value, getattr(value, attribute)
                own = module.__name__.partition(".")[0] != "kiln"
                if own and vars(module).get(attribute) is value:
                    self._place(vars(module), attribute, value)
        except (KeyError, AttributeError):
            return
        self._value(".".join(path), value)

    def _value(self, name: str, value: Any) -> None:
        if isinstance(value, tunable):
            self._say(f"\n{name}={value!r}")
            return
        try:
            constant = as_constant(value)
        except TypeError:
            return  # the kernel cannot use it
        if isinstance(constant, Function):
            self._say(f"\n{name}=function")
            self._pending.append(constant.source)
        elif isinstance(constant, type):
            self._class(name, constant)
        elif isinstance(constant, tuple):
            self._say(f"\n{name}={len(constant)}")
            for i, item in enumerate(value):
                self._value(f"{name}.{i}", item)
        elif isinstance(constant, Struct):
            self._structure(name, value, constant)
        elif not isinstance(constant, types.ModuleType):
            self._say(f"\n{name}={_plain(constant)}")

    def _structure(self, name: str, value: Any, constant: Struct) -> None:
        self._class(name, constant.cls)
        for field in constant.fields:
            if not is_structure(value):
                self._value(f"{name}.{field}", constant.fields[field])
                continue
            item = getattr(value, field)
            if not isinstance(value, tuple):
                self._place(value, field, item)
            self._value(f"{name}.{field}", item)

    def _class(self, name: str, cls: type) -> None:
        """The constants, defaults and methods that a kernel reaches through a class."""
        self._say(f"\n{name}=class {_spelled(cls)}")
        if cls in self._classes:
            return
        self._classes.add(cls)
        for base in cls.__mro__:
            if base.__module__.partition(".")[0] in _NOT_WALKED:
                continue
            for key in [key for key in vars(base) if not key.startswith("__")]:
                try:
                    value = getattr(base, key)  # what a static method or an enum's member is
                except Exception:
                    continue
                if self._follows(base, key, value):
                    self._members.append((base, key, value))
                    self._value(f"{name}.{key}", value)
            for key, value in getattr(base, "_field_defaults", {}).items():
                self._value(f"{name}.{key}", value)

    def _follows(self, cls: type, key: str, value: Any) -> bool:
        if not isinstance(value, type):
            return key not in field_names(cls) or not issubclass(cls, tuple)
        return key in self._names or value.__qualname__ == f"{cls.__qualname__}.{key}"
