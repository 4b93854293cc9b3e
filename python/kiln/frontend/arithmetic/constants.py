"""Arithmetic on constants: Python's own, within bounds that keep the compiler responsive."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from kiln.frontend.errors import Misuse
from kiln.frontend.values import describe

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip
_UNARY: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg, "+": operator.pos, "~": operator.invert, "not": operator.not_,
}  # fmt: skip

MAX_BITS = 4096
MAX_LENGTH = 4096


def fold_binary(op: str, left: Any, right: Any) -> Any:
    """`left op right` of two constants."""
    _check_size(op, left, right)
    try:
        out = _OPERATORS[op](left, right)
    except (TypeError, ValueError, ArithmeticError) as problem:
        raise Misuse(
            f"expected constants that `{op}` takes, got {describe(left)} and {describe(right)} "
            f"({problem})"
        ) from None
    check_length(out)
    if isinstance(out, complex):
        raise Misuse(f"expected a real number, got {left!r} {op} {right!r}")
    return out


def check_length(value: Any) -> Any:
    """A constant, if it is not a text, a tuple or an integer beyond all bounds."""
    if isinstance(value, (str, tuple)) and len(value) > MAX_LENGTH:
        raise Misuse(f"expected a constant of at most {MAX_LENGTH} elements, got {len(value)}")
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise Misuse(
            f"expected a constant of at most {MAX_BITS} bits, got an integer of "
            f"{value.bit_length()}"
        )
    if isinstance(value, tuple):
        for element in value:
            check_length(element)
    return value


def fold_unary(op: str, value: Any) -> Any:
    """`op value` of a constant."""
    try:
        return _UNARY[op](value)
    except TypeError:
        raise Misuse(f"expected a number after `{op}`, got {describe(value)}") from None


def _check_size(op: str, left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length()
        if op == "**":
            bits = max(bits, 1) * max(right, 0) if left not in (0, 1, -1) else 1
        elif op == "<<":
            bits += max(right, 0)
        elif op == "*":
            bits += right.bit_length()
        if bits > MAX_BITS:
            raise Misuse(f"expected a constant of at most {MAX_BITS} bits, got about {bits}")
    if op == "*":
        for sequence, count in ((left, right), (right, left)):
            repeats = isinstance(sequence, (str, tuple)) and isinstance(count, int)
            if repeats and len(sequence) * count > MAX_LENGTH:
                raise Misuse(f"expected a constant of at most {MAX_LENGTH} elements")
    if op == "%" and isinstance(left, str):
        raise Misuse("expected numbers around `%`, got a string", "an f-string")
