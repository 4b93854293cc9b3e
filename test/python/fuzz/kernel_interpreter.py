"""What a kernel means, by its syntax tree and NumPy alone.

An oracle is worth what it does not share: nothing here comes from Kiln. Programs run one after
the other, statement by statement, each at once; a tile is an array, a scalar an array of no
dimensions, and `index` a Python integer of its own class. It knows the part of the language that
`kernel_writer` writes, and is strict: what the language leaves open is an error.
"""

from __future__ import annotations

import ast
import operator

import numpy as np

DTYPES = {
    "f32": np.float32, "f16": np.float16, "i64": np.int64, "i32": np.int32, "i16": np.int16,
    "i8": np.int8, "u32": np.uint32, "u8": np.uint8, "bool": np.bool_,
}  # fmt: skip


class Index(int):
    """A number of the language's `index` type: extents, loop variables, sums of them."""


class Returned(Exception):
    """Carries a return from inside a branch."""

    def __init__(self, value):
        super().__init__()
        self.value = value


class View:
    """An array in memory; what lies outside is padding, or dropped."""

    def __init__(self, array: np.ndarray):
        self.array = array
        self.shape = tuple(Index(n) for n in array.shape)

    def _inside(self, offsets, shape):
        """The part of a tile that lies inside: where in the view, and where in the tile."""
        assert len(offsets) == len(shape) == self.array.ndim
        here, there = [], []
        for offset, size, extent in zip(map(int, offsets), shape, self.array.shape, strict=True):
            first, last = max(offset, 0), max(min(offset + size, extent), max(offset, 0))
            here.append(slice(first, last))
            there.append(slice(first - offset, last - offset))
        return tuple(here), tuple(there)

    def load(self, offsets, shape, pad=0):
        offsets, shape = as_tuple(offsets), as_tuple(shape)
        tile = np.full(shape, pad, self.array.dtype)
        here, there = self._inside(offsets, shape)
        tile[there] = self.array[here]
        return tile

    def store(self, offsets, value):
        offsets = as_tuple(offsets)
        value = value if np.ndim(value) else np.full((1,) * len(offsets), value)
        value = self.widened(value)
        here, there = self._inside(offsets, value.shape)
        self.array[here] = value[there].copy()

    def _masked(self, indices, mask, shape):
        indices = [np.broadcast_to(i, shape).astype(np.int64) for i in as_tuple(indices)]
        inside = np.ones(shape, bool) if mask is None else np.broadcast_to(mask, shape).copy()
        for index, extent in zip(indices, self.array.shape, strict=True):
            inside &= (index >= 0) & (index < extent)
        return indices, inside

    def gather(self, indices, mask=None, pad=0):
        shape = np.broadcast_shapes(*(np.shape(i) for i in as_tuple(indices)))
        indices, inside = self._masked(indices, mask, shape)
        tile = np.full(shape, pad, self.array.dtype)
        tile[inside] = self.array[tuple(i[inside] for i in indices)]
        return tile

    def scatter(self, indices, value, mask=None):
        value = self.widened(value)
        indices, inside = self._masked(indices, mask, value.shape)
        places = list(zip(*(i[inside] for i in indices), strict=True))
        assert len(places) == len(set(places)), "which of several is written is open"
        self.array[tuple(i[inside] for i in indices)] = value[inside]

    def widened(self, value):
        """What is stored: of the view's dtype, or of one that it holds."""
        if is_constant(value):
            return self.array.dtype.type(value)
        assert np.can_cast(np.asarray(value).dtype, self.array.dtype), "a store that may lose"
        return np.asarray(value).astype(self.array.dtype)

    def element(self, index):
        index = tuple(int(i) for i in as_tuple(index))
        assert all(0 <= i < n for i, n in zip(index, self.array.shape, strict=True))
        return index


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


# Arithmetic


def is_constant(value) -> bool:
    return isinstance(value, (bool, int, float)) and not isinstance(value, (Index, np.generic))


