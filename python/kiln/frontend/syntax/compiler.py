"""The compiler of functions: the state, the errors, and the names.

The work is split by what it compiles: expressions, statements, loops and branches, calls. All
are parts of one `Compiler`; the place that operations and errors belong to is `e.node` in
`e.frame`.
"""

from __future__ import annotations

import ast
from types import ModuleType
from typing import Any

from kiln.frontend.arithmetic.constants import check_length
from kiln.frontend.emitter import Emitter
from kiln.frontend.errors import CompileError, Misuse
from kiln.frontend.function import CAPTURES, as_constant
from kiln.frontend.kernel import KernelSource
from kiln.frontend.suggestions import elsewhere, is_of_another_library, near
from kiln.frontend.syntax.branches import Branches
from kiln.frontend.syntax.calls import INTRINSICS, Calls
from kiln.frontend.syntax.expressions import Expressions
from kiln.frontend.syntax.frames import Frame
from kiln.frontend.syntax.loops import Loops
from kiln.frontend.syntax.statements import Statements
from kiln.frontend.values import Undefined

MAX_WORK = 500_000


class Compiler(Expressions, Statements, Branches, Loops, Calls):
    """Compiles one kernel.

    e           the text under construction
    work        how many nodes were compiled
    copies      how often an `if` had what follows it compiled in both of its branches
    messages    what static_print said, in order
    decisions   what kiln.pin decided, by name: as the IR spells it, and as a person does
    pinned_at   the alias of the location of each of these
    grid_call   the one call of kiln.grid, or None
    from_addresses  whether a pointer was made of an integer, which may be any array's
    loop_types  the types that a loop's carried values were found to have, so that a loop
                inside another one is not searched again
    open_pins   conditions and ranges of which kiln.pin decided and that no `if` and no loop has
                used, and where
    """

    def __init__(self):
        self.e = Emitter()
        self.frames = 0
        self.messages: list[str] = []
        self.decisions: dict[str, tuple[str, str]] = {}
        self.pinned_at: dict[str, str] = {}
        self.work = 0
        self.copies = 0
        self.grid_call: ast.Call | None = None
        self.from_addresses = False
        self.loop_types: dict[Any, list[Any]] = {}
        self.open_pins: dict[Any, ast.AST] = {}

    def spend(self) -> None:
        """Counts the nodes compiled, so that no kernel compiles for ever."""
        self.work += 1
        if self.work > MAX_WORK:
            raise self.error(
                f"expected at most {MAX_WORK} expressions after inlining and unrolling, got more",
                "loops over range(...) instead of kiln.static_range",
            )

    def new_frame(self, *args, **kwargs) -> Frame:
        self.frames += 1
        return Frame(self.frames, *args, **kwargs)

    def error(
        self, message: str, legal: str | None = None, node: ast.AST | None = None
    ) -> CompileError:
        """An error at a node of the current frame."""
        frame = self.e.frame
        span = frame.source.span(node if node is not None else self.e.node)
        return CompileError(message, legal=legal, span=span, calls=frame.calls())

    def lookup(self, name: str) -> Any:
        """What a name stands for."""
        frame = self.e.frame
        while True:
            if name in frame.liveness.locals or name in frame.names:
                value = frame.names.get(name, Undefined("it is assigned later, or not at all"))
                if isinstance(value, Undefined):
                    raise Misuse(f"expected `{name}` to have a value here, but {value.reason}")
                return value
            if frame.outer is None:
                break
            frame = frame.outer
        try:
            value = frame.source.lookup(name)
        except KeyError:
            known = [*self.e.frame.names, *frame.source.function.__globals__, *INTRINSICS]
            raise Misuse(
                f"expected a name that is defined, got `{name}`", near(name, known)
            ) from None
        return self.captured(value, f"`{name}`")

    def captured(self, value: Any, what: str) -> Any:
        """A Python object that the source refers to, as a constant."""
        try:
            return check_length(as_constant(value))
        except TypeError:
            pass
        if callable(value) and is_of_another_library(value):
            raise Misuse(
                f"expected a kiln function, got {what}",
                elsewhere(getattr(value, "__name__", "")) or "a function of kiln",
            )
        if callable(value) and hasattr(value, "__code__"):
            legal = f"decorate it with @kiln.function: {getattr(value, '__name__', what)}"
            raise Misuse(f"expected a kiln function, got the Python function {what}", legal)
        if isinstance(getattr(value, "source", None), KernelSource):
            raise Misuse(
                f"expected a helper, got the kernel {what}",
                "@kiln.function on what both share: a kernel is launched from the host",
            )
        raise Misuse(
            f"expected a constant outside the kernel, got {what}, a {type(value).__name__}",
            f"a kernel may capture {CAPTURES}; pass arrays as arguments",
        )

    def attribute_of(self, module: ModuleType, name: str) -> Any:
        """A name in a module."""
        what = f"`{module.__name__}.{name}`"
        if not hasattr(module, name):
            legal = near(name, dir(module), module.__name__.rpartition(".")[2] + ".")
            raise Misuse(f"expected a name that {module.__name__} has, got {what}", legal)
        return self.captured(getattr(module, name), what)
