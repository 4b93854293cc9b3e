"""Conversions to floats round once, on every target, against exact integers.

What rounds twice is wrong only just beside the middle of two numbers, which chance does not draw:
such points are made on purpose, for the precision of each format.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

DEVICES = ["cpu", "emu:sm_80", "emu:sm_90a", "emu:gfx942", "emu:gfx950", "emu:gfx1201"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
PACKED = ["f6e2m3fn", "f6e3m2fn", "f4e2m1fn"]
INFINITY, NAN = float("inf"), float("nan")
# Bits of precision, the largest number, and what is beyond it.
FORMATS = {
    "f64": (53, 2.0**1023, INFINITY),
    "f32": (24, 2.0**127, INFINITY),
    "tf32": (11, 2.0**127, INFINITY),
    "f16": (11, 65504.0, INFINITY),
    "bf16": (8, 2.0**127, INFINITY),
    "f8e4m3fn": (4, 448.0, NAN),
    "f8e5m2": (3, 57344.0, INFINITY),
    "f8e8m0fnu": (1, 2.0**127, NAN),
    "f6e2m3fn": (4, 7.5, 7.5),
    "f6e3m2fn": (3, 28.0, 28.0),
    "f4e2m1fn": (2, 6.0, 6.0),
}
MEMORY = {
    "f64": np.float64, "f32": np.float32, "tf32": np.float32, "f16": np.float16,
    "bf16": ml_dtypes.bfloat16, "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2, "f8e8m0fnu": ml_dtypes.float8_e8m0fnu,
}  # fmt: skip


@kiln.kernel
def convert(
    x, f64, f32, tf32, f16, bf16, f8e4m3fn, f8e5m2, f8e8m0fnu, f6e2m3fn, f6e3m2fn, f4e2m1fn
):
    i = kiln.grid(kiln.cdiv(x.shape[0], 256))
    at = i * 256
    t = x.load(at, 256)
    tf32.store(at, t.to(kiln.tf32).to(kiln.f32))
    for y in (f64, f32, f16, bf16, f8e4m3fn, f8e5m2, f8e8m0fnu, f6e2m3fn, f6e3m2fn, f4e2m1fn):
        y.store(at, t.to(y.dtype))


def converted(x: np.ndarray, device: str) -> dict[str, np.ndarray]:
    outs = {
        name: kiln.PackedArray.empty(x.shape, name)
        if name in PACKED
        else np.zeros(x.shape, MEMORY[name])
        for name in FORMATS
    }
    convert(x, *outs.values(), _device=device)
    return {name: out.to_numpy() if name in PACKED else out for name, out in outs.items()}


def nearest(number: int, precision: int, ties_up: bool) -> int:
    """The nearest number of so many bits; of two the even one."""
    size = abs(number)
    lost = size.bit_length() - precision
    if lost <= 0:
        return number
    kept, rest = size >> lost, size & ((1 << lost) - 1)
    half = 1 << (lost - 1)
    kept += rest > half or (rest == half and (ties_up or kept & 1))
    return (-kept if number < 0 else kept) << lost


def reference(numbers: list[int], name: str, scale: float = 1.0) -> np.ndarray:
    precision, largest, beyond = FORMATS[name]
    out = []
    for number in numbers:
        if name == "f8e8m0fnu" and number <= 0:
            out.append(NAN)
            continue
        rounded = nearest(number, precision, ties_up=name == "f8e8m0fnu") * scale
        out.append(np.copysign(beyond, rounded) if abs(rounded) > largest else rounded)
    return np.array(out, np.float64)


def middles(rng, bits: int) -> list[int]:
    """The middles of two numbers of each precision up to so many bits, and what is just beside
    them, or further but below the last bit of f32."""
    numbers = []
    for precision in sorted({precision for precision, _, _ in FORMATS.values()}):
        for size in range(precision + 1, bits + 1):
            kept = int(rng.integers(1 << (precision - 1), 1 << precision, dtype=np.uint64))
            half = 1 << (size - precision - 1)
            middle = (2 * kept + 1) * half
            few = 1 << int(rng.integers(0, max(1, size - precision - 1)))
            numbers += [middle, middle - 1, middle + 1, middle - few, middle + few]
    return numbers


def same(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    got = got.astype(np.float64)
    return (got == want) | (np.isnan(got) & np.isnan(want))


def check(x: np.ndarray, numbers: list[int], device: str, scale: float = 1.0) -> None:
    for name, got in converted(x, device).items():
        want = reference(numbers, name, scale)
        wrong = np.flatnonzero(~same(got, want))
        assert not wrong.size, (
            f"{wrong.size} of {x.size} are wrong in {name}; the first: {x[wrong[0]]!r} gives "
            f"{got[wrong[0]]!r}, expected {want[wrong[0]]!r}"
        )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("source", INTEGERS)
def test_integers_round_once_to_every_float(source: str, device: str, rng) -> None:
    limits = np.iinfo(source)
    numbers = middles(rng, limits.bits)
    numbers += [-number for number in numbers] + [33685505, limits.max, limits.min]
    numbers = [number for number in numbers if limits.min <= number <= limits.max]
    numbers += [int(n) for n in rng.integers(limits.min, limits.max, 200, source, endpoint=True)]
    check(np.array(numbers, source), numbers, device)


@pytest.mark.parametrize("device", DEVICES)
def test_f64_rounds_once_to_every_float(device: str, rng) -> None:
    scale = 2.0**-24  # all of one and above, and exact in f64
    numbers = [number for number in middles(rng, 53) if number >> 24]
    numbers += [-number for number in numbers]
    check(np.array([number * scale for number in numbers]), numbers, device, scale)


@kiln.kernel
def constant(f32, tf32, bf16, f16, N: kiln.constexpr):
    i = kiln.grid(1)
    f32.store(i, kiln.full((1,), N, kiln.f32))
    tf32.store(i, kiln.full((1,), N, kiln.tf32).to(kiln.f32))
    bf16.store(i, kiln.full((1,), N, kiln.bf16))
    f16.store(i, kiln.full((1,), 2049, kiln.f16))


@pytest.mark.parametrize(
    "number", [(1 << 62) + (1 << 54) + 1, -(1 << 62) - (1 << 51) - 1, 33685505]
)
def test_constants_round_once(number: int) -> None:
    names = ("f32", "tf32", "bf16", "f16")
    outs = [np.zeros(1, MEMORY[name]) for name in names]
    constant(*outs, N=number)
    for name, out in zip(names, outs, strict=True):
        assert same(out, reference([2049 if name == "f16" else number], name)).all(), name
