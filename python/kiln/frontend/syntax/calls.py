"""Calls: helpers inlined, intrinsics, dtypes as casts, structures, and Python's own functions."""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import types
from collections.abc import Callable
from typing import Any

from kiln.frontend.arithmetic.casts import adopted, scalar_of, settled
from kiln.frontend.errors import Misuse
from kiln.frontend.function import Function, as_constant, field_names
from kiln.frontend.signature import resolve_annotation
from kiln.frontend.suggestions import elsewhere, is_of_another_library
from kiln.frontend.syntax.attributes import spread
from kiln.frontend.syntax.binding import EMPTY, Parameters, parameters_of, parameters_of_tree
from kiln.frontend.syntax.loops import Range
from kiln.frontend.values import (
    BoundMethod,
    Closure,
    Struct,
    Value,
    describe,
    has_values,
    is_const_number,
    is_numeric,
)  # fmt: skip
from kiln.frontend.views import view_shape
from kiln.language.annotations import constexpr
from kiln.language.dtypes import DType, f32, i64

MAX_DEPTH = 64

INTRINSICS: dict[str, Callable[..., Any]] = {}
"""What each intrinsic does: the compiler and the bound arguments in the signature's order."""


def implements(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers the meaning of intrinsics of the language."""

    def register(implementation: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            INTRINSICS[name] = implementation
        return implementation

    return register


# Functions in which a number takes the dtype of what it meets.
_TAKE_WEAK = {
    "abs", "cast", "clamp", "fma", "full", "gather", "load", "maximum", "minimum", "scatter",
    "store", "where", *(f"atomic_{word}" for word in (
        "add", "and", "cas", "exchange", "max", "min", "or", "xor")),
}  # fmt: skip


class Calls:
    """The part of the compiler that compiles calls."""

    def expr_Call(self, node: ast.Call) -> Any:
        callee = self.expr(node.func)
        args: list[Any] = []
        nodes: list[ast.AST] = []
        for argument in node.args:
            values = self.elements([argument])
            args += values
            nodes += [argument] * len(values)
        kwargs: dict[str, Any] = {}
        named: dict[str, ast.AST] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.error("expected named arguments, got **", node=keyword.value)
            kwargs[keyword.arg] = self.expr(keyword.value)
            named[keyword.arg] = keyword.value
        try:
            return self.call(callee, args, kwargs)
        except Misuse as misuse:
            blamed = None
            if misuse.argument is not None:
                blamed = named.get(misuse.argument)
                if blamed is None:
                    blamed = self.positional_node(callee, misuse.argument, nodes)
            raise self.error(misuse.message, misuse.legal, blamed) from None

    def positional_node(self, callee: Any, name: str, nodes: list[ast.AST]) -> ast.AST | None:
        """The node of the argument that a parameter of an intrinsic got by position."""
        skip = 0
        if isinstance(callee, BoundMethod):
            callee, skip = callee.function, 1
        intrinsic = getattr(callee, "__kiln_intrinsic__", None)
        if intrinsic is None:
            return None
        names = parameters_of(inspect.unwrap(callee), intrinsic).names
        position = names.index(name) - skip if name in names else -1
        return nodes[position] if 0 <= position < len(nodes) else None

    def call(self, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A call at the current node."""
        if isinstance(callee, BoundMethod):
            if getattr(callee.function, "__kiln_direct__", False):
                return callee.function(self, callee.receiver, *args, **kwargs)
            args, kwargs = spread([callee.receiver, *args], kwargs)
            return self.call(callee.function, args, kwargs)
        if isinstance(callee, Function):
            return self.inline(callee, args, kwargs)
        if isinstance(callee, Closure):
            return self.inline_closure(callee, args, kwargs)
        if isinstance(callee, DType):
            return self.intrinsic("cast", [*args, callee], kwargs)
        name = getattr(callee, "__kiln_intrinsic__", None)
        if name is not None:
            return self.intrinsic(name, args, kwargs, callee)
        if isinstance(callee, type):
            return self.construct(callee, args, kwargs)
        if isinstance(callee, types.BuiltinFunctionType):
            return self.python_call(callee, args, kwargs)
        if callable(callee):
            raise Misuse(f"expected something that a kernel can call, got {describe(callee)}")
        raise Misuse(f"expected a function before the brackets, got {describe(callee)}")

    def intrinsic(
        self, name: str, args: list[Any], kwargs: dict[str, Any], declared: Any = None
    ) -> Any:
        """A function of the language."""
        if declared is None:
            from kiln import language

            declared = getattr(language, name)
        implementation = INTRINSICS.get(name)
        if implementation is None:
            raise Misuse(f"expected a function that kernels have, got kiln.{name}")
        parameters = parameters_of(inspect.unwrap(declared), f"kiln.{name}")
        bound = parameters.bind(args, kwargs)
        ordered = parameters.names[: parameters.positional]
        if parameters.rest:
            ordered = [*ordered, parameters.rest]
        ordered = [*ordered, *parameters.names[parameters.positional :]]
        values = [bound[n] for n in ordered]
        if name not in _TAKE_WEAK:
            values = [self.settled(value) for value in values]
        return implementation(self, *values)

    def settled(self, value: Any) -> Any:
        """An argument whose weak scalars have the dtypes that numbers have by themselves."""
        if isinstance(value, tuple):
            return tuple(map(self.settled, value))
        return settled(self.e, value)

    def inline(self, callee: Function, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A helper, compiled where it is called."""
        source = callee.source
        parameters = parameters_of(callee.function, source.name)
        bound = parameters.bind(args, kwargs)
        for name, annotation in parameters.annotations.items():
            annotation = resolve_annotation(callee.function, name, annotation)
            bound[name] = self.declared(name, annotation, bound[name])
        for name, default in parameters.defaults.items():
            if bound[name] is default:
                bound[name] = self.captured(default, f"the default of `{name}`")
        return self.enter(source, source.tree, source.name, bound, None)

    def inline_closure(self, callee: Closure, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A lambda or a nested function, compiled where it is called."""
        parameters: Parameters = parameters_of_tree(callee.tree, callee.name, callee.defaults)
        bound = parameters.bind(args, kwargs)
        return self.enter(callee.frame.source, callee.tree, callee.name, bound, callee.frame)

    def enter(self, source, tree, name: str, bound: dict[str, Any], outer) -> Any:
        e = self.e
        caller, call = e.frame, e.node
        if caller.is_active(tree):
            raise Misuse(
                f"expected no recursion, got a call of `{name}` inside itself",
                "a loop, or kiln.static_range for a depth that is constant",
            )
        frame = self.new_frame(
            source, tree, name, outer=outer, caller=caller, call=call, call_alias=e.alias()
        )
        if len(frame.calls()) > MAX_DEPTH:
            raise Misuse(f"expected at most {MAX_DEPTH} calls inside each other, got more")
        frame.names = bound
        e.frame = frame
        try:
            return self.function_body(tree)
        finally:
            e.frame, e.node = caller, call

    def declared(self, name: str, annotation: Any, value: Any) -> Any:
        """An argument of a helper, as its annotation wants it."""
        if annotation is constexpr:
            if has_values(value):
                raise Misuse(
                    f"expected a constant for `{name}`, got {describe(value)}",
                    "an int, a kiln.constexpr or a kiln.tunable",
                )
        elif isinstance(annotation, DType):
            if not is_numeric(value):
                raise Misuse(f"expected a {annotation} for `{name}`, got {describe(value)}")
            if is_const_number(value):
                return scalar_of(self.e, value, annotation)
            value = adopted(self.e, value, annotation)
            if value.dtype is not annotation:
                raise Misuse(
                    f"expected a {annotation} for `{name}`, got {describe(value)}",
                    f"a cast: .to(kiln.{annotation})",
                )
        return value

    def construct(self, cls: type, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A NamedTuple, a dataclass, or one of Python's own types."""
        if cls in _TYPES:
            if kwargs:
                raise Misuse(f"expected no names in {cls.__name__}(...), got {next(iter(kwargs))}=")
            return _TYPES[cls](self, *args) if _fits(_TYPES[cls], args) else _wrong_count(cls, args)
        fields = field_names(cls)
        if not fields:
            raise Misuse(
                f"expected a structure, got the class {cls.__name__}",
                "a NamedTuple or a dataclass",
            )
        parameters = Parameters(cls.__name__)
        parameters.names = list(fields)
        parameters.positional = len(fields)
        for name in fields:
            default = _field_default(cls, name)
            if default is not EMPTY:
                parameters.defaults[name] = as_constant(default)
        bound = parameters.bind(args, kwargs)
        return Struct(cls, {name: bound[name] for name in fields})

    def python_call(self, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """One of Python's own functions: on constants, or with a meaning in the language."""
        name = callee.__name__
        if getattr(math, name, None) is callee:
            if has_values(tuple(args)) or kwargs:
                raise Misuse(
                    f"expected constants for math.{name}, got {describe(args[0]) if args else '='}",
                    elsewhere(name) or "a function of kiln",
                )
            try:
                return callee(*args)
            except (TypeError, ValueError, ArithmeticError) as problem:
                raise Misuse(f"expected numbers that math.{name} takes ({problem})") from None
        known = _FUNCTIONS.get(name)
        if known is None or getattr(builtins, name, None) is not callee:
            where = "numpy" if is_of_another_library(callee) else callee.__module__
            what = f"Python's {name}" if where == "builtins" else f"{where}.{name}"
            raise Misuse(
                f"expected a function that a kernel can call, got {what}",
                elsewhere(name) or "a function of kiln",
            )
        return known(self, *args, **kwargs)


def _fits(function: Callable[..., Any], args: list[Any]) -> bool:
    try:
        inspect.signature(function).bind(None, *args)
    except TypeError:
        return False
    return True


def _wrong_count(cls: type, args: list[Any]) -> Any:
    raise Misuse(f"expected {cls.__name__}(...) with other arguments, got {len(args)}")


def _field_default(cls: type, name: str) -> Any:
    if issubclass(cls, tuple):
        return cls._field_defaults.get(name, EMPTY)
    default = cls.__dataclass_fields__[name].default
    return EMPTY if type(default).__name__ == "_MISSING_TYPE" else default


def _range(c: Calls, first: Any, stop: Any = None, step: Any = 1) -> Range:
    return Range(0, first, step) if stop is None else Range(first, stop, step)


def _number(cls: type, dtype: DType) -> Callable[..., Any]:
    def convert(c: Calls, value: Any = 0) -> Any:
        if isinstance(value, Value):
            return c.intrinsic("cast", [value, dtype], {})
        try:
            return cls(value)
        except (TypeError, ValueError, OverflowError) as problem:
            raise Misuse(f"expected what {cls.__name__} takes, got {value!r} ({problem})") from None

    return convert


def _bool(c: Calls, value: Any = False) -> Any:
    from kiln.language.dtypes import bool_

    if isinstance(value, Value):
        return c.intrinsic("cast", [value, bool_], {})
    return bool(value)


def _tuple(c: Calls, value: Any = ()) -> tuple:
    return tuple(c.unrolled(value, c.e.node))


def _zip(c: Calls, *items: Any) -> tuple:
    return tuple(zip(*(c.unrolled(x, c.e.node) for x in items), strict=False))


def _enumerate(c: Calls, items: Any, start: Any = 0) -> tuple:
    if not isinstance(start, int):
        raise Misuse(f"expected a constant start, got {describe(start)}")
    return tuple(enumerate(c.unrolled(items, c.e.node), start))


def _string(c: Calls, value: Any = "") -> str:
    return str(c.printable(value))


def _len(c: Calls, value: Any) -> int:
    if isinstance(value, Range) and not has_values((value.start, value.stop, value.step)):
        value = range(value.start, value.stop, value.step)
    if isinstance(value, range):
        sign = 1 if value.step > 0 else -1
        return max(0, (value.stop - value.start + value.step - sign) // value.step)
    if isinstance(value, (tuple, str)):
        return len(value)
    if isinstance(value, Struct) and value.unpacks:
        return len(value.fields)
    if isinstance(value, Value) and value.is_tensor:
        return value.shape[0]
    if isinstance(value, Value) and value.is_view and value.type.rank:
        return view_shape(c.e, value)[0]
    raise Misuse(f"expected a tuple, a tensor or a view, got {describe(value)}")


def _reversed(c: Calls, items: Any) -> Any:
    if isinstance(items, Range) and isinstance(items.step, int) and items.step:
        if not has_values((items.start, items.stop)):
            again = range(items.start, items.stop, items.step)[::-1]
            return Range(again.start, again.stop, again.step)
        rounds = c.intrinsic("cdiv", [c.binary("-", items.stop, items.start), items.step], {})
        last = c.binary("+", items.start, c.binary("*", c.binary("-", rounds, 1), items.step))
        return Range(last, c.binary("-", items.start, items.step), -items.step)
    return tuple(reversed(c.unrolled(items, c.e.node)))


def _whole(name: str, value: Any) -> bool:
    """Whether a function of Python is given a tensor, of which it takes all elements."""
    if not (isinstance(value, Value) and value.is_tensor):
        return False
    if len(value.shape) != 1:
        raise Misuse(f"expected a tensor of rank 1, got {describe(value)}", f"kiln.{name}(x, axis)")
    return True


def _extreme(name: str) -> Callable[..., Any]:
    def pick(c: Calls, *args: Any) -> Any:
        if len(args) == 1 and _whole(name, args[0]):
            return c.intrinsic(name, [args[0]], {})
        items = c.unpackable(args[0], c.e.node) if len(args) == 1 else list(args)
        if not items:
            raise Misuse("expected at least one value, got none")
        if not has_values(tuple(items)):
            return getattr(builtins, name)(items)
        out = items[0]
        for item in items[1:]:
            if has_values((out, item)):
                out = c.intrinsic("minimum" if name == "min" else "maximum", [out, item], {})
            else:
                out = getattr(builtins, name)(out, item)
        return out

    return pick


def _abs(c: Calls, value: Any) -> Any:
    return c.intrinsic("abs", [value], {})


def _sum(c: Calls, items: Any, start: Any = 0) -> Any:
    if _whole("sum", items):
        return c.binary("+", c.intrinsic("sum", [items], {}), start)
    values = c.unrolled(items, c.e.node)
    out = start
    for item in values:
        out = item if out == 0 and not isinstance(out, Value) else c.binary("+", out, item)
    return out


def _round(c: Calls, value: Any, digits: Any = None) -> Any:
    if not has_values((value, digits)):
        return round(value, digits)
    if digits is not None:
        raise Misuse(
            f"expected a constant to round to digits, got {describe(value)}",
            "kiln.round(x * 100) / 100",
        )
    return c.intrinsic("round", [value], {})


def _isinstance(c: Calls, value: Any, cls: Any) -> bool:
    classes = cls if isinstance(cls, tuple) else (cls,)
    if not all(isinstance(one, type) for one in classes):
        raise Misuse(f"expected a class, got {describe(cls)}")
    what = value.cls if isinstance(value, Struct) else type(value)
    return issubclass(what, tuple(classes))


_TYPES: dict[type, Callable[..., Any]] = {
    range: _range, int: _number(int, i64), float: _number(float, f32), bool: _bool, str: _string,
    tuple: _tuple, list: _tuple, zip: _zip, enumerate: _enumerate, reversed: _reversed,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "len": _len, "min": _extreme("min"), "max": _extreme("max"), "abs": _abs, "sum": _sum,
    "round": _round, "isinstance": _isinstance,
}  # fmt: skip
