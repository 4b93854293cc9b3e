"""Matrix products."""

from __future__ import annotations

from typing import Any

from kiln.frontend.arithmetic.casts import cast, coerce
from kiln.frontend.arithmetic.promotion import broadcast_shapes
from kiln.frontend.errors import Misuse
from kiln.frontend.syntax.calls import implements
from kiln.frontend.syntax.subscripts import reshape as to_shape
from kiln.frontend.syntax.subscripts import transposed
from kiln.frontend.types import TensorType
from kiln.frontend.values import (
    Value,
    as_dtype,
    as_flag,
    as_tensor,
    as_word,
    describe,
    is_const_number,
)  # fmt: skip
from kiln.language.dtypes import DType, f8e4m3fn, f8e8m0fnu, f16, f32, f64, i32

_PRECISIONS = ("ieee", "tf32", "tf32x3")
_F8 = ("f8e4m3fn", "f8e5m2")
_NARROW = (*_F8, "f6e2m3fn", "f6e3m2fn", "f4e2m1fn")
_OPERANDS = "f64, f32, tf32, f16, bf16, f8e4m3fn, f8e5m2, i8, u8, i4, u4"


def _accumulators(a: DType, b: DType) -> tuple[DType, ...]:
    """The accumulators of a pair of operand dtypes, the default first. Raises Misuse."""
    both_f8 = a.name in _F8 and b.name in _F8
    both_int = a.kind in ("int", "uint") and b.kind in ("int", "uint") and a.bits == b.bits
    if a is not b and not both_f8 and not both_int:
        raise Misuse(f"expected operands of one dtype, got {a} and {b}", "a cast: .to(dtype)", "b")
    if both_int and a.bits in (4, 8):
        return (i32,)
    if a is f64:
        return (f64,)
    if a is f16:
        return (f32, f16)
    if both_f8 or a.name in ("f32", "tf32", "bf16"):
        return (f32,)
    raise Misuse(f"expected operands of a dtype that dot takes, got {a}", _OPERANDS, "a")


@implements("dot")
def dot(
    c: Any, a: Any, b: Any, acc: Any, transpose_a: Any, transpose_b: Any, precision: Any, dtype: Any
) -> Value:
    e = c.e
    a, b = as_tensor(a, "a"), as_tensor(b, "b")
    ta, tb = as_flag(transpose_a, "transpose_a"), as_flag(transpose_b, "transpose_b")
    a, b = _batched(e, a, b)
    shape = _shape(a, b, ta, tb)
    accumulators = _accumulators(a.dtype, b.dtype)
    words = " transpose_a" * ta + " transpose_b" * tb
    words += " unsigned_a" * (a.dtype.kind == "uint") + " unsigned_b" * (b.dtype.kind == "uint")
    if as_word(precision, _PRECISIONS, "precision") != "ieee":
        if a.dtype is not f32:
            raise Misuse(
                f"expected f32 operands for precision {precision}, got {a.dtype}",
                argument="precision",
            )
        words += f" precision = {precision}"
    acc = _accumulator(e, acc, dtype, accumulators, shape)
    return e.value(
        f"tile.dot {a.ref}, {b.ref}, {acc.ref}{words} : {a.type.ir}, {b.type.ir} -> {acc.type.ir}",
        acc.type,
    )


def _batched(e: Any, a: Value, b: Value) -> tuple[Value, Value]:
    """Both operands with the leading dimensions that theirs broadcast to."""
    if len(a.shape) < 2 or len(b.shape) < 2:
        return a, b
    try:
        batch = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except Misuse:
        raise Misuse(
            f"expected leading dimensions that broadcast, got {describe(a)} and {describe(b)}",
            None,
            "b",
        ) from None
    a = coerce(e, a, (*batch, *a.shape[-2:]), a.dtype)
    return a, coerce(e, b, (*batch, *b.shape[-2:]), b.dtype)


def _shape(a: Value, b: Value, ta: bool, tb: bool) -> tuple[int, ...]:
    for x, name in ((a, "a"), (b, "b")):
        if len(x.shape) < 2:
            raise Misuse(
                f"expected tensors of rank 2 or more, got {describe(x)}", "x[:, None]", name
            )
    m, k = a.shape[-2:][::-1] if ta else a.shape[-2:]
    n, k2 = b.shape[-2:] if tb else b.shape[-2:][::-1]
    if k != k2:
        raise Misuse(
            f"expected inner extents that are the same, got {describe(a)} and {describe(b)}: "
            f"{k} and {k2}",
            "[M, K] and [K, N]; transpose_a and transpose_b swap the last two dimensions",
            "b",
        )
    return (*a.shape[:-2], m, n)


def _accumulator(
    e: Any, acc: Any, dtype: Any, legal: tuple[DType, ...], shape: tuple[int, ...]
) -> Value:
    if dtype is not None and as_dtype(dtype) not in legal:
        raise Misuse(
            f"expected an accumulator of {' or '.join(map(str, legal))}, got {dtype}",
            argument="dtype",
        )
    if acc is None or is_const_number(acc):
        return e.constant(acc or 0, dtype or legal[0], shape)
    acc = as_tensor(acc, "acc")
    if acc.dtype not in legal or (dtype is not None and acc.dtype is not dtype):
        wanted = dtype or " or ".join(map(str, legal))
        raise Misuse(f"expected an accumulator of {wanted}, got {describe(acc)}", argument="acc")
    if acc.shape != shape:
        text = "x".join(map(str, shape))
        raise Misuse(f"expected an accumulator of {text}, got {describe(acc)}", argument="acc")
    return coerce(e, acc, shape, acc.dtype)


