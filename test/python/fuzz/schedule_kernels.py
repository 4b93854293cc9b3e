"""Kernels for random schedules: each in a form of its own, with places that decisions may stand at,
arrays to run it on, and what it must leave there in float64.

A place is an operation of the kernel's text: `p("x", "a.load(...)")` is that text, or `kiln.pin` of it
where the schedule has decisions for "x".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

BF16 = ml_dtypes.bfloat16
DTYPES = {
    "bf16": BF16, "f16": np.float16, "i8": np.int8, "f32": np.float32, "i32": np.int32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
}  # fmt: skip
# How far a sum may be off, of the sum of its terms' magnitudes; and a number of each type, of itself.
SUMS = 2.0**-17
ROUNDING = {"bf16": 2.0**-8, "f16": 2.0**-10, "f32": 2.0**-20, "i32": 0.0}

Form = dict[str, Any]
Pin = Callable[[str, str], str]


@dataclass(frozen=True)
class Place:
    """`kind` is load, gather, dot, op, if, loop, store or atomic."""

    kind: str
    in_loop: bool
    in_if: bool = False


@dataclass(frozen=True)
class Kernel:
    """`draw` makes a form for a chip; of the rest each takes one. `sizes` are the extents of a run, and
    `run` gives the arguments by name and what each output must be, with the difference allowed.
    `steps` says which extents loops go along, and what of the form a trip takes of them, or 1."""

    draw: Callable[[Any, str], Form]
    places: Callable[[Form], dict[str, Place]]
    text: Callable[[Form, Pin], str]
    sizes: Callable[[Any, Form], dict[str, int]]
    run: Callable[[np.random.Generator, Form, dict[str, int]], tuple[dict, dict]]
    steps: dict[str, str] = field(default_factory=lambda: {"k": "K"})


def tile(rng: Any, chip: str) -> Form:
    """Rows, columns and depth of a product that the chip's instructions may fit."""
    rows = {"sm_90a": [64, 64, 128, 128, 32], "sm_100a": [128, 128, 128, 64, 32]}
    extents = {
        "M": rng.choice(rows.get(chip, [64, 64, 128, 32, 16])),
        "N": rng.choice([64, 64, 128, 32, 16]),
        "K": rng.choice([32, 32, 64, 64, 16]),
    }
    if rng.random() < 0.15:  # no power of two
        odd = {
            "M": [96, 192 if chip == "sm_90a" else 48],
            "N": [48, 96, 24, 192],
            "K": [48, 96, 80],
        }
        at = rng.choice("MNNK")
        extents[at] = rng.choice(odd[at])
    return extents


