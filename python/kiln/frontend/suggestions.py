"""What the language calls the things that NumPy, PyTorch, JAX and Triton have other names for.

An error about a name that a kernel does not have takes its `legal` line from here.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from kiln import language

_LOAD = "view.load(offsets, shape) and view.store(offsets, tile): a view knows its extents"
_BARRIER = "nothing: a program reads a tile when its value is there"
_SHAPE = "n = x.shape[0] * x.shape[1], of constants a constant"

# A name of another library, without its module, to what does the same here.
_NAMES = {
    # creating
    "empty": "kiln.zeros(shape, dtype)", "empty_like": "kiln.zeros_like(x)",
    "array": "tuples of constants, kiln.full(shape, value), or an array passed as an argument",
    "asarray": "x itself, or kiln.full(shape, value)",
    "tensor": "tuples of constants, kiln.full(shape, value), or an array passed as an argument",
    "linspace": "start + step * kiln.arange(n)", "iota": "kiln.arange", "identity": "kiln.eye",
    "meshgrid": "kiln.arange(m)[:, None] and kiln.arange(n)[None, :], which broadcast",
    # moving elements
    "cat": "kiln.concat", "concatenate": "kiln.concat",
    "stack": "kiln.join(x, y), or kiln.concat of tiles with a new dimension: x[None]",
    "hstack": "kiln.concat(tiles, axis=1)", "vstack": "kiln.concat(tiles, axis=0)",
    "trans": "kiln.transpose", "swapaxes": "kiln.transpose",
    "moveaxis": "kiln.transpose", "unsqueeze": "kiln.expand_dims(x, axis)",
    "ravel": "kiln.reshape(x, (-1,))", "flatten": "kiln.reshape(x, (-1,))",
    "view": "x.bitcast(dtype), or x.reshape(shape)", "expand": "kiln.broadcast_to(x, shape)",
    "broadcast": "kiln.broadcast_to(x, shape)", "repeat": "kiln.broadcast_to(x[:, None], shape)",
    "tile": "kiln.broadcast_to(x[None], shape)", "take": "view.gather(indices)",
    "take_along_axis": "kiln.gather(tile, index, axis)", "interleave": "kiln.join(x, y)",
    # dtypes
    "astype": "x.to(dtype)", "type": "x.to(dtype)", "float": "x.to(kiln.f32)",
    "half": "x.to(kiln.f16)", "bf32": "kiln.bf16, kiln.f32", "bfloat16": "kiln.bf16",
    "float16": "kiln.f16", "float32": "kiln.f32", "float64": "kiln.f64",
    "float8e4nv": "kiln.f8e4m3fn", "float8_e4m3fn": "kiln.f8e4m3fn", "float8e5": "kiln.f8e5m2",
    "float8_e5m2": "kiln.f8e5m2", "int1": "kiln.bool", "int8": "kiln.i8", "int16": "kiln.i16",
    "int32": "kiln.i32", "int64": "kiln.i64", "uint8": "kiln.u8", "uint16": "kiln.u16",
    "uint32": "kiln.u32", "uint64": "kiln.u64", "bool_": "kiln.bool",
    # computing
    "matmul": "kiln.dot(a, b), or a @ b", "mm": "kiln.dot(a, b), or a @ b",
    "bmm": "kiln.dot(a, b), or a @ b", "einsum": "kiln.dot, kiln.sum and kiln.transpose",
    "inner": "kiln.sum(x * y)", "outer": "x[:, None] * y[None, :]",
    "add": "x + y", "subtract": "x - y", "sub": "x - y", "multiply": "x * y", "mul": "x * y",
    "divide": "x / y", "true_divide": "x / y", "div_rn": "x / y", "fdiv": "x / y",
    "floor_divide": "x // y", "remainder": "x % y", "mod": "x % y", "negative": "-x",
    "pow": "x ** y", "power": "x ** y", "square": "x * x", "absolute": "kiln.abs",
    "fabs": "kiln.abs", "clip": "kiln.clamp", "fmax": "kiln.maximum", "fmin": "kiln.minimum",
    "amax": "kiln.max", "amin": "kiln.min", "nanmax": "kiln.max(kiln.where(x == x, x, -kiln.inf))",
    "sqrt_rn": "kiln.sqrt", "arctan": "kiln.atan", "arcsin": "kiln.asin", "arccos": "kiln.acos",
    "arctan2": "kiln.atan2", "arcsinh": "kiln.asinh", "arccosh": "kiln.acosh",
    "arctanh": "kiln.atanh", "rint": "kiln.round", "fix": "kiln.trunc", "swish": "kiln.silu",
    "leaky_relu": "kiln.where(x > 0, x, slope * x)",
    "mish": "x * kiln.tanh(kiln.log1p(kiln.exp(x)))",
    "elu": "kiln.where(x > 0, x, kiln.expm1(x))", "softplus": "kiln.log1p(kiln.exp(x))",
    "hypot": "kiln.sqrt(x * x + y * y)", "degrees": "x * (180 / kiln.pi)",
    "radians": "x * (kiln.pi / 180)", "reciprocal": "1 / x", "average": "kiln.mean",
    "logical_and": "x & y", "logical_or": "x | y", "logical_xor": "x ^ y", "logical_not": "~x",
    "bitwise_and": "x & y", "bitwise_or": "x | y", "bitwise_xor": "x ^ y",
    "bitwise_not": "~x", "invert": "~x", "left_shift": "x << y", "right_shift": "x >> y",
    "equal": "x == y", "not_equal": "x != y", "less": "x < y", "less_equal": "x <= y",
    "greater": "x > y", "greater_equal": "x >= y", "bitwise_count": "kiln.popcount",
    "popc": "kiln.popcount", "bit_count": "kiln.popcount", "ffs": "kiln.ctz(x) + 1",
    "brev": "kiln.bitreverse", "umulhi": "kiln.mulhi", "nan_to_num": "kiln.where(x == x, x, 0.0)",
    "xor_sum": "kiln.reduce(x, axis, lambda a, b: a ^ b)", "count_nonzero": "kiln.sum(x != 0)",
    "associative_scan": "kiln.scan", "accumulate": "kiln.scan",
    "argsort": "kiln.sort(x, positions)[1]",
    "sorted": "kiln.sort", "uniform": "kiln.rand", "normal": "kiln.randn",
    "rand4x": "kiln.philox", "randint4x": "kiln.philox",
    # memory and programs
    "make_block_ptr": _LOAD, "make_tensor_descriptor": _LOAD, "advance": _LOAD,
    "load_tensor_descriptor": _LOAD, "store_tensor_descriptor": _LOAD,
    "barrier": _BARRIER, "debug_barrier": _BARRIER, "syncthreads": _BARRIER,
    "atomic_xchg": "kiln.atomic_exchange", "atomic_sub": "kiln.atomic_add(view, indices, -value)",
    "max_contiguous": "kiln.multiple_of", "max_constancy": "kiln.multiple_of",
    "inline_asm_elementwise": "kiln.inline_asm", "range": "range", "copy": "the tile itself",
    "print": "kiln.device_print", "printf": "kiln.device_print", "jit": "@kiln.kernel",
    "size": _SHAPE, "numel": _SHAPE, "item": "x[0]: a tile's element is a scalar",
    "contiguous": "the tile itself", "clone": "the tile itself", "detach": "the tile itself",
    "append": "a tuple: items = (*items, x)", "extend": "a tuple: items = (*items, *more)",
    "stride": "x.strides", "element_ty": "x.dtype", "dim": "x.rank",
}  # fmt: skip


def elsewhere(name: str) -> str | None:
    """What does here what another library has under a name."""
    if hasattr(getattr(language, name, None), "__kiln_intrinsic__"):
        return f"kiln.{name}"
    return _NAMES.get(name)


def near(name: str, known: Iterable[str], prefix: str = "") -> str | None:
    """What does the same here under another name, or else the names that were perhaps meant."""
    public = {each for each in known if not each.startswith("_")}
    close = ", ".join(prefix + each for each in get_close_matches(name, public, 3))
    return _NAMES.get(name) or close or None


def is_of_another_library(function: Any) -> bool:
    """Whether a function is one of NumPy's, PyTorch's, JAX's or Triton's."""
    module = getattr(function, "__module__", None) or type(function).__module__
    return module.partition(".")[0] in ("numpy", "torch", "jax", "triton", "cupy", "scipy")
