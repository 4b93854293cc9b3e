"""Kernels and helpers in pickles: by name where others can import it, else with all they need.

A Python function is pickled by its name, which says nothing of a kernel that a factory, a notebook
or a `__main__` script made. Such a function travels as its code, its source for the errors and the
front end, its defaults, what it closes over, and the globals that it names. The other side is the
same version of Python.
"""

from __future__ import annotations

import hashlib
import importlib
import linecache
import marshal
import pickle
import re
import sys
import types
from typing import Any

from kiln.frontend.source import FunctionSource, free_names

_MODULE, _VALUE = "module", "value"


def find(module: str | None, name: str) -> Any:
    """What stands under a dotted name in a module, or None."""
    try:
        value = importlib.import_module(module or "")
        for part in name.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError, ValueError):
        return None
    return value


def is_found(value: Any, function: types.FunctionType) -> bool:
    """Whether the name of a function leads to `value`, in a module that others can import."""
    module = function.__module__
    if value is None or module in (None, "__main__", "__mp_main__") or module not in sys.modules:
        return False
    return find(module, function.__qualname__) is value


def packed(function: types.FunctionType) -> dict[str, Any]:
    """A function as what can be pickled."""
    source = FunctionSource(function)
    code = function.__code__
    scope = function.__globals__
    return {
        "python": sys.version_info[:2],
        "code": marshal.dumps(code),
        "names": (function.__name__, function.__qualname__, function.__module__),
        "source": (source.file, source.first_line, source.text),
        "defaults": (function.__defaults__, function.__kwdefaults__, function.__doc__),
        "annotations": _kept(function.__annotations__),
        "closure": _kept(_closure_of(function)),
        "globals": _kept({name: scope[name] for name in _globals_of(function) if name in scope}),
    }


def unpacked(content: dict[str, Any]) -> types.FunctionType:
    """The function again."""
    if content["python"] != sys.version_info[:2]:
        here, there = (".".join(map(str, v)) for v in (sys.version_info[:2], content["python"]))
        raise pickle.UnpicklingError(
            f"expected a kernel that Python {here} pickled, got one of Python {there}"
        )
    code = marshal.loads(content["code"])
    name, qualname, module = content["names"]
    scope = {"__builtins__": __builtins__, "__name__": module, **_values(content["globals"])}
    closure = _values(content["closure"])
    cells = tuple(
        types.CellType(closure[free]) if free in closure else types.CellType()
        for free in code.co_freevars
    )
    code = code.replace(co_filename=_file_with(*content["source"]))
    made = types.FunctionType(code, scope, name, None, cells)
    made.__qualname__, made.__module__ = qualname, module
    made.__defaults__, made.__kwdefaults__, made.__doc__ = content["defaults"]
    made.__annotations__ = _values(content["annotations"])
    return made


def _closure_of(function: types.FunctionType) -> dict[str, Any]:
    out = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            out[name] = cell.cell_contents
        except ValueError:  # a name that has no value yet
            continue
    return out


def _globals_of(function: types.FunctionType) -> set[str]:
    """The names outside of a function that its code and its annotations may refer to."""
    names = set(free_names(function.__code__))
    for annotation in function.__annotations__.values():
        if isinstance(annotation, str):
            names.update(re.findall(r"[^\W\d]\w*", annotation))
    return names


def _kept(values: dict[str, Any]) -> dict[str, tuple[str, Any]]:
    """Those values that can be pickled; modules by their names. A kernel that reads another says
    on the other side that it is not defined."""
    out: dict[str, tuple[str, Any]] = {}
    for name, value in values.items():
        if isinstance(value, types.ModuleType):
            out[name] = (_MODULE, value.__name__)
            continue
        try:
            out[name] = (_VALUE, pickle.dumps(value))
        except Exception:  # whatever an object's own code raises
            continue
    return out


def _values(kept: dict[str, tuple[str, Any]]) -> dict[str, Any]:
    return {
        name: importlib.import_module(value) if kind == _MODULE else pickle.loads(value)
        for name, (kind, value) in kept.items()
    }


def _file_with(file: str, first: int, text: str) -> str:
    """A file that holds the source at its line: the same one if it is there, else one that only
    `linecache` knows."""
    lines = text.splitlines(keepends=True)
    if linecache.getlines(file)[first - 1 : first - 1 + len(lines)] == lines:
        return file
    digest = hashlib.sha256(f"{file}:{first}\n{text}".encode()).hexdigest()[:12]
    name = f"<{file} {digest}>"
    padded = ["\n"] * (first - 1) + lines
    linecache.cache[name] = (sum(map(len, padded)), None, padded, name)
    return name
