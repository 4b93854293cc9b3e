"""The types that values of a kernel have while it is compiled, and the facts about arguments.

`ScalarType`, `ViewType` and `PointerType` are also what a caller of `KernelSource.lower`
passes to say what the arguments of a kernel are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from kiln.language.dtypes import DType


@dataclass(frozen=True)
class Facts:
    """What is known of an argument when a kernel is compiled; every fact is optional.

    pointer   the base address is a multiple of so many bytes (1 to 16; 0: unknown)
    strides   each stride in bytes is a multiple of so much (0: unknown); () says nothing
    extents   each extent is a multiple of so many elements (0: unknown); () says nothing
    index32   every element lies within 2^31 bytes behind the base address
    noalias   no other argument reaches this argument's memory
    divisor   an integer argument is a multiple of this (0: unknown)
    """

    pointer: int = 0
    strides: tuple[int, ...] = ()
    extents: tuple[int, ...] = ()
    index32: bool = False
    noalias: bool = False
    divisor: int = 0

    @property
    def ir(self) -> str:
        """The attribute's text, or "" where nothing is known."""
        parts = []
        if self.pointer:
            parts.append(f"pointer = {self.pointer}")
        if any(self.strides):
            parts.append(f"strides = [{', '.join(map(str, self.strides))}]")
        if any(self.extents):
            parts.append(f"extents = [{', '.join(map(str, self.extents))}]")
        if self.index32:
            parts.append("index32")
        if self.noalias:
            parts.append("noalias")
        if self.divisor:
            parts.append(f"divisor = {self.divisor}")
        return f"#tile.facts<{', '.join(parts)}>" if parts else ""


NO_FACTS = Facts()


@dataclass(frozen=True)
class ScalarType:
    """One element of a dtype."""

    dtype: DType
    facts: Facts = field(default=NO_FACTS, compare=False)

    @cached_property
    def ir(self) -> str:
        return self.dtype.ir

    def __str__(self) -> str:
        return f"{self.dtype} scalar"


@dataclass(frozen=True)
class TensorType:
    """A tile: a static shape of one or more dimensions, and a dtype."""

    shape: tuple[int, ...]
    dtype: DType

    @cached_property
    def ir(self) -> str:
        return f"tensor<{''.join(f'{n}x' for n in self.shape)}{self.dtype.ir}>"

    def __str__(self) -> str:
        return f"{shape_text(self.shape)} {self.dtype} tensor"


@dataclass(frozen=True)
class ViewType:
    """An array in global memory. None is an extent or a stride that is known only at launch;
    strides count elements, and without them the last one is 1 and the others are unknown."""

    dtype: DType
    shape: tuple[int | None, ...]
    strides: tuple[int | None, ...] | None = None
    facts: Facts = field(default=NO_FACTS, compare=False)

    def __post_init__(self):
        if self.strides is None:
            default = (None,) * (len(self.shape) - 1) + (1,) if self.shape else ()
            object.__setattr__(self, "strides", default)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @cached_property
    def ir(self) -> str:
        extents = "".join(f"{'?' if n is None else n}x" for n in self.shape)
        default = (None,) * (len(self.shape) - 1) + (1,) if self.shape else ()
        strides = ""
        if self.strides != default:
            strides = (
                ", strides [" + ", ".join("?" if n is None else str(n) for n in self.strides) + "]"
            )
        return f"!tile.view<{extents}{self.dtype.storage_ir}{strides}>"

    def __str__(self) -> str:
        extents = "x".join("?" if n is None else str(n) for n in self.shape)
        return f"{extents} {self.dtype} view"


@dataclass(frozen=True)
class PointerType:
    """A bare address of elements of one dtype."""

    dtype: DType
    facts: Facts = field(default=NO_FACTS, compare=False)

    @cached_property
    def ir(self) -> str:
        return f"!tile.pointer<{self.dtype.storage_ir}>"

    def __str__(self) -> str:
        return f"{self.dtype} pointer"


Type = ScalarType | TensorType | ViewType | PointerType
ArgumentType = ScalarType | ViewType | PointerType


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as errors write it: 64x32."""
    return "x".join(map(str, shape)) if shape else "scalar"
