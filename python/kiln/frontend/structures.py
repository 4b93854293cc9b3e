"""Arguments that hold several arrays, or none: tuples, lists, NamedTuples and None.

The structure of an argument is what is known of it when a kernel is compiled:

    LEAF                   an array, a pointer or a number
    None                   nothing: an optional argument that was left out
    (class, structures)    a tuple or a list, and the structures of what it holds; the class is
                           `tuple`, or that of a NamedTuple

A kernel is compiled for the leaves, each an argument of its own that is named after its place,
`xs[0]` or `layer.weight`; in the source the argument is a tuple, a structure or None again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kiln.frontend.fingerprint import class_hash
from kiln.frontend.values import Struct

LEAF = "leaf"
MAX_DEPTH = 16


def is_structured(value: Any) -> bool:
    """Whether a value is more or less than one argument."""
    return value is None or isinstance(value, (tuple, list))


def structure_of(value: Any, depth: int = 0) -> Any:
    """The structure of an argument; hashable. Raises ValueError where it is too deep."""
    if value is None:
        return None
    if not isinstance(value, (tuple, list)):
        return LEAF
    if depth > MAX_DEPTH:
        raise ValueError(f"expected tuples and lists at most {MAX_DEPTH} deep, got deeper ones")
    cls = type(value) if hasattr(type(value), "_fields") else tuple
    return cls, tuple(structure_of(item, depth + 1) for item in value)


def structure_key(structure: Any) -> str:
    """A text that is the same for two structures exactly when they compile to the same code."""
    if not isinstance(structure, tuple):
        return str(structure)
    cls, items = structure
    inner = ",".join(map(structure_key, items))
    return f"({inner})" if cls is tuple else f"{class_hash(cls)}({inner})"


def leaves_of(value: Any) -> Iterator[Any]:
    """The arrays and numbers of an argument, in order."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from leaves_of(item)
    elif value is not None:
        yield value


def items_of(name: str, structure: Any) -> list[tuple[str, Any]]:
    """The names and the structures of what a tuple holds."""
    cls, items = structure
    if cls is tuple:
        return [(f"{name}[{i}]", item) for i, item in enumerate(items)]
    return [(f"{name}.{field}", item) for field, item in zip(cls._fields, items, strict=True)]


def leaf_names(name: str, structure: Any) -> list[str]:
    """What the leaves of an argument are called."""
    if structure is None:
        return []
    if structure == LEAF:
        return [name]
    return [leaf for inner, item in items_of(name, structure) for leaf in leaf_names(inner, item)]


def rebuilt(structure: Any, leaves: Iterator[Any]) -> Any:
    """The argument in the source, over something for each leaf."""
    if structure is None:
        return None
    if structure == LEAF:
        return next(leaves)
    cls, items = structure
    values = tuple(rebuilt(item, leaves) for item in items)
    return values if cls is tuple else Struct(cls, dict(zip(cls._fields, values, strict=True)))


def named_leaves(name: str, value: Any) -> list[tuple[str, Any]]:
    """The names and the values of the leaves of what `rebuilt` gave."""
    if value is None:
        return []
    if isinstance(value, tuple):
        pairs = [(f"{name}[{i}]", item) for i, item in enumerate(value)]
    elif isinstance(value, Struct):
        pairs = [(f"{name}.{field}", item) for field, item in value.fields.items()]
    else:
        return [(name, value)]
    return [leaf for inner, item in pairs for leaf in named_leaves(inner, item)]


def mapped(value: Any, function: Any) -> Any:
    """What `rebuilt` gave, with a function applied to each leaf."""
    if value is None:
        return None
    if isinstance(value, tuple):
        return tuple(mapped(item, function) for item in value)
    if isinstance(value, Struct):
        return Struct(value.cls, {n: mapped(v, function) for n, v in value.fields.items()})
    return function(value)
