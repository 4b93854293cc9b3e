"""Elementwise arithmetic: one function an op family, which takes a program and may add an op."""

import math
from fractions import Fraction

import numpy as np

from .numbers import (
    COMPUTED,
    FLOATS,
    INTEGERS,
    bits_of,
    dtype,
    epsilon,
    is_float,
    random_array,
    require,
    rounded,
    tiniest,
    unsigned,
    wide,
    wrap,
)  # fmt: skip


def of(element):
    return lambda v: v.element == element


def pair(program, elements):
    """Two values of one type, of those element types."""
    a = program.pick(program.tensors(lambda v: v.element in elements))
    if a is None:
        return None
    b = program.pick(program.tensors(lambda v: v.element == a.element and v.shape == a.shape))
    return a, b


def exactly(function):
    return lambda machine, *given: [(function(*[array for array, _ in given]), None)]


def fresh_constant(program):
    """A dense constant, of one element or of many."""
    element = program.pick([*FLOATS, "i64", "i32", "i16", "i8", "i1", "index"])
    if element == "f8E8M0FNU":
        return
    shape = program.shape(most=64)
    splat = program.chance(0.5)
    array = random_array((1,) if splat else shape, element, program.rng)
    if is_float(element) and not np.all(np.isfinite(array.astype(np.float64))):
        return
    if splat:
        text = number(array[0], element)
        array = np.broadcast_to(array[0], shape)
    else:
        text = nested(array, element)
    type_ = "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"
    program.emit(
        f"arith.constant dense<{text}> : {type_}", [], [(shape, element)],
        lambda machine: [(array, None)],
    )  # fmt: skip


def number(value, element):
    if element == "i1":
        return "true" if value else "false"
    return f"{float(value):.17e}" if is_float(element) else str(int(value))


def nested(array, element):
    if array.ndim == 0:
        return number(array, element)
    return "[" + ", ".join(nested(row, element) for row in array) + "]"


def signs_of_zero_agree(a, b):
    """Which zero the larger of two zeros is, is left open by some ops."""
    a, b = wide(a), wide(b)
    require(~((a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))))


def extreme(op):
    def run(a, b):
        x, y = wide(a), wide(b)
        if "num" in op:
            signs_of_zero_agree(a, b)
            result = (np.fmax if "max" in op else np.fmin)(x, y)
        else:
            result = (np.maximum if "max" in op else np.minimum)(x, y)
            zeros = (x == 0) & (y == 0)
            negative = np.logical_and if "max" in op else np.logical_or
            zero = np.where(negative(np.signbit(x), np.signbit(y)), x.dtype.type(-0.0), 0)
            result = np.where(zeros, zero, result)
        return result.astype(a.dtype)

    return run


def remainder(a, b):
    return np.fmod(wide(a), wide(b)).astype(a.dtype)


def arithmetic(function):
    return lambda a, b: rounded(function(wide(a), wide(b)), _name(a))


def _name(array):
    return next(name for name, kind in FLOATS.items() if np.dtype(kind) == array.dtype)


BINARY_FLOAT = {
    "addf": arithmetic(np.add), "subf": arithmetic(np.subtract), "mulf": arithmetic(np.multiply),
    "divf": arithmetic(np.divide), "remf": remainder,
    **{op: extreme(op) for op in ("maximumf", "minimumf", "maxnumf", "minnumf")},
}  # fmt: skip


def binary_float(program):
    operands = pair(program, COMPUTED)
    op = program.pick(BINARY_FLOAT)
    if operands and not (program.plain and (op == "remf" or operands[0].element[1] == "8")):
        a, b = operands
        names = f"arith.{op} {a.name}, {b.name} : {a.type}"
        program.emit(names, [a, b], [(a.shape, a.element)], exactly(BINARY_FLOAT[op]))


def divide(op):
    def run(a, b, element):
        if "u" in op:
            x, y = unsigned(a, element), unsigned(b, element)
            require(y != 0)
            quotient, rest = x // y, x % y
            if op == "ceildivui":
                return wrap(quotient + (rest != 0), element)
            return wrap(rest if op == "remui" else quotient, element)
        require(b != 0)
        low = -(1 << (INTEGERS[element] - 1))
        require(~((a == low) & (b == -1)))
        down, rest = a // b, a % b
        toward_zero = down + ((rest != 0) & ((a < 0) != (b < 0)))
        return {
            "divsi": toward_zero, "remsi": a - b * toward_zero, "floordivsi": down,
            "ceildivsi": down + (rest != 0),
        }[op]  # fmt: skip

    return run


def shift(op):
    def run(a, b, element):
        amount = unsigned(b, element)
        require(amount < INTEGERS[element])
        if op == "shrui":
            return wrap(unsigned(a, element) >> amount, element)
        amount = amount.astype(np.int64)
        return a >> amount if op == "shrsi" else wrap(a << amount, element)

    return run


def pick_unsigned(op):
    def run(a, b, element):
        less = unsigned(a, element) < unsigned(b, element)
        return np.where(less == (op == "minui"), a, b)

    return run


