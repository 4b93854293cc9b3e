"""More kernels for random schedules: rings that are filled in loops in loops, and tensors of other
element types that one role may make for another."""

from __future__ import annotations

from typing import Any

import numpy as np
from schedule_kernels import (
    BF16,
    Form,
    Kernel,
    Pin,
    Place,
    aligned,
    allowed,
    drawn,
    empty,
    function,
    indented,
    some,
    tile,
    wide,
)

# A sum of products of one tile with those of several groups of rows, tile by tile along k.


def draw_nested(rng: Any, chip: str) -> Form:
    return tile(rng, chip) | {
        "dots": rng.random() < 0.6, "late": rng.random() < 0.3, "counted": rng.random() < 0.5,
    }  # fmt: skip


def places_nested(f: Form) -> dict[str, Place]:
    places = {"x": Place("load", True), "inner": Place("loop", True), "y": Place("load", True)}
    places["d" if f["dots"] else "act"] = Place("dot" if f["dots"] else "op", True)
    if f["late"]:
        places["z"] = Place("load", True)
    return places | {"out": Place("store", False)}


def text_nested(f: Form, p: Pin) -> str:
    m, k = f["M"], f["K"]
    n, row = (f["N"], "j") if f["dots"] else (m, "i")
    if f["dots"]:
        sums = p("d", "kiln.dot(x, y, acc, transpose_b=True)")
    else:
        sums = p("act", "acc + x.to(kiln.f32) * y.to(kiln.f32)")
    body = [
        f"x = {p('x', f'a.load((i * {m}, k), ({m}, {k}))')}",
        f"for g in {p('inner', 'range(groups)' if f['counted'] else 'range(2)')}:",
        f"    y = {p('y', f'b.load((g * n + {row} * {n}, k), ({n}, {k}))')}",
        f"    acc = {sums}",
    ]
    if f["late"]:
        body.append(f"z = {p('z', f'a.load((i * {m}, k), ({m}, {k}))')}")
        body.append("most = kiln.maximum(most, kiln.max(z.to(kiln.f32), axis=1))")
    columns = n if f["dots"] else k
    lines = [
        f"i, j = kiln.grid(kiln.cdiv(c.shape[0], {m}), kiln.cdiv(n, {n}))",
        p("kernel", ""), f"acc = kiln.zeros(({m}, {columns}), kiln.f32)",
    ]  # fmt: skip
    if f["late"]:
        lines.append(f"most = kiln.zeros(({m},), kiln.f32)")
    lines += [f"for k in {p('loop', f'range(0, a.shape[1], {k})')}:", *indented(body)]
    if f["late"]:
        lines.append("acc = acc + most[:, None]")
    lines.append(p("out", f"c.store((i * {m}, j * {columns}), acc)"))
    return function("a, b, c, n: kiln.i32, groups: kiln.i32", lines)


def sizes_nested(rng: Any, f: Form) -> dict[str, int]:
    k = f["K"] * rng.choice([0, 1, 2, 3, 4])
    groups = rng.randint(0, 3) if f["counted"] else 2
    if f["dots"]:
        return {"m": some(rng, f["M"]), "n": some(rng, f["N"]), "k": k, "groups": groups}
    return {"rows": f["M"], "k": k, "groups": groups}


def run_nested(rng: np.random.Generator, f: Form, size: dict) -> tuple[dict, dict]:
    m, k = size.get("m", size.get("rows", 0)), size["k"]
    groups = size["groups"] if f["counted"] else 2
    n = size["n"] if f["dots"] else m
    a, b = drawn(rng, "bf16", m, k), drawn(rng, "bf16", max(groups, 1) * n, k)
    x, y = wide(a), wide(b).reshape(max(groups, 1), n, k)[:groups]
    if f["dots"]:
        want = sum((x @ each.T for each in y), np.zeros((m, n)))
        terms = sum((np.abs(x) @ np.abs(each).T for each in y), np.zeros((m, n)))
    else:  # columns of one tile, those of all tiles added up
        shape = (m, -1, f["K"])
        want, terms = np.zeros((m, f["K"])), np.zeros((m, f["K"]))
        for each in y:
            want += (x * each).reshape(shape).sum(1)
            terms += np.abs(x * each).reshape(shape).sum(1)
    if f["late"]:
        most = x.max(axis=1, initial=0.0)[:, None]
        want, terms = want + most, terms + most
    c = empty("f32", *want.shape)
    args = dict(a=a, b=b, c=c, n=n, groups=groups)
    return args, {"c": (want, allowed(want, terms, "f32"))}


