"""The source of a Python function: its syntax tree with true positions, its free names.

Columns are counted in characters from 1, lines are those of the file, whatever the indentation
of the function is.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from kiln.frontend.errors import CompileError, SourceSpan


class FunctionSource:
    """A function's tree. `tree` is the FunctionDef, or the Lambda of a one-line lambda."""

    def __init__(self, function: FunctionType):
        self.function = function
        self.name = function.__name__
        self.file = inspect.getsourcefile(function) or function.__code__.co_filename
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError):
            raise CompileError(
                f"expected the source of `{self.name}` in a file, got a function without one",
                legal="define it in a module, a script or a notebook cell",
            ) from None
        self.text = "".join(lines)
        self.first_line = first
        self.tree, self.line_offset = self._parse(lines, first)
        self._ascii = self.text.isascii()
        self._lines = lines

    def _parse(self, lines: list[str], first: int):
        indented = lines[0][:1] in (" ", "\t")
        text = "if 1:\n" + self.text if indented else self.text
        offset = first - (2 if indented else 1)
        try:
            module = ast.parse(text)
        except SyntaxError:
            raise CompileError(
                f"expected `{self.name}` to be a statement of its own, got a part of one",
                legal="define it with `def`",
                span=SourceSpan(self.file, first, 1),
            ) from None
        wanted = ast.Lambda if self.name == "<lambda>" else ast.FunctionDef
        for node in ast.walk(module):
            if isinstance(node, wanted):
                return node, offset
        raise CompileError(
            f"expected `{self.name}` to be defined with `def`, got another kind of function",
            legal="a plain `def` (not `async def`)",
            span=SourceSpan(self.file, first, 1),
        )

    def position(self, node: ast.AST) -> tuple[int, int]:
        """The line and the column of a node, from 1."""
        line = node.lineno + self.line_offset
        return line, self._column(line, node.col_offset)

    def span(self, node: ast.AST) -> SourceSpan:
        """Where a node stands."""
        line, column = self.position(node)
        end = None
        if node.end_lineno == node.lineno:
            end = self._column(line, node.end_col_offset)
        return SourceSpan(self.file, line, column, end)

    def _column(self, line: int, offset: int) -> int:
        if self._ascii:
            return offset + 1
        row = line - self.first_line
        text = self._lines[row] if 0 <= row < len(self._lines) else ""
        return len(text.encode()[:offset].decode(errors="replace")) + 1

    def lookup(self, name: str) -> Any:
        """The value of a free name; raises KeyError where there is none."""
        free = self.function.__code__.co_freevars
        if name in free and self.function.__closure__:
            try:
                return self.function.__closure__[free.index(name)].cell_contents
            except ValueError:
                raise KeyError(name) from None
        scope = self.function.__globals__
        if name in scope:
            return scope[name]
        return builtins.__dict__[name]

    def free_references(self) -> Iterator[tuple[str, ...]]:
        """The dotted names that the body and the defaults refer to, each once."""
        seen: set[tuple[str, ...]] = set()
        for node in ast.walk(self.tree):
            path = dotted(node)
            if path and path not in seen:
                seen.add(path)
                yield path


def dotted(node: ast.AST) -> tuple[str, ...] | None:
    """("kiln", "exp") for the tree of `kiln.exp`; None for anything else than dotted names."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return (node.id, *reversed(parts))
