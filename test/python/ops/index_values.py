"""Integers as the tile dialect computes with them, by NumPy."""

from __future__ import annotations

import numpy as np

BITS = {"i8": 8, "i32": 32, "i64": 64, "index": 64}
ASSIGNMENTS = 5


def wrap(values: np.ndarray, type: str) -> np.ndarray:
    bits = BITS[type]
    if bits == 64:
        return values.astype(np.int64)
    return values.astype(np.int64).astype(f"int{bits}").astype(np.int64)


def unsigned(values: np.ndarray, type: str) -> np.ndarray:
    bits = BITS[type]
    return values.astype(np.uint64) if bits == 64 else values.astype(np.int64) & ((1 << bits) - 1)


def compare(predicate: str, a: np.ndarray, b: np.ndarray, type: str) -> np.ndarray:
    if predicate[0] == "u":
        a, b = unsigned(a, type), unsigned(b, type)
    how = predicate[-2:] if predicate not in ("eq", "ne") else predicate
    table = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
             "eq": np.equal, "ne": np.not_equal}  # fmt: skip
    return table[how](a, b)


def divide(op: str, a: np.ndarray, b: np.ndarray, type: str) -> np.ndarray:
    """Divisors are positive."""
    if op in ("divui", "remui"):
        a, b = unsigned(a, type), unsigned(b, type)
        return wrap(a // b if op == "divui" else a % b, type)
    if op == "floordivsi":
        return wrap(np.floor_divide(a, b), type)
    quotient = np.floor_divide(a, b)
    quotient = quotient + ((a < 0) & (quotient * b != a))
    return wrap(quotient if op == "divsi" else a - quotient * b, type)


SIMPLE = {
    "addi": np.add, "subi": np.subtract, "muli": np.multiply, "andi": np.bitwise_and,
    "ori": np.bitwise_or, "xori": np.bitwise_xor, "minsi": np.minimum, "maxsi": np.maximum,
}  # fmt: skip
PREDICATES = ("slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge", "eq", "ne")


class Value:
    """One name of the program. `now` holds its values, an array for each choice of arguments."""

    def __init__(self, name, type, shape, now):
        self.name, self.type, self.shape, self.now = name, type, shape, now

    @property
    def ir(self) -> str:
        if self.shape == ():
            return self.type
        return f"tensor<{'x'.join(map(str, self.shape))}x{self.type}>"
