"""Loops that `break` and `continue` leave early, and their `else`: a kernel gives what the same
Python gives when Python runs it."""

import itertools
import linecache

import numpy as np
import pytest
from tiles import DEVICE, run

import kiln

_numbers = itertools.count()


class Program:
    """A random program over integers: the text of a function of `out` and `a`, `b`, `c`."""

    def __init__(self, rng, depth: int):
        self.rng = rng
        self.lines = ["def kernel(out, a, b, c):", "    s, t, u = 1, a, b + 0 * a"]
        self.loops = 0
        self.body(1, depth, 0)
        self.lines += [f"    out[{i}] = {name}" for i, name in enumerate("stu")]

    def pick(self, *items):
        return items[self.rng.integers(len(items))]

    def atom(self) -> str:
        names = ["s", "t", "u", "a", "b", "c"] + [f"i{k}" for k in range(self.loops)]
        return self.pick(*names, *map(str, self.rng.integers(-3, 8, 2)))

    def condition(self) -> str:
        if self.rng.random() < 0.2:
            return f"{self.atom()} in ({self.atom()}, {self.atom()}, 3)"
        op = self.pick("<", ">", "==", "!=", "<=")
        return (
            f"({self.atom()} + {self.atom()}) % {self.rng.integers(2, 6)} {op} {self.pick(0, 1, 2)}"
        )

    def body(self, indent: int, depth: int, inside: int) -> None:
        for _ in range(self.rng.integers(1, 4)):
            self.statement(indent, depth, inside)

    def statement(self, indent: int, depth: int, inside: int) -> None:
        pad = "    " * indent
        kind = self.pick("set", "set", "if", "loop", "end") if depth else self.pick("set", "end")
        if kind == "end" and inside:
            self.lines.append(f"{pad}if {self.condition()}:")
            if self.rng.random() < 0.4:
                self.lines.append(f"{pad}    s = s + {self.atom()}")
            self.lines.append(f"{pad}    {self.pick('break', 'continue')}")
        elif kind == "if":
            self.lines.append(f"{pad}if {self.condition()}:")
            self.body(indent + 1, depth - 1, inside)
            if inside and self.rng.random() < 0.3:
                self.lines.append(f"{pad}    {self.pick('break', 'continue')}")
            if self.rng.random() < 0.6:
                self.lines.append(f"{pad}else:")
                self.body(indent + 1, depth - 1, inside)
        elif kind == "loop" and inside < 2:
            self.loop(indent, depth, inside)
        else:
            name, op = self.pick("s", "t", "u"), self.pick("+", "-", "*")
            self.lines.append(f"{pad}{name} = ({name} {op} {self.atom()}) % 1009")

    def loop(self, indent: int, depth: int, inside: int) -> None:
        pad, name = "    " * indent, f"i{self.loops}"
        kind = self.pick("range", "range", "static", "while")
        if kind == "while":
            self.lines += [
                f"{pad}w{self.loops} = 0 * a",
                f"{pad}while w{self.loops} < {self.atom()} % 7:",
            ]
            self.lines += [f"{pad}    w{self.loops} += 1", f"{pad}    {name} = w{self.loops} * 2"]
        elif kind == "static":
            self.lines.append(f"{pad}for {name} in kiln.static_range({self.rng.integers(1, 4)}):")
        else:
            step = self.pick("1", "1", "2", "-1", "-3")
            low, high = self.atom(), f"{self.atom()} + {self.pick(2, 6)}"
            bounds = (high, low) if step[0] == "-" else (low, high)
            self.lines.append(f"{pad}for {name} in range({', '.join(bounds)}, {step}):")
        self.loops += 1
        self.body(indent + 1, depth - 1, inside + 1)
        self.loops -= 1
        if self.rng.random() < 0.3:
            self.lines += [f"{pad}else:", f"{pad}    u = u + {self.atom()}"]


class Here:
    """What Python runs the program with."""

    static_range = range


