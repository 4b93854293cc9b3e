"""What a user of the language sees when a kernel is wrong.

Three exceptions, from the inside out:

- `Misuse` is raised by code that knows nothing of source positions: what is wrong, what would
  be legal, and at most the name of the argument that is to blame;
- the expression compiler turns it into a `CompileError` at the node it was compiling, with the
  chain of calls that were inlined to get there;
- a diagnostic of the compiler behind the front end takes the same form by
  `render_diagnostic`.
"""

from __future__ import annotations

import linecache
import re
from dataclasses import dataclass

MAX_SHOWN = 400  # characters of a source line


@dataclass(frozen=True)
class SourceSpan:
    """A piece of a source line. Lines and columns count from 1; `end` is exclusive, and a
    span that runs over several lines ends with its first line (`end` is None)."""

    file: str
    line: int
    column: int
    end: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Misuse(Exception):
    """A wrong use of the language, before its place in the source is known."""

    def __init__(self, message: str, legal: str | None = None, argument: str | None = None):
        super().__init__(message)
        self.message = message
        self.legal = legal
        self.argument = argument


class CompileError(Exception):
    """A kernel could not be compiled. Its text shows the user's line.

    message   what was wrong
    legal     what would be legal, or None
    span      where, or None when there is no source
    calls     the inlined calls from the kernel down to `span`: (function name, span) pairs
    """

    __module__ = "kiln"

    def __init__(
        self,
        message: str,
        *,
        legal: str | None = None,
        span: SourceSpan | None = None,
        calls: tuple[tuple[str, SourceSpan], ...] = (),
        notes: tuple[str, ...] = (),
    ):
        self.message = message
        self.legal = legal
        self.span = span
        self.calls = calls
        self.notes = notes
        super().__init__(self._text())

    @property
    def file(self) -> str | None:
        return self.span.file if self.span else None

    @property
    def line(self) -> int | None:
        return self.span.line if self.span else None

    @property
    def column(self) -> int | None:
        return self.span.column if self.span else None

    def _text(self) -> str:
        lines = [f"{self.span}: error: {self.message}" if self.span else self.message]
        if self.span:
            lines += excerpt(self.span)
        if self.legal:
            lines.append(f"  legal: {self.legal}")
        lines += [f"  note: {note}" for note in self.notes]
        for name, span in reversed(self.calls):
            lines.append(f"  in {name}, called at {span}")
            lines += excerpt(span)
        return "\n".join(lines)


def excerpt(span: SourceSpan) -> list[str]:
    """The source line of a span and, under it, a line that marks the span."""
    text = linecache.getline(span.file, span.line).rstrip("\n")
    if not text.strip():
        return []
    number = f"{span.line:>6} | "
    start = min(span.column - 1, len(text))
    end = len(text) if span.end is None else min(span.end - 1, len(text))
    if len(text) > MAX_SHOWN:
        cut = max(0, start - MAX_SHOWN // 2)
        text = text[cut : cut + MAX_SHOWN]
        start, end = start - cut, min(end - cut, len(text))
    gap = re.sub(r"[^\t]", " ", text[:start])
    return [number + text, " " * (len(number) - 2) + "| " + gap + "^" * max(1, end - start)]


def render_diagnostic(
    file: str,
    line: int,
    column: int,
    message: str,
    notes: tuple[str, ...] = (),
    calls: tuple[tuple[str, str, int, int], ...] = (),
) -> CompileError:
    """A diagnostic of the compiler, as the error a user sees.

    `file`, `line` and `column` are those of the location that the front end gave to the
    operation; `calls` holds (function, file, line, column) of each inlined call, outermost
    first. The underline covers the word or the bracketed expression that starts there.
    """
    span = SourceSpan(file, line, max(column, 1), _end_of_expression(file, line, column))
    chain = tuple(
        (name, SourceSpan(f, n, c, _end_of_expression(f, n, c))) for name, f, n, c in calls
    )
    return CompileError(message, span=span, calls=chain, notes=notes)


def _end_of_expression(file: str, line: int, column: int) -> int | None:
    text = linecache.getline(file, line).rstrip("\n")
    start = max(column - 1, 0)
    match = re.match(r"[\w.]*", text[start:])
    end = start + match.end() if match else start
    depth = 0
    while end < len(text) and (depth or text[end] in "(["):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[end], 0)
        end += 1
    return end + 1 if end > start else start + 2
