"""Conditions: `if`, conditional expressions, `and`, `or`.

A constant condition chooses when compiling. A run-time one becomes `scf.if`, whose results are
the names that a branch assigns and that are read afterwards; where the branches differ in
constants these become run-time values, and where they differ in types it is an error.
"""

from __future__ import annotations

import ast
from typing import Any

from kiln.frontend.arithmetic.casts import bool_of, coerce, scalar_of
from kiln.frontend.arithmetic.promotion import (
    constant_dtype,
    holds,
    promote_dtypes,
    weak_dtype,
)  # fmt: skip
from kiln.frontend.errors import Misuse
from kiln.frontend.skeletons import Fixed, flatten, is_memory, unflatten
from kiln.frontend.syntax.early_ends import leaving_branch
from kiln.frontend.syntax.liveness import always_returns
from kiln.frontend.types import ScalarType
from kiln.frontend.values import (
    Undefined,
    Value,
    choices,
    describe,
    has_values,
    is_const_number,
    is_weak,
    type_of,
)  # fmt: skip
from kiln.frontend.views import address_of
from kiln.language.dtypes import bool_, i64, index

MAX_COPIES = 100
"""How often what follows an `if` may be compiled twice, once for each branch."""


class PinnedCondition(Value):
    """A condition, and what kiln.pin decides of the `if` or of the `while` that asks it, as
    attributes; `constant` where it is known when compiling."""

    __slots__ = ("constant", "decisions")

    def __init__(
        self,
        condition: Value,
        decisions: dict[str, str | None],
        constant: bool | None = None,
    ):
        super().__init__(condition.ref, condition.type)
        self.decisions = decisions
        self.constant = constant


