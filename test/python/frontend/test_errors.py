"""What wrong kernels get: the line, what is underlined, what was wrong, what would be legal."""

import numpy as np
import pytest
from lowered import Lowered, from_text

import kiln
from kiln.frontend import (
    CompileError,
    KernelSource,
    PointerType,
    ScalarType,
    ViewType,
    constant_key,
    render_diagnostic,
)  # fmt: skip

ARGUMENTS = {
    "v": (kiln.f32, 1), "a": (kiln.f32, 2), "h": (kiln.bf16, 2), "i8": (kiln.i8, 1),
    "i4": (kiln.i4, 1),
    "n": kiln.i64, "s": kiln.f32, "p": PointerType(kiln.f32),
}  # fmt: skip

# (the body of a kernel, what is underlined, a piece of the message, a piece of what is legal)
CASES = [
    ("launched(v)", "launched", "expected a helper, got the kernel `launched`", "@kiln.function"),
    ("x = np.sum(v.load(0, 4))", "np.sum", "expected a kiln function, got `numpy.sum`", "kiln.sum"),
    ("kiln.pin(warps=3)", "3", "expected 1, 2, 4, 8, 16, 32 or 64 warps, got 3", None),
    (
        "kiln.pin(warps=n)",
        "n",
        "expected a constant int for `warps`, got an i64 scalar",
        "kiln.tunable",
    ),
    (
        "kiln.pin(warps=2)\n    kiln.pin(warps=4)",
        "kiln.pin(warps=4)",
        "expected one number of warps, got 2 and 4",
        None,
    ),
    (
        "kiln.pin(cluster=(2, 0))",
        "(2, 0)",
        "expected one to three extents of at least 1, got (2, 0)",
        None,
    ),
    (
        "kiln.pin(cluster=2)\n    kiln.pin(cluster=4)",
        "kiln.pin(cluster=4)",
        "expected one shape of clusters, got (2, 1, 1) and (4, 1, 1)",
        None,
    ),
    (
        'kiln.pin(v.load(0, 4), multicast=("x", "x"))',
        '("x", "x")',
        'expected axes from "x", "y" and "z", each once, got (\'x\', \'x\')',
        'multicast="x" or multicast=("x", "y")',
    ),
    (
        'kiln.pin(v.load(0, 4) + 1.0, multicast="x")',
        '"x"',
        "expected multicast of a load, got a 4 f32 tensor",
        "around the load itself",
    ),
    ("v[0] = w", "w", "expected a name that is defined, got `w`", None),
    ("v[0] = later\n    later = 1", "later", "expected `later` to have a value here", None),
    (
        "v[0] = v.load(0, 4)",
        "v[0]",
        "expected a scalar for one element, got a 4 f32 tensor",
        "view.store(offsets, tile)",
    ),
    ("x = v.load(0, n)", "n", "expected constant extents, got an i64 scalar", "kiln.constexpr"),
    ("x = v.load((0, 0), 4)", "(0, 0)", "expected 1 offsets for a ? f32 view, got 2", "dimension"),
    ("x = v.load(0.5, 4)", "0.5", "expected an integer scalar, got the constant 0.5", "int"),
    ("x = v.load(0, 0)", "0", "expected extents of at least 1, got 0", None),
    ("x = v.load(0, 1 << 30)", "1 << 30", "expected a tile of at most", None),
    ("x = v.load(0, 4, pad='x')", "'x'", "expected a number or a scalar", None),
    (
        "x = v.load(0, 4, cache='fast')",
        "'fast'",
        "expected one of a few words for `cache`",
        '"all", "global", "streaming", "bypass"',
    ),
    (
        "x = v.loud(0, 4)",
        "v.loud",
        "expected an attribute that a ? f32 view has, got `.loud`",
        "load",
    ),
    (
        "x = v.load(0)",
        "v.load(0)",
        "expected a value for `shape` of `kiln.load`, got none",
        "kiln.load(view, offsets, shape, pad=0",
    ),
    (
        "x = v.load(0, 4, 0, None, None, False, 1)",
        "v.load(0, 4, 0, None, None, False, 1)",
        "expected at most 7 arguments by position for `kiln.load`, got 8",
        None,
    ),
    (
        "x = v.load(0, 4, padding=1)",
        "v.load(0, 4, padding=1)",
        "expected a parameter of `kiln.load`, got `padding=`",
        "pad=0",
    ),
    (
        "x = a.load((0, 0), (4, 8)) + a.load((0, 0), (8, 4))",
        "a.load((0, 0), (4, 8)) + a.load((0, 0), (8, 4))",
        "expected shapes that broadcast, got 4x8 and 8x4",
        "x[:, None]",
    ),
    (
        "h.store((0, 0), a.load((0, 0), (4, 4)))",
        "a.load((0, 0), (4, 4))",
        "expected a value of bf16, got a 4x4 f32 tensor",
        ".to(view.dtype)",
    ),
    ("a.store((0, 0), v.load(0, 4))", "v.load(0, 4)", "expected a tile of rank 2", "reshape"),
    (
        "x = kiln.dot(v.load(0, 4), v.load(0, 4))",
        "v.load(0, 4)",
        "expected tensors of rank 2 or more, got a 4 f32 tensor",
        "x[:, None]",
    ),
    (
        "t = a.load((0, 0), (4, 8))\n    x = kiln.dot(t, t)",
        "t",
        "expected inner extents that are the same",
        "transpose_a",
    ),
    (
        "t = a.load((0, 0), (4, 4))\n    x = t @ h.load((0, 0), (4, 4))",
        "t @ h.load((0, 0), (4, 4))",
        "expected operands of one dtype, got f32 and bf16",
        "cast",
    ),
    (
        "t = h.load((0, 0), (4, 4))\n    x = kiln.dot(t, t, t)",
        "t",
        "expected an accumulator of f32, got a 4x4 bf16 tensor",
        None,
    ),
    (
        "x = kiln.dot(h.load((0, 0), (4, 4)), h.load((0, 0), (4, 4)), precision='tf32')",
        "'tf32'",
        "expected f32 operands for precision tf32, got bf16",
        None,
    ),
    (
        "x = v.load(0, 4) & 1",
        "v.load(0, 4) & 1",
        "expected integers or bools around `&`, got f32",
        "kiln.bitcast",
    ),
    (
        "x = i8.load(0, 4) + 300",
        "i8.load(0, 4) + 300",
        "expected a constant that fits i8, got 300",
        "-128 to 127",
    ),
    ("x = i8.load(0, 4) << 8", "i8.load(0, 4) << 8", "expected a shift of 0 to 7 bits", None),
    ("x = n // 0", "n // 0", "expected a divisor that is not zero, got 0", None),
    ("x = 1 // 0", "1 // 0", "expected constants that `//` takes", None),
    ("x = 10 ** 10 ** 10", "10 ** 10 ** 10", "expected a constant of at most 4096 bits", None),
    ("x = 'a' * 10 ** 9", "'a' * 10 ** 9", "expected a constant of at most 4096 elements", None),
    ("x = not v.load(0, 4)", "not v.load(0, 4)", "expected a scalar after `not`", "kiln.where"),
    (
        "if v.load(0, 4) > 0:\n        pass",
        "v.load(0, 4) > 0",
        "expected a scalar condition",
        "kiln.where",
    ),
    (
        "x = n > 0 and v.load(0, 4) > 0",
        "n > 0 and v.load(0, 4) > 0",
        "expected bool scalars around `and`",
        "& and |",
    ),
    ("x = n and s", "n and s", "expected bool scalars around `and`, got an i64 scalar", "x != 0"),
    (
        "if n > 0:\n        x = 1.0\n    v[0] = x",
        "x",
        "only one branch of the `if` in line 2",
        None,
    ),
    (
        "if n > 0:\n        x = s\n    else:\n        x = v.load(0, 4)\n    v[0] = x",
        "n > 0",
        "expected `x` to be of one type, got a f32 scalar and a 4 f32 tensor",
        "cast",
    ),
    (
        "if n > 0:\n        x = s\n    else:\n        x = 'a'\n    v[0] = x",
        "n > 0",
        "expected x to be of one kind in both branches",
        None,
    ),
    (
        "acc = v.load(0, 4)\n    for i in range(n):\n        acc = acc.to(kiln.f64)\n    y = acc",
        None,
        "expected `acc` to keep its type in the loop, a 4 f32 tensor, got a 4 f64 tensor",
        "acc = acc.to(f32)",
    ),
    (
        "x = None\n    for i in range(n):\n        x = v.load(0, 4)\n    v.store(0, x)",
        "x = v.load(0, 4)",
        "expected `x` to stay of one kind in the loop, got a 4 f32 tensor",
        "kiln.static_range",
    ),
    (
        "x = v\n    while x[0] > 0:\n        y = x[0]\n        x = y\n        y = 1",
        "x = y",
        "expected `x` to stay of one kind in the loop, got a f32 scalar",
        "views of one dtype and rank",
    ),
    (
        "x = ()\n    for i in range(n):\n        if n > 1:\n            pass\n        x = (*x, i)\n    v[0] = x[0]",
        "x = (*x, i)",
        "expected `x` to stay of one kind in the loop, got a tuple of 1",
        "tuples of them",
    ),
    (
        "x = v.load(0, 4)\n    for i in range(n):\n        x, y = v, x\n    v[0] = x[0]",
        "x, y = v, x",
        "expected `x` to stay of one kind in the loop, got a ? f32 view",
        "scalars, tensors",
    ),
    (
        "x = v\n    for i in range(n):\n        for x in (1, 2):\n            pass\n    v[0] = x[0]",
        "x",
        "expected `x` to stay of one kind in the loop, got the constant 2",
        "scalars, tensors",
    ),
    (
        "x = v.load(0, 4)\n    for i in range(n):\n        x = x + v.load(0, 8).reshape(2, 4)\n    y = x",
        "x = x + v.load(0, 8).reshape(2, 4)",
        "expected `x` to keep its type in the loop, a 4 f32 tensor, got a 2x4 f32 tensor",
        "start with that shape: x = kiln.full((2, 4), ..., kiln.f32)",
    ),
    (
        "x = v.load(0, 4)\n    for i in range(n):\n        x = kiln.concat((x, x))\n    y = x",
        "x = kiln.concat((x, x))",
        "expected `x` to keep its type in the loop, a 4 f32 tensor, got an 8 f32 tensor",
        None,
    ),
    (
        "for i in range(n):\n        x = 1\n    v[0] = x",
        "x",
        "it is assigned only inside the loop in line 2",
        None,
    ),
    (
        "for i in range(n):\n        pass\n    v[0] = i",
        "i",
        "it is the variable of the loop in line 2",
        None,
    ),
    ("for i in range(n):\n        return", "return", "expected no `return` inside a loop", None),
    ("for i in range(0, n, 0):\n        pass", None, "expected a step that is not zero", None),
    (
        "for i in kiln.static_range(n):\n        pass",
        "n",
        "expected a constant int for `start`",
        None,
    ),
    (
        "for i in kiln.static_range(10 ** 6):\n        pass",
        "kiln.static_range(10 ** 6)",
        "expected at most 4096 rounds to unroll",
        "range(...)",
    ),
    ("for x in v:\n        pass", "v", "expected a range, a tuple or a static range", "range(n)"),
    ("while True:\n        pass", "True", "expected a condition that can become false", None),
    ("try:\n        pass\n    finally:\n        pass", None, "got `try`", "checks"),
    ("import math", "import math", "got `import`", "top of the module"),
    ("del v", "del v", "got `del`", None),
    ("with v:\n        pass", None, "got `with`", None),
    ("raise ValueError", "raise ValueError", "got `raise`", "assert"),
    ("x = {1: 2}", "{1: 2}", "expected an expression that a kernel can hold, got a Dict", None),
    ("x = yes()", "yes", "expected a name that is defined, got `yes`", None),
    ("x = print(n)", "print(n)", "got Python's print", "kiln.device_print"),
    ("x = sorted((1, 2))", "sorted((1, 2))", "got Python's sorted", None),
    (
        "x = outside(n)",
        "outside",
        "expected a kiln function, got the Python function `outside`",
        "@kiln.function",
    ),
    ("x = ARRAY", "ARRAY", "expected a constant outside the kernel, got `ARRAY`, a list", "ints"),
    ("x = kiln.nothing(n)", "kiln.nothing", "expected a name that kiln has", None),
    ("x = n()", "n()", "expected a function before the brackets, got an i64 scalar", None),
    ("x = recursive(n)", "recursive(x)", "expected no recursion", "loop"),
    ("a, b = v.load(0, 4)", "a, b", "expected a tuple to unpack", None),
    ("x, y = (1, 2, 3)", "x, y", "expected 2 values to unpack, got 3", None),
    ("x, *y, z = (1,)", "x, *y, z", "expected at least 2 values to unpack, got 1", None),
    ("v.x = 1", "v.x", "expected a name or an element of a view before `=`", "_replace"),
    (
        "v[n:] += 1",
        "v[n:]",
        "expected a tile of rank 1 for a ? f32 view, got the constant 1",
        "y[i, 0:16]",
    ),
    ("v[0] += v.load(0, 4)", "v[0]", "expected a scalar for one element", "y[i:i + n] += tile"),
    ("v[0] = a.T", "v[0]", "expected a scalar for one element, got a ?x? f32 view", "load"),
    ("v[0:8] = v.load(0, 4)", "v[0:8]", "expected a tile of extent 8 along dimension 0", None),
    ("i8[0] += 1.5", "i8[0]", "expected a value of i8, got a f32 scalar", "a cast"),
    ("x = (1, 2)[n]", "(1, 2)[n]", "expected a constant index of a tuple", None),
    ("x = (1, 2)[2]", "(1, 2)[2]", "expected an index below 2, got 2", None),
    ("x = v.load(0, 4)[n]", "v.load(0, 4)[n]", "expected constant indices of a tensor", "gather"),
    (
        "x = v.load(0, 4)\n    x[0] = 1",
        "x[0]",
        "expected an element or a part of a view",
        "kiln.where",
    ),
    ("x = v.load(0, 4)[0, 0]", "v.load(0, 4)[0, 0]", "expected at most 1 indices", None),
    ("x = a[0, 0, 0]", "a[0, 0, 0]", "expected at most 2 indices for a ?x? f32 view, got 3", None),
    ("x = a[-1]", "a[-1]", "expected an index from 0 to the last one, got -1", "x.shape[0] - 1"),
    ("x = a[:, ::n]", "a[:, ::n]", "expected a constant step that is not zero", None),
    ("x = a[v.load(0, 4)]", "a[v.load(0, 4)]", "expected scalars and slices", "view.gather"),
    ("x = a.reshape(-1, -1)", "-1", "expected one extent of -1", None),
    ("x = a.permute(0)", "a.permute(0)", "expected each of the 2 dimensions once", None),
    ("x = v if n > 0 else a", "v if n > 0 else a", "to be of one kind in both branches", "views"),
    ("x = v if n > 0 else i8", "v if n > 0 else i8", "to be of one kind in both branches", "views"),
    ("x = a.load((0, 0), (4, 1), squeeze=0)", "0", "expected dimensions of extent 1, got 4", None),
    ("x = v.load(0, 4).sum(axis=(0, 0))", "(0, 0)", "expected different axes", None),
    (
        "x = kiln.gather(a.load((0, 0), (4, 8)), kiln.arange(4), 1)",
        "kiln.arange(4)",
        "expected indices of rank 2",
        "indices[:, None]",
    ),
    ("x = kiln.gather(v.load(0, 4), v.load(0, 4))", "v.load(0, 4)", "expected integers", None),
    ("x = kiln.roll(v.load(0, 4), 1.5, 0)", "1.5", "expected an integer scalar", None),
    ("x = n in v.load(0, 4)", "n in v.load(0, 4)", "expected a tuple, a string or a range", "any"),
    ("x = v.load(0, 4) in (1, 2)", "v.load(0, 4) in (1, 2)", "expected a scalar before `in`", None),
    # What users of other tile languages write first.
    ("x = kiln.load(v + kiln.arange(4))", "v + kiln.arange(4)", "got a ? f32 view", "view.gather("),
    (
        "x = v.load(0, 4, mask=n > 0)",
        None,
        "got `mask=`",
        "kiln.gather and kiln.scatter take masks",
    ),
    ("x = v.load(0, 4, other=0)", None, "got `other=`", "`pad=` is what is read"),
    ("x = v.load(0, 4).astype(kiln.f64)", None, "got `.astype`", ".to(dtype)"),
    ("x = v.size", "v.size", "got `.size`", "of constants a constant"),
    ("v.atomic_add(0, 1.0)", None, "got `.atomic_add`", "kiln.atomic_add"),
    ("kiln.zeros_lik(n)", "kiln.zeros_lik", "expected a name that kiln has", "kiln.zeros"),
    (
        "x = kiln.zeros((4, 4), 'f32')",
        "'f32'",
        "expected a dtype, got the constant 'f32'",
        "kiln.f32",
    ),
    (
        "x = kiln.sum(v.load(0, 4), axis=1)",
        "1",
        "expected an axis of a tensor of rank 1, got 1",
        "-1 to 0",
    ),
    ("x = kiln.sum(n)", "n", "expected a tensor, got an i64 scalar", None),
    ("x = v.load(0, 4).reshape(3)", "3", "expected a shape of 4 elements, got 3 of 3", None),
    (
        "x = kiln.transpose(a.load((0, 0), (2, 2)), 0, 0)",
        "kiln.transpose(a.load((0, 0), (2, 2)), 0, 0)",
        "expected each of the 2 dimensions once",
        None,
    ),
    ("x = kiln.where(1.5 * s, 1, 2)", "1.5 * s", "expected a bool condition", "x != 0"),
    ("x = v.gather(s)", "s", "expected integer tensors, got a f32 scalar", None),
    (
        "x = kiln.philox(0, kiln.arange(4, dtype=kiln.f32))",
        "kiln.arange(4, dtype=kiln.f32)",
        "expected a counter of integers",
        "i * BLOCK + kiln.arange(BLOCK)",
    ),
    ("kiln.atomic_and(v, 0, 1)", "v", "expected a view of integers", None),
    (
        "kiln.scatter(i4, kiln.arange(4), 1)",
        "i4",
        "expected a view of elements of at least a byte",
        "view.store",
    ),
    (
        "kiln.atomic_add(i8, 0, 1)",
        "i8",
        "expected a view whose elements can be accessed atomically",
        "f64, f32",
    ),
    (
        "kiln.atomic_add(v, 0, 1.0, order='weak')",
        "'weak'",
        "expected one of a few words",
        "acq_rel",
    ),
    (
        "kiln.static_assert(1 > 2, f'{1} is not above')",
        None,
        "static assertion failed: 1 is not above",
        None,
    ),
    ("kiln.static_assert(n > 2)", "n > 2", "expected a constant condition", "kiln.device_assert"),
    ("assert 1 > 2, 'no'", "assert 1 > 2, 'no'", "static assertion failed: no", None),
    ("x = kiln.multiple_of(7, 2)", "7", "expected a multiple of 2, got 7", None),
    ("x = kiln.program_id(3)", "3", "expected an axis of the grid, got 3", "0, 1 or 2"),
    ("if n > 0:\n        i = kiln.grid(n)", "kiln.grid(n)", "expected kiln.grid once", "i, j ="),
    (
        "x = v.load(0, 4)\n    i = kiln.grid(n)",
        "v.load(0, 4)",
        "expected only scalar arithmetic on arguments before kiln.grid",
        "after kiln.grid",
    ),
    ("x = v[0]\n    i = kiln.grid(n)", "v[0]", "expected only scalar arithmetic", None),
    ("i = kiln.grid(n, n, n, n)", "kiln.grid(n, n, n, n)", "expected one to three extents", None),
    ("i = kiln.grid(s)", "kiln.grid(s)", "expected an integer scalar, got a f32 scalar", None),
    ("return n", "return n", "expected a kernel to return nothing, got an i64 scalar", "store"),
    ("x = kiln.topk(v.load(0, 4), 5)", "5", "expected 1 to 4 elements, got 5", None),
    (
        "x = kiln.concat((v.load(0, 4), i8.load(0, 4)))",
        "(v.load(0, 4), i8.load(0, 4))",
        "expected tensors of one dtype",
        None,
    ),
    (
        "x = kiln.reduce(v.load(0, 4), 0, lambda a, b: (a, b))",
        "lambda a, b: (a, b)",
        "expected the function to give 1 scalars, got 2",
        None,
    ),
    (
        "x = kiln.reduce(v.load(0, 4), 0, lambda a, b: a > b)",
        "lambda a, b: a > b",
        "expected the function to give a f32 scalar",
        "cast",
    ),
    ("x = kiln.reduce(v.load(0, 4), 0, lambda a: a)", None, "expected at most 1 arguments", None),
    (
        "x = kiln.full(4, float('inf'), kiln.f8e4m3fn)",
        "kiln.full(4, float('inf'), kiln.f8e4m3fn)",
        "got an infinity, which it has not",
        None,
    ),
    (
        "x = kiln.load(p + kiln.arange(16))",
        "p + kiln.arange(16)",
        "on both sides of `+`, got a f32 pointer",
        "kiln.view(pointer, shape) makes a view",
    ),
    (
        "x = p + 4",
        "p + 4",
        "on both sides of `+`, got a f32 pointer",
        ".gather(indices) single elements",
    ),
    (
        "x = p[0]",
        "p[0]",
        "before the brackets, got a f32 pointer",
        "kiln.view(pointer, shape)",
    ),
    (
        "p[0] = s",
        "p[0]",
        "before `=`, got a f32 pointer",
        "kiln.view(pointer, shape)",
    ),
    (
        "x = kiln.load(p, 0, 16)",
        "p",
        "expected a view, got a f32 pointer",
        "kiln.view(pointer, shape)",
    ),
    (
        "a.store((0, 0), a[0:8, 0:16])",
        "a[0:8, 0:16]",
        "expected a tensor or a scalar, got a ?x? f32 view",
        "view.load(offsets, shape) reads a tile",
    ),
    (
        "a[0:8, 0:16] = a[0:8, 0:16]",
        "a[0:8, 0:16]",
        "expected a tensor or a scalar, got a",
        "view.load(offsets, shape) reads a tile",
    ),
    (
        "x = kiln.cumsum(v)",
        "v",
        "expected a tensor, got a ? f32 view",
        "view.load(offsets, shape) reads a tile",
    ),
    ("x = kiln.view(n, 4)", "n", "expected a pointer, got an i64 scalar", "kiln.Pointer"),
    ("x = kiln.view(p, 4, (1, 1))", "(1, 1)", "expected 1 strides, got 2", None),
    ("x = kiln.sqrt(-1)", "kiln.sqrt(-1)", "expected a constant that sqrt takes", None),
    ("x = v < None", "v < None", "expected numbers, scalars or tensors on both sides of `<`", None),
    ("@kiln.function\n    def f():\n        pass", None, "without decorators", None),
    (
        "assert n > 0, f'{n}'",
        "assert n > 0, f'{n}'",
        "got one with run-time values",
        "kiln.device_print",
    ),
    ("x = lambda *, k: k\n    y = x(1)", "x(1)", "expected at most 0 arguments", "*, k"),
    ("x = f'{n:>{s}}'", "f'{n:>{s}}'", "expected a format that fits", None),
    ("x = kiln.bitcast(s, kiln.i8)", "kiln.i8", "expected a dtype of 32 bits, got i8 of 8", None),
    ("x = helper(n, n)", "helper(n, n)", "expected a constant for `size`, got an i64 scalar", None),
    ("x = broken(v)", "x + 'a'", "got the constant 'a'", None),
]


