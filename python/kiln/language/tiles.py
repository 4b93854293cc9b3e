"""Memory, matrix products, reductions, scans, order and shape."""

from __future__ import annotations

from typing import Any

from kiln.language.dtypes import DTypeLike
from kiln.language.intrinsic import alike, intrinsic, on_host
from kiln.language.values import Axes, Number, Offsets, Shape, Tensor, View


@intrinsic
def load(
    view: View,
    offsets: Offsets,
    shape: Shape,
    pad: Number = 0,
    cache: str | None = None,
    evict: str | None = None,
    squeeze: bool | int | tuple[int, ...] = False,
) -> Tensor:
    """The tile of `shape` that starts at `offsets` (elements) of a view.

    `offsets` has one integer scalar and `shape` one constant for each dimension. What lies
    outside the view on any side is `pad` and its memory is not touched. `cache`: "all",
    "global", "streaming", "bypass"; `evict`: "normal", "first", "last": what they ask of a
    device's caches, and which devices can do so, stands in docs/language.md. The format f8e8m0fnu
    has no zero: there a `pad` of 0 means 1.

    `squeeze` drops dimensions of the result: True all of extent 1, an axis or a tuple of axes
    those, which must be of extent 1: `view.load((i, 0), (1, 64), squeeze=0)` is of shape (64,).
    What has no dimension left is a scalar.

    On the host, `kiln.load("k.kiln")` gives the compiled kernel of a file that
    `kernel.compile(...).save("k.kiln")` wrote: see `kiln.runtime.loaded.load`.

    Example: `z = view.load((i * 16, 0), (16, 64), pad=-kiln.inf)`

    Errors: offsets or extents that are not one for each dimension; extents that are not
    constants; a `pad` that the dtype does not hold; a dimension to drop that is not of extent 1.
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
    axis: int | None = None,
) -> Tensor:
    """Elements at computed indices, of a view or of a tile.

    Of a view: `indices` is one integer tensor for each dimension. They are broadcast to one shape,
    the result's. Where the mask is false, or an index lies outside, the element is `pad`:
    `kiln.gather(view, (k[:, None], kiln.arange(32)[None, :]))`.

    Of a tile, `kiln.gather(tile, indices, axis)`: `indices` is one integer tensor of the tile's
    rank, positions along `axis` (which a tile of rank 1 need not name). Its extent along the axis
    is the result's; the other extents are the tile's, or 1 on either side, which repeats. Element
    [i, j] along axis 1 is `tile[i, indices[i, j]]`, as `numpy.take_along_axis` has it, but that a
    position outside of the tile, also a negative one, gives `pad`.

    Example: `evens = kiln.gather(x, 2 * kiln.arange(8)[None, :], axis=1)`

    Errors: index tensors that are not one for each dimension, that are not integers or that do
    not broadcast; of a tile indices of another rank.
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

    Errors: as `gather`; a dtype that the view's does not hold without loss.
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

    Leading dimensions broadcast, as NumPy's `matmul` has it: [B, 1, M, K] and [H, K, N] give
    [B, H, M, N], which is then the shape of `acc`.
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
    scale_a: Tensor | None,
    b: Tensor,
    scale_b: Tensor | None,
    acc: Tensor | None = None,
    transpose_b: bool = False,
) -> Tensor:
    """A product of block-scaled matrices: a [M, K], b [K, N], scales [M or N, K / block].

    Elements f8, f6 or f4 with f8e8m0fnu scales and blocks of 32, or f4e2m1fn with f8e4m3fn
    scales and blocks of 16, none of them below zero. Accumulates in f32. On a GPU without an
    instruction for it an element times its scale is a bf16, which holds all of it down to 2^-126;
    what is smaller loses bits. Products that run on beside their warps are of f8 by f8, or of f4
    by f4 that is loaded as bytes, along k, and bitcast.

    One side may have None for its scales: its elements are what they are. They are f8, f6 or f4,
    or bf16, f16 or f32. Beside bf16 the scaled side becomes bf16, beside f16 and f32 both become
    f32, and the product is that of `dot`.

    Example: `acc = kiln.dot_scaled(f8, None, f8, scales)`

    Errors: element and scale dtypes that are no pair; extents that do not fit; no scales at all.
    """