BINARY_INTEGER = {
    "addi": lambda a, b, e: wrap(a + b, e), "subi": lambda a, b, e: wrap(a - b, e),
    "muli": lambda a, b, e: wrap(a * b, e), "andi": lambda a, b, e: a & b,
    "ori": lambda a, b, e: a | b, "xori": lambda a, b, e: a ^ b,
    "maxsi": lambda a, b, e: np.maximum(a, b), "minsi": lambda a, b, e: np.minimum(a, b),
    **{op: pick_unsigned(op) for op in ("maxui", "minui")},
    **{op: shift(op) for op in ("shli", "shrsi", "shrui")},
    **{op: divide(op) for op in ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi",
                                 "ceildivui")},
}  # fmt: skip


def binary_integer(program):
    operands = pair(program, INTEGERS)
    op = program.pick(BINARY_INTEGER)
    if operands:
        a, b = operands
        run = exactly(lambda x, y: BINARY_INTEGER[op](x, y, a.element))
        names = f"arith.{op} {a.name}, {b.name} : {a.type}"
        program.emit(names, [a, b], [(a.shape, a.element)], run)


def compare(program):
    a, b = pair(program, [*COMPUTED, *INTEGERS]) or (None, None)
    if a is None:
        return
    order = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
             "gt": np.greater, "ge": np.greater_equal}  # fmt: skip
    name = program.pick(order)
    if is_float(a.element):
        lead = program.pick("ou")
        predicate = lead + name

        def run(x, y):
            nan = np.isnan(wide(x)) | np.isnan(wide(y))
            answer = order[name](wide(x), wide(y)) & ~nan
            return wrap(answer | nan if lead == "u" else answer, "i1")

    else:
        lead = program.pick("su") if name not in ("eq", "ne") else ""
        predicate = lead + name

        def run(x, y):
            if lead == "u":
                x, y = unsigned(x, a.element), unsigned(y, a.element)
            return wrap(order[name](x, y), "i1")

    op = "cmpf" if is_float(a.element) else "cmpi"
    text = f"arith.{op} {predicate}, {a.name}, {b.name} : {a.type}"
    program.emit(text, [a, b], [(a.shape, "i1")], exactly(run))


def select(program):
    condition = program.pick(program.tensors(of("i1")))
    if condition is None:
        return
    fits = program.tensors(lambda v: v.shape == condition.shape, exact=False)
    a = program.pick(fits)
    b = program.pick([v for v in fits if v.element == a.element])

    def run(machine, where, left, right):
        chosen = np.where(where[0] != 0, left[0], right[0]).astype(left[0].dtype)
        if left[1] is None and right[1] is None:
            return [(chosen, None)]
        tolerances = [np.zeros(a.shape) if t is None else t for t in (left[1], right[1])]
        return [(chosen, np.where(where[0] != 0, *tolerances))]

    text = f"arith.select {condition.name}, {a.name}, {b.name} : {condition.type}, {a.type}"
    program.emit(text, [condition, a, b], [(a.shape, a.element)], run)


EXACT_UNARY = {
    "math.absf": np.abs, "math.ceil": np.ceil, "math.floor": np.floor, "math.sqrt": np.sqrt,
    "arith.negf": np.negative,
}  # fmt: skip
_erf = np.vectorize(math.erf, otypes=[np.float64])
# The function in f64, and where it is asked for: far from where an error grows without bound.
UNARY = {
    "math.exp": (np.exp, -20, 20), "math.exp2": (np.exp2, -20, 20), "math.log": (np.log, 1e-3, 1e6),
    "math.log2": (np.log2, 1e-3, 1e6), "math.sin": (np.sin, -100, 100),
    "math.cos": (np.cos, -100, 100), "math.tanh": (np.tanh, -50, 50), "math.erf": (_erf, -50, 50),
    "math.rsqrt": (lambda x: 1 / np.sqrt(x), 1e-6, 1e6),
}  # fmt: skip


def nearly(function, low, high, element):
    """To eight units in the last place, of the result or of one."""

    def run(machine, x):
        wanted = x[0].astype(np.float64)
        usual = np.isfinite(wanted)
        require(usual & (wanted >= low) & (wanted <= high))
        result = function(wanted)
        return [(rounded(result, element), near(result, element))]

    return run


def near(result, element):
    worst = max(epsilon(element), 2**-24 if element != "f64" else 0)
    return 8 * worst * np.maximum(np.abs(result), 2**-4) + tiniest(element)


def unary_float(program):
    a = program.pick(program.tensors(lambda v: v.element in COMPUTED))
    if a is None or (program.plain and a.element[1] == "8"):
        return
    op = program.pick([*EXACT_UNARY, *UNARY])
    if op in EXACT_UNARY:
        function = EXACT_UNARY[op]
        run = exactly(lambda x: rounded(function(wide(x)), a.element))
    else:
        if program.plain and a.element == "f64":
            return
        run = nearly(*UNARY[op], a.element)
    program.emit(f"{op} {a.name} : {a.type}", [a], [(a.shape, a.element)], run)


