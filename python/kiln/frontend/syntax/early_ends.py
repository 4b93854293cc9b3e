"""Loops without `break`, `continue` and `else`: the same loops over flags.

Everything behind this file knows loops that run to their end. A round that is left early skips
what is left of it, and a loop that is left early has a flag that says so:

    while p:                    ended = False
        a()                     while not ended and p:
        if q:                       ended = left = False
            break                   a()
        b()                         if q:
                                        ended = left = True
                                    else:
                                        b()

What follows an `if` that always leaves belongs to its other branch. What follows one that only
sometimes does stands behind `if not left`. A branch that leaves gives names no values; what the
other gives them is all that can be read later (`leaves`, read by branches.py). A `for` names its
flag (`ended_by`), since only the compiler knows whether it is a loop when it runs (loops.py).
"""

from __future__ import annotations

import ast

_Loop = (ast.For, ast.While)


def without_early_ends(tree: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef | ast.Lambda:
    """A function whose loops run to their end. Trees without early ends stay as they are."""
    found = any(
        isinstance(node, (ast.Break, ast.Continue)) or (isinstance(node, _Loop) and node.orelse)
        for node in ast.walk(tree)
    )
    if not found:
        return tree
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body = _Rewriter(None).block(node.body)[0]
    return tree


def leaving_branch(node: ast.If) -> str | None:
    """The branch of an `if` that always leaves its loop's round ("body" or "orelse"), or None."""
    return getattr(node, "leaves", None)


def ended_flag(node: ast.For) -> str | None:
    """The name that says whether a `for` was left early; None where nothing leaves it."""
    return getattr(node, "ended_by", None)


def written_condition(node: ast.expr) -> ast.expr | None:
    """What the author wrote as the condition of a `while` that now asks for its flag first; None of
    what asks for none."""
    return node.values[1] if getattr(node, "asks_flag", False) else None


class _Rewriter:
    """Rewrites the statements of one loop's body, or of a function."""

    def __init__(self, loop: ast.For | ast.While | None):
        self.loop = loop
        line = getattr(loop, "lineno", 0)
        column = getattr(loop, "col_offset", 0)
        # No identifiers, so that no name of the kernel is meant by them.
        self.ended = f"the end of the loop at {line}:{column}"
        self.left = f"the end of a round of the loop at {line}:{column}"
        self.breaks = False

    def block(self, statements: list[ast.stmt]) -> tuple[list[ast.stmt], bool, bool]:
        """The statements rewritten; whether they may leave the round, and whether they must."""
        out: list[ast.stmt] = []
        rest = list(statements)
        while rest:
            node = rest.pop(0)
            if isinstance(node, (ast.Break, ast.Continue)):
                if isinstance(node, ast.Break):
                    self.breaks = True
                    out.append(_set(self.ended, True, node))
                out.append(_set(self.left, True, node))
                return out, True, True
            if isinstance(node, _Loop):
                rest = self._inner_loop(node, out) + rest
            elif isinstance(node, ast.If):
                may_leave, must_leave = self._branches(node, rest, out)
                if may_leave:
                    return out, True, must_leave
            else:
                out.append(node)
        return out, False, False

    def _branches(
        self, node: ast.If, rest: list[ast.stmt], out: list[ast.stmt]
    ) -> tuple[bool, bool]:
        """Appends an `if` and, if it may leave the round, all that follows it."""
        body, may_body, must_body = self.block(node.body)
        orelse, may_else, must_else = self.block(node.orelse)
        node.body, node.orelse = body, orelse
        out.append(node)
        if not (may_body or may_else):
            return False, False
        if must_body and must_else:
            return True, True
        rest, _, must_rest = self.block(rest)
        goes_on = not (must_body or must_else)
        if rest and (goes_on or (may_body and may_else)):
            rest = [_unless(self.left, rest, node)]
        if goes_on:
            out += rest
            return True, False
        if must_body:
            node.leaves = "body"
            node.orelse = orelse + rest
        else:
            node.leaves = "orelse"
            node.body = body + rest
        return True, must_rest

    def _inner_loop(self, node: ast.For | ast.While, out: list[ast.stmt]) -> list[ast.stmt]:
        """Appends a loop. Gives its `else`, which is part of this loop's body."""
        inner = _Rewriter(node)
        body, may_leave, _ = inner.block(node.body)
        if may_leave:
            body = [_set(inner.left, False, node), *body]
        if inner.breaks:
            out.append(_set(inner.ended, False, node))
            if isinstance(node, ast.While):
                body = [_set(inner.ended, False, node), *body]
                going = _at(ast.UnaryOp(ast.Not(), _name(inner.ended, node)), node.test)
                node.test = _at(ast.BoolOp(ast.And(), [going, node.test]), node.test)
                node.test.asks_flag = True
            else:
                body = [_unless(inner.ended, body, node)]
                node.ended_by = inner.ended
        orelse = node.orelse
        node.body, node.orelse = body, []
        out.append(node)
        return [_unless(inner.ended, orelse, node)] if orelse and inner.breaks else orelse


def _at(node: ast.AST, place: ast.AST) -> ast.AST:
    return ast.copy_location(node, place)


def _name(name: str, place: ast.AST) -> ast.Name:
    return _at(ast.Name(name, ast.Load()), place)


def _set(name: str, value: bool, place: ast.AST) -> ast.Assign:
    target = _at(ast.Name(name, ast.Store()), place)
    return _at(ast.Assign([target], _at(ast.Constant(value), place)), place)


def _unless(name: str, body: list[ast.stmt], place: ast.AST) -> ast.If:
    test = _at(ast.UnaryOp(ast.Not(), _name(name, place)), place)
    return _at(ast.If(test, body, []), place)
