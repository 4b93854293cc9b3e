"""Memory, matrix products, reductions, scans, order and shape."""

from __future__ import annotations

from typing import Any

from kiln.language.dtypes import DTypeLike
from kiln.language.intrinsic import alike, intrinsic, on_host
from kiln.language.values import Number, Offsets, Shape, Tensor, View


@intrinsic
def load(
    view: View,
    offsets: Offsets,
    shape: Shape,
    pad: Number = 0,
    cache: str | None = None,
    evict: str | None = None,
) -> Tensor:
    """The tile of `shape` that starts at `offsets` (elements) of a view.

    `offsets` has one integer scalar and `shape` one constant for each dimension. What lies
    outside the view on any side is `pad` and its memory is not touched. `cache`: "all",
    "global", "streaming", "bypass"; `evict`: "normal", "first", "last". The format f8e8m0fnu has
    no zero: there a `pad` of 0 means 1.

    On the host, `kiln.load("k.kiln")` gives the compiled kernel of a file that
    `kernel.compile(...).save("k.kiln")` wrote: see `kiln.runtime.loaded.load`.

    Example: `z = view.load((i * 16, 0), (16, 64), pad=-kiln.inf)`

    Errors: offsets or extents that are not one for each dimension; extents that are not
    constants; a `pad` that the dtype does not hold.
    """


def _load_file(*arguments: Any, **keywords: Any) -> Any:
    import os

    if keywords or len(arguments) != 1 or not isinstance(arguments[0], (str, os.PathLike)):
        raise TypeError(
            "expected kiln.load inside a kernel or a @kiln.function, or with the path of a "
            "compiled kernel, got another call on the host"
        )
    from kiln.runtime.loaded import load as load_file

    return load_file(arguments[0])


on_host(load, _load_file)


@intrinsic
def store(
    view: View,
    offsets: Offsets,
    value: Tensor,
    cache: str | None = None,
    evict: str | None = None,
) -> None:
    """Writes a tile at `offsets` of a view; elements outside are dropped.

    `value` has the view's rank (a scalar fills a tile of extents 1). Constants take the view's
    dtype, what it holds without loss is widened, anything else needs `.to(view.dtype)`.

    Example: `out.store((i * 16, j * 16), x)`

    Errors: a rank other than the view's; a dtype that the view's does not hold without loss.
    """


@intrinsic
def gather(
    view: View,
    indices: Any,
    mask: Tensor | None = None,
    pad: Number = 0,
    cache: str | None = None,
    evict: str | None = None,
) -> Tensor:
    """Elements of a view at computed indices: one integer tensor for each dimension.

    The index tensors are broadcast to one shape, the result's. Where the mask is false, or an
    index lies outside, the element is `pad`.

    Example: `z = kiln.gather(view, (k[:, None], kiln.arange(32)[None, :]))`

    Errors: index tensors that are not one for each dimension, that are not integers or that do
    not broadcast.
    """


@intrinsic
def scatter(
    view: View,
    indices: Any,
    value: Tensor,
    mask: Tensor | None = None,
    cache: str | None = None,
    evict: str | None = None,
) -> None:
    """Writes elements at computed indices; masked and outside ones are dropped.

    Of elements with the same index one is written; which one is not defined.

    Example: `kiln.scatter(v, (k,), x[0])`

    Errors: as `gather`; a value of another dtype.
    """


@intrinsic
def atomic_add(
    view: View,
    indices: Any,
    value: Any,
    mask: Any = None,
    order: str = "acq_rel",
    scope: str = "device",
) -> Any:
    """Adds to elements, each atomically, and gives the old ones (0 where masked or outside).

    Indices are integer scalars (then `value` is a scalar) or integer tensors, one for each
    dimension. `order`: "relaxed", "acquire", "release", "acq_rel"; `scope`: "program",
    "cluster", "device", "system".

    Example: `kiln.atomic_add(counts, (k,), 1)`

    Errors: indices that are not one for each dimension; an element type without this operation on
    the target.
    """


atomic_min = alike(
    atomic_add,
    "atomic_min",
    """`atomic_add` with the lesser; of a NaN and a number, the number.

    Example: `kiln.atomic_min(v, (0,), kiln.min(x))`

    Errors: as `atomic_add`.
    """,
)

atomic_max = alike(
    atomic_add,
    "atomic_max",
    """`atomic_add` with the greater; of a NaN and a number, the number.

    Example: `kiln.atomic_max(v, (0,), kiln.max(x))`

    Errors: as `atomic_add`.
    """,
)

atomic_and = alike(
    atomic_add,
    "atomic_and",
    """`atomic_add` with bitwise and (integers).

    Example: `kiln.atomic_and(counts, (0,), 7)`

    Errors: as `atomic_add`; floats.
    """,
)

atomic_or = alike(
    atomic_add,
    "atomic_or",
    """`atomic_add` with bitwise or (integers).

    Example: `kiln.atomic_or(counts, (0,), 8)`

    Errors: as `atomic_add`; floats.
    """,
)

