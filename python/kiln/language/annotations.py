"""What a kernel's parameters are declared with: views, pointers, constants and tunables."""

from __future__ import annotations

from typing import Any

from kiln.language.dtypes import DType

MAX_RANK = 8  # KILN_MAX_RANK of kiln-c/Launch.h


class OptionalSpec:
    """`kiln.View[dtype, rank] | None`: an argument that may be left out, as None."""

    __slots__ = ("inner",)

    def __init__(self, inner: Any):
        self.inner = inner

    def __repr__(self) -> str:
        return f"{self.inner!r} | None"


def or_none(self: Any, other: Any) -> Any:
    """`self | None` for an annotation that is no class."""
    return OptionalSpec(self) if other is None or other is type(None) else NotImplemented


class ViewSpec:
    """`kiln.View[dtype, rank]`: a view whose dtype and rank are fixed.

    `kiln.View[dtype]` fixes the dtype alone. In place of a rank may stand the extents, with None
    for one that is known only at launch: `kiln.View[kiln.f32, None, 128]`, or as a tuple.
    """

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype: DType, shape: tuple[int | None, ...] | None):
        self.dtype = dtype
        self.shape = shape

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    def __repr__(self) -> str:
        return f"kiln.View[{self.dtype}, {self.shape}]"

    def __eq__(self, other) -> bool:
        return isinstance(other, ViewSpec) and (self.dtype, self.shape) == (
            other.dtype,
            other.shape,
        )

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape))

    __or__ = __ror__ = or_none


class PointerSpec:
    """`kiln.Pointer[dtype]`: a bare address, of which `kiln.view` makes a view."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: DType):
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"kiln.Pointer[{self.dtype}]"

    def __eq__(self, other) -> bool:
        return isinstance(other, PointerSpec) and self.dtype is other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)

    __or__ = __ror__ = or_none


def view_spec(key: Any) -> ViewSpec:
    """What stands in the brackets of `kiln.View[...]`, checked."""
    dtype, shape = key, None
    if isinstance(key, tuple) and len(key) > 1:
        dtype, shape = key[0], key[1] if len(key) == 2 else key[1:]
    if not isinstance(dtype, DType):
        raise TypeError(f"expected kiln.View[dtype, rank], got {dtype!r} for the dtype")
    if isinstance(shape, int) and not isinstance(shape, bool) and shape >= 0:
        if shape > MAX_RANK:
            raise TypeError(
                f"expected a rank of at most {MAX_RANK}, got {shape}; ({shape},) is an extent"
            )
        shape = (None,) * shape
    elif isinstance(shape, tuple):
        for extent in shape:
            if extent is not None and (not isinstance(extent, int) or extent < 0):
                raise TypeError(f"expected None or an extent of at least 0, got {extent!r}")
    elif shape is not None:
        raise TypeError(f"expected a rank or a tuple of extents, got {shape!r}")
    return ViewSpec(dtype, shape)


def pointer_spec(key: Any) -> PointerSpec:
    """What stands in the brackets of `kiln.Pointer[...]`, checked."""
    if not isinstance(key, DType):
        raise TypeError(f"expected kiln.Pointer[dtype], got {key!r}")
    return PointerSpec(key)


class constexpr:
    """Marks a parameter whose value is known when the kernel is compiled.

    Ints, floats, bools, strings, dtypes, tuples of these, None, and kiln functions. Each value
    makes a kernel of its own.
    """


class _Chosen:
    """What stands for the value of a tunable until the model has chosen one."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<chosen by the model>"

    def __copy__(self) -> _Chosen:
        return self

    def __deepcopy__(self, _: Any) -> _Chosen:
        return self

    def __reduce__(self) -> str:
        return "CHOSEN"


CHOSEN = _Chosen()


class tunable:
    """A constant that is chosen among candidates.

    `BM: kiln.tunable = kiln.tunable(32, 64, 128, default=64)`: a call that does not give the value
    by keyword gets the default. Without `default` the model chooses, anew for other sizes of the
    arguments; where it knows nothing of a chip, the first candidate is taken.
    """

    __slots__ = ("candidates", "default")

    def __init__(self, *candidates: Any, default: Any = None):
        if not candidates:
            raise TypeError("expected at least one candidate, got kiln.tunable()")
        for value in candidates:
            if not isinstance(value, (bool, int, float, str)):
                raise TypeError(f"expected ints, floats, bools or strings, got {value!r}")
        if default is None:
            default = CHOSEN
        elif default not in candidates:
            raise TypeError(f"expected a default among {candidates}, got {default!r}")
        self.candidates = candidates
        self.default = default

    def __repr__(self) -> str:
        default = "" if self.default is CHOSEN else f", default={self.default!r}"
        return f"kiln.tunable({', '.join(map(repr, self.candidates))}{default})"
