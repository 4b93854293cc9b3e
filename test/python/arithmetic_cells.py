"""Kernels of one op in one type, a cell of the table in docs/rationale/arithmetic.md, and their
final code on a chip."""

from __future__ import annotations

import re

from kiln import _native

FLOATS, INTEGERS = ("f64", "f32", "f16", "bf16"), ("i64", "i32", "i16", "i8")
PRECISION = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}
CHIPS = ("sm_80", "sm_90a", "sm_100a", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
Cell = tuple[list[str], str, str]  # operands' types, the op's text, the result's type


def make_cells() -> dict[str, Cell]:
    cells: dict[str, Cell] = {}

    def add(name: str, op: str, operands: list[str], result: str) -> None:
        names = ", ".join(f"%a{i}" for i in range(len(operands)))
        types = f"tensor<32x{operands[0]}>"
        if result != operands[0]:
            types += f" to tensor<32x{result}>"
        cells[name] = operands, f"%r = {op} {names} : {types}", result

    for f in FLOATS:
        for op in (
            "addf",
            "subf",
            "mulf",
            "divf",
            "remf",
            "maximumf",
            "minimumf",
            "maxnumf",
            "minnumf",
        ):
            add(f"{op} {f}", f"arith.{op}", [f, f], f)
        for op in ("sqrt", "floor", "ceil", "trunc", "roundeven"):
            add(f"{op} {f}", f"math.{op}", [f], f)
        add(f"fma {f}", "math.fma", [f, f, f], f)
        for i in INTEGERS:
            for op in ("sitofp", "uitofp"):
                add(f"{op} {i} {f}", f"arith.{op}", [i], f)
            for op in ("fptosi", "fptoui"):
                add(f"{op} {f} {i}", f"arith.{op}", [f], i)
        for g in FLOATS:
            if PRECISION[f] > PRECISION[g] and (f, g) != ("f16", "bf16"):
                add(f"truncf {f} {g}", "arith.truncf", [f], g)
                add(f"extf {g} {f}", "arith.extf", [g], f)
    for op in ("exp", "exp2", "log", "log2", "rsqrt"):
        add(f"{op} f32", f"math.{op}", ["f32"], "f32")
    for i in INTEGERS:
        for op in ("divsi", "divui", "remsi", "remui", "muli"):
            add(f"{op} {i}", f"arith.{op}", [i, i], i)
    return cells


CELLS = make_cells()


def final_code(cell: Cell, chip: str) -> str:
    """The assembly of a cell's kernel, one element a thread."""
    operands, body, result = cell
    views = {f"a{i}": f"!tile.view<1024x{element}>" for i, element in enumerate(operands)}
    out = f"!tile.view<1024x{result}>"
    loads = "\n".join(
        f"%{name} = tile.load %{name}_view[%at] : {view} -> tensor<32x{element}>"
        for (name, view), element in zip(views.items(), operands, strict=True)
    )
    arguments = ", ".join(
        [*(f"%{name}_view: {view}" for name, view in views.items()), f"%out: {out}"]
    )
    text = f"""tile.kernel @k({arguments}) attributes {{tile.warps = 1 : i32}} {{
    %p = tile.program_id x
    %size = arith.constant 32 : index
    %at = arith.muli %p, %size : index
    {loads}
    {body}
    tile.store %r, %out[%at] : tensor<32x{result}>, {out}
    tile.return
    }}
    """
    target = ("amdgpu:" if chip.startswith("gfx") else "nvptx:") + chip
    request = {"source": text, "target": target, "isolation": 0, "keep_stages": ["asm"]}
    artifact, _, _ = _native.compile(None, None, request)
    return bytes(artifact.section("asm")).decode()


def instructions(assembly: str, chip: str) -> list[str]:
    """Those that compute with floats, convert, or divide; in the order of the code."""
    if chip.startswith("gfx"):
        body = assembly[assembly.index("\nk:") : assembly.index("s_endpgm")]
        names = re.findall(r"\b((?:v|s)_\w+)", body)
        names = [re.sub(r"_(e32|e64|sdwa|dpp)$", "", name).replace("_dual", "") for name in names]
        return [
            n for n in names if re.search(r"_(f16|f32|f64|bf16)|ffbh|clz|cls|mul_hi|mad_u64", n)
        ]
    body = assembly[assembly.index(".entry") :]
    names = re.findall(r"^\s+(?:@\S+ )?([a-z]\w*\.[\w.:]+)", body, re.M)
    kept = r"(cvt|add|sub|mul|div|rem|fma|max|min|sqrt|rsqrt|rcp|ex2|lg2|testp)\b.*\.(f16|f32|f64|bf16)"
    divides = r"(div|rem|mul\.lo)\.[su](16|32|64)$"
    return [n for n in names if re.match(kept, n) or re.match(divides, n)]
