"""The extents and strides of views: constants where the type knows them."""

from __future__ import annotations

from typing import Any

from kiln.frontend.emitter import Emitter
from kiln.frontend.values import Value, type_of
from kiln.language.dtypes import index

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
