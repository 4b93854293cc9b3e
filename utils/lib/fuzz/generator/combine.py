"""Ops that combine along an axis: reductions, scans, orders, counts, products, random bits."""

import numpy as np

from .elementwise import BINARY_FLOAT, BINARY_INTEGER
from .numbers import COMPUTED, FLOATS, INTEGERS, epsilon, is_float, require, rounded, wrap
from .shapes import tensor

# Combiners that are associative to the bit; sums and products of floats are so within limits.
INTEGER = ["addi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"]
FLOAT = ["addf", "addf", "maximumf", "minimumf", "maxnumf", "minnumf"]


def operand(program, elements=(*COMPUTED, *INTEGERS)):
    a = program.pick(program.tensors(lambda v: v.element in elements and v.shape))
    if a is None or (program.plain and (a.element == "i1" or a.element[1] == "8")):
        return None, 0
    return a, int(program.rng.integers(0, len(a.shape)))


def combiner(program, element):
    """An op's name, its line for two scalars, and what it does to two arrays."""
    if program.chance(0.1):
        side = int(program.rng.integers(0, 2))
        return "pick", "", lambda a, b: (a, b)[side], side
    if is_float(element):
        op = program.pick(FLOAT)
        return op, f"arith.{op}", BINARY_FLOAT[op], None
    op = program.pick(INTEGER)
    return op, f"arith.{op}", lambda a, b: BINARY_INTEGER[op](a, b, element), None


def region(op, line, element, side, names=("l", "r")):
    left, right = (f"%{name}" for name in names)
    if op == "pick":
        return [], (left, right)[side]
    return [f"  %o_{names[0]} = {line} {left}, {right} : {element}"], f"%o_{names[0]}"


def folded(op, function, x, axis, element):
    """Every prefix's combination along an axis, and how far off another grouping may be."""
    x = np.moveaxis(x, axis, 0)
    parts, slack, total = [x[0]], None, None
    for row in x[1:]:
        parts.append(function(parts[-1], row))
    if op == "addf":
        exact, x64 = np.cumsum(x.astype(np.float64), 0), np.abs(x.astype(np.float64))
        require(np.isfinite(x64))
        total = np.cumsum(x64, 0)
        # Sums that each grouping finds without rounding: whole numbers that are not too large.
        if np.any(x64 != np.trunc(x64)) or np.any(total >= 2.0 / epsilon(element)):
            slack = 2 * len(x) * epsilon(element) * total
            require(total < 1e4)
        parts = list(rounded(exact, element))
    return np.stack(parts), slack


def reduce(program):
    a, axis = operand(program)
    if a is None:
        return
    op, line, function, side = combiner(program, a.element)
    shape = a.shape[:axis] + a.shape[axis + 1 :]

    def run(machine, x):
        parts, slack = folded(op, function, x[0], axis, a.element)
        return [(parts[-1], None if slack is None else slack[-1])]

    body, result = region(op, line, a.element, side)
    text = [
        f"tile.reduce {a.name} axis = {axis} : {a.type} -> {tensor(shape, a.element)} {{",
        f"^bb0(%l: {a.element}, %r: {a.element}):", *body,
        f"  tile.yield {result} : {a.element}", "}",
    ]  # fmt: skip
    program.emit("\n".join(text), [a], [(shape, a.element)], run)


def scan(program):
    a, axis = operand(program)
    if a is None or program.plain:
        return
    op, line, function, side = combiner(program, a.element)
    reverse = program.chance(0.3)
    if reverse and op == "pick":
        return

    def run(machine, x):
        given = np.flip(x[0], axis) if reverse else x[0]
        results = folded(op, function, given, axis, a.element)
        moved = [None if r is None else np.moveaxis(r, 0, axis) for r in results]
        moved = [None if r is None else np.flip(r, axis) if reverse else r for r in moved]
        return [(moved[0].copy(), moved[1])]

    body, result = region(op, line, a.element, side)
    text = [
        f"tile.scan {a.name} axis = {axis}{' reverse' * reverse} : {a.type} -> {a.type} {{",
        f"^bb0(%l: {a.element}, %r: {a.element}):", *body,
        f"  tile.yield {result} : {a.element}", "}",
    ]  # fmt: skip
    program.emit("\n".join(text), [a], [(a.shape, a.element)], run)


