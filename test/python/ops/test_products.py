# ruff: noqa: E501
"""tile.dot and tile.dot_scaled of every type, orientation and shape."""

import ml_dtypes
import numpy as np
import pytest
from tiles import DEVICE, NUMPY, apply, assert_close, tensor

TYPES = [("f64", "f64"), ("f32", "f32"), ("f16", "f32"), ("f16", "f16"), ("bf16", "f32"),
         ("f8E4M3FN", "f32"), ("f8E5M2", "f32"), ("i8", "i32"), ("i4", "i32")]  # fmt: skip
SHAPES = [(1, 1, 1), (16, 32, 8), (13, 37, 19), (64, 64, 32), (3, 100, 5), (40, 1, 33), (1, 50, 7)]


def random_operand(rng, shape, element):
    if element[0] == "i":
        width = int(element[1:])
        return rng.integers(-(2 ** (width - 1)), 2 ** (width - 1), shape).astype(NUMPY[element])
    return rng.standard_normal(shape).astype(NUMPY[element])


def wide(array):
    return (
        array.astype(np.int64)
        if array.dtype.kind in "i" or "int" in array.dtype.name
        else array.astype(np.float64)
    )


@pytest.mark.crossed
@pytest.mark.parametrize("element, accumulator", TYPES)
@pytest.mark.parametrize("m, n, k", SHAPES)
@pytest.mark.parametrize("flags", ["", "transpose_a", "transpose_b", "transpose_a transpose_b"])
def test_dot(rng, element, accumulator, m, n, k, flags):
    a = random_operand(rng, (k, m) if "transpose_a" in flags else (m, k), element)
    b = random_operand(rng, (n, k) if "transpose_b" in flags else (k, n), element)
    c = random_operand(rng, (m, n), accumulator if accumulator[0] != "i" else "i8").astype(
        NUMPY[accumulator]
    )
    body = f"%r = tile.dot %a, %b, %c {flags} : {tensor(a.shape, element)}, {tensor(b.shape, element)} -> {tensor(c.shape, accumulator)}"
    got = apply(body, {"a": a, "b": b, "c": c}, {"r": ((m, n), accumulator)})
    x = wide(a).T if "transpose_a" in flags else wide(a)
    y = wide(b).T if "transpose_b" in flags else wide(b)
    want = x @ y + wide(c)
    if accumulator == "i32":
        assert np.array_equal(got, want)
    else:
        # The host rounds a sum once, matrix instructions at each step along k.
        half = 1e-3 if DEVICE == "cpu" else 3e-3
        tolerance = {"f64": 1e-14, "f32": 1e-6, "f16": half}[accumulator]
        assert_close(got, want, tolerance, np.abs(x) @ np.abs(y) + np.abs(wide(c)))


@pytest.mark.parametrize("unsigned", ["unsigned_a", "unsigned_b", "unsigned_a unsigned_b"])
@pytest.mark.parametrize("element", ["i8", "i4"])
def test_unsigned(rng, element, unsigned):
    width = int(element[1:])
    a, b = random_operand(rng, (9, 21), element), random_operand(rng, (21, 35), element)
    c = np.zeros((9, 35), np.int32)
    body = f"%r = tile.dot %a, %b, %c {unsigned} : {tensor(a.shape, element)}, {tensor(b.shape, element)} -> {tensor(c.shape, 'i32')}"
    got = apply(body, {"a": a, "b": b, "c": c}, {"r": (c.shape, "i32")})
    x = wide(a) % 2**width if "unsigned_a" in unsigned else wide(a)
    y = wide(b) % 2**width if "unsigned_b" in unsigned else wide(b)
    assert np.array_equal(got, x @ y)


def test_mixed_f8(rng):
    a = random_operand(rng, (16, 24), "f8E4M3FN")
    b = random_operand(rng, (24, 20), "f8E5M2")
    c = np.zeros((16, 20), np.float32)
    body = f"%r = tile.dot %a, %b, %c : {tensor(a.shape, 'f8E4M3FN')}, {tensor(b.shape, 'f8E5M2')} -> {tensor(c.shape, 'f32')}"
    assert_close(
        apply(body, {"a": a, "b": b, "c": c}, {"r": (c.shape, "f32")}), wide(a) @ wide(b), 1e-6
    )


