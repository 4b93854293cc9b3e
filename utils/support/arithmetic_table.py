#!/usr/bin/env python3
"""Compiles each op in each type to the final code of each class of chip and says what it came to.

    PYTHONPATH=build/python utils/support/arithmetic_table.py     the tables of
                                                                  docs/rationale/arithmetic.md
    PYTHONPATH=build/python utils/support/arithmetic_table.py 'divf f16'     one cell's instructions

A cell is `I`, one instruction of the chip, `K`, explicit in Kiln's IR, or `X`, several that LLVM's
code generator makes after it.
"""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test/python"))
from arithmetic_cells import CELLS, CHIPS, FLOATS, INTEGERS, final_code, instructions


def is_explicit(name: str, chip: str) -> bool:
    """Whether Kiln takes the op apart itself before LLVM sees it."""
    op, source, *more = name.split()
    if op in ("sitofp", "uitofp"):
        return source in ("i64", "i32") and more[0] in ("f16", "bf16")
    if op == "truncf":
        return source == "f64" and more[0] != "f32"
    if op in ("exp", "log", "log2") and not chip.startswith("gfx"):
        return True
    return op == "remf" or (op == "fma" and source == "bf16" and chip.startswith("gfx"))


def judge(name: str, chip: str) -> str:
    if is_explicit(name, chip):
        return "K"
    found = instructions(final_code(CELLS[name], chip), chip)
    return "I" if len(found) <= 1 and not any("_cmp_" in one for one in found) else "X"


def row(title: str, names: list[str]) -> str:
    cells = [
        " ".join(judge(name, chip) if name in CELLS else "-" for name in names) for chip in CHIPS
    ]
    return f"| `{title}` | " + " | ".join(cells) + " |"


def print_table(head: str, rows: list[tuple[str, list[str]]]) -> None:
    print(f"| {head} | " + " | ".join(CHIPS) + " |")
    print("|---" * (len(CHIPS) + 1) + "|")
    for title, names in rows:
        print(row(title, names), flush=True)
    print()


def main() -> None:
    if len(sys.argv) > 1:
        for chip in CHIPS:
            found = Counter(instructions(final_code(CELLS[sys.argv[1]], chip), chip))
            print(f"{chip:8}", " ".join(f"{n}x{c}" if c > 1 else n for n, c in found.items()))
        return
    ops = dict.fromkeys(name.split()[0] for name in CELLS)
    of_integers = ("divsi", "divui", "remsi", "remui", "muli")
    conversions = ("sitofp", "uitofp", "fptosi", "fptoui", "truncf", "extf")
    plain = [op for op in ops if op not in (*of_integers, *conversions)]
    rows = [(op, [f"{op} {f}" for f in FLOATS]) for op in plain]
    print_table("op (f64 f32 f16 bf16)", [row for row in rows if row[1][0] in CELLS])
    print_table("op (f32)", [row for row in rows if row[1][0] not in CELLS])
    rows = [(op, [f"{op} {i}" for i in INTEGERS]) for op in of_integers]
    print_table("op (i64 i32 i16 i8)", rows)
    for pair, head in ((conversions[:2], "integer to (from"), (conversions[2:4], "float from (to")):
        rows = []
        for op in pair:
            for f in FLOATS:
                ends = [(i, f) if head.startswith("integer") else (f, i) for i in INTEGERS]
                rows.append((f"{op} {f}", [f"{op} {a} {b}" for a, b in ends]))
        print_table(f"{head} i64 i32 i16 i8)", rows)
    rows = [(name, [name]) for name in CELLS if name.split()[0] in ("truncf", "extf")]
    print_table("float to float", rows)


if __name__ == "__main__":
    main()
