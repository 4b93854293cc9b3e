"""Reading and writing memory: tiles at an offset, elements at indices, atomics.

A view of `bool` holds a byte an element: what is read is compared with zero, what is written is
extended.
"""

from __future__ import annotations

from typing import Any

from kiln.frontend.arithmetic.casts import cast, coerce, index_of, widened
from kiln.frontend.arithmetic.promotion import broadcast_shapes
from kiln.frontend.errors import Misuse
from kiln.frontend.syntax.calls import implements
from kiln.frontend.types import TensorType, Type
from kiln.frontend.values import (
    Struct,
    Value,
    as_shape,
    as_view,
    as_word,
    describe,
    is_const_number,
    is_numeric,
    shape_of,
)  # fmt: skip
from kiln.language.dtypes import DType, bool_, i32, i64, u8

_CACHE = ("all", "global", "streaming", "bypass")
_EVICT = ("normal", "first", "last")
_ORDERS = ("relaxed", "acquire", "release", "acq_rel")
_ATOMIC = ("f64", "f32", "f16", "bf16", "i64", "i32", "u64", "u32")
_SCOPES = ("program", "cluster", "device", "system")


def _storage(dtype: DType) -> DType:
    return u8 if dtype.is_bool else dtype


def _hints(cache: Any, evict: Any) -> str:
    out = ""
    if cache is not None:
        out += f" cache = {as_word(cache, _CACHE, 'cache')}"
    if evict is not None:
        out += f" evict = {as_word(evict, _EVICT, 'evict')}"
    return out


def _offsets(c: Any, view: Value, offsets: Any) -> str:
    items = _items(offsets)
    if len(items) != view.type.rank:
        raise Misuse(
            f"expected {view.type.rank} offsets for {describe(view)}, got {len(items)}",
            "one integer scalar for each dimension",
            "offsets",
        )
    return ", ".join(index_of(c.e, item, "offsets").ref for item in items)


def _items(x: Any) -> tuple[Any, ...]:
    if isinstance(x, Struct) and x.unpacks:
        return tuple(x.fields.values())
    return x if isinstance(x, tuple) else (x,)


def _padding(c: Any, pad: Any, dtype: DType) -> Value | None:
    """The padding as a scalar of a dtype; None for zero, which needs no operand. Scales have no
    zero: theirs is 1."""
    if is_const_number(pad):
        if pad == 0 and dtype.name == "f8e8m0fnu":
            return c.e.constant(1.0, dtype)
        if pad == 0 and str(pad) != "-0.0":
            return None
        return c.e.constant(pad, dtype)
    if not (isinstance(pad, Value) and pad.is_scalar):
        raise Misuse(f"expected a number or a scalar, got {describe(pad)}", argument="pad")
    pad = widened(c.e, pad, dtype)
    if pad.dtype is not dtype:
        raise Misuse(
            f"expected a padding of {dtype}, got {describe(pad)}",
            f"a cast: .to(kiln.{dtype})",
            "pad",
        )
    return cast(c.e, pad, _storage(dtype))


def _pad_text(padding: Value | None) -> str:
    return "" if padding is None else f" pad({padding.ref} : {padding.type.ir})"


@implements("load")
def load(c: Any, view: Any, offsets: Any, shape: Any, pad: Any, cache: Any, evict: Any) -> Value:
    e = c.e
    view = as_view(view)
    shape = as_shape(shape)
    if len(shape) != view.type.rank:
        raise Misuse(
            f"expected {view.type.rank} extents for {describe(view)}, got {len(shape)}",
            "extents of 1 stay; reshape removes them",
            "shape",
        )
    at = _offsets(c, view, offsets)
    dtype = _storage(view.dtype)
    padding = _padding(c, pad, dtype if is_const_number(pad) else view.dtype)
    type = TensorType(shape, dtype)
    out = e.value(
        f"tile.load {view.ref}[{at}]{_pad_text(padding)}{_hints(cache, evict)} : "
        f"{view.type.ir} -> {type.ir}",
        type,
    )
    return cast(e, out, view.dtype)


