"""The names of the language. What they mean is the business of `kiln.frontend`."""

from kiln.language import (
    activations,
    bits,
    elementwise,
    mathematics,
    matrices,
    program,
    schedule,
    statistics,
    tiles,
)  # fmt: skip
from kiln.language.activations import *  # noqa: F403
from kiln.language.annotations import PointerSpec, ViewSpec, constexpr, tunable
from kiln.language.bits import *  # noqa: F403
from kiln.language.dtypes import (
    DType,
    bf16,
    bool_,
    f4e2m1fn,
    f6e2m3fn,
    f6e3m2fn,
    f8e4m3fn,
    f8e5m2,
    f8e8m0fnu,
    f16,
    f32,
    f64,
    i2,
    i4,
    i8,
    i16,
    i32,
    i64,
    index,
    tf32,
    u2,
    u4,
    u8,
    u16,
    u32,
    u64,
)  # fmt: skip
from kiln.language.elementwise import *  # noqa: F403
from kiln.language.mathematics import *  # noqa: F403
from kiln.language.matrices import *  # noqa: F403
from kiln.language.program import *  # noqa: F403
from kiln.language.schedule import *  # noqa: F403
from kiln.language.statistics import *  # noqa: F403
from kiln.language.tiles import *  # noqa: F403
from kiln.language.values import Pointer, Tensor, View

bool = bool_

__all__ = [
    "DType",
    "Pointer",
    "PointerSpec",
    "Tensor",
    "View",
    "ViewSpec",
    "bf16",
    "bool",
    "constexpr",
    "f4e2m1fn",
    "f6e2m3fn",
    "f6e3m2fn",
    "f8e4m3fn",
    "f8e5m2",
    "f8e8m0fnu",
    "f16",
    "f32",
    "f64",
    "i2",
    "i4",
    "i8",
    "i16",
    "i32",
    "i64",
    "index",
    "tf32",
    "tunable",
    "u2",
    "u4",
    "u8",
    "u16",
    "u32",
    "u64",
]  # fmt: skip
__all__ += program.__all__
__all__ += schedule.__all__
__all__ += elementwise.__all__
__all__ += mathematics.__all__
__all__ += tiles.__all__
__all__ += statistics.__all__
__all__ += activations.__all__
__all__ += bits.__all__
__all__ += matrices.__all__
