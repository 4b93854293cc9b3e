"""Loops and branches, whose bodies are random programs too."""

import numpy as np

from .numbers import UndefinedError
from .program import Block


def inside(program, grow, before, yields, *, terminator):
    """A block grown inside the present one, ending with values of the types asked for."""
    outer, block = program.block, Block(program.block)
    block.values += before
    program.block, program.depth = block, program.depth + 1
    try:
        grow(program, int(program.rng.integers(1, 5)))
        results = []
        for value in yields:
            fits = [v for v in block.values[-16:] if v.type == value.type and program.exact(v)]
            results.append(program.pick(fits) or value)
    finally:
        program.block, program.depth = outer, program.depth - 1
    types = ", ".join(v.type for v in results)
    names = ", ".join(v.name for v in results)
    block.lines.append(f"{terminator} {names} : {types}" if results else terminator)
    return block, results


def carried(program):
    """Values that a loop or a branch may carry."""
    fits = program.tensors(lambda v: np.prod(v.shape) <= 1024)
    return [program.pick(fits) for _ in range(int(program.rng.integers(1, 3)))] if fits else []


def indented(lines):
    return ["  " + line for line in lines]


def loop(program, grow):
    initial = carried(program)
    if not initial or program.depth > 1:
        return
    trips = int(program.rng.integers(0, 4))
    low, step = int(program.rng.integers(-3, 4)), int(program.rng.integers(1, 4))
    high = low + trips * step
    bounds = [program.constant(n) for n in (low, high, step)]
    index = program.fresh(None, "index")
    states = [program.fresh(v.shape, v.element) for v in initial]
    machine = program.machine
    saved = dict(machine.values)
    machine.values[index.name] = (np.asarray(low, np.int64), None)
    for state, value in zip(states, initial, strict=True):
        machine.values[state.name] = machine.values[value.name]
    block, results = inside(program, grow, [index, *states], states, terminator="scf.yield")
    machine.values = {**saved, **{v.name: machine.values[v.name]
                                  for v in program.constants.values()}}  # fmt: skip

    def run(machine, *given):
        now = list(given)
        for trip in range(trips):
            machine.values[index.name] = (np.asarray(low + trip * step, np.int64), None)
            for state, value in zip(states, now, strict=True):
                machine.values[state.name] = value
            block.execute(machine)
            now = [machine.values[v.name] for v in results]
            if any(tolerance is not None for _, tolerance in now):
                raise UndefinedError
        return now

    pairs = ", ".join(f"{s.name} = {v.name}" for s, v in zip(states, initial, strict=True))
    types = ", ".join(v.type for v in initial)
    text = [
        f"scf.for {index.name} = {bounds[0].name} to {bounds[1].name} step {bounds[2].name} "
        f"iter_args({pairs}) -> ({types}) {{", *indented(block.lines), "}",
    ]  # fmt: skip
    join_results(program, text, initial, run)


def join_results(program, text, values, run):
    """Adds an op of many lines whose results print as one name."""
    results = [(v.shape, v.element) for v in values]
    program.emit("\n".join(text), values, results, run)


def branch(program, grow):
    kept = carried(program)
    conditions = [v for v in program.scalars("i1") if program.exact(v)]
    if not kept or program.depth > 1:
        return
    if conditions:
        condition = program.pick(conditions)
    else:
        ids = [v for v in program.scalars("index") if v.name.startswith(("%pid", "%v"))]
        left, right = program.pick(ids), program.constant(int(program.rng.integers(0, 3)))
        text = f"arith.cmpi slt, {left.name}, {right.name} : index"
        condition = program.emit(
            text, [left, right], [(None, "i1")],
            lambda machine, a, b: [(np.asarray(-(a[0] < b[0]).astype(np.int64)), None)],
        )[0]  # fmt: skip
    saved = dict(program.machine.values)
    first, results1 = inside(program, grow, [], kept, terminator="scf.yield")
    program.machine.values = {**saved, **constants(program)}
    second, results2 = inside(program, grow, [], kept, terminator="scf.yield")
    program.machine.values = {**saved, **constants(program)}

    def run(machine, which, *given):
        block, results = (first, results1) if which[0] else (second, results2)
        block.execute(machine)
        return [machine.values[v.name] for v in results]

    types = ", ".join(v.type for v in kept)
    text = [f"scf.if {condition.name} -> ({types}) {{", *indented(first.lines), "} else {",
            *indented(second.lines), "}"]  # fmt: skip
    program.emit("\n".join(text), [condition, *kept], [(v.shape, v.element) for v in kept], run)


def constants(program):
    return {v.name: program.machine.values[v.name] for v in program.constants.values()}
