"""The program in its grid, compile-time checks, facts for the compiler, and messages."""

from __future__ import annotations

from typing import Any

from kiln.language.dtypes import DTypeLike
from kiln.language.intrinsic import intrinsic
from kiln.language.values import Number, Pointer, Shape, Tensor, View


@intrinsic
def grid(*extents: Number) -> Any:
    """Says how many programs the kernel runs, and gives this program's position.

    Stands once in a kernel, at the top level, before all that only a program knows. One to three
    integer scalars, computed from the arguments alone: the statements before it run on the host
    too, so they may only compute with scalars and shapes. Gives one `index` scalar for each
    extent (for one extent: itself, not a tuple). An extent of zero or less launches nothing.

    Example: `i, j = kiln.grid(kiln.cdiv(view.shape[0], 16), kiln.cdiv(view.shape[1], 16))`

    Errors: a second call; a call inside a branch or a loop; extents computed from what only a
    program knows.
    """


@intrinsic
def program_id(axis: int) -> Number:
    """This program's position along an axis (0, 1 or 2) of the grid: an `index` scalar.

    Example: `row = kiln.program_id(0)`

    Errors: an axis that is not 0, 1 or 2.
    """


@intrinsic
def num_programs(axis: int) -> Number:
    """How many programs the grid has along an axis (0, 1 or 2): an `index` scalar.

    Example: `rows = kiln.num_programs(0)`

    Errors: an axis that is not 0, 1 or 2.
    """


def cdiv(a: Number, b: Number) -> Number:
    """`a / b` rounded up, for integer scalars or tensors; on Python ints also on the host.

    A divisor that is zero when the kernel runs gives 0.

    Example: `blocks = kiln.cdiv(n, 16)`

    Errors: floats; a constant divisor of 0.
    """
    if not all(isinstance(x, int) for x in (a, b)):
        raise TypeError(f"expected ints on the host, got {a!r} and {b!r}")
    return -(-a // b)


cdiv.__kiln_intrinsic__ = "cdiv"


@intrinsic
def static_range(start: int, stop: int | None = None, step: int = 1) -> range:
    """A range of constants; a `for` over it is unrolled, its variable is a constant.

    Example: `for d in kiln.static_range(4): x = x + d`

    Errors: bounds that are not constants; a step of 0; more than 4096 rounds.
    """


@intrinsic
def static_assert(condition: bool, message: str = "") -> None:
    """Fails the compilation where a constant condition is false.

    Example: `kiln.static_assert(x.shape[1] % 16 == 0, "16 columns at a time")`

    Errors: the condition is false; the condition is known only when the kernel runs.
    """


@intrinsic
def static_print(*values: Any) -> None:
    """Prints constants, and the types of other values, when the kernel is compiled.

    Example: `kiln.static_print("x is", x)`

    Errors: none.
    """


@intrinsic
def assume(condition: Number) -> None:
    """Tells the compiler that a bool scalar is true; if it is not, behaviour is undefined.

    Example: `kiln.assume(n > 0)`

    Errors: a constant that is false.
    """


@intrinsic
def multiple_of(value: Number, divisor: int) -> Number:
    """The same integer scalar, known to be a multiple of a constant; else undefined.

    Example: `n = kiln.multiple_of(n, 16)`

    Errors: a value that is not an integer scalar; a divisor that is not a constant of at least 1;
    a constant that is no multiple.
    """


@intrinsic
def device_print(prefix: str, *values: Any, hex: bool = False) -> None:
    """Prints one line for each element: program, indices, prefix, value.

    `prefix` is a constant string. `hex` prints the bits.

    Example: `kiln.device_print("n =", n)`

    Errors: a prefix that is not a constant string; a value that is not a number, a scalar or a
    tensor.
    """


@intrinsic
def device_assert(condition: Any, message: str = "") -> None:
    """Fails the launch, by message and line, where a bool scalar or tensor is false.

    What the launch wrote before is not undone. A plain `assert` does the same.

    Example: `kiln.device_assert(n > 0, "n counts rows")`

    Errors: a tensor that is not bool; a message that is not a constant string.
    """


@intrinsic
def pointer(address: Number, dtype: DTypeLike) -> Pointer:
    """A pointer of an address in bytes: an integer scalar, such as an element of an array of them.

    The address is one that the kernel's device can reach, and a multiple of the element's size;
    what is read and written there may be any array's, so that the kernel's others are no longer
    taken for memory of their own. Nobody keeps the array alive but its owner.

    Example: `z = kiln.view(kiln.pointer(seed, kiln.f32), (n, 64)).load((i, 0), (1, 64))`

    Errors: an address that is no integer scalar; a dtype that memory does not hold.
    """


@intrinsic
def view(
    pointer: Any, shape: Shape, strides: Shape | None = None, dtype: DTypeLike | None = None
) -> View:
    """Sees the memory at a pointer, or at an address, as a strided array.

    Extents and strides (in elements) are constants or integer scalars; without strides the
    array is dense and row-major. With `dtype` the first argument is the address in bytes, an
    integer scalar, as `kiln.pointer` takes it.

    Example: `z = kiln.view(p, (n, 64))[0, 0]`

    Errors: something that is not a pointer, nor an integer with a `dtype`; strides that are not
    one for each extent.
    """


@intrinsic
def inline_asm(
    text: str,
    constraints: str,
    arguments: Any,
    dtype: Any,
    pack: int = 1,
    pure: bool = True,
) -> Any:
    """The target's own instructions, applied element by element.

    `constraints` are LLVM's. `arguments` is a tensor, a scalar or a tuple of them, broadcast to
    one shape; the text sees `pack` consecutive elements at a time. `dtype` is the result's, or
    a tuple of them for several results. With `pure` the call may be moved, merged or removed.

    Example: `z = kiln.inline_asm("nop", "=r,0", k, kiln.i32)`

    Errors: text that the target's assembler refuses, which names its line; arguments of several
    shapes that do not broadcast.
    """


@intrinsic
def extern_call(
    symbol: str, arguments: Any, dtype: Any, library: str = "", pure: bool = True
) -> Tensor:
    """Calls a function of a library, element by element.

    `library` is a file of the kind that the target reads: the path or name of a shared library for
    the CPU, LLVM's bitcode or its text for an accelerator; without one it is this process, or the
    vendor's library of device functions. Arguments are broadcast to one shape; the function sees
    scalars and returns one `dtype`.

    Example: `z = kiln.extern_call("fabsf", x, kiln.f32)`

    Errors: a library that is not found, or without the function; found when the kernel is loaded.
    """


__all__ = [
    "assume", "cdiv", "device_assert", "device_print", "extern_call", "grid",
    "inline_asm", "multiple_of", "num_programs", "pointer", "program_id", "static_assert",
    "static_print", "static_range", "view",
]  # fmt: skip
