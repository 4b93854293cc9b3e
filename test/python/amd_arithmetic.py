"""What the vector instructions of AMD's CDNA chips compute, on arrays of lanes; `amd_processor` runs
them. What a chip approximates (reciprocals, roots, powers) is one of the two numbers that the
exact one lies between, and either comes up. Divisions are not scaled: where a chip would, their
last step gives the quotient itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

import ml_dtypes
import numpy as np

Get = Callable[..., np.ndarray]  # operand i as a type, or that part of it
FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16}
INTEGERS = {
    "u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16, "u32": np.uint32,
    "i32": np.int32, "u64": np.uint64, "i64": np.int64, "b16": np.uint16, "b32": np.uint32,
    "b64": np.uint64, "u24": np.uint32, "i24": np.int32,
}  # fmt: skip
TYPES = {**FLOATS, **INTEGERS}


def bits(width: int) -> type:
    return {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}[width]


def width_of(kind: str) -> int:
    return 32 if kind.endswith("24") else int(re.sub(r"\D", "", kind))


def odd(near: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Of f64: rounded to odd, where `error` is what rounding to nearest left out."""
    pattern = near.view(np.uint64)
    inexact = np.isfinite(error) & (error != 0)
    further = inexact & ((error < 0) != (near < 0))
    return np.where(inexact, (pattern - further) | np.uint64(1), pattern).view(np.float64)


