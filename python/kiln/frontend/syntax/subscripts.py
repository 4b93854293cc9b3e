"""Square brackets: elements of tuples, dimensions and slices of tensors, elements of views."""

from __future__ import annotations

from typing import Any

from kiln.frontend.arithmetic.casts import cast, coerce, widened
from kiln.frontend.errors import Misuse
from kiln.frontend.syntax.parts import all_keys, is_element, part_of
from kiln.frontend.types import TensorType
from kiln.frontend.values import Struct, Value, access_of, describe, shape_of, type_of
from kiln.language.dtypes import i32


def subscript(c: Any, value: Any, key: Any) -> Any:
    """`value[key]`. `c` is the compiler."""
    if isinstance(value, Struct) and value.unpacks:
        value = tuple(value.fields.values())
    if isinstance(value, (tuple, str, range)):
        return _item(value, key)
    if isinstance(value, Value) and value.is_tensor:
        return _tensor(c, value, key)
    if isinstance(value, Value) and value.is_view:
        return _of_view(c, value, key)
    raise Misuse(
        f"expected a tuple, a tensor or a view before the brackets, got {describe(value)}",
        access_of(value),
    )


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


def _of_view(c: Any, view: Value, key: Any) -> Value:
    """One element of a view, as a scalar, or a part of the view."""
    keys = all_keys(view, key)
    if not is_element(keys):
        return part_of(c.e, view, keys)
    tile = c.intrinsic("load", [view, tuple(keys), (1,) * len(keys)], {})
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
        return _of_view(c, value, ())
    return value


def assign_subscript(c: Any, receiver: Any, key: Any, value: Any) -> None:
    """`receiver[key] = value`: one element of a view, or a tile at the start of a part of it."""
    view, keys = _target(receiver, key)
    if not is_element(keys):
        part = part_of(c.e, view, keys)
        tile = _tile(c, view, value, _tile_shape(part, value))
        c.intrinsic("store", [part, (0,) * part.type.rank, tile], {})
        return
    value = number(c, value)
    if isinstance(value, Value) and not value.is_scalar:
        raise Misuse(
            f"expected a scalar for one element, got {describe(value)}",
            "view.store(offsets, tile) writes a tile, view.load(offsets, shape) reads one",
        )
    tile = _tile(c, view, value, (1,) * len(keys))
    c.intrinsic("store", [view, tuple(keys), tile], {})


def update_subscript(c: Any, receiver: Any, key: Any, op: str, value: Any) -> None:
    """`receiver[key] op= value`: read, computed and written in the view's dtype."""
    view, keys = _target(receiver, key)
    element = is_element(keys)
    place = view if element else part_of(c.e, view, keys)
    offsets = tuple(keys) if element else (0,) * place.type.rank
    shape = (1,) * len(keys) if element else _tile_shape(place, value)
    if element and shape_of(value):
        raise Misuse(
            f"expected a scalar for one element, got {describe(value)}",
            "y[i:i + n] += tile updates several",
        )
    old = c.intrinsic("load", [place, offsets, shape], {})
    new = c.binary(op, to_scalar(c.e, old) if element else old, value)
    if isinstance(new, Value) and new.dtype.is_float == view.dtype.is_float:
        new = cast(c.e, new, view.dtype)
    tile = _tile(c, view, new, shape)
    c.intrinsic("store", [place, offsets, tile], {})


def _target(receiver: Any, key: Any) -> tuple[Value, list[Any]]:
    if isinstance(receiver, (tuple, Struct)):
        raise Misuse(
            f"expected an element or a part of a view before `=`, got {describe(receiver)}",
            "tuples do not change: (*items[:i], x, *items[i + 1:]) makes a new one",
        )
    if not (isinstance(receiver, Value) and receiver.is_view):
        raise Misuse(
            f"expected an element or a part of a view before `=`, got {describe(receiver)}",
            access_of(receiver)
            or "tensors do not change: kiln.where(condition, x, y) makes a new one",
        )
    return receiver, all_keys(receiver, key)


def _tile(c: Any, view: Value, value: Any, shape: tuple[int, ...]) -> Value:
    """A value as a tile of a view's dtype, which holds all that the value's does."""
    if isinstance(value, Value):
        if not value.is_numeric:
            raise Misuse(f"expected a tensor or a scalar, got {describe(value)}", access_of(value))
        wide = widened(c.e, value, view.dtype)
        if wide.dtype is not view.dtype:
            raise Misuse(
                f"expected a value of {view.dtype}, got {describe(value)}",
                f"a cast: .to(kiln.{view.dtype})",
            )
        value = wide
    return coerce(c.e, value, shape, view.dtype)


