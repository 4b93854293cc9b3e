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
from kiln.frontend.syntax.subscripts import reshape as to_shape
from kiln.frontend.syntax.subscripts import take
from kiln.frontend.types import TensorType, Type
from kiln.frontend.values import (
    Struct,
    Value,
    access_of,
    as_axis,
    as_shape,
    as_tensor,
    as_view,
    as_word,
    describe,
    is_const_number,
    is_numeric,
    shape_of,
)  # fmt: skip
from kiln.frontend.views import reached, spread_items, spread_shape
from kiln.language.dtypes import DType, bool_, i32, i64, u8

Places = tuple[tuple[str, Any], ...] | None
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


def _offsets(c: Any, view: Value, places: Places, offsets: Any) -> str:
    """The offsets in the view that an access goes to."""
    items = _items(offsets)
    if len(items) != view.type.rank:
        raise Misuse(
            f"expected {view.type.rank} offsets for {describe(view)}, got {len(items)}",
            "one integer scalar for each dimension",
            "offsets",
        )
    items = spread_items(places, items)
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
def load(
    c: Any, view: Any, offsets: Any, shape: Any, pad: Any, cache: Any, evict: Any, squeeze: Any
) -> Value:
    e = c.e
    view = as_view(view)
    shape = as_shape(shape)
    if len(shape) != view.type.rank:
        raise Misuse(
            f"expected {view.type.rank} extents for {describe(view)}, got {len(shape)}",
            "extents of 1 stay unless squeeze=True drops them",
            "shape",
        )
    left = _squeezed(shape, squeeze)
    whole, places = reached(view)
    at = _offsets(c, view, places, offsets)
    dtype = _storage(view.dtype)
    padding = _padding(c, pad, dtype if is_const_number(pad) else view.dtype)
    type = TensorType(spread_shape(places, shape), dtype)
    out = e.value(
        f"tile.load {whole.ref}[{at}]{_pad_text(padding)}{_hints(cache, evict)} : "
        f"{whole.type.ir} -> {type.ir}",
        type,
    )
    return cast(e, to_shape(e, out, left), view.dtype)


def _squeezed(shape: tuple[int, ...], squeeze: Any) -> tuple[int, ...]:
    """A shape without the dimensions that are dropped."""
    if squeeze is False:
        return shape
    if squeeze is True:
        return tuple(n for n in shape if n != 1)
    items = squeeze if isinstance(squeeze, tuple) else (squeeze,)
    axes = [as_axis(item, len(shape), "squeeze") for item in items]
    for axis in axes:
        if shape[axis] != 1:
            raise Misuse(
                f"expected dimensions of extent 1, got {shape[axis]} in dimension {axis}",
                argument="squeeze",
            )
    return tuple(n for dim, n in enumerate(shape) if dim not in axes)


def _stored(c: Any, view: Value, value: Any) -> Any:
    """A value that may be written to a view: a constant, or what its dtype holds."""
    if not is_numeric(value):
        raise Misuse(
            f"expected a tensor or a scalar, got {describe(value)}", access_of(value), "value"
        )
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
    whole, places = reached(view)
    at = _offsets(c, view, places, offsets)
    value = cast(e, value, _storage(view.dtype))
    value = to_shape(e, value, spread_shape(places, value.shape))
    e.effect(
        f"tile.store {value.ref}, {whole.ref}[{at}]{_hints(cache, evict)} : "
        f"{value.type.ir}, {whole.type.ir}"
    )


def _indices(
    c: Any, view: Value, indices: Any, *others: Any
) -> tuple[Value, list[Value], tuple[int, ...]]:
    """The view that an access goes to, and its index tensors in one shape (with that of other
    operands), of i32 or i64."""
    items = _items(indices)
    if len(items) != view.type.rank:
        raise Misuse(
            f"expected {view.type.rank} index tensors for {describe(view)}, got {len(items)}",
            "one for each dimension",
            "indices",
        )
    whole, places = reached(view)
    items = spread_items(places, items)
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
        return whole, [index_of(c.e, item, "indices") for item in items], shape
    return whole, [coerce(c.e, item, shape, _index_dtype(item)) for item in items], shape


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
def gather(
    c: Any, view: Any, indices: Any, mask: Any, pad: Any, cache: Any, evict: Any, axis: Any
) -> Value:
    e = c.e
    if isinstance(view, Value) and view.is_tensor:
        if isinstance(mask, int) and axis is None:
            mask, axis = None, mask  # kiln.gather(tile, indices, axis)
        return _take(c, view, indices, mask, pad, axis)
    view = as_view(view)
    if axis is not None:
        raise Misuse("expected no axis for a view, got one", "indices, one a dimension", "axis")
    whole, at, shape = _indices(c, view, indices, mask)
    if not shape:
        raise Misuse("expected index tensors, got scalars", "view[i] reads one element", "indices")
    chosen = _mask(c, mask, shape)
    dtype = _storage(view.dtype)
    padding = _padding(c, pad, dtype if is_const_number(pad) else view.dtype)
    type = TensorType(shape, dtype)
    refs, types = _list(at)
    out = e.value(
        f"tile.gather {whole.ref}[{refs}]{_mask_text(chosen)}{_pad_text(padding)}"
        f"{_hints(cache, evict)} : {whole.type.ir}, [{types}] -> {type.ir}",
        type,
    )
    return cast(e, out, view.dtype)


