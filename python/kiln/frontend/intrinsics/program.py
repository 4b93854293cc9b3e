"""The grid, compile-time checks, facts, messages, views of pointers."""

from __future__ import annotations

from typing import Any

from kiln.frontend.arithmetic.casts import bool_of, index_of
from kiln.frontend.arithmetic.literals import quoted
from kiln.frontend.arithmetic.operators import ceil_divide
from kiln.frontend.errors import Misuse
from kiln.frontend.syntax.calls import implements
from kiln.frontend.types import PointerType, ViewType
from kiln.frontend.values import (
    Value,
    as_dtype,
    as_flag,
    as_int,
    as_pointer,
    as_text,
    describe,
    has_values,
    is_const_number,
    is_numeric,
    type_of,
)  # fmt: skip
from kiln.language.dtypes import index

_AXES = "xyz"
_INDEX = type_of((), index)


class GridReached(Exception):
    """Ends the compilation of a grid region: the extents that kiln.grid was given."""

    def __init__(self, extents: list[Value]):
        super().__init__("kiln.grid")
        self.extents = extents


@implements("grid")
def grid(c: Any, extents: tuple[Any, ...]) -> Any:
    e = c.e
    if c.grid_call is not e.node:
        raise Misuse(
            "expected kiln.grid once, as a statement of its own at the top level of the kernel",
            "i, j = kiln.grid(m, n)",
        )
    if not 1 <= len(extents) <= 3:
        raise Misuse(f"expected one to three extents, got {len(extents)}")
    if e.host:
        raise GridReached([index_of(e, extent, "extents") for extent in extents])
    for extent in extents:
        if not is_numeric(extent) or isinstance(extent, float):
            raise Misuse(f"expected integer scalars as extents, got {describe(extent)}")
    ids = tuple(_position(e, "program_id", axis) for axis in range(len(extents)))
    return ids[0] if len(ids) == 1 else ids


def _position(e: Any, word: str, axis: int) -> Value:
    if e.host:
        e.refuse_on_host()
    return e.once((word, axis), f"tile.{word} {_AXES[axis]}", _INDEX)


def _axis(axis: Any) -> int:
    if as_int(axis, "axis") not in (0, 1, 2):
        raise Misuse(f"expected an axis of the grid, got {axis}", "0, 1 or 2", "axis")
    return axis


@implements("program_id")
def program_id(c: Any, axis: Any) -> Value:
    return _position(c.e, "program_id", _axis(axis))


@implements("num_programs")
def num_programs(c: Any, axis: Any) -> Value:
    return _position(c.e, "num_programs", _axis(axis))


