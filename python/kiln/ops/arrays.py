"""What the entry functions ask of arrays, whichever framework they are of."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from math import prod
from numbers import Integral
from typing import Any, NoReturn

import numpy as np

from kiln import _native
from kiln.language.dtypes import DTYPES, DType
from kiln.runtime.devices import device
from kiln.runtime.errors import launch_error

Shape = tuple[int, ...]

# NumPy's, ml_dtypes' and PyTorch's name of each dtype that memory holds an element at a time.
_NAMES = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16",
    "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "f8e8m0fnu": "float8_e8m0fnu",
    "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8",
    "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8", "bool": "bool",
}  # fmt: skip
_DTYPES = {name: DTYPES[dtype] for dtype, name in _NAMES.items()}
_found: dict[Any, DType] = {}  # by a framework's own dtype, whose name takes NumPy a while to spell


def refuse(op: str, argument: str | None, message: str) -> NoReturn:
    """Raises the error about one argument of one call."""
    raise launch_error(f"ops.{op}", argument, message)


def shape_of(op: str, argument: str, array: Any) -> Shape:
    shape = getattr(array, "shape", None)
    if shape is None or getattr(array, "dtype", None) is None:
        refuse(op, argument, f"expected an array or a tensor, got {type(array).__name__}")
    return tuple(shape)


def dtype_of(op: str, argument: str, array: Any) -> DType:
    kind = getattr(array, "dtype", None)
    found = kind if isinstance(kind, DType) else _found.get(kind)
    if found is not None:
        return found
    name = getattr(kind, "name", None) or str(kind).removeprefix("torch.")
    if name not in _DTYPES:
        refuse(
            op, argument,
            f"expected elements of {', '.join(_NAMES)}, got {name}; types narrower than a byte "
            f"come as kiln.PackedArray",
        )  # fmt: skip
    _found[kind] = _DTYPES[name]
    return _found[kind]


def is_torch(array: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def empty(op: str, like: Any, shape: Shape, dtype: DType, argument: str = "out") -> Any:
    """Memory for a result, of the framework and on the device of an input."""
    name = _NAMES.get(dtype.name)
    if is_torch(like):
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, name), device=like.device)
    if isinstance(like, np.ndarray):
        if dtype.name in ("bf16",) or dtype.name.startswith("f8"):
            import ml_dtypes

            return np.empty(shape, getattr(ml_dtypes, name))
        return np.empty(shape, name)
    return refuse(
        op, argument,
        f"expected an array to write the result to, since the inputs are no arrays of NumPy or "
        f"PyTorch but of {type(like).__module__}, got none; it is of {dtype} and of shape {shape}",
    )  # fmt: skip


def result(op: str, out: Any, like: Any, shape: Shape, dtypes: DType | Iterable[DType]) -> Any:
    """`out`, if it fits, else new memory of the first of the dtypes."""
    allowed = (dtypes,) if isinstance(dtypes, DType) else tuple(dtypes)
    if out is None:
        return empty(op, like, shape, allowed[0])
    check_shape(op, "out", out, shape)
    check_dtype(op, "out", out, allowed)
    return out


def check_shape(op: str, argument: str, array: Any, wanted: Shape) -> None:
    shape = shape_of(op, argument, array)
    if shape != wanted:
        refuse(op, argument, f"expected the shape {wanted}, got {shape}")


def check_dtype(op: str, argument: str, array: Any, allowed: Iterable[DType]) -> DType:
    dtype, allowed = dtype_of(op, argument, array), tuple(allowed)
    if dtype not in allowed:
        words = [str(each) for each in allowed]
        wanted = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
        refuse(op, argument, f"expected elements of {wanted}, got {dtype}")
    return dtype


def check_precision(op: str, precision: str) -> None:
    if precision not in ("ieee", "tf32", "tf32x3"):
        refuse(op, "precision", f"expected ieee, tf32 or tf32x3, got {precision!r}")


def is_count(value: Any, least: int = 0, most: int = (1 << 31) - 1) -> bool:
    """Whether a value is a whole number within bounds."""
    return isinstance(value, Integral) and least <= value <= most


def broadcast(op: str, argument: str, first: Shape, second: Shape) -> Shape:
    """The shape of both, by NumPy's rules; the error is about the second's argument."""
    if first == second or not second:
        return first
    try:
        return tuple(np.broadcast_shapes(first, second))
    except ValueError:
        return refuse(
            op, argument,
            f"expected leading dimensions that broadcast with {first}, got {second}",
        )  # fmt: skip


def cores(array: Any, where: Any = None) -> int:
    """How many programs the device of an array runs at once, at one a core: that of the launch
    option `_device`, or the array's own."""
    name = getattr(where, "name", where)
    if name is None:
        kind, number = array.__dlpack_device__()
        name = _native.device_of_memory(int(kind), int(number))
    return _cores_of(name)


@cache
def _cores_of(device_name: str) -> int:
    known = json.loads(device(device_name).describe()).get("properties", {})
    return int(known.get("multiprocessors") or known.get("threads") or 1)


def rows(op: str, argument: str, array: Any) -> Any:
    """The same memory as a matrix of all rows along the last dimension."""
    shape = shape_of(op, argument, array)
    if len(shape) == 2:
        return array
    if not shape:
        refuse(op, argument, "expected at least one dimension, got none")
    wanted = (prod(shape[:-1]), shape[-1])
    strides = getattr(array, "strides", None) or (array.stride() if is_torch(array) else None)
    leading = [(shape[d], strides[d]) for d in range(len(shape) - 1) if shape[d] != 1]
    dense = all(s == t * n for (_, s), (n, t) in pairwise(leading))
    if prod(shape) and not dense:
        refuse(
            op, argument,
            "expected leading dimensions that are dense in memory, so that all rows are one "
            "matrix, got other strides; copy the array, or pass its parts",
        )  # fmt: skip
    return array.reshape(wanted)