def fused(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c, rounded once."""
    if a.dtype != np.float64:
        product, wide = a.astype(np.float64) * b, c.astype(np.float64)
        total = product + wide
        other = total - product
        return odd(total, (product - (total - other)) + (wide - other)).astype(a.dtype)
    out = np.asarray(a * b + c)
    for i in np.flatnonzero(np.isfinite(a) & np.isfinite(b) & np.isfinite(c)):
        exact = Fraction(float(a[i])) * Fraction(float(b[i])) + Fraction(float(c[i]))
        if exact:
            out[i] = round_fraction(exact)
    return out


def round_fraction(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")


def extreme(a: np.ndarray, b: np.ndarray, greatest: bool, propagates: bool) -> np.ndarray:
    """-0 is below +0."""
    first = (
        np.where(a == b, np.signbit(b), a > b)
        if greatest
        else np.where(a == b, np.signbit(a), a < b)
    )
    out = np.where(first, a, b)
    nan = np.isnan(a) | np.isnan(b)
    if propagates:
        return np.where(nan, a.dtype.type(np.nan), out)
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, out))


def blurred(exact: np.ndarray, kind: str) -> np.ndarray:
    """An approximation of what is given in f64: one of the two numbers of f32 that it lies between,
    or 2^-26 of it away in f64."""
    near = exact.astype(FLOATS[kind])
    pattern = near.view(bits(8 * near.itemsize))
    chosen = (pattern * np.array(2654435761, pattern.dtype) >> np.array(7, pattern.dtype)) % 3
    if kind == "f64":
        away = (chosen.astype(np.int64) - 1) << 26
        regular = np.isfinite(near) & (np.abs(near) > 1e-300)
        return np.where(regular, pattern + away.astype(np.uint64), pattern).view(np.float64)
    beyond = np.where(near < exact, np.inf, -np.inf).astype(near.dtype)
    other = np.where((near == exact) | ~np.isfinite(near), near, np.nextafter(near, beyond))
    return np.where(chosen == 0, other, near)


def to_integer(value: np.ndarray, kind: str) -> np.ndarray:
    """Towards zero; what does not fit is the nearest that does, NaN is 0."""
    limits = np.iinfo(INTEGERS[kind])
    wide = np.nan_to_num(np.trunc(value.astype(np.float64)), nan=0.0, posinf=1e30, neginf=-1e30)
    return np.clip(wide, limits.min, limits.max).astype(np.int64).astype(INTEGERS[kind])


def leading(value: np.ndarray, is_signed: bool) -> np.ndarray:
    """Where the first bit is that differs from the sign, or from 0; -1 without one."""
    if is_signed:
        value = np.where(value.view(np.int32) < 0, ~value, value)
    place = 31 - np.floor(np.log2(np.maximum(value, 1).astype(np.float64))).astype(np.int64)
    return np.where(value == 0, -1, place).astype(np.int32).view(np.uint32)


def class_of(value: np.ndarray) -> np.ndarray:
    tiny = np.abs(value) < np.finfo(value.dtype).tiny
    kind = np.select(
        [np.isinf(value), value == 0, tiny], [9, 6, 7], 8
    )  # of what is positive; the negatives go down from 5
    kind = np.where(np.signbit(value), 11 - kind, kind)
    return np.where(np.isnan(value), 1, kind)


def corrected(quotient: np.ndarray, below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """The last step of a division: the quotient as it came, but for operands that were scaled
    before, or are special. f16 is divided in f32, and is never scaled."""
    exact = (above.astype(np.float64) / below.astype(np.float64)).astype(quotient.dtype)
    regular = np.isfinite(exact) & (exact != 0)
    if quotient.dtype != np.float16:
        reach = 60 if quotient.dtype == np.float32 else 400
        for value in (below, above):
            regular &= np.abs(np.frexp(value.astype(np.float64))[1]) < reach // 2
    return np.where(regular, quotient, exact)


def flushed(value: np.ndarray) -> np.ndarray:
    return np.where(np.abs(value) < np.finfo(np.float32).tiny, np.copysign(value * 0, value), value)


def reverse(value: np.ndarray) -> np.ndarray:
    out = np.zeros_like(value)
    for i in range(32):
        out |= (value >> np.uint32(i) & np.uint32(1)) << np.uint32(31 - i)
    return out


def high_half(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    wide = np.int64 if a.dtype.kind == "i" else np.uint64
    return ((a.astype(wide) * b.astype(wide)) >> wide(32)).astype(a.dtype)


def permuted(a: np.ndarray, b: np.ndarray, selector: np.ndarray) -> np.ndarray:
    both = a.astype(np.uint64) << np.uint64(32) | b
    out = np.zeros(np.broadcast(a, b, selector).shape, np.uint32)
    for i in range(4):
        which = selector >> np.uint32(8 * i) & np.uint32(0xFF)
        byte = (
            both >> (np.uint64(8) * (which & np.uint32(7)).astype(np.uint64)) & np.uint64(0xFF)
        ).astype(np.uint32)
        byte = np.where(which == 12, np.uint32(0), np.where(which > 12, np.uint32(0xFF), byte))
        assert np.all((which < 8) | (which >= 12)), "expected bytes, zeros or ones"
        out |= byte << np.uint32(8 * i)
    return out


def compute(name: str, get: Get, options: dict[str, str]) -> np.ndarray:
    if name == "xad_u32":
        return (get(0, "u32") ^ get(1, "u32")) + get(2, "u32")
    if name.startswith("bitop3_b"):  # a table of what three bits come to
        table, raw = int(options["bitop3"], 0), [get(i, "u" + name[8:]) for i in range(3)]
        out = np.zeros(1, raw[0].dtype)
        for index in range(8):
            if table >> index & 1:
                a, b, c = (x if index >> 2 - i & 1 else ~x for i, x in enumerate(raw))
                out = out | a & b & c
        return out
    if name == "fma_mix_f32":
        return fused(*(mixed(get, i, options) for i in range(3)))
    how, _, kind = name.rpartition("_")
    if name == "pk_mov_b32":  # a word of each operand
        chosen = options.get("op_sel", "[0,0]").strip("[]").split(",")
        words = [get(i, "b64") >> np.uint64(32 * int(at)) for i, at in enumerate(chosen)]
        return (words[0] & np.uint64(0xFFFFFFFF)) | words[1] << np.uint64(32)
    if how.startswith("pk_"):
        return compute_pairs(how[3:], kind, get, options)
    if kind in FLOATS:
        return compute_float(how, kind, get)
    return compute_integer(how, kind, get)


def mixed(get: Get, i: int, options: dict[str, str]) -> np.ndarray:
    flags = [options.get(key, "[0,0,0]").strip("[]").split(",") for key in ("op_sel", "op_sel_hi")]
    if flags[1][i] == "0":
        return get(i, "f32")
    return get(i, "f16", f"WORD_{flags[0][i]}").astype(np.float32)


def compute_pairs(how: str, kind: str, get: Get, options: dict[str, str]) -> np.ndarray:
    flags = [options.get("op_sel", "[0,0,0]"), options.get("op_sel_hi", "[1,1,1]")]
    flags += [options.get("neg_lo", "[0,0,0]"), options.get("neg_hi", "[0,0,0]")]
    places = [flag.strip("[]").split(",") for flag in flags]
    size = width_of(kind)
    halves = []
    for half in range(2):

        def part(i: int, kind_: str, half: int = half) -> np.ndarray:
            raw = get(i, f"b{2 * size}")
            by = size if places[half][i] == "1" else 0
            value = (raw >> raw.dtype.type(by)).astype(bits(size)).view(TYPES[kind_])
            return -value if places[2 + half][i] == "1" else value

        result = (compute_float if kind in FLOATS else compute_integer)(how, kind, part)
        halves.append(result.view(bits(size)).astype(bits(2 * size)))
    return halves[0] | halves[1] << halves[1].dtype.type(size)


def compute_float(how: str, kind: str, get: Get) -> np.ndarray:
    type_ = FLOATS[kind]
    if how.startswith("frexp_exp_i"):
        return np.frexp(get(0, kind))[1].astype(np.int32)
    a = get(0, kind)
    if how == "ldexp":
        by = get(1, "i16" if kind == "f16" else "i32").astype(np.int32)
        return np.ldexp(a.astype(np.float64), by).astype(type_)
    wide = a.astype(np.float64)
    one = {
        "rcp": lambda: blurred(1 / wide, kind), "rcp_iflag": lambda: blurred(1 / wide, kind),
        "sqrt": lambda: blurred(np.sqrt(wide), kind),
        "rsq": lambda: blurred(1 / np.sqrt(wide), kind),
        "exp": lambda: blurred(np.exp2(wide), kind), "log": lambda: blurred(np.log2(wide), kind),
        "floor": lambda: np.floor(a), "ceil": lambda: np.ceil(a), "trunc": lambda: np.trunc(a),
        "rndne": lambda: np.rint(a), "fract": lambda: a - np.floor(a),
        "frexp_mant": lambda: np.frexp(a)[0].astype(type_),
    }  # fmt: skip
    if how in one:
        return one[how]()
    b = get(1, kind)
    two = {
        "add": lambda: a + b, "sub": lambda: a - b, "subrev": lambda: b - a, "mul": lambda: a * b,
        "max": lambda: extreme(a, b, True, False), "min": lambda: extreme(a, b, False, False),
        "maximum": lambda: extreme(a, b, True, True), "minimum": lambda: extreme(a, b, False, True),
    }  # fmt: skip
    if how in two:
        return np.asarray(two[how]()).astype(type_)
    if how in ("fmac", "fma", "div_fmas", "fmamk", "fmaak"):
        c = get(2, kind)
        return fused(*np.broadcast_arrays(a, b, c))
    c = get(2, kind)
    if how in ("mad", "madmk", "madak", "mac"):  # of normals, and not fused
        return flushed(flushed(flushed(a) * flushed(b)) + flushed(c))
    if how in ("maximum3", "minimum3"):
        greatest = how.startswith("max")
        return extreme(extreme(a, b, greatest, True), c, greatest, True)
    if how == "div_fixup":
        return corrected(a, b, c)
    if how == "med3":
        return extreme(
            extreme(a, b, False, False),
            extreme(extreme(a, b, True, False), c, False, False),
            True,
            False,
        )
    raise ValueError("unknown instruction of floats")


def compute_integer(how: str, kind: str, get: Get) -> np.ndarray:
    width = width_of(kind)
    type_, wide = TYPES[kind], bits(width)
    a = get(0, kind)
    if how in ("not", "bfrev", "ffbh"):
        raw = a.view(wide)
        return {
            "not": lambda: ~raw,
            "bfrev": lambda: reverse(raw),
            "ffbh": lambda: leading(raw, kind[0] == "i"),
        }[how]()
    if how == "lshl_add":
        by = get(1, "u32").astype(wide) & wide(width - 1)
        return (a.view(wide) << by) + get(2, kind).view(wide)
    b = get(1, kind)
    if how in ("lshlrev", "lshrrev", "ashrrev"):
        by = get(0, "u32" if width == 64 else kind.replace("b", "u").replace("i", "u")).astype(
            wide
        ) & wide(width - 1)
        if how == "ashrrev":
            return b.view(TYPES[f"i{width}"]) >> by.astype(TYPES[f"i{width}"])
        raw = b.view(wide)
        return raw << by if how == "lshlrev" else raw >> by
    if kind.endswith("24"):
        keep = np.uint32(0xFFFFFF)
        if kind[0] == "u":
            a, b = (x.view(np.uint32) & keep for x in (a, b))
        else:
            a, b = ((x.view(np.uint32) << np.uint32(8)).view(np.int32) >> 8 for x in (a, b))
    two = {
        "add": lambda: a + b, "sub": lambda: a - b, "subrev": lambda: b - a, "mul_lo": lambda: a * b,
        "mul": lambda: a * b, "and": lambda: a & b, "or": lambda: a | b, "xor": lambda: a ^ b,
        "max": lambda: np.maximum(a, b), "min": lambda: np.minimum(a, b),
        "mul_hi": lambda: high_half(a, b),
    }  # fmt: skip
    how = how.removesuffix("_u32").removesuffix("_nc")
    if how in two:
        return np.asarray(two[how]()).astype(type_)
    c = get(2, kind)
    raw = [x.view(wide) for x in (a, b, c)]
    if how == "bfe":
        shifted = a >> (raw[1] & wide(31)).astype(type_)
        size = raw[2] & wide(31)
        if kind[0] == "i":
            up = (wide(32) - size) & wide(31)
            return (shifted.view(wide) << up).view(type_) >> up.astype(type_)
        return shifted & ((wide(1) << size) - wide(1))
    three = {
        "add3": lambda: raw[0] + raw[1] + raw[2], "or3": lambda: raw[0] | raw[1] | raw[2],
        "and_or": lambda: raw[0] & raw[1] | raw[2], "bfi": lambda: (raw[0] & raw[1]) | (~raw[0] & raw[2]),
        "lshl_or": lambda: (raw[0] << (raw[1] & wide(31))) | raw[2],
        "add_lshl": lambda: (raw[0] + raw[1]) << (raw[2] & wide(31)),
        "mad": lambda: a * b + c, "mad_legacy": lambda: a * b + c,
        "alignbit": lambda: ((raw[0].astype(np.uint64) << np.uint64(32) | raw[1]) >> (raw[2].astype(np.uint64) & np.uint64(31))).astype(np.uint32),
        "perm": lambda: permuted(*raw), "med3": lambda: np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c)),
    }  # fmt: skip
    return np.asarray(three[how]())
