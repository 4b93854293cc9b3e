"""A random program of the tile dialect that verifies and whose every result is defined.

It is run while it is made: each op comes with what it computes in NumPy, an op whose result the IR
would leave open on the values at hand is not taken, and loops and branches are run as well. So a
program knows the numbers that whoever compiles it must find.
"""

import numpy as np

from . import numbers
from .numbers import UndefinedError


class Value:
    """A name of the program; `shape` is None for a scalar."""

    def __init__(self, name, shape, element):
        self.name, self.shape, self.element = name, shape, element

    @property
    def type(self):
        if self.shape is None:
            return self.element
        return "tensor<" + "".join(f"{n}x" for n in self.shape) + self.element + ">"


class Op:
    """`run` maps the operands' (array, tolerance) to the results'."""

    def __init__(self, operands, results, run):
        self.operands, self.results, self.run = operands, results, run


class Block:
    """Ops in order, and the values that may be used there."""

    def __init__(self, parent=None):
        self.values = list(parent.values) if parent else []
        self.lines, self.ops = [], []

    def execute(self, machine):
        for op in self.ops:
            results = op.run(machine, *[machine.values[v.name] for v in op.operands])
            for value, result in zip(op.results, results, strict=True):
                machine.values[value.name] = result


class Machine:
    """The state of one program of the grid."""

    def __init__(self, memory, program=0, programs=1):
        self.values, self.memory, self.program, self.programs = {}, memory, program, programs


class Argument:
    """A view: an input that is only read, or an output of the program's own."""

    def __init__(self, name, element, array, type_):
        self.name, self.element, self.array, self.type = name, element, array, type_


class Program:
    def __init__(self, rng, plain=False):
        """`plain`: extents that are powers of two and ops that every target has."""
        self.rng, self.plain = rng, plain
        self.programs = int(rng.choice([1, 1, 2, 3]))
        self.arguments, self.counter, self.constants = [], 0, {}
        self.outputs = []  # (argument, value, index of the first program's tile)
        self.depth = 0
        self.top = self.block = Block()
        self.memory = {}
        self.machine = Machine(self.memory, 0, self.programs)
        self.extents = [1, 2, 4, 8, 16, 32] if plain else [1, 2, 3, 4, 5, 7, 8, 16, 17, 32, 33]

    def fresh(self, shape, element):
        self.counter += 1
        return Value(f"%v{self.counter}", shape, element)

    def pick(self, items):
        items = list(items)
        return items[int(self.rng.integers(0, len(items)))] if items else None

    def chance(self, probability):
        return self.rng.random() < probability

    def shape(self, rank=None, most=2048):
        rank = int(self.rng.choice([1, 1, 2, 2, 2, 3])) if rank is None else rank
        while True:
            shape = tuple(int(n) for n in self.rng.choice(self.extents, rank))
            if np.prod(shape) <= most:
                return shape

    def exact(self, value):
        return self.machine.values[value.name][1] is None

    def tensors(self, test=lambda v: True, exact=True):
        """Values at hand of which `test` holds; unless said otherwise only those known exactly."""
        return [
            v
            for v in self.block.values[-24:]
            if v.shape is not None and (not exact or self.exact(v)) and test(v)
        ]

    def scalars(self, element):
        return [v for v in self.block.values if v.shape is None and v.element == element]

    def emit(self, text, operands, results, run):
        """Adds an op if its results are defined. `text` has {0}, {1}, … for the results' names
        and stands without its location; nothing is returned of an op that was not taken."""
        values = [self.fresh(shape, element) for shape, element in results]
        try:
            given = [self.machine.values[v.name] for v in operands]
            with np.errstate(all="ignore"):
                computed = run(self.machine, *given)
        except UndefinedError:
            return None
        for value, (array, tolerance) in zip(values, computed, strict=True):
            expected = () if value.shape is None else value.shape
            assert np.shape(array) == expected, (text, np.shape(array), expected)
            array = np.asarray(array)
            assert array.dtype == numbers.dtype(value.element), (text, array.dtype)
            if tolerance is not None and not np.any(tolerance):
                tolerance = None
            self.machine.values[value.name] = (array, tolerance)
        names = [value.name for value in values]
        head = ", ".join(names) + " = " if names else ""
        self.block.lines += (head + text).splitlines()
        self.block.ops.append(Op(operands, values, run))
        self.block.values += values
        return values

    def constant(self, number, element="index"):
        """A scalar constant, one of each at the program's start."""
        key = (number, element)
        if key not in self.constants:
            value = Value(f"%c{len(self.constants)}", None, element)
            self.constants[key] = value
            if numbers.is_float(element):
                array = numbers.rounded(number, element)
            else:
                array = numbers.wrap(number, element)
            self.machine.values[value.name] = (np.asarray(array), None)
        return self.constants[key]

    def text(self):
        """The module."""
        arguments = ", ".join(f"%{a.name}: {a.type}" for a in self.arguments)
        lines = [f"tile.kernel @k({arguments}) grid {{", "  %n = arith.constant "
                 f"{self.programs} : index", "  tile.grid %n", "} {"]  # fmt: skip
        for (number, element), value in self.constants.items():
            lines.append(f"  {value.name} = arith.constant {literal(number, element)} : {element}")
        lines += ["  " + line for line in self.top.lines]
        return "\n".join([*lines, "  tile.return", "}", ""])

    def finish(self):
        """Runs every other program of the grid; False if something there is not defined."""
        constants = {v.name: self.machine.values[v.name] for v in self.constants.values()}
        try:
            with np.errstate(all="ignore"):
                for program in range(1, self.programs):
                    machine = Machine(self.memory, program, self.programs)
                    machine.values.update(constants)
                    self.top.execute(machine)
        except UndefinedError:
            return False
        return True


def literal(number, element):
    if element == "i1":
        return "true" if number else "false"
    if not numbers.is_float(element):
        return str(int(number))
    return f"{float(number):.8e}"
