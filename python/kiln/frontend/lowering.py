"""A whole kernel: the signature, the grid region, the body, the module around them."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import Any

from kiln.frontend.arithmetic.literals import literal, quoted
from kiln.frontend.errors import CompileError
from kiln.frontend.fingerprint import constant_key
from kiln.frontend.grid import find_grid
from kiln.frontend.intrinsics import GridReached
from kiln.frontend.structures import mapped, named_leaves
from kiln.frontend.syntax.compiler import Compiler
from kiln.frontend.syntax.loops import Range
from kiln.frontend.types import ArgumentType
from kiln.frontend.values import Value, describe
from kiln.language.dtypes import f64

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def lower_kernel(
    kernel: Any,
    types: dict[str, ArgumentType],
    constants: dict[str, Any],
    grid_pinned: bool,
    takes_turns: bool,
) -> str:
    """The text of a module with one kernel. `kernel` is a KernelSource, the rest is checked."""
    c = Compiler()
    try:
        return _lower(c, kernel, types, constants, grid_pinned, takes_turns)
    except CompileError:
        raise
    except RecursionError:
        raise c.error("expected expressions of moderate depth, got some too deep") from None
    except Exception as error:
        raise c.error(f"the front end failed: {type(error).__name__}: {error}") from error


def _lower(
    c: Compiler,
    kernel: Any,
    types: dict[str, ArgumentType],
    constants: dict[str, Any],
    grid_pinned: bool,
    takes_turns: bool,
) -> str:
    source = kernel.source
    e = c.e
    frame = c.new_frame(source, source.tree, kernel.name)
    e.frame, e.node = frame, source.tree
    leaves = dict(leaf for name, type in types.items() for leaf in named_leaves(name, type))
    names = _argument_names(leaves)
    e.arguments = set(names.values())
    grid = find_grid(source)

    def names_at_entry() -> dict[str, Any]:
        refs = iter(names.values())
        values = {
            name: mapped(type, lambda leaf: Value(next(refs), leaf)) for name, type in types.items()
        }
        return constants | values

    region: list[str] | None = None
    if grid is not None:
        c.grid_call = grid[1]
        if not grid_pinned:
            frame.names = names_at_entry()
            with e.top(host=True) as region:
                _lower_grid(c, source.tree.body[: grid[0]], grid[1])
            c.messages.clear()
    frame.names = names_at_entry()
    with e.top(host=False) as body:
        returned = c.function_body(source.tree)
        e.node = _last(source.tree)
        if returned is not None:
            raise c.error(
                f"expected a kernel to return nothing, got {describe(returned)}",
                "a store to a view",
            )
        e.line("tile.return")
    for pinned, node in c.open_pins.items():
        is_range = isinstance(pinned, Range)
        what = "the range of a loop" if is_range else "the whole condition of an `if` or a `while`"
        legal = (
            "for i in kiln.pin(range(n), depth=2): ..."
            if is_range
            else "if kiln.pin(x > 0, split=True): ..."
        )
        raise c.error(f"expected {what}, since kiln.pin decides of it", legal, node)
    if grid is not None and not takes_turns:
        c.decisions.setdefault("persistent", ("false", "False"))
    e.node = source.tree
    for message in c.messages:
        print(message)
    return _module(c, kernel, leaves, names, constants, region, body)


def _last(tree: ast.FunctionDef) -> ast.stmt:
    return tree.body[-1]


def _lower_grid(c: Compiler, statements: list[ast.stmt], call: ast.Call) -> None:
    """The grid region: the statements before the call of kiln.grid, and the call."""
    result = c.block(statements)
    if not _fell_through(result):
        raise c.error("expected kiln.grid before the kernel returns, got a `return` before it")
    c.e.node = call
    try:
        c.expr(call)
    except GridReached as reached:
        extents = ", ".join(v.ref for v in reached.extents)
        c.e.line(f"tile.grid {extents}")


def _fell_through(result: Any) -> bool:
    from kiln.frontend.syntax.statements import NO_RETURN

    return result is NO_RETURN


def _argument_names(types: dict[str, ArgumentType]) -> dict[str, str]:
    """The name of each argument in the text: its own where that is an identifier there."""
    return {name: f"%{name}" if _NAME.match(name) else f"%arg.{i}" for i, name in enumerate(types)}


def _module(c, kernel, types, names, constants, region, body) -> str:
    a = kernel.source.tree.args
    nodes = {node.arg: node for node in a.posonlyargs + a.args + a.kwonlyargs}
    arguments = []
    for name, type in types.items():
        facts = (replace(type.facts, noalias=False) if c.from_addresses else type.facts).ir
        attributes = [f"tile.name = {quoted(name)}"] if names[name] != f"%{name}" else []
        attributes += [f"tile.facts = {facts}"] if facts else []
        suffix = f" {{{', '.join(attributes)}}}" if attributes else ""
        c.e.node = nodes[re.split(r"[.[]", name)[0]]
        arguments.append(f"{names[name]}: {type.ir}{suffix}{c.e.location()}")
    c.e.node = kernel.source.tree
    symbol = kernel.name if _NAME.match(kernel.name) else quoted(kernel.name)
    head = f"  tile.kernel @{symbol}({', '.join(arguments)})"
    attributes = [f"tile.{name} = {value}" for name, (value, _) in c.decisions.items()]
    if c.from_addresses:
        attributes.append("tile.any_memory")
    tunables = _tunables(kernel, constants)
    if tunables:
        attributes.append(f"tile.tunables = [{', '.join(tunables)}]")
    if attributes:
        head += f" attributes {{{', '.join(attributes)}}}"
    alias = c.e.alias()
    place = c.e.fused_alias({f"tile.{name}": at for name, at in c.pinned_at.items()})
    lines = [*c.e.alias_lines, "module {"]
    if region is not None:
        lines += [f"{head} grid {{", *region, "  } {"]
    else:
        lines.append(f"{head} {{")
    lines += [*body, f"  }} loc({place})", f"}} loc({alias})"]
    return "\n".join(lines) + "\n"


def _tunables(kernel: Any, constants: dict[str, Any]) -> list[str]:
    out = []
    for parameter in kernel.parameters:
        if parameter.kind == "tunable":
            value = _attribute(constants[parameter.name])
            candidates = ", ".join(map(_attribute, parameter.candidates))
            out.append(f"#tile.tunable<{quoted(parameter.name)} = {value} of [{candidates}]>")
    return out


def _attribute(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{literal(value, f64)} : f64"
    return quoted(value if isinstance(value, str) else constant_key(value))
