"""Statements: assignments, returns, assertions; blocks, and what a block returns."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from kiln.frontend.errors import CompileError, Misuse
from kiln.frontend.syntax.liveness import returns
from kiln.frontend.syntax.subscripts import assign_subscript, update_subscript
from kiln.frontend.values import Closure, Value, describe, has_values

_REFUSED = {
    "Try": ("try", "checks before the operation: nothing raises inside a kernel"),
    "Raise": ("raise", "`assert condition, message`, or kiln.static_assert"),
    "With": ("with", "plain statements"),
    "Import": ("import", "an import at the top of the module"),
    "ImportFrom": ("import", "an import at the top of the module"),
    "Global": ("global", "values returned, or stored to a view"),
    "Nonlocal": ("nonlocal", "values returned"),
    "Delete": ("del", "nothing: names need no deletion"),
    "ClassDef": ("class", "a NamedTuple or a dataclass at the top of the module"),
    "AsyncFunctionDef": ("async def", "def"),
    "AsyncFor": ("async for", "for"),
    "AsyncWith": ("async with", "plain statements"),
    "Match": ("match", "if and elif"),
}
_ASSIGNED = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<",
    ast.RShift: ">>", ast.MatMult: "@",
}  # fmt: skip


class _NoReturn:
    """What a block gives that did not return."""


NO_RETURN = _NoReturn()


class Statements:
    """The part of the compiler that has one method a kind of statement."""

    def block(self, statements: list[ast.stmt]) -> Any:
        """Runs statements; gives what they return, or NO_RETURN."""
        for i, node in enumerate(statements):
            self.e.node = node
            self.spend()
            if isinstance(node, ast.Return):
                self.check_return(node)
                return None if node.value is None else self.expr(node.value)
            if isinstance(node, ast.If):
                rest = statements[i + 1 :]
                result = self.if_statement(node, rest)
                if result is not NO_RETURN:
                    return result
                continue
            self.statement(node)
        return NO_RETURN

    def check_return(self, node: ast.Return) -> None:
        if self.e.frame.loops:
            raise self.error(
                "expected no `return` inside a loop, got one",
                "assign to a variable and return it after the loop",
            )

    def statement(self, node: ast.stmt) -> None:
        e = self.e
        e.node = node
        name = type(node).__name__
        try:
            method = getattr(self, "stmt_" + name, None)
            if method is None:
                word, legal = _REFUSED.get(name, (name, "the statements the tutorial lists"))
                raise Misuse(f"expected a statement that a kernel can hold, got `{word}`", legal)
            method(node)
        except Misuse as misuse:
            e.node = node
            raise self.error(misuse.message, misuse.legal) from None

    def if_statement(self, node: ast.If, rest: list[ast.stmt]) -> Any:
        """An `if` and, where one of its branches returns, all that follows it."""
        leaves = returns(node.body) or returns(node.orelse)
        condition = self.expr(node.test)
        try:
            constant = self.constant_truth(condition)
            if constant is not None:
                branch = node.body if constant else node.orelse
                if returns(branch):
                    done = self.block(branch + rest)
                    return None if done is NO_RETURN else done
                return self.block(branch)
            if leaves:
                return self.returning_if(node, condition, rest)
            self.plain_if(node, condition)
            return NO_RETURN
        except Misuse as misuse:
            raise self.error(misuse.message, misuse.legal, node.test) from None

    def stmt_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.expr(node.value)

    def stmt_Pass(self, node: ast.Pass) -> None:
        pass

    def stmt_Assign(self, node: ast.Assign) -> None:
        value = self.expr(node.value)
        for target in node.targets:
            self.assign(target, value)

    def stmt_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.expr(node.value))

    def stmt_AugAssign(self, node: ast.AugAssign) -> None:
        target, op = node.target, _ASSIGNED[type(node.op)]
        if isinstance(target, ast.Subscript):
            receiver = self.expr(target.value)
            key = self.subscript_key(target.slice)
            right = self.expr(node.value)
            self.at(target, update_subscript, receiver, key, op, right)
            return
        if not isinstance(target, ast.Name):
            raise Misuse(
                "expected a name or a part of a view before an augmented assignment, got an "
                "attribute",
                "values do not change: make a new one, as with `s._replace(field=x)`",
            )
        left = self.expr(ast.copy_location(ast.Name(target.id, ast.Load()), target))
        right = self.expr(node.value)
        self.assign(target, self.binary(op, left, right))

    def stmt_Assert(self, node: ast.Assert) -> None:
        condition = self.expr(node.test)
        message = "" if node.msg is None else self.expr(node.msg)
        static = not has_values(condition)
        self.intrinsic("static_assert" if static else "device_assert", [condition, message], {})

    def stmt_For(self, node: ast.For) -> None:
        self.for_statement(node)

    def stmt_While(self, node: ast.While) -> None:
        self.while_statement(node)

    def stmt_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            raise Misuse(
                "expected a nested function without decorators, got one with", "a plain def"
            )
        frame = self.e.frame
        frame.names[node.name] = Closure(node.name, node, frame, self.closure_defaults(node))

    def assign(self, target: ast.expr, value: Any) -> None:
        """Gives a value to a name, to several, or to an element of a view."""
        if isinstance(target, ast.Name):
            self.e.frame.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value)
        elif isinstance(target, ast.Subscript):
            self.store_element(target, value)
        else:
            raise self.error(
                "expected a name or an element of a view before `=`, got an attribute",
                "values do not change: make a new one, as with `s._replace(field=x)`",
                target,
            )

    def unpack(self, target: ast.Tuple | ast.List, value: Any) -> None:
        if isinstance(value, Value):
            raise self.error(f"expected a tuple to unpack, got {describe(value)}", node=target)
        items = self.unpackable(value, target)
        targets = target.elts
        stars = [i for i, t in enumerate(targets) if isinstance(t, ast.Starred)]
        if stars:
            before, after = stars[0], len(targets) - stars[0] - 1
            if len(items) < before + after:
                raise self.error(
                    f"expected at least {before + after} values to unpack, got {len(items)}",
                    node=target,
                )
            end = len(items) - after
            items = [*items[:before], tuple(items[before:end]), *items[end:]]
            targets = [t.value if isinstance(t, ast.Starred) else t for t in targets]
        if len(items) != len(targets):
            raise self.error(
                f"expected {len(targets)} values to unpack, got {len(items)}", node=target
            )
        for one, item in zip(targets, items, strict=False):
            self.assign(one, item)

    def store_element(self, target: ast.Subscript, value: Any) -> None:
        receiver = self.expr(target.value)
        self.at(target, assign_subscript, receiver, self.subscript_key(target.slice), value)

    def at(self, target: ast.Subscript, write: Callable[..., None], *arguments: Any) -> None:
        """Writes to what stands before `=`, which errors blame."""
        saved = self.e.node
        self.e.node = target
        try:
            write(self, *arguments)
        except Misuse as misuse:
            raise self.error(misuse.message, misuse.legal) from None
        finally:
            self.e.node = saved

    def function_body(self, tree: ast.FunctionDef | ast.Lambda) -> Any:
        """What the body of the current frame returns."""
        if isinstance(tree, ast.Lambda):
            return self.expr(tree.body)
        result = self.block(tree.body)
        return None if result is NO_RETURN else result


__all__ = ["NO_RETURN", "CompileError", "Statements"]
