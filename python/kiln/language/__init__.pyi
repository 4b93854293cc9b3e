# What editors and type checkers see of the language. A dtype is both a value
# (`kiln.zeros(4, kiln.f32)`) and an annotation (`alpha: kiln.f32`), which only a class can be; a
# parameter that is annotated `constexpr` or `tunable` is a plain value inside the kernel.
from typing import Any, Generic, TypeVar

from kiln.language import values
from kiln.language.activations import gelu as gelu
from kiln.language.activations import relu as relu
from kiln.language.activations import silu as silu
from kiln.language.annotations import PointerSpec as PointerSpec
from kiln.language.annotations import ViewSpec as ViewSpec
from kiln.language.bits import bitreverse as bitreverse
from kiln.language.bits import clz as clz
from kiln.language.bits import ctz as ctz
from kiln.language.bits import mulhi as mulhi
from kiln.language.bits import popcount as popcount
from kiln.language.dtypes import DType as DType
from kiln.language.elementwise import abs as abs
from kiln.language.elementwise import arange as arange
from kiln.language.elementwise import bitcast as bitcast
from kiln.language.elementwise import cast as cast
from kiln.language.elementwise import clamp as clamp
from kiln.language.elementwise import fma as fma
from kiln.language.elementwise import full as full
from kiln.language.elementwise import isfinite as isfinite
from kiln.language.elementwise import isinf as isinf
from kiln.language.elementwise import isnan as isnan
from kiln.language.elementwise import maximum as maximum
from kiln.language.elementwise import minimum as minimum
from kiln.language.elementwise import ones as ones
from kiln.language.elementwise import philox as philox
from kiln.language.elementwise import rand as rand
from kiln.language.elementwise import randint as randint
from kiln.language.elementwise import randn as randn
from kiln.language.elementwise import sign as sign
from kiln.language.elementwise import where as where
from kiln.language.elementwise import zeros as zeros
from kiln.language.mathematics import acos as acos
from kiln.language.mathematics import acosh as acosh
from kiln.language.mathematics import asin as asin
from kiln.language.mathematics import asinh as asinh
from kiln.language.mathematics import atan as atan
from kiln.language.mathematics import atan2 as atan2
from kiln.language.mathematics import atanh as atanh
from kiln.language.mathematics import cbrt as cbrt
from kiln.language.mathematics import ceil as ceil
from kiln.language.mathematics import copysign as copysign
from kiln.language.mathematics import cos as cos
from kiln.language.mathematics import cosh as cosh
from kiln.language.mathematics import erf as erf
from kiln.language.mathematics import erfc as erfc
from kiln.language.mathematics import exp as exp
from kiln.language.mathematics import exp2 as exp2
from kiln.language.mathematics import expm1 as expm1
from kiln.language.mathematics import floor as floor
from kiln.language.mathematics import log as log
from kiln.language.mathematics import log1p as log1p
from kiln.language.mathematics import log2 as log2
from kiln.language.mathematics import log10 as log10
from kiln.language.mathematics import round as round
from kiln.language.mathematics import rsqrt as rsqrt
from kiln.language.mathematics import sigmoid as sigmoid
from kiln.language.mathematics import sin as sin
from kiln.language.mathematics import sinh as sinh
from kiln.language.mathematics import sqrt as sqrt
from kiln.language.mathematics import tan as tan
from kiln.language.mathematics import tanh as tanh
from kiln.language.mathematics import trunc as trunc
from kiln.language.matrices import eye as eye
from kiln.language.matrices import full_like as full_like
from kiln.language.matrices import inf as inf
from kiln.language.matrices import nan as nan
from kiln.language.matrices import next_power_of_2 as next_power_of_2
from kiln.language.matrices import ones_like as ones_like
from kiln.language.matrices import pi as pi
from kiln.language.matrices import squeeze as squeeze
from kiln.language.matrices import swizzle2d as swizzle2d
from kiln.language.matrices import tril as tril
from kiln.language.matrices import triu as triu
from kiln.language.matrices import zeros_like as zeros_like
from kiln.language.program import assume as assume
from kiln.language.program import cdiv as cdiv
from kiln.language.program import device_assert as device_assert
from kiln.language.program import device_print as device_print
from kiln.language.program import extern_call as extern_call
from kiln.language.program import grid as grid
from kiln.language.program import inline_asm as inline_asm
from kiln.language.program import multiple_of as multiple_of
from kiln.language.program import num_programs as num_programs
from kiln.language.program import pointer as pointer
from kiln.language.program import program_id as program_id
from kiln.language.program import static_assert as static_assert
from kiln.language.program import static_print as static_print
from kiln.language.program import static_range as static_range
from kiln.language.program import view as view
from kiln.language.schedule import pin as pin
from kiln.language.schedule import role as role
from kiln.language.statistics import log_softmax as log_softmax
from kiln.language.statistics import logsumexp as logsumexp
from kiln.language.statistics import mean as mean
from kiln.language.statistics import softmax as softmax
from kiln.language.statistics import std as std
from kiln.language.statistics import var as var
from kiln.language.tiles import all as all
from kiln.language.tiles import any as any
from kiln.language.tiles import argmax as argmax
from kiln.language.tiles import argmin as argmin
from kiln.language.tiles import atomic_add as atomic_add
from kiln.language.tiles import atomic_and as atomic_and
from kiln.language.tiles import atomic_cas as atomic_cas
from kiln.language.tiles import atomic_exchange as atomic_exchange
from kiln.language.tiles import atomic_max as atomic_max
from kiln.language.tiles import atomic_min as atomic_min
from kiln.language.tiles import atomic_or as atomic_or
from kiln.language.tiles import atomic_xor as atomic_xor
from kiln.language.tiles import broadcast_to as broadcast_to
from kiln.language.tiles import concat as concat
from kiln.language.tiles import cumprod as cumprod
from kiln.language.tiles import cumsum as cumsum
from kiln.language.tiles import dot as dot
from kiln.language.tiles import dot_scaled as dot_scaled
from kiln.language.tiles import expand_dims as expand_dims
from kiln.language.tiles import flip as flip
from kiln.language.tiles import gather as gather
from kiln.language.tiles import histogram as histogram
from kiln.language.tiles import join as join
from kiln.language.tiles import load as load
from kiln.language.tiles import max as max
from kiln.language.tiles import min as min
from kiln.language.tiles import permute as permute
from kiln.language.tiles import prod as prod
from kiln.language.tiles import reduce as reduce
from kiln.language.tiles import reshape as reshape
from kiln.language.tiles import roll as roll
from kiln.language.tiles import scan as scan
from kiln.language.tiles import scatter as scatter
from kiln.language.tiles import slice as slice
from kiln.language.tiles import sort as sort
from kiln.language.tiles import split as split
from kiln.language.tiles import store as store
from kiln.language.tiles import sum as sum
from kiln.language.tiles import topk as topk
from kiln.language.tiles import transpose as transpose
from kiln.language.values import Tensor as Tensor

