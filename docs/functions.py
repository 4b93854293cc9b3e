#!/usr/bin/env python3
"""Writes docs/reference/functions.md from the docstrings of the language and of the host's side,
and docs/reference/ops.md from those of `kiln.ops`.

    docs/functions.py            writes the pages
    docs/functions.py --check    exit code 1 if that would change one: what the tests run

A docstring says what the function means, then gives an `Example:` and names the `Errors:`. The
example is one statement of a kernel that starts as `PREAMBLE` does (of `grid`, which comes before
all that a program knows, it is the first); the tests compile each. What kernels are made, launched
and annotated with follows in `HOST`, then dtypes and numbers: every name of `kiln` is on the page.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import kiln
from kiln import language, ops
from kiln.runtime.kernel import KernelHalf

PAGE = Path(__file__).resolve().parent / "reference" / "functions.md"
OPS_PAGE = PAGE.with_name("ops.md")
# What the page calls the modules of the language, in its order.
SECTIONS = {
    "program": "Programs, checks and facts",
    "schedule": "Schedules",
    "tiles": "Memory, products, reductions, order and shape",
    "elementwise": "Creating, converting, computing",
    "statistics": "Statistics",
    "activations": "Activations",
    "mathematics": "Mathematics",
    "bits": "Bits",
    "matrices": "Matrices and grids",
}
# The other names, by what they are for.
HOST = {
    "Making kernels": (
        "kernel", "function", "constexpr", "tunable", "autotune", "Kernel", "CompiledKernel",
        "LoadedKernel", "Function",
    ),
    "What values are annotated with": (
        "View", "ViewSpec", "Pointer", "PointerSpec", "Tensor", "DType", "PackedArray",
    ),
    "Devices and launches": (
        "device", "devices", "synchronize", "targets", "on_launch", "LaunchEvent",
    ),
    "Kernels that are there": ("ops",),
    "The cache, and embedding": ("cache", "get_include", "__version__"),
    "Errors": (
        "CompileError", "UnsupportedError", "WorkerError", "LaunchError", "DeviceError",
        "DeviceAssertError", "CacheError",
    ),
}  # fmt: skip
# What users call of a module, and of what a kernel is beside its launches.
MEMBERS = {
    "cache": (kiln.cache, ("use", "describe", "specialisations", "set_max_specialisations")),
    "Kernel": (KernelHalf, ("compile", "options", "warmup")),
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
    return f"kiln.{name}{plain_signature(inspect.unwrap(getattr(language, name)))}"


def functions() -> dict[str, list[str]]:
    """The functions of each section."""
    out: dict[str, list[str]] = {}
    for section in SECTIONS:
        module = getattr(language, section)
        names = [n for n in module.__all__ if hasattr(getattr(module, n), "__kiln_intrinsic__")]
        out[section] = sorted(names)
    return out


def dtypes() -> list[str]:
    """The names of the element types, as the table has them."""
    kinds = ("bool", "int", "uint", "index", "float")
    found = [n for n in kiln.__all__ if isinstance(getattr(kiln, n), kiln.DType)]
    return sorted(found, key=lambda n: (kinds.index(getattr(kiln, n).kind), getattr(kiln, n).bits))


def numbers() -> list[str]:
    return [n for n in kiln.__all__ if isinstance(getattr(kiln, n), float)]


def names() -> list[str]:
    """Every name that stands on the page."""
    listed = [*functions().values(), *HOST.values(), dtypes(), numbers()]
    return [name for some in listed for name in some]


def title(name: str) -> str:
    """What heads the paragraph of a name: that of a class says so, as `kernel` and `Kernel` would
    be one anchor."""
    if isinstance(getattr(kiln, name), type):
        return f"class {name}"
    return f"`{name}`" if name.startswith("_") else name


def anchor(name: str) -> str:
    return title(name).lower().replace(" ", "-").strip("`")


def markdown(text: str) -> list[str]:
    """A docstring's lines: a block of names and what they are is a list, an indented one code."""
    lines: list[str] = []
    for block in text.split("\n\n"):
        rows = block.splitlines()
        if all(row.startswith("    ") for row in rows):
            lines += ["```python", *(row[4:] for row in rows), "```", ""]
        elif re.match(r"\S+(, \S+)*  +\S", rows[0]):
            for row in rows:
                item = re.match(r"(\S+(?:, \S+)*)(?:  +(.*))?$", row)
                if item:
                    said = ", ".join(f"`{each}`" for each in item[1].split(", "))
                    lines.append(f"- {said}: {item[2] or ''}".rstrip())
                else:
                    lines.append("  " + row.strip())
            lines.append("")
        else:
            lines += [*rows, ""]
    return lines