def outside(x):
    return x


@kiln.function
def helper(x, size: kiln.constexpr):
    return x + size


@kiln.kernel
def launched(v):
    pass


SCOPE = {"np": np, "launched": launched, "outside": outside, "ARRAY": [1, 2], "helper": helper}


def scope():
    recursive = from_text("def recursive(x):\n    return recursive(x)\n", "recursive")
    recursive.__globals__["recursive"] = recursive = kiln.function(recursive)
    broken = kiln.function(
        from_text("def broken(v):\n    x = v[0]\n    return x + 'a'\n", "broken")
    )
    return {**SCOPE, "recursive": recursive, "broken": broken}


def failure(body: str) -> CompileError:
    kernel = from_text(f"def kernel({', '.join(ARGUMENTS)}):\n    {body}\n", **scope())
    types = {name: Lowered.type(given) for name, given in ARGUMENTS.items()}
    with pytest.raises(CompileError) as raised:
        KernelSource(kernel).lower(types)
    return raised.value


@pytest.mark.parametrize(("body", "underlined", "message", "legal"), CASES)
def test_errors(body, underlined, message, legal):
    import linecache

    error = failure(body)
    assert message in error.message
    if legal is not None:
        assert legal in error.legal
    line = linecache.getline(error.span.file, error.span.line).rstrip("\n")
    end = error.span.end - 1 if error.span.end else len(line)
    if underlined is not None:
        assert line[error.span.column - 1 : end] == underlined
    text = str(error).splitlines()
    assert text[0] == f"{error.file}:{error.line}:{error.column}: error: {error.message}"
    assert text[1].endswith("| " + line)
    caret = text[2]
    bar = text[1].index("| ") + 2
    assert caret[bar:].lstrip() == "^" * len(caret.strip("| "))
    assert len(caret) - len(caret.rstrip("^")) == max(1, end - (error.span.column - 1))


