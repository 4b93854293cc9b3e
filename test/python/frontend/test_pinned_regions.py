"""Decisions of loops and branches in every spelling: `while`, loops that are left, conditions of
`and` and `or`, conditional expressions; and what is refused of what a loop or a branch gives."""

from __future__ import annotations

import re

import pytest
from lowered import lower_body as lowered

from kiln.frontend import CompileError

LOOP = 'tile.role = "all", tile.stage = 1 : i64, tile.depth = 3 : i64'
LOAD = "v.load((0, 0), (4, 8))"


def refused(*statements: str) -> CompileError:
    with pytest.raises(CompileError) as caught:
        lowered(*statements)
    return caught.value


@pytest.mark.parametrize("condition", ["n > 4", "n > 4 and n < 9", "not n > 9", "4 < n < 9"])
@pytest.mark.parametrize(
    "leave", ["", "    if n == 7:\n        break\n", "    if n == 7:\n        continue\n"]
)
def test_a_while(condition: str, leave: str) -> None:
    pins = 'role="all", stage=1, depth=3'
    text = lowered(f"while kiln.pin({condition}, {pins}):\n{leave}    n -= 1\nv.store((0, 0), "
                   "kiln.full((4, 8), n, kiln.f32))")  # fmt: skip
    assert f"}} attributes {{{LOOP}}}" in text


def test_a_while_that_only_a_break_ends() -> None:
    text = lowered("while kiln.pin(True, depth=3):\n    n -= 1\n    if n < 4:\n        break",
                   "v.store((n, 0), kiln.zeros((4, 8), kiln.f32))")  # fmt: skip
    assert "} attributes {tile.depth = 3 : i64}" in text


def test_a_range_that_is_left() -> None:
    text = lowered(
        'for i in kiln.pin(range(n), role="all", stage=1, depth=3):',
        "    if v[0, i] < 0.0:\n        break",
        "    v[1, i] = 0.0",
    )
    assert f"}} attributes {{{LOOP}}}" in text


def test_loops_in_loops_that_settle() -> None:
    """A body that is compiled several times, since a number in it turns into a float."""
    text = lowered(
        "s = 0\nk = n\nfor i in kiln.pin(range(n), depth=2):\n    while kiln.pin(k > 0, stage=1):",
        '        if kiln.pin(k > 5, role="all"):\n            s = s + v[0, k]\n        k -= 1',
        "v[0, 0] = s",
    )
    assert text.count("tile.depth = 2") == text.count("tile.stage = 1") == 1
    assert text.count('{tile.role = "all"}') == 1


def test_pins_of_one_loop_add_up() -> None:
    text = lowered("r = kiln.pin(range(n), depth=2)\nfor i in kiln.pin(r, stage=1):\n    v[0, i] = 0.0",
                   "if kiln.pin(kiln.pin(n > 2, stage=0), order=1):\n    v[1, 0] = 0.0")  # fmt: skip
    assert "} {tile.depth = 2 : i64, tile.stage = 1 : i64}" in text
    assert "} {tile.stage = 0 : i64, tile.order = 1 : i64}" in text


def test_conditional_expressions() -> None:
    text = lowered(f"x = {LOAD}", "y = x * 2.0 if kiln.pin(n > 4, role='all', stage=1) else x",
                   "k = 1 if kiln.pin(n > 5, role='all') else 2",
                   "v.store((k, 0), y)")  # fmt: skip
    assert '} {tile.role = "all", tile.stage = 1 : i64}' in text
    assert '} {tile.role = "all"}' in text


def test_an_if_that_returns() -> None:
    text = lowered("if kiln.pin(n > 4, role='all'):\n    return", "v[0, 0] = 0.0")
    assert '} {tile.role = "all"}' in text


def test_what_computes_the_grid_decides_nothing() -> None:
    text = lowered("m = n if kiln.pin(n > 4, role='all') else 4\nkiln.grid(m)\nv[m, 0] = 0.0")
    grid, body = text.split("tile.grid ", 1)
    assert "tile.role" not in grid and '} {tile.role = "all"}' in body


@pytest.mark.parametrize(
    "making, what, instead",
    [
        ("for i in range(n):\n    x = x + 1.0", "the loop in line 3", "for i in kiln.pin(range(n)"),
        (
            "for i in range(n):\n    x = x + 1.0\n    n = n + 1",
            "the loop in line 3",
            "an operation in it",
        ),
        ("while n > 4:\n    x = x + 1.0\n    n -= 1", "the loop in line 3", "an operation in it"),
        ("if n > 4:\n    x = x * 2.0", "the `if` in line 3", "if kiln.pin(x > 0"),
        ("x = x * 2.0 if n > 4 else x", "the conditional expression in line 3", "in a branch"),
    ],
)
@pytest.mark.parametrize("pins", ['role="all"', 'layout="register = [[0,1]]"', "stage=1"])
def test_what_a_region_gives(making: str, what: str, instead: str, pins: str) -> None:
    error = refused(f"x = {LOAD}", making, f"kiln.pin(x, {pins})")
    assert f"expected what an operation gives, got what {what} gives" in str(error)
    assert instead in error.legal
    assert error.span is not None


REFUSED = [
    ("for i in kiln.pin(range(n), share=2):\n    if v[0, i] < 0.0:\n        break",
     "expected a loop whose rounds are known before it, since kiln.pin shares them out"),
    ("while kiln.pin(n > 4, split=True):\n    n -= 1",
     "expected decisions about the condition of a `while`, got split"),
    ("if kiln.pin(n > 4, depth=2):\n    v[0, 0] = 0.0",
     "expected decisions about the condition of an `if`, got depth"),
    ("while kiln.pin(n > 4, share=2):\n    n -= 1", "expected decisions about a condition, got share"),
    ("while kiln.pin(n > 4, stage=1) and n < 9:\n    n -= 1",
     "expected the whole condition of an `if` or a `while`, since kiln.pin decides of it"),
    ("if n > 4 or kiln.pin(n < 9, stage=1):\n    v[0, 0] = 0.0",
     "expected the whole condition of an `if` or a `while`, since kiln.pin decides of it"),
    ("kiln.pin(range(n), depth=2)", "expected the range of a loop, since kiln.pin decides of it"),
    ("if n in kiln.pin(range(4), depth=2):\n    v[0, 0] = 0.0", "expected the range of a loop"),
    ("kiln.pin(kiln.pin(range(n), depth=2), depth=3)", "expected one decision about depth, got two"),
    ("kiln.pin(kiln.pin(n > 2, stage=2), stage=2)", "expected one decision about stage, got two"),
    ("if kiln.pin(True, stage=1):\n    v[0, 0] = 0.0",
     "expected a condition that only the run knows, since kiln.pin decides of the `if`, got True"),
    ("while kiln.pin(True, stage=1):\n    n -= 1", "expected a condition that can become false"),
    ("while kiln.pin(False, stage=1):\n    n -= 1", "expected a loop, since kiln.pin decides of it"),
    ("if kiln.pin(n > 4, stage=1):\n    pass", "expected an `if` with operations"),
    ("kiln.pin((n > 4, n > 5), stage=1)", "expected what an operation of this block gives, got a tuple"),
    ("kiln.pin(min(1, 2), stage=1)", "expected what an operation of this block gives, got the constant 1"),
    ("kiln.pin(n, stage=1)", "expected what an operation of this block gives, got an i64 scalar"),
]  # fmt: skip


@pytest.mark.parametrize("statement, message", REFUSED)
def test_refused(statement: str, message: str) -> None:
    assert re.search(re.escape(message), str(refused(statement)))