@intrinsic
def sum(x: Tensor, axis: Axes = None, keepdims: bool = False) -> Any:
    """The sum along an axis, along each of a tuple of axes, or of all elements (a scalar).

    The dimensions summed over are dropped, or with `keepdims` of extent 1: of an x of shape
    (8, 4, 16) `kiln.sum(x, axis=(0, 2))` has the shape (4,).

    Floats narrower than f32 are summed in f32 and give f32, integers narrower than 32 bits
    and bool give i32 or u32. The order is fixed by the compiled kernel.

    Example: `total = kiln.sum(x, axis=(0, 1))`

    Errors: an axis that the tensor does not have, or one named twice.
    """


prod = alike(
    sum,
    "prod",
    """The product along an axis, a tuple of axes, or of all; dtypes as `sum`.

    Example: `total = kiln.prod(x, axis=0)`

    Errors: an axis that the tensor does not have.
    """,
)


@intrinsic
def max(x: Tensor, axis: Axes = None, keepdims: bool = False, return_indices: bool = False) -> Any:
    """The greatest element along an axis, a tuple of axes, or of all; NaN if there is one. Keeps
    the dtype.

    With `return_indices` a pair: the elements and their positions, as `argmax` gives them.

    Example: `values, at = kiln.max(x, axis=1, return_indices=True)`

    Errors: an axis that the tensor does not have.
    """


min = alike(
    max,
    "min",
    """The least element along an axis, a tuple of axes, or of all; NaN if there is one. Keeps
    the dtype. With `return_indices` also the positions, as `argmin` gives them.

    Example: `least = kiln.min(x)`

    Errors: an axis that the tensor does not have.
    """,
)


@intrinsic
def argmax(x: Tensor, axis: Axes = None, keepdims: bool = False) -> Any:
    """The i32 position of the greatest element; the first of equal ones; a NaN counts as such.

    Along a tuple of axes, or all (None), the position counts their elements in row-major order.

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
def any(x: Tensor, axis: Axes = None, keepdims: bool = False) -> Any:
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
def reduce(x: Any, axis: Axes, combine: Any, keepdims: bool = False) -> Any:
    """Combines all elements along an axis, a tuple of axes or all of them (None) with an
    associative function of two scalars.

    `x` may be a tuple of tensors of one shape; then `combine` takes all left scalars, then all
    right ones, and gives a tuple. Left always stands before right along the axis, of
    several axes in row-major order.

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
def reshape(x: Tensor | View, shape: Shape) -> Any:
    """The same elements in row-major order; one extent may be -1; () gives a scalar.

    Of a view, a view of the same memory: extents may be integer scalars. Dimensions become one only
    where they are dense in memory: each stride is the next one's times its extent. What
    is known of that when compiling is an error there, what is not is asserted when the kernel runs
    and fails the launch.

    Example: `z = kiln.reshape(x, (4, -1))`

    Errors: a shape of another number of elements; a view whose strides do not allow it.
    """


@intrinsic
def transpose(x: Tensor | View, *permutation: int) -> Any:
    """Dimension i of the result is dimension `permutation[i]`; without one, all reversed.

    Of a view, a view of the same memory.

    Example: `z = kiln.transpose(x)`

    Errors: dimensions that are not each there once.
    """


permute = alike(
    transpose,
    "permute",
    """`transpose`: dimension i of the result is dimension `permutation[i]`.

    Example: `z = kiln.permute(view, 1, 0)`

    Errors: dimensions that are not each there once.
    """,
)


@intrinsic
def flip(x: Tensor, axis: Axes = None) -> Tensor:
    """The elements in the opposite order along an axis, a tuple of axes, or all of them.

    `x[:, ::-1]` is `kiln.flip(x, axis=1)`.

    Example: `z = kiln.flip(x, axis=1)`

    Errors: an axis that the tensor does not have, or one named twice.
    """


@intrinsic
def roll(x: Tensor, shift: Any, axis: Axes = None) -> Tensor:
    """The elements moved by `shift` places along an axis; what falls off the end comes in front.

    `shift` is an integer, a constant or a scalar, also a negative one; with a tuple of axes it is
    one for all or a tuple. Without an axis the elements are moved in row-major order, as
    `numpy.roll` does.

    Example: `z = kiln.roll(x, 1, axis=0)`

    Errors: a shift that is no integer, an axis that the tensor does not have.
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
    "concat", "cumprod", "cumsum", "dot", "dot_scaled", "expand_dims", "flip", "gather",
    "histogram", "join", "load", "max", "min", "permute", "prod", "reduce", "reshape", "roll",
    "scan", "scatter", "slice", "sort", "split", "store", "sum", "topk", "transpose",
]  # fmt: skip