def test_the_whole_text():
    error = failure("x = broken(v)")
    name = error.span.file
    assert str(error) == (
        f"{name}:3:12: error: expected numbers, scalars or tensors on both sides of `+`, got the "
        "constant 'a'\n"
        "     3 |     return x + 'a'\n"
        "       |            ^^^^^^^\n"
        f"  in broken, called at {error.calls[0][1].file}:2:9\n"
        "     2 |     x = broken(v)\n"
        "       |         ^^^^^^^^^"
    )


HEAVY = [
    "for i in kiln.static_range(4000):\n"
    "        for j in kiln.static_range(4000):\n            x = i * j",
    "\n    ".join(f"if n > {i}:\n        if n > {i + 1}:\n            return\n" for i in range(40)),
    "x = 'ab'\n    for i in kiln.static_range(100):\n        x = x + x",
    "x = (1, 2)\n    for i in kiln.static_range(100):\n        x = x + x",
    "x = 3\n    for i in kiln.static_range(100):\n        x = x * x",
    "x = f'{1:>999999999}'",
    "x = [i for i in range(10 ** 30)]",
    "for i in kiln.static_range(-10 ** 30, 10 ** 30):\n        pass",
    "x = " + "+".join(["n"] * 800),
    "x = tuple(range(10 ** 9))",
    "x = kiln.zeros((10 ** 30,), kiln.f32)",
    "x = sum(range(10 ** 9))",
]