def drawn(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    """Of rows that mostly begin at multiples of 16 bytes, and where there are none would do so."""
    step = 1 if rng.random() < 0.1 else 16 // np.dtype(DTYPES[dtype]).itemsize
    room = (*(max(n, 1) for n in shape[:-1]), max(-(-shape[-1] // step), 1) * step)
    part = tuple(slice(n) for n in shape)
    if dtype in ("i8", "i32"):
        return rng.integers(-8, 8, room).astype(DTYPES[dtype])[part]
    if dtype.startswith("f8"):  # whose products keep few bits of a sum: small whole numbers stay
        return rng.integers(-2, 3, room).astype(DTYPES[dtype])[part]
    return rng.standard_normal(room).astype(DTYPES[dtype])[part]


def wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)


def empty(dtype: str, *shape: int) -> np.ndarray:
    """What nobody writes is seen."""
    return np.full(shape, 77 if dtype == "i32" else np.nan, DTYPES[dtype])


def allowed(want: np.ndarray, terms: np.ndarray, dtype: str, off: float = SUMS) -> np.ndarray:
    return off * terms + (off + ROUNDING[dtype]) * np.abs(want) + 1e-6


def some(rng: Any, extent: int, most: int = 2) -> int:
    """Rows of up to so many tiles, the last of which may be cut; multiples of eight or any number."""
    if rng.random() < 0.3:
        return extent * rng.randint(1, most)
    return (
        8 * rng.randint(1, max(most * extent // 8, 1))
        if rng.random() < 0.7
        else rng.randint(1, most * extent)
    )


def aligned(rng: Any, trips: int, step: int) -> int:
    """The extent of so many trips, the last of which may be cut."""
    if trips == 0:
        return 0
    return trips * step - (8 * rng.randrange(step // 8) if rng.random() < 0.4 else 0)


# A product.


def draw_product(rng: Any, chip: str) -> Form:
    dtype = rng.choice(["bf16", "bf16", "bf16", "f16", "f16", "i8", "i8", "f8E4M3FN", "f8E5M2"])
    is_byte = dtype not in ("bf16", "f16")
    sums = "i32" if dtype == "i8" else "f32"
    return tile(rng, chip) | {
        "dtype": dtype, "sums": sums,
        "out": sums if is_byte or rng.random() < 0.6 else dtype,
        "ta": rng.random() < 0.15 and not is_byte, "tb": rng.random() < 0.7 or is_byte,
        "act": rng.random() < 0.2, "bias": rng.random() < 0.25, "second": rng.random() < 0.15,
        "gate": rng.random() < 0.5 and dtype != "i8", "nest": rng.random() < 0.1, "counted": rng.random() < 0.5, "most": rng.random() < 0.15,
    }  # fmt: skip


def places_product(f: Form) -> dict[str, Place]:
    places = {"x": Place("load", True), "y": Place("load", True)}
    if f["act"]:
        places["act"] = Place("op", True)
    places["d"] = Place("dot", True)
    if f["second"]:
        places |= {"z": Place("load", True), "e": Place("dot", True)}
    if f["bias"]:
        places |= {"row": Place("load", False), "sum": Place("op", False)}
    return places | {"out": Place("store", False)}


def text_product(f: Form, p: Pin) -> str:
    m, n, k = f["M"], f["N"], f["K"]
    x = f"a.load((k, i * {m}), ({k}, {m}))" if f["ta"] else f"a.load((i * {m}, k), ({m}, {k}))"
    y = f"(j * {n}, k), ({n}, {k})" if f["tb"] else f"(k, j * {n}), ({k}, {n})"
    ways = f"transpose_a={f['ta']}, transpose_b={f['tb']}"
    end = "steps" if f["counted"] else f"a.shape[{0 if f['ta'] else 1}]"
    body = [f"x = {p('x', x)}", f"y = {p('y', f'b.load({y})')}"]
    if f["act"]:
        body.append(f"x = {p('act', 'kiln.maximum(x, 0)')}")
    body.append(f"acc = {p('d', f'kiln.dot(x, y, acc, {ways})')}")
    if f["second"]:
        body.append(f"z = {p('z', f'd.load({y})')}")
        body.append(f"other = {p('e', f'kiln.dot(x, z, other, {ways})')}")
    zeros = f"kiln.zeros(({m}, {n}), kiln.{f['sums']})"
    lines = [
        f"i, j = kiln.grid(kiln.cdiv(c.shape[0], {m}), kiln.cdiv(c.shape[1], {n}))",
        p("kernel", ""), f"acc = {zeros}",
    ]  # fmt: skip
    if f["second"]:
        lines.append(f"other = {zeros}")
    loop = [f"for k in {p('loop', f'range(0, {end}, {k})')}:", *indented(body)]
    lines += ["for h in range(rounds):", *indented(loop)] if f["nest"] else loop
    if f["second"]:
        lines.append(f"acc = acc {'*' if f['gate'] else '-'} other")
    if f["bias"]:
        lines.append(f"row = {p('row', f'bias.load((j * {n},), ({n},))')}")
        lines.append(f"acc = {p('sum', 'acc + row[None, :]')}")
    if f["most"]:
        lines.append("acc = acc + kiln.max(acc, axis=1)[:, None]")
    lines.append(p("out", f"c.store((i * {m}, j * {n}), acc.to(c.dtype))"))
    return function("a, b, d, bias, c, steps: kiln.i32, rounds: kiln.i32", lines)


def sizes_product(rng: Any, f: Form) -> dict[str, int]:
    trips = rng.choice([0, 1, 1, 2, 3, 4, 5, 7])
    k = trips * f["K"] if f["counted"] else aligned(rng, trips, f["K"])
    rows, columns = some(rng, f["M"]), some(rng, f["N"])
    if f["most"]:  # a maximum must not see columns that are not there
        columns = f["N"] * rng.randint(1, 2)
    return {"m": rows, "n": columns, "k": k, "rounds": rng.randint(0, 3)}


def run_product(rng: np.random.Generator, f: Form, size: dict) -> tuple[dict, dict]:
    m, n, k = size["m"], size["n"], size["k"]
    # Of a counted loop the extents are not its bound, and the compiler knows less of them.
    room = max(k, 8 * f["K"]) if f["counted"] else k
    a = drawn(rng, f["dtype"], *((room, m) if f["ta"] else (m, room)))
    b, d = (drawn(rng, f["dtype"], *((n, room) if f["tb"] else (room, n))) for _ in range(2))
    bias = drawn(rng, f["sums"], n)
    c = empty(f["out"], m, n)
    x = wide(a.T if f["ta"] else a)[:, :k]
    x = np.maximum(x, 0) if f["act"] else x
    rounds = size["rounds"] if f["nest"] else 1
    y, z = (wide(w.T if f["tb"] else w)[:k] for w in (b, d))
    want, terms = rounds * (x @ y), rounds * (np.abs(x) @ np.abs(y))
    if f["second"]:
        other, others = rounds * (x @ z), rounds * (np.abs(x) @ np.abs(z))
        if f["gate"]:
            want, terms = want * other, np.abs(want) * others + np.abs(other) * terms
        else:
            want, terms = want - other, terms + others
    if f["bias"]:
        want, terms = want + wide(bias), terms + np.abs(wide(bias))
    if f["most"]:
        for at in range(0, n, f["N"]):
            part = slice(at, at + f["N"])
            most = want[:, part].max(axis=1, keepdims=True)
            terms[:, part] += terms[:, part].max(axis=1, keepdims=True)
            want[:, part] += most
    args = dict(a=a, b=b, d=d, bias=bias, c=c, steps=k, rounds=rounds)
    return args, {"c": (want, allowed(want, terms, f["out"]))}


# A product whose right operand has few bits, and a scale for each group along k.


def draw_scaled(rng: Any, chip: str) -> Form:
    return tile(rng, chip) | {
        "bits": rng.choice([8, 8, 4]), "out": rng.choice(["f32", "bf16"]),
        "late": rng.random() < 0.3, "counted": rng.random() < 0.5,
    }  # fmt: skip


def places_scaled(f: Form) -> dict[str, Place]:
    places = {"x": Place("load", True), "w": Place("load", True), "s": Place("load", True)}
    if not f["late"]:
        places["u"] = Place("op", True)
    return places | {"d": Place("dot", True), "out": Place("store", False)}


def text_scaled(f: Form, p: Pin) -> str:
    m, n, k, few = f["M"], f["N"], f["K"], f["bits"] == 4
    steps = "steps" if f["counted"] else "a.shape[1]"
    w = (
        f"b.load((j * {n}, k // 2), ({n}, {k // 2}))"
        if few
        else f"b.load((j * {n}, k), ({n}, {k}))"
    )
    body = [f"x = {p('x', f'a.load((i * {m}, k), ({m}, {k}))')}", f"w = {p('w', w)}"]
    if few:
        body.append("w = kiln.bitcast(w, kiln.i4)")
    scale = f"scales.load((k // {k}, j * {n}), (1, {n}), squeeze=0)"
    body.append(f"s = {p('s', scale)}")
    if f["late"]:  # of the sum, not of the operand
        part = p("d", "kiln.dot(x, w.to(kiln.bf16), transpose_b=True)")
        body.append(f"acc = acc + {part} * s[None, :]")
    else:
        body.append(f"w = {p('u', 'w.to(kiln.f32) * s[:, None]')}")
        body.append(f"acc = {p('d', 'kiln.dot(x, w.to(kiln.bf16), acc, transpose_b=True)')}")
    lines = [
        f"i, j = kiln.grid(kiln.cdiv(c.shape[0], {m}), kiln.cdiv(c.shape[1], {n}))",
        p("kernel", ""), f"acc = kiln.zeros(({m}, {n}), kiln.f32)",
        f"for k in {p('loop', f'range(0, {steps}, {k})')}:", *indented(body),
        p("out", f"c.store((i * {m}, j * {n}), acc.to(c.dtype))"),
    ]  # fmt: skip
    return function("a, b, scales, c, steps: kiln.i32", lines)


def sizes_scaled(rng: Any, f: Form) -> dict[str, int]:
    return {
        "m": some(rng, f["M"]), "n": some(rng, f["N"]), "k": f["K"] * rng.choice([0, 1, 2, 3, 4, 6]),
    }  # fmt: skip


def run_scaled(rng: np.random.Generator, f: Form, size: dict) -> tuple[dict, dict]:
    m, n, k = size["m"], size["n"], size["k"]
    room = max(k, 4 * f["K"]) if f["counted"] else k
    a, scales = drawn(rng, "bf16", m, room), drawn(rng, "f32", max(room // f["K"], 1), n)
    least = -8 if f["bits"] == 4 else -128
    w = rng.integers(least, -least, (n, -(-room // 32) * 32)).astype(np.int8)
    b = w if f["bits"] == 8 else ((w[:, ::2] & 15) | (w[:, 1::2] << 4)).astype(np.int8)
    w, b = w[:, :room], b[:, : room * f["bits"] // 8]
    groups = np.repeat(wide(scales), f["K"], axis=0)[:room].T[:, :k]
    x, y = wide(a)[:, :k], wide(w)[:, :k]
    y = y * groups if f["late"] else wide((y * groups).astype(np.float32).astype(BF16))
    want, terms = x @ y.T, np.abs(x) @ np.abs(y).T
    c = empty(f["out"], m, n)
    args = dict(a=a, b=b, scales=scales, c=c, steps=k)
    return args, {"c": (want, allowed(want, terms, f["out"]))}


# Attention: two products with a softmax between them.


def draw_attention(rng: Any, chip: str) -> Form:
    sizes = tile(rng, chip)
    keys, head = rng.choice([32, 64, 64, 16]), rng.choice([64, 64, 32])
    if chip.startswith("gfx"):  # whose loops are written out once a slot: the host assembles long
        sizes["M"], keys, head = min(sizes["M"], 64), min(keys, 32), 32
    return {
        "M": sizes["M"], "B": keys, "D": head,
        "causal": rng.random() < 0.3, "whole": rng.random() < 0.4,
        "out": rng.choice(["f32", "bf16"]),
    }  # fmt: skip


def places_attention(f: Form) -> dict[str, Place]:
    places = {"q": Place("load", False), "k": Place("load", True), "s": Place("dot", True)}
    if f["causal"]:
        places["if"] = Place("if", True)
    return places | {
        "m": Place("op", True), "p": Place("op", True), "t": Place("op", True),
        "v": Place("load", True), "o": Place("dot", True), "out": Place("store", False),
    }  # fmt: skip


def text_attention(f: Form, p: Pin) -> str:
    m, b, d = f["M"], f["B"], f["D"]
    body = [
        f"y = {p('k', f'k.load((j, 0), ({b}, {d}))')}",
        f"s = {p('s', 'kiln.dot(x, y, transpose_b=True)')}",
    ]
    if f["causal"]:
        body += [
            f"if {p('if', f'j + {b} > i * {m}')}:",
            f"    sees = (j.to(kiln.i32) + kiln.arange({b}))[None, :] <= own[:, None]",
            "    s = kiln.where(sees, s, -1000.0)",
        ]
    elif not f["whole"]:
        body += [
            f"sees = (j.to(kiln.i32) + kiln.arange({b}))[None, :] < k.shape[0].to(kiln.i32)",
            "s = kiln.where(sees, s, -1000.0)",
        ]
    total = "total * shrink + kiln.sum(w, axis=1)"
    body += [
        f"most = {p('m', 'kiln.maximum(largest, kiln.max(s, axis=1))')}",
        "shrink = kiln.exp2(largest - most)",
        f"w = {p('p', 'kiln.exp2(s - most[:, None])')}",
        f"total = {p('t', total)}",
        "largest = most",
        f"z = {p('v', f'v.load((j, 0), ({b}, {d}))')}",
        f"acc = {p('o', 'kiln.dot(w.to(kiln.bf16), z, acc * shrink[:, None])')}",
    ]
    end = f"kiln.minimum(k.shape[0], i * {m} + {m})" if f["causal"] else "k.shape[0]"
    lines = [
        f"i = kiln.grid(kiln.cdiv(c.shape[0], {m}))", p("kernel", ""),
        f"x = {p('q', f'q.load((i * {m}, 0), ({m}, {d}))')}",
        f"own = i.to(kiln.i32) * {m} + kiln.arange({m})",
        f"acc = kiln.zeros(({m}, {d}), kiln.f32)",
        f"largest = kiln.full(({m},), -1000.0, kiln.f32)",
        f"total = kiln.zeros(({m},), kiln.f32)",
        f"for j in {p('loop', f'range(0, {end}, {b})')}:", *indented(body),
        "mean = acc / kiln.maximum(total, 1e-20)[:, None]",
        p("out", f"c.store((i * {m}, 0), mean.to(c.dtype))"),
    ]  # fmt: skip
    return function("q, k, v, c", lines)


def sizes_attention(rng: Any, f: Form) -> dict[str, int]:
    trips = rng.choice([0, 1, 1, 2, 3, 4, 6])
    keys = trips * f["B"] if f["whole"] or f["causal"] else aligned(rng, trips, f["B"])
    return {"rows": some(rng, f["M"]), "keys": keys}


def run_attention(rng: np.random.Generator, f: Form, size: dict) -> tuple[dict, dict]:
    rows, keys, d = size["rows"], size["keys"], f["D"]
    q, k, v = (drawn(rng, "bf16", n, d) for n in (rows, keys, keys))
    q = (0.2 * wide(q)).astype(BF16)
    scores = wide(q) @ wide(k).T
    if f["causal"]:
        scores = np.where(np.arange(keys)[None, :] <= np.arange(rows)[:, None], scores, -np.inf)
    if keys:
        weights = np.exp2(scores - scores.max(axis=1, keepdims=True))
        weights = weights / weights.sum(axis=1, keepdims=True)
    else:
        weights = np.zeros((rows, 0))
    want, terms = weights @ wide(v), weights @ np.abs(wide(v))
    args = dict(q=q, k=k, v=v, c=empty(f["out"], rows, d))
    return args, {"c": (want, allowed(want, terms, f["out"], off=2.0**-7))}


# Segments whose bounds are loaded: sums, running sums, and products of what they hold.


def draw_ragged(rng: Any, chip: str) -> Form:
    what = rng.choice(["sum", "scan", "product", "product"])
    sizes = tile(rng, chip)
    if what != "product":
        sizes |= {"M": 1, "N": rng.choice([32, 64, 128])}
    return sizes | {"what": what, "masked": rng.random() < 0.5}


def places_ragged(f: Form) -> dict[str, Place]:
    places = {"first": Place("load", False), "last": Place("load", False), "x": Place("load", True)}
    if f["what"] == "product":
        places["y"] = Place("load", True)
    if f["masked"]:
        places["mask"] = Place("op", True)
    work = {"sum": Place("op", True), "scan": Place("op", True), "product": Place("dot", True)}
    places["d"] = work[f["what"]]
    if f["what"] == "scan":
        places["each"] = Place("store", True)
    return places | {"out": Place("store", False)}


def text_ragged(f: Form, p: Pin) -> str:
    m, n, k, what = f["M"], f["N"], f["K"], f["what"]
    wide_x = m if what == "product" else n
    column = f"i * {m}" if what == "product" else "0"
    body = [f"x = {p('x', f'a.load((t, {column}), ({k}, {wide_x}))')}"]
    if what == "product":
        body.append(f"y = {p('y', f'b.load((t, 0), ({k}, {n}))')}")
    if f["masked"]:
        body.append(f"inside = t.to(kiln.i32) + kiln.arange({k}) < last.to(kiln.i32)")
        body.append(f"x = {p('mask', 'kiln.where(inside[:, None], x, 0.0)')}")
    if what == "product":
        body.append(f"acc = {p('d', 'kiln.dot(x, y, acc, transpose_a=True)')}")
        grid, zeros, out = f"kiln.cdiv(c.shape[1], {m}), c.shape[0]", f"({m}, {n})", (
            f"c.store((g, i * {m}, 0), acc[None, :, :])")  # fmt: skip
    else:
        if what == "scan":
            running = "acc[None, :] + kiln.cumsum(x, axis=0)"
            body.append(f"sums = {p('d', running)}")
            body.append(p("each", "r.store((t, 0), sums)"))
            body.append("acc = acc + kiln.sum(x, axis=0)")
        else:
            body.append(f"acc = {p('d', 'acc + kiln.sum(x, axis=0)')}")
        grid, zeros, out = "1, c.shape[0]", f"({n},)", "c.store((g, 0), acc[None, :])"
    lines = [
        f"i, g = kiln.grid({grid})", p("kernel", ""),
        f"first = {p('first', 'bounds.load((g,), (1,), squeeze=True)')}",
        f"last = {p('last', 'bounds.load((g + 1,), (1,), squeeze=True)')}",
        f"acc = kiln.zeros({zeros}, kiln.f32)",
        f"for t in {p('loop', f'range(first, last, {k})')}:", *indented(body), p("out", out),
    ]  # fmt: skip
    return function("a, b, bounds, r, c", lines)


def sizes_ragged(rng: Any, f: Form) -> dict[str, int]:
    return {"groups": rng.randint(1, 4), "trips": rng.choice([0, 1, 2, 5]), "m": some(rng, f["M"])}


def run_ragged(rng: np.random.Generator, f: Form, size: dict) -> tuple[dict, dict]:
    m, n, k, groups = size["m"], f["N"], f["K"], size["groups"]
    rows = rng.integers(0, size["trips"] + 1, groups) * k
    if f["masked"] and f["what"] != "scan":  # a running sum is stored where it is not masked
        rows = np.maximum(rows - rng.integers(0, k, groups), 0)
    bounds = np.concatenate([[0], np.cumsum(rows)]).astype(np.int32)
    total = int(bounds[-1])
    dtype = "bf16" if f["what"] == "product" else "f32"
    a = drawn(rng, dtype, total, -(-m // 8) * 8 if f["what"] == "product" else n)
    b = drawn(rng, "bf16", total, n)
    r, runs, runs_terms = empty("f32", total, n), np.zeros((total, n)), np.zeros((total, n))
    want, terms = [], []
    for g in range(groups):
        part = slice(bounds[g], bounds[g + 1])
        x = wide(a[part])
        if f["what"] == "product":
            y = wide(b[part])
            want.append((x.T @ y)[:m])
            terms.append((np.abs(x).T @ np.abs(y))[:m])
        else:
            want.append(x.sum(axis=0))
            terms.append(np.abs(x).sum(axis=0))
            runs[part], runs_terms[part] = np.cumsum(x, axis=0), np.cumsum(np.abs(x), axis=0)
    want, terms = np.array(want), np.array(terms)
    outputs = {"c": (want, allowed(want, terms, "f32"))}
    if f["what"] == "scan":
        outputs["r"] = (runs, allowed(runs, runs_terms, "f32"))
    return dict(a=a, b=b, bounds=bounds, r=r, c=empty("f32", *want.shape)), outputs


# Rows that are gathered, multiplied, and scattered where they came from.


def draw_routed(rng: Any, chip: str) -> Form:
    return tile(rng, chip) | {
        "pages": rng.random() < 0.3, "scatter": rng.choice(["scatter", "scatter", "add", "store"]),
        "out": "f32", "counted": rng.random() < 0.5,
    }  # fmt: skip


def places_routed(f: Form) -> dict[str, Place]:
    return {
        "at": Place("load", f["pages"]), "x": Place("gather", True), "y": Place("load", True),
        "d": Place("dot", True),
        "out": Place("atomic" if f["scatter"] == "add" else "store", False),
    }  # fmt: skip


def text_routed(f: Form, p: Pin) -> str:
    m, n, k = f["M"], f["N"], f["K"]
    end = "steps" if f["counted"] else ("rows.shape[0]" if f["pages"] else "a.shape[1]")
    if f["pages"]:  # each trip has rows of its own
        at, before = p("at", f"rows.load((k,), ({k},))"), []
        x = f"a.gather((at[:, None], i * {m} + kiln.arange({m})[None, :]))"
        ways = "transpose_a=True, transpose_b=True"
        loop = [f"at = {at}"]
    else:
        before = [f"at = {p('at', f'rows.load((i * {m},), ({m},))')}"]
        x = f"a.gather((at[:, None], k + kiln.arange({k})[None, :]))"
        ways, loop = "transpose_b=True", []
    loop += [
        f"x = {p('x', x)}", f"y = {p('y', f'b.load((j * {n}, k), ({n}, {k}))')}",
        f"acc = {p('d', f'kiln.dot(x, y, acc, {ways})')}",
    ]  # fmt: skip
    places = f"(to[:, None], j * {n} + kiln.arange({n})[None, :])"
    store = {
        "store": f"c.store((i * {m}, j * {n}), acc)",
        "scatter": f"c.scatter({places}, acc)",
        "add": f"kiln.atomic_add(c, {places}, acc)",
    }[f["scatter"]]
    ends = [] if f["scatter"] == "store" else [f"to = places.load((i * {m},), ({m},), pad=-1)"]
    lines = [
        f"i, j = kiln.grid(kiln.cdiv(c.shape[0], {m}), kiln.cdiv(c.shape[1], {n}))",
        p("kernel", ""), *before, f"acc = kiln.zeros(({m}, {n}), kiln.f32)",
        f"for k in {p('loop', f'range(0, {end}, {k})')}:", *indented(loop), *ends,
        p("out", store),
    ]  # fmt: skip
    return function("a, b, rows, places, c, steps: kiln.i32", lines)


def sizes_routed(rng: Any, f: Form) -> dict[str, int]:
    return {
        "m": some(rng, f["M"]), "n": some(rng, f["N"]), "all": rng.randint(1, 60),
        "k": f["K"] * rng.choice([0, 1, 2, 3, 5]),
    }  # fmt: skip


def run_routed(rng: np.random.Generator, f: Form, size: dict) -> tuple[dict, dict]:
    m, n, k, every = size["m"], size["n"], size["k"], size["all"]
    room = max(k, 6 * f["K"]) if f["counted"] else k
    a = drawn(rng, "bf16", every, -(-m // 8) * 8 if f["pages"] else room)
    b = drawn(rng, "bf16", n, room)
    rows = rng.integers(0, every, room if f["pages"] else m).astype(np.int32)
    places = rng.permutation(m).astype(np.int32)
    x = wide(a)[rows[:k]].T[:m] if f["pages"] else wide(a)[rows][:, :k]
    y = wide(b)[:, :k]
    want, terms = x @ y.T, np.abs(x) @ np.abs(y).T
    c = empty("f32", m, n)
    if f["scatter"] == "add":
        c[...] = drawn(rng, "f32", m, n)
    if f["scatter"] != "store":
        back = np.argsort(places)
        want, terms = want[back], terms[back]
        if f["scatter"] == "add":
            want = want + wide(c)
    args = dict(a=a, b=b, rows=rows, places=places, c=c, steps=k)
    return args, {"c": (want, allowed(want, terms, "f32"))}


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines if line]


def function(parameters: str, lines: list[str]) -> str:
    return "\n".join(["@kiln.kernel", f"def kernel({parameters}):", *indented(lines), ""])


KERNELS = {
    "product": Kernel(draw_product, places_product, text_product, sizes_product, run_product),
    "scaled": Kernel(draw_scaled, places_scaled, text_scaled, sizes_scaled, run_scaled),
    "attention": Kernel(
        draw_attention,
        places_attention,
        text_attention,
        sizes_attention,
        run_attention,
        {"keys": "B"},
    ),  # fmt: skip
    "ragged": Kernel(
        draw_ragged, places_ragged, text_ragged, sizes_ragged, run_ragged, {"trips": ""}
    ),
    "routed": Kernel(draw_routed, places_routed, text_routed, sizes_routed, run_routed),
}
