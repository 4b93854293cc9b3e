"""Runs the arithmetic of a kernel that works on scalars, as the IR defines it.

Stands in for a target where a test is about what the front end emits. It is strict: an
operation whose result the IR leaves open (a division by zero, a shift by the width, a float
that does not fit an integer) fails the test.
"""

import math
import re

import ml_dtypes
import numpy as np

FLOATS = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
}  # fmt: skip


def width(type_: str) -> int:
    return 64 if type_ == "index" else int(type_[1:])


def signed(bits: int, type_: str) -> int:
    half = 1 << (width(type_) - 1)
    return (bits ^ half) - half


def wrap(value: int, type_: str) -> int:
    return value & ((1 << width(type_)) - 1)


def make(value, type_: str):
    """A Python number as a value of a type: floats as NumPy has them, integers as bits."""
    if type_ in FLOATS:
        with np.errstate(over="ignore"):
            return FLOATS[type_](value)
    return wrap(int(value), type_)


def _literal(text: str, type_: str):
    if text in ("true", "false"):
        return int(text == "true")
    if type_ in FLOATS and text.startswith("0x"):
        bits = int(text, 16)
        kind = FLOATS[type_]
        size = np.dtype(kind).itemsize
        return np.frombuffer(bits.to_bytes(size, "little"), kind)[0]
    return make(float(text) if type_ in FLOATS else int(text), type_)


def _divide(a: int, b: int, type_: str, how: str):
    assert b != 0, "division by zero"
    if how.endswith("ui"):
        return -(-a // b) if how.startswith("ceil") else a // b
    x, y = signed(a, type_), signed(b, type_)
    assert not (y == -1 and x == -(1 << (width(type_) - 1))), "division overflows"
    return wrap(-(-x // y) if how.startswith("ceil") else x // y, type_)


def _shift(a: int, b: int, type_: str, how: str):
    assert b < width(type_), "shift by the width"
    if how == "shli":
        return wrap(a << b, type_)
    return wrap((signed(a, type_) if how == "shrsi" else a) >> b, type_)


def _extreme(a, b, type_: str, how: str):
    pick = max if how.startswith("max") else min
    if how.endswith("imumf"):
        if math.isnan(a) or math.isnan(b):
            return make(math.nan, type_)
        return pick(a, b, key=lambda x: (float(x), math.copysign(1.0, float(x))))
    if how.endswith("si"):
        return pick(a, b, key=lambda x: signed(x, type_))
    return pick(a, b)


def _binary(op: str, a, b, type_: str):
    if op in ("addi", "subi", "muli"):
        return wrap({"a": a + b, "s": a - b, "m": a * b}[op[0]], type_)
    if op in ("andi", "ori", "xori"):
        return {"a": a & b, "o": a | b, "x": a ^ b}[op[0]]
    if op in ("floordivsi", "ceildivsi", "divui", "ceildivui"):
        return _divide(a, b, type_, op)
    if op in ("shli", "shrsi", "shrui"):
        return _shift(a, b, type_, op)
    if op[:3] in ("max", "min"):
        return _extreme(a, b, type_, op)
    with np.errstate(all="ignore"):
        if op == "remf":
            return FLOATS[type_](np.fmod(a, b))
        return FLOATS[type_](
            {"a": np.add, "s": np.subtract, "m": np.multiply, "d": np.divide}[op[0]](a, b)
        )


def _compare(predicate: str, a, b, type_: str) -> int:
    if type_ in FLOATS:
        a, b = float(a), float(b)
        nan = math.isnan(a) or math.isnan(b)
        if predicate in ("uno", "ord"):
            return int(nan == (predicate == "uno"))
        if nan:
            return int(predicate.startswith("u"))
        predicate = predicate[1:]
    elif predicate[0] == "s":
        a, b, predicate = signed(a, type_), signed(b, type_), predicate[1:]
    elif predicate[0] == "u":
        predicate = predicate[1:]
    return int(
        {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[
            predicate
        ]
    )


def rounded(value: int, dtype):
    """An int in a dtype of floats, rounded once: NumPy goes by way of others and rounds again."""
    info = ml_dtypes.finfo(dtype)
    lost = max(0, abs(value).bit_length() - info.nmant - 1)
    kept, rest = divmod(abs(value), 1 << lost)
    half = (1 << lost) >> 1
    kept += lost > 0 and (rest > half or (rest == half and kept & 1))
    if kept << lost > float(info.max):
        return dtype(math.copysign(math.inf, value))  # NaN of what has no infinity
    return dtype(math.copysign(float(kept << lost), value))


def _convert(op: str, x, source: str, to: str):
    if op in ("extf", "truncf"):
        assert source in ("f32", "f64") or to == "f32", f"{source} to {to} in one step"
        with np.errstate(over="ignore"):
            return FLOATS[to](x)
    if op in ("sitofp", "uitofp"):
        value = signed(x, source) if op[0] == "s" else x
        return rounded(value, FLOATS[to])
    if op in ("fptosi", "fptoui"):
        assert math.isfinite(x), "not finite"
        value = int(x)
        low = -(1 << (width(to) - 1)) if op == "fptosi" else 0
        assert low <= value < low + (1 << width(to)), f"{x} does not fit {to}"
        return wrap(value, to)
    if op in ("extsi", "index_cast"):
        return wrap(signed(x, source), to)
    assert op in ("extui", "trunci", "index_castui")
    return wrap(x, to)


def evaluate(text: str, arguments: dict):
    """What the last `tile.splat` of a kernel is given. Arguments are Python numbers."""
    types = dict(re.findall(r"(%\w+): (\w+)", re.search(r"tile.kernel @\w+\((.*)\)", text)[1]))
    values = {f"%{n}": make(v, types[f"%{n}"]) for n, v in arguments.items()}
    result = None
    for line in text.splitlines():
        line = re.sub(r" loc\(#l\d+\)$", "", line.strip())
        found = re.match(r"(%\w+) = (\w+)\.(\w+) (.*)", line)
        if not found or found[2] not in ("arith", "math"):
            splat = re.match(r"%\w+ = tile.splat (%\w+)", line)
            result = values[splat[1]] if splat else result
            continue
        name, _, op, rest = found.groups()
        values[name] = _run(op, rest, values)
    return result


def _run(op: str, rest: str, values: dict):
    if op == "constant":
        if rest in ("true", "false"):
            return _literal(rest, "i1")
        found = re.match(r"(\S+) : (\w+)$", rest)
        return _literal(*found.groups()) if found else None
    operands, types = rest.rsplit(" : ", 1)
    if op in ("cmpi", "cmpf"):
        predicate, a, b = operands.split(", ")
        return _compare(predicate, values[a], values[b], types)
    names = [values[n] for n in operands.split(", ")]
    if op == "select":
        return names[1] if names[0] else names[2]
    if " to " in types:
        return _convert(op, names[0], *types.split(" to "))
    if op == "negf":
        return FLOATS[types](-names[0])
    if op == "absi":
        return wrap(abs(signed(names[0], types)), types)
    if op == "floor":
        return FLOATS[types](np.floor(float(names[0])))
    if op == "absf":
        return FLOATS[types](abs(names[0]))
    return _binary(op, *names, types)