# A product of which one operand has been another type on its way, as whoever makes it hands it over.

HANDED = {
    "i8": "x.to(kiln.i8)", "i32": "x.to(kiln.i32)", "f16": "x.to(kiln.f16)",
    "f32": "x.to(kiln.f32) * 1.0", "i1": "x > 0.0", "i16": "x.to(kiln.i16)",
}  # fmt: skip


def draw_handed(rng: Any, chip: str) -> Form:
    return tile(rng, chip) | {"type": rng.choice(list(HANDED)), "mine": rng.random() < 0.3}


def places_handed(f: Form) -> dict[str, Place]:
    return {
        "x": Place("load", True), "y": Place("load", True), "cast": Place("op", True),
        "act": Place("op", True), "d": Place("dot", True), "out": Place("store", False),
    }  # fmt: skip


def text_handed(f: Form, p: Pin) -> str:
    m, n, k = f["M"], f["N"], f["K"]
    back = "kiln.where(u, x, 0.0)" if f["type"] == "i1" else "u.to(kiln.bf16)"
    body = [
        f"x = {p('x', f'a.load((i * {m}, k), ({m}, {k}))')}",
        f"y = {p('y', f'b.load((j * {n}, k), ({n}, {k}))')}",
        f"u = {p('cast', HANDED[f['type']])}",
        f"w = {p('act', back)}",
    ]
    if f["mine"]:  # who makes it uses it too
        body.append("count = count + kiln.sum(u.to(kiln.f32), axis=1)")
    body.append(f"acc = {p('d', 'kiln.dot(w, y, acc, transpose_b=True)')}")
    lines = [
        f"i, j = kiln.grid(kiln.cdiv(c.shape[0], {m}), kiln.cdiv(c.shape[1], {n}))",
        p("kernel", ""), f"acc = kiln.zeros(({m}, {n}), kiln.f32)",
    ]  # fmt: skip
    if f["mine"]:
        lines.append(f"count = kiln.zeros(({m},), kiln.f32)")
    lines += [f"for k in {p('loop', f'range(0, a.shape[1], {k})')}:", *indented(body)]
    if f["mine"]:
        lines.append("acc = acc + count[:, None]")
    lines.append(p("out", f"c.store((i * {m}, j * {n}), acc)"))
    return function("a, b, c", lines)


def sizes_handed(rng: Any, f: Form) -> dict[str, int]:
    k = aligned(rng, rng.choice([0, 1, 2, 3, 5]), f["K"])
    return {"m": some(rng, f["M"]), "n": some(rng, f["N"]), "k": k}


def run_handed(rng: np.random.Generator, f: Form, size: dict) -> tuple[dict, dict]:
    m, n, k = size["m"], size["n"], size["k"]
    a = drawn(rng, "i8", m, k).astype(BF16)
    room = np.zeros((max(m, 1), max(-(-k // 8), 1) * 8), BF16)  # rows that begin at 16 bytes
    room[:m, :k] = a
    a, b = room[:m, :k], drawn(rng, "bf16", n, k)
    x, y = wide(a), wide(b)
    u = (x > 0) * x if f["type"] == "i1" else x
    count = (x > 0) if f["type"] == "i1" else x
    want, terms = u @ y.T, np.abs(u) @ np.abs(y).T
    if f["mine"]:
        want, terms = want + count.sum(1)[:, None], terms + np.abs(count).sum(1)[:, None]
    c = empty("f32", m, n)
    return dict(a=a, b=b, c=c), {"c": (want, allowed(want, terms, "f32"))}


KERNELS = {
    "nested": Kernel(draw_nested, places_nested, text_nested, sizes_nested, run_nested),
    "handed": Kernel(draw_handed, places_handed, text_handed, sizes_handed, run_handed),
}
