"""Expressions: from a node of the syntax tree to a constant or a value."""

from __future__ import annotations

import ast
import operator
import re
from types import ModuleType
from typing import Any

from kiln.frontend.arithmetic import operators
from kiln.frontend.arithmetic.constants import MAX_LENGTH, check_length, fold_binary, fold_unary
from kiln.frontend.errors import Misuse
from kiln.frontend.syntax.attributes import attribute
from kiln.frontend.syntax.loops import Range
from kiln.frontend.syntax.subscripts import number, subscript
from kiln.frontend.values import (
    Closure,
    Struct,
    TypeText,
    Value,
    describe,
    has_values,
    is_numeric,
    shape_of,
)  # fmt: skip

_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<",
    ast.RShift: ">>", ast.MatMult: "@",
}  # fmt: skip
_UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
_COMPARE = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_PYTHON_COMPARE = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


class Expressions:
    """The part of the compiler that has one method a kind of expression."""

    def expr(self, node: ast.expr) -> Any:
        """What an expression stands for. Errors carry its position."""
        e = self.e
        saved = e.node
        e.node = node
        self.spend()
        try:
            method = getattr(self, "expr_" + type(node).__name__, None)
            if method is None:
                raise Misuse(
                    f"expected an expression that a kernel can hold, got a {type(node).__name__}",
                    "arithmetic, comparisons, calls, tuples, subscripts, attributes, lambdas, "
                    "conditional expressions and constants",
                )
            return method(node)
        except Misuse as misuse:
            raise self.error(misuse.message, misuse.legal) from None
        except RecursionError:
            raise self.error("expected an expression of moderate depth, got one too deep") from None
        finally:
            e.node = saved

    def expr_Constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, (bytes, complex)):
            raise Misuse(f"expected an int, float, bool or string, got {node.value!r}")
        return check_length(node.value)

    def expr_Name(self, node: ast.Name) -> Any:
        return self.lookup(node.id)

    def expr_Tuple(self, node: ast.Tuple | ast.List) -> tuple:
        return tuple(self.elements(node.elts))

    expr_List = expr_Tuple

    def elements(self, nodes: list[ast.expr]) -> list[Any]:
        """The values of expressions, starred ones unpacked."""
        out = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                out += self.unpackable(self.expr(node.value), node)
            else:
                out.append(self.expr(node))
        return out

    def unpackable(self, value: Any, node: ast.AST | None = None) -> list[Any]:
        """The elements of something that unpacks."""
        if isinstance(value, (tuple, range)):
            return list(value)
        if isinstance(value, Struct) and value.unpacks:
            return list(value.fields.values())
        raise self.error(f"expected a tuple, got {describe(value)}", node=node)

    def expr_BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.expr(node.left), self.expr(node.right)
        return self.binary(_BINARY[type(node.op)], left, right)

    def binary(self, op: str, left: Any, right: Any) -> Any:
        """`left op right` at the current node."""
        left, right = number(self, left), number(self, right)
        if op == "@":
            return self.intrinsic("dot", [left, right], {})
        if isinstance(left, Value) or isinstance(right, Value):
            return operators.binary(self.e, op, left, right)
        if op == "+" and isinstance(left, tuple) and isinstance(right, tuple):
            return check_length(left + right)
        return fold_binary(op, left, right)

    def expr_UnaryOp(self, node: ast.UnaryOp) -> Any:
        op = _UNARY[type(node.op)]
        value = number(self, self.expr(node.operand))
        if isinstance(value, Value):
            return operators.unary(self.e, op, value)
        return fold_unary(op, value)

    def expr_Compare(self, node: ast.Compare) -> Any:
        left = self.expr(node.left)
        out: Any = True
        for op, right_node in zip(node.ops, node.comparators, strict=False):
            right = self.expr(right_node)
            one = self.compare(op, left, right)
            out = one if out is True else self.both(out, one)
            if out is False:
                return False
            left = right
        return out

    def both(self, a: Any, b: Any) -> Any:
        """The `and` of two comparisons, elementwise."""
        if isinstance(a, bool):
            return b if a else False
        if isinstance(b, bool):
            return a if b else False
        return operators.binary(self.e, "&", a, b)

    def compare(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        if isinstance(op, (ast.Is, ast.IsNot)):
            if has_values(left) or has_values(right):
                same = left is right if None not in (left, right) else False
            else:
                same = left is right or (left == right and type(left) is type(right))
            return same == isinstance(op, ast.Is)
        if isinstance(op, (ast.In, ast.NotIn)):
            found = self.contains(right, left)
            if isinstance(op, ast.In):
                return found
            return operators.unary(self.e, "not", found) if isinstance(found, Value) else not found
        text = _COMPARE[type(op)]
        left, right = number(self, left), number(self, right)
        if isinstance(left, Value) or isinstance(right, Value):
            return operators.compare_checked(self.e, text, left, right)
        if has_values(left) or has_values(right):
            raise Misuse(f"expected constants or scalars around `{text}`, got tuples of values")
        try:
            return bool(_PYTHON_COMPARE[text](left, right))
        except TypeError:
            raise Misuse(
                f"expected two things that compare, got {describe(left)} and {describe(right)}"
            ) from None

    def contains(self, items: Any, x: Any) -> Any:
        """`x in items`: whether it is the same as one of them."""
        if isinstance(items, Struct) and items.unpacks:
            items = tuple(items.fields.values())
        if isinstance(items, Range) or (isinstance(items, range) and isinstance(x, Value)):
            return self.in_range(items, x)
        if not isinstance(items, (tuple, str, range)):
            raise Misuse(
                f"expected a tuple, a string or a range after `in`, got {describe(items)}",
                "kiln.any(x == y) looks for a scalar y in a tensor",
            )
        if not has_values(items) and not has_values(x):
            try:
                return x in items
            except TypeError:
                raise Misuse(f"expected a string before `in`, got {describe(x)}") from None
        if isinstance(x, Value) and not x.is_scalar:
            raise Misuse(f"expected a scalar before `in`, got {describe(x)}")
        found: Any = False
        for item in items:
            numbers = is_numeric(x) and is_numeric(item)
            same = self.compare(ast.Eq(), x, item) if numbers else item is x
            if same is True:
                return True
            if same is not False:
                found = same if found is False else operators.binary(self.e, "|", found, same)
        return found

    def in_range(self, items: Any, x: Any) -> Any:
        """Whether a number is one of a range's, whose step is a constant."""
        if not is_numeric(x) or shape_of(x):
            raise Misuse(f"expected an integer scalar before `in`, got {describe(x)}")
        start, stop, step = items.start, items.stop, items.step
        if not isinstance(step, int):
            raise Misuse(f"expected a range of a constant step after `in`, got {describe(step)}")
        low, high = ("<=", "<") if step > 0 else (">=", ">")
        within = self.both(self._ordered(low, start, x), self._ordered(high, x, stop))
        if abs(step) == 1 or within is False:
            return within
        rest = self.binary("%", self.binary("-", x, start), abs(step))
        return self.both(within, self._ordered("==", rest, 0))

    def _ordered(self, text: str, a: Any, b: Any) -> Any:
        if isinstance(a, Value) or isinstance(b, Value):
            return operators.compare_checked(self.e, text, a, b)
        return bool(_PYTHON_COMPARE[text](a, b))

    def expr_BoolOp(self, node: ast.BoolOp) -> Any:
        return self.bool_op(isinstance(node.op, ast.And), node.values)

    def expr_IfExp(self, node: ast.IfExp) -> Any:
        return self.conditional(node)

    def expr_NamedExpr(self, node: ast.NamedExpr) -> Any:
        value = self.expr(node.value)
        self.assign(node.target, value)
        return value

    def expr_Attribute(self, node: ast.Attribute) -> Any:
        value = self.expr(node.value)
        if isinstance(value, ModuleType):
            return self.attribute_of(value, node.attr)
        return attribute(self, value, node.attr)

    def expr_Subscript(self, node: ast.Subscript) -> Any:
        value = self.expr(node.value)
        return subscript(self, value, self.subscript_key(node.slice))

    def subscript_key(self, node: ast.expr) -> Any:
        """What stands in the brackets: slices as Python slices, several keys as a tuple."""
        if isinstance(node, ast.Slice):
            parts = (node.lower, node.upper, node.step)
            return slice(*(None if part is None else self.expr(part) for part in parts))
        if isinstance(node, ast.Tuple):
            return tuple(
                self.subscript_key(x) if isinstance(x, ast.Slice) else self.expr(x)
                for x in node.elts
            )
        return self.expr(node)

    def expr_Lambda(self, node: ast.Lambda) -> Closure:
        return Closure("<lambda>", node, self.e.frame, self.closure_defaults(node))

    def closure_defaults(self, node: ast.Lambda | ast.FunctionDef) -> dict[str, Any]:
        """The default values of a lambda or a nested function, evaluated where it stands."""
        a = node.args
        names = [x.arg for x in a.posonlyargs + a.args]
        pairs = list(zip(reversed(names), reversed(a.defaults), strict=False))
        pairs += [
            (x.arg, d) for x, d in zip(a.kwonlyargs, a.kw_defaults, strict=False) if d is not None
        ]
        return {name: self.expr(default) for name, default in pairs}

    def expr_JoinedStr(self, node: ast.JoinedStr) -> str:
        parts = []
        constant = True
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(part.value)
                continue
            value = self.expr(part.value)
            constant = constant and not has_values(value)
            spec = self.expr(part.format_spec) if part.format_spec is not None else ""
            parts.append(self.format(value, part.conversion, spec))
        text = "".join(parts)
        return text if constant else TypeText(text)

    def format(self, value: Any, conversion: int, spec: str) -> str:
        """A piece of an f-string: constants as Python writes them, values by their type."""
        value = self.printable(value)
        if any(int(digits) > MAX_LENGTH for digits in re.findall(r"\d+", spec)):
            raise Misuse(f"expected a format of at most {MAX_LENGTH} columns, got {spec!r}")
        if conversion == ord("r"):
            value = repr(value)
        try:
            return format(value, spec)
        except (TypeError, ValueError) as problem:
            raise Misuse(f"expected a format that fits, got {spec!r} ({problem})") from None

    def printable(self, value: Any) -> Any:
        if isinstance(value, Value):
            return str(value.type)
        if isinstance(value, tuple):
            return "(" + ", ".join(str(self.printable(v)) for v in value) + ")"
        if isinstance(value, (bool, int, float, str)) or value is None:
            return value
        return str(value) if not isinstance(value, (Struct, Closure)) else describe(value)

    def expr_ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> tuple:
        if len(node.generators) != 1 or node.generators[0].is_async:
            raise Misuse("expected one `for` in a comprehension, got several")
        generator = node.generators[0]
        frame = self.e.frame
        items = self.unrolled(self.expr(generator.iter), generator.iter)
        saved = dict(frame.names)
        out = []
        for item in items:
            self.assign(generator.target, item)
            if all(self.constant_condition(test) for test in generator.ifs):
                out.append(self.expr(node.elt))
        frame.names = saved
        return tuple(out)

    expr_GeneratorExp = expr_ListComp

    def constant_condition(self, node: ast.expr) -> bool:
        value = self.expr(node)
        if has_values(value):
            raise self.error(f"expected a constant condition, got {describe(value)}", node=node)
        return bool(value)
