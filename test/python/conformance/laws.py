"""How matrix units add: the products and the sum before are aligned at the largest exponent, cut
towards zero some bits behind its first, added exactly, and the result is cut to f32.

The law and its numbers were found on chips by others ("MMA-Sim: Bit-Accurate Reference Model of Tensor
Cores and Matrix Cores", arXiv 2511.10909; for f8 also DeepSeek-V3's report, arXiv 2412.19437, 3.3.2);
the recordings here say whether the chip keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from values import FLOATS

NAN = 0x7FFFFFFF
LEAST_EXPONENT = -126  # of f32, and of a zero of any type


@dataclass(frozen=True)
class Law:
    """integer   sums wrap, nothing else counts
    bits      of a term, behind the first of the one with the largest exponent
    kept      bits of the result behind its first
    chunk     terms along k that are added at a time; 0 for all
    zeros     whether a zero counts as a subnormal of its own type
    in_words  first the lower two bytes of each word of four along k, then the upper two, as f16; the
              sum before is added at last, as f32 does: how chips whose warps multiply no f8 do it
    """

    integer: bool = False
    bits: int = 25
    kept: int = 23
    chunk: int = 0
    zeros: bool = False
    in_words: bool = False

    def apply(
        self, a: np.ndarray, b: np.ndarray, c: np.ndarray, kinds: tuple[str, str]
    ) -> np.ndarray:
        """The bits of a · b + c: tiles of m x k, k x n and m x n."""
        if self.integer:
            x, y = (widen_integers(v, kind) for v, kind in zip((a, b), kinds))
            return ((x @ y + c.astype(np.int64)) & 0xFFFFFFFF).astype(np.uint32)
        k = np.arange(a.shape[2])
        if self.in_words:
            sums = np.zeros_like(c)
            for half in (k[k % 4 < 2], k[k % 4 >= 2]):
                sums = self._add(a[:, :, half], b[:, half], sums, kinds)
            with np.errstate(invalid="ignore", over="ignore"):
                total = sums.view(np.float32) + c.view(np.float32)
            return np.where(np.isnan(total), np.uint32(NAN), total.view(np.uint32))
        step = self.chunk or len(k)
        for first in range(0, len(k), step):
            part = k[first : first + step]
            c = self._add(a[:, :, part], b[:, part], c, kinds)
        return c

    def _add(
        self, a: np.ndarray, b: np.ndarray, c: np.ndarray, kinds: tuple[str, str]
    ) -> np.ndarray:
        (sa, ea, va), (sb, eb, vb) = (self._decode(v, kind) for v, kind in zip((a, b), kinds))
        sc, ec, vc = self._decode(c, "f32")
        with np.errstate(invalid="ignore", over="ignore"):
            exact = (va[:, :, :, None] * vb[:, None, :, :]).sum(axis=2) + vc
        exponents = ea[:, :, :, None] + eb[:, None, :, :]
        terms = sa[:, :, :, None] * sb[:, None, :, :]
        most = np.maximum(exponents.max(axis=2), ec)
        cut = np.trunc(np.ldexp(terms, self.bits + exponents - most[:, :, None, :])).sum(axis=2)
        cut += np.trunc(np.ldexp(sc, self.bits + ec - most))
        result = self._narrow(np.ldexp(cut + 0.0, most - self.bits))
        infinite = np.where(exact > 0, np.uint32(0x7F800000), np.uint32(0xFF800000))
        special = np.where(np.isnan(exact), np.uint32(NAN), infinite)
        return np.where(np.isfinite(exact), result, special)

    def _decode(self, bits: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Significands, exponents, and the values themselves, infinite or no number if they are."""
        exponent, fraction = FLOATS[kind]
        words = bits.astype(np.int64)
        if kind == "tf32":
            words &= ~0x1FFF
        biased = words >> fraction & ((1 << exponent) - 1)
        rest = (words & ((1 << fraction) - 1)) / 2.0**fraction
        bias = (1 << (exponent - 1)) - 1
        significand = np.where(biased == 0, rest, 1 + rest)
        at = np.where(biased == 0, 1 - bias, biased - bias)
        if not self.zeros:
            at = np.where(significand == 0, LEAST_EXPONENT, at)
        sign = np.where(words >> (exponent + fraction) & 1, -1.0, 1.0)
        value = sign * np.ldexp(significand, at)
        if kind == "e4m3":
            value = np.where(words & 0x7F == 0x7F, np.nan, value)
            isSpecial = words & 0x7F == 0x7F
        else:
            isSpecial = biased == (1 << exponent) - 1
            value = np.where(isSpecial, np.where(rest == 0, sign * np.inf, np.nan), value)
        significand = np.where(isSpecial, 0.0, significand)
        if self.in_words and kind != "f32":  # of f16, which has more exponents
            mantissa, power = np.frexp(significand)
            down = np.where(significand == 0, 0, np.minimum(1 - power, at + 14))
            significand, at = np.ldexp(significand, down), at - down
        return sign * significand, np.where(isSpecial, LEAST_EXPONENT, at), value

    def _narrow(self, value: np.ndarray) -> np.ndarray:
        """Towards zero, to so many bits; what is too large is infinite."""
        _, exponent = np.frexp(value)
        unit = np.maximum(exponent - 1, LEAST_EXPONENT) - self.kept
        cut = np.ldexp(np.trunc(np.ldexp(value, -unit)), unit)
        with np.errstate(over="ignore"):
            return cut.astype(np.float32).view(np.uint32)


def widen_integers(bits: np.ndarray, kind: str) -> np.ndarray:
    width, values = int(kind[1:]), bits.astype(np.int64)
    return np.where((kind[0] == "s") & (values >> (width - 1) & 1), values - (1 << width), values)


INTEGERS = Law(integer=True)
HOPPER = Law(bits=25)
HOPPER_F8 = Law(bits=13, kept=13)
HOPPER_F8_BY_WARPS = Law(bits=25, in_words=True)


def candidates(k: int) -> Iterator[Law]:
    """Laws with other numbers."""
    for bits, kept in product((12, 13, 14, 22, 23, 24, 25, 26, 27, 28, 40), (23, 13)):
        for zeros in (False, True):
            for chunk in (0, k // 2, k // 4, k // 8):
                yield Law(bits=bits, kept=kept, chunk=chunk, zeros=zeros)
            yield Law(bits=bits, kept=kept, zeros=zeros, in_words=True)