class Branches:
    """The part of the compiler that compiles conditions."""

    def constant_truth(self, condition: Any) -> bool | None:
        """Whether a condition holds, or None where only the run can tell."""
        if not isinstance(condition, Value):
            if has_values(condition):
                return True
            return bool(condition)
        if not condition.is_scalar:
            raise Misuse(
                f"expected a scalar condition, got {describe(condition)}",
                "kiln.where(condition, x, y) chooses element by element; kiln.any and kiln.all "
                "make a scalar",
            )
        return None

    def plain_if(self, node: ast.If, condition: Value) -> None:
        """An `if` on a run-time scalar without `return`."""
        e = self.e
        frame = e.frame
        names = frame.liveness.given_back(node)
        before = frame.names
        ends = []
        regions = []
        for statements in (node.body, node.orelse):
            frame.names = dict(before)
            with e.region() as lines:
                self.block(statements)
            ends.append(frame.names)
            regions.append(lines)
        e.node = node
        pairs = []
        out = dict(before)
        leaves = leaving_branch(node)
        for name in dict.fromkeys(ends[0] | ends[1]):
            missing = Undefined("it has none")
            a, b = ends[0].get(name, missing), ends[1].get(name, missing)
            if name in names and leaves == "body" and isinstance(a, Undefined):
                a = self.placeholder(b)
            elif name in names and leaves == "orelse" and isinstance(b, Undefined):
                b = self.placeholder(a)
            if a is b:
                out[name] = a
            elif name not in names or isinstance(a, Undefined) or isinstance(b, Undefined):
                line = frame.source.position(node)[0]
                out[name] = Undefined(f"only one branch of the `if` in line {line} gives it one")
            else:
                pairs.append((name, a, b))
        results = self.emit_if(condition, regions, pairs, "the `if`")
        frame.names = out | results

    def placeholder(self, value: Any) -> Any:
        """What a name stands for where it cannot be read: zeros of the other branch's kind."""
        leaves: list[Any] = []
        skeleton = flatten(self.e, value, leaves)
        if any(isinstance(leaf, Value) and not leaf.is_numeric for leaf in leaves):
            return Undefined("it is a view that only one branch gives it")
        zeros: list[Any] = []
        for leaf in leaves:
            if isinstance(leaf, Value) and not leaf.weak:
                leaf = self.e.constant(0, leaf.dtype, leaf.shape)
            elif isinstance(leaf, Value):
                leaf = 0.0 if leaf.dtype.is_float else 0
            zeros.append(leaf)
        return unflatten(self.e, skeleton, zeros)

    def returning_if(self, node: ast.If, condition: Value, rest: list[ast.stmt]) -> Any:
        """An `if` on a run-time scalar of which a branch returns: what follows it belongs to
        the branches that do not."""
        self.check_return(node)
        if rest and not always_returns(node.body) and not always_returns(node.orelse):
            self.copies += 1
            if self.copies > MAX_COPIES:
                raise self.error(
                    "expected few branches that return in some cases only, got too many",
                    "a variable that says whether to go on, and one `return` at the end",
                )
        e = self.e
        frame = e.frame
        before = frame.names
        values = []
        regions = []
        for statements in (node.body, node.orelse):
            frame.names = dict(before)
            frame_node = e.node
            with e.region() as lines:
                value = self.block(statements + rest)
            e.node = frame_node
            values.append(value if not _fell_through(value) else None)
            regions.append(lines)
        frame.names = before
        e.node = node
        pairs = [("the returned value", values[0], values[1])]
        return self.emit_if(condition, regions, pairs, "the `if`")["the returned value"]

    def conditional(self, node: ast.IfExp) -> Any:
        """`a if condition else b`."""
        e = self.e
        condition = self.expr(node.test)
        constant = self.constant_truth(condition)
        if constant is not None:
            return self.expr(node.body if constant else node.orelse)
        values = []
        regions = []
        for branch in (node.body, node.orelse):
            with e.region() as lines:
                values.append(self.expr(branch))
            regions.append(lines)
        word = "the conditional expression"
        return self.emit_if(condition, regions, [(word, *values)], word)[word]

    def bool_op(self, is_and: bool, nodes: list[ast.expr]) -> Any:
        """`and` and `or` of scalars; the right side is computed only where it is needed, or
        where computing it cannot be noticed."""
        word = "and" if is_and else "or"
        value = self.expr(nodes[0])
        if len(nodes) == 1:
            return value
        if not isinstance(value, Value):
            decided = bool(value) != is_and if not has_values(value) else not is_and
            return value if decided else self.bool_op(is_and, nodes[1:])
        left = self._condition(value, word)
        if isinstance(left, PinnedCondition):  # which is of a whole condition
            left = Value(left.ref, left.type)
        e = self.e
        effects = e.effects
        with e.region() as lines:
            right = self.bool_op(is_and, nodes[1:])
            if isinstance(right, Value):
                right = self._condition(right, word)
        if not isinstance(right, Value):
            if isinstance(right, bool):
                return left if right == is_and else right
            raise Misuse(f"expected bools around `{word}`, got {describe(right)}")
        if e.effects == effects:
            e.splice([line.removeprefix("  ") for line in lines])
            return e.binary("arith.andi" if is_and else "arith.ori", left, right)
        with e.region() as other:
            pass
        regions, pair = (
            ([lines, other], (right, False)) if is_and else ([other, lines], (True, right))
        )
        return self.emit_if(left, regions, [(word, *pair)], f"the `{word}`")[word]

    def _condition(self, value: Any, word: str) -> Value:
        if not (isinstance(value, Value) and value.is_scalar):
            raise Misuse(
                f"expected bool scalars around `{word}`, got {describe(value)}",
                "& and | work element by element (with brackets around comparisons)",
            )
        if not value.dtype.is_bool:
            raise Misuse(f"expected bool scalars around `{word}`, got {describe(value)}", "x != 0")
        return value

    def emit_if(
        self,
        condition: Value,
        regions: list[list[str]],
        pairs: list[tuple[str, Any, Any]],
        what: str,
    ) -> dict[str, Any]:
        """`scf.if` over two regions that are already emitted, giving one value for each pair
        of (name, value in the first branch, value in the second). `what` is what the author calls
        it."""
        e = self.e
        condition = bool_of(e, condition)
        flat: list[tuple[str, Any, Any]] = []
        skeletons = []
        for name, a, b in pairs:
            left: list[Any] = []
            right: list[Any] = []
            skeleton, other = flatten(e, a, left), flatten(e, b, right)
            if skeleton != other:
                raise Misuse(
                    f"expected {name} to be of one kind in both branches, got {describe(a)} "
                    f"and {describe(b)}",
                    "scalars, tensors and views of one type, and the same constants",
                )
            skeletons.append((name, skeleton, len(left)))
            flat += [(name, x, y) for x, y in zip(left, right, strict=False)]
        leaves: list[Any] = []
        yields: tuple[list[Value], list[Value]] = ([], [])
        types = []
        for name, x, y in flat:
            if same_constant(x, y):
                leaves.append(x)
                continue
            type = join_types(name, x, y)
            both = is_weak(x) and is_weak(y) and type.dtype not in (bool_, index)
            weak = choices(x, y) if both else False
            for lines, side, value in zip(regions, yields, (x, y), strict=False):
                side.append(self.in_region(lines, value, type))
            result = Value(e.fresh(), type, weak=weak)
            types.append(type)
            leaves.append(result)
        results = [v for v in leaves if _is_new(v, flat)]
        self._write_if(condition, regions, yields, types, results)
        e.note_results(results, what)
        out = {}
        for name, skeleton, count in skeletons:
            out[name] = unflatten(e, skeleton, leaves[:count])
            leaves = leaves[count:]
        return out

    def in_region(self, lines: list[str], value: Any, type: Any) -> Value:
        """A leaf in a type, converted at the end of a region that is already emitted."""
        e = self.e
        outer, e.lines = e.lines, lines
        e.depth += 1
        try:
            return to_type(e, value, type)
        finally:
            e.lines = outer
            e.depth -= 1

    def _write_if(self, condition, regions, yields, types, results) -> None:
        e = self.e
        decisions = self._of_branch(condition)
        is_scalar = bool(results) and all(isinstance(t, ScalarType) for t in types)
        if is_scalar and not (decisions or any(regions)):
            for result, x, y in zip(results, *yields, strict=False):
                e.line(
                    f"{result.ref} = arith.select {condition.ref}, {x.ref}, {y.ref} : {x.type.ir}"
                )
            return
        texts = ", ".join(t.ir for t in types)
        head = f"{', '.join(v.ref for v in results)} = " if results else ""
        tail = f" -> ({texts})" if results else ""
        if not results and not any(regions):
            if decisions:
                raise Misuse("expected an `if` with operations, since kiln.pin decides of it")
            return
        e.raw(f"{head}scf.if {condition.ref}{tail} {{")
        for i, (lines, values) in enumerate(zip(regions, yields, strict=False)):
            if i == 1:
                if not lines and not results:
                    break
                e.raw("} else {")
            e.splice(lines)
            if results:
                e.depth += 1
                e.line(f"scf.yield {', '.join(v.ref for v in values)} : {texts}")
                e.depth -= 1
        e.close(decisions)

    def _of_branch(self, condition: Value) -> dict[str, str | None]:
        """What kiln.pin decides of the `if` that asks a condition."""
        if not isinstance(condition, PinnedCondition):
            return {}
        self.open_pins.pop(condition, None)
        if condition.constant is not None:
            raise Misuse(
                "expected a condition that only the run knows, since kiln.pin decides of the `if`, "
                f"got {condition.constant}"
            )
        if "tile.depth" in condition.decisions:
            raise Misuse(
                "expected decisions about the condition of an `if`, got depth",
                "role, stage, order, split",
                "depth",
            )
        return condition.decisions


