"""Values taken apart into what exists when the kernel runs, and put together again.

Branches and loops choose between, and carry, numbers: the leaves of a value. The skeleton says
where they belong. A view's leaves are itself, for which its address stands when it is carried, then
its extents and strides; a pointer's leaf is itself likewise.
"""

from __future__ import annotations

from typing import Any

from kiln.frontend.emitter import Emitter
from kiln.frontend.types import PointerType
from kiln.frontend.values import Number, Struct, Value
from kiln.frontend.views import bounds_of, chosen_pointer, chosen_view, view_strides


class Fixed(int):
    """An extent or a stride that is a constant. A loop keeps it one where it can."""


class Shape:
    """The skeleton of a value: where its run-time leaves sit, and what is constant in it."""

    __slots__ = ("children", "kind", "payload")

    def __init__(self, kind: str, payload: Any = None, children: tuple[Shape, ...] = ()):
        self.kind = kind
        self.payload = payload
        self.children = children

    def __eq__(self, other) -> bool:
        return (
            isinstance(other, Shape)
            and self.kind == other.kind
            and (self.payload is other.payload or self.payload == other.payload)
            and self.children == other.children
        )

    __hash__ = None


_LEAF = Shape("leaf")


def is_memory(x: Any) -> bool:
    """Whether something is a view or a pointer."""
    return isinstance(x, Value) and (x.is_view or isinstance(x.type, PointerType))


def flatten(e: Emitter, value: Any, leaves: list[Any]) -> Shape:
    """Appends the leaves of a value (run-time values and numbers) and gives its skeleton."""
    if isinstance(value, Value) and value.is_view:
        sizes = (*bounds_of(e, value), *view_strides(e, value))
        leaves.append(value)
        leaves += [Fixed(size) if isinstance(size, int) else size for size in sizes]
        return Shape("view", (value.dtype, value.type.rank))
    if is_memory(value):
        leaves.append(value)
        return Shape("pointer", value.dtype)
    if isinstance(value, (Value, *Number)):
        leaves.append(value)
        return _LEAF
    if isinstance(value, tuple):
        return Shape("tuple", len(value), tuple(flatten(e, v, leaves) for v in value))
    if isinstance(value, Struct):
        children = tuple(flatten(e, v, leaves) for v in value.fields.values())
        return Shape("struct", (value.cls, tuple(value.fields)), children)
    return Shape("constant", value)


def unflatten(e: Emitter, skeleton: Shape, leaves: list[Any]) -> Any:
    """Builds a value of a skeleton from the front of `leaves`, which is consumed."""
    if skeleton.kind == "leaf":
        return leaves.pop(0)
    if skeleton.kind == "view":
        dtype, rank = skeleton.payload
        parts = [leaves.pop(0) for _ in range(1 + 2 * rank)]
        if is_memory(parts[0]):
            return parts[0]
        sizes = [int(part) if isinstance(part, Fixed) else part for part in parts[1:]]
        return chosen_view(e, parts[0], dtype, tuple(sizes[:rank]), tuple(sizes[rank:]))
    if skeleton.kind == "pointer":
        leaf = leaves.pop(0)
        return leaf if is_memory(leaf) else chosen_pointer(e, leaf, skeleton.payload)
    if skeleton.kind == "tuple":
        return tuple(unflatten(e, child, leaves) for child in skeleton.children)
    if skeleton.kind == "struct":
        cls, names = skeleton.payload
        return Struct(
            cls,
            {n: unflatten(e, c, leaves) for n, c in zip(names, skeleton.children, strict=False)},
        )
    return skeleton.payload