def _take(c: Any, x: Value, indices: Any, mask: Any, pad: Any, axis: Any) -> Value:
    """Elements of a tile at positions along an axis."""
    e = c.e
    indices = as_tensor(indices, "indices")
    if not indices.dtype.is_integer:
        raise Misuse(f"expected integers, got {describe(indices)}", argument="indices")
    rank = len(x.shape)
    if len(indices.shape) != rank:
        raise Misuse(
            f"expected indices of rank {rank}, as {describe(x)} has, got {describe(indices)}",
            "indices[:, None] and the like; extents of 1 repeat along the other dimensions",
            "indices",
        )
    if axis is None and rank > 1:
        raise Misuse("expected an axis to take along, got none", "gather(x, indices, 1)", "axis")
    axis = as_axis(0 if axis is None else axis, rank)
    around = broadcast_shapes(
        (*x.shape[:axis], 1, *x.shape[axis + 1 :]),
        (*indices.shape[:axis], 1, *indices.shape[axis + 1 :]),
    )
    shape = (*around[:axis], indices.shape[axis], *around[axis + 1 :])
    x = coerce(e, x, (*around[:axis], x.shape[axis], *around[axis + 1 :]), x.dtype)
    extent = x.shape[axis]
    positions = coerce(e, indices, shape, _index_dtype(indices))
    if positions.dtype is i64:
        # What 32 bits do not hold is outside as well.
        positions = cast(e, e.binary("arith.minui", positions, e.constant(extent, i64, shape)), i32)
    out = take(e, x, positions, axis)
    chosen = _mask(c, mask, shape)
    if chosen is None and is_const_number(pad) and pad == 0 and str(pad) != "-0.0":
        return out
    limit = e.constant(extent, i32, shape)
    valid = e.compare("arith.cmpi", "ult", positions, limit)
    if chosen is not None:
        valid = e.binary("arith.andi", valid, chosen)
    return e.select(valid, out, coerce(e, pad, shape, x.dtype))


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
    whole, at, shape = _indices(c, view, indices, value, mask)
    if not shape:
        raise Misuse("expected index tensors, got scalars", "view[i] = x writes one", "indices")
    value = cast(e, coerce(e, value, shape, view.dtype), _storage(view.dtype))
    chosen = _mask(c, mask, shape)
    refs, types = _list(at)
    e.effect(
        f"tile.scatter {value.ref}, {whole.ref}[{refs}]{_mask_text(chosen)}"
        f"{_hints(cache, evict)} : {value.type.ir}, {whole.type.ir}, [{types}]"
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
        (value,), whole, at, shape = _operands(c, view, indices, mask, value)
        chosen = _mask(c, mask, shape)
        head = f"tile.atomic_rmw {kind}"
        return _emit_atomic(e, head, whole, at, (value,), chosen, order, scope)

    return apply


for _word in _KINDS:
    implements(f"atomic_{_word}")(_atomic(_word))


@implements("atomic_cas")
def atomic_cas(
    c: Any, view: Any, indices: Any, compare: Any, value: Any, mask: Any, order: Any, scope: Any
) -> Value:
    view = _atomic_view(view)
    values, whole, at, shape = _operands(c, view, indices, mask, compare, value)
    chosen = _mask(c, mask, shape)
    return _emit_atomic(c.e, "tile.atomic_cas", whole, at, tuple(values), chosen, order, scope)


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
    whole, at, shape = _indices(c, view, indices, mask, *stored)
    return [coerce(c.e, value, shape, view.dtype) for value in stored], whole, at, shape


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