def _stored(c: Any, view: Value, value: Any) -> Any:
    """A value that may be written to a view: a constant, or what its dtype holds."""
    if not is_numeric(value):
        raise Misuse(f"expected a tensor or a scalar, got {describe(value)}", argument="value")
    if not isinstance(value, Value):
        return value
    wide = widened(c.e, value, view.dtype)
    if wide.dtype is not view.dtype:
        raise Misuse(
            f"expected a value of {view.dtype}, got {describe(value)}",
            "a cast: .to(view.dtype)",
            "value",
        )
    return wide


@implements("store")
def store(c: Any, view: Any, offsets: Any, value: Any, cache: Any, evict: Any) -> None:
    e = c.e
    view = as_view(view)
    value = _stored(c, view, value)
    rank = view.type.rank
    if not shape_of(value):
        value = coerce(e, value, (1,) * rank, view.dtype)
    if value.is_scalar:  # of a view without dimensions
        type = TensorType((), view.dtype)
        value = e.value(f"tile.splat {value.ref} : {type.ir}", type)
    if len(value.shape) != rank:
        raise Misuse(
            f"expected a tile of rank {rank} for {describe(view)}, got {describe(value)}",
            "reshape, or x[:, None], to the rank of the view",
            "value",
        )
    at = _offsets(c, view, offsets)
    value = cast(e, value, _storage(view.dtype))
    e.effect(
        f"tile.store {value.ref}, {view.ref}[{at}]{_hints(cache, evict)} : "
        f"{value.type.ir}, {view.type.ir}"
    )


def _indices(c: Any, view: Value, indices: Any, *others: Any) -> tuple[list[Value], tuple]:
    """The index tensors in one shape (with that of other operands), of i32 or i64."""
    items = _items(indices)
    if len(items) != view.type.rank:
        raise Misuse(
            f"expected {view.type.rank} index tensors for {describe(view)}, got {len(items)}",
            "one for each dimension",
            "indices",
        )
    shape: tuple[int, ...] = ()
    for item in items:
        integer = isinstance(item, int) and not isinstance(item, bool)
        if not integer and not (
            isinstance(item, Value) and item.is_numeric and item.dtype.is_integer
        ):
            raise Misuse(f"expected integer tensors, got {describe(item)}", argument="indices")
        shape = broadcast_shapes(shape, shape_of(item))
    for other in others:
        shape = broadcast_shapes(shape, shape_of(other))
    if not shape:
        return [index_of(c.e, item, "indices") for item in items], shape
    return [coerce(c.e, item, shape, _index_dtype(item)) for item in items], shape


def _index_dtype(item: Any) -> DType:
    if not isinstance(item, Value):
        return i32 if -(2**31) <= item < 2**31 else i64
    dtype = item.dtype
    fits = dtype.bits < 32 or dtype is i32
    return i32 if fits else i64


def _mask(c: Any, mask: Any, shape: tuple[int, ...]) -> Value | None:
    if mask is None or mask is True:
        return None
    if isinstance(mask, bool):
        return c.e.constant(mask, bool_, shape)
    if not (isinstance(mask, Value) and mask.is_numeric and mask.dtype.is_bool):
        raise Misuse(f"expected a mask of bools, got {describe(mask)}", "x < n", "mask")
    if broadcast_shapes(mask.shape, shape) != shape:
        raise Misuse(
            f"expected a mask that broadcasts to {'x'.join(map(str, shape))}, got {describe(mask)}",
            argument="mask",
        )
    return coerce(c.e, mask, shape, bool_)


def _mask_text(mask: Value | None) -> str:
    return "" if mask is None else f" mask({mask.ref} : {mask.type.ir})"


def _list(values: list[Value]) -> tuple[str, str]:
    return ", ".join(v.ref for v in values), ", ".join(v.type.ir for v in values)


@implements("gather")
def gather(c: Any, view: Any, indices: Any, mask: Any, pad: Any, cache: Any, evict: Any) -> Value:
    e = c.e
    view = as_view(view)
    at, shape = _indices(c, view, indices, mask)
    if not shape:
        raise Misuse("expected index tensors, got scalars", "view[i] reads one element", "indices")
    chosen = _mask(c, mask, shape)
    dtype = _storage(view.dtype)
    padding = _padding(c, pad, dtype if is_const_number(pad) else view.dtype)
    type = TensorType(shape, dtype)
    refs, types = _list(at)
    out = e.value(
        f"tile.gather {view.ref}[{refs}]{_mask_text(chosen)}{_pad_text(padding)}"
        f"{_hints(cache, evict)} : {view.type.ir}, [{types}] -> {type.ir}",
        type,
    )
    return cast(e, out, view.dtype)