@pytest.mark.parametrize("body", HEAVY, ids=lambda body: body[:30])
@pytest.mark.timeout(60)
def test_programs_that_would_never_end_are_refused(body):
    assert failure(body).message.startswith("expected ")


def test_columns_count_characters_and_tabs_stay():
    kernel = from_text("def kernel(v):\n\tgrün = 'ä'; x = v.load(grün, 4)\n")
    with pytest.raises(CompileError) as raised:
        KernelSource(kernel).lower({"v": ViewType(kiln.f32, (None,))})
    assert raised.value.column == 25
    assert str(raised.value).splitlines()[2].endswith("\t" + " " * 23 + "^^^^")


def test_diagnostics_of_the_compiler_take_the_same_form():
    kernel = from_text("def kernel(v):\n    x = kiln.dot(v.load(0, 4), v)\n")
    file = kernel.__code__.co_filename
    error = render_diagnostic(file, 2, 9, "expected a thing", calls=(("f", file, 1, 1),))
    assert str(error) == (
        f"{file}:2:9: error: expected a thing\n"
        "     2 |     x = kiln.dot(v.load(0, 4), v)\n"
        "       |         ^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        f"  in f, called at {file}:1:1\n"
        "     1 | def kernel(v):\n"
        "       | ^^^"
    )
    assert "gone.py:7:1: error: lost" in str(render_diagnostic("gone.py", 7, 1, "lost"))


