"""Random kernels as Python text: loops whose carried tiles and scalars feed one another, branches,
returns, and memory that is read and written through views that overlap.

What a kernel computes is fixed to the bit: integers wrap, floats are computed one op at a time, and
what is summed in an open order is made of small whole numbers first. Operands have their dtypes
written out, but for numbers that branches choose and loops count, which take that of what they meet,
for positions, and for what a store widens. A `Case` is the text and what the kernel is given.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

INTS, FLOATS = ("i32", "i32", "i32", "i64"), ("f32",)
NUMBERS = ("f32", "f32", "i32", "i32", "i64")
TRIPS = ("0, 3", "3", "2", "1, 4", "0, 5, 2", "3, 0, -1", "4", "0", "n", "1, n")


class Type(NamedTuple):
    """Of a value in the kernel: a scalar has no extents."""

    dtype: str
    shape: tuple[int, ...]


class Parameter(NamedTuple):
    """A view of a base array: every `step`th element of each dimension from `start` on."""

    name: str
    base: str
    dtype: str
    slices: tuple[tuple[int, int, int], ...]
    turned: bool

    @property
    def shape(self):
        extents = tuple(len(range(*part)) for part in self.slices)
        return extents[::-1] if self.turned else extents


@dataclass
class Case:
    """A kernel's text and its arguments, made anew by `arrays` each time."""

    seed: int
    text: str = ""
    bases: dict[str, Type] = field(default_factory=dict)
    views: list[Parameter] = field(default_factory=list)
    scalars: dict[str, tuple[str, int]] = field(default_factory=dict)

    def arrays(self):
        """The bases by name, and the arguments by name, some of which share memory."""
        numbers = np.random.default_rng(self.seed)
        bases = {}
        for name, (dtype, shape) in self.bases.items():
            whole = numbers.integers(-40, 40, shape)
            bases[name] = (whole * 0.25 if dtype == "f32" else whole).astype(NUMPY[dtype])
        given = {}
        for view in self.views:
            part = bases[view.base][tuple(slice(*part) for part in view.slices)]
            given[view.name] = part.T if view.turned else part
        for name, (dtype, value) in self.scalars.items():
            given[name] = NUMPY[dtype](value)
        return bases, given


NUMBER = Type("number", ())  # of a name whose value has no dtype of its own
NUMPY = {"f32": np.float32, "i32": np.int32, "i64": np.int64}


