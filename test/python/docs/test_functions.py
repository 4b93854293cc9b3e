"""The page of all functions is of the docstrings, and each says what it means, with an example that
compiles and the errors."""

from __future__ import annotations

import importlib.util
import inspect
import linecache
from pathlib import Path

import pytest

import kiln
from kiln import language
from kiln.frontend import KernelSource, PointerType, ScalarType, ViewType

DOCS = Path(__file__).resolve().parents[3] / "docs"
spec = importlib.util.spec_from_file_location("functions", DOCS / "functions.py")
pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pages)

EVERY = sorted(name for names in pages.functions().values() for name in names)
ARGUMENTS = {
    "view": ViewType(kiln.f32, (None, None)), "out": ViewType(kiln.f32, (None, None)),
    "v": ViewType(kiln.f32, (None,)), "counts": ViewType(kiln.i32, (None,)),
    "p": PointerType(kiln.f32), "n": ScalarType(kiln.i32), "seed": ScalarType(kiln.i64),
}  # fmt: skip


def test_every_function_stands_in_a_section():
    declared = {n for n in language.__all__ if hasattr(getattr(language, n), "__kiln_intrinsic__")}
    assert declared == set(EVERY)
    listed = pages.names()
    assert sorted(listed) == sorted(set(kiln.__all__)), "docs/functions.py: HOST lacks a name"
    text = pages.PAGE.read_text(encoding="utf-8")
    for name in listed:
        heading, cell = f"\n### {pages.title(name)}\n", f"`kiln.{name}`"
        assert heading in text or cell in text, name


def test_anchors_are_of_one_heading_each():
    import re

    text = pages.PAGE.read_text(encoding="utf-8")
    headings = [
        h.lower().replace(" ", "-").strip("`") for h in re.findall(r"^##+ (.*)$", text, re.M)
    ]
    assert len(headings) == len(set(headings))
    anchors = re.findall(r"\]\(#([^)]*)\)", text)
    assert set(anchors) <= set(headings)


def test_the_page_is_of_the_docstrings():
    assert pages.main(["--check"]) == 0, "run docs/functions.py"


@pytest.mark.parametrize("name", EVERY)
def test_function_says_what_it_means_with_an_example_and_errors(name):
    meaning, example, errors = pages.parts(name)
    assert len(meaning) > 10 and f"{name}(" in example and errors.endswith(".")
    text = f"{pages.PREAMBLE}    {example}\n".replace("@kiln.kernel\n", "")
    if name == "grid":  # it takes the place of the first statement
        first = "i, j = kiln.program_id(0), kiln.program_id(1)"
        text = text.replace(f"    {example}\n", "").replace(first, example)
        assert example in text
    file = f"<example of {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"kiln": kiln}
    exec(compile(text, file, "exec"), scope)
    assert "tile.kernel" in KernelSource(scope["example"]).lower(
        ARGUMENTS, grid_pinned=name != "grid"
    )


def test_every_kernel_of_ops_has_its_paragraph():
    text = pages.OPS_PAGE.read_text(encoding="utf-8")
    for module in (kiln.ops, kiln.ops.epilogues):
        for name in module.__all__:
            value = getattr(module, name)
            if name not in ("epilogues", "matrix_of"):
                assert f"\n### {name}\n" in text and len(value.__doc__) > 10, name
    functions = [getattr(kiln.ops, name) for name in kiln.ops.__all__]
    for function in filter(inspect.isfunction, functions):
        errors = inspect.getdoc(function).partition("\n\nErrors: ")[2]
        assert errors.endswith("."), function.__name__
