"""Loops: `for` over a range, a tuple or a static range, and `while`.

What a loop carries is found by liveness (liveness.py). The types of the carried values are
found by trying: the body is compiled with the types at entry, and, where a carried number comes
out as something else, compiled again with that type. While nothing gave it one, a number that
the loop changes is a weak scalar: it takes the dtype of what it meets, in the loop and after it.
A typed value keeps its type.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kiln.frontend.arithmetic.casts import bool_of, index_of
from kiln.frontend.arithmetic.promotion import constant_dtype, promote_dtypes
from kiln.frontend.emitter import Emitter
from kiln.frontend.errors import CompileError, Misuse
from kiln.frontend.skeletons import Fixed, Shape, flatten, is_memory, unflatten
from kiln.frontend.syntax.branches import (
    PinnedCondition,
    position_type,
    same_constant,
    to_type,
)  # fmt: skip
from kiln.frontend.syntax.early_ends import ended_flag, written_condition
from kiln.frontend.syntax.liveness import assigned, last_assignment
from kiln.frontend.values import (
    Undefined,
    Value,
    describe,
    has_values,
    is_weak,
    shape_of,
    type_of,
)  # fmt: skip
from kiln.language.dtypes import bool_, f32, i64, index

MAX_UNROLLED = 4096
MAX_ATTEMPTS = 8
# More rounds than anybody waits for: over an hour of empty ones.
ENDLESS = 1 << 42
# With steps up to it, a range that starts below 2^62 would pass 2^63 only in endless rounds.
SMALL_STEP = 1 << 20


@dataclass(frozen=True, eq=False)
class Range:
    """`range(start, stop, step)`: constants or integer scalars; and what kiln.pin decides of the
    loop, as attributes."""

    start: Any
    stop: Any
    step: Any
    decisions: Any = None


@dataclass
class Carried:
    """What a loop carries: the names, the skeletons of their values, the leaves at entry, the
    types that they have in the loop (None for those that stay the constants they are), and which
    are weak there."""

    names: list[str]
    skeletons: list[Shape]
    counts: list[int]
    leaves: list[Any]
    types: list[Any]
    weak: list[bool]

    def values(self, e: Any) -> list[Value]:
        """New values, one for each leaf that moves."""
        pairs = zip(self.types, self.weak, strict=True)
        return [Value(e.fresh(), type, weak=weak) for type, weak in pairs if type is not None]

    @property
    def moving(self) -> list[Any]:
        """The types of the leaves that the loop carries."""
        return [type for type in self.types if type is not None]

    def entry(self, e: Emitter) -> list[Value]:
        """What the loop starts with."""
        pairs = zip(self.leaves, self.types, strict=True)
        return [to_type(e, leaf, type) for leaf, type in pairs if type is not None]

    def bind(self, e: Emitter, values: list[Value]) -> dict[str, Any]:
        """The names over one value for each leaf that moves."""
        moved = iter(values)
        pairs = zip(self.leaves, self.types, strict=True)
        left = [leaf if type is None else next(moved) for leaf, type in pairs]
        pairs = zip(self.names, self.skeletons, strict=True)
        return {name: unflatten(e, skeleton, left) for name, skeleton in pairs}

    def owner(self, leaf: int) -> str:
        for name, count in zip(self.names, self.counts, strict=False):
            if leaf < count:
                return name
            leaf -= count
        return ""


def _entry_type(leaf: Any) -> Any:
    """The type that a leaf has in a loop unless the body makes it another."""
    if isinstance(leaf, Fixed):
        return None
    if is_memory(leaf):
        return type_of((), index)
    return type_of((), constant_dtype(leaf, None)) if is_weak(leaf) else leaf.type


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether one shape broadcasts to another."""
    ends = zip(reversed(shape), reversed(to), strict=False)
    return len(shape) <= len(to) and all(a in (1, b) for a, b in ends)


