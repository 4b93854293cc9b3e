"""Forms that a thread executes alone, on registers: arithmetic, conversions, approximations. Those of
the same operands share a kernel, whose results are an array each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from form_programs import Program, Text, size_of
from suite import Bits, Form, Held, Numbers, Operand, Ulps, draw_columns

ITEMS, THREADS = 512, 128


def registers(
    name: str, operands: list[Operand], results: dict[str, Operand], held: list[Held],
    code: Callable[[Text, list[list[str]]], list[list[str]]],
    items: int = ITEMS, draw: Callable[[int], list[np.ndarray]] | None = None,
    flushes: bool = False,
) -> Form:  # fmt: skip
    """Each thread loads its operands, of so many registers each, and stores its results."""
    text = Text()
    block = text.arithmetic("mul", text.block(), THREADS)
    item = text.arithmetic("add", block, text.thread())

    def places(number: int, each: Operand) -> Iterator[str]:
        size = size_of(each.type)
        begin = text.arithmetic("mul", item, size * each.count)
        for i in range(each.count):
            yield text.place(f"%a{number}", text.arithmetic("add", begin, size * i))

    loaded = [
        [text.load(place, each.type) for place in places(number, each)]
        for number, each in enumerate(operands)
    ]
    made = code(text, loaded)
    for number, (each, values) in enumerate(zip(results.values(), made), len(operands)):
        for value, place in zip(values, places(number, each)):
            text.store(value, place, each.type)
    arrays = []
    for each in [*operands, *results.values()]:
        size = size_of(each.type) * each.count
        word = next(n for n in (8, 4, 2, 1) if size_of(each.type) % n == 0)
        arrays.append((f"i{8 * word}", (items * size // word,)))
    program = Program(
        text, arrays, len(operands), THREADS, blocks=items // THREADS, flushes=flushes
    )
    return Form(name, program, draw or draw_columns(operands, items), list(results), held)


@dataclass(frozen=True)
class Line:
    """An op on registers: `{0}` stands for the first operand."""

    name: str
    result: str
    text: str
    held: Held | None = None


def group(name: str, operands: list[str], lines: list[Line], flushes: bool = False) -> Form:
    def code(text: Text, loaded: list[list[str]]) -> list[list[str]]:
        made = []
        for line in lines:
            written = line.text.format(*(regs[0] for regs in loaded))
            for type in ("f32", "f64"):
                if f"%one_{type}" in written:
                    written = written.replace(f"%one_{type}", text.constant(1.0, type))
            value = ""
            for each in written.split("; "):  # what the one before made is `%it`
                value = text.op(each.replace("%it", value))
            if line.result == "i1":
                value = text.op(f"llvm.zext {value} : i1 to i8")
            made.append([value])
        return made

    kept = ["i8" if line.result == "i1" else line.result for line in lines]
    return registers(
        name, [Operand(kind(t), t) for t in operands],
        {line.name: Operand(kind(t), t) for line, t in zip(lines, kept)},
        [line.held or default_held(t) for line, t in zip(lines, kept)], code, flushes=flushes,
    )  # fmt: skip


def kind(type: str) -> str:
    return type[type.index("x") + 1 : -1] if type.startswith("vector<") else type


def default_held(type: str) -> Held:
    return Numbers(kind(type)) if kind(type) in FLOATS else Bits(min(size_of(type), 8))


FLOATS = ("f64", "f32", "f16", "bf16")
PREDICATES = ("oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule",
              "une", "uno")  # fmt: skip


def short(type: str) -> str:
    return f"{kind(type)}x{type[len('vector<')]}" if type.startswith("vector<") else type


def call(op: str, operands: int, type: str) -> str:
    names = ", ".join(f"{{{i}}}" for i in range(operands))
    return f"llvm.intr.{op}({names}) : ({', '.join([type] * operands)}) -> {type}"


def intrinsic(name: str, operands: list[str], result: str) -> str:
    names = ", ".join(f"{{{i}}}" for i in range(len(operands)))
    return f'llvm.call_intrinsic "{name}"({names}) : ({", ".join(operands)}) -> {result}'


def arithmetic() -> Iterator[Form]:
    for t in (*FLOATS, "vector<2xf16>", "vector<2xbf16>"):
        lines = [Line(op, t, f"llvm.{op} {{0}}, {{1}} : {t}") for op in ("fadd", "fsub", "fmul")]
        lines += [Line(op, t, call(op, 2, t)) for op in ("minnum", "maxnum", "minimum", "maximum")]
        lines += [Line("fneg", t, f"llvm.fneg {{0}} : {t}"), Line("fabs", t, call("fabs", 1, t))]
        if t in FLOATS:
            lines.append(Line("fdiv", t, f"llvm.fdiv {{0}}, {{1}} : {t}"))
            ops = ("sqrt", "floor", "ceil", "trunc", "roundeven")
            lines += [Line(op, t, call(op, 1, t)) for op in ops]
        if t in ("f64", "f32"):
            lines.append(Line("copysign", t, call("copysign", 2, t)))
            lines.append(Line("rcp", t, f"llvm.fdiv %one_{t}, {{0}} : {t}"))
        yield group(f"arithmetic-{short(t)}", [t, t], lines)
        fused = [Line("fma", t, call("fma", 3, t))]
        if t == "f32":
            fused.append(Line("fma-sat", t, intrinsic("llvm.nvvm.fma.rn.sat.f", [t] * 3, t)))
        yield group(f"fma-{short(t)}", [t, t, t], fused)
        if t in FLOATS:
            compared = [
                Line(p, "i1", f'llvm.fcmp "{p}" {{0}}, {{1}} : {t}', Bits(1)) for p in PREDICATES
            ]
            yield group(f"compare-{t}", [t, t], compared)


def conversions() -> Iterator[Form]:
    precision = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}
    for f in FLOATS:
        lines = []
        for g in FLOATS:
            if precision[f] > precision[g] and (f, g) != ("f16", "bf16"):
                lines.append(Line(g, g, f"llvm.fptrunc {{0}} : {f} to {g}"))
            if precision[f] < precision[g] and (f, g) != ("bf16", "f16"):
                lines.append(Line(g, g, f"llvm.fpext {{0}} : {f} to {g}"))
        if f in ("f64", "f32"):
            for i in ("i8", "i16", "i32", "i64"):
                for sign in "su":
                    name = f"llvm.fpto{sign}i.sat"
                    lines.append(Line(f"{sign}{i[1:]}", i, intrinsic(name, [f], i)))
        yield group(f"convert-{f}", [f], lines)
    pair = "vector<2xf32>"
    lines = []
    for narrow in ("f16", "bf16"):
        to = f"vector<2x{narrow}>"
        lines.append(Line(f"{narrow}x2", to, f"llvm.fptrunc {{0}} : {pair} to {to}"))
    yield group("convert-f32x2", [pair], lines)
    for i in ("i8", "i16", "i32", "i64"):
        lines = [
            Line(f"{sign}-{f}", f, f"llvm.{sign}itofp {{0}} : {i} to {f}")
            for f in FLOATS for sign in "su"
        ]  # fmt: skip
        yield group(f"convert-{i}", [i], lines)
    lines = [
        Line(f, "i16", intrinsic(f"llvm.nvvm.ff.to.{f}x2.rn", ["f32", "f32"], "i16"))
        for f in ("e4m3", "e5m2")
    ]
    yield group("convert-f32-f8", ["f32", "f32"], lines)
    for f in ("e4m3", "e5m2"):
        yield widened(f)


def widened(narrow: str) -> Form:
    """All bytes, beside themselves and beside others."""

    def draw(seed: int) -> list[np.ndarray]:
        given = draw_columns([Operand(narrow, "i16")], ITEMS)(seed)[0].view(np.uint16)
        given[:256] = np.arange(256, dtype=np.uint16) * 257
        return [given]

    def code(text: Text, loaded: list[list[str]]) -> list[list[str]]:
        name = f"llvm.nvvm.{narrow}x2.to.f16x2.rn"
        return [[text.call(name, [(loaded[0][0], "i16")], "vector<2xf16>")]]

    return registers(
        f"convert-{narrow}", [Operand(narrow, "i16")], {"f16x2": Operand("f16", "vector<2xf16>")},
        [Numbers("f16")], code, draw=draw,
    )  # fmt: skip


FAST = "{{fastmathFlags = #llvm.fastmath<fast>}}"


def approximations() -> Iterator[Form]:
    """What the PTX ISA promises about the exact result, in units in the last place or absolutely; the
    emulated chip's own error stands beside it."""
    for suffix, flushes in (("", False), ("-ftz", True)):
        unary = [
            Line("ex2", "f32", f"llvm.intr.exp2({{0}}) {FAST} : (f32) -> f32", Ulps(2)),
            Line("sqrt", "f32", f"llvm.intr.sqrt({{0}}) {FAST} : (f32) -> f32", Ulps(1)),
            Line(
                "rsqrt", "f32",
                f"llvm.intr.sqrt({{0}}) {FAST} : (f32) -> f32; llvm.fdiv %one_f32, %it {FAST} : f32",
                Ulps(2),
            ),
            Line("rcp", "f32", f"llvm.fdiv %one_f32, {{0}} {FAST} : f32", Ulps(1)),
            Line("tanh", "f32", f"llvm.intr.tanh({{0}}) {FAST} : (f32) -> f32",
                 Ulps(None, 2.0**-10.987)),
        ]  # fmt: skip
        yield group(f"approximate{suffix}", ["f32"], unary, flushes)
        divided = Line("div", "f32", f"llvm.fdiv {{0}}, {{1}} {FAST} : f32", Ulps(2))
        yield group(f"approximate-div{suffix}", ["f32", "f32"], [divided], flushes)
    named = intrinsic("llvm.nvvm.ex2.approx.ftz.f32", ["f32"], "f32")
    yield group("approximate-ex2-named", ["f32"], [Line("ex2", "f32", named, Ulps(2))])


def flushed() -> Iterator[Form]:
    """Fast mathematics takes subnormals of f32 for zeros, operands and results."""
    lines = [Line(op, "f32", f"llvm.{op} {{0}}, {{1}} : f32") for op in ("fadd", "fsub", "fmul")]
    lines += [
        Line(op, "f32", call(op, 2, "f32")) for op in ("minnum", "maxnum", "minimum", "maximum")
    ]
    lines.append(Line("fabs", "f32", call("fabs", 1, "f32")))
    yield group("arithmetic-f32-ftz", ["f32", "f32"], lines, True)
    yield group("fma-f32-ftz", ["f32"] * 3, [Line("fma", "f32", call("fma", 3, "f32"))], True)
    compared = [Line(p, "i1", f'llvm.fcmp "{p}" {{0}}, {{1}} : f32', Bits(1)) for p in PREDICATES]
    yield group("compare-f32-ftz", ["f32", "f32"], compared, True)


def forms() -> Iterator[Form]:
    yield from arithmetic()
    yield from conversions()
    yield from approximations()
    yield from flushed()