class Writer:
    """Writes one kernel; `budget` bounds its statements."""

    def __init__(self, seed: int, size: int):
        self.rng = random.Random(seed)
        self.case = Case(seed)
        self.budget = size
        self.lines: list[str] = []
        self.names: list[tuple[str, Type]] = []
        self.indices: list[str] = []
        self.loops = self.count = 0
        self.helpers: list[tuple[str, tuple[Type, ...], Type]] = []

    def write(self) -> Case:
        rng = self.rng
        n = rng.choice([1, 3, 4, 5, 8, 16, 17, 32, 33])
        r, c = rng.choice([1, 2, 3, 4, 8, 16, 16, 32]), rng.choice([1, 2, 4, 5, 8, 16, 16])
        large = rng.random() < 0.12  # of several warps, and of many registers
        if large:
            n, r, c = rng.choice([100, 128, 300]), rng.choice([16, 64]), rng.choice([8, 32, 50])
        self.shapes = [(n,), (n,), (r, c), (r, c), (r,), (c,), (c, r)]
        self.likely = Type(rng.choice(NUMBERS), rng.choice(self.shapes))
        self.likeness = rng.choice([0.1, 0.5, 0.8])
        self.programs = rng.choice([1, 1, 1, 1, 2, 3])
        self.extent = rng.choice(
            [100, 256, 333] if large else [8, 20, 33, 40]
        )  # of one program's part of a view
        self.parameters(large)
        head = ""
        if rng.random() < 0.3:
            head = self.helper()
        self.emit(0, f"p = kiln.grid({self.programs})")
        if rng.random() < 0.3:
            self.emit(0, f"kiln.pin(warps={rng.choice([1, 2, 4, 8])})")
        for _ in range(rng.randint(2, 6)):
            self.define(0)
        while self.budget > 0:
            self.statement(0)
        made = [one for one in self.names if one[0][0] == "t"]
        for name, type_ in rng.sample(made, min(5, len(made))):
            self.keep(0, name, type_)
        parameters = ", ".join(
            [f"{v.name}: kiln.View" for v in self.case.views]
            + [f"{s}: kiln.{dtype}" for s, (dtype, _) in self.case.scalars.items()]
        )
        body = "\n".join(self.lines)
        self.case.text = f"{head}@kiln.kernel\ndef kernel({parameters}):\n{body}\n"
        return self.case

    def parameters(self, large: bool):
        """Views of few bases, so that some overlap; one-dimensional ones for every dtype. Those of
        one base start together where several programs run at once: each owns a part of them."""
        rng = self.rng
        long = self.programs * self.extent
        for base, dtype in (("a", "f32"), ("b", "i32"), ("c", rng.choice(NUMBERS))):
            self.case.bases[base] = Type(dtype, (long + 9,))
            start = rng.choice([0, 0, 1, 4, 9])
            for name in rng.choice([("0",), ("0", "1"), ("0", "1", "2")]):
                if self.programs == 1:
                    start = rng.choice([0, 0, 1, 4, 9])
                parts = ((start, start + long, 1),)
                self.case.views.append(Parameter(base + name, base, dtype, parts, False))
        if self.programs == 1:
            dtype = rng.choice(NUMBERS)
            size = 70 if large else 24
            self.case.bases["d"] = Type(dtype, (size, size))
            for name in rng.choice([(), ("d0",), ("d0", "d1")]):
                parts = tuple(
                    (start, size - rng.choice([0, 0, 3]), rng.choice([1, 1, 1, 2]))
                    for start in (rng.choice([0, 0, 1, 5]), rng.choice([0, 0, 2]))
                )
                self.case.views.append(Parameter(name, "d", dtype, parts, rng.random() < 0.2))
        self.case.scalars["n"] = ("i32", rng.randint(0, 4))
        self.case.scalars["s"] = ("f32", rng.randint(-8, 8))
        self.names += [("n", Type("i32", ())), ("s", Type("f32", ()))]

    def helper(self) -> str:
        """A function that returns from its branches."""
        kind = Type(self.rng.choice(NUMBERS), ())
        outer = self.lines, self.names, self.case.views
        self.lines, self.names, self.case.views = [], [("u", kind), ("v", kind)], []
        self.emit(0, f"if {self.condition(1)}:")
        self.emit(1, f"return {self.value(kind, 1)}")
        self.emit(0, f"if {self.condition(1)}:")
        self.emit(1, f"u = {self.value(kind, 1)}")
        self.emit(0, "else:")
        self.emit(1, f"return {self.value(kind, 1)}")
        self.emit(0, f"return {self.value(kind, 2)}")
        text = "@kiln.function\ndef helper(u, v):\n" + "\n".join(self.lines) + "\n\n\n"
        self.lines, self.names, self.case.views = outer
        self.helpers.append(("helper", (kind, kind), kind))
        return text

    # Statements

    def emit(self, depth: int, text: str):
        self.lines.append("    " * (depth + 1) + text)

    def fresh(self) -> str:
        self.count += 1
        return f"t{self.count}"

    def type(self) -> Type:
        """Most of a program is of one type, so that its values meet."""
        rng = self.rng
        if rng.random() < self.likeness:
            return self.likely
        shape = () if rng.random() < 0.3 else rng.choice(self.shapes)
        return Type(rng.choice((*NUMBERS, "bool") if rng.random() < 0.3 else NUMBERS), shape)

    def define(self, depth: int):
        type_, name = self.type(), self.fresh()
        self.emit(depth, f"{name} = {self.value(type_, 2)}")
        self.names.append((name, type_))

    def statement(self, depth: int, returns: bool = True):
        self.budget -= 1
        rng = self.rng
        kinds = ["define", "assign", "assign", "assign", "together", "store", "store", "element"]
        if depth < 3 and self.loops < 5:
            kinds += ["loop", "recurrence", "recurrence", "repeat", "branch", "branch", "unrolled"]
        kinds += ["scatter", "atomic", "augment", "late", "tally", "tally"]
        if returns and depth < 2 and self.budget > 0 and rng.random() < 0.2:
            return self.leave(depth)
        return getattr(self, rng.choice(kinds))(depth)

    def block(self, depth: int, returns: bool):
        """Statements whose own names end with them."""
        known = len(self.names)
        for _ in range(self.rng.randint(1, 4)):
            self.statement(depth, returns)
        del self.names[known:]

    def variable(self):
        """A name that may be assigned: no parameter."""
        known = [one for one in self.names if one[0][0] == "t"]
        return self.rng.choice(known) if known else None

    def assign(self, depth: int):
        if (known := self.variable()) is None:
            return self.define(depth)
        return self.emit(depth, f"{known[0]} = {self.value(known[1], 3)}")

    def augment(self, depth: int):
        known = self.variable()
        if known is None or known[1].dtype == "bool":
            return self.assign(depth)
        op = self.rng.choice("+-*")
        return self.emit(depth, f"{known[0]} {op}= {self.value(known[1], 2)}")

    def tally(self, depth: int):
        """A number without a dtype, begun or changed: small, so that f32 holds it."""
        rng = self.rng
        known = [name for name, type_ in self.names if type_ is NUMBER]
        if known and rng.random() < 0.7:
            name = rng.choice(known)
            ways = [f"{name} + {rng.choice([1, 2, -3])}", f"-{name}", str(rng.choice([0, 5, -9]))]
            return self.emit(depth, f"{name} = {rng.choice(ways)}")
        name = f"q{len(self.lines)}"
        self.emit(depth, f"{name} = {rng.choice([0, 1, -2, 7])}")
        self.names.append((name, NUMBER))
        return None

    def written(self, dtype: str) -> str:
        """The dtype of what is written where `dtype` is stored: one that it holds."""
        if self.rng.random() < 0.1:
            return "bool"
        return "i32" if dtype == "i64" and self.rng.random() < 0.4 else dtype

    def together(self, depth: int):
        """Several names at once, of which each may be made of the others."""
        known = [one for one in self.names if one[0][0] == "t"]
        if len(known) < 2:
            return self.assign(depth)
        picked = self.rng.sample(known, min(len(known), self.rng.randint(2, 4)))
        values = [self.value(type_, self.rng.choice([0, 1, 2])) for _, type_ in picked]
        names = ", ".join(name for name, _ in picked)
        return self.emit(depth, f"{names} = {', '.join(values)}")

    def loop(self, depth: int):
        self.loops += 1
        index = f"i{self.loops}"
        self.emit(depth, f"for {index} in range({self.rng.choice(TRIPS)}):")
        self.indices.append(index)
        self.block(depth + 1, False)
        self.indices.pop()

    def recurrence(self, depth: int):
        """A loop of two to four values of one type, each made of some of the others, in a row or
        at once, and of what else the loop does."""
        rng = self.rng
        type_ = self.likely if self.likely.dtype != "bool" else Type("i32", self.likely.shape)
        names = [name for name, one in self.names if one == type_ and name[0] == "t"]
        for _ in range(len(names), rng.randint(2, 3)):
            names.append(self.fresh())
            self.emit(depth, f"{names[-1]} = {self.value(type_, 1)}")
            self.names.append((names[-1], type_))
        rng.shuffle(names)
        names = names[:4]
        self.loops += 1
        index = f"i{self.loops}"
        self.emit(depth, f"for {index} in range({rng.choice(TRIPS)}):")
        self.indices.append(index)
        known = len(self.names)
        made = [self.step(type_, names) for _ in names]
        if rng.random() < 0.4:
            self.emit(depth + 1, f"{', '.join(names)} = {', '.join(made)}")
        else:
            for name, value in zip(names, made, strict=True):
                if rng.random() < 0.15:
                    self.statement(depth + 1, False)
                self.emit(depth + 1, f"{name} = {value}")
        del self.names[known:]
        self.indices.pop()

    def step(self, type_: Type, names: list[str]) -> str:
        """The next value of one of some names: cheap, so that it may be computed late."""
        rng = self.rng
        a, b = rng.choice(names), rng.choice(names)
        if rng.random() < 0.2:
            b = self.value(type_, 1)
        number = self.number(type_.dtype)
        ways = [a, f"{a} + {b}", f"{a} - {b}", f"{a} + {number}", f"{number} - {a}",
                f"kiln.maximum({a}, {b})"]  # fmt: skip
        if type_.dtype == "f32":
            ways += [f"{a} * 0.5 + {b}", f"0.25 * {a} + {number}"]
        else:
            ways += [f"{a} * 3 + {b}", f"{a} ^ {b}"]
        if len(type_.shape) == 2 and type_.shape[0] == type_.shape[1]:
            ways += [f"{a}.T + {b}", f"{a}.T"]
        if len(type_.shape) == 1 and type_.shape[0] > 1:
            n = type_.shape[0]
            ways.append(f"kiln.concat(({a}[1:{n}], {b}[0:1]))")
        return rng.choice(ways)

    def unrolled(self, depth: int):
        self.emit(depth, f"for _ in kiln.static_range({self.rng.randint(1, 2)}):")
        self.loops += 1
        self.block(depth + 1, False)

    def repeat(self, depth: int):
        """A while that a counter ends, if nothing else does before."""
        self.loops += 1
        counter = f"k{self.loops}"
        self.emit(depth, f"{counter} = kiln.i32(0)")
        test = f"{counter} < {self.rng.randint(1, 4)}"
        if self.rng.random() < 0.6:
            test += f" and {self.condition(1)}"
        self.emit(depth, f"while {test}:")
        known = len(self.names)
        self.names.append((counter, Type("i32", ())))
        self.block(depth + 1, False)
        self.emit(depth + 1, f"{counter} = {counter} + 1")
        del self.names[known:]

    def branch(self, depth: int):
        self.emit(depth, f"if {self.condition(2)}:")
        self.block(depth + 1, False)
        if self.rng.random() < 0.7:
            self.emit(depth, "else:")
            self.block(depth + 1, False)

    def leave(self, depth: int):
        """A return, before which something may still be stored."""
        self.emit(depth, f"if {self.condition(1)}:")
        if self.rng.random() < 0.5:
            self.store(depth + 1)
        self.emit(depth + 1, "return")

    # Memory

    def offset(self, view: Parameter, shape: tuple[int, ...]) -> str:
        """Where a tile starts: near the edges too, unless other programs own what is there."""
        parts = []
        rng = self.rng
        for extent, size in zip(view.shape, shape, strict=True):
            if self.programs > 1:
                at = rng.randint(0, self.extent - size)
                parts.append(f"p * {self.extent} + {at}")
            elif self.indices and rng.random() < 0.4:
                parts.append(f"{rng.choice(self.indices)} * {rng.choice([1, 2, 5])}")
            else:
                parts.append(str(rng.choice([0, 0, 0, 1, 2, 3, 4, -1, max(0, extent - size + 1)])))
        return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"

    def fits(self, view: Parameter, shape) -> bool:
        if len(view.shape) != len(shape):
            return False
        return self.programs == 1 or shape[0] <= self.extent

    def view_for(self, type_: Type):
        known = [v for v in self.case.views if v.dtype == type_.dtype and self.fits(v, type_.shape)]
        return self.rng.choice(known) if known else None

    def store(self, depth: int):
        rng = self.rng
        view = rng.choice(self.case.views)
        shapes = [shape for shape in self.shapes if self.fits(view, shape)]
        if not shapes:
            return self.assign(depth)
        type_ = Type(self.written(view.dtype), rng.choice(shapes))
        value = self.value(type_, 2)
        at = self.offset(view, type_.shape)
        return self.emit(depth, f"{view.name}.store({at}, {value})")

    def late(self, depth: int):
        """What is read of a base, used after some of the base has been written: it may not be
        read, or computed, again there."""
        rng = self.rng
        view = rng.choice(self.case.views)
        shapes = [shape for shape in self.shapes if self.fits(view, shape)]
        if not shapes:
            return self.assign(depth)
        type_ = Type(view.dtype, rng.choice(shapes))
        name = self.fresh()
        read = f"{view.name}.load({self.offset(view, type_.shape)}, {self.extents(type_.shape)})"
        more = rng.choice(["", "", f" + {self.number(view.dtype)}", f" * {self.value(type_, 0)}"])
        self.emit(depth, f"{name} = {read}{more}")
        self.names.append((name, type_))
        inner = depth
        if depth < 3 and rng.random() < 0.4:
            self.loops += 1
            index = f"i{self.loops}"
            self.emit(depth, f"for {index} in range({rng.choice(TRIPS)}):")
            inner = depth + 1
        others = [v for v in self.case.views if v.base == view.base]
        for _ in range(rng.randint(1, 2)):
            self.write_to(inner, rng.choice(others), name, type_)
        use = f"{self.step(type_, [name])}"
        target = rng.choice(others)
        if self.fits(target, type_.shape):
            self.emit(inner, f"{target.name}.store({self.offset(target, type_.shape)}, {use})")
        known = self.variable()
        self.emit(inner, f"{known[0]} = {self.value(known[1], 3)}")

    def write_to(self, depth: int, view: Parameter, name: str, type_: Type):
        """A write of part of a view, of what was read or of something else."""
        rng = self.rng
        if rng.random() < 0.3:
            value = self.value(Type(view.dtype, ()), 1)
            return self.emit(depth, f"{view.name}[{self.place(view)}] = {value}")
        if self.fits(view, type_.shape):
            value = rng.choice([name, self.value(type_, 1), f"{name} + {self.number(type_.dtype)}"])
            at = self.offset(view, type_.shape)
            return self.emit(depth, f"{view.name}.store({at}, {value})")
        return None

    def keep(self, depth: int, name: str, type_: Type):
        """Stores a value at the end, as the dtype and shape that a view takes."""
        view = next(v for v in self.case.views if v.dtype == "i32")
        value = name if type_.dtype == "i32" else f"kiln.cast({name}, kiln.i32)"
        count = int(np.prod(type_.shape))
        if self.programs > 1 and count > self.extent:
            return
        if len(type_.shape) > 1:
            value = f"kiln.reshape({value}, ({count},))"
        self.emit(depth, f"{view.name}.store({self.offset(view, (count,))}, {value})")

    def place(self, view: Parameter) -> str:
        """An index of one element that is there."""
        parts = []
        for extent in view.shape:
            owned = self.extent if self.programs > 1 else extent
            at = str(self.rng.randrange(owned))
            if self.rng.random() < 0.4:
                at = f"kiln.clamp({self.value(Type('i32', ()), 1)}, 0, {owned - 1})"
            parts.append(f"p * {self.extent} + {at}" if self.programs > 1 else at)
        return ", ".join(parts)

    def element(self, depth: int):
        view = self.rng.choice(self.case.views)
        value = self.value(Type(self.written(view.dtype), ()), 2)
        if self.rng.random() < 0.2:
            value = self.number(view.dtype)
        self.emit(depth, f"{view.name}[{self.place(view)}] = {value}")

    def spread(self, view: Parameter, size: int) -> str:
        """Indices that differ, some of them outside."""
        step = self.rng.choice([1, 1, 2, 3, -1])
        low = self.rng.choice([0, 1, 5]) + (size - 1 if step < 0 else 0)
        if self.programs > 1:
            step = -1 if step < 0 else 1
            program = self.rng.choice(["p", "kiln.i32(p)"])
            start = f"{program} * {self.extent} + {size - 1 if step < 0 else 0}"
        else:
            start = str(low)
        return f"kiln.arange({size}) * {step} + {start}"

    def flat_view(self, dtype=None):
        known = [v for v in self.case.views if len(v.shape) == 1 and dtype in (None, v.dtype)]
        return self.rng.choice(known) if known else None

    def scatter(self, depth: int):
        view = self.flat_view()
        (size,) = self.rng.choice([s for s in self.shapes if len(s) == 1])
        if self.programs > 1 and size > self.extent:
            return self.assign(depth)
        value = self.value(Type(self.written(view.dtype), (size,)), 2)
        mask = ""
        if self.rng.random() < 0.4:
            mask = f", mask={self.value(Type('bool', (size,)), 1)}"
        return self.emit(depth, f"{view.name}.scatter({self.spread(view, size)}, {value}{mask})")

    def atomic(self, depth: int):
        view = self.flat_view(self.rng.choice(INTS))
        if view is None:
            return self.assign(depth)
        name = self.fresh()
        op = self.rng.choice(["atomic_add", "atomic_max", "atomic_xor"])
        (size,) = self.rng.choice([s for s in self.shapes if len(s) == 1])
        if self.rng.random() < 0.5 and (self.programs == 1 or size <= self.extent):
            type_, at = Type(view.dtype, (size,)), self.spread(view, size)
        else:
            type_, at = Type(view.dtype, ()), self.place(view)
        self.emit(depth, f"{name} = kiln.{op}({view.name}, {at}, {self.value(type_, 1)})")
        self.names.append((name, type_))

    # Values

    def condition(self, depth: int) -> str:
        rng = self.rng
        if depth and rng.random() < 0.3:
            join = rng.choice(["and", "or"])
            return f"({self.condition(depth - 1)} {join} {self.condition(depth - 1)})"
        if rng.random() < 0.1:
            return f"not {self.condition(0)}"
        return self.value(Type("bool", ()), depth)

    def value(self, type_: Type, depth: int) -> str:
        """An expression of a type."""
        rng = self.rng
        known = [name for name, one in self.names if one == type_]
        if known and rng.random() < (0.8 if depth == 0 else 0.4):
            return rng.choice(known)
        if depth == 0:
            return self.leaf(type_)
        ways = [self.leaf, self.arithmetic, self.arithmetic, self.converted, self.chosen]
        ways += [self.reduced] if type_.dtype != "bool" else [self.compared] * 4
        if type_.shape:
            ways += [self.loaded, self.loaded, self.moved, self.moved]
        else:
            ways += [self.read]
        made = None
        while made is None:
            made = rng.choice(ways)(type_, depth - 1)
        return made

    def number(self, dtype: str) -> str:
        counted = [name for name, type_ in self.names if type_ is NUMBER]
        if counted and self.rng.random() < 0.4:
            return self.rng.choice(counted)
        if dtype == "f32":
            return self.rng.choice(["0.5", "1.0", "-2.0", "0.25", "3.0", "-0.75"])
        return str(self.rng.choice([1, 2, 3, 5, -1, -7, 100]))

    def leaf(self, type_: Type, _=0) -> str:
        dtype, shape = type_
        rng = self.rng
        if dtype == "bool":
            return self.compared(type_, 0)
        if not shape:
            if self.indices and dtype != "f32" and rng.random() < 0.6:
                return f"kiln.{dtype}({rng.choice(self.indices)})"
            return f"kiln.{dtype}({self.number(dtype)})"
        if len(shape) == 1 and rng.random() < 0.3:
            return f"kiln.arange({shape[0]}, dtype=kiln.{dtype})"
        if rng.random() < 0.4:
            return self.loaded(type_, 0) or self.leaf(type_)
        return f"kiln.full({self.extents(shape)}, {self.number(dtype)}, kiln.{dtype})"

    @staticmethod
    def extents(shape) -> str:
        return f"({shape[0]},)" if len(shape) == 1 else str(shape)

    def arithmetic(self, type_: Type, depth: int) -> str:
        rng = self.rng
        dtype, shape = type_
        a = self.value(type_, depth)
        if dtype == "bool":
            return rng.choice([f"({a} {rng.choice('&|^')} {self.value(type_, depth)})", f"~{a}"])
        if rng.random() < 0.25:
            b = self.number(dtype)
        elif shape and rng.random() < 0.3:
            b = self.value(Type(dtype, ()), depth)
        else:
            b = self.value(type_, depth)
        ways = ["({a} + {b})", "({a} - {b})", "({a} * {b})", "({b} - {a})", "(-{a})",
                "kiln.minimum({a}, {b})", "kiln.maximum({a}, {b})", "kiln.abs({a})"]  # fmt: skip
        if dtype == "f32":
            ways += ["({a} * 0.5 + {b})", "kiln.clamp({a}, -64.0, 64.0)", "kiln.floor({a})",
                     "({a} / (kiln.abs({b}) + 1.0))"]  # fmt: skip
        else:
            ways += ["({a} & {b})", "({a} | {b})", "({a} ^ {b})", "({a} // 3)", "({a} % 7)",
                     "({a} << ({b} & 7))", "({a} >> 2)", "({a} // (({b} & 7) + 1))",
                     "({a} % (({b} & 15) | 1))"]  # fmt: skip
            if (b, NUMBER) not in self.names:  # one that may be a constant zero is refused
                ways += ["({a} // {b})", "({a} % {b})"]
        way = rng.choice(ways)
        if "{b}" in way and ("abs({b})" in way or "({b} &" in way) and not b[0].isalpha():
            b = self.value(type_, depth)
        return way.format(a=a, b=b)

    def compared(self, type_: Type, depth: int) -> str:
        rng = self.rng
        inner = Type(rng.choice(NUMBERS), type_.shape)
        a = self.value(inner, depth)
        b = self.number(inner.dtype) if rng.random() < 0.5 else self.value(inner, depth)
        return f"({a} {rng.choice(['<', '<=', '>', '>=', '==', '!='])} {b})"

    def converted(self, type_: Type, depth: int):
        other = self.rng.choice([d for d in ("f32", "i32", "i64", "bool") if d != type_.dtype])
        return f"kiln.cast({self.value(Type(other, type_.shape), depth)}, kiln.{type_.dtype})"

    def chosen(self, type_: Type, depth: int) -> str:
        a, b = self.value(type_, depth), self.value(type_, depth)
        if self.rng.random() < 0.3:
            return f"({a} if {self.value(Type('bool', ()), depth)} else {b})"
        if type_.dtype == "bool":
            return f"({a} & {b})"
        test = Type("bool", type_.shape if self.rng.random() < 0.8 else ())
        return f"kiln.where({self.value(test, depth)}, {a}, {b})"

    def loaded(self, type_: Type, _depth: int):
        view = self.view_for(type_)
        if view is None:
            return None
        if len(type_.shape) == 1 and self.rng.random() < 0.2:
            return f"{view.name}.gather({self.spread(view, type_.shape[0])})"
        at = self.offset(view, type_.shape)
        pad = f", pad={self.number(type_.dtype)}" if self.rng.random() < 0.3 else ""
        return f"{view.name}.load({at}, {self.extents(type_.shape)}{pad})"

    def read(self, type_: Type, depth: int):
        helpers = [h for h in self.helpers if h[2] == type_]
        if helpers and self.rng.random() < 0.4:
            name, types, _ = self.rng.choice(helpers)
            return f"{name}({', '.join(self.value(t, depth) for t in types)})"
        known = [v for v in self.case.views if v.dtype == type_.dtype]
        if not known:
            return None
        view = self.rng.choice(known)
        return f"{view.name}[{self.place(view)}]"

    def small(self, type_: Type, depth: int) -> str:
        """Whole numbers whose sums and products are exact."""
        return f"kiln.clamp(kiln.floor({self.value(type_, depth)}), -16.0, 16.0)"

    def reduced(self, type_: Type, depth: int):
        rng = self.rng
        dtype, shape = type_
        if len(shape) == 2 and dtype == "f32" and rng.random() < 0.6:
            k = rng.choice([1, 2, 4, 8, 16, 32])
            a, b = Type("f32", (shape[0], k)), Type("f32", (k, shape[1]))
            acc = f", {self.small(type_, depth)}" if rng.random() < 0.5 else ""
            return f"kiln.dot({self.small(a, depth)}, {self.small(b, depth)}{acc})"
        if len(shape) == 2:
            return None
        axis, inner = None, rng.choice(self.shapes)
        if shape:
            pairs = [s for s in self.shapes if len(s) == 2 and shape[0] in s]
            if not pairs:
                return None
            inner = rng.choice(pairs)
            axis = 1 if inner[0] == shape[0] else 0
        where = "" if axis is None else f", axis={axis}"
        if dtype == "i32" and rng.random() < 0.3:
            how = rng.choice(["argmax", "argmin"])
            source = Type(rng.choice(NUMBERS), inner)
        elif dtype == "f32" and rng.random() < 0.5:
            return f"kiln.sum({self.small(Type(dtype, inner), depth)}{where})"
        else:
            how = rng.choice(["max", "min"] if dtype == "f32" else ["sum", "max", "min"])
            source = Type(dtype, inner)
        return f"kiln.{how}({self.value(source, depth)}{where})"

    def moved(self, type_: Type, depth: int):
        """The same elements elsewhere: transposed, reshaped, repeated, cut, put together."""
        rng = self.rng
        dtype, shape = type_
        if len(shape) == 2:
            r, c = shape
            ways = [lambda: f"{self.atom(Type(dtype, (c, r)), depth)}.T"]
            column, row = Type(dtype, (r,)), Type(dtype, (c,))
            if dtype != "bool":
                ways.append(
                    lambda: (
                        f"({self.atom(column, depth)}[:, None] + {self.atom(row, depth)}[None, :])"
                    )
                )
            ways.append(lambda: f"kiln.broadcast_to({self.atom(column, depth)}[:, None], {shape})")
            ways.append(
                lambda: f"kiln.reshape({self.value(Type(dtype, (r * c,)), depth)}, {shape})"
            )
            return rng.choice(ways)()
        (n,) = shape
        ways = []
        for r, c in [s for s in self.shapes if len(s) == 2 and s[0] * s[1] == n]:
            inner = Type(dtype, (r, c))
            ways.append(lambda i=inner: f"kiln.reshape({self.value(i, depth)}, ({n},))")
        if n > 1 and n % 2 == 0:
            half = Type(dtype, (n // 2,))
            ways.append(
                lambda: f"kiln.concat(({self.value(half, depth)}, {self.value(half, depth)}))"
            )
        ways.append(lambda: f"{self.atom(Type(dtype, (n + 2,)), depth)}[1:{n + 1}]")
        if dtype in ("i32", "i64"):
            ways += [lambda: f"kiln.cumsum({self.value(type_, depth)})",
                     lambda: f"kiln.sort({self.value(type_, depth)})"]  # fmt: skip
        return rng.choice(ways)()

    def atom(self, type_: Type, depth: int) -> str:
        """An expression that an attribute or a subscript may follow."""
        text = self.value(type_, depth)
        return f"({text})" if text[0] in "-~" else text


def write(seed: int, size: int = 12) -> Case:
    """The kernel of a seed; small sizes have few statements."""
    return Writer(seed, size).write()