def made(lines: list[str]):
    text = "\n".join(lines) + "\n"
    file = f"early_{next(_numbers)}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return text, compile(text, file, "exec")


@pytest.mark.parametrize("round", range(6 if DEVICE == "cpu" else 2))
def test_random_loops_that_end_early(rng, round):
    """Nested loops of every kind, conditions around their ends, values that they carry."""
    lines = Program(rng, 3).lines
    text, code = made(lines)
    print(text)
    here = {"kiln": Here}
    exec(code, here)
    compiled = {"kiln": kiln}
    _, code = made([lines[0], "    kiln.grid(1)", *lines[1:]])
    exec(code, compiled)
    kernel = kiln.kernel(compiled["kernel"])
    for _ in range(4):
        numbers = [int(n) for n in rng.integers(-4, 9, 3)]
        want, got = np.zeros(3, np.int64), np.zeros(3, np.int64)
        here["kernel"](want, *numbers)
        run(kernel, got, *numbers)
        assert np.array_equal(got, want), numbers


@kiln.kernel
def first_negative(x: kiln.View, y: kiln.View, at: kiln.View, N: kiln.constexpr):
    kiln.grid(1)
    total = kiln.zeros(N, kiln.f32)
    found = -1
    for i in range(x.shape[0]):
        row = x.load((i, 0), (1, N), squeeze=0)
        if kiln.any(row < -2):
            found = i.to(kiln.i64)
            break
        if kiln.all(row > 0):
            continue
        total += row
    else:
        total = total * 2
    y.store(0, total)
    at[0] = found


@pytest.mark.parametrize("where", [0, 5, None])
def test_tiles_that_a_loop_carries_to_its_early_end(rng, where):
    x = rng.uniform(-1, 1, (9, 16)).astype(np.float32)
    x[3] = np.abs(x[3]) + 0.1
    if where is not None:
        x[where, 7] = -3
    y, at, total = np.zeros(16, np.float32), np.zeros(1, np.int64), np.zeros(16, np.float32)
    for row in x[:where]:
        total += 0 if np.all(row > 0) else row
    run(first_negative, x, y, at, N=16)
    assert np.array_equal(y, total * 2 if where is None else total)
    assert at[0] == (-1 if where is None else where)


@kiln.kernel
def far(y: kiln.View, start: kiln.i64, stop: kiln.i64, rounds: kiln.i64):
    kiln.grid(1)
    n = 0
    for i in range(start, stop):
        if n == rounds:
            break
        n += 1
        y[0] = i.to(kiln.i64)
    y[1] = n
    while True:
        n -= 3
        if n < 0:
            break
    y[2] = n


def test_bounds_that_are_far_apart():
    y = np.zeros(3, np.int64)
    run(far, y, -(2**62) - 2**61, 2**62 + 2**61, 4)
    assert y.tolist() == [-(2**62) - 2**61 + 3, 4, -2]
    run(far, y, 2**63 - 3, 2**63 - 1, 100)
    assert y.tolist() == [2**63 - 2, 2, -1]


@kiln.kernel
def contained(y: kiln.View, n: kiln.i64, MODE: kiln.constexpr):
    kiln.grid(1)
    y[0] = (n in (1, 4, n + 1)).to(kiln.i64)
    y[1] = (n not in (1, 4)).to(kiln.i64)
    y[2] = (n in range(2, 20, 3)).to(kiln.i64)
    y[3] = (n in range(9, n - 2, -2)).to(kiln.i64)
    y[4] = 1 if MODE in ("fast", "slow") and 3 in (1, 2, 3) and "a" in "cab" else 0
    y[5] = 1 if MODE not in ("slow", None) and 4 not in range(3) else 0


@pytest.mark.parametrize("n", [1, 4, 5, 9, 20, -1])
def test_in(n):
    y = np.zeros(6, np.int64)
    run(contained, y, n, MODE="fast")
    want = [n in (1, 4), n not in (1, 4), n in range(2, 20, 3), n in range(9, n - 2, -2), 1, 1]
    assert y.tolist() == [int(x) for x in want]