SIGNATURES = [
    ("def kernel(*a): pass", "expected named parameters in a kernel, got *a"),
    ("def kernel(a: 3): pass", "expected an annotation that a kernel's parameter can have, got 3"),
    ("def kernel(a: 'nothing'): pass", "expected an annotation that can be evaluated"),
    ("def kernel(a: kiln.tunable): pass", "expected candidates for the tunable `a`"),
]


@pytest.mark.parametrize(("text", "message"), SIGNATURES)
def test_wrong_signatures(text, message):
    with pytest.raises(CompileError) as raised:
        KernelSource(from_text(text))
    assert message in raised.value.message and raised.value.line == 1


ARGUMENT_ERRORS = [
    ({}, {"c": 1}, "expected a type for the argument `v`, got none"),
    ({"v": ScalarType(kiln.f32)}, {"c": 1}, "expected a view for `v`, got: f32 scalar"),
    ({"v": ViewType(kiln.f32, (None,))}, {"c": 1}, "expected a view of rank 2 for `v`, got rank 1"),
    ({"v": ViewType(kiln.f16, (None, None))}, {"c": 1}, "expected f32 for `v`, got f16"),
    (
        {"v": ViewType(kiln.f32, (None, 3))},
        {"c": 1},
        "expected extent 8 of dimension 1 of `v`, got 3",
    ),
    ({"v": ViewType(kiln.f32, (None, 8))}, {}, "expected a value for the constant `c`, got none"),
    ({"v": ViewType(kiln.f32, (None, 8))}, {"c": [1]}, "expected a constant for `c`, got a list"),
    (
        {"v": ViewType(kiln.f32, (None, 8))},
        {"c": 1, "d": 1},
        "expected a parameter of `kernel`, got `d`",
    ),
    ({"v": ViewType(kiln.f32, (None, 8)), "n": ScalarType(kiln.i64)}, {"c": 1}, "got tf32"),
]