@implements("dot_scaled")
def dot_scaled(
    c: Any, a: Any, scale_a: Any, b: Any, scale_b: Any, acc: Any, transpose_b: Any
) -> Value:
    e = c.e
    a, b = as_tensor(a, "a"), as_tensor(b, "b")
    tb = as_flag(transpose_b, "transpose_b")
    if scale_a is None or scale_b is None:
        return _half_scaled(c, a, scale_a, b, scale_b, acc, tb)
    scale_a, scale_b = as_tensor(scale_a, "scale_a"), as_tensor(scale_b, "scale_b")
    shape = _shape(a, b, False, tb)
    if len(shape) != 2:
        raise Misuse(f"expected tensors of rank 2, got {describe(a)}", argument="a")
    block = _block(a.dtype, b.dtype, scale_a.dtype, scale_b.dtype)
    k = a.shape[1]
    for scale, rows, name in ((scale_a, shape[0], "scale_a"), (scale_b, shape[1], "scale_b")):
        if k % block or scale.shape != (rows, k // block):
            raise Misuse(
                f"expected scales of {rows}x{k // block} for blocks of {block}, got "
                f"{describe(scale)}",
                argument=name,
            )
    acc = _accumulator(e, acc, None, (f32,), shape)
    type = TensorType(shape, f32)
    return e.value(
        f"tile.dot_scaled {a.ref} scale {scale_a.ref}, {b.ref} scale {scale_b.ref}, {acc.ref}"
        f"{' transpose_b' * tb} : {a.type.ir}, {scale_a.type.ir}, {b.type.ir}, "
        f"{scale_b.type.ir} -> {type.ir}",
        type,
    )


def _half_scaled(
    c: Any, a: Value, scale_a: Any, b: Value, scale_b: Any, acc: Any, tb: bool
) -> Value:
    """A product of which one side, or none, has scales. Beside a side of narrow floats the other's
    scales are ones; beside one of wider floats the scaled side becomes such floats."""
    e = c.e
    plain, narrow = (a, b) if scale_a is None else (b, a)
    scale = scale_b if scale_a is None else scale_a
    if scale is None:
        raise Misuse("expected scales of a side at least, got none", "kiln.dot", "scale_b")
    scale = as_tensor(scale, "scale_b" if scale_a is None else "scale_a")
    if plain.dtype.name in _NARROW:
        rows = plain.shape[0] if plain is a or tb else plain.shape[-1]
        ones = e.constant(1.0, scale.dtype, (rows, scale.shape[-1]))
        scales = (ones, scale) if plain is a else (scale, ones)
        return dot_scaled(c, a, scales[0], b, scales[1], acc, tb)
    if plain.dtype.name not in ("bf16", "f16", "f32"):
        raise Misuse(
            f"expected a side without scales of floats, got {describe(plain)}",
            "f32, f16, bf16, f8, f6 or f4",
            "a" if plain is a else "b",
        )
    block = _block(narrow.dtype, narrow.dtype, scale.dtype, scale.dtype)
    shape = _shape(a, b, False, tb)
    if len(shape) != 2:
        raise Misuse(f"expected tensors of rank 2, got {describe(a)}", argument="a")
    is_rows = narrow is a or tb
    rows, k = narrow.shape if is_rows else narrow.shape[::-1]
    if k % block or scale.shape != (rows, k // block):
        raise Misuse(
            f"expected scales of {rows}x{k // block} for blocks of {block}, got {describe(scale)}",
            argument="scale_a" if narrow is a else "scale_b",
        )
    # bf16 holds each element times its scale, f16 does not.
    dtype = plain.dtype if plain.dtype.name == "bf16" else f32
    each = coerce(e, to_shape(e, scale, (rows, k // block, 1)), (rows, k // block, block), f32)
    each = to_shape(e, each, (rows, k))
    if not is_rows:
        each = transposed(e, each, (1, 0))
    wide = cast(e, e.binary("arith.mulf", cast(e, narrow, f32), each), dtype)
    plain = cast(e, plain, dtype)
    pair = (plain, wide) if narrow is b else (wide, plain)
    return dot(c, *pair, acc, False, tb, "ieee", None)


def _block(a: DType, b: DType, scale_a: DType, scale_b: DType) -> int:
    if scale_a is scale_b is f8e8m0fnu and a.name in _NARROW and b.name in _NARROW:
        return 32
    if scale_a is scale_b is f8e4m3fn and a.name == b.name == "f4e2m1fn":
        return 16
    raise Misuse(
        f"expected a block-scaled format, got {a} with {scale_a} and {b} with {scale_b}",
        "f8, f6 or f4 with f8e8m0fnu scales, or f4e2m1fn with f8e4m3fn scales",
    )
