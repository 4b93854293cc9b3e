"""Views: their extents and strides, constants where the type knows them; parts of views; and
views that were chosen or carried as numbers.

A part is made where it is used, by one operation or none: what is only asked for its shape costs
nothing, and a tile of a part that merely drops dimensions is a tile of the whole view, for which
targets have their fastest ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kiln.frontend.emitter import Emitter
from kiln.frontend.errors import Misuse
from kiln.frontend.types import PointerType, ViewType
from kiln.frontend.values import Value, type_of
from kiln.language.dtypes import DType, index

_INDEX = type_of((), index)


def view_shape(e: Emitter, view: Value) -> tuple[Any, ...]:
    """The extents, as ints and `index` scalars."""
    if view.extents:
        return view.extents
    return _query(e, view, "dim", view.type.shape)


def view_strides(e: Emitter, view: Value) -> tuple[Any, ...]:
    """The strides in elements, as ints and `index` scalars."""
    if view.strides:
        return view.strides
    return _query(e, view, "stride", view.type.strides)


def _query(e: Emitter, view: Value, word: str, known: tuple[int | None, ...]) -> tuple[Any, ...]:
    out: list[Any] = []
    for dim, size in enumerate(known):
        text = f"tile.{word} {view.ref}, {dim} : {view.type.ir}"
        if size is not None:
            out.append(size)
        elif view.ref in e.arguments:
            out.append(e.once((word, view.ref, dim), text, _INDEX))
        else:
            out.append(e.value(text, _INDEX))
    return tuple(out)


# Arithmetic on extents and offsets: ints and `index` scalars.


def times(e: Emitter, a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if 0 in (a, b):
        return 0
    if 1 in (a, b):
        return b if a == 1 else a
    return e.binary("arith.muli", as_index(e, a), as_index(e, b))


def plus(e: Emitter, a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if 0 in (a, b):
        return b if a == 0 else a
    return e.binary("arith.addi", as_index(e, a), as_index(e, b))


def minus(e: Emitter, a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    if isinstance(b, int) and b == 0:
        return a
    return e.binary("arith.subi", as_index(e, a), as_index(e, b))


def least(e: Emitter, a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    return a if a is b else e.binary("arith.minsi", as_index(e, a), as_index(e, b))


def most(e: Emitter, a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b)
    return a if a is b else e.binary("arith.maxsi", as_index(e, a), as_index(e, b))


def as_index(e: Emitter, x: Any) -> Value:
    return e.index(x) if isinstance(x, int) else x


# Parts.


class Part(Value):
    """A part of a view: where it begins in `whole`, in elements, and its extents and strides.

    inside   whether the indices along the dimensions that were dropped are in bounds; None
             where that is known. If they are not, nothing of the part is.
    bound    the first extent, or 0 if nothing is in bounds, where `inside` is not None
    limits   for each extent the most that it can be, where that is known
    places   for each dimension of `whole` what an access there has: ("own", dimension of the
             part), or ("at", index); None where the part is not all of what is left
    """

    __slots__ = ("bound", "e", "inside", "limits", "offset", "places", "whole")

    def __init__(
        self,
        e: Emitter,
        whole: Value,
        offset: Any,
        extents: tuple[Any, ...],
        strides: tuple[Any, ...],
        inside: Value | None = None,
        places: tuple[tuple[str, Any], ...] | None = None,
        limits: tuple[int | None, ...] | None = None,
    ):
        self.e, self.whole, self.offset = e, whole, offset
        self.inside, self.places, self.weak = inside, places, False
        self.extents, self.strides = extents, strides
        self.limits = extents if limits is None else limits
        self.bound = None
        known = [n if isinstance(n, int) else None for n in extents]
        if inside is not None:
            self.bound = e.select(inside, as_index(e, extents[0]), e.index(0))
            known[0] = None
        steps = tuple(n if isinstance(n, int) else None for n in strides)
        self.type = ViewType(whole.dtype, tuple(known), steps)

    @property
    def ref(self) -> str:
        """The name of the part, which is made here."""
        e = self.e
        self.check_byte()
        sizes = [v.ref for v in bounds_of(e, self) if isinstance(v, Value)]
        steps = [v.ref for v in self.strides if isinstance(v, Value)]
        text = (
            f"tile.subview {self.whole.ref} at {as_index(e, self.offset).ref} extents "
            f"[{', '.join(sizes)}] strides [{', '.join(steps)}] : {self.whole.type.ir} -> "
            f"{self.type.ir}"
        )
        return e.value(text, self.type).ref

    def check_byte(self) -> None:
        """That elements narrower than a byte begin on one, here or when the kernel runs."""
        e, bits = self.e, 8 if self.dtype.is_bool else self.dtype.bits
        if bits % 8 == 0:
            return
        problem = f"expected a part of a view of {self.dtype} to begin on a byte"
        if isinstance(self.offset, int):
            if self.offset * bits % 8:
                raise Misuse(f"{problem}, got element {self.offset}", "view.load(offsets, shape)")
            return
        rest = e.binary("arith.andi", times(e, self.offset, bits), e.index(7))
        whole = e.compare("arith.cmpi", "eq", rest, e.index(0))
        e.effect(f'tile.assert {whole.ref}, "{problem}" : i1')


def bounds_of(e: Emitter, view: Value) -> tuple[Any, ...]:
    """What accesses of a view are held against: its extents, or none of a part that is outside."""
    extents = view_shape(e, view)
    if isinstance(view, Part) and view.bound is not None:
        return (view.bound, *extents[1:])
    return extents


def whole_of(e: Emitter, view: Value) -> Part:
    """A view as a part of itself."""
    if isinstance(view, Part):
        return view
    places = tuple(("own", dim) for dim in range(view.type.rank))
    return Part(e, view, 0, view_shape(e, view), view_strides(e, view), None, places)


def reached(view: Value) -> tuple[Value, tuple[tuple[str, Any], ...] | None]:
    """The view that an access of a view goes to, and what each of its dimensions has there; None
    if that is what the access says."""
    if isinstance(view, Part) and view.places is not None:
        return view.whole, view.places
    return view, None


def spread_items(places: tuple[tuple[str, Any], ...] | None, items: Sequence[Any]) -> tuple:
    """Offsets or indices of a part as those of the view that it is part of."""
    if places is None:
        return tuple(items)
    return tuple(items[x] if kind == "own" else x for kind, x in places)


def spread_shape(places: tuple[tuple[str, Any], ...] | None, shape: Sequence[int]) -> tuple:
    """The extents of a tile of a part as those in the view that it is part of."""
    if places is None:
        return tuple(shape)
    return tuple(shape[x] if kind == "own" else 1 for kind, x in places)


# Views as numbers.


def address_of(e: Emitter, memory: Value) -> Value:
    """The address of a view or a pointer, as a number."""
    if e.host:
        e.refuse_on_host()
    ref = memory.ref
    text = f"tile.address {ref} : {memory.type.ir}"
    if ref in e.arguments:
        return e.once(("address", ref), text, _INDEX)
    return e.value(text, _INDEX)


def chosen_pointer(e: Emitter, address: Value, dtype: DType) -> Value:
    """The pointer of an address."""
    type = PointerType(dtype)
    return e.value(f"tile.pointer_from_address {address.ref} : {type.ir}", type)


def chosen_view(
    e: Emitter, address: Value, dtype: DType, extents: tuple[Any, ...], strides: tuple[Any, ...]
) -> Value:
    """The view of an address, extents and strides."""
    pointer = chosen_pointer(e, address, dtype)
    type = ViewType(
        dtype,
        tuple(n if isinstance(n, int) else None for n in extents),
        tuple(n if isinstance(n, int) else None for n in strides),
    )
    texts = [
        ", ".join(n.ref for n in group if isinstance(n, Value)) for group in (extents, strides)
    ]
    made = e.value(
        f"tile.view_from_pointer {pointer.ref} extents [{texts[0]}] strides [{texts[1]}] : "
        f"{pointer.type.ir} -> {type.ir}",
        type,
    )
    return Value(made.ref, type, extents, strides)