@implements("scatter")
def scatter(c: Any, view: Any, indices: Any, value: Any, mask: Any, cache: Any, evict: Any) -> None:
    e = c.e
    view = as_view(view)
    if view.dtype.storage_bits < 8:
        raise Misuse(
            f"expected a view of elements of at least a byte, got {describe(view)}",
            "view.store(offsets, tile) writes packed elements",
            "view",
        )
    value = _stored(c, view, value)
    at, shape = _indices(c, view, indices, value, mask)
    if not shape:
        raise Misuse("expected index tensors, got scalars", "view[i] = x writes one", "indices")
    value = cast(e, coerce(e, value, shape, view.dtype), _storage(view.dtype))
    chosen = _mask(c, mask, shape)
    refs, types = _list(at)
    e.effect(
        f"tile.scatter {value.ref}, {view.ref}[{refs}]{_mask_text(chosen)}{_hints(cache, evict)} : "
        f"{value.type.ir}, {view.type.ir}, [{types}]"
    )


_KINDS = {
    "add": ("addf", "addi", "addi"), "min": ("minf", "mins", "minu"),
    "max": ("maxf", "maxs", "maxu"), "and": (None, "and", "and"), "or": (None, "or", "or"),
    "xor": (None, "xor", "xor"), "exchange": ("exch", "exch", "exch"),
}  # fmt: skip


def _atomic(word: str):
    def apply(
        c: Any, view: Any, indices: Any, value: Any, mask: Any, order: Any, scope: Any
    ) -> Value:
        e = c.e
        view = _atomic_view(view)
        floating, signed, unsigned = _KINDS[word]
        dtype = view.dtype
        kind = floating if dtype.is_float else signed if dtype.is_signed else unsigned
        if kind is None:
            raise Misuse(f"expected a view of integers, got {describe(view)}", argument="view")
        (value,), at, shape = _operands(c, view, indices, mask, value)
        return _emit_atomic(e, f"tile.atomic_rmw {kind}", view, at, (value,), _mask(c, mask, shape),
                            order, scope)  # fmt: skip

    return apply


for _word in _KINDS:
    implements(f"atomic_{_word}")(_atomic(_word))


@implements("atomic_cas")
def atomic_cas(
    c: Any, view: Any, indices: Any, compare: Any, value: Any, mask: Any, order: Any, scope: Any
) -> Value:
    view = _atomic_view(view)
    values, at, shape = _operands(c, view, indices, mask, compare, value)
    chosen = _mask(c, mask, shape)
    return _emit_atomic(c.e, "tile.atomic_cas", view, at, tuple(values), chosen, order, scope)


def _atomic_view(view: Any) -> Value:
    view = as_view(view)
    if view.dtype.name not in _ATOMIC:
        raise Misuse(
            f"expected a view whose elements can be accessed atomically, got {describe(view)}",
            "elements of " + ", ".join(_ATOMIC),
            "view",
        )
    return view


def _operands(c: Any, view: Value, indices: Any, mask: Any, *values: Any):
    """The operands and the indices of an atomic access in one shape."""
    stored = [_stored(c, view, value) for value in values]
    at, shape = _indices(c, view, indices, mask, *stored)
    return [coerce(c.e, value, shape, view.dtype) for value in stored], at, shape


def _emit_atomic(e, head, view, at, values, mask, order, scope) -> Value:
    refs, types = _list(at)
    order, scope = as_word(order, _ORDERS, "order"), as_word(scope, _SCOPES, "scope")
    type: Type = values[0].type
    return e.value(
        f"{head} {view.ref}[{refs}], {', '.join(v.ref for v in values)}{_mask_text(mask)}"
        f" order = {order} scope = {scope} : {view.type.ir}, [{types}], {type.ir}",
        type,
        effect=True,
    )