def members(name: str) -> list[str]:
    """The methods of a class and the functions of a module, with the first sentence of each."""
    value, chosen = MEMBERS.get(name, (getattr(kiln, name), None))
    if chosen is None:
        chosen = sorted(vars(value)) if isinstance(value, type) else ()
    lines = []
    for each in chosen:
        member = inspect.getattr_static(value, each)
        if each.startswith("_") or hasattr(member, "__kiln_intrinsic__"):
            continue
        if isinstance(member, property):
            shown, member = each, member.fget
        elif inspect.isfunction(member):
            shown = f"{each}{plain_signature(member)}"
        else:
            continue
        said = inspect.cleandoc(member.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        if said:
            lines.append(f"- `.{shown}`: {said}")
    return [*lines, ""] if lines else []


def plain_signature(function) -> str:
    """A signature without annotations, nor the receiver of a method."""
    shown = [
        p.replace(annotation=inspect.Parameter.empty)
        for p in inspect.signature(function).parameters.values()
        if p.name != "self"
    ]
    return str(inspect.Signature(shown))


def host_part(name: str) -> list[str]:
    """The paragraph of a name of the host's side."""
    value = getattr(kiln, name)
    lines = [f"### {title(name)}", ""]
    if name == "__version__":
        return [*lines, "The version of Kiln, as a string.", ""]
    function = inspect.unwrap(value)
    if inspect.isfunction(function):
        lines += [f"`kiln.{name}{plain_signature(function)}`", ""]
    bases = [base.__name__ for base in getattr(value, "__bases__", ())]
    if isinstance(value, type) and issubclass(value, Exception):
        lines += [f"A kind of `{bases[0]}`.", ""]
    return [*lines, *markdown(inspect.getdoc(value) or ""), *members(name)]


def dtype_table() -> list[str]:
    lines = ["## Element types", "", "| name | kind | bits | exponent, mantissa | infinity |"]
    lines += ["|---|---|---|---|---|"]
    for name in dtypes():
        t = getattr(kiln, name)
        fields = f"{t.exponent}, {t.mantissa}" if t.is_float else ""
        infinity = ("yes" if t.infinity else "no") if t.is_float else ""
        lines.append(f"| `kiln.{name}` | {t.kind} | {t.bits} | {fields} | {infinity} |")
    shown = ", ".join(f"`kiln.{name}`" for name in numbers())
    return [*lines, "", f"Numbers: {shown}.", ""]


def render() -> str:
    lines = [
        "# All functions",
        "",
        "Written by `docs/functions.py` from the docstrings that `help(kiln.NAME)` shows: first",
        "the functions of kernels, then all else that `kiln` has. Each example is a statement of a",
        "kernel that starts like this (that of `grid` takes the place of the first statement):",
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
    for section, names in HOST.items():
        links = ", ".join(f"[{title(name).split()[-1]}](#{anchor(name)})" for name in names)
        lines += [f"**{section}**: {links}", ""]
    lines += ["**[Element types](#element-types)**", ""]
    for section, names in sections.items():
        lines += [f"## {SECTIONS[section]}", ""]
        for name in names:
            meaning, example, errors = parts(name)
            lines += [f"### {name}", "", f"`{signature(name)}`", "", *meaning.splitlines(), ""]
            lines += ["```python", example, "```", "", f"Errors: {errors}", ""]
    for section, names in HOST.items():
        lines += [f"## {section}", ""]
        for name in names:
            lines += host_part(name)
    lines += dtype_table()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def op_part(module: str, function) -> list[str]:
    """The paragraph of a function of `kiln.ops`."""
    name = function.__name__
    shown = f"{module}.{name}{plain_signature(function)}"
    return [f"### {name}", "", f"`{shown}`", "", *markdown(inspect.getdoc(function) or "")]


def render_ops() -> str:
    named = {name: getattr(ops, name) for name in ops.__all__}
    functions = [value for value in named.values() if inspect.isfunction(value)]
    steps = [getattr(ops.epilogues, name) for name in ops.epilogues.__all__]
    steps = [value for value in steps if inspect.isfunction(value)]
    lines = [
        "# The kernels of kiln.ops",
        "",
        "Written by `docs/functions.py` from the docstrings that `help(kiln.ops.NAME)` shows; how",
        "they are used stands in [ops](../ops.md).",
        "",
        ", ".join(f"[{f.__name__}](#{f.__name__})" for f in [*functions, *steps]),
        "",
        "## Functions",
        "",
        *(line for function in functions for line in op_part("ops", function)),
        "## Epilogues",
        "",
        *markdown(inspect.getdoc(ops.epilogues) or ""),
        *(line for function in steps for line in op_part("epilogues", function)),
        "### Epilogue",
        "",
        *markdown(inspect.getdoc(ops.Epilogue) or ""),
        "### Place",
        "",
        *markdown(inspect.getdoc(ops.epilogues.Place) or ""),
    ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def main(arguments: list[str]) -> int:
    if set(arguments) - {"--check"}:
        print(__doc__)
        return 2
    pages = {PAGE: render(), OPS_PAGE: render_ops()}
    if arguments:
        return int(any(page.read_text(encoding="utf-8") != text for page, text in pages.items()))
    for page, text in pages.items():
        page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