@pytest.mark.crossed
@pytest.mark.parametrize(
    "element, accumulator", [("f32", "f32"), ("bf16", "f32"), ("i8", "i32"), ("f16", "f16")]
)
@pytest.mark.parametrize("batch", [(3,), (2, 3)])
@pytest.mark.parametrize("flags", ["", "transpose_a transpose_b"])
def test_batches(rng, element, accumulator, batch, flags):
    m, n, k = 12, 20, 9
    a = random_operand(rng, (*batch, k, m) if flags else (*batch, m, k), element)
    b = random_operand(rng, (*batch, n, k) if flags else (*batch, k, n), element)
    c = random_operand(rng, (*batch, m, n), "i8").astype(NUMPY[accumulator])
    if accumulator == "f16":
        c = (c / np.float16(64)).astype(np.float16)
    body = f"%r = tile.dot %a, %b, %c {flags} : {tensor(a.shape, element)}, {tensor(b.shape, element)} -> {tensor(c.shape, accumulator)}"
    got = apply(body, {"a": a, "b": b, "c": c}, {"r": (c.shape, accumulator)})
    x, y = wide(a), wide(b)
    if flags:
        x, y = x.swapaxes(-1, -2), y.swapaxes(-1, -2)
    assert_close(got, x @ y + wide(c), 1e-3 if accumulator == "f16" else 1e-6)


def round_tf32(x):
    raw = x.astype(np.float32).view(np.uint32)
    return ((raw + 0xFFF + ((raw >> 13) & 1)) & np.uint32(0xFFFFE000)).view(np.float32)


@pytest.mark.parametrize("precision", ["tf32", "tf32x3", "ieee"])
def test_precision(rng, precision):
    a, b = random_operand(rng, (32, 48), "f32"), random_operand(rng, (48, 32), "f32")
    c = np.zeros((32, 32), np.float32)
    body = f"%r = tile.dot %a, %b, %c precision = {precision} : {tensor(a.shape, 'f32')}, {tensor(b.shape, 'f32')} -> {tensor(c.shape, 'f32')}"
    got = apply(body, {"a": a, "b": b, "c": c}, {"r": (c.shape, "f32")})
    x, y = (round_tf32(a), round_tf32(b)) if precision == "tf32" else (a, b)
    assert_close(got, wide(x) @ wide(y), 1e-6)


def test_tf32_rounds_ties_to_even():
    """Halfway between two tf32, once above an even one and once above an odd one."""
    a = np.tile(np.float32([1 + 2**-11, 1 + 3 * 2**-11]), (16, 8))
    b, c = np.eye(16, dtype=np.float32), np.zeros((16, 16), np.float32)
    t = tensor((16, 16), "f32")
    body = f"%r = tile.dot %a, %b, %c precision = tf32 : {t}, {t} -> {t}"
    got = apply(body, {"a": a, "b": b, "c": c}, {"r": (c.shape, "f32")})
    assert np.array_equal(got, np.tile(np.float32([1, 1 + 2**-9]), (16, 8)))