def alike(a, b):
    """Two operands of one dtype; a constant takes the other's."""
    if is_constant(a):
        a = np.asarray(b).dtype.type(a)
    if is_constant(b):
        b = np.asarray(a).dtype.type(b)
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype, f"{a.dtype} meets {b.dtype}"
    return a, b


def divide(a, b):
    """Towards minus infinity; by zero it is 0."""
    zero = b == 0
    return np.where(zero, a.dtype.type(0), np.floor_divide(a, np.where(zero, a.dtype.type(1), b)))


def remainder(a, b):
    zero = b == 0
    return np.where(zero, a.dtype.type(0), np.remainder(a, np.where(zero, a.dtype.type(1), b)))


def shift(a, b, left: bool):
    """By the width or more, or less than nothing: 0, or the sign."""
    width = 8 * a.dtype.itemsize
    fits = (b >= 0) & (b < width)
    by = np.where(fits, b, b.dtype.type(0))
    if left:
        return np.where(fits, np.left_shift(a, by), a.dtype.type(0))
    rest = np.where(a < 0, a.dtype.type(-1), a.dtype.type(0)) if a.dtype.kind == "i" else 0 * a
    return np.where(fits, np.right_shift(a, by), rest)


BINARY = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: divide, ast.Mod: remainder,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.LShift: lambda a, b: shift(a, b, True), ast.RShift: lambda a, b: shift(a, b, False),
}  # fmt: skip
COMPARE = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
PLAIN = {**BINARY, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod}


def is_whole(x) -> bool:
    return isinstance(x, int) or (np.ndim(x) == 0 and np.asarray(x).dtype.kind == "i")


def binary(op, a, b):
    if (isinstance(a, Index) and is_whole(b)) or (isinstance(b, Index) and is_whole(a)):
        return Index(PLAIN[op](int(a), int(b)))
    if is_constant(a) and is_constant(b):
        return PLAIN[op](a, b)
    if isinstance(a, Index) or isinstance(b, Index):  # a position beside a tile has 64 bits
        a, b = (np.asarray(x).astype(np.int64) for x in (a, b))
    a, b = alike(a, b)
    if a.dtype == bool and op not in (ast.BitAnd, ast.BitOr, ast.BitXor):
        a, b = a.astype(np.int32), b.astype(np.int32)
    made = np.asarray(BINARY[op](a, b))
    assert made.dtype == a.dtype
    return made


def cast(x, dtype):
    """Floats become integers towards zero, saturated, NaN 0; integers wrap."""
    x, dtype = np.asarray(x), np.dtype(dtype)
    if dtype.kind == "b":
        return x != 0
    if x.dtype.kind != "f" or dtype.kind == "f":
        return x.astype(dtype)
    info = np.iinfo(dtype)
    wide = np.trunc(np.where(np.isnan(x), 0, x).astype(np.float64))
    high, low = wide >= float(info.max), wide <= float(info.min)
    whole = np.where(high | low, 0, wide).astype(np.int64).astype(dtype)
    whole = np.where(high, dtype.type(info.max), whole)
    return np.where(low, dtype.type(info.min), whole)


def where(condition, x, y):
    x, y = alike(x, y)
    return np.where(condition, x, y)


def fold(combine):
    """A reduction or scan: narrow integers and bool are computed in 32 bits."""

    def reduced(x, axis=None, **keywords):
        if x.dtype == bool or (x.dtype.kind in "iu" and x.dtype.itemsize < 4):
            x = x.astype(np.uint32 if x.dtype.kind == "u" else np.int32)
        return np.asarray(combine(x, axis=axis, **keywords), dtype=x.dtype)

    return reduced


def running(x, axis=0, reverse=False):
    order = [slice(None)] * x.ndim
    order[axis] = slice(None, None, -1)
    flipped = x[tuple(order)] if reverse else x
    made = np.cumsum(flipped, axis=axis, dtype=x.dtype)
    return made[tuple(order)] if reverse else made


def dot(a, b, acc=None):
    """Exact where every partial sum is: the order of a sum is open."""
    product = np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.float32)
    return product if acc is None else acc + product