def fused(x, y, z):
    """x * y + z of f64, rounded once."""
    return float(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)))


def fma(program):
    operands = pair(program, ["f64", "f32", "f16", "bf16"])
    if not operands:
        return
    a, b = operands
    c = program.pick(program.tensors(lambda v: v.element == a.element and v.shape == a.shape))

    def run(machine, x, y, z):
        x, y, z = (v[0].astype(np.float64) for v in (x, y, z))
        require(np.isfinite(x) & np.isfinite(y) & np.isfinite(z))
        result = x * y + z
        largest = np.abs(x * y) + np.abs(z)
        limit = float(np.finfo(np.float32).max) if a.element != "f16" else 65504.0
        require(largest < limit)
        if a.element == "f64":  # rounded once, which no type of NumPy does
            return [(np.asarray(np.frompyfunc(fused, 3, 1)(x, y, z), np.float64), None)]
        slack = epsilon(a.element) * (np.abs(result) + 1e-7 * largest) + tiniest(a.element)
        return [(rounded(result, a.element), slack)]

    text = f"math.fma {a.name}, {b.name}, {c.name} : {a.type}"
    program.emit(text, [a, b, c], [(a.shape, a.element)], run)


def integer_unary(program):
    a = program.pick(program.tensors(lambda v: v.element in INTEGERS and v.element != "index"))
    if a is not None:
        text = f"math.absi {a.name} : {a.type}"
        run = exactly(lambda x: wrap(np.abs(x), a.element))
        program.emit(text, [a], [(a.shape, a.element)], run)


def cast_text(program, op, a, to, run):
    shape = "" if a.shape is None else "tensor<" + "".join(f"{n}x" for n in a.shape)
    type_ = f"{shape}{to}>" if shape else to
    program.emit(f"arith.{op} {a.name} : {a.type} to {type_}", [a], [(a.shape, to)], run)


def cast(program):
    """Between any two types that one op of `arith` joins."""
    a = program.pick(program.tensors(lambda v: v.element != "f8E8M0FNU"))
    if a is None:
        return
    if is_float(a.element):
        to = program.pick([*COMPUTED, "i64", "i32", "i16", "i8"])
        float_cast(program, a, to)
    elif a.element == "index":
        to = program.pick(["i64", "i32", "i16", "i8"])
        cast_text(program, "index_cast", a, to, exactly(lambda x: wrap(x, to)))
    else:
        integer_cast(program, a)


def float_cast(program, a, to):
    if is_float(to):
        if bits_of(a.element) == bits_of(to):
            return
        op = "extf" if bits_of(a.element) < bits_of(to) else "truncf"
        if op == "truncf" and a.element not in ("f32", "f64"):
            return
        cast_text(program, op, a, to, exactly(lambda x: narrow(x, to)))
        return
    op = program.pick(["fptosi", "fptoui"])

    def run(x):
        x = x.astype(np.float64)
        low = -(2.0 ** (INTEGERS[to] - 1)) if op == "fptosi" else 0.0
        high = 2.0 ** (INTEGERS[to] - (op == "fptosi"))
        require(np.isfinite(x))
        require((np.trunc(x) >= low) & (np.trunc(x) < high))
        whole = np.trunc(x)
        if INTEGERS[to] == 64 and op == "fptoui":
            return whole.astype(np.uint64).astype(np.int64)
        return wrap(whole.astype(np.int64), to)

    cast_text(program, op, a, to, exactly(run))


def narrow(x, to):
    if np.dtype(FLOATS[to]).itemsize == 1:
        require(np.isfinite(x.astype(np.float64)))  # what becomes of NaN is for other tests
    return rounded(x, to)


def integer_cast(program, a):
    bits = INTEGERS[a.element]
    op = program.pick(["extsi", "extui", "trunci", "sitofp", "uitofp", "index_cast"])
    names = [e for e in ("i64", "i32", "i16", "i8", "i4") if e != a.element]
    if op in ("extsi", "extui"):
        to = program.pick([e for e in names if INTEGERS[e] > bits])
        if to:
            widen = (lambda x: x) if op == "extsi" else (lambda x: wrap(unsigned(x, a.element), to))
            cast_text(program, op, a, to, exactly(widen))
    elif op == "trunci":
        to = program.pick([e for e in [*names, "i1"] if INTEGERS[e] < bits])
        if to:
            cast_text(program, op, a, to, exactly(lambda x: wrap(x, to)))
    elif op == "index_cast":
        cast_text(program, op, a, "index", exactly(lambda x: x))
    else:
        to = program.pick(["f64", "f32"])

        def run(x):
            x = x if op == "sitofp" else unsigned(x, a.element)
            return x.astype(dtype(to))

        cast_text(program, op, a, to, exactly(run))


FAMILIES = [fresh_constant, binary_float, binary_float, binary_integer, binary_integer, compare,
            select, unary_float, fma, integer_unary, cast, cast]  # fmt: skip