# What is too short for a chip's instructions, and what is not, whole and padded.
SCALED_SHAPES = [(16, 16, 64), (5, 33, 96), (32, 32, 64), (16, 48, 128), (40, 33, 160)]
MX = ["f8E4M3FN", "f8E5M2", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN"]


@pytest.mark.drawn(0.25)
@pytest.mark.parametrize("m, n, k", SCALED_SHAPES)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("element", [*MX, "nv"])
def test_dot_scaled(rng, element, m, n, k, transposed):
    kind, scale, block = (
        (element, "f8E8M0FNU", 32) if element != "nv" else ("f4E2M1FN", "f8E4M3FN", 16)
    )
    a = random_operand(rng, (m, k), kind)
    b = random_operand(rng, (n, k) if transposed else (k, n), kind)
    powers = [2.0 ** rng.integers(-4, 5, (rows, k // block)) for rows in (m, n)]
    sa, sb = (p.astype(NUMPY[scale]) for p in powers)
    c = random_operand(rng, (m, n), "f32")
    flag = "transpose_b" if transposed else ""
    body = (
        f"%r = tile.dot_scaled %a scale %sa, %b scale %sb, %c {flag} : {tensor(a.shape, kind)}, "
        f"{tensor(sa.shape, scale)}, {tensor(b.shape, kind)}, {tensor(sb.shape, scale)} -> {tensor(c.shape, 'f32')}"
    )
    got = apply(body, {"a": a, "sa": sa, "b": b, "sb": sb, "c": c}, {"r": ((m, n), "f32")})
    x = wide(a) * np.repeat(powers[0], block, 1)
    y = (wide(b) if transposed else wide(b).T) * np.repeat(powers[1], block, 1)
    assert_close(got, x @ y.T + wide(c), 1e-6)
    sa = sa.copy()
    sa[0, 0] = ml_dtypes.float8_e8m0fnu(np.nan) if scale == "f8E8M0FNU" else np.nan
    got = apply(body, {"a": a, "sa": sa, "b": b, "sb": sb, "c": c}, {"r": ((m, n), "f32")})
    assert np.all(np.isnan(got[0])) and not np.any(np.isnan(got[1:]))


@pytest.mark.parametrize("left, right", [pair for pair in zip(MX, MX[2:] + MX[:2], strict=True)])
@pytest.mark.parametrize("m, n, k", [(16, 16, 128), (32, 64, 64)])
def test_mixed_scaled(rng, left, right, m, n, k):
    """Any two formats; each scale is another power, so that none may stand for another."""
    a, b = random_operand(rng, (m, k), left), random_operand(rng, (n, k), right)
    c = random_operand(rng, (m, n), "f32")
    blocks = k // 32
    powers = [
        2.0 ** (rng.permutation(rows * blocks).reshape(rows, blocks) % 17 - 8) for rows in (m, n)
    ]
    sa, sb = (p.astype(NUMPY["f8E8M0FNU"]) for p in powers)
    body = (
        f"%r = tile.dot_scaled %a scale %sa, %b scale %sb, %c transpose_b : {tensor(a.shape, left)}, "
        f"{tensor(sa.shape, 'f8E8M0FNU')}, {tensor(b.shape, right)}, {tensor(sb.shape, 'f8E8M0FNU')} -> {tensor(c.shape, 'f32')}"
    )
    got = apply(body, {"a": a, "sa": sa, "b": b, "sb": sb, "c": c}, {"r": ((m, n), "f32")})
    x, y = (wide(e) * np.repeat(p, 32, 1) for e, p in zip((a, b), powers, strict=True))
    assert_close(got, x @ y.T + wide(c), 1e-6)


def test_least_scales(rng):
    """Constants whose bits are all zero are scales of 2^-127, not none."""
    a, c = random_operand(rng, (32, 64), "f8E4M3FN"), random_operand(rng, (32, 32), "f32")
    e, s, w = tensor(a.shape, "f8E4M3FN"), tensor((32, 2), "f8E8M0FNU"), tensor(c.shape, "f32")
    body = f"""
    %s = arith.constant dense<{2.0**-127!r}> : {s}
    %r = tile.dot_scaled %a scale %s, %a scale %s, %c transpose_b : {e}, {s}, {e}, {s} -> {w}
    """
    assert np.array_equal(apply(body, {"a": a, "c": c}, {"r": (c.shape, "f32")}), c)


@pytest.mark.parametrize("element", ["f32", "bf16", "i8"])
def test_chain(rng, element):
    """Products whose operands are computed, kept, or products themselves; two uses of one."""
    n, accumulator = 24, "i32" if element == "i8" else "f32"
    a, b = random_operand(rng, (n, n), element), random_operand(rng, (n, n), element)
    t, w = tensor((n, n), element), tensor((n, n), accumulator)
    zero = "0" if element == "i8" else "0.0"
    narrow = "arith.trunci" if element == "i8" else "arith.truncf"
    add = "arith.addi" if element == "i8" else "arith.addf"
    down = f"%n = {narrow} %d : {w} to {t}" if element != "f32" else f"%n = {add} %d, %z : {w}"
    body = f"""
    %z = arith.constant dense<{zero}> : {w}
    %s = {add} %a, %b : {t}
    %d = tile.dot %s, %b, %z : {t}, {t} -> {w}
    {down}
    %r = tile.dot %n, %s, %d transpose_b : {t}, {t} -> {w}
    """
    got = apply(body, {"a": a, "b": b}, {"r": ((n, n), accumulator)})
    s = (
        wide((a.astype(np.float32) + b.astype(np.float32)).astype(NUMPY[element]))
        if element != "i8"
        else wide((a + b).astype(np.int8))
    )
    d = s @ wide(b)
    low = (
        wide(d.astype(np.float32).astype(NUMPY[element]))
        if element != "i8"
        else wide(d.astype(np.int8))
    )
    if element == "i8":
        assert np.array_equal(got, (low @ s.T + d).astype(np.int32))
    else:
        assert_close(got, low @ s.T + d, 1e-2 if element == "bf16" else 1e-5)
