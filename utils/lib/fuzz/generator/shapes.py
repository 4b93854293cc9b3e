"""Ops that move elements: what moves the values moves their tolerances too."""

import numpy as np

from .elementwise import exactly
from .numbers import FLOATS, bits_of, is_float, require, wrap


def moved(function):
    """`function` maps arrays to one array."""

    def run(machine, *given):
        values = function(*[array for array, _ in given])
        if all(tolerance is None for _, tolerance in given):
            return [(values, None)]
        tolerances = [np.zeros(a.shape) if t is None else t for a, t in given]
        return [(values, function(*tolerances))]

    return run


def tensor(shape, element):
    return "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"


def choose(program, test=lambda v: True):
    return program.pick(program.tensors(test, exact=False))


def unary(program, op, a, shape, function, middle=""):
    text = f"tile.{op} {a.name}{middle} : {a.type} -> {tensor(shape, a.element)}"
    program.emit(text, [a], [(shape, a.element)], moved(function))


def broadcast(program):
    a = choose(program, lambda v: 1 in v.shape)
    if a is not None:
        shape = tuple(int(program.pick(program.extents)) if n == 1 else n for n in a.shape)
        if np.prod(shape) <= 4096:
            unary(program, "broadcast", a, shape, lambda x: np.broadcast_to(x, shape).copy())


def expand(program):
    """A new extent of 1, which broadcasts need."""
    a = choose(program, lambda v: len(v.shape) < 4)
    if a is not None:
        at = int(program.rng.integers(0, len(a.shape) + 1))
        shape = (*a.shape[:at], 1, *a.shape[at:])
        unary(program, "reshape", a, shape, lambda x: x.reshape(shape))


def reshape(program):
    a = choose(program)
    if a is None:
        return
    rest, shape = int(np.prod(a.shape)), []
    while rest > 1 and len(shape) < 3:
        extent = program.pick([n for n in range(1, rest + 1) if rest % n == 0])
        shape.append(extent)
        rest //= extent
    shape = tuple([*shape, rest] if rest > 1 or not shape else shape)
    unary(program, "reshape", a, shape, lambda x: x.reshape(shape))


def transpose(program):
    a = choose(program, lambda v: len(v.shape) > 1)
    if a is not None:
        order = [int(d) for d in program.rng.permutation(len(a.shape))]
        shape = tuple(a.shape[d] for d in order)
        text = f" [{', '.join(map(str, order))}]"
        unary(program, "transpose", a, shape, lambda x: x.transpose(order).copy(), text)


def slice_(program):
    a = choose(program)
    if a is None or program.plain:
        return
    shape = tuple(int(program.rng.integers(1, n + 1)) for n in a.shape)
    offsets = [int(program.rng.integers(0, n - m + 1)) for n, m in zip(a.shape, shape, strict=True)]
    where = tuple(slice(o, o + m) for o, m in zip(offsets, shape, strict=True))
    unary(
        program, "slice", a, shape, lambda x: x[where].copy(), f" [{', '.join(map(str, offsets))}]"
    )


def concat(program):
    a = choose(program, lambda v: v.shape)
    if a is None or program.plain:
        return
    axis = int(program.rng.integers(0, len(a.shape)))

    def fits(v):
        same = v.shape[:axis] + v.shape[axis + 1 :] == a.shape[:axis] + a.shape[axis + 1 :]
        return len(v.shape) == len(a.shape) and same and v.element == a.element

    parts = [a] + [choose(program, fits) for _ in range(int(program.rng.integers(0, 3)))]
    total = sum(v.shape[axis] for v in parts)
    shape = (*a.shape[:axis], total, *a.shape[axis + 1 :])
    if np.prod(shape) > 4096:
        return
    text = (
        f"tile.concat {', '.join(v.name for v in parts)} axis = {axis} : "
        f"{', '.join(v.type for v in parts)} -> {tensor(shape, a.element)}"
    )
    program.emit(text, parts, [(shape, a.element)], moved(lambda *x: np.concatenate(x, axis)))


def join(program):
    a = choose(program)
    if a is None or program.plain or np.prod(a.shape) > 2048 or len(a.shape) > 3:
        return
    b = choose(program, lambda v: v.shape == a.shape and v.element == a.element)
    shape = (*a.shape, 2)
    text = f"tile.join {a.name}, {b.name} : {a.type} -> {tensor(shape, a.element)}"
    program.emit(text, [a, b], [(shape, a.element)], moved(lambda x, y: np.stack([x, y], -1)))


def split(program):
    a = choose(program, lambda v: len(v.shape) > 1 and v.shape[-1] == 2)
    if a is None or program.plain:
        return
    shape = a.shape[:-1]

    def run(machine, x):
        return [moved(lambda y, i=i: y[..., i].copy())(machine, x)[0] for i in (0, 1)]

    text = f"tile.split {a.name} : {a.type} -> {tensor(shape, a.element)}"
    program.emit(text, [a], [(shape, a.element), (shape, a.element)], run)


def iota(program):
    element = program.pick(["i64", "i32", "i16", "i8", "index"])
    shape = program.shape()
    dim = int(program.rng.integers(0, len(shape)))
    array = wrap(np.indices(shape)[dim], element)
    text = f"tile.iota {dim} : {tensor(shape, element)}"
    program.emit(text, [], [(shape, element)], lambda machine: [(array, None)])


def splat(program):
    scalar = program.pick([v for v in program.block.values if v.shape is None])
    if scalar is None:
        element = program.pick(["f32", "i32", "bf16", "i64", "f64", "i1"])
        scalar = program.constant(int(program.rng.integers(-3, 4)), element)
    shape = program.shape()

    def run(machine, x):
        slack = None if x[1] is None else np.full(shape, x[1])
        return [(np.full(shape, x[0]), slack)]

    text = f"tile.splat {scalar.name} : {tensor(shape, scalar.element)}"
    program.emit(text, [scalar], [(shape, scalar.element)], run)


def to_scalar(program):
    a = choose(program, lambda v: np.prod(v.shape) == 1)
    if a is not None:
        text = f"tile.to_scalar {a.name} : {a.type}"
        program.emit(text, [a], [(None, a.element)], moved(lambda x: x.reshape(())))


def bitcast(program):
    """Between types of one width; not out of a float that may be NaN, whose bits are open."""
    known = ["i64", "i32", "i16", "i8", "f64", "f32", "f16", "bf16", "f8E5M2"]
    a = program.pick(program.tensors(lambda v: v.element in known and v.shape))
    if a is None or program.plain:
        return
    to = program.pick([e for e in known if bits_of(e) == bits_of(a.element) and e != a.element])
    if to is None:
        return
    stored = np.dtype(f"i{bits_of(a.element) // 8}")

    def run(x):
        bits = x.view(stored) if is_float(a.element) else x.astype(stored)
        if is_float(a.element):
            require(~np.isnan(x.astype(np.float64)))
        return bits.view(FLOATS[to]) if is_float(to) else bits.astype(np.int64)

    text = f"tile.bitcast {a.name} : {a.type} -> {tensor(a.shape, to)}"
    program.emit(text, [a], [(a.shape, to)], exactly(run))


FAMILIES = [broadcast, broadcast, expand, reshape, transpose, slice_, concat, join, split, iota,
            splat, to_scalar, bitcast]  # fmt: skip
