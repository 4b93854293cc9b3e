"""Atomic updates, each thread's of a cell of its own: what was there, and what is there behind it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from elementwise import THREADS, default_held
from form_programs import Program, Text, size_of
from suite import Form, Held
from values import Source, column

ITEMS = 256
INTEGER = ("add", "_and", "_or", "_xor", "xchg", "max", "min", "umax", "umin")
UPDATES = {
    "i32": INTEGER, "i64": INTEGER, "f32": ("fadd", "fmax", "fmin", "xchg"), "f64": ("fadd",),
    "f16": ("fadd", "fmax", "fmin"),
    "bf16": ("fadd", "fmax", "fmin"),
}  # fmt: skip


def update(type: str, space: int) -> Form:
    """In global memory (1) or shared (3)."""
    text = Text()
    size = size_of(type)
    thread = text.thread()
    block = text.arithmetic("mul", text.block(), THREADS)
    item = text.arithmetic("add", block, thread)
    at = text.arithmetic("mul", item, size)
    value = text.load(text.place("%a0", at), type)
    first = text.load(text.place("%a1", at), type)
    ops = [*UPDATES[type], *(("cmpxchg",) if type[0] == "i" else ())]
    total = ITEMS * size
    results: list[str] = []
    for number, op in enumerate(ops):
        cells = f"%a{2 + 2 * number + 1}"
        if space == 1:
            cell = text.place(cells, at)
        else:
            offset = text.arithmetic("mul", thread, size)
            offset = text.arithmetic("add", offset, number * THREADS * size)
            cell = text.place(text.shared(), offset, 3)
        text.store(first, cell, type, space)
        pointer = f"!llvm.ptr<{space}>"
        scope = 'syncscope("device")' if space == 1 else 'syncscope("block")'
        if op == "cmpxchg":
            pair = text.op(
                f"llvm.cmpxchg {cell}, {first}, {value} {scope} acq_rel monotonic "
                f"{{alignment = {size} : i64}} : {pointer}, {type}"
            )
            old = text.op(f"llvm.extractvalue {pair}[0] : !llvm.struct<({type}, i1)>")
        else:
            old = text.op(
                f"llvm.atomicrmw {op} {cell}, {value} {scope} acq_rel : {pointer}, {type}"
            )
        text.store(old, text.place(f"%a{2 + 2 * number}", at), type)
        if space == 3:
            text.store(text.load(cell, type, 3), text.place(cells, at), type)
        results += [f"{op}-before", f"{op}-after"]
    word = f"i{8 * size}"
    arrays = [(word, (ITEMS,))] * (2 + len(results))
    program = Program(
        text,
        arrays,
        2,
        THREADS,
        blocks=ITEMS // THREADS,
        shared=(total if space == 3 else 0) * len(ops),
    )

    def draw(seed: int) -> list[np.ndarray]:
        source = Source(seed)
        return [column(type, source, ITEMS), column(type, source, ITEMS)]

    held: list[Held] = [default_held(type)] * len(results)
    where = "global" if space == 1 else "shared"
    return Form(f"atomic-{where}-{type}", program, draw, results, held)


def forms() -> Iterator[Form]:
    for type in UPDATES:
        for space in (1, 3):
            yield update(type, space)
