"""What stands behind a dot: shapes, dtypes, methods, fields."""

from __future__ import annotations

from typing import Any

from kiln import language
from kiln.frontend.errors import Misuse
from kiln.frontend.function import Function, as_constant
from kiln.frontend.suggestions import elsewhere
from kiln.frontend.types import PointerType
from kiln.frontend.values import BoundMethod, Struct, Value, describe, is_const_number
from kiln.frontend.views import view_shape, view_strides
from kiln.language.dtypes import DType

_TENSOR_METHODS = {
    "to": "cast", "bitcast": "bitcast", "reshape": "reshape", "transpose": "transpose",
    "broadcast_to": "broadcast_to", "expand_dims": "expand_dims", "sum": "sum", "prod": "prod",
    "max": "max", "min": "min", "argmax": "argmax", "argmin": "argmin", "any": "any",
    "all": "all", "cumsum": "cumsum", "cumprod": "cumprod", "mean": "mean", "var": "var",
    "std": "std", "softmax": "softmax", "log_softmax": "log_softmax", "logsumexp": "logsumexp",
    "squeeze": "squeeze", "permute": "permute", "gather": "gather", "flip": "flip",
    "roll": "roll",
}  # fmt: skip
_SHAPE_METHODS = ("reshape", "broadcast_to")
_VIEW_METHODS = ("load", "store", "gather", "scatter", "transpose", "permute")
_DTYPE_ATTRIBUTES = (
    "name", "bits", "kind", "is_float", "is_integer", "is_signed", "is_bool", "minimum", "maximum",
)  # fmt: skip


def attribute(c: Any, value: Any, name: str) -> Any:
    """`value.name`. `c` is the compiler."""
    if isinstance(value, Value):
        if value.is_view:
            return _view(c, value, name)
        if isinstance(value.type, PointerType):
            if name == "dtype":
                return value.dtype
            raise _unknown(value, name, "dtype; kiln.view makes a view of a pointer")
        return _numeric(c, value, name)
    if isinstance(value, Struct):
        return _field(c, value, name)
    if isinstance(value, DType) and name in _DTYPE_ATTRIBUTES:
        return getattr(value, name)
    if is_const_number(value) and name in ("to", "bitcast"):
        return _method(value, _TENSOR_METHODS[name])
    if isinstance(value, type) and not name.startswith("_") and hasattr(value, name):
        return c.captured(getattr(value, name), f"`{value.__name__}.{name}`")
    raise _unknown(value, name)


def _method(receiver: Any, name: str) -> BoundMethod:
    return BoundMethod(getattr(language, name), receiver, name)


def _unknown(value: Any, name: str, legal: str | None = None) -> Misuse:
    other = elsewhere(name)
    legal = "; ".join(text for text in (other, legal) if text) or None
    return Misuse(f"expected an attribute that {describe(value)} has, got `.{name}`", legal)


def _numeric(c: Any, value: Value, name: str) -> Any:
    if name == "dtype":
        return value.dtype
    if name == "shape":
        return value.shape
    if name in ("rank", "ndim"):
        return len(value.shape)
    if value.is_scalar:
        if name in ("to", "bitcast"):
            return _method(value, _TENSOR_METHODS[name])
        raise _unknown(value, name, "dtype, shape, rank, to, bitcast")
    if name == "T":
        return c.intrinsic("transpose", [value], {})
    if name in _SHAPE_METHODS:
        return BoundMethod(getattr(language, name), _Spread(value), name)
    if name in _TENSOR_METHODS:
        return _method(value, _TENSOR_METHODS[name])
    raise _unknown(value, name, "dtype, shape, rank, T, " + ", ".join(_TENSOR_METHODS))


class _Spread:
    """The receiver of a method that takes a shape as a tuple or as several arguments."""

    __slots__ = ("value",)

    def __init__(self, value: Value):
        self.value = value


def spread(args: list[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of such a method, with the shape as one tuple."""
    if not isinstance(args[0], _Spread):
        return args, kwargs
    value, shape = args[0].value, args[1:]
    if not shape and "shape" in kwargs:
        return [value], kwargs
    if len(shape) == 1 and isinstance(shape[0], tuple):
        return [value, shape[0]], kwargs
    return [value, tuple(shape)], kwargs


def _view(c: Any, value: Value, name: str) -> Any:
    if name == "dtype":
        return value.dtype
    if name in ("rank", "ndim"):
        return value.type.rank
    if name == "shape":
        return view_shape(c.e, value)
    if name == "strides":
        return view_strides(c.e, value)
    if name in _VIEW_METHODS:
        return _method(value, name)
    if name == "T":
        return c.intrinsic("transpose", [value], {})
    if name == "reshape":
        return BoundMethod(language.reshape, _Spread(value), name)
    raise _unknown(
        value, name, "shape, strides, dtype, rank, T, reshape, " + ", ".join(_VIEW_METHODS)
    )


def _field(c: Any, value: Struct, name: str) -> Any:
    if name in value.fields:
        return value.fields[name]
    if name == "_replace":
        return BoundMethod(_replace(c), value, name)
    member = getattr(value.cls, name, None)
    if isinstance(member, Function):
        return BoundMethod(member, value, name)
    if member is not None and not name.startswith("_"):
        try:
            return as_constant(member)
        except TypeError:
            pass
    raise _unknown(value, name, ", ".join(value.fields))


def _replace(c: Any):
    """`s._replace(field=x)`: a structure with some fields changed."""

    def replace(compiler: Any, receiver: Struct, **fields: Any) -> Struct:
        for name in fields:
            if name not in receiver.fields:
                raise _unknown(receiver, name, ", ".join(receiver.fields))
        return Struct(receiver.cls, {**receiver.fields, **fields})

    replace.__kiln_direct__ = True
    return replace
