"""A function while it is compiled: its source, its names, and who called it."""

from __future__ import annotations

import ast
from typing import Any

from kiln.frontend.errors import SourceSpan
from kiln.frontend.source import FunctionSource
from kiln.frontend.syntax.liveness import Liveness


class Frame:
    """One activation of a kernel, a helper, a lambda or a nested function.

    number      tells activations apart in the location aliases
    source      where the tree's positions count from
    tree        the FunctionDef or the Lambda
    names       what each local name stands for
    outer       for a lambda or a nested function: the frame whose names it sees
    caller      the frame that called, and `call`, the node of the call in it
    call_alias  the alias of the location of the call, None in the kernel itself
    """

    __slots__ = (
        "call",
        "call_alias",
        "caller",
        "liveness",
        "loops",
        "name",
        "names",
        "number",
        "outer",
        "source",
        "tree",
    )  # fmt: skip

    def __init__(
        self,
        number: int,
        source: FunctionSource,
        tree: ast.FunctionDef | ast.Lambda,
        name: str,
        outer: Frame | None = None,
        caller: Frame | None = None,
        call: ast.AST | None = None,
        call_alias: str | None = None,
    ):
        self.number = number
        self.source = source
        self.tree = tree
        self.name = name
        self.names: dict[str, Any] = {}
        self.outer = outer
        self.caller = caller
        self.call = call
        self.call_alias = call_alias
        self.liveness = liveness_of(source, tree)
        self.loops = 0

    def calls(self) -> tuple[tuple[str, SourceSpan], ...]:
        """The chain of inlined calls down to this frame, for an error."""
        out = []
        frame = self
        while frame.caller is not None:
            out.append((frame.name, frame.caller.source.span(frame.call)))
            frame = frame.caller
        return tuple(reversed(out))

    def is_active(self, tree: ast.AST) -> bool:
        """Whether a function is being inlined already, in this frame or in a caller of it."""
        frame: Frame | None = self
        while frame is not None:
            if frame.tree is tree:
                return True
            frame = frame.caller
        return False


def liveness_of(source: FunctionSource, tree: ast.AST) -> Liveness:
    """The analysis of a function, done once."""
    known = source.__dict__.setdefault("liveness", {})
    if id(tree) not in known:
        known[id(tree)] = Liveness(tree)
    return known[id(tree)]
