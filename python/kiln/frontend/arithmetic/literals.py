"""How Python numbers are spelled as constants of a dtype, and which ones fit."""

from __future__ import annotations

import math

from kiln.frontend.errors import Misuse
from kiln.language.dtypes import DType

LARGEST = {
    "f64": 1.7976931348623157e308,
    "f32": 3.4028234663852886e38,
    "tf32": 3.4011621342146535e38,
    "f16": 65504.0,
    "bf16": 3.3895313892515355e38,
    "f8e4m3fn": 448.0,
    "f8e5m2": 57344.0,
    "f8e8m0fnu": 2.0**127,
    "f6e2m3fn": 7.5,
    "f6e3m2fn": 28.0,
    "f4e2m1fn": 6.0,
}
_NAN = {
    "f64": "0x7FF8000000000000", "f32": "0x7FC00000", "tf32": "0x3FE00", "f16": "0x7E00",
    "bf16": "0x7FC0", "f8e4m3fn": "0x7F", "f8e5m2": "0x7E", "f8e8m0fnu": "0xFF",
}  # fmt: skip


def literal(value: bool | int | float, dtype: DType) -> str:
    """The text of a constant, without its type. Raises Misuse where the dtype cannot hold it."""
    if dtype.is_bool:
        if isinstance(value, bool) or value in (0, 1):
            return "true" if value else "false"
        raise Misuse(f"expected a bool constant, got {value!r}", "True, False, 0 or 1")
    if dtype.is_integer:
        return _integer(value, dtype)
    return _float(value, dtype)


def _integer(value: bool | int | float, dtype: DType) -> str:
    if isinstance(value, float):
        raise Misuse(
            f"expected an integer constant for {dtype}, got {value!r}",
            f"an int, or {int(value) if math.isfinite(value) else 0}",
        )
    value = int(value)
    if not dtype.minimum <= value <= dtype.maximum:
        raise Misuse(
            f"expected a constant that fits {dtype}, got {value}",
            f"{dtype.minimum} to {dtype.maximum}, or a cast to a wider dtype first",
        )
    if value > (dtype.maximum >> 1) and dtype.kind == "uint":
        value -= 1 << dtype.bits
    return str(value)


def _odd(value: bool | int | float) -> bool | int | float:
    """An int as one that f64 holds, so that rounding to a narrower float is the only rounding:
    what is left out sets the last bit."""
    size = abs(value)
    lost = size.bit_length() - 53 if isinstance(size, int) else 0
    if lost <= 0:
        return value
    kept = (size >> lost | bool(size & ((1 << lost) - 1))) << lost
    return -kept if value < 0 else kept


def _float(value: bool | int | float, dtype: DType) -> str:
    try:
        value = float(_odd(value) if dtype.name != "f64" else value)
    except OverflowError:
        raise Misuse(f"expected a constant that fits {dtype}, got an int beyond f64") from None
    if math.isnan(value):
        if dtype.name not in _NAN:
            raise Misuse(f"expected a constant that fits {dtype}, got NaN, which it has not")
        return _NAN[dtype.name]
    if math.isinf(value):
        if not dtype.infinity:
            raise Misuse(
                f"expected a constant that fits {dtype}, got an infinity, which it has not"
            )
        width = dtype.exponent + dtype.mantissa + 1
        bits = ((1 << dtype.exponent) - 1) << dtype.mantissa
        if value < 0:
            bits |= 1 << (width - 1)
        return f"0x{bits:0{(width + 3) // 4}X}"
    if abs(value) > LARGEST[dtype.name]:
        raise Misuse(
            f"expected a constant that fits {dtype}, got {value!r}",
            f"at most {LARGEST[dtype.name]:g} in size, or a cast to a wider dtype first",
        )
    if dtype.name == "f8e8m0fnu" and (value <= 0 or math.frexp(value)[0] != 0.5):
        raise Misuse(f"expected a power of two for f8e8m0fnu, got {value!r}")
    text = repr(value)
    mantissa, e, exponent = text.partition("e")
    return mantissa + ("" if "." in mantissa else ".0") + e + exponent


def quoted(text: str) -> str:
    """A string as the IR spells it."""
    out = []
    for byte in text.encode("utf-8", errors="surrogateescape"):
        char = chr(byte)
        if char in '"\\' or byte < 32 or byte > 126:
            out.append(f"\\{byte:02X}")
        else:
            out.append(char)
    return '"' + "".join(out) + '"'
