"""Random programs over tiles, with the numbers that they compute."""

import numpy as np

from . import combine, control, elementwise, memory, shapes
from .program import Op, Program


def grow(program, count):
    """Adds about `count` ops to the present block."""
    families = [elementwise.FAMILIES, shapes.FAMILIES, combine.FAMILIES, memory.FAMILIES]
    for _ in range(count):
        if program.chance(0.08):
            program.pick([control.loop, control.branch])(program, grow)
        else:
            family = families[int(program.rng.choice(4, p=[0.45, 0.22, 0.15, 0.18]))]
            program.pick(family)(program)


def generate(seed, size, plain=False):
    """A program of about `size` ops; None if it came to something undefined."""
    program = Program(np.random.default_rng(seed), plain)
    program.block.lines.append("%pid = tile.program_id x")
    index = program.fresh(None, "index")
    index.name = "%pid"
    program.machine.values["%pid"] = (np.asarray(0, np.int64), None)
    program.block.values.append(index)
    program.block.ops.append(
        Op([], [index], lambda machine: [(np.asarray(machine.program, np.int64), None)])
    )
    for _ in range(3):
        memory.load(program)
    grow(program, size)
    stored = [v for v in program.block.values if v.shape]
    for value in stored[-12:] if stored else []:
        if value.element != "index" or not program.plain:
            memory.store(program, value)
    return program if program.outputs and program.finish() else None
