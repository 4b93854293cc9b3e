"""Square brackets: elements of tuples, dimensions and slices of tensors, elements of views."""

from __future__ import annotations

from typing import Any

from kiln.frontend.arithmetic.casts import coerce, widened
from kiln.frontend.errors import Misuse
from kiln.frontend.types import TensorType
from kiln.frontend.values import Struct, Value, describe, type_of


def subscript(c: Any, value: Any, key: Any) -> Any:
    """`value[key]`. `c` is the compiler."""
    if isinstance(value, Struct) and value.unpacks:
        value = tuple(value.fields.values())
    if isinstance(value, (tuple, str, range)):
        return _item(value, key)
    if isinstance(value, Value) and value.is_tensor:
        return _tensor(c, value, key)
    if isinstance(value, Value) and value.is_view:
        return _element(c, value, key)
    raise Misuse(f"expected a tuple, a tensor or a view before the brackets, got {describe(value)}")


def _item(value: Any, key: Any) -> Any:
    parts = (key.start, key.stop, key.step) if isinstance(key, slice) else (key,)
    for part in parts:
        if part is not None and (isinstance(part, bool) or not isinstance(part, int)):
            raise Misuse(
                f"expected a constant index of a tuple, got {describe(part)}",
                "an int, a kiln.constexpr, or the variable of a loop over kiln.static_range",
            )
    if parts == (None,):
        raise Misuse("expected a constant index of a tuple, got None")
    try:
        return value[key]
    except (IndexError, ValueError) as problem:
        raise Misuse(f"expected an index below {len(value)}, got {key} ({problem})") from None


def _element(c: Any, view: Value, key: Any) -> Value:
    """One element of a view, as a scalar."""
    offsets = _offsets(view, key)
    tile = c.intrinsic("load", [view, offsets, (1,) * len(offsets)], {})
    return to_scalar(c.e, tile)


def to_scalar(e: Any, tile: Value) -> Value:
    """The element of a tile that has one."""
    if not tile.is_tensor:
        return tile
    flat = TensorType((), tile.dtype)
    one = tile
    if tile.shape:
        one = e.value(f"tile.reshape {tile.ref} : {tile.type.ir} -> {flat.ir}", flat)
    return e.value(f"tile.to_scalar {one.ref} : {flat.ir}", type_of((), tile.dtype))


def number(c: Any, value: Any) -> Any:
    """An operand of arithmetic: a view without dimensions is read, all else is itself."""
    if isinstance(value, Value) and value.is_view and value.type.rank == 0:
        return _element(c, value, ())
    return value


def _offsets(view: Value, key: Any) -> tuple[Any, ...]:
    offsets = key if isinstance(key, tuple) else (key,)
    if any(isinstance(o, slice) or o is None or o is Ellipsis for o in offsets):
        raise Misuse(
            "expected one integer scalar for each dimension of a view, got a slice",
            "view.load(offsets, shape) reads a tile, view.store(offsets, tile) writes one",
        )
    if len(offsets) != view.type.rank:
        raise Misuse(f"expected {view.type.rank} offsets for {describe(view)}, got {len(offsets)}")
    return offsets


def assign_subscript(c: Any, receiver: Any, key: Any, value: Any) -> None:
    """`receiver[key] = value`: one element of a view."""
    if isinstance(receiver, (tuple, Struct)):
        raise Misuse(
            f"expected an element of a view before `=`, got {describe(receiver)}",
            "tuples do not change: (*items[:i], x, *items[i + 1:]) makes a new one",
        )
    if not (isinstance(receiver, Value) and receiver.is_view):
        raise Misuse(
            f"expected an element of a view before `=`, got {describe(receiver)}",
            "tensors do not change: kiln.where(condition, x, y) makes a new one",
        )
    if isinstance(value, Value) and value.is_tensor:
        raise Misuse(
            f"expected a scalar for one element, got {describe(value)}",
            "view.store(offsets, tile) writes a tile",
        )
    offsets = _offsets(receiver, key)
    if isinstance(value, Value):
        wide = widened(c.e, value, receiver.dtype)
        if wide.dtype is not receiver.dtype:
            raise Misuse(
                f"expected a scalar of {receiver.dtype}, got {describe(value)}",
                f"a cast: .to(kiln.{receiver.dtype})",
            )
        value = wide
    tile = coerce(c.e, value, (1,) * len(offsets), receiver.dtype)
    c.intrinsic("store", [receiver, offsets, tile], {})


def _tensor(c: Any, value: Value, key: Any) -> Value:
    """New dimensions, constant slices and constant positions of a tensor."""
    keys = list(key) if isinstance(key, tuple) else [key]
    given = sum(k is not None and k is not Ellipsis for k in keys)
    rank = len(value.shape)
    if given > rank:
        raise Misuse(f"expected at most {rank} indices for {describe(value)}, got {given}")
    if keys.count(Ellipsis) > 1:
        raise Misuse("expected one `...`, got several")
    fill = [slice(None)] * (rank - given)
    if Ellipsis in keys:
        at = keys.index(Ellipsis)
        keys[at : at + 1] = fill
    else:
        keys += fill
    offsets, sizes, shape = [], [], []
    dims = iter(value.shape)
    for one in keys:
        if one is None:
            shape.append(1)
            continue
        extent = next(dims)
        offset, size = _bounds(one, extent)
        offsets.append(offset)
        sizes.append(size)
        if isinstance(one, slice):
            shape.append(size)
    if tuple(sizes) != value.shape:
        type = TensorType(tuple(sizes), value.dtype)
        at = ", ".join(map(str, offsets))
        value = c.e.value(f"tile.slice {value.ref} [{at}] : {value.type.ir} -> {type.ir}", type)
    return reshape(c.e, value, tuple(shape))


def reshape(e: Any, value: Value, shape: tuple[int, ...]) -> Value:
    """A tensor under a shape of as many elements; a scalar for ()."""
    if value.shape == shape:
        return value
    if not shape:
        return to_scalar(e, value)
    type = TensorType(shape, value.dtype)
    return e.value(f"tile.reshape {value.ref} : {value.type.ir} -> {type.ir}", type)


def _bounds(key: Any, extent: int) -> tuple[int, int]:
    parts = (key.start, key.stop, key.step) if isinstance(key, slice) else (key,)
    for part in parts:
        if part is not None and (isinstance(part, bool) or not isinstance(part, int)):
            raise Misuse(
                f"expected constant indices of a tensor, got {describe(part)}",
                "None, slices with constant bounds, ints; view.gather reads at computed indices",
            )
    if isinstance(key, slice):
        start, stop, step = key.indices(extent)
        if step != 1:
            raise Misuse(f"expected a slice of step 1, got {step}")
        if stop <= start:
            raise Misuse(
                f"expected a slice of at least one element of {extent}, got {start}:{stop}"
            )
        return start, stop - start
    if not -extent <= key < extent:
        raise Misuse(f"expected an index from {-extent} to {extent - 1}, got {key}")
    return key % extent, 1