atomic_xor = alike(
    atomic_add,
    "atomic_xor",
    """`atomic_add` with bitwise exclusive or (integers).

    Example: `kiln.atomic_xor(counts, (0,), 1)`

    Errors: as `atomic_add`; floats.
    """,
)

atomic_exchange = alike(
    atomic_add,
    "atomic_exchange",
    """Replaces elements, each atomically, and gives the old ones.

    Example: `old = kiln.atomic_exchange(counts, (0,), 1)`

    Errors: as `atomic_add`.
    """,
)


@intrinsic
def atomic_cas(
    view: View,
    indices: Any,
    compare: Any,
    value: Any,
    mask: Any = None,
    order: str = "acq_rel",
    scope: str = "device",
) -> Any:
    """Writes `value` where the element's bits are `compare`'s; gives the old elements.

    Example: `old = kiln.atomic_cas(counts, (0,), 0, 1)`

    Errors: as `atomic_add`.
    """


@intrinsic
def dot(
    a: Tensor,
    b: Tensor,
    acc: Tensor | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    precision: str = "ieee",
    dtype: DTypeLike | None = None,
) -> Tensor:
    """The matrix product of [..., M, K] and [..., K, N], added to `acc`.

    With `transpose_a` the first is [..., K, M]; with `transpose_b` the second is [..., N, K].
    f64 accumulates in f64; f32, f16, bf16 and f8 in f32; integers in i32. Without `acc` it
    starts from zeros of `dtype` (by default the accumulator's; f16 operands may ask for f16).
    `precision` says how f32 operands are read: "ieee" exactly, "tf32" rounded to that, "tf32x3"
    as sums of two tf32 or more exactly.

    Example: `acc = kiln.dot(x, y, kiln.zeros((16, 16), kiln.f32))`

    Errors: extents that do not fit; operands of two dtypes that no product takes; an `acc` of
    another shape or dtype; a `precision` that is none of the three.
    """


@intrinsic
def dot_scaled(
    a: Tensor,
    scale_a: Tensor,
    b: Tensor,
    scale_b: Tensor,
    acc: Tensor | None = None,
    transpose_b: bool = False,
) -> Tensor:
    """A product of block-scaled matrices: a [M, K], b [K, N], scales [M or N, K / block].

    Elements f8, f6 or f4 with f8e8m0fnu scales and blocks of 32, or f4e2m1fn with f8e4m3fn
    scales and blocks of 16. Accumulates in f32. On a GPU an element times its scale is a bf16,
    which holds all of it down to 2^-126; what is smaller loses bits.

    Example: `acc = kiln.dot_scaled(f8, scales, f8, scales)`

    Errors: element and scale dtypes that are no pair; extents that do not fit.
    """


