"""Appends operations to the text of a kernel.

A region is a list of lines. Constants, and questions about the views that are arguments, are
emitted once, at the top of the region they serve (the grid or the body). Every operation ends
with an alias of its location; the aliases stand before the module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kiln.frontend.arithmetic.literals import literal, quoted
from kiln.frontend.arithmetic.magnitudes import Magnitudes
from kiln.frontend.errors import Misuse
from kiln.frontend.types import ScalarType, TensorType, Type
from kiln.frontend.values import Value, type_of
from kiln.language.dtypes import DType, bool_, index


class Emitter:
    """The text under construction, and the place in the source that it is for."""

    def __init__(self):
        self.lines: list[str] = []
        self.depth = 1
        self.counter = 0
        self.effects = 0
        self.host = False
        self.entry: list[str] = []
        self.entry_values: dict[Any, Value] = {}
        self.aliases: dict[Any, str] = {}
        self.alias_lines: list[str] = []
        self.arguments: set[str] = set()
        self.magnitudes = Magnitudes()
        self.of_regions: dict[str, str] = {}
        self.frame: Any = None
        self.node: Any = None

    # Locations.

    def location(self) -> str:
        """` loc(#l3)` for the current node."""
        frame, node = self.frame, self.node
        key = (frame.number, node.lineno, node.col_offset)
        alias = self.aliases.get(key)
        if alias is None:
            line, column = frame.source.position(node)
            text = f"{quoted(frame.source.file)}:{line}:{column}"
            if frame.call_alias is not None:
                inner = self._alias(f"loc({text})")
                alias = self._alias(f"loc(callsite({inner} at {frame.call_alias}))")
            else:
                alias = self._alias(f"loc({text})")
            self.aliases[key] = alias
        return f" loc({alias})"

    def alias(self) -> str:
        """The alias of the current location."""
        return self.location()[5:-1]

    def fused_alias(self, places: dict[str, str]) -> str:
        """The alias of the current location, with the places of decisions if there are any."""
        if not places:
            return self.alias()
        text = ", ".join(f"{name} = loc({place})" for name, place in places.items())
        return self._alias(f"loc(fused<{{{text}}}>[{self.alias()}])")

    def _alias(self, definition: str) -> str:
        name = f"#l{len(self.alias_lines)}"
        self.alias_lines.append(f"{name} = {definition}")
        return name

    # Operations.

    def line(self, text: str) -> None:
        """One operation's last (or only) line."""
        self.lines.append(f"{'  ' * self.depth}{text}{self.location()}")

    def raw(self, text: str) -> None:
        """A line that does not end an operation."""
        self.lines.append("  " * self.depth + text)

    def fresh(self) -> str:
        self.counter += 1
        return f"%{self.counter}"

    def value(self, text: str, type: Type, effect: bool = False) -> Value:
        """An operation with one result."""
        if self.host and (effect or isinstance(type, TensorType)):
            self.refuse_on_host()
        self.effects += effect
        name = self.fresh()
        self.line(f"{name} = {text}")
        return Value(name, type)

    def results(self, text: str, types: list[Type], effect: bool = False) -> list[Value]:
        """An operation with several results."""
        if self.host:
            self.refuse_on_host()
        self.effects += effect
        names = [self.fresh() for _ in types]
        self.line(f"{', '.join(names)} = {text}" if names else text)
        return [Value(n, t) for n, t in zip(names, types, strict=False)]

    def effect(self, text: str) -> None:
        """An operation without results."""
        if self.host:
            self.refuse_on_host()
        self.effects += 1
        self.line(text)

    def refuse_on_host(self) -> None:
        raise Misuse(
            "expected only scalar arithmetic on arguments before kiln.grid, got an operation of "
            "a program",
            "the statement after kiln.grid; what stands before it computes the grid",
        )

    # Decisions about operations that were emitted.

    def find_operation(self, name: str) -> int | None:
        """Where the operation that gives a value stands in this region; that of a load, where the
        value is what it loaded without some dimensions."""
        for at in reversed(range(len(self.lines))):
            results, is_operation, text = self.lines[at].strip().partition(" = ")
            if not is_operation or name not in results.split(", "):
                continue
            before = self.lines[at - 1].strip().partition(" = ") if at else ("", "", "")
            is_load = text.startswith("tile.reshape ") and before[2].startswith("tile.load ")
            return at - 1 if is_load and text.split()[1] == before[0] else at
        return None

    def find_store(self) -> int | None:
        """Where the store that was emitted last stands, if nothing came after it."""
        is_store = self.lines and self.lines[-1].strip().startswith(
            ("tile.store ", "tile.scatter ")
        )
        return len(self.lines) - 1 if is_store else None

    def note_results(self, results: list[Value], what: str) -> None:
        """That values are what a loop or a branch gives, which is called so at the current node."""
        line = self.frame.source.position(self.node)[0]
        self.of_regions.update((value.ref, f"{what} in line {line}") for value in results)

    def is_of_tile(self, at: int) -> bool:
        """Whether the operation of a line is of the dialect tile."""
        line = self.lines[at].strip()
        return (line.partition(" = ")[2] if line.startswith("%") else line).startswith("tile.")

    def is_product(self, at: int) -> bool:
        """Whether the operation of a line is a product that has parts."""
        return self.lines[at].strip().partition(" = ")[2].startswith("tile.dot ")

    def is_load(self, at: int) -> bool:
        """Whether the operation of a line loads a tile."""
        return self.lines[at].strip().partition(" = ")[2].startswith("tile.load ")

    def is_gather(self, at: int) -> bool:
        """Whether the operation of a line loads what indices choose."""
        return self.lines[at].strip().partition(" = ")[2].startswith("tile.gather ")

    def tile_of(self, at: int) -> str:
        """The shape and the type of what the line loads or stores, as types spell them."""
        tiles = re.findall(r"\btensor<(.*?)>", self.lines[at].partition(" : ")[2])
        return tiles[0 if self.lines[at].strip().startswith("tile.store ") else -1]

    def orders_memory(self, at: int) -> bool:
        """Whether the operation of a line has an order of its own, that of memory."""
        text = self.lines[at].strip().partition(" = ")[2]
        return text.startswith(("tile.atomic_rmw ", "tile.atomic_cas "))

    def is_choice(self, at: int) -> bool:
        """Whether the operation of a line chooses between tiles by a mask."""
        return self.lines[at].strip().partition(" = ")[2].startswith("arith.select ")

    def decide(self, at: int, attributes: dict[str, str | None]) -> None:
        """Adds attributes to the operation of a line, in front of its types."""
        line = self.lines[at]
        place = _end_of_operands(line)
        before, after = line[:place], line[place:]
        if before.endswith("}"):
            known, before = before[:-1], f"{before[:-1]}, "
            for name in attributes:
                if re.search(rf"[{{,] ?{re.escape(name)}( = |,|$)", known):
                    word = name.removeprefix("tile.")
                    raise Misuse(f"expected one decision about {word}, got two", argument=word)
        else:
            before += " {"
        self.lines[at] = f"{before}{spelled(attributes)}}}{after}"

    def close(self, attributes: dict[str, str | None], keyword: str = "") -> None:
        """The last line of an operation with regions."""
        self.line(f"}} {keyword}{{{spelled(attributes)}}}" if attributes else "}")

    # Regions.

    @contextmanager
    def region(self) -> Iterator[list[str]]:
        """Collects lines apart; they are placed with `splice`."""
        outer, self.lines = self.lines, []
        self.depth += 1
        try:
            yield self.lines
        finally:
            self.lines = outer
            self.depth -= 1

    def splice(self, lines: list[str]) -> None:
        self.lines.extend(lines)

    @contextmanager
    def top(self, host: bool) -> Iterator[list[str]]:
        """The region of a grid or of a body: what is emitted, entry first, once it is left."""
        saved = self.lines, self.entry, self.entry_values, self.host, self.depth
        self.lines, self.entry, self.entry_values, self.host, self.depth = [], [], {}, host, 2
        out: list[str] = []
        try:
            yield out
        finally:
            out += self.entry + self.lines
            self.lines, self.entry, self.entry_values, self.host, self.depth = saved

    def once(self, key: Any, text: str, type: Type) -> Value:
        """An operation without operands of the region it stands in, emitted once at the top."""
        known = self.entry_values.get(key)
        if known is None:
            name = self.fresh()
            self.entry.append(f"    {name} = {text}{self.location()}")
            known = self.entry_values[key] = Value(name, type)
            self.magnitudes.note_source(name, text)
        return known

    # Constants.

    def constant(
        self, value: bool | int | float, dtype: DType, shape: tuple[int, ...] = ()
    ) -> Value:
        """A scalar, or a tile whose elements are all one number."""
        text = literal(value, dtype)
        type = type_of(shape, dtype)
        if self.host and shape:
            self.refuse_on_host()
        if shape:
            return self.once((text, type), f"arith.constant dense<{text}> : {type.ir}", type)
        suffix = "" if dtype is bool_ else f" : {type.ir}"
        out = self.once((text, type), f"arith.constant {text}{suffix}", type)
        if dtype is index:
            self.magnitudes.note(out.ref, abs(value))
        return out

    def index(self, value: int) -> Value:
        return self.constant(value, index)

    def unary(
        self, op: str, x: Value, type: Type | None = None, attributes: str | None = None
    ) -> Value:
        """`op` of one operand and one type."""
        operands = f"{x.ref} {attributes}" if attributes else x.ref
        return self.value(f"{op} {operands} : {x.type.ir}", type or x.type)

    def binary(self, op: str, a: Value, b: Value, type: Type | None = None) -> Value:
        """`op` of two operands of one type."""
        out = self.value(f"{op} {a.ref}, {b.ref} : {a.type.ir}", type or a.type)
        self.magnitudes.note_binary(op, out.ref, a.ref, b.ref)
        return out

    def convert(self, op: str, x: Value, dtype: DType) -> Value:
        """`op` from one element type to another."""
        type = type_of(x.shape, dtype)
        return self.value(f"{op} {x.ref} : {x.type.ir} to {type.ir}", type)

    def compare(self, op: str, predicate: str, a: Value, b: Value) -> Value:
        return self.value(
            f"{op} {predicate}, {a.ref}, {b.ref} : {a.type.ir}", type_of(a.shape, bool_)
        )

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        """Both of one type; the condition of their shape, or a scalar."""
        types = a.type.ir
        if a.shape and isinstance(condition.type, ScalarType):
            types = f"i1, {a.type.ir}"
        elif a.shape:
            types = f"{condition.type.ir}, {a.type.ir}"
        out = self.value(f"arith.select {condition.ref}, {a.ref}, {b.ref} : {types}", a.type)
        self.magnitudes.note_binary("arith.select", out.ref, a.ref, b.ref)
        return out


def spelled(attributes: dict[str, str | None]) -> str:
    """Attributes as a list; those of no value are flags."""
    pairs = (name if text is None else f"{name} = {text}" for name, text in attributes.items())
    return ", ".join(pairs)


def _end_of_operands(line: str) -> int:
    """Where an operation's operands end and its types begin: the first colon outside of brackets
    and strings."""
    depth, is_text = 0, False
    for place, sign in enumerate(line):
        is_text ^= sign == '"'
        if is_text:
            continue
        depth += (sign in "([{<") - (sign in ")]}>")
        if depth == 0 and line.startswith(" : ", place):
            return place
    return line.rindex(" loc(")
