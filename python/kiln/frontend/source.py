"""The source of a Python function: its syntax tree with true positions, its free names.

Columns are counted in characters from 1, lines are those of the file, whatever the indentation
of the function is.

A launch that finds its kernel in the cache asks for the text and the free names only, so these
come quickly, without Python's tokenizer and parser: the text ends at the first line that is
indented like the `def`, and the names are those of the code object.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from kiln.frontend.errors import CompileError, SourceSpan
from kiln.frontend.syntax.early_ends import without_early_ends

# A file may be edited while the program runs, and a kernel may be compiled long after it was
# defined. So the text is that of the time of the definition: of functions that were decorated, and
# of the others in files that have some. A file that was written after the program began is
# compiled once, to see whether the function that makes it known comes of it.
_began = time.time_ns()
_texts: WeakKeyDictionary[FunctionType, tuple[list[str], int]] = WeakKeyDictionary()
# Functions that come of no text that a file has had since it was first seen.
_textless: WeakSet[FunctionType] = WeakSet()
_files: dict[str, _File] = {}


@dataclass
class _File:
    """A file's lines, and what tells that it was written again: its time and size."""

    stamp: tuple[int, int] | None
    lines: list[str]

    def has(self, name: str, code: CodeType) -> bool:
        """Whether a function's code comes of these lines."""
        try:
            inside = [compile("".join(self.lines), name, "exec", dont_inherit=True)]
        except (SyntaxError, ValueError):
            return False
        for each in inside:  # grows
            inside += [c for c in each.co_consts if isinstance(c, CodeType)]
        return code in inside


def remember(function: FunctionType) -> None:
    """Keeps the text of a function that has just been defined."""
    if function in _texts:
        return
    file, code = _file_of(function), function.__code__
    known, stamp = _files.get(file), _stamp(file)
    if known is None or known.stamp != stamp:
        linecache.checkcache(file)
        now = _File(stamp, linecache.getlines(file, function.__globals__))
        # A function that another one defines may come of what the file was.
        if known is None or not known.has(file, code):
            edited = known is not None or (stamp is not None and stamp[0] >= _began)
            if edited and not now.has(file, code):
                _textless.add(function)
                return
            _files[file] = now
    try:
        source = FunctionSource(function)
    except CompileError:  # of a function without a text, which is an error where it is used
        return
    _texts[function] = source._lines, source.first_line


def _stamp(file: str) -> tuple[int, int] | None:
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def _file_of(function: FunctionType) -> str:
    return inspect.getsourcefile(function) or function.__code__.co_filename


class FunctionSource:
    """A function's tree. `tree` is the FunctionDef, or the Lambda of a one-line lambda."""

    def __init__(self, function: FunctionType):
        self.function = function
        self.name = function.__name__
        self.file = _file_of(function)
        self._closure: dict[str, Any] = {}  # each variable as it was when it was first asked for
        if function in _texts:
            self._take(*_texts[function])
            return
        if function in _textless:
            raise CompileError(
                f"expected the file of `{self.name}` as it was when `{self.name}` was defined, "
                f"got one that has changed since: {self.file}",
                legal="load the module again, or start the program again",
            )
        lines = quick_lines(function, self.file)
        first = function.__code__.co_firstlineno
        if lines is None:
            lines, first = self._slow_lines()
        self._take(lines, first)

    def _take(self, lines: list[str], first: int) -> None:
        self._lines = lines
        self.text = "".join(lines)
        self.first_line = first
        self._ascii = self.text.isascii()

    def _slow_lines(self) -> tuple[list[str], int]:
        try:
            return inspect.getsourcelines(self.function)
        except (OSError, TypeError):
            raise CompileError(
                f"expected the source of `{self.name}` in a file, got a function without one",
                legal="define it in a module, a script or a notebook cell",
            ) from None

    @cached_property
    def tree(self) -> ast.FunctionDef | ast.Lambda:
        return self._parsed[0]

    @cached_property
    def line_offset(self) -> int:
        return self._parsed[1]

    @cached_property
    def _parsed(self) -> tuple[ast.FunctionDef | ast.Lambda, int]:
        try:
            return self._parse(self._lines, self.first_line)
        except CompileError:
            self._take(*self._slow_lines())
            return self._parse(self._lines, self.first_line)

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
                return without_early_ends(node), offset
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
        if name in self._closure:
            return self._closure[name]
        free = self.function.__code__.co_freevars
        if name in free and self.function.__closure__:
            try:
                value = self.function.__closure__[free.index(name)].cell_contents
            except ValueError:
                raise KeyError(name) from None
            return self._closure.setdefault(name, value)
        scope = self.function.__globals__
        if name in scope:
            return scope[name]
        return builtins.__dict__[name]

    def free_references(self) -> Iterator[tuple[str, ...]]:
        """The names outside the function that it may refer to: ("helper",), or what follows a
        module, ("module", "helper"). May hold names that it uses in another sense."""
        names = free_names(self.function.__code__)
        for name in names:
            try:
                value = self.lookup(name)
            except KeyError:
                continue
            yield from _paths((name,), value, names)


def evaluated(function: FunctionType, annotation: str) -> Any:
    """The object that an annotation stands for which is kept as a string. Raises what it raises."""
    free = dict(
        zip(
            function.__code__.co_freevars,
            (c.cell_contents for c in function.__closure__ or ()),
            strict=False,
        )
    )
    return eval(annotation, function.__globals__, free)


def span_of_lambda(function: FunctionType) -> SourceSpan:
    """Where a lambda stands: its line, and the word in it if the line has it once."""
    code = function.__code__
    text = linecache.getline(code.co_filename, code.co_firstlineno, function.__globals__)
    at = text.find("lambda") + 1 if text.count("lambda") == 1 else 0
    return SourceSpan(
        code.co_filename, code.co_firstlineno, max(at, 1), at + len("lambda") if at else None
    )


def quick_lines(function: FunctionType, file: str) -> list[str] | None:
    """The lines of a function's definition, or None where they are not plain to see."""
    code = function.__code__
    known = _files.get(file)
    lines = known.lines if known else linecache.getlines(file, function.__globals__)
    first = code.co_firstlineno - 1
    if not 0 <= first < len(lines) or function.__name__ == "<lambda>":
        return None
    end = _last_line(code)
    if end > len(lines):
        return None
    indent = _indent(lines[first])
    for at in range(end, len(lines)):
        line = lines[at]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if _indent(line) <= indent:
            break
        end = at + 1
    return lines[first:end]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _last_line(code: CodeType) -> int:
    last = max((end or 0 for _, end, _, _ in code.co_positions()), default=0)
    nested = [_last_line(c) for c in code.co_consts if isinstance(c, CodeType)]
    return max(last, code.co_firstlineno, *nested) if nested else max(last, code.co_firstlineno)


def free_names(code: CodeType) -> dict[str, None]:
    """The names that a code object and those in it read from outside, in order."""
    out = dict.fromkeys((*code.co_names, *code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            out |= free_names(constant)
    return out


def _paths(path: tuple[str, ...], value: Any, names: dict[str, None]) -> Iterator[tuple[str, ...]]:
    if not isinstance(value, ModuleType):
        yield path
        return
    if len(path) > 4:
        return
    scope = vars(value)
    for name in names:
        if name in scope and scope[name] is not value:
            yield from _paths((*path, name), scope[name], names)


def dotted(node: ast.AST) -> tuple[str, ...] | None:
    """("kiln", "exp") for the tree of `kiln.exp`; None for anything else than dotted names."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return (node.id, *reversed(parts))
