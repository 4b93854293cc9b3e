"""Where a kernel says its grid. Kept apart from the compiler, which need not be loaded for it."""

from __future__ import annotations

import ast

from kiln.frontend.errors import CompileError
from kiln.frontend.source import FunctionSource, dotted


def find_grid(source: FunctionSource) -> tuple[int, ast.Call] | None:
    """The statement of a kernel that holds its call of kiln.grid, and the call."""
    found = None
    for i, statement in enumerate(source.tree.body):
        for node in ast.walk(statement):
            if not (isinstance(node, ast.Call) and _is_grid(source, node.func)):
                continue
            whole = isinstance(statement, (ast.Assign, ast.Expr, ast.AnnAssign))
            if not whole or statement.value is not node or found is not None:
                raise CompileError(
                    "expected kiln.grid once, as a statement of its own at the top level",
                    legal="i, j = kiln.grid(m, n)",
                    span=source.span(node),
                )
            found = i, node
    return found


def _is_grid(source: FunctionSource, node: ast.expr) -> bool:
    path = dotted(node)
    if path is None or (path[-1] != "grid" and len(path) > 1):
        return False
    try:
        value = source.lookup(path[0])
        for name in path[1:]:
            value = getattr(value, name)
    except (KeyError, AttributeError):
        return False
    return getattr(value, "__kiln_intrinsic__", None) == "grid"