def sort(x, axis=-1, descending=False):
    made = np.sort(x, axis=axis, kind="stable")
    return np.flip(made, axis=axis) if descending else made


def dtype_of(name):
    return DTYPES[name]


FUNCTIONS = {
    "zeros": lambda shape, dtype: np.zeros(as_tuple(shape), dtype),
    "full": lambda shape, value, dtype: np.full(as_tuple(shape), value, dtype),
    "arange": lambda *bounds, dtype=np.int32: np.arange(*bounds, dtype=dtype),
    "cast": cast,
    "abs": lambda x: abs(x) if is_constant(x) else np.abs(x),
    "floor": np.floor,
    "where": where,
    "minimum": lambda a, b: np.minimum(*alike(a, b)),
    "maximum": lambda a, b: np.maximum(*alike(a, b)),
    "clamp": lambda x, low, high: np.minimum(*alike(np.maximum(*alike(x, low)), high)),
    "sum": fold(np.sum),
    "max": lambda x, axis=None, keepdims=False: np.max(x, axis=axis, keepdims=keepdims),
    "min": lambda x, axis=None, keepdims=False: np.min(x, axis=axis, keepdims=keepdims),
    "any": lambda x, axis=None, keepdims=False: np.any(x != 0, axis=axis, keepdims=keepdims),
    "all": lambda x, axis=None, keepdims=False: np.all(x != 0, axis=axis, keepdims=keepdims),
    "argmax": lambda x, axis=None: np.argmax(x, axis=axis).astype(np.int32),
    "argmin": lambda x, axis=None: np.argmin(x, axis=axis).astype(np.int32),
    "cumsum": running,
    "sort": sort,
    "dot": dot,
    "concat": lambda tensors, axis=0: np.concatenate(tensors, axis=axis),
    "broadcast_to": lambda x, shape: np.broadcast_to(x, as_tuple(shape)),
    "reshape": lambda x, shape: np.reshape(x, as_tuple(shape)),
    "static_range": range,
    "pin": lambda **_: None,
}
ATOMICS = {"atomic_add": operator.add, "atomic_max": np.maximum, "atomic_xor": operator.xor}


# Statements


