"""Which names a statement assigns, and which are read after it.

A loop carries the names that its body assigns and that are read in the next round or after the
loop; an `if` gives back the names that a branch assigns and that are read after it. Both are
found by the classic backward analysis over the syntax tree. Names that a lambda or a nested
function reads count as read everywhere, because it may be called anywhere.
"""

from __future__ import annotations

import ast

_Function = (ast.Lambda, ast.FunctionDef)


class Liveness:
    """`after[id(node)]`: what is read after an `if` or a loop; `entry[id(node)]`: what a loop's
    body (with a `while`'s condition) reads before it assigns it."""

    def __init__(self, tree: ast.FunctionDef | ast.Lambda):
        self.after: dict[int, frozenset[str]] = {}
        self.entry: dict[int, frozenset[str]] = {}
        self.always: frozenset[str] = frozenset()
        for node in ast.walk(tree):
            if isinstance(node, _Function) and node is not tree:
                self.always |= reads(node)
        self.locals = _locals(tree)
        if isinstance(tree, ast.FunctionDef):
            self._block(tree.body, frozenset())

    def carried(self, node: ast.AST) -> list[str]:
        """The names that a loop has to carry, in the order of their first assignment."""
        live = self.after[id(node)] | self.entry[id(node)] | self.always
        return [name for name in assigned(node.body) if name in live]

    def given_back(self, node: ast.If) -> list[str]:
        """The names that an `if` has to give back."""
        live = self.after[id(node)] | self.always
        return [name for name in assigned(node.body + node.orelse) if name in live]

    def _block(self, statements: list[ast.stmt], live: frozenset[str]) -> frozenset[str]:
        for statement in reversed(statements):
            live = self._statement(statement, live)
        return live

    def _statement(self, node: ast.stmt, live: frozenset[str]) -> frozenset[str]:
        if isinstance(node, ast.If):
            self.after[id(node)] = live
            branches = self._block(node.body, live) | self._block(node.orelse, live)
            return branches | reads(node.test)
        if isinstance(node, (ast.For, ast.While)):
            return self._loop(node, live)
        if isinstance(node, ast.Return):
            return reads(node)
        if isinstance(node, ast.FunctionDef):
            return (live - {node.name}) | reads(node)
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            names = frozenset(_targets(node))
            used = reads(node)
            if isinstance(node, ast.AugAssign):
                used |= names
            return (live - names) | used
        return live | reads(node)

    def _loop(self, node: ast.For | ast.While, live: frozenset[str]) -> frozenset[str]:
        is_for = isinstance(node, ast.For)
        target = frozenset(_names(node.target)) if is_for else frozenset()
        test = frozenset() if is_for else reads(node.test)
        around = live | test
        while True:
            inside = (self._block(node.body, around) - target) | test
            if inside <= around:
                break
            around |= inside
        self.after[id(node)] = live
        self.entry[id(node)] = inside
        return live | inside | (reads(node.iter) if is_for else test)


def reads(node: ast.AST) -> frozenset[str]:
    """The names that an expression or a simple statement reads."""
    return frozenset(
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    )


def last_assignment(body: list[ast.stmt], name: str) -> ast.AST | None:
    """What in a body, nested statements included, gives a name its last value."""
    found = None
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For)):
                later = found is None or node.lineno >= found.lineno
                assigns = later and name in _targets(node)
                found = (node.target if isinstance(node, ast.For) else node) if assigns else found
    return found


def assigned(statements: list[ast.stmt]) -> list[str]:
    """The names that statements assign, nested functions' own ones left out."""
    out: dict[str, None] = {}
    pending: list[ast.AST] = list(reversed(statements))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef):
            out[node.name] = None
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            out[node.id] = None
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            continue
        pending.extend(reversed(list(ast.iter_child_nodes(node))))
    return list(out)


def returns(statements: list[ast.stmt]) -> bool:
    """Whether a `return` stands anywhere in statements."""
    return any(
        isinstance(node, ast.Return)
        for statement in statements
        if not isinstance(statement, ast.FunctionDef)
        for node in ast.walk(statement)
    )


def always_returns(statements: list[ast.stmt]) -> bool:
    """Whether statements end in a `return` on every way through them."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.If):
        return always_returns(last.body) and always_returns(last.orelse)
    return isinstance(last, ast.Return)


def _locals(tree: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    a = tree.args
    names = [x.arg for x in a.posonlyargs + a.args + a.kwonlyargs]
    names += [x.arg for x in (a.vararg, a.kwarg) if x]
    if isinstance(tree, ast.FunctionDef):
        names += assigned(tree.body)
    return frozenset(names)


def _targets(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [name for target in targets for name in _names(target)]


def _names(target: ast.expr) -> list[str]:
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, ast.Starred):
        return _names(target.value)
    if isinstance(target, (ast.Tuple, ast.List)):
        return [name for element in target.elts for name in _names(element)]
    return []
