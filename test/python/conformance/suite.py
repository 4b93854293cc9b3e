"""What a form is, and how the emulated chip is held against what a chip gave."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from form_programs import Program, size_of
from values import FLOATS, Source, bytes_of, columns, word


@dataclass(frozen=True)
class Operand:
    """Registers of one of LLVM's types, which hold elements of a kind."""

    kind: str
    type: str
    count: int = 1

    @property
    def elements(self) -> int:
        return size_of(self.type) * self.count // bytes_of(self.kind)


def draw_columns(operands: list[Operand], items: int) -> Callable[[int], list[np.ndarray]]:
    """Numbers for so many threads; operands meet element by element."""
    most = max((o.elements for o in operands), default=1)

    def draw(seed: int) -> list[np.ndarray]:
        drawn = columns([o.kind for o in operands], Source(seed), items * most)
        return [values[: items * o.elements].copy() for values, o in zip(drawn, operands)]

    return draw


def ordered(bits: np.ndarray) -> np.ndarray:
    """Floats as integers in the order of their values."""
    width = 8 * bits.dtype.itemsize
    signed = bits.astype(np.int64)
    top = np.int64(1) << np.int64(width - 1)
    return np.where(signed & top, -(signed & (top - 1)), signed)


def is_nan(bits: np.ndarray, kind: str) -> np.ndarray:
    exponent, fraction = FLOATS[kind]
    size = bits.astype(np.uint64) & np.uint64((1 << (exponent + fraction)) - 1)
    if kind == "e4m3":
        return size == 0x7F
    return size > np.uint64(((1 << exponent) - 1) << fraction)


class Held:
    """Says where an array of the emulated chip is not what the chip gave."""

    def differs(self, chip: np.ndarray, ours: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def words(self, data: np.ndarray) -> np.ndarray:
        """What is compared one by one."""
        raise NotImplementedError

    def measure(self, chip: np.ndarray, ours: np.ndarray) -> dict[str, float]:
        """How far an approximation is from the emulated chip's; of what is exact, nothing."""
        return {}


@dataclass(frozen=True)
class Bits(Held):
    """Every bit."""

    bytes: int = 4

    def words(self, data: np.ndarray) -> np.ndarray:
        flat = data.reshape(-1)
        return flat.view(f"u{self.bytes}") if flat.nbytes % self.bytes == 0 else flat.view(np.uint8)

    def differs(self, chip: np.ndarray, ours: np.ndarray) -> np.ndarray:
        return self.words(chip) != self.words(ours)


@dataclass(frozen=True)
class Numbers(Held):
    """Every bit of floats; of a NaN, that it is one: the PTX ISA leaves its payload open."""

    kind: str

    def words(self, data: np.ndarray) -> np.ndarray:
        return data.reshape(-1).view(word(self.kind))

    def differs(self, chip: np.ndarray, ours: np.ndarray) -> np.ndarray:
        a, b = self.words(chip), self.words(ours)
        both = is_nan(a, self.kind) & is_nan(b, self.kind)
        return (a != b) & ~both


@dataclass(frozen=True)
class Ulps(Held):
    """Of f32: so many units in the last place apart at most, or within an absolute or a relative
    bound; infinities and NaN where the other has them, and zeros of the same sign."""

    ulps: int | None
    relative: float = 0.0

    def words(self, data: np.ndarray) -> np.ndarray:
        return data.reshape(-1).view(np.uint32)

    def differs(self, chip: np.ndarray, ours: np.ndarray) -> np.ndarray:
        a, b = self.words(chip), self.words(ours)
        nan = is_nan(a, "f32"), is_nan(b, "f32")
        apart = np.abs(ordered(a) - ordered(b))
        x, y = a.view(np.float32).astype(float), b.view(np.float32).astype(float)
        with np.errstate(invalid="ignore"):
            near = np.abs(x - y) <= self.relative * np.abs(y)
        near |= apart <= (self.ulps or 0)
        near &= np.signbit(x) == np.signbit(y)
        return ~(nan[0] & nan[1]) & (nan[0] | nan[1] | ~near)

    def measure(self, chip: np.ndarray, ours: np.ndarray) -> dict[str, float]:
        """The largest distance, in units in the last place and as a share of the number."""
        a, b = self.words(chip), self.words(ours)
        x, y = a.view(np.float32).astype(float), b.view(np.float32).astype(float)
        fine = np.isfinite(x) & np.isfinite(y)
        apart, units = np.abs(x[fine] - y[fine]), np.abs(ordered(a) - ordered(b))[fine]
        share = apart / np.maximum(np.abs(y[fine]), 2.0**-126)
        return {"ulps": int(units.max(initial=0)), "relative": float(share.max(initial=0))}


@dataclass
class Form:
    """An instruction form, with the operands that it is tried on."""

    name: str
    program: Program
    draw: Callable[[int], list[np.ndarray]]
    results: list[str]
    held: list[Held]  # of each result

    def seed(self) -> int:
        return zlib.crc32(self.name.encode())

    def given(self) -> list[np.ndarray]:
        return self.draw(self.seed())

    def emulate(self) -> list[np.ndarray]:
        return self.program.run("emu:sm_90a", self.given())