class Interpreter:
    """Runs one program of a kernel after the other."""

    def __init__(self, text: str):
        tree = ast.parse(text)
        self.functions = {part.name: part for part in tree.body if hasattr(part, "args")}

    def run(self, name: str, arguments: dict):
        """Arrays change in place; scalars are NumPy's."""
        given = {n: View(a) if np.ndim(a) else np.asarray(a) for n, a in arguments.items()}
        self.program, self.programs = 0, 1
        while self.program < self.programs:
            with np.errstate(all="ignore"):
                self.call(self.functions[name], [given[a.arg] for a in self.parameters(name)])
            self.program += 1

    def parameters(self, name: str):
        return self.functions[name].args.args

    def call(self, function, values):
        names = [argument.arg for argument in function.args.args]
        try:
            self.block(function.body, dict(zip(names, values, strict=True)))
        except Returned as result:
            return result.value
        return None

    def block(self, statements, names):
        for statement in statements:
            getattr(self, "do_" + type(statement).__name__)(statement, names)

    def do_Expr(self, node, names):
        self.value(node.value, names)

    def do_Pass(self, node, names):
        pass

    def do_Return(self, node, names):
        raise Returned(None if node.value is None else self.value(node.value, names))

    def do_Assign(self, node, names):
        value = self.value(node.value, names)
        for target in node.targets:
            self.assign(target, value, names)

    def do_AugAssign(self, node, names):
        before = self.value(node.target, names)
        made = binary(type(node.op), before, self.value(node.value, names))
        self.assign(node.target, made, names)

    def assign(self, target, value, names):
        if isinstance(target, ast.Tuple):
            for part, one in zip(target.elts, value, strict=True):
                self.assign(part, one, names)
        elif isinstance(target, ast.Subscript):
            view = self.value(target.value, names)
            at = view.element(self.value(target.slice, names))
            view.array[at] = view.widened(value)
        else:
            names[target.id] = value

    def do_If(self, node, names):
        self.block(node.body if self.truth(node.test, names) else node.orelse, names)

    def do_For(self, node, names):
        over = self.value(node.iter, names)
        for item in over:
            names[node.target.id] = item
            self.block(node.body, names)

    def do_While(self, node, names):
        for _ in range(10_000):
            if not self.truth(node.test, names):
                return
            self.block(node.body, names)
        raise AssertionError("a while that does not end")

    # Expressions

    def truth(self, node, names) -> bool:
        value = self.value(node, names)
        assert np.ndim(value) == 0
        return bool(value)

    def value(self, node, names):
        return getattr(self, "of_" + type(node).__name__)(node, names)

    def of_Constant(self, node, names):
        return node.value

    def of_Name(self, node, names):
        return names[node.id] if node.id in names else self.functions[node.id]

    def of_Tuple(self, node, names):
        return tuple(self.value(part, names) for part in node.elts)

    def of_BinOp(self, node, names):
        return binary(type(node.op), self.value(node.left, names), self.value(node.right, names))

    def of_UnaryOp(self, node, names):
        value = self.value(node.operand, names)
        if isinstance(node.op, ast.Not):
            return np.asarray(not bool(value))
        if isinstance(node.op, ast.Invert):
            return np.invert(value)
        return -value

    def of_Compare(self, node, names):
        (op,), (right,) = node.ops, node.comparators
        a, b = self.value(node.left, names), self.value(right, names)
        return np.asarray(COMPARE[type(op)](a, b))

    def of_BoolOp(self, node, names):
        stop = isinstance(node.op, ast.Or)
        for part in node.values:
            if self.truth(part, names) == stop:
                return np.asarray(stop)
        return np.asarray(not stop)

    def of_IfExp(self, node, names):
        return self.value(node.body if self.truth(node.test, names) else node.orelse, names)

    def of_Attribute(self, node, names):
        if isinstance(node.value, ast.Name) and node.value.id == "kiln":
            return DTYPES.get(node.attr) or FUNCTIONS[node.attr]
        value = self.value(node.value, names)
        return value.shape if node.attr == "shape" else value.T

    def of_Subscript(self, node, names):
        value, index = self.value(node.value, names), self.value(node.slice, names)
        if isinstance(value, View):
            return np.asarray(value.array[value.element(index)])
        return value[index]

    def of_Slice(self, node, names):
        bounds = (node.lower, node.upper)
        return slice(*(None if b is None else self.value(b, names) for b in bounds))

    def of_Call(self, node, names):
        arguments = [self.value(part, names) for part in node.args]
        keywords = {part.arg: self.value(part.value, names) for part in node.keywords}
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        if name == "range":
            whole = [int(a) for a in arguments]
            return [Index(i) for i in range(*whole)]
        if name == "grid":
            (self.programs,) = arguments
            return Index(self.program)
        if name in ATOMICS:
            return self.atomic(ATOMICS[name], *arguments)
        if name in DTYPES:
            return cast(arguments[0], DTYPES[name])
        if name == "to":
            return cast(self.value(node.func.value, names), *arguments)
        if name in ("load", "store", "gather", "scatter"):
            view = self.value(node.func.value, names)
            return getattr(view, name)(*arguments, **keywords)
        if name == "reshape" and not isinstance(node.func.value, ast.Name):
            return self.value(node.func.value, names).reshape(*arguments)
        if name in self.functions:
            return self.call(self.functions[name], arguments)
        return FUNCTIONS[name](*arguments, **keywords)

    def atomic(self, combine, view, index, value):
        """The old values; the new ones stand in memory."""
        if np.ndim(index):
            old = view.gather(index)
            view.scatter(index, np.asarray(combine(*alike(old, value))))
            return old
        at = view.element(index)
        old = np.asarray(view.array[at])
        view.array[at] = combine(*alike(old, value))
        return old
