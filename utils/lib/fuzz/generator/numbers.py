"""Element types as NumPy has them: the numbers that random programs are expected to compute.

Integers are signed int64 values wrapped to their width, floats arrays of their own type. Each array
goes with one of the same shape that says how far off a correct answer may be, or None: not at all.
"""

import ml_dtypes
import numpy as np

FLOATS = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn, "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn, "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
}  # fmt: skip
INTEGERS = {"i64": 64, "i32": 32, "i16": 16, "i8": 8, "i4": 4, "i2": 2, "i1": 1, "index": 64}
STORED = {
    **FLOATS, "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
    "i4": ml_dtypes.int4, "i2": ml_dtypes.int2, "index": np.int64,
}  # fmt: skip
PACKED = {"i4", "i2", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN"}
COMPUTED = ["f64", "f32", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2"]  # floats with arithmetic


class UndefinedError(Exception):
    """The IR leaves the result of this op on these values open."""


def require(condition):
    if not np.all(condition):
        raise UndefinedError


def is_float(element):
    return element in FLOATS


def bits_of(element):
    """An element type's width."""
    return INTEGERS.get(element) or int(element.lstrip("bf").partition("E")[0])


def dtype(element):
    return FLOATS.get(element, np.int64)


def wrap(values, element):
    """Integers as the type keeps them."""
    bits = INTEGERS[element]
    values = np.asarray(values)
    if bits == 64:
        return values.astype(np.int64)
    half = 1 << (bits - 1)
    if bits == 1:
        return -(values.astype(np.int64) & 1)
    return ((values.astype(np.int64) + half) & ((1 << bits) - 1)) - half


def unsigned(values, element):
    values = values.astype(np.uint64)
    bits = INTEGERS[element]
    return values if bits == 64 else values & np.uint64((1 << bits) - 1)


def rounded(values, element):
    """Floats computed in a wider type, rounded once."""
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(FLOATS[element])


def wide(values):
    """The same floats in a type that NumPy computes with directly."""
    return values if values.dtype in (np.float64, np.float32) else values.astype(np.float32)


def epsilon(element):
    return float(ml_dtypes.finfo(FLOATS[element]).eps)


def tiniest(element):
    return float(ml_dtypes.finfo(FLOATS[element]).smallest_subnormal)


def random_array(shape, element, rng):
    """Values of a few kinds: small whole numbers, ordinary ones, and all that a type can hold."""
    kind = rng.integers(0, 4)
    if is_float(element):
        if kind == 0:
            values = rng.integers(-3, 4, shape).astype(np.float32)
        elif kind == 1:
            values = rng.normal(0, 1, shape).astype(np.float32)
        elif kind == 2:
            values = rng.uniform(0.25, 4, shape).astype(np.float32)
        else:
            values = (rng.normal(0, 1, shape) * 2.0 ** rng.integers(-6, 7, shape)).astype(
                np.float32
            )
        values = np.asarray(values)
        if element == "f8E8M0FNU":
            values = np.abs(values) + np.float32(0.5)
        elif kind == 3 and element in ("f64", "f32", "f16", "bf16", "f8E5M2") and values.size:
            flat = values.reshape(-1)
            for special in (np.nan, np.inf, -np.inf, 0.0, -0.0):
                flat[rng.integers(0, flat.size)] = special
        return rounded(values.reshape(shape), element)
    bits = INTEGERS[element]
    high = 1 << (bits - 1)
    if kind < 2:
        return wrap(rng.integers(-min(high, 4), min(high, 4), shape, endpoint=kind == 1), element)
    return wrap(rng.integers(-high, high - 1, shape, endpoint=True, dtype=np.int64), element)


def same(got, want, tolerance):
    """Where `got` is not what was wanted: to the bit, but for NaN's, or within the tolerance."""
    if want.dtype == np.int64:
        return got != want
    got, want = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(all="ignore"):
        slack = 0.0 if tolerance is None else tolerance
        near = np.isfinite(got) & np.isfinite(want) & (np.abs(got - want) <= slack)
        signs = np.signbit(got) == np.signbit(want) if tolerance is None else True
    return ~(((got == want) & signs) | near | (np.isnan(got) & np.isnan(want)))