class Loops:
    """The part of the compiler that compiles loops."""

    def for_statement(self, node: ast.For) -> None:
        items = self.expr(node.iter)
        self.e.node = node
        self.e.frame.loops += 1
        try:
            if isinstance(items, Range):
                if not isinstance(node.target, ast.Name):
                    raise Misuse("expected one name as the variable of a range, got several")
                if ended_flag(node) is None:
                    self.range_loop(node, items)
                elif "tile.share" in (items.decisions or {}):
                    raise Misuse(
                        "expected a loop whose rounds are known before it, since kiln.pin shares "
                        "them out, got one that ends early",
                    )
                else:
                    self.range_loop_left_early(node, items)
            else:
                for item in self.unrolled(items, node.iter):
                    self.assign(node.target, item)
                    self.block(node.body)
        finally:
            self.e.frame.loops -= 1

    def unrolled(self, items: Any, node: ast.AST) -> list[Any]:
        """The items that a loop over constants goes through."""
        if isinstance(items, Range) and items.decisions:
            raise self.error(
                "expected a loop that is not unrolled, since kiln.pin decides of it", None, node
            )
        if isinstance(items, Range) and not has_values((items.start, items.stop, items.step)):
            items = range(items.start, items.stop, items.step)
        if (
            isinstance(items, range)
            and items
            and (items[-1] - items[0]) // items.step >= MAX_UNROLLED
        ):
            raise self.error(
                f"expected at most {MAX_UNROLLED} rounds to unroll, got "
                f"{(items[-1] - items[0]) // items.step + 1}",
                "`for ... in range(...)` compiles to a loop",
                node,
            )
        if isinstance(items, (Range, Value)):
            raise self.error(
                f"expected a range, a tuple or a static range, got {describe(items)}",
                "for i in range(n), for x in (a, b), for i in kiln.static_range(4)",
                node,
            )
        return self.unpackable(items, node)

    def carried(self, node: ast.For | ast.While) -> Carried:
        """What a loop carries, with the types it starts from."""
        frame = self.e.frame
        names, skeletons, counts, leaves = [], [], [], []
        for name in frame.liveness.carried(node):
            value = frame.names.get(name)
            if name not in frame.names or isinstance(value, Undefined):
                continue
            before = len(leaves)
            names.append(name)
            skeletons.append(flatten(self.e, value, leaves))
            counts.append(len(leaves) - before)
        known = self.loop_types.get(self.loop_key(node, leaves))
        if known is None:
            types = [_entry_type(leaf) for leaf in leaves]
            weak = [is_weak(leaf) and not isinstance(leaf, (bool, Fixed)) for leaf in leaves]
        else:
            types, weak = map(list, known)
        return Carried(names, skeletons, counts, leaves, types, weak)

    def loop_key(self, node: ast.AST, leaves: list[Any]) -> Any:
        kinds = tuple(constant_dtype(v, None) if is_weak(v) else (_entry_type(v),) for v in leaves)
        return (self.e.frame.call_alias, id(node), kinds)

    def range_loop(self, node: ast.For, items: Range) -> None:
        """`for` over a range, as `scf.for`."""
        e = self.e
        name = node.target.id
        start, step, (low, high, by) = self.range_bounds(items)
        carried = self.carried(node)

        def body(values: list[Value]) -> tuple[list[str], str]:
            variable = Value(e.fresh(), type_of((), index))
            self.note_variable(variable, low, high, by)
            with e.region() as lines:
                e.frame.names.update(carried.bind(e, values))
                e.frame.names[name] = self.position(variable, start, step)
                self.block(node.body)
            return lines, variable.ref

        values, yields, (lines, variable) = self.settle(node, carried, body)
        entry = carried.entry(e)
        results = carried.values(e)
        head, tail = "", ""
        types = ", ".join(t.ir for t in carried.moving)
        if results:
            head = f"{', '.join(v.ref for v in results)} = "
            pairs = ", ".join(f"{a.ref} = {v.ref}" for a, v in zip(values, entry, strict=True))
            tail = f" iter_args({pairs}) -> ({types})"
        bounds = f"{low.ref} to {high.ref} step {by.ref}"
        e.raw(f"{head}scf.for {variable} = {bounds}{tail} {{")
        e.splice(lines)
        if results:
            e.depth += 1
            e.line(f"scf.yield {', '.join(v.ref for v in yields)} : {types}")
            e.depth -= 1
        self.open_pins.pop(items, None)
        e.close(items.decisions or {})
        e.note_results(results, "the loop")
        self.after_loop(node, carried, results, name)

    def range_loop_left_early(self, node: ast.For, items: Range) -> None:
        """`for` over a range that may end early, as `scf.while`: over rounds, while none has left
        it. The flag is false inside."""
        e = self.e
        name, flag = node.target.id, ended_flag(node)
        start, stop, step = self.plain_bounds(items)
        count = self.rounds_of(items, start, stop, step)

        def test(counters: list[Value]) -> Value:
            more = e.compare("arith.cmpi", "slt", counters[0], count)
            ended = bool_of(e, e.frame.names[flag])
            going = e.binary("arith.xori", ended, e.constant(True, bool_))
            more = e.binary("arith.andi", more, going)
            return PinnedCondition(more, items.decisions) if items.decisions else more

        def begin(counters: list[Value]) -> list[Value]:
            e.frame.names[flag] = False
            e.frame.names[name] = self.position(counters[0], start, step)
            return [e.binary("arith.addi", counters[0], e.index(1))]

        self.open_pins.pop(items, None)
        self.while_loop(node, test, begin, [e.index(0)], name)

    def range_bounds(self, items: Range) -> tuple[Value | None, Value | None, tuple[Value, ...]]:
        """What is added to the loop's variable and what it is multiplied by before, if anything,
        and the loop's bounds and step. No sum of them passes 2^63: `scf.for` adds its step to the
        last position too, and compares."""
        e = self.e
        step = items.step
        start, stop, by = self.plain_bounds(items)
        if isinstance(step, int) and 0 < step <= SMALL_STEP:
            known = (e.magnitudes.get(start.ref), e.magnitudes.get(stop.ref))
            if step == 1 or known != (None, None):
                return None, None, (start, stop, by)
            return start, None, (e.index(0), self.distance(start, stop), by)
        count = self.rounds_of(items, start, stop, by)
        return start, by, (e.index(0), count, e.index(1))

    def position(self, variable: Value, start: Value | None, step: Value | None) -> Value:
        """What a loop's variable stands for: `start + variable * step`."""
        e = self.e
        if step is not None:
            variable = e.binary("arith.muli", variable, step)
        return variable if start is None else e.binary("arith.addi", start, variable)

    def note_variable(self, variable: Value, low: Value, high: Value, by: Value) -> None:
        """Bounds the variable of a loop by its bounds, or by where its rounds can lead."""
        known = self.e.magnitudes
        first, last, step = (known.get(x.ref) for x in (low, high, by))
        if first is not None and last is not None:
            known.note(variable.ref, max(first, last))
        elif first is not None and step is not None:
            known.note(variable.ref, first + ENDLESS * step)

    def plain_bounds(self, items: Range) -> tuple[Value, Value, Value]:
        """Start, stop and step, which is not zero, and positive unless it is constant."""
        e = self.e
        start, stop, by = (
            index_of(e, x, word)
            for x, word in ((items.start, "start"), (items.stop, "stop"), (items.step, "step"))
        )
        if isinstance(items.step, int):
            if items.step == 0:
                raise Misuse("expected a step that is not zero, got 0")
            return start, stop, by
        positive = e.compare("arith.cmpi", "sgt", by, e.index(0))
        if not e.host:
            message = '"the step of a range is not positive"'
            e.effect(f"tile.assert {positive.ref}, {message} : i1")
        # Any step that ends the loop, by which what is known to divide the step is divided too.
        return start, stop, e.select(positive, by, e.index(1 << 30))

    def distance(self, low: Value, high: Value) -> Value:
        """How far `high` is above `low`, 0 if it is not, at most 2^62."""
        e = self.e
        far = e.binary("arith.subi", e.binary("arith.maxsi", low, high), low)
        return e.binary("arith.minui", far, e.index(1 << 62))

    def rounds_of(self, items: Range, start: Value, stop: Value, step: Value) -> Value:
        """How many rounds a range has: none if it is not positive. `step` is the range's."""
        if not isinstance(items.step, int) or items.step > 0:
            return self.rounds(start, stop, step)
        if isinstance(items.stop, int) and items.stop == 0 and -items.step < 1 << 63:
            # No difference to take.
            return self.e.binary("arith.ceildivsi", start, self.e.index(-items.step))
        return self.rounds(stop, start, -items.step)

    def rounds(self, low: Value, high: Value, step: int | Value) -> Value:
        """How many steps lead from `low` to `high` or beyond, at most 2^63 - 1: of so many rounds
        nobody sees the end."""
        e = self.e
        by = e.index(step if step < 1 << 63 else -step) if isinstance(step, int) else step
        far = e.binary("arith.subi", e.binary("arith.maxsi", low, high), low)
        some = e.binary("arith.minui", far, e.index(1))
        before = e.binary("arith.divui", e.binary("arith.subi", far, some), by)
        count = e.binary("arith.addi", before, some)
        return e.binary("arith.minui", count, e.index((1 << 63) - 1))

    def settle(self, node: ast.AST, carried: Carried, body) -> tuple[list[Value], list[Value], Any]:
        """Compiles a body until the carried types hold. Gives the values in the loop, what the
        body yields, and what `body` gave."""
        e = self.e
        frame = e.frame
        before = frame.names
        said = len(self.messages)
        key = self.loop_key(node, carried.leaves)
        for _ in range(MAX_ATTEMPTS):
            frame.names = dict(before)
            del self.messages[said:]
            values = carried.values(e)
            made = body(values)
            e.node = node
            ends: list[Any] = []
            for name, skeleton in zip(carried.names, carried.skeletons, strict=False):
                value = frame.names[name]
                if isinstance(value, Undefined):
                    raise Misuse(
                        f"expected `{name}` to keep a value in the loop, but {value.reason}"
                    )
                if flatten(e, value, ends) != skeleton:
                    raise self.changed_kind(name, value)
            weak = [w and is_weak(end) for w, end in zip(carried.weak, ends, strict=True)]
            types = [self.joined(carried, i, end) for i, end in enumerate(ends)]
            if types == carried.types and weak == carried.weak:
                self.loop_types[key] = (types, weak)
                lines = made[0]
                moved = [(v, t) for v, t in zip(ends, types, strict=True) if t is not None]
                yields = [self.in_region(lines, v, t) for v, t in moved]
                frame.names = before
                return values, yields, made
            carried.types, carried.weak = types, weak
        raise Misuse(
            "expected the types in a loop to settle, got new ones each time", "typed values"
        )

    def joined(self, carried: Carried, i: int, end: Any) -> Any:
        """The type of a carried leaf, given what the body makes of it."""
        type, entry = carried.types[i], carried.leaves[i]
        if isinstance(entry, Fixed) or is_memory(entry):
            stays = type is None and same_constant(entry, end)
            return None if stays else type_of((), index)
        name = carried.owner(i)
        if carried.weak[i] and is_weak(end):
            floating = type.dtype.is_float or constant_dtype(end, None).is_float
            return type_of((), f32 if floating else i64)
        if is_weak(end):
            dtype = constant_dtype(end, type.dtype)
            if not is_weak(entry) and dtype is not type.dtype:
                raise self.changed(name, type, end)
            return type_of(getattr(type, "shape", ()), dtype)
        if end.type == type:
            return type
        if carried.weak[i] and end.is_numeric:
            return type_of(end.shape, constant_dtype(0.0 if type.dtype.is_float else 0, end.dtype))
        if not is_weak(entry):
            wide = position_type(type, end)
            if wide is not None:
                return wide
            raise self.changed(name, type, end)
        if not end.is_numeric:
            raise self.changed(name, type, end)
        if type.dtype in (end.dtype, constant_dtype(entry, None)):
            return end.type
        return type_of(end.shape, promote_dtypes(type.dtype, end.dtype))

    def changed(self, name: str, type: Any, end: Any) -> CompileError:
        """The error at the last assignment that changes the type of a carried name."""
        shape, wanted = shape_of(end), getattr(type, "shape", ())
        legal = (
            f"start with a value of the right type, or cast at the end of the body: "
            f"{name} = {name}.to({type.dtype})"
        )
        if shape != wanted:
            dtype = constant_dtype(end, type.dtype) if is_weak(end) else end.dtype
            start = f"start with that shape: {name} = kiln.full({shape}, ..., kiln.{dtype})"
            legal = start if _broadcasts(wanted, shape) else None
        return self.error(
            f"expected `{name}` to keep its type in the loop, a {type}, got {describe(end)}",
            legal,
            last_assignment(self.e.node.body, name),
        )

    def changed_kind(self, name: str, value: Any) -> CompileError:
        """The error at the last assignment of a carried name, where the loop makes of a number,
        say, a view."""
        return self.error(
            f"expected `{name}` to stay of one kind in the loop, got {describe(value)}",
            "scalars, tensors, views of one dtype and rank, and tuples of them; constants other "
            "than numbers change only in loops over kiln.static_range",
            last_assignment(self.e.node.body, name),
        )

    def while_statement(self, node: ast.While) -> None:
        """`while`, as `scf.while`."""

        def test(_: list[Value]) -> Any:
            condition = self.condition_of(node.test)
            pinned = isinstance(condition, PinnedCondition)
            constant = condition.constant if pinned else condition
            if pinned and constant is False:
                raise self.error(
                    "expected a loop, since kiln.pin decides of it, got the condition False",
                    node=node.test,
                )
            if isinstance(constant, Value) or constant is None:
                self.constant_truth(condition)
            elif has_values(constant) or constant:
                raise self.error(
                    f"expected a condition that can become false, got {describe(constant)}",
                    "a condition on a variable that the loop assigns, or `break`",
                    node.test,
                )
            return condition

        self.while_loop(node, test, lambda _: [], [], None)

    def condition_of(self, node: ast.expr) -> Any:
        """The condition of a `while`. What kiln.pin decided of one that the author wrote is of what
        asks for the end first, too."""
        condition, written = self.expr(node), written_condition(node)
        for pinned, at in self.open_pins.items():
            if at is written:
                del self.open_pins[pinned]
                return PinnedCondition(condition, pinned.decisions)
        return condition

    def while_loop(
        self,
        node: ast.For | ast.While,
        test: Callable[[list[Value]], Any],
        begin: Callable[[list[Value]], list[Value]],
        counters: list[Value],
        variable: str | None,
    ) -> None:
        """`scf.while`: `test` gives the condition; `begin` what the counters, which the loop
        carries beside the names, are in the next round."""
        e = self.e
        frame = e.frame
        e.effects += 1
        carried = self.carried(node)

        def fresh() -> list[Value]:
            return [Value(e.fresh(), counter.type) for counter in counters]

        def body(values: list[Value]):
            outer, inner = fresh(), fresh()
            with e.region() as before:
                frame.names.update(carried.bind(e, values))
                condition = bool_of(e, test(outer))
            self.open_pins.pop(condition, None)
            inside = carried.values(e)
            frame.loops += 1
            try:
                with e.region() as lines:
                    frame.names.update(carried.bind(e, inside))
                    following = begin(inner)
                    self.block(node.body)
            finally:
                frame.loops -= 1
            return lines, before, condition, outer, inner + inside, following

        values, yields, made = self.settle(node, carried, body)
        lines, before, condition, outer, inside, following = made
        entry = [*counters, *carried.entry(e)]
        values, yields = [*outer, *values], [*following, *yields]
        results = [*fresh(), *carried.values(e)]
        types = ", ".join(v.type.ir for v in values)
        head = f"{', '.join(v.ref for v in results)} = " if results else ""
        pairs = ", ".join(f"{a.ref} = {v.ref}" for a, v in zip(values, entry, strict=True))
        e.raw(f"{head}scf.while ({pairs}) : ({types}) -> ({types}) {{")
        e.splice(before)
        e.depth += 1
        colon = f" : {types}" if results else ""
        e.line(f"scf.condition({condition.ref}) {', '.join(v.ref for v in values)}{colon}")
        e.depth -= 1
        e.raw("} do {")
        if results:
            arguments = ", ".join(f"{v.ref}: {v.type.ir}" for v in inside)
            e.raw(f"^bb0({arguments}):")
        e.splice(lines)
        e.depth += 1
        e.line(f"scf.yield {', '.join(v.ref for v in yields)}{colon}".rstrip())
        e.depth -= 1
        decisions = condition.decisions if isinstance(condition, PinnedCondition) else {}
        if "tile.split_loop" in decisions:
            raise Misuse(
                "expected decisions about the condition of a `while`, got split",
                "role, stage, order, depth",
                "split",
            )
        e.close(decisions, "attributes ")
        e.note_results(results, "the loop")
        self.after_loop(node, carried, results[len(counters) :], variable)

    def after_loop(
        self,
        node: ast.For | ast.While,
        carried: Carried,
        results: list[Value],
        variable: str | None,
    ) -> None:
        """The names after a loop: the carried ones have its results, others none."""
        names = self.e.frame.names
        line = self.e.frame.source.position(node)[0]
        for name in assigned(node.body):
            names[name] = Undefined(
                f"it is assigned only inside the loop in line {line}, which may run no round: "
                "give it a value before the loop"
            )
        names.update(carried.bind(self.e, results))
        if variable is not None and variable not in carried.names:
            names[variable] = Undefined(
                f"it is the variable of the loop in line {line}, which has ended"
            )
