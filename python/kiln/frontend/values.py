"""What a name can stand for while a kernel is compiled.

A Python int, float, bool, string, None, dtype, range or slice stands for itself: a constant.
A Python tuple holds such things. Everything that exists only when the kernel runs is a `Value`;
functions are `kiln.function` objects, intrinsics, closures and bound methods.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kiln.frontend.errors import Misuse
from kiln.frontend.types import PointerType, ScalarType, TensorType, Type, ViewType
from kiln.language.dtypes import DType

Number = (bool, int, float)


class Value:
    """A result of an emitted operation: its name in the text, and its type.

    A view that was made inside the kernel also knows the scalars that are its extents and
    strides (`extents`, `strides`), so that no operation is needed to ask for them.

    A `weak` scalar was made of Python numbers alone, by an `if` that chose between them or a loop
    that counted: like them it takes the dtype of what it meets. Until then its own dtype holds it.
    Where it is one of few numbers, `weak` is the tuple of them, so that one that a dtype cannot
    hold is an error, as it is alone. A tensor that `where` made of numbers has such a tuple too,
    which stores ask for.
    """

    __slots__ = ("extents", "ref", "strides", "type", "weak")

    def __init__(
        self,
        ref: str,
        type: Type,
        extents: tuple = (),
        strides: tuple = (),
        weak: bool | tuple[int | float, ...] = False,
    ):
        self.ref = ref
        self.type = type
        self.extents = extents
        self.strides = strides
        self.weak = weak

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.type.shape if isinstance(self.type, TensorType) else ()

    @property
    def is_tensor(self) -> bool:
        return isinstance(self.type, TensorType)

    @property
    def is_scalar(self) -> bool:
        return isinstance(self.type, ScalarType)

    @property
    def is_view(self) -> bool:
        return isinstance(self.type, ViewType)

    @property
    def is_numeric(self) -> bool:
        return isinstance(self.type, (ScalarType, TensorType))


@dataclass(frozen=True)
class Undefined:
    """A name that has no value here, and why."""

    reason: str


class Struct:
    """An instance of a NamedTuple or a dataclass: its class and its fields."""

    __slots__ = ("cls", "fields")

    def __init__(self, cls: type, fields: dict[str, Any]):
        self.cls = cls
        self.fields = fields

    @property
    def unpacks(self) -> bool:
        return issubclass(self.cls, tuple)


@dataclass(frozen=True)
class Closure:
    """A lambda or a nested function, with the frame whose names it sees."""

    name: str
    tree: ast.Lambda | ast.FunctionDef
    frame: Any
    defaults: dict[str, Any]


@dataclass(frozen=True)
class BoundMethod:
    """An attribute that is called with the object before the dot as its first argument."""

    function: Any
    receiver: Any
    name: str


@lru_cache(maxsize=4096)
def type_of(shape: tuple[int, ...], dtype: DType) -> Type:
    """The type of a tile of a shape, or of a scalar for ()."""
    return TensorType(shape, dtype) if shape else ScalarType(dtype)


def is_const_number(x: Any) -> bool:
    return isinstance(x, Number)


def is_weak(x: Any) -> bool:
    """Whether something is a number without a dtype of its own: a constant, or a weak scalar."""
    return isinstance(x, Number) or (isinstance(x, Value) and x.is_scalar and bool(x.weak))


def as_weak(x: Value, *operands: Any) -> Value:
    """A scalar, weak if all that it was made of is."""
    weak = x.is_scalar and not x.dtype.is_bool and all(map(is_weak, operands))
    return Value(x.ref, x.type, weak=True) if weak else x


MAX_CHOICES = 16


def choices(*operands: Any) -> bool | tuple[int | float, ...]:
    """How weak something is that is one of the operands, which are weak all."""
    out: list[int | float] = []
    for x in operands:
        known = (x,) if isinstance(x, Number) else x.weak
        if not isinstance(known, tuple):
            return True
        out += known
    return tuple(out) if len(out) <= MAX_CHOICES else True


def is_numeric(x: Any) -> bool:
    """Whether something is a number, a scalar or a tensor."""
    return isinstance(x, Number) or (isinstance(x, Value) and x.is_numeric)


def shape_of(x: Any) -> tuple[int, ...]:
    return x.shape if isinstance(x, Value) else ()


def describe(x: Any) -> str:
    """What something is, for an error."""
    if isinstance(x, Value):
        return f"a {x.type}" if not str(x.type).startswith(("i", "8")) else f"an {x.type}"
    if isinstance(x, bool) or x is None or isinstance(x, (int, float, str)):
        return f"the constant {x!r}"
    if isinstance(x, tuple):
        return f"a tuple of {len(x)}"
    if isinstance(x, Struct):
        return f"a {x.cls.__name__}"
    if isinstance(x, DType):
        return f"the dtype {x}"
    if isinstance(x, Undefined):
        return "a name without a value"
    if isinstance(x, (Closure, BoundMethod)):
        return f"the function {x.name}"
    name = getattr(x, "__kiln_intrinsic__", None)
    if name:
        return f"the function kiln.{name}"
    return f"{x!r}" if callable(x) else f"a {type(x).__name__}"


def has_values(x: Any) -> bool:
    """Whether anything in it exists only at run time."""
    if isinstance(x, tuple):
        return any(map(has_values, x))
    if isinstance(x, Struct):
        return any(map(has_values, x.fields.values()))
    return isinstance(x, Value)


def as_dtype(x: Any, argument: str = "dtype") -> DType:
    if not isinstance(x, DType):
        raise Misuse(
            f"expected a dtype, got {describe(x)}", "kiln.f32, kiln.bf16, kiln.i32, ...", argument
        )
    return x


def access_of(x: Any) -> str | None:
    """How a kernel reads the memory of something that is no number itself, for an error."""
    if not isinstance(x, Value):
        return None
    if x.is_view:
        return (
            "view.load(offsets, shape) reads a tile, view.gather(indices) single elements, view[i] "
            "one"
        )
    if isinstance(x.type, PointerType):
        return (
            "kiln.view(pointer, shape) makes a view: its .load(offsets, shape) reads a tile, "
            ".gather(indices) single elements"
        )
    return None


def as_tensor(x: Any, argument: str) -> Value:
    if not (isinstance(x, Value) and x.is_tensor):
        raise Misuse(f"expected a tensor, got {describe(x)}", access_of(x), argument)
    return x


def as_int(x: Any, argument: str) -> int:
    """A constant integer."""
    if isinstance(x, bool) or not isinstance(x, int):
        raise Misuse(
            f"expected a constant int for `{argument}`, got {describe(x)}",
            "an int, a kiln.constexpr or a kiln.tunable",
            argument,
        )
    return x


def as_flag(x: Any, argument: str) -> bool:
    if not isinstance(x, bool):
        raise Misuse(
            f"expected a constant bool for `{argument}`, got {describe(x)}",
            "True or False",
            argument,
        )
    return x


class TypeText(str):
    """What an f-string gives that holds run-time values: their types stand for them."""

    __slots__ = ()


def as_text(x: Any, argument: str) -> str:
    if isinstance(x, TypeText):
        raise Misuse(
            f"expected a constant string for `{argument}`, got one with run-time values",
            'kiln.device_print("x", x) prints values',
            argument,
        )
    if not isinstance(x, str):
        raise Misuse(
            f"expected a constant string for `{argument}`, got {describe(x)}", argument=argument
        )
    return x


MAX_ELEMENTS = 1 << 24


def as_shape(x: Any, argument: str = "shape") -> tuple[int, ...]:
    """A tuple of constant extents."""
    if is_numeric(x) and not isinstance(x, bool):
        x = (x,)
    if isinstance(x, Struct) and x.unpacks:
        x = tuple(x.fields.values())
    if not isinstance(x, tuple):
        raise Misuse(f"expected a tuple of constant extents, got {describe(x)}", argument=argument)
    size = 1
    for extent in x:
        if isinstance(extent, bool) or not isinstance(extent, int):
            raise Misuse(
                f"expected constant extents, got {describe(extent)}",
                "ints, kiln.constexpr and kiln.tunable parameters: a tile's shape is static",
                argument,
            )
        if extent < 1:
            raise Misuse(f"expected extents of at least 1, got {extent}", argument=argument)
        size *= extent
    if size > MAX_ELEMENTS:
        raise Misuse(
            f"expected a tile of at most {MAX_ELEMENTS} elements, got {size}", argument=argument
        )
    return x


def as_axis(x: Any, rank: int, argument: str = "axis") -> int:
    axis = as_int(x, argument)
    if not -rank <= axis < rank:
        raise Misuse(
            f"expected an axis of a tensor of rank {rank}, got {axis}",
            f"{-rank} to {rank - 1}",
            argument,
        )
    return axis % rank


def as_axes(x: Any, rank: int, argument: str = "axis") -> tuple[int, ...]:
    """The axes that one axis, a tuple of them or None (all) means, ascending."""
    if x is None:
        return tuple(range(rank))
    items = x if isinstance(x, tuple) else (x,)
    axes = tuple(sorted(as_axis(item, rank, argument) for item in items))
    if not axes or len(set(axes)) != len(axes):
        raise Misuse(f"expected different axes, got {x}", argument=argument)
    return axes


def as_pointer(x: Any, argument: str = "pointer") -> Value:
    if not (isinstance(x, Value) and isinstance(x.type, PointerType)):
        raise Misuse(
            f"expected a pointer, got {describe(x)}",
            "a kiln.Pointer[dtype] parameter, or an address as an integer with `dtype=`",
            argument,
        )
    return x


def as_view(x: Any, argument: str = "view") -> Value:
    if not (isinstance(x, Value) and x.is_view):
        raise Misuse(f"expected a view, got {describe(x)}", access_of(x), argument)
    return x


def as_word(x: Any, words: tuple[str, ...], argument: str) -> str:
    if x not in words:
        raise Misuse(
            f"expected one of a few words for `{argument}`, got {describe(x)}",
            ", ".join(f'"{w}"' for w in words),
            argument,
        )
    return x