def _tile_shape(part: Value, value: Any) -> tuple[int, ...]:
    """The shape of the tile that a value is at the start of a part: extents that have a constant
    limit are that, others the value's."""
    extents = part.limits
    shape = shape_of(value)
    if len(shape) > len(extents):
        raise Misuse(f"expected a tile of rank {len(extents)}, got {describe(value)}")
    given = (1,) * (len(extents) - len(shape)) + shape
    out = []
    for dim, (extent, size) in enumerate(zip(extents, given, strict=True)):
        if not isinstance(extent, int):
            if dim < len(extents) - len(shape):
                raise Misuse(
                    f"expected a tile of rank {len(extents)} for {describe(part)}, got "
                    f"{describe(value)}",
                    "constant extents, as of y[i, 0:16], repeat a value; others take a tile's",
                )
            out.append(size)
        elif size in (1, extent):
            out.append(extent)
        else:
            raise Misuse(
                f"expected a tile of extent {extent} along dimension {dim} for {describe(part)}, "
                f"got {describe(value)}"
            )
    return tuple(out)


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
    offsets, sizes, shape, steps = [], [], [], []
    dims = iter(value.shape)
    for one in keys:
        if one is None:
            shape.append(1)
            continue
        extent = next(dims)
        offset, size, step = _bounds(one, extent)
        if step != 1:
            steps.append((len(sizes), offset, size, step))
            offset, size = 0, extent
        offsets.append(offset)
        sizes.append(size)
        if isinstance(one, slice):
            shape.append(steps[-1][2] if step != 1 else size)
    if tuple(sizes) != value.shape:
        type = TensorType(tuple(sizes), value.dtype)
        at = ", ".join(map(str, offsets))
        value = c.e.value(f"tile.slice {value.ref} [{at}] : {value.type.ir} -> {type.ir}", type)
    for dim, start, size, step in steps:
        value = strided(c.e, value, dim, start, size, step)
    return reshape(c.e, value, tuple(shape))


def strided(e: Any, value: Value, dim: int, start: int, size: int, step: int) -> Value:
    """Each so many elements of a tensor along a dimension; a negative step goes backwards."""
    if size == 1 or step == 1:
        shape = (*value.shape[:dim], size, *value.shape[dim + 1 :])
        at = ", ".join(str(start) if i == dim else "0" for i in range(len(shape)))
        type = TensorType(shape, value.dtype)
        return e.value(f"tile.slice {value.ref} [{at}] : {value.type.ir} -> {type.ir}", type)
    line = TensorType((size,), i32)
    at = e.value(f"tile.iota 0 : {line.ir}", line)
    at = e.binary("arith.muli", at, e.constant(step, i32, (size,)))
    at = e.binary("arith.addi", at, e.constant(start, i32, (size,)))
    return take(e, value, at, dim)


def take(e: Any, value: Value, positions: Value, axis: int) -> Value:
    """The elements at i32 positions along an axis: of the result's shape, or of rank 1."""
    shape = (*value.shape[:axis], positions.shape[-1], *value.shape[axis + 1 :])
    if len(positions.shape) == 1:
        flat = tuple(n if dim == axis else 1 for dim, n in enumerate(shape))
        positions = coerce(e, reshape(e, positions, flat), shape, i32)
    type = TensorType(positions.shape, value.dtype)
    return e.value(
        f"tile.take {value.ref}[{positions.ref}] axis = {axis} : {value.type.ir}, "
        f"{positions.type.ir} -> {type.ir}",
        type,
    )


def transposed(e: Any, value: Value, axes: tuple[int, ...]) -> Value:
    """The tensor whose dimension i is dimension `axes[i]`."""
    if axes == tuple(range(len(value.shape))):
        return value
    type = TensorType(tuple(value.shape[axis] for axis in axes), value.dtype)
    order = ", ".join(map(str, axes))
    return e.value(f"tile.transpose {value.ref} [{order}] : {value.type.ir} -> {type.ir}", type)


def reshape(e: Any, value: Value, shape: tuple[int, ...]) -> Value:
    """A tensor under a shape of as many elements; a scalar for ()."""
    if value.shape == shape:
        return value
    if not shape:
        return to_scalar(e, value)
    type = TensorType(shape, value.dtype)
    return e.value(f"tile.reshape {value.ref} : {value.type.ir} -> {type.ir}", type)


def _bounds(key: Any, extent: int) -> tuple[int, int, int]:
    """Where the elements of a key start, how many they are, and their step."""
    parts = (key.start, key.stop, key.step) if isinstance(key, slice) else (key,)
    for part in parts:
        if part is not None and (isinstance(part, bool) or not isinstance(part, int)):
            raise Misuse(
                f"expected constant indices of a tensor, got {describe(part)}",
                "None, slices with constant bounds, ints; kiln.gather(tile, indices, axis) takes "
                "at computed positions",
            )
    if isinstance(key, slice):
        if key.step == 0:
            raise Misuse("expected a step that is not zero, got 0")
        start, stop, step = key.indices(extent)
        size = len(range(start, stop, step))
        if size == 0:
            raise Misuse(
                f"expected a slice of at least one element of {extent}, got {start}:{stop}"
                + (f":{step}" if step != 1 else "")
            )
        return start, size, step
    if not -extent <= key < extent:
        raise Misuse(f"expected an index from {-extent} to {extent - 1}, got {key}")
    return key % extent, 1, 1
