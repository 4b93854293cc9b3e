"""More kernels for random schedules: products of blocks with scales, sequences of loaded lengths,
blocks that a list leaves out, and memory that one operation stores to and another loads."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from schedule_kernels import (
    BF16,
    Form,
    Kernel,
    Pin,
    Place,
    allowed,
    drawn,
    empty,
    function,
    indented,
    some,
    tile,
    wide,
)

# A product of narrow floats, of which each block along k has a scale.

NARROW = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
}  # fmt: skip
SCALES = {32: ml_dtypes.float8_e8m0fnu, 16: ml_dtypes.float8_e4m3fn}


def draw_blocks(rng: Any, chip: str) -> Form:
    sizes = tile(rng, chip)
    few = rng.random() < 0.4
    kinds = ["f4E2M1FN"] * 2 if few else [rng.choice(["f8E4M3FN", "f8E5M2"]) for _ in "xy"]
    return sizes | {
        "K": rng.choice([64, 64, 128]), "kinds": kinds, "block": rng.choice([16, 32]) if few else 32,
        "gate": rng.random() < 0.2,
    }  # fmt: skip


def places_blocks(f: Form) -> dict[str, Place]:
    places = {at: Place("load", True) for at in ("x", "y", "s", "t")}
    places["d"] = Place("dot", True)
    if f["gate"]:
        places |= {"z": Place("load", True), "u": Place("load", True), "e": Place("dot", True)}
    return places | {"out": Place("store", False)}


def text_blocks(f: Form, p: Pin) -> str:
    m, n, k, block = f["M"], f["N"], f["K"], f["block"]
    packed = 2 if f["kinds"][0] == "f4E2M1FN" else 1

    def load(view: str, row: str, rows: int) -> str:
        return f"{view}.load(({row} * {rows}, k // {packed}), ({rows}, {k // packed}))"

    def scale(view: str, row: str, rows: int) -> str:
        return f"{view}.load(({row} * {rows}, k // {block}), ({rows}, {k // block}))"

    def bits(name: str) -> str:
        return f"{name} = kiln.bitcast({name}, kiln.f4e2m1fn)" if packed == 2 else ""

    body = [
        f"x = {p('x', load('a', 'i', m))}", bits("x"), f"y = {p('y', load('b', 'j', n))}", bits("y"),
        f"s = {p('s', scale('sa', 'i', m))}", f"t = {p('t', scale('sb', 'j', n))}",
        f"acc = {p('d', 'kiln.dot_scaled(x, s, y, t, acc, transpose_b=True)')}",
    ]  # fmt: skip
    zeros = f"kiln.zeros(({m}, {n}), kiln.f32)"
    lines = [
        f"i, j = kiln.grid(kiln.cdiv(c.shape[0], {m}), kiln.cdiv(c.shape[1], {n}))",
        p("kernel", ""), f"acc = {zeros}",
    ]  # fmt: skip
    if f["gate"]:
        body += [
            f"z = {p('z', load('g', 'j', n))}", bits("z"), f"u = {p('u', scale('sg', 'j', n))}",
            f"other = {p('e', 'kiln.dot_scaled(x, s, z, u, other, transpose_b=True)')}",
        ]  # fmt: skip
        lines.append(f"other = {zeros}")
    lines += [f"for k in {p('loop', f'range(0, a.shape[1] * {packed}, {k})')}:", *indented(body)]
    if f["gate"]:
        lines.append("acc = acc * other")
    lines.append(p("out", f"c.store((i * {m}, j * {n}), acc)"))
    return function("a, sa, b, sb, g, sg, c", lines)


def sizes_blocks(rng: Any, f: Form) -> dict[str, int]:
    trips = rng.choice([0, 1, 1, 2, 3, 5])
    cut = 32 * rng.randrange(f["K"] // 32) if trips and rng.random() < 0.4 else 0
    return {"m": some(rng, f["M"]), "n": some(rng, f["N"]), "k": trips * f["K"] - cut}


def run_blocks(rng: np.random.Generator, f: Form, size: dict) -> tuple[dict, dict]:
    m, n, k, block = size["m"], size["n"], size["k"], f["block"]

    def operand(rows: int, kind: str) -> tuple:
        values = rng.standard_normal((rows, k)).astype(NARROW[kind])
        if block == 32:
            scales = (2.0 ** rng.integers(-4, 5, (rows, k // 32))).astype(SCALES[32])
        else:
            scales = rng.uniform(0, 4, (rows, k // 16)).astype(SCALES[16])
        full = wide(values) * np.repeat(wide(scales), block, 1)
        if kind == "f4E2M1FN":
            bits = values.view(np.uint8)
            values = (bits[:, ::2] & 15 | bits[:, 1::2] << 4).astype(np.uint8)
        return values, scales, full

    a, sa, x = operand(m, f["kinds"][0])
    b, sb, y = operand(n, f["kinds"][1])
    g, sg, z = operand(n, f["kinds"][1])
    want, terms = x @ y.T, np.abs(x) @ np.abs(y).T
    if f["gate"]:
        other, others = x @ z.T, np.abs(x) @ np.abs(z).T
        want, terms = want * other, np.abs(want) * others + np.abs(other) * terms
    args = dict(a=a, sa=sa, b=b, sb=sb, g=g, sg=sg, c=empty("f32", m, n))
    return args, {"c": (want, allowed(want, terms, "f32"))}


# Attention over sequences that lie one behind another, between bounds that are loaded.


def draw_windows(rng: Any, chip: str) -> Form:
    sizes = tile(rng, chip)
    keys, head = rng.choice([32, 64, 16]), rng.choice([64, 32])
    if chip.startswith("gfx"):
        sizes["M"], keys, head = min(sizes["M"], 64), min(keys, 32), 32
    return {"M": sizes["M"], "B": keys, "D": head, "window": rng.random() < 0.4}


def places_windows(f: Form) -> dict[str, Place]:
    return {
        "first": Place("load", False), "last": Place("load", False), "q": Place("load", False),
        "k": Place("load", True), "s": Place("dot", True), "mask": Place("op", True),
        "m": Place("op", True), "p": Place("op", True), "t": Place("op", True),
        "v": Place("load", True), "o": Place("dot", True), "out": Place("store", False),
    }  # fmt: skip


def text_windows(f: Form, p: Pin) -> str:
    m, b, d = f["M"], f["B"], f["D"]
    total = "total * shrink + kiln.sum(w, axis=1)"
    body = [
        f"y = {p('k', f'k.load((j, 0), ({b}, {d}))')}",
        f"s = {p('s', 'kiln.dot(x, y, transpose_b=True)')}",
        f"sees = (j.to(kiln.i32) + kiln.arange({b}))[None, :] < last.to(kiln.i32)",
        f"s = {p('mask', 'kiln.where(sees, s, -1000.0)')}",
        f"most = {p('m', 'kiln.maximum(largest, kiln.max(s, axis=1))')}",
        "shrink = kiln.exp2(largest - most)",
        f"w = {p('p', 'kiln.exp2(s - most[:, None])')}",
        f"total = {p('t', total)}", "largest = most",
        f"z = {p('v', f'v.load((j, 0), ({b}, {d}))')}",
        f"acc = {p('o', 'kiln.dot(w.to(kiln.bf16), z, acc * shrink[:, None])')}",
    ]  # fmt: skip
    begin = f"kiln.maximum(first, last - {2 * b})" if f["window"] else "first"
    lines = [
        f"i, g = kiln.grid(kiln.cdiv(c.shape[1], {m}), c.shape[0])", p("kernel", ""),
        f"first = {p('first', 'bounds.load((g,), (1,), squeeze=True)')}",
        f"last = {p('last', 'bounds.load((g + 1,), (1,), squeeze=True)')}",
        f"x = {p('q', f'q.load((g, i * {m}, 0), (1, {m}, {d}), squeeze=0)')}",
        f"acc = kiln.zeros(({m}, {d}), kiln.f32)",
        f"largest = kiln.full(({m},), -1000.0, kiln.f32)",
        f"total = kiln.zeros(({m},), kiln.f32)",
        f"for j in {p('loop', f'range({begin}, last, {b})')}:", *indented(body),
        "mean = acc / kiln.maximum(total, 1e-20)[:, None]",
        p("out", f"c.store((g, i * {m}, 0), mean[None, :, :])"),
    ]  # fmt: skip
    return function("q, k, v, bounds, c", lines)


def sizes_windows(rng: Any, f: Form) -> dict[str, int]:
    return {
        "rows": some(rng, f["M"]), "groups": rng.randint(1, 3), "keys": f["B"] * rng.randint(0, 5),
    }  # fmt: skip


def run_windows(rng: np.random.Generator, f: Form, size: dict) -> tuple[dict, dict]:
    rows, groups, d = size["rows"], size["groups"], f["D"]
    lengths = rng.integers(0, size["keys"] + 1, groups)
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    q = (0.2 * rng.standard_normal((groups, rows, d))).astype(BF16)
    k, v = (drawn(rng, "bf16", int(bounds[-1]), d) for _ in "kv")
    want, terms = np.zeros((groups, rows, d)), np.zeros((groups, rows, d))
    for g in range(groups):
        first, last = bounds[g], bounds[g + 1]
        first = max(first, last - 2 * f["B"]) if f["window"] else first
        if first == last:
            continue
        scores = wide(q[g]) @ wide(k[first:last]).T
        weights = np.exp2(scores - scores.max(axis=1, keepdims=True))
        weights = weights / weights.sum(axis=1, keepdims=True)
        want[g], terms[g] = weights @ wide(v[first:last]), weights @ np.abs(wide(v[first:last]))
    args = dict(q=q, k=k, v=v, bounds=bounds, c=empty("f32", groups, rows, d))
    return args, {"c": (want, allowed(want, terms, "f32", off=2.0**-7))}


# A product of those blocks that a list does not leave out.


def draw_sparse(rng: Any, chip: str) -> Form:
    return tile(rng, chip) | {"both": rng.random() < 0.5, "while": rng.random() < 0.4}


def places_sparse(f: Form) -> dict[str, Place]:
    return {
        "flag": Place("load", True), "if": Place("if", True), "x": Place("load", True, f["both"]),
        "y": Place("load", True, True), "d": Place("dot", True, True),
        "out": Place("store", False),
    }  # fmt: skip


def text_sparse(f: Form, p: Pin) -> str:
    m, n, k = f["M"], f["N"], f["K"]
    x = f"x = {p('x', f'a.load((i * {m}, k), ({m}, {k}))')}"
    inner = [
        f"y = {p('y', f'b.load((j * {n}, k), ({n}, {k}))')}",
        f"acc = {p('d', 'kiln.dot(x, y, acc, transpose_b=True)')}",
    ]
    flag = p("flag", f"flags.load((k // {k},), (1,), squeeze=True)")
    body = [
        f"flag = {flag}", *([] if f["both"] else [x]), f"if {p('if', 'flag > 0')}:",
        *indented([x, *inner] if f["both"] else inner),
    ]  # fmt: skip
    lines = [
        f"i, j = kiln.grid(kiln.cdiv(c.shape[0], {m}), kiln.cdiv(c.shape[1], {n}))",
        p("kernel", ""), f"acc = kiln.zeros(({m}, {n}), kiln.f32)",
    ]  # fmt: skip
    if f["while"]:
        lines += ["k = 0", f"while {p('loop', 'k < steps')}:", *indented([*body, f"k = k + {k}"])]
    else:
        lines += [f"for k in {p('loop', f'range(0, steps, {k})')}:", *indented(body)]
    lines.append(p("out", f"c.store((i * {m}, j * {n}), acc)"))
    return function("a, b, flags, c, steps: kiln.i32", lines)


def sizes_sparse(rng: Any, f: Form) -> dict[str, int]:
    trips = rng.choice([0, 1, 2, 3, 4, 6])
    return {"m": some(rng, f["M"]), "n": some(rng, f["N"]), "k": trips * f["K"]}


def run_sparse(rng: np.random.Generator, f: Form, size: dict) -> tuple[dict, dict]:
    m, n, k = size["m"], size["n"], size["k"]
    a, b = drawn(rng, "bf16", m, k), drawn(rng, "bf16", n, k)
    flags = (rng.random(max(k // f["K"], 1)) < rng.choice([0.2, 0.5, 1.0])).astype(np.int32)
    used = np.repeat(flags, f["K"])[:k]
    x, y = wide(a) * used, wide(b)
    want, terms = x @ y.T, np.abs(x) @ np.abs(y).T
    args = dict(a=a, b=b, flags=flags, c=empty("f32", m, n), steps=k)
    return args, {"c": (want, allowed(want, terms, "f32"))}


# A sum of two loops' products, and what each trip does to it: a ring goes on from loop to loop.


def draw_sequel(rng: Any, chip: str) -> Form:
    return tile(rng, chip) | {
        "scale": rng.random() < 0.3, "else": rng.random() < 0.2, "batch": rng.random() < 0.3,
    }  # fmt: skip


def places_sequel(f: Form) -> dict[str, Place]:
    places = {"x": Place("load", True), "y": Place("load", True), "d": Place("dot", True)}
    if f["else"]:
        places |= {"if": Place("if", False)}
    inner = f["else"]
    places |= {"next": Place("loop", inner), "z": Place("load", True), "w2": Place("load", True)}
    if f["scale"]:
        places["act"] = Place("op", True)
    return places | {"e": Place("dot", True), "out": Place("store", False)}


def text_sequel(f: Form, p: Pin) -> str:
    m, n, k = f["M"], f["N"], f["K"]

    def load(at: str, view: str, row: str, rows: int) -> str:
        text = f"{view}.load(({row} * {rows}, k), ({rows}, {k}))"
        if f["batch"]:
            text = f"{view}.load((h, {row} * {rows}, k), (1, {rows}, {k}), squeeze=0)"
        return p(at, text)

    inner = f"a.shape[{2 if f['batch'] else 1}]"
    first = [
        f"x = {load('x', 'a', 'i', m)}", f"y = {load('y', 'b', 'j', n)}",
        f"acc = {p('d', 'kiln.dot(x, y, acc, transpose_b=True)')}",
    ]  # fmt: skip
    second = [
        f"z = {load('z', 'a', 'i', m)}", f"w = {load('w2', 'g', 'j', n)}",
        f"acc = {p('act', 'acc * 0.5')}" if f["scale"] else "",
        f"acc = {p('e', 'kiln.dot(z, w, acc, transpose_b=True)')}",
    ]  # fmt: skip
    loops = [f"for k in {p('loop', f'range(0, {inner}, {k})')}:", *indented(first)]
    more = [f"for k in {p('next', f'range(0, steps, {k})')}:", *indented(second)]
    if f["else"]:
        more = [f"if {p('if', 'steps > 0')}:", *indented(more)]
    shape = "1, 2" if f["batch"] else "0, 1"
    rows, columns = shape.split(", ")
    grid = f"kiln.cdiv(c.shape[{rows}], {m}), kiln.cdiv(c.shape[{columns}], {n})"
    lines = [
        f"i, j, h = kiln.grid({grid}, c.shape[0])" if f["batch"] else f"i, j = kiln.grid({grid})",
        p("kernel", ""), f"acc = kiln.zeros(({m}, {n}), kiln.f32)", *loops, *more,
        p("out", f"c.store((h, i * {m}, j * {n}), acc[None, :, :])" if f["batch"] else
          f"c.store((i * {m}, j * {n}), acc)"),
    ]  # fmt: skip
    return function("a, b, g, c, steps: kiln.i32", lines)


def sizes_sequel(rng: Any, f: Form) -> dict[str, int]:
    return {
        "m": some(rng, f["M"]), "n": some(rng, f["N"]), "k": f["K"] * rng.choice([0, 1, 2, 3]),
        "steps": rng.choice([0, 1, 2, 3]), "batches": rng.randint(1, 2),
    }  # fmt: skip


def run_sequel(rng: np.random.Generator, f: Form, size: dict) -> tuple[dict, dict]:
    m, n, k, batches = size["m"], size["n"], size["k"], size["batches"] if f["batch"] else 1
    trips = min(size["steps"], k // f["K"])
    a, b, g = (drawn(rng, "bf16", batches * rows, k) for rows in (m, n, n))
    a, b, g = (x.reshape(batches, len(x) // batches, k) for x in (a, b, g))
    x, y, z = wide(a), wide(b).transpose(0, 2, 1), wide(g).transpose(0, 2, 1)
    want, terms = x @ y, np.abs(x) @ np.abs(y)
    for at in range(0, trips * f["K"], f["K"]):
        part = slice(at, at + f["K"])
        if f["scale"]:
            want, terms = 0.5 * want, 0.5 * terms
        want = want + x[:, :, part] @ z[:, part]
        terms = terms + np.abs(x[:, :, part]) @ np.abs(z[:, part])
    if not f["batch"]:
        a, b, g, want, terms = a[0], b[0], g[0], want[0], terms[0]
    args = dict(a=a, b=b, g=g, c=empty("f32", *want.shape), steps=trips * f["K"])
    return args, {"c": (want, allowed(want, terms, "f32"))}


# Rows that are changed in place, and what else loads them: by the source's order.


def draw_relay(rng: Any, chip: str) -> Form:
    return {
        "N": rng.choice([32, 64]), "K": rng.choice([16, 32, 64]), "ahead": rng.random() < 0.1,
        "by": rng.choice(["store", "store", "store", "add"]), "again": rng.random() < 0.15,
        "behind": rng.random() < 0.2,
    }  # fmt: skip


def places_relay(f: Form) -> dict[str, Place]:
    places = {"x": Place("load", True), "act": Place("op", True)}
    places["each"] = Place("atomic" if f["by"] == "add" else "store", True)
    if f["again"]:
        places |= {"z": Place("load", True), "more": Place("op", True)}
    if f["behind"]:
        places["w"] = Place("load", False)
    return places | {"d": Place("op", True), "out": Place("store", False)}


def text_relay(f: Form, p: Pin) -> str:
    n, k = f["N"], f["K"]
    to = f"k + {k}" if f["ahead"] else "k"
    where = f"(({to} + kiln.arange({k}))[:, None], (j * {n} + kiln.arange({n}))[None, :])"
    store = f"kiln.atomic_add(c, {where}, y)" if f["by"] == "add" else (
        f"c.store(({to}, j * {n}), y)")  # fmt: skip
    body = [
        f"x = {p('x', f'c.load((k, j * {n}), ({k}, {n}))')}", f"y = {p('act', 'x * 2.0')}",
        p("each", store),
    ]  # fmt: skip
    if f["again"]:
        body.append(f"z = {p('z', f'c.load((k, j * {n}), ({k}, {n}))')}")
        body.append(f"acc = {p('more', 'acc + kiln.sum(z, axis=0)')}")
    body.append(f"acc = {p('d', 'acc + kiln.sum(y, axis=0)')}")
    end = f"c.shape[0] - {k}" if f["ahead"] else "c.shape[0]"
    lines = [
        f"j = kiln.grid(kiln.cdiv(c.shape[1], {n}))", p("kernel", ""),
        f"acc = kiln.zeros(({n},), kiln.f32)",
        f"for k in {p('loop', f'range(0, {end}, {k})')}:", *indented(body),
    ]  # fmt: skip
    if f["behind"]:
        lines.append(f"w = {p('w', f'c.load((0, j * {n}), ({k}, {n}))')}")
        lines.append("acc = acc + kiln.sum(w, axis=0)")
    return function("c, r", [*lines, p("out", f"r.store((j * {n},), acc)")])


def sizes_relay(rng: Any, f: Form) -> dict[str, int]:
    return {"rows": f["K"] * rng.randint(1, 5), "columns": some(rng, f["N"])}


def run_relay(rng: np.random.Generator, f: Form, size: dict) -> tuple[dict, dict]:
    rows, columns, step = size["rows"], size["columns"], f["K"]
    room = -(-columns // 4) * 4
    c = rng.integers(-8, 9, (rows, room)).astype(np.float32)[:, :columns]
    after, total = wide(c), np.zeros(columns)
    for k in range(0, rows - step * f["ahead"], step):
        y, to = after[k : k + step] * 2, k + step * f["ahead"]
        after[to : to + step] = y + (after[to : to + step] if f["by"] == "add" else 0)
        total += y.sum(0) + (after[k : k + step].sum(0) if f["again"] else 0)
    total += after[:step].sum(0) if f["behind"] else 0
    args = dict(c=c, r=empty("f32", columns))
    return args, {"c": (after, np.zeros_like(after)), "r": (total, np.zeros_like(total))}


KERNELS = {
    "blocks": Kernel(draw_blocks, places_blocks, text_blocks, sizes_blocks, run_blocks),
    "windows": Kernel(
        draw_windows, places_windows, text_windows, sizes_windows, run_windows, {"keys": "B"}
    ),
    "sparse": Kernel(draw_sparse, places_sparse, text_sparse, sizes_sparse, run_sparse),
    "sequel": Kernel(
        draw_sequel, places_sequel, text_sequel, sizes_sequel, run_sequel, {"k": "K", "steps": ""}
    ),
    "relay": Kernel(draw_relay, places_relay, text_relay, sizes_relay, run_relay, {"rows": "K"}),
}
