"""The element types of the language.

A `DType` is a value: it annotates a scalar parameter, is passed to `kiln.zeros` or `.to`, and
is compared with `==`. The IR underneath is signless; only Python knows that an integer is
unsigned, and picks the operation that goes with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class DType:
    """One element type.

    name      as it is written in Python, such as "bf16"
    kind      "float", "int", "uint", "bool" or "index"
    bits      the width of one element
    ir        the spelling in the IR
    exponent, mantissa
              the widths of a float's fields (0 for other kinds)
    infinity  whether a float has infinities
    """

    name: str
    kind: str
    bits: int
    ir: str
    exponent: int = 0
    mantissa: int = 0
    infinity: bool = False

    @property
    def is_float(self) -> bool:
        """True for every floating-point type."""
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """True for signed and unsigned integers and `index`; False for `bool`."""
        return self.kind in ("int", "uint", "index")

    @property
    def is_signed(self) -> bool:
        """True for floats, signed integers and `index`."""
        return self.kind in ("float", "int", "index")

    @property
    def is_bool(self) -> bool:
        """True for `bool` alone."""
        return self.kind == "bool"

    @property
    def storage_bits(self) -> int:
        """The width of an element in memory: a `bool` fills a byte."""
        return 8 if self.kind == "bool" else self.bits

    @property
    def storage_ir(self) -> str:
        """The spelling of the element type that views in memory have."""
        return "i8" if self.kind == "bool" else self.ir

    @property
    def minimum(self) -> int:
        """The least integer that fits (integers and `bool` only)."""
        return -(1 << (self.bits - 1)) if self.kind in ("int", "index") else 0

    @property
    def maximum(self) -> int:
        """The greatest integer that fits (integers and `bool` only)."""
        return (1 << (self.bits - (1 if self.kind in ("int", "index") else 0))) - 1

    def __call__(self, value):
        """Inside a kernel, `kiln.f32(x)` is `kiln.cast(x, kiln.f32)`."""
        raise TypeError(f"expected {self.name}(...) inside a kernel, got a call on the host")

    def __or__(self, other):
        """`kiln.i32 | None` annotates a scalar parameter that may be left out."""
        from kiln.language.annotations import or_none

        return or_none(self, other)

    __ror__ = __or__

    def __repr__(self) -> str:
        return f"kiln.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self):
        return (by_name, (self.name,))


f64 = DType("f64", "float", 64, "f64", 11, 52, True)
f32 = DType("f32", "float", 32, "f32", 8, 23, True)
tf32 = DType("tf32", "float", 19, "tf32", 8, 10, True)
f16 = DType("f16", "float", 16, "f16", 5, 10, True)
bf16 = DType("bf16", "float", 16, "bf16", 8, 7, True)
f8e4m3fn = DType("f8e4m3fn", "float", 8, "f8E4M3FN", 4, 3)
f8e5m2 = DType("f8e5m2", "float", 8, "f8E5M2", 5, 2, True)
f8e8m0fnu = DType("f8e8m0fnu", "float", 8, "f8E8M0FNU", 8, 0)
f6e2m3fn = DType("f6e2m3fn", "float", 6, "f6E2M3FN", 2, 3)
f6e3m2fn = DType("f6e3m2fn", "float", 6, "f6E3M2FN", 3, 2)
f4e2m1fn = DType("f4e2m1fn", "float", 4, "f4E2M1FN", 2, 1)
i64 = DType("i64", "int", 64, "i64")
i32 = DType("i32", "int", 32, "i32")
i16 = DType("i16", "int", 16, "i16")
i8 = DType("i8", "int", 8, "i8")
i4 = DType("i4", "int", 4, "i4")
i2 = DType("i2", "int", 2, "i2")
u64 = DType("u64", "uint", 64, "i64")
u32 = DType("u32", "uint", 32, "i32")
u16 = DType("u16", "uint", 16, "i16")
u8 = DType("u8", "uint", 8, "i8")
u4 = DType("u4", "uint", 4, "i4")
u2 = DType("u2", "uint", 2, "i2")
bool_ = DType("bool", "bool", 1, "i1")
index = DType("index", "index", 64, "index")

DTYPES = {
    d.name: d
    for d in (
        f64, f32, tf32, f16, bf16, f8e4m3fn, f8e5m2, f8e8m0fnu, f6e2m3fn, f6e3m2fn, f4e2m1fn,
        i64, i32, i16, i8, i4, i2, u64, u32, u16, u8, u4, u2, bool_, index,
    )
}  # fmt: skip

DTypeLike = DType | type[Any]
"""Where a dtype is asked for. To type checkers `kiln.f32` is a class; see __init__.pyi."""


def by_name(name: str) -> DType:
    """The dtype that is written `kiln.<name>`."""
    return DTYPES[name]