_T = TypeVar("_T")

# mypy takes a rank in brackets only of what it knows nothing of; it sets this name.
MYPY = False
if MYPY:
    View: Any
else:
    class View(values.View):
        """A strided array in global memory.

        As an annotation, `kiln.View` takes dtype and rank from the argument; `kiln.View[bf16, 2]`
        and `kiln.View[bf16, None, 128]` fix them. `a[i, j]` reads one element and `a[i, j] = x`
        writes one. A view of `bool` has one byte an element.
        """

        def __class_getitem__(cls, key: Any) -> ViewSpec: ...

class Pointer(values.Pointer, Generic[_T]):
    """A bare address in global memory, of which `kiln.view` makes a view.

    As an annotation it names its dtype: `kiln.Pointer[kiln.f32]`.
    """

constexpr = Any
"""Marks a parameter whose value is known when the kernel is compiled."""

class tunable(Any):
    """A constant that a tuner chooses among candidates.

    `BM: kiln.tunable = kiln.tunable(32, 64, 128, default=64)`; without `default` the first
    candidate is taken. A call may still give the value by keyword.
    """

    def __init__(self, *candidates: Any, default: Any = None) -> None: ...

class _Element(Any):
    name: str
    bits: int
    minimum: int
    maximum: int
    def __init__(self, value: Any) -> None:
        """`kiln.cast(value, dtype)`."""

class f64(_Element):
    """The float of 64 bits."""

class f32(_Element):
    """The float of 32 bits."""

class tf32(_Element):
    """The float of 19 bits that matrix units read f32 as; not in memory."""

class f16(_Element):
    """The float of 16 bits."""

class bf16(_Element):
    """The brain float of 16 bits."""

class f8e4m3fn(_Element):
    """The float of 8 bits (E4M3FN)."""

class f8e5m2(_Element):
    """The float of 8 bits (E5M2)."""

class f8e8m0fnu(_Element):
    """The float of 8 bits (E8M0FNU)."""

class f6e2m3fn(_Element):
    """The float of 6 bits (E2M3FN)."""

class f6e3m2fn(_Element):
    """The float of 6 bits (E3M2FN)."""

class f4e2m1fn(_Element):
    """The float of 4 bits (E2M1FN)."""

class i64(_Element):
    """The signed integer of 64 bits."""

class i32(_Element):
    """The signed integer of 32 bits."""

class i16(_Element):
    """The signed integer of 16 bits."""

class i8(_Element):
    """The signed integer of 8 bits."""

class i4(_Element):
    """The signed integer of 4 bits."""

class i2(_Element):
    """The signed integer of 2 bits."""

class u64(_Element):
    """The unsigned integer of 64 bits."""

class u32(_Element):
    """The unsigned integer of 32 bits."""

class u16(_Element):
    """The unsigned integer of 16 bits."""

class u8(_Element):
    """The unsigned integer of 8 bits."""

class u4(_Element):
    """The unsigned integer of 4 bits."""

class u2(_Element):
    """The unsigned integer of 2 bits."""

class bool(_Element):
    """True or false; a byte in memory."""

class index(_Element):
    """The signed 64-bit integer that extents, offsets and program ids have."""