@implements("cdiv")
def cdiv(c: Any, a: Any, b: Any) -> Any:
    for x, name in ((a, "a"), (b, "b")):
        if not is_numeric(x) or isinstance(x, float):
            raise Misuse(f"expected integers, got {describe(x)}", argument=name)
    if isinstance(a, Value) or isinstance(b, Value):
        return ceil_divide(c.e, a, b)
    if b == 0:
        raise Misuse("expected a divisor that is not zero, got 0", argument="b")
    return -(-a // b)


@implements("static_range")
def static_range(c: Any, start: Any, stop: Any, step: Any) -> range:
    start = as_int(start, "start")
    if stop is None:
        start, stop = 0, start
    step = as_int(step, "step")
    if step == 0:
        raise Misuse("expected a step that is not zero, got 0", argument="step")
    return range(start, as_int(stop, "stop"), step)


@implements("static_assert")
def static_assert(c: Any, condition: Any, message: Any) -> None:
    if has_values(condition):
        raise Misuse(
            f"expected a constant condition, got {describe(condition)}",
            "kiln.device_assert checks when the kernel runs",
            "condition",
        )
    if not condition:
        text = str(c.printable(message))
        raise Misuse(f"static assertion failed{': ' + text if text else ''}")


@implements("static_print")
def static_print(c: Any, values: tuple[Any, ...]) -> None:
    c.messages.append(" ".join(str(c.printable(value)) for value in values))


@implements("assume")
def assume(c: Any, condition: Any) -> None:
    if not has_values(condition):
        if not condition:
            raise Misuse("expected a condition that can hold, got a constant that is false")
        return
    c.e.effect(f"tile.assume {bool_of(c.e, condition, 'condition').ref}")


@implements("multiple_of")
def multiple_of(c: Any, value: Any, divisor: Any) -> Any:
    divisor = as_int(divisor, "divisor")
    if divisor < 1:
        raise Misuse(f"expected a divisor of at least 1, got {divisor}", argument="divisor")
    if isinstance(value, int) and not isinstance(value, bool):
        if value % divisor:
            raise Misuse(f"expected a multiple of {divisor}, got {value}", argument="value")
        return value
    if not (isinstance(value, Value) and value.is_scalar and value.dtype.is_integer):
        raise Misuse(f"expected an integer scalar, got {describe(value)}", argument="value")
    text = f"tile.multiple_of {value.ref}, {divisor} : {value.type.ir}"
    return c.e.value(text, value.type)


@implements("device_print")
def device_print(c: Any, prefix: Any, values: tuple[Any, ...], hex: Any) -> None:
    e = c.e
    prefix = quoted(as_text(prefix, "prefix"))
    flag = " hex" if as_flag(hex, "hex") else ""
    shown = []
    for value in values:
        if is_const_number(value):
            value = c.intrinsic("full", [(), value], {})
        if not (isinstance(value, Value) and value.is_numeric):
            raise Misuse(f"expected scalars and tensors to print, got {describe(value)}")
        shown.append(value)
    groups = [shown] if len({v.dtype.kind == "uint" for v in shown}) < 2 else [[v] for v in shown]
    for group in groups:
        unsigned = " unsigned" if group and group[0].dtype.kind == "uint" else ""
        names = ", ".join(v.ref for v in group)
        types = ", ".join(v.type.ir for v in group)
        operands = f" ({names}) : {types}" if group else ""
        e.effect(f"tile.print {prefix}{flag}{unsigned}{operands}")


@implements("device_assert")
def device_assert(c: Any, condition: Any, message: Any) -> None:
    e = c.e
    text = quoted(as_text(message, "message"))
    if isinstance(condition, Value) and condition.is_tensor:
        if not condition.dtype.is_bool:
            raise Misuse(f"expected bools, got {describe(condition)}", "x != 0", "condition")
    else:
        condition = bool_of(e, condition, "condition")
    e.effect(f"tile.assert {condition.ref}, {text} : {condition.type.ir}")


@implements("pointer")
def pointer(c: Any, address: Any, dtype: Any) -> Value:
    dtype = as_dtype(dtype)
    if dtype.name in ("tf32", "index"):
        raise Misuse(
            f"expected a dtype that memory holds, got {dtype}",
            "kiln.f32" if dtype.is_float else "kiln.i64",
            "dtype",
        )
    at = index_of(c.e, address, "address")
    c.from_addresses = True
    type = PointerType(dtype)
    return c.e.value(f"tile.pointer_from_address {at.ref} : {type.ir}", type)


@implements("view")
def view(c: Any, memory: Any, shape: Any, strides: Any, dtype: Any) -> Value:
    e = c.e
    if dtype is not None:
        memory = pointer(c, memory, dtype)
    start = as_pointer(memory)
    extents = _sizes(shape, "shape")
    if strides is None:
        strides = [1] * len(extents)
        for dim in range(len(extents) - 2, -1, -1):
            strides[dim] = _times(c, strides[dim + 1], extents[dim + 1])
    strides = _sizes(tuple(strides) if isinstance(strides, list) else strides, "strides")
    if len(strides) != len(extents):
        raise Misuse(f"expected {len(extents)} strides, got {len(strides)}", argument="strides")
    for extent in extents:
        if isinstance(extent, int) and extent < 0:
            raise Misuse(f"expected extents of at least 0, got {extent}", argument="shape")
    type = ViewType(
        start.dtype,
        tuple(x if isinstance(x, int) else None for x in extents),
        tuple(x if isinstance(x, int) else None for x in strides),
    )
    sizes = tuple(x if isinstance(x, int) else index_of(e, x, "shape") for x in extents)
    steps = tuple(x if isinstance(x, int) else index_of(e, x, "strides") for x in strides)
    texts = [", ".join(v.ref for v in group if isinstance(v, Value)) for group in (sizes, steps)]
    made = e.value(
        f"tile.view_from_pointer {start.ref} extents [{texts[0]}] strides [{texts[1]}] : "
        f"{start.type.ir} -> {type.ir}",
        type,
    )
    return Value(made.ref, type, sizes, steps)


def _times(c: Any, a: Any, b: Any) -> Any:
    return c.binary("*", a, b)


def _sizes(x: Any, argument: str) -> tuple[Any, ...]:
    items = x if isinstance(x, tuple) else (x,)
    for item in items:
        if isinstance(item, bool) or not (
            isinstance(item, int)
            or (isinstance(item, Value) and item.is_scalar and item.dtype.is_integer)
        ):
            raise Misuse(
                f"expected a tuple of integer scalars, got {describe(item)}", argument=argument
            )
    return items
