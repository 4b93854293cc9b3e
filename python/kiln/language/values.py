"""What values look like inside a kernel: classes that editors complete, never instantiated.

`View` and `Pointer` also annotate parameters.
"""

from __future__ import annotations

from typing import Any

from kiln.language.annotations import PointerSpec, ViewSpec, pointer_spec, view_spec
from kiln.language.dtypes import DType, DTypeLike

Number = Any
"""A scalar: a Python constant, or a value that is known only when the kernel runs."""
Offsets = Any
"""One integer scalar for each dimension of a view, in a tuple; for one dimension, itself."""
Axes = Any
"""An axis, a tuple of axes, or None for all of them."""
Shape = Any
"""A tuple of constant extents; for one dimension, itself."""


class Tensor:
    """A tile: a static shape and a dtype, computed with element by element.

    `+ - * / // % **`, comparisons, `& | ^ ~ << >>` and unary `-` broadcast as NumPy does.
    Dtypes: two alike stay; an int with a float becomes the float; two floats become the wider
    (f16 with bf16: f32); ints of one signedness become the wider, a signed with an unsigned
    the least signed type that holds both (at most i64); a Python number takes the tensor's
    dtype (a float with an int tensor: f32); `/` on ints gives f32; comparisons give bool.

    Integers wrap. `//` and `%` round towards minus infinity as in Python, for floats too;
    dividing an integer by zero gives 0 for both. Shifting by the width or more gives 0 (or the
    sign, for `>>` on signed). Floats of 8 bits and fewer and tf32 are computed in f32 and each
    result is rounded.

    `x[:, None]` adds a dimension of extent 1; `x[8:16, :]` takes a slice with constant bounds,
    `x[::-1]` one with a constant step.
    """

    shape: tuple[int, ...]
    """The extents, as Python ints."""
    dtype: DType
    """The element type."""
    rank: int
    """The number of dimensions."""
    T: Tensor
    """The dimensions in the opposite order."""

    def to(self, dtype: DTypeLike) -> Tensor:
        """`kiln.cast(self, dtype)`."""

    def bitcast(self, dtype: DTypeLike) -> Tensor:
        """`kiln.bitcast(self, dtype)`."""

    def reshape(self, *shape: Shape) -> Tensor:
        """`kiln.reshape(self, shape)`."""

    def transpose(self, *permutation: int) -> Tensor:
        """`kiln.transpose(self, *permutation)`."""

    def permute(self, *permutation: int) -> Tensor:
        """`kiln.permute(self, *permutation)`."""

    def gather(self, indices: Tensor, axis: int | None = None) -> Tensor:
        """`kiln.gather(self, indices, axis)`."""

    def flip(self, axis: Axes = None) -> Tensor:
        """`kiln.flip(self, axis)`."""

    def roll(self, shift: Any, axis: Axes = None) -> Tensor:
        """`kiln.roll(self, shift, axis)`."""

    def broadcast_to(self, *shape: Shape) -> Tensor:
        """`kiln.broadcast_to(self, shape)`."""

    def expand_dims(self, axis: int) -> Tensor:
        """`kiln.expand_dims(self, axis)`."""

    def sum(self, axis: Axes = None, keepdims: bool = False) -> Tensor:
        """`kiln.sum(self, axis, keepdims)`."""

    def prod(self, axis: Axes = None, keepdims: bool = False) -> Tensor:
        """`kiln.prod(self, axis, keepdims)`."""

    def max(self, axis: Axes = None, keepdims: bool = False, return_indices: bool = False) -> Any:
        """`kiln.max(self, axis, keepdims, return_indices)`."""

    def min(self, axis: Axes = None, keepdims: bool = False, return_indices: bool = False) -> Any:
        """`kiln.min(self, axis, keepdims, return_indices)`."""

    def argmax(self, axis: Axes = None, keepdims: bool = False) -> Tensor:
        """`kiln.argmax(self, axis, keepdims)`."""

    def argmin(self, axis: Axes = None, keepdims: bool = False) -> Tensor:
        """`kiln.argmin(self, axis, keepdims)`."""

    def any(self, axis: Axes = None, keepdims: bool = False) -> Tensor:
        """`kiln.any(self, axis, keepdims)`."""

    def all(self, axis: Axes = None, keepdims: bool = False) -> Tensor:
        """`kiln.all(self, axis, keepdims)`."""

    def cumsum(self, axis: int = 0, reverse: bool = False) -> Tensor:
        """`kiln.cumsum(self, axis, reverse)`."""

    def cumprod(self, axis: int = 0, reverse: bool = False) -> Tensor:
        """`kiln.cumprod(self, axis, reverse)`."""

    def mean(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
        """`kiln.mean(self, axis, keepdims)`."""

    def var(
        self, axis: int | tuple[int, ...] | None = None, ddof: int = 0, keepdims: bool = False
    ) -> Tensor:
        """`kiln.var(self, axis, ddof, keepdims)`."""

    def std(
        self, axis: int | tuple[int, ...] | None = None, ddof: int = 0, keepdims: bool = False
    ) -> Tensor:
        """`kiln.std(self, axis, ddof, keepdims)`."""

    def softmax(self, axis: int = -1) -> Tensor:
        """`kiln.softmax(self, axis)`."""

    def log_softmax(self, axis: int = -1) -> Tensor:
        """`kiln.log_softmax(self, axis)`."""

    def logsumexp(
        self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
    ) -> Tensor:
        """`kiln.logsumexp(self, axis, keepdims)`."""

    def squeeze(self, axis: int | tuple[int, ...] | None = None) -> Tensor:
        """`kiln.squeeze(self, axis)`."""

    def __add__(self, other: Any) -> Tensor: ...
    def __radd__(self, other: Any) -> Tensor: ...
    def __sub__(self, other: Any) -> Tensor: ...
    def __rsub__(self, other: Any) -> Tensor: ...
    def __mul__(self, other: Any) -> Tensor: ...
    def __rmul__(self, other: Any) -> Tensor: ...
    def __truediv__(self, other: Any) -> Tensor: ...
    def __rtruediv__(self, other: Any) -> Tensor: ...
    def __floordiv__(self, other: Any) -> Tensor: ...
    def __rfloordiv__(self, other: Any) -> Tensor: ...
    def __mod__(self, other: Any) -> Tensor: ...
    def __rmod__(self, other: Any) -> Tensor: ...
    def __pow__(self, other: Any) -> Tensor: ...
    def __matmul__(self, other: Tensor) -> Tensor: ...
    def __and__(self, other: Any) -> Tensor: ...
    def __or__(self, other: Any) -> Tensor: ...
    def __xor__(self, other: Any) -> Tensor: ...
    def __lshift__(self, other: Any) -> Tensor: ...
    def __rshift__(self, other: Any) -> Tensor: ...
    def __lt__(self, other: Any) -> Tensor: ...
    def __le__(self, other: Any) -> Tensor: ...
    def __gt__(self, other: Any) -> Tensor: ...
    def __ge__(self, other: Any) -> Tensor: ...
    def __neg__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __getitem__(self, key: Any) -> Tensor: ...


class View:
    """A strided array in global memory.

    As an annotation, `kiln.View` takes dtype and rank from the argument; `kiln.View[bf16, 2]`
    and `kiln.View[bf16, (None, 128)]` fix them. A view of `bool` has one byte an element.

    `a[i, j]` reads one element, `a[i, j] = x` writes one, `a[i, j] += x` reads and writes it.
    Fewer indices, slices and None make a view of a part, which costs nothing: `a[i]` drops a
    dimension, `a[:, 16:32]` has the extents of the slice, so that what lies beyond is outside of
    it; constant bounds below zero count from the end, those of scalars are taken as 0; steps are
    constants. An index that is outside when the kernel runs gives a view with no elements.
    `a[i, 0:16] = tile` writes at the start of a part, `a[i, 0:16] += tile` reads and writes there.
    `a if c else b`, and names that an `if` or a loop changes, may be views of one dtype and rank.
    """

    shape: tuple[Any, ...]
    """The extents: Python ints where they are known when compiling, else `index` scalars."""
    strides: tuple[Any, ...]
    """The strides in elements, likewise."""
    dtype: DType
    """The element type."""
    rank: int
    """The number of dimensions."""
    T: View
    """The dimensions in the opposite order, of the same memory."""

    def __class_getitem__(cls, key: Any) -> ViewSpec:
        return view_spec(key)

    def load(
        self,
        offsets: Offsets,
        shape: Shape,
        pad: Number = 0,
        cache: str | None = None,
        evict: str | None = None,
        squeeze: bool | int | tuple[int, ...] = False,
    ) -> Tensor:
        """`kiln.load(self, offsets, shape, pad, cache, evict, squeeze)`."""

    def store(
        self,
        offsets: Offsets,
        value: Tensor,
        cache: str | None = None,
        evict: str | None = None,
    ) -> None:
        """`kiln.store(self, offsets, value, cache, evict)`."""

    def gather(
        self,
        indices: Any,
        mask: Tensor | None = None,
        pad: Number = 0,
        cache: str | None = None,
        evict: str | None = None,
    ) -> Tensor:
        """`kiln.gather(self, indices, mask, pad, cache, evict)`."""

    def scatter(
        self,
        indices: Any,
        value: Tensor,
        mask: Tensor | None = None,
        cache: str | None = None,
        evict: str | None = None,
    ) -> None:
        """`kiln.scatter(self, indices, value, mask, cache, evict)`."""

    def reshape(self, *shape: Shape) -> View:
        """`kiln.reshape(self, shape)`."""

    def transpose(self, *permutation: int) -> View:
        """`kiln.transpose(self, *permutation)`."""

    def permute(self, *permutation: int) -> View:
        """`kiln.permute(self, *permutation)`."""

    def __getitem__(self, key: Any) -> Any: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...


class Pointer:
    """A bare address in global memory, of which `kiln.view` makes a view.

    As an annotation it names its dtype: `kiln.Pointer[kiln.f32]`.
    """

    dtype: DType
    """The element type."""

    def __class_getitem__(cls, key: Any) -> PointerSpec:
        return pointer_spec(key)
