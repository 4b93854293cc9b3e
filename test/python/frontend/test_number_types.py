"""Which dtype a number takes, and what a store widens: the types alone, without running."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest
from lowered import from_text

import kiln
from kiln.frontend import CompileError, KernelSource, ScalarType, ViewType
from kiln.language.dtypes import DTYPES

TYPES = {
    "v": ViewType(kiln.f32, (None,)), "h": ViewType(kiln.bf16, (None,)),
    "d": ViewType(kiln.f64, (None,)), "k": ViewType(kiln.i32, (None,)),
    "b": ViewType(kiln.i8, (None,)), "u": ViewType(kiln.u16, (None,)), "n": ScalarType(kiln.i64),
    "p": ScalarType(kiln.bool),
}  # fmt: skip


def lowered(body: str) -> str:
    lines = "\n".join("    " + line for line in body.splitlines())
    kernel = from_text(f"def kernel({', '.join(TYPES)}):\n    i = kiln.grid(4)\n{lines}\n")
    return KernelSource(kernel).lower(TYPES)


CHOSEN = {
    "if": "x = {}\nif p:\n    x = {}\n",
    "both": "if p:\n    x = {}\nelse:\n    x = {}\n",
    "expression": "x = {} if p else {}\n",
    "where": "x = kiln.where(p, {}, {})\n",
    "loop": "x = {}\nfor j in range(n):\n    x = {}\n",
    "counted": "x = {}\nfor j in range(n):\n    x = x + {}\n",
    "nested": "x = {}\nfor j in range(n):\n    for l in range(j):\n        if p:\n            x = x - {}\n",
    "while": "x = {}\nwhile n > x:\n    x = x * 2 + {}\n",
    "helper": "x = (lambda y: -y)({} if p else {})\n",
}  # fmt: skip


@pytest.mark.parametrize("how", CHOSEN)
@pytest.mark.parametrize(("numbers", "view", "dtype"), [
    ("1 2", "k", "i32"), ("1 2", "b", "i8"), ("1 2", "u", "u16"), ("1 2", "h", "bf16"),
    ("1 2", "d", "f64"), ("0.5 2.0", "h", "bf16"), ("0.5 2.0", "d", "f64"), ("0.5 2", "v", "f32"),
    ("0.5 2.0", "k", "f32"),
])  # fmt: skip
def test_a_number_takes_the_type_of_what_it_meets(how: str, numbers: str, view: str, dtype: str):
    body = CHOSEN[how].format(*numbers.split())
    if how == "where" and numbers == "0.5 2":
        body = body.replace("2)", "2.0)")
    sums = f"y = {view}.load(0, 8) + x\nz = x * {view}[0]\n"
    lowered(body + sums + f"kiln.static_assert(y.dtype == z.dtype == kiln.{dtype}, f'{{y.dtype}}')")


@pytest.mark.parametrize(("body", "dtype"), [
    ("x = 0\nfor j in range(n):\n    x += k[j]", "i32"),
    ("x = 0\nfor j in range(n):\n    x = x + i", "index"),
    ("x = 0.0\nfor j in range(n):\n    x += d[j]", "f64"),
    ("x = 0.0\nfor j in range(n):\n    x = kiln.maximum(x, h.load(0, 8))", "bf16"),
    ("x = 0\nfor j in range(n):\n    x = x * 0.5 + b.load(0, 8)", "f32"),
    ("x = 1\nif p:\n    x = k[0]", "i32"),
    ("x = 1.5\nif p:\n    x = h.load(0, 8)", "bf16"),
    ("x = 0\nfor j in range(n):\n    if j > 3:\n        x = u[j]", "u16"),
    ("x = 1 if p else 2\nx = x.to(kiln.i64)\nx = x + k[0]", "i64"),
    ("x = 1 if p else 2\nfor j in range(n):\n    x = x + k[0]", "i32"),
    ("x = kiln.exp(0.5 if p else 1.5)", "f32"),
    ("x = kiln.arange(8)\nfor j in range(n):\n    x += j", "i64"),
    ("x = kiln.arange(8)\nif p:\n    x = x + i", "i64"),
    ("x = k[0]\nwhile x < n:\n    x = x + i", "index"),
    ("x = 0\nfor j in range(n):\n    y = 0\n    for l in range(j):\n        y += k[l]\n    x += y", "i32"),
])  # fmt: skip
def test_a_carried_number_has_the_type_that_the_body_gives(body: str, dtype: str):
    lowered(f"{body}\nkiln.static_assert(x.dtype == kiln.{dtype}, f'{{x.dtype}}')")


def test_a_number_that_its_type_cannot_hold_is_an_error():
    with pytest.raises(CompileError, match="expected a constant that fits i8, got 300"):
        lowered("x = 300\nfor j in range(n):\n    x = x + b[j]")


@pytest.mark.parametrize(("body", "message"), [
    ("x = 300 if p else 1\ny = b.load(0, 8) + x", "expected a constant that fits i8, got 300"),
    ("x = 1\nif p:\n    x = 300\nb[0] = x", "expected a constant that fits i8, got 300"),
    ("b.store(0, kiln.where(v.load(0, 8) > 0, 300, 0))", "expected a constant that fits i8, got 300"),
    ("u[0] = kiln.where(p, -1, 1)", "expected a constant that fits u16, got -1"),
    ("k.store(0, kiln.where(v.load(0, 8) > 0, 0.5, 1))", "expected a value of i32, got an 8 f32"),
    ("k[0] = 0.5 if p else 1", "expected a value of i32, got a f64 scalar"),
    ("k[0] = (1 if p else 2) / 2", "expected a value of i32, got a f32 scalar"),
])  # fmt: skip
def test_a_chosen_number_that_its_type_cannot_hold_is_an_error(body: str, message: str):
    with pytest.raises(CompileError, match=message):
        lowered(body)


def test_a_tile_of_chosen_numbers_is_stored_as_the_numbers_would_be():
    for view, numbers in itertools.product("bukhvd", ("1, 0", "(2 if p else 3), 1")):
        lowered(f"{view}.store(0, kiln.where(v.load(0, 8) > 0, {numbers}))")
    for view in "hvd":
        lowered(f"{view}.store(0, kiln.where(v.load(0, 8) > 0, 1.0, float('-inf')))")


NUMPY = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e8m0fnu": ml_dtypes.float8_e8m0fnu, "f6e2m3fn": ml_dtypes.float6_e2m3fn,
    "f6e3m2fn": ml_dtypes.float6_e3m2fn, "f4e2m1fn": ml_dtypes.float4_e2m1fn, "i4": ml_dtypes.int4,
    "u4": ml_dtypes.uint4, "i2": ml_dtypes.int2, "u2": ml_dtypes.uint2, "bool": np.bool_,
    **{f"{k[0]}{n}": np.dtype(f"{k}{n}").type for k in ("int", "uint") for n in (8, 16, 32, 64)},
}  # fmt: skip


def values_of(name: str) -> np.ndarray:
    """All values of a narrow type; of a wide one those where conversions begin to lose."""
    kind, dtype = NUMPY[name], DTYPES[name]
    if dtype.is_bool:
        return np.array([False, True])
    if dtype.bits <= 16 and dtype.is_float:
        raw = np.arange(1 << dtype.bits).astype(np.uint8 if dtype.bits <= 8 else np.uint16)
        return raw.view(kind)
    if dtype.is_float:
        return np.array([1 + np.finfo(kind).eps, np.finfo(kind).max, np.finfo(kind).tiny], kind)
    low, high = dtype.minimum, dtype.maximum
    chosen = sorted({low, low + 1, 0, 1, high // 2, high - 1, high})
    return np.array(chosen, np.uint64 if low == 0 else np.int64).astype(kind)


def converts_exactly(narrow: str, wide: str) -> bool:
    values = values_of(narrow)
    source, to = DTYPES[narrow], DTYPES[wide]
    if not source.is_float and not to.is_float:
        return all(to.minimum <= int(v) <= to.maximum for v in values)
    if source.is_float and not to.is_float:
        return False
    with np.errstate(all="ignore"):
        converted = values.astype(np.float64).astype(NUMPY[wide])
    before = [int(v) if not source.is_float else float(v) for v in values]
    return all(
        a == b or (a != a and b != b) for a, b in zip(before, map(float, converted), strict=True)
    )


MEMORY = [name for name in DTYPES if name not in ("tf32", "index")]


@pytest.mark.parametrize("narrow", [*MEMORY, "index"])
def test_a_store_widens_exactly_where_nothing_is_lost(narrow: str):
    refused = []
    for wide in MEMORY:
        lossless = converts_exactly("i64" if narrow == "index" else narrow, wide)
        for write in ("w.store(0, x.load(0, 8))", "w[1] = x[0]", "w[1] = i"):
            if (narrow == "index") != (write == "w[1] = i"):
                continue
            file = from_text(f"def kernel(x, w):\n    i = kiln.grid(4)\n    {write}\n")
            source = "i64" if narrow == "index" else narrow
            types = {name: ViewType(DTYPES[d], (None,)) for name, d in (("x", source), ("w", wide))}
            try:
                KernelSource(file).lower(types)
                assert lossless, (narrow, wide)
            except CompileError as error:
                assert not lossless, (narrow, wide, error)
                assert error.line == 3 and "a cast: .to(" in error.legal
                refused.append(wide)
    assert len(refused) < 2 * len(MEMORY)


def test_atomics_and_paddings_widen_too():
    lowered("kiln.atomic_add(v, 0, h[0])\nkiln.atomic_add(d, kiln.arange(8), v.load(0, 8))")
    lowered("x = v.load(0, 8, pad=h[0])")
    with pytest.raises(CompileError, match="expected a value of i32, got an i64 scalar"):
        lowered("kiln.atomic_add(k, 0, n)")


def test_arange_meets_every_integer():
    for left, right in itertools.product(
        ("i", "n", "k[0]", "u[0]", "b[0]", "v.shape[0]"), repeat=2
    ):
        lowered(
            f"x = {left} * 4 + kiln.arange(8)\nx = x < {right}\ny = kiln.rand({right}, {left} + kiln.arange(8))"
        )