@intrinsic
def sum(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Any:
    """The sum along an axis, or of all elements (a scalar).

    Floats narrower than f32 are summed in f32 and give f32, integers narrower than 32 bits
    and bool give i32 or u32. The order is fixed by the compiled kernel.

    Example: `total = kiln.sum(x, axis=1)`

    Errors: an axis that the tensor does not have.
    """


prod = alike(
    sum,
    "prod",
    """The product along an axis, or of all elements; dtypes as `sum`.

    Example: `total = kiln.prod(x, axis=0)`

    Errors: an axis that the tensor does not have.
    """,
)


@intrinsic
def max(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Any:
    """The greatest element along an axis, or of all; NaN if there is one. Keeps the dtype.

    Example: `peak = kiln.max(x, axis=1, keepdims=True)`

    Errors: an axis that the tensor does not have.
    """


min = alike(
    max,
    "min",
    """The least element along an axis, or of all; NaN if there is one. Keeps the dtype.

    Example: `least = kiln.min(x)`

    Errors: an axis that the tensor does not have.
    """,
)


@intrinsic
def argmax(x: Tensor, axis: int | None = None) -> Any:
    """The i32 position of the greatest element; the first of equal ones; a NaN counts as such.

    Example: `at = kiln.argmax(x, axis=1)`

    Errors: an axis that the tensor does not have.
    """


argmin = alike(
    argmax,
    "argmin",
    """The i32 position of the least element; the first of equal ones; a NaN counts as such.

    Example: `at = kiln.argmin(x)`

    Errors: an axis that the tensor does not have.
    """,
)


@intrinsic
def any(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Any:
    """Whether some element is not zero (bool).

    Example: `found = kiln.any(x > 3.0)`

    Errors: an axis that the tensor does not have.
    """


all = alike(
    any,
    "all",
    """Whether every element is not zero (bool).

    Example: `good = kiln.all(x == x, axis=1)`

    Errors: an axis that the tensor does not have.
    """,
)


@intrinsic
def reduce(x: Any, axis: int | None, combine: Any, keepdims: bool = False) -> Any:
    """Combines all elements along an axis with an associative function of two scalars.

    `x` may be a tuple of tensors of one shape; then `combine` takes all left scalars, then all
    right ones, and gives a tuple. Left always stands before right along the axis.

    Example: `longest = kiln.reduce(x, 1, lambda a, b: kiln.maximum(a, b))`

    Errors: tensors of several shapes; a function that does not give as many scalars of the same
    dtypes.
    """


@intrinsic
def scan(x: Any, axis: int, combine: Any, reverse: bool = False) -> Any:
    """Combines all elements up to each one (`reverse`: from each one on), inclusive.

    Example: `running = kiln.scan(x, 1, lambda a, b: kiln.maximum(a, b))`

    Errors: as `reduce`.
    """


@intrinsic
def cumsum(x: Tensor, axis: int = 0, reverse: bool = False) -> Tensor:
    """Running sums along an axis; dtypes as `sum`.

    Example: `ends = kiln.cumsum(k)`

    Errors: an axis that the tensor does not have.
    """


cumprod = alike(
    cumsum,
    "cumprod",
    """Running products along an axis; dtypes as `sum`.

    Example: `z = kiln.cumprod(x, axis=1)`

    Errors: an axis that the tensor does not have.
    """,
)


@intrinsic
def sort(x: Tensor, *values: Tensor, axis: int = -1, descending: bool = False) -> Any:
    """Sorted along an axis; equal keys keep their order, -0 equals +0, NaN is last.

    `values` move with the keys (gives a tuple).

    Example: `keys, order = kiln.sort(x, kiln.broadcast_to(k[None, :], (16, 16)))`

    Errors: values of another shape than the keys'; an axis that the tensor does not have.
    """


@intrinsic
def topk(x: Tensor, k: int, axis: int = -1, largest: bool = True) -> tuple[Tensor, Tensor]:
    """The `k` largest (or smallest) elements in order, and their i32 positions.

    Of equal elements the first comes first; -0 equals +0; NaN counts as last.

    Example: `best, at = kiln.topk(x, 4)`

    Errors: a `k` that is not a constant from 1 to the extent; an axis that the tensor does not
    have.
    """


@intrinsic
def histogram(x: Tensor, bins: int, mask: Tensor | None = None) -> Tensor:
    """How often each of 0 ... bins - 1 occurs in an integer tensor: i32 of shape (bins,).

    Example: `bins = kiln.histogram(k, 16)`

    Errors: a tensor of floats; fewer than one bin; a mask that is not bool.
    """


@intrinsic
def broadcast_to(x: Any, shape: Shape) -> Tensor:
    """Repeats along dimensions of extent 1 and new leading ones, as NumPy does.

    Example: `z = kiln.broadcast_to(x[0][None, :], (16, 16))`

    Errors: a shape that the tensor does not broadcast to.
    """


@intrinsic
def reshape(x: Tensor, shape: Shape) -> Tensor:
    """The same elements in row-major order; one extent may be -1; () gives a scalar.

    Example: `z = kiln.reshape(x, (4, -1))`

    Errors: a shape of another number of elements.
    """


@intrinsic
def transpose(x: Tensor, *permutation: int) -> Tensor:
    """Dimension i of the result is dimension `permutation[i]`; without one, all reversed.

    Example: `z = kiln.transpose(x)`

    Errors: dimensions that are not each there once.
    """


@intrinsic
def expand_dims(x: Tensor, axis: int) -> Tensor:
    """A new dimension of extent 1 at `axis`.

    Example: `z = kiln.expand_dims(k, 0)`

    Errors: an axis that the tensor does not have.
    """


@intrinsic
def join(x: Tensor, y: Tensor) -> Tensor:
    """Interleaves two tensors along a new last dimension of extent 2.

    Example: `pairs = kiln.join(x, y)`

    Errors: two tensors of different types.
    """


@intrinsic
def split(x: Tensor) -> tuple[Tensor, Tensor]:
    """The two tensors that a last dimension of extent 2 interleaves.

    Example: `even, odd = kiln.split(kiln.reshape(x, (16, 8, 2)))`

    Errors: a last dimension whose extent is not 2.
    """


@intrinsic
def concat(tensors: Any, axis: int = 0) -> Tensor:
    """Tensors of one dtype, one after another along a dimension.

    Example: `wide = kiln.concat((x, y), axis=1)`

    Errors: tensors of several dtypes, or that differ along another axis.
    """


@intrinsic
def slice(x: Tensor, offsets: Shape, shape: Shape) -> Tensor:
    """The elements from constant offsets on, as many as `shape` says.

    Example: `z = kiln.slice(x, (0, 8), (16, 8))`

    Errors: a slice that leaves the tensor; offsets that are not constants.
    """


__all__ = [
    "all", "any", "argmax", "argmin", "atomic_add", "atomic_and", "atomic_cas",
    "atomic_exchange", "atomic_max", "atomic_min", "atomic_or", "atomic_xor", "broadcast_to",
    "concat", "cumprod", "cumsum", "dot", "dot_scaled", "expand_dims", "gather", "histogram",
    "join", "load", "max", "min", "prod", "reduce", "reshape", "scan", "scatter", "slice",
    "sort", "split", "store", "sum", "topk", "transpose",
]  # fmt: skip