def reduce_two(program):
    """Two inputs in one reduction."""
    a, axis = operand(program)
    if a is None or program.plain:
        return
    b = program.pick(program.tensors(lambda v: v.shape == a.shape and v.element in INTEGERS))
    if b is None:
        return
    first, second = combiner(program, a.element), combiner(program, b.element)
    shape = a.shape[:axis] + a.shape[axis + 1 :]

    def run(machine, x, y):
        results = []
        for (op, _, function, _), given, value in ((first, x, a), (second, y, b)):
            parts, slack = folded(op, function, given[0], axis, value.element)
            results.append((parts[-1], None if slack is None else slack[-1]))
        return results

    body0, r0 = region(first[0], first[1], a.element, first[3], ("l", "r"))
    body1, r1 = region(second[0], second[1], b.element, second[3], ("m", "s"))
    types = f"{a.element}, {b.element}"
    results = [(shape, a.element), (shape, b.element)]
    text = [
        f"tile.reduce {a.name}, {b.name} axis = {axis} : {a.type}, {b.type} -> "
        f"{', '.join(tensor(*r) for r in results)} {{",
        f"^bb0(%l: {a.element}, %m: {b.element}, %r: {a.element}, %s: {b.element}):",
        *body0, *body1, f"  tile.yield {r0}, {r1} : {types}", "}",
    ]  # fmt: skip
    program.emit("\n".join(text), [a, b], results, run)


def arg_reduce(program):
    a, axis = operand(program)
    if a is None:
        return
    larger = program.chance(0.5)
    shape = a.shape[:axis] + a.shape[axis + 1 :]

    def run(machine, x):
        x = x[0]
        if is_float(a.element):
            require(~np.isnan(x.astype(np.float64)))
        keys = x.astype(np.float64) if is_float(a.element) else x
        at = (np.argmax if larger else np.argmin)(keys, axis)
        best = np.take_along_axis(x, np.expand_dims(at, axis), axis).squeeze(axis)
        return [(best, None), (np.asarray(at).astype(np.int64), None)]

    less = "arith.cmpf o" if is_float(a.element) else "arith.cmpi s"
    text = [
        f"tile.arg_reduce {a.name} axis = {axis} : {a.type} -> {tensor(shape, a.element)}, "
        f"{tensor(shape, 'i32')} {{",
        f"^bb0(%best: {a.element}, %next: {a.element}):",
        f"  %wins = {less}{'gt' if larger else 'lt'}, %next, %best : {a.element}",
        "  tile.yield %wins : i1", "}",
    ]  # fmt: skip
    program.emit("\n".join(text), [a], [(shape, a.element), (shape, "i32")], run)


def sort_keys(x, element, descending, is_unsigned):
    """Keys that order as the op does: every NaN last, -0 and +0 equal."""
    if not is_float(element):
        keys = x.astype(object)
        if is_unsigned:
            keys = keys + (x < 0).astype(object) * (1 << INTEGERS[element])
        return -keys if descending else keys
    nan = np.isnan(x.astype(np.float64))
    values = np.where(nan, 0, x.astype(np.float64))
    keys = np.empty(x.shape, object)
    for place in np.ndindex(x.shape):
        value = float(values[place])
        keys[place] = (nan[place], -value if descending else value)
    return keys


def order_along(keys, axis):
    """A stable order along an axis, as indices."""
    moved = np.moveaxis(keys, axis, -1)
    order = np.empty(moved.shape, np.int64)
    for place in np.ndindex(moved.shape[:-1]):
        row = moved[place]
        order[place] = sorted(range(len(row)), key=lambda i, row=row: row[i])
    return np.moveaxis(order, -1, axis)