def _fell_through(value: Any) -> bool:
    from kiln.frontend.syntax.statements import NO_RETURN

    return value is NO_RETURN


def _is_new(value: Any, flat: list[tuple[str, Any, Any]]) -> bool:
    return isinstance(value, Value) and not any(value is x and value is y for _, x, y in flat)


def same_constant(x: Any, y: Any) -> bool:
    """Whether two leaves are one constant, or one value."""
    if isinstance(x, Value) or isinstance(y, Value):
        return x is y
    return type(x) is type(y) and repr(x) == repr(y)


def join_types(name: str, x: Any, y: Any):
    """The type that a leaf has after two branches. Raises Misuse."""
    if is_memory(x) or (isinstance(x, Fixed) and isinstance(y, Fixed)):
        return type_of((), index)
    if is_weak(x) and is_weak(y):
        return type_of((), weak_dtype(x, y))
    if is_weak(x) or is_weak(y):
        value, constant = (y, x) if is_weak(x) else (x, y)
        if value.is_numeric:
            return type_of(value.shape, constant_dtype(constant, value.dtype))
    elif x.type == y.type:
        return x.type
    elif (wide := position_type(x.type, y)) is not None:
        return wide
    raise Misuse(
        f"expected `{name}` to be of one type, got {describe(x)} and {describe(y)}".replace(
            f"`{name}`", name if " " in name else f"`{name}`"
        ),
        "a cast with .to(dtype), or one shape",
    )


def position_type(type: Any, value: Value) -> Any:
    """The type that integers of one shape meet in where one of them is a position, which has 64
    bits: an `index`, or what came of one. None for others."""
    if not value.is_numeric or type_shape(type) != value.shape:
        return None
    if not (type.dtype.is_integer and value.dtype.is_integer):
        return None
    wide = promote_dtypes(type.dtype, value.dtype)
    both = holds(wide, type.dtype) and holds(wide, value.dtype)
    return type_of(value.shape, wide) if both and wide in (i64, index) else None


def to_type(e, value: Any, type: Any) -> Value:
    """A leaf in a type that it is known to fit."""
    if is_memory(value):
        return address_of(e, value)
    if isinstance(value, Value):
        if value.type == type:
            return value
        if value.is_scalar and not type_shape(type):
            return scalar_of(e, value, type.dtype)
        return coerce(e, value, type_shape(type), type.dtype)
    if is_const_number(value):
        return e.constant(value, type.dtype, type_shape(type))
    raise Misuse(f"expected a value, got {describe(value)}")


def type_shape(type: Any) -> tuple[int, ...]:
    """The shape of a tensor's type; () for a scalar's."""
    return () if isinstance(type, ScalarType) else type.shape
