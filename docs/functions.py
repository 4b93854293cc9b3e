#!/usr/bin/env python3
"""Writes docs/reference/functions.md from the docstrings of the language.

    docs/functions.py            writes the page
    docs/functions.py --check    exit code 1 if that would change it: what the tests run

A docstring says what the function means, then gives an `Example:` and names the `Errors:`. The
example is one statement of a kernel that starts as `PREAMBLE` does (of `grid`, which comes before
all that a program knows, it is the first); the tests compile each.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

from kiln import language

PAGE = Path(__file__).resolve().parent / "reference" / "functions.md"
# What the page calls the modules of the language, in its order.
SECTIONS = {
    "program": "Programs, checks and facts",
    "tiles": "Memory, products, reductions, order and shape",
    "elementwise": "Creating, converting, computing",
    "statistics": "Statistics",
    "activations": "Activations",
    "mathematics": "Mathematics",
    "bits": "Bits",
    "matrices": "Matrices and grids",
}
PREAMBLE = """\
@kiln.kernel
def example(
    view: kiln.View[kiln.f32, 2], out: kiln.View[kiln.f32, 2], v: kiln.View[kiln.f32, 1],
    counts: kiln.View[kiln.i32, 1], p: kiln.Pointer[kiln.f32], n: kiln.i32, seed: kiln.i64,
):
    i, j = kiln.program_id(0), kiln.program_id(1)
    x = view.load((i * 16, j * 16), (16, 16))
    y = x * 2.0
    k = kiln.arange(16)
    f8, scales = kiln.zeros((32, 32), kiln.f8e4m3fn), kiln.ones((32, 1), kiln.f8e8m0fnu)
"""


def parts(name: str) -> tuple[str, str, str]:
    """What a function means, its example and its errors; each "" if the docstring lacks it."""
    text = inspect.cleandoc(getattr(language, name).__doc__ or "")
    meaning, _, errors = text.partition("\n\nErrors: ")
    meaning, _, example = meaning.partition("\n\nExample: ")
    return meaning, example.strip("`"), errors.replace("\n", " ")


def signature(name: str) -> str:
    """The signature as a caller reads it, without annotations."""
    function = inspect.unwrap(getattr(language, name))
    shown = [
        p.replace(annotation=inspect.Parameter.empty)
        for p in inspect.signature(function).parameters.values()
    ]
    return f"kiln.{name}{inspect.Signature(shown)}"


def functions() -> dict[str, list[str]]:
    """The functions of each section."""
    out: dict[str, list[str]] = {}
    for section in SECTIONS:
        module = getattr(language, section)
        names = [n for n in module.__all__ if hasattr(getattr(module, n), "__kiln_intrinsic__")]
        out[section] = sorted(names)
    return out


def render() -> str:
    lines = [
        "# All functions",
        "",
        "Written by `docs/functions.py` from the docstrings that `help(kiln.NAME)` shows. Each",
        "example is a statement of a kernel that starts like this (that of `grid` takes the place",
        "of the first statement):",
        "",
        "```python",
        *PREAMBLE.splitlines(),
        "```",
        "",
    ]
    sections = functions()
    for section, names in sections.items():
        links = ", ".join(f"[{name}](#{name})" for name in names)
        lines += [f"**{SECTIONS[section]}**: {links}", ""]
    for section, names in sections.items():
        lines += [f"## {SECTIONS[section]}", ""]
        for name in names:
            meaning, example, errors = parts(name)
            lines += [f"### {name}", "", f"`{signature(name)}`", "", *meaning.splitlines(), ""]
            lines += ["```python", example, "```", "", f"Errors: {errors}", ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def main(arguments: list[str]) -> int:
    if set(arguments) - {"--check"}:
        print(__doc__)
        return 2
    text = render()
    if arguments:
        return 0 if PAGE.read_text(encoding="utf-8") == text else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
