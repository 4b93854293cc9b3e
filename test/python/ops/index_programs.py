"""Random index expressions as kernels of the tile dialect, with the values that NumPy gives them.

Each integer that a kernel computes stands on a line of its own; `Program.seen` holds, by line, every
value that it takes: for several choices of the arguments, and for each turn of the loops. What an
analysis claims of a line can so be held against all of them. One that is made `to_run` has a launch's
arguments, with a choice for each of its programs, and stores some tiles: what a compiler makes of it
can be held against `outputs`.
"""

from __future__ import annotations

import numpy as np
from index_control import ControlFlow
from index_values import (
    ASSIGNMENTS,
    BITS,
    PREDICATES,
    SIMPLE,
    Value,
    compare,
    divide,
    unsigned,
    wrap,
)

OUTPUTS = 6


class Program(ControlFlow):
    def __init__(self, rng: np.random.Generator, number: int, first_line: int, to_run=False):
        self.rng, self.number, self.to_run = rng, number, to_run
        self.lines: list[str] = []
        self.first_line = first_line
        self.seen: dict[int, list[list[np.ndarray]]] = {}
        self.count = 0
        self.body: list = []  # what to run again, in a loop
        self.active = [True] * ASSIGNMENTS  # the choices that come to this place
        self.build()

    # ===- Text ----------------------------------------------------------------------------===#

    def pick(self, options):
        return options[self.rng.integers(len(options))]

    def line(self, text: str) -> int:
        self.lines.append(text)
        return self.first_line + len(self.lines) - 1

    def emit(self, text: str, type: str, shape: tuple, compute) -> Value:
        """`compute` gives the values for one choice; it is kept, since loops run it again."""
        value = Value(f"%v{self.count}", type, shape, [])
        self.count += 1
        at = self.line(f"{value.name} = {text}")
        self.seen[at] = [[]]

        def step():
            value.now = [np.asarray(compute(i), np.int64) for i in range(ASSIGNMENTS)]
            self.see(at, [value.now])

        step()
        self.body.append(step)
        return value

    def see(self, at: int, values: list[list[np.ndarray]]) -> None:
        """What the results of a line are, for the choices that come to it."""
        for seen, now in zip(self.seen[at], values, strict=True):
            seen.extend(v for v, active in zip(now, self.active, strict=True) if active)

    # ===- Programs --------------------------------------------------------------------------===#

    def build(self) -> None:
        rng = self.rng
        divisor = int(self.pick([0, 2, 8, 16]))
        extents = [int(self.pick([0, 8, 16])), int(self.pick([0, 4, 16]))]
        self.rows, self.columns = int(self.pick([1, 4, 16])), int(self.pick([8, 32, 24]))
        fact = f" {{tile.facts = #tile.facts<divisor = {divisor}>}}" if divisor else ""
        known = f"extents = [{extents[0]}, {extents[1]}], " if any(extents) else ""
        view = "!tile.view<?x?xf32, strides [?, 1]>"
        stored = "!tile.view<?x?xi64, strides [?, 1]>"
        results = "".join(f", %o{k}: {stored}" for k in range(OUTPUTS)) if self.to_run else ""
        self.line(
            f"tile.kernel @k{self.number}(%n: i64{fact}, "
            f"%x: {view} {{tile.facts = #tile.facts<{known}index32>}}{results}) {{"
        )

        def choices(low, high, multiple):
            numbers = [
                int(rng.integers(low, high)) // multiple * multiple for _ in range(ASSIGNMENTS)
            ]
            return [np.int64(n) for n in numbers]

        n = Value("%n", "i64", (), choices(-(2**40), 2**40, max(1, divisor)))
        if rng.random() < 0.5:
            n.now = choices(0, 1000, max(1, divisor))
        self.pool = [n]
        pid = [np.int64(self.pick([0, 1, 3, 70000, 2**31 - 2])) for _ in range(ASSIGNMENTS)]
        if self.to_run:
            n.now, pid = [n.now[0]] * ASSIGNMENTS, [np.int64(i) for i in range(ASSIGNMENTS)]
        self.n, self.extents = int(n.now[0]), []
        self.pool.append(self.emit("tile.program_id x", "index", (), lambda i: pid[i]))
        for dim in (0, 1):
            multiple = max(1, extents[dim])
            most = 200 if self.to_run else self.pick([100, 5000, 2**29])
            sizes = [max(multiple, int(s)) if extents[dim] else s
                     for s in choices(0, most, multiple)]  # fmt: skip
            if self.to_run:
                sizes = sizes[:1] * ASSIGNMENTS
            self.extents.append(int(sizes[0]))
            self.pool.append(
                self.emit(
                    f"tile.dim %x, {dim} : {view}", "index", (), lambda i, s=sizes: np.int64(s[i])
                )
            )
        self.steps(12)
        if rng.random() < 0.6:
            self.pick([self.loop, self.while_loop])()
        self.steps(10)
        if self.to_run:
            self.store()
        self.line("tile.return")
        self.line("}")

    def store(self) -> None:
        """The last tiles, each as a row for each program."""
        zero = self.constant_of("index", (), 0)
        self.outputs = []
        for number, value in enumerate(self.tiles()[-OUTPUTS:]):
            size = int(np.prod(value.shape))
            name, type = value.name, f"tensor<1x{size}x"
            if value.shape != (1, size):
                self.line(f"%f{number} = tile.reshape {name} : {value.ir} -> {type}{value.type}>")
                name = f"%f{number}"
            if value.type != "i64":
                cast = "index_cast" if value.type == "index" else "extsi"
                wide = f"%w{number} = arith.{cast} {name} : {type}{value.type}> to {type}i64>"
                self.line(wide)
                name = f"%w{number}"
            stored = "!tile.view<?x?xi64, strides [?, 1]>"
            self.line(f"tile.store {name}, %o{number}[%v0, {zero.name}] : {type}i64>, {stored}")
            self.outputs.append(np.stack([v.reshape(-1) for v in value.now]))

    def steps(self, count: int) -> None:
        for _ in range(count):
            self.pool.append(self.step())

    def step(self) -> Value:
        make = self.pick([self.constant, self.iota, self.splat, self.binary, self.binary, self.binary,
                          self.shift, self.division, self.division, self.cast, self.choose,
                          self.shape, self.shape, self.scalar, self.branch])  # fmt: skip
        return make()

    def tiles(self):
        return [v for v in self.pool if v.shape and v.type != "i1"]

    def tile(self) -> Value:
        """Mostly one that was made of a count."""
        there = self.tiles()
        return self.pick(there) if there else self.iota()

    def constant_of(self, type: str, shape: tuple, number: int) -> Value:
        number = int(wrap(np.int64(number), type))
        attr = f"{number} : {type}"
        if shape:
            ir = Value("", type, shape, None).ir
            attr = f"dense<{number}> : {ir}"
        return self.emit(f"arith.constant {attr}", type, shape, lambda i: np.full(shape, number))

    def some_number(self) -> int:
        return int(self.pick([1, 2, 3, 4, 7, 8, 12, 16, 31, 64, 100, 127, -1, -8, 2**20, 2**33, 0]))

    def constant(self) -> Value:
        like = self.tile()
        return self.constant_of(like.type, like.shape, self.some_number())

    def iota(self) -> Value:
        type = self.pick(["i32", "i64", "index", "i8"])
        shape = (self.rows, self.columns) if self.rng.random() < 0.7 else (self.columns,)
        dim = int(self.rng.integers(len(shape)))
        place = np.arange(shape[dim])
        if len(shape) == 2:
            place = place[:, None] if dim == 0 else place[None, :]
        full = wrap(np.broadcast_to(place, shape), type)
        ir = Value("", type, shape, None).ir
        return self.emit(f"tile.iota {dim} : {ir}", type, shape, lambda i: full)

    def splat(self) -> Value:
        scalar = self.pick([v for v in self.pool if v.shape == () and v.type != "i1"])
        shape = self.pick([(self.rows, self.columns), (self.columns,)])
        ir = Value("", scalar.type, shape, None).ir
        return self.emit(
            f"tile.splat {scalar.name} : {ir}", scalar.type, shape,
            lambda i: np.full(shape, scalar.now[i]),
        )  # fmt: skip

    def like(self, value: Value) -> Value:
        """Another of that type, or a number."""
        same = [v for v in self.pool if v.ir == value.ir and v is not value]
        if same and self.rng.random() < 0.6:
            return self.pick(same)
        if value.shape and self.rng.random() < 0.4:
            scalars = [v for v in self.pool if v.shape == () and v.type == value.type]
            if scalars:
                scalar = self.pick(scalars)
                return self.emit(
                    f"tile.splat {scalar.name} : {value.ir}", value.type, value.shape,
                    lambda i: np.full(value.shape, scalar.now[i]),
                )  # fmt: skip
        return self.constant_of(value.type, value.shape, self.some_number())

    def binary(self) -> Value:
        a = self.tile()
        b = self.like(a)
        if self.rng.random() < 0.3:
            a, b = b, a
        return self.apply(self.pick(list(SIMPLE)), a, b)

    def scalar(self) -> Value:
        a = self.pick([v for v in self.pool if v.shape == () and v.type != "i1"])
        return self.apply(self.pick(["addi", "muli", "subi", "minsi"]), a, self.like(a))

    def apply(self, op: str, a: Value, b: Value) -> Value:
        with np.errstate(all="ignore"):
            return self.emit(
                f"arith.{op} {a.name}, {b.name} : {a.ir}", a.type, a.shape,
                lambda i: wrap(SIMPLE[op](a.now[i], b.now[i]), a.type),
            )  # fmt: skip

    def shift(self) -> Value:
        a = self.tile()
        op, amount = self.pick(["shli", "shrsi", "shrui"]), int(self.rng.integers(0, 7))
        by = self.constant_of(a.type, a.shape, amount)

        def compute(i):
            if op == "shli":
                return wrap(a.now[i] << amount, a.type)
            if op == "shrsi":
                return a.now[i] >> amount
            return wrap(
                unsigned(a.now[i], a.type) >> type(unsigned(a.now[i], a.type).flat[0])(amount),
                a.type,
            )

        return self.emit(f"arith.{op} {a.name}, {by.name} : {a.ir}", a.type, a.shape, compute)

    def division(self) -> Value:
        """By a positive number, or by a scalar of which that is made sure."""
        a = self.tile()
        scalars = [v for v in self.pool if v.shape == () and v.type == a.type]
        if scalars and self.rng.random() < 0.5:
            one = self.constant_of(a.type, (), int(self.pick([1, 2, 8, 48])))
            scalar = self.apply("maxsi", self.pick(scalars), one)
            ir = a.ir
            by = self.emit(f"tile.splat {scalar.name} : {ir}", a.type, a.shape,
                           lambda i: np.full(a.shape, scalar.now[i]))  # fmt: skip
        else:
            by = self.constant_of(a.type, a.shape, int(self.pick([1, 2, 3, 8, 12, 16, 48, 100])))
        op = self.pick(["divui", "floordivsi", "remui", "divsi", "remsi", "floordivsi"])
        quotient = self.emit(
            f"arith.{op} {a.name}, {by.name} : {a.ir}", a.type, a.shape,
            lambda i: divide(op, a.now[i], by.now[i], a.type),
        )  # fmt: skip
        if op in ("divui", "floordivsi") and self.rng.random() < 0.6:
            self.pool.append(quotient)
            product = self.apply("muli", quotient, by)
            return self.apply("subi", a, product)
        return quotient

    def cast(self) -> Value:
        a = self.tile()
        to = self.pick([t for t in BITS if t != a.type])
        if "index" in (to, a.type):
            op = "index_cast"
        elif BITS[to] > BITS[a.type]:
            op = self.pick(["extsi", "extui"])
        else:
            op = "trunci"
        ir = Value("", to, a.shape, None).ir

        def compute(i):
            values = a.now[i]
            return wrap(unsigned(values, a.type) if op == "extui" else values, to)

        return self.emit(f"arith.{op} {a.name} : {a.ir} to {ir}", to, a.shape, compute)

    def choose(self) -> Value:
        a = self.tile()
        b, c = self.like(a), self.like(a)
        predicate = self.pick(PREDICATES)
        which = self.emit(
            f"arith.cmpi {predicate}, {a.name}, {b.name} : {a.ir}", "i1", a.shape,
            lambda i: -compare(predicate, a.now[i], b.now[i], a.type).astype(np.int64),
        )  # fmt: skip
        return self.emit(
            f"arith.select {which.name}, {a.name}, {c.name} : {which.ir}, {a.ir}", a.type, a.shape,
            lambda i: np.where(which.now[i] != 0, a.now[i], c.now[i]),
        )  # fmt: skip

    def shape(self) -> Value:
        a = self.tile()
        kind = self.pick(["reshape", "transpose", "slice", "broadcast"])
        if kind == "transpose" and len(a.shape) == 2:
            shape = a.shape[::-1]
            ir = Value("", a.type, shape, None).ir
            return self.emit(f"tile.transpose {a.name} [1, 0] : {a.ir} -> {ir}", a.type, shape,
                             lambda i: a.now[i].T)  # fmt: skip
        if kind == "slice":
            half = tuple(n // 2 if n % 2 == 0 else n for n in a.shape)
            offsets = [
                int(self.pick([0, (n - h) // 2, n - h])) for n, h in zip(a.shape, half, strict=True)
            ]
            ir = Value("", a.type, half, None).ir
            at = tuple(slice(o, o + h) for o, h in zip(offsets, half, strict=True))
            return self.emit(f"tile.slice {a.name} {offsets} : {a.ir} -> {ir}", a.type, half,
                             lambda i: a.now[i][at])  # fmt: skip
        if kind == "broadcast" and len(a.shape) == 1:
            column = bool(self.rng.random() < 0.5)
            thin = (a.shape[0], 1) if column else (1, a.shape[0])
            ir = Value("", a.type, thin, None).ir
            row = self.emit(f"tile.reshape {a.name} : {a.ir} -> {ir}", a.type, thin,
                            lambda i: a.now[i].reshape(thin))  # fmt: skip
            wide = (a.shape[0], 8) if column else (self.rows, a.shape[0])
            ir = Value("", a.type, wide, None).ir
            return self.emit(f"tile.broadcast {row.name} : {row.ir} -> {ir}", a.type, wide,
                             lambda i: np.broadcast_to(row.now[i], wide))  # fmt: skip
        size = int(np.prod(a.shape))
        ways = [(size,)] + [(size // n, n) for n in (2, 4, 8, 16, 3) if size % n == 0]
        shape = self.pick(ways)
        ir = Value("", a.type, shape, None).ir
        if shape == a.shape:
            return a
        return self.emit(f"tile.reshape {a.name} : {a.ir} -> {ir}", a.type, shape,
                         lambda i: a.now[i].reshape(shape))  # fmt: skip


def check(claim: dict, values: list[np.ndarray]) -> str | None:
    """What is wrong with a claim: {"divisor": 8, "same": [1, 4], "run": [1, 8], "range": (0, 7)}."""
    for array in values:
        if (array % claim["divisor"]).any():
            return "divisor"
        low, high = claim.get("range", (None, None))
        if low is not None and (array.min() < low or array.max() > high):
            return "range"
        for dim, (same, run) in enumerate(zip(claim["same"], claim["run"], strict=True)):
            lanes = np.moveaxis(array, dim, -1)
            extent = lanes.shape[-1]
            place = np.arange(extent)
            if same > 1 and (lanes != lanes[..., place // same * same]).any():
                return "same"
            if run > 1:
                start = lanes[..., place // run * run]
                if (start % run).any() or (lanes != start + place % run).any():
                    return "run"
    return None