def sort(program):
    a, axis = operand(program)
    if a is None or program.plain or np.prod(a.shape) > 512:
        return
    descending = program.chance(0.5)
    is_unsigned = not is_float(a.element) and program.chance(0.3)
    others = program.tensors(lambda v: v.shape == a.shape and v is not a)
    b = program.pick(others) if program.chance(0.5) else None
    values = [a] if b is None else [a, b]

    def run(machine, *given):
        keys = sort_keys(given[0][0], a.element, descending, is_unsigned)
        order = order_along(keys, axis)
        return [(np.take_along_axis(x, order, axis), None) for x, _ in given]

    types = ", ".join(v.type for v in values)
    text = (
        f"tile.sort {', '.join(v.name for v in values)} axis = {axis}"
        f"{' descending' * descending}{' unsigned' * is_unsigned} : {types} -> {types}"
    )
    program.emit(text, values, [(v.shape, v.element) for v in values], run)


def topk(program):
    a, axis = operand(program)
    if a is None or program.plain or np.prod(a.shape) > 512:
        return
    smallest = program.chance(0.5)
    is_unsigned = not is_float(a.element) and program.chance(0.3)
    k = int(program.rng.integers(1, a.shape[axis] + 1))
    shape = (*a.shape[:axis], k, *a.shape[axis + 1 :])

    def run(machine, x):
        keys = sort_keys(x[0], a.element, not smallest, is_unsigned)
        order = np.take(order_along(keys, axis), range(k), axis)
        return [(np.take_along_axis(x[0], order, axis), None), (order, None)]

    text = (
        f"tile.topk {a.name} axis = {axis}{' smallest' * smallest}{' unsigned' * is_unsigned} : "
        f"{a.type} -> {tensor(shape, a.element)}, {tensor(shape, 'i32')}"
    )
    program.emit(text, [a], [(shape, a.element), (shape, "i32")], run)


def take(program):
    """Positions are drawn as a table, some of them outside."""
    a, axis = operand(program)
    if a is None or program.plain or len(a.shape) > 3:
        return
    extent = a.shape[axis]
    at = program.pick(
        program.tensors(
            lambda v: v.element == "i32" and len(v.shape) == len(a.shape)
            and all(m == n or dim == axis for dim, (m, n) in enumerate(zip(v.shape, a.shape)))
        )
    )  # fmt: skip
    if at is None:
        return

    def run(machine, x, positions):
        where = positions[0].astype(np.int64)
        inside = (where >= 0) & (where < extent)
        found = np.take_along_axis(x[0], np.where(inside, where, 0), axis)
        return [(np.where(inside, found, np.zeros((), x[0].dtype)), None)]

    text = (
        f"tile.take {a.name}[{at.name}] axis = {axis} : {a.type}, {at.type} -> "
        f"{tensor(at.shape, a.element)}"
    )
    program.emit(text, [a, at], [(at.shape, a.element)], run)


def histogram(program):
    a = program.pick(program.tensors(lambda v: v.element in INTEGERS and len(v.shape) == 1))
    if a is None or program.plain:
        return
    mask = program.pick(program.tensors(lambda v: v.element == "i1" and v.shape == a.shape))
    bins = int(program.pick(program.extents))

    def run(machine, x, *masks):
        counted = x[0] if not masks else x[0][masks[0][0] != 0]
        counted = counted[(counted >= 0) & (counted < bins)]
        return [(np.bincount(counted, minlength=bins).astype(np.int64), None)]

    masked = f" mask({mask.name} : {mask.type})" if mask else ""
    text = f"tile.histogram {a.name}{masked} : {a.type} -> {tensor((bins,), 'i32')}"
    program.emit(text, [a, mask] if mask else [a], [((bins,), "i32")], run)