@pytest.mark.parametrize(("types", "constants", "message"), ARGUMENT_ERRORS)
def test_wrong_arguments(types, constants, message):
    kernel = from_text(
        "def kernel(v: kiln.View[kiln.f32, (None, 8)], w: kiln.View,\n"
        "           c: kiln.constexpr):\n    pass\n"
    )
    types = {
        "w": ViewType(kiln.tf32, (1,)) if "tf32" in message else ViewType(kiln.f32, (1,)),
        **types,
    }
    types.pop("n", None)
    with pytest.raises(CompileError) as raised:
        KernelSource(kernel).lower(types, constants)
    assert message in raised.value.message


def test_no_source_is_an_error():
    scope = {}
    exec("def kernel(v): pass", scope)
    with pytest.raises(CompileError, match="expected the source of `kernel` in a file"):
        KernelSource(scope["kernel"]).lower({"v": ViewType(kiln.f32, (None,))})


def test_constants_without_a_key_are_an_error():
    assert constant_key((1, 2.5, "a", None, kiln.f32)) == constant_key(
        (1, 2.5, "a", None, kiln.f32)
    )
    assert constant_key(1) != constant_key(1.0) != constant_key(True)
    with pytest.raises(CompileError, match="expected a constant, got a list"):
        constant_key([1])
