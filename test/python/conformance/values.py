"""Operands: special numbers beside one another, and bits drawn from a seed. The raw stream of PCG64 is
promised to stay what it is, so recordings hold a seed and results alone."""

from __future__ import annotations

from functools import cache

import numpy as np

# Bits of a format: of its exponent and of its fraction.
FLOATS = {
    "f64": (11, 52), "f32": (8, 23), "tf32": (8, 23), "f16": (5, 10), "bf16": (8, 7),
    "e4m3": (4, 3), "e5m2": (5, 2),
}  # fmt: skip
BYTES = {"f64": 8, "f32": 4, "tf32": 4, "f16": 2, "bf16": 2, "e4m3": 1, "e5m2": 1}


def bytes_of(kind: str) -> int:
    return BYTES[kind] if kind in BYTES else int(kind[1:]) // 8


def word(kind: str) -> np.dtype:
    return np.dtype(f"u{bytes_of(kind)}")


class Source:
    """Numbers that depend on nothing but the seed."""

    def __init__(self, seed: int):
        self._stream = np.random.PCG64(seed)

    def words(self, count: int) -> np.ndarray:
        return np.asarray(self._stream.random_raw(max(count, 1)), np.uint64)[:count]

    def below(self, most: int, count: int) -> np.ndarray:
        return (self.words(count) >> np.uint64(33)) % np.uint64(most)

    def bits(self, kind: str, count: int) -> np.ndarray:
        """Any bits."""
        return (self.words(count) >> np.uint64(64 - 8 * bytes_of(kind))).astype(word(kind))

    def near_one(self, kind: str, count: int, reach: int = 6) -> np.ndarray:
        """Floats of either sign whose exponents are within `reach` of one's."""
        exponent, fraction = FLOATS[kind]
        bias, bits = (1 << (exponent - 1)) - 1, self.words(count)
        at = (bias - reach) + (bits >> np.uint64(8)) % np.uint64(2 * reach + 1)
        sign = (bits >> np.uint64(63)) << np.uint64(exponent + fraction)
        low = (self.words(count) >> np.uint64(11)) & np.uint64((1 << fraction) - 1)
        return (sign | at.astype(np.uint64) << np.uint64(fraction) | low).astype(word(kind))


@cache
def specials(kind: str) -> np.ndarray:
    if kind not in FLOATS:
        bits = 8 * bytes_of(kind)
        top = 1 << (bits - 1)
        return np.array([0, 1, 2, 3, top - 1, top, top + 1, 2 * top - 2, 2 * top - 1], word(kind))
    exponent, fraction = FLOATS[kind]
    one, unit = ((1 << (exponent - 1)) - 1) << fraction, 1 << fraction
    most = ((1 << exponent) - 1) << fraction
    sign = 1 << (exponent + fraction)
    positive = [
        0, 1, unit - 1, unit, unit + 1,  # zero, subnormal and the smallest normal ones
        one, one + 1, one - 1, one + unit // 2, one + unit,  # about one
        most - 1, most,  # the largest; infinity
        most + unit // 2, most + 1,  # a quiet and a signalling NaN
        one + (fraction + 1) * unit, one - (fraction + 2) * unit,  # what one absorbs
    ]  # fmt: skip
    if kind == "e4m3":  # neither infinities nor more than one NaN
        positive = [0, 1, 7, 8, 9, one, one + 1, one - 1, one + 8, 0x7E, 0x7D, 0x7F]
    return np.array([*positive, *(sign | bits for bits in positive)], word(kind))


def column(kind: str, source: Source, count: int) -> np.ndarray:
    """Specials, any bits, and floats near one or small integers."""
    choice, special = source.below(4, count), specials(kind)
    result = special[source.below(len(special), count).astype(np.int64)]
    bits = source.bits(kind, count)
    usual = source.near_one(kind, count) if kind in FLOATS else bits & word(kind).type(0x0F)
    return np.where(choice == 0, result, np.where(choice == 1, bits, usual))


def columns(kinds: list[str], source: Source, count: int) -> list[np.ndarray]:
    """One array an operand: each special one beside each other one first, as far as there is room."""
    result = [column(kind, source, count) for kind in kinds]
    grid = np.meshgrid(*(specials(kind) for kind in kinds), indexing="ij")
    met = [np.ravel(each) for each in grid]
    if len(met[0]) <= count // 2 or len(kinds) == 2:
        for values, first in zip(result, met):
            first = first[: count * 3 // 4]
            values[: len(first)] = first
    return result