def philox_words(seed, stream, counter):
    mask = np.uint64(0xFFFFFFFF)
    c = [counter.astype(np.uint64) & mask, np.full(counter.shape, stream & 0xFFFFFFFF, np.uint64)]
    c += [np.zeros(counter.shape, np.uint64)] * 2
    key = [seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF]
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        half = np.uint64(32)
        c = [(b >> half) ^ c[1] ^ np.uint64(key[0]), b & mask,
             (a >> half) ^ c[3] ^ np.uint64(key[1]), a & mask]  # fmt: skip
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return [wrap(word.astype(np.int64), "i32") for word in c]


def philox(program):
    a = program.pick(program.tensors(lambda v: v.element == "i32"))
    if a is None:
        return
    seed, stream = int(program.rng.integers(0, 1 << 62)), int(program.rng.integers(0, 1 << 30))
    s, t = program.constant(seed, "i64"), program.constant(stream, "i32")

    def run(machine, x):
        return [(word, None) for word in philox_words(seed, stream, x[0])]

    text = f"tile.philox {s.name}, {t.name}, {a.name} : {a.type}"
    program.emit(text, [a], [(a.shape, "i32")] * 4, run)


ACCUMULATORS = {"f64": "f64", "i8": "i32", "i4": "i32"}


def dot(program):
    known = ["f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "i8", "i4"]
    known = ["f32", "f16", "bf16", "f32"] if program.plain else known
    a = program.pick(program.tensors(lambda v: v.element in known and 2 <= len(v.shape) <= 3))
    if a is None or (program.plain and (len(a.shape) != 2 or min(a.shape) < 16)):
        return
    accumulator = ACCUMULATORS.get(a.element, "f32")

    def joins(v):
        return v.element == a.element and v.shape[:-2] == a.shape[:-2] and len(v.shape) > 1

    b = program.pick(program.tensors(joins))
    choices = [
        (x, y)
        for x in (0, 1)
        for y in (0, 1)
        if b is not None and a.shape[-1 - x] == b.shape[-2 + y]
    ]
    chosen = program.pick(choices)
    if chosen is None:
        return
    first, second = chosen
    shape = (*a.shape[:-2], a.shape[-2 + first], b.shape[-1 - second])
    if np.prod(shape) > 4096 or (program.plain and min(shape) < 16):
        return
    c = program.pick(program.tensors(lambda v: v.element == accumulator and v.shape == shape))
    if c is None:
        scalar = program.constant(0, accumulator)
        zero = np.zeros(shape, FLOATS.get(accumulator, np.int64))
        text = f"tile.splat {scalar.name} : {tensor(shape, accumulator)}"
        c = program.emit(text, [], [(shape, accumulator)], lambda machine: [(zero, None)])[0]

    def run(machine, x, y, z):
        x = np.swapaxes(x[0], -1, -2) if first else x[0]
        y = np.swapaxes(y[0], -1, -2) if second else y[0]
        if accumulator == "i32":
            return [(wrap(x @ y + z[0], "i32"), None)]
        x, y, z = (v.astype(np.float64) for v in (x, y, z[0]))
        require(np.isfinite(x).all() and np.isfinite(y).all() and np.isfinite(z))
        result, size = x @ y + z, np.abs(x) @ np.abs(y) + np.abs(z)
        require(size < 1e30)
        whole = all(np.array_equal(v, np.trunc(v)) for v in (x, y, z))
        eps = epsilon(accumulator)
        slack = None if whole and np.all(size < 1 / eps) else 4 * x.shape[-1] * eps * size + 1e-40
        return [(rounded(result, accumulator), slack)]

    words = " transpose_a" * first + " transpose_b" * second
    text = (
        f"tile.dot {a.name}, {b.name}, {c.name}{words} : {a.type}, {b.type} -> "
        f"{tensor(shape, accumulator)}"
    )
    program.emit(text, [a, b, c], [(shape, accumulator)], run)


FAMILIES = [
    reduce,
    reduce,
    reduce_two,
    scan,
    arg_reduce,
    sort,
    topk,
    take,
    histogram,
    philox,
    dot,
    dot,
]
