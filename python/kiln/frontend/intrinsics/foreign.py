"""The target's own instructions, and functions of device libraries."""

from __future__ import annotations

from typing import Any

from kiln.frontend.arithmetic.casts import coerce
from kiln.frontend.arithmetic.literals import quoted
from kiln.frontend.arithmetic.promotion import broadcast_all, constant_dtype
from kiln.frontend.errors import Misuse
from kiln.frontend.syntax.calls import implements
from kiln.frontend.values import (
    Value,
    as_dtype,
    as_flag,
    as_int,
    as_text,
    describe,
    is_numeric,
    type_of,
)  # fmt: skip


def _operands(c: Any, arguments: Any) -> tuple[list[Value], tuple[int, ...]]:
    """The arguments in one shape, each in its own dtype."""
    items = arguments if isinstance(arguments, tuple) else (arguments,)
    for item in items:
        if not is_numeric(item):
            raise Misuse(
                f"expected tensors and scalars, got {describe(item)}", argument="arguments"
            )
    shape = broadcast_all(*items)
    dtypes = [x.dtype if isinstance(x, Value) else constant_dtype(x, None) for x in items]
    return [coerce(c.e, x, shape, dtype) for x, dtype in zip(items, dtypes, strict=False)], shape


def _signature(values: list[Value], results: list[Any]) -> str:
    names = ", ".join(v.ref for v in values)
    types = ", ".join(v.type.ir for v in values)
    out = ", ".join(t.ir for t in results)
    return f"({names}) : ({types}) -> {out if len(results) == 1 else f'({out})'}"


@implements("inline_asm")
def inline_asm(
    c: Any, text: Any, constraints: Any, arguments: Any, dtype: Any, pack: Any, pure: Any
) -> Any:
    e = c.e
    values, shape = _operands(c, arguments)
    dtypes = dtype if isinstance(dtype, tuple) else (dtype,)
    types = [type_of(shape, as_dtype(one)) for one in dtypes]
    pure = as_flag(pure, "pure")
    pack = as_int(pack, "pack")
    if pack < 1 or (pack > 1 and (not shape or shape[-1] % pack)):
        raise Misuse(
            f"expected a pack that divides the last dimension, got {pack}", argument="pack"
        )
    words = (f" pack = {pack}" if pack > 1 else "") + " pure" * pure
    head = f"tile.inline_asm {quoted(as_text(text, 'text'))}"
    head += f" {quoted(as_text(constraints, 'constraints'))}{words} "
    out = e.results(head + _signature(values, types), types, effect=not pure)
    return tuple(out) if isinstance(dtype, tuple) else out[0]


@implements("extern_call")
def extern_call(c: Any, symbol: Any, arguments: Any, dtype: Any, library: Any, pure: Any) -> Value:
    e = c.e
    values, shape = _operands(c, arguments)
    type = type_of(shape, as_dtype(dtype))
    pure = as_flag(pure, "pure")
    head = f"tile.extern_call {quoted(as_text(symbol, 'symbol'))} from "
    head += f"{quoted(as_text(library, 'library'))}{' pure' * pure} "
    return e.results(head + _signature(values, [type]), [type], effect=not pure)[0]
