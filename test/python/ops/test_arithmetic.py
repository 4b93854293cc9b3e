# ruff: noqa: E501
"""Arithmetic of every type against float64 and Python's integers, and all conversions."""

import sys
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from tiles import DEVICE, NUMPY, PACKED, apply, assert_close, bits, tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "utils/support"))
import math_bounds  # noqa: E402

SHAPES = [(1,), (17,), (5, 33)]
FLOATS = ["f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN"]
INTEGERS = ["i64", "i32", "i16", "i8", "i4", "i2"]
WIDTH = {"i64": 64, "i32": 32, "i16": 16, "i8": 8, "i4": 4, "i2": 2, "i1": 1}


def random_floats(rng, shape, element):
    scale = {"f4E2M1FN": 2, "f6E2M3FN": 2, "f6E3M2FN": 4}.get(element, 8)
    return (rng.standard_normal(shape) * scale).astype(NUMPY[element])


@pytest.mark.crossed
@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize(
    "op", ["addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf"]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_float_binary(rng, op, element, shape):
    a, b = random_floats(rng, shape, element), random_floats(rng, shape, element)
    if op == "divf":
        b = np.where(b.astype(np.float64) == 0, np.ones_like(b), b)
    got = apply(
        f"%r = arith.{op} %a, %b : {tensor(shape, element)}",
        {"a": a, "b": b},
        {"r": (shape, element)},
    )
    x, y = a.astype(np.float64), b.astype(np.float64)
    want = {
        "addf": lambda: x + y, "subf": lambda: x - y, "mulf": lambda: x * y, "divf": lambda: x / y,
        "maximumf": lambda: np.maximum(x, y), "minimumf": lambda: np.minimum(x, y),
        "maxnumf": lambda: np.fmax(x, y), "minnumf": lambda: np.fmin(x, y),
    }[op]()  # fmt: skip
    # One op on exact operands is rounded once; through f32 only where that cannot be seen.
    if element == "f64":
        want = want.astype(np.float64)
    else:
        want = want.astype(np.float32).astype(NUMPY[element])
    assert np.array_equal(got.astype(np.float64), want.astype(np.float64)) or np.array_equal(
        bits(got), bits(want)
    )


@pytest.mark.parametrize("element", ["f64", "f32", "f16", "bf16"])
def test_remainders_are_exact(rng, element):
    """Of any quotient, also one that would be rounded to the next integer, and of subnormals."""
    dtype = np.dtype(NUMPY[element])
    word, count = f"u{dtype.itemsize}", 1024
    a, b = (np.frombuffer(rng.bytes(count * dtype.itemsize), word).copy() for _ in range(2))
    with np.errstate(all="ignore"):
        plain = (rng.standard_normal(256) * 8).astype(dtype)
        b[:256] = plain.view(word)
        a[:256] = (rng.integers(1, 4096, 256) * plain.astype(np.float64)).astype(dtype).view(word)
        a[:256] += rng.integers(-1, 2, 256).astype(word)
        a[256:300] &= np.array(1 << dtype.itemsize * 4, word) - np.array(1, word)
        b[256:300] = rng.integers(1, 9, 44)
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0], dtype).view(word)
        a[300:336], b[300:336] = np.repeat(special, 6), np.tile(special, 6)
        a, b = a.view(dtype), b.view(dtype)
        want = np.fmod(a.astype(np.float64), b.astype(np.float64)).astype(dtype)
    t = tensor((count,), element)
    got = apply(f"%r = arith.remf %a, %b : {t}", {"a": a, "b": b}, {"r": ((count,), element)})
    assert np.all((bits(got) == bits(want)) | (np.isnan(got) & np.isnan(want)))


@pytest.mark.parametrize("element", INTEGERS)
@pytest.mark.parametrize(
    "op", ["addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi",
           "ceildivui", "andi", "ori", "xori", "shli", "shrsi", "shrui", "maxsi", "minsi", "maxui", "minui"]
)  # fmt: skip
def test_integer_binary(rng, op, element):
    width, shape = WIDTH[element], (5, 37)
    low, high = -(2 ** (width - 1)), 2 ** (width - 1) - 1
    a = rng.integers(low, high, shape, endpoint=True).astype(NUMPY[element])
    b = rng.integers(low, high, shape, endpoint=True).astype(NUMPY[element])
    if op.startswith("sh"):
        b = rng.integers(0, min(high, width + 2), shape, endpoint=True).astype(NUMPY[element])
    a.flat[:4], b.flat[:4] = low, -1
    b.flat[4:8] = 0
    got = apply(
        f"%r = arith.{op} %a, %b : {tensor(shape, element)}",
        {"a": a, "b": b},
        {"r": (shape, element)},
    )

    def one(x, y):
        ux, uy, mask = x % 2**width, y % 2**width, 2**width - 1
        if op in ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"):
            if y == 0:
                return None if op.startswith(("floor", "ceil")) else 0
            if x == low and y == -1 and op.endswith("si"):
                return {"divsi": low, "remsi": 0}.get(op)
        return {
            "addi": lambda: x + y, "subi": lambda: x - y, "muli": lambda: x * y,
            "divsi": lambda: abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1), "divui": lambda: ux // uy,
            "remsi": lambda: abs(x) % abs(y) * (-1 if x < 0 else 1), "remui": lambda: ux % uy,
            "floordivsi": lambda: x // y, "ceildivsi": lambda: -(-x // y), "ceildivui": lambda: -(-ux // uy),
            "andi": lambda: ux & uy, "ori": lambda: ux | uy, "xori": lambda: ux ^ uy,
            "shli": lambda: ux << uy if uy < width else 0, "shrsi": lambda: x >> min(uy, width - 1),
            "shrui": lambda: (ux & mask) >> uy if uy < width else 0,
            "maxsi": lambda: max(x, y), "minsi": lambda: min(x, y), "maxui": lambda: max(ux, uy),
            "minui": lambda: min(ux, uy),
        }[op]()  # fmt: skip

    for x, y, r in zip(a.flat, b.flat, got.flat, strict=True):
        want = one(int(x), int(y))
        if want is not None:
            assert (int(r) - want) % 2**width == 0, (int(x), int(y), int(r), want)


@pytest.mark.parametrize("element", ["i64", "i32", "i16", "i8"])
def test_integer_division_is_exact(rng, element):
    """Operands of any size, multiples and their neighbours, by one number a row and by one each:
    all quotients are whole numbers, and a remainder is what they leave."""
    width, shape = WIDTH[element], (24, 64)
    kind = NUMPY[element]

    def numbers(shape):
        size = rng.integers(0, width, shape)
        top = rng.integers(0, 2**63, shape, np.uint64, endpoint=True) | np.uint64(2**63)
        return (top >> (63 - size).astype(np.uint64)).astype(kind) * rng.choice([-1, 1], shape)

    given = [("each", numbers(shape).astype(kind)), ("row", numbers((24, 1)).astype(kind))]
    for name, b in given:
        by = np.broadcast_to(b, shape)
        a = numbers(shape).astype(kind)
        with np.errstate(all="ignore"):
            near = by * numbers(shape).astype(kind) + rng.integers(-1, 2, shape).astype(kind)
        a[::2] = near.astype(kind)[::2]
        ops = ["divsi", "remsi", "divui", "remui", "floordivsi", "ceildivsi", "ceildivui"]
        t, row = tensor(shape, element), tensor(b.shape, element)
        body = f"%w = tile.broadcast %b : {row} -> {t}\n" if name == "row" else ""
        divisor = "%w" if name == "row" else "%b"
        body += "".join(f"%{op} = arith.{op} %a, {divisor} : {t}\n" for op in ops)
        got = apply(body, {"a": a, "b": b}, {op: (shape, element) for op in ops})
        x, y = a.astype(object), by.astype(object)
        ux, uy = x % 2**width, y % 2**width
        safe, unsafe = np.where(y == 0, 1, y), y == 0
        usafe = np.where(uy == 0, 1, uy)
        sign = np.where((x < 0) != (y < 0), -1, 1)
        toward0 = abs(x) // abs(safe) * sign
        want = {
            "divsi": toward0, "remsi": x - toward0 * y, "divui": ux // usafe, "remui": ux % usafe,
            "floordivsi": x // safe, "ceildivsi": -(-x // safe), "ceildivui": -(-ux // usafe),
        }  # fmt: skip
        for op, result in zip(ops, got, strict=True):
            expected = np.where(unsafe, 0, want[op]) % 2**width
            assert np.array_equal(result.astype(object) % 2**width, expected), (name, op)


@pytest.mark.parametrize(
    "target", [f for f in NUMPY if f not in ("index",) and not f.startswith("i")]
)
@pytest.mark.parametrize(
    "source",
    [
        "f64",
        "f32",
        "f16",
        "bf16",
        "f8E4M3FN",
        "f8E5M2",
        "f6E2M3FN",
        "f6E3M2FN",
        "f4E2M1FN",
        "f8E8M0FNU",
    ],
)
def test_float_conversions(rng, source, target):
    if source == target:
        pytest.skip("no conversion")
    kind, width = (
        NUMPY[source],
        {"f64": 64, "f32": 32}.get(source, 16 if source.endswith("16") else 8),
    )
    if width <= 16:  # every value
        count = {"f6E2M3FN": 64, "f6E3M2FN": 64, "f4E2M1FN": 16}.get(source, 2**width)
        a = np.arange(count, dtype=np.uint16 if width == 16 else np.uint8).view(kind)
    else:
        a = (rng.standard_normal(4096) * 2.0 ** rng.integers(-160, 130, 4096)).astype(kind)
        a[:6] = [0, -0.0, np.inf, -np.inf, np.nan, 1]
        # Halfway between neighbours of the target, and beside.
        if target not in ("f64", "f32"):
            near = a[6:2000].astype(np.float32).astype(NUMPY[target]).astype(np.float64)
            near = near[np.isfinite(near)]
            a[2000 : 2000 + near.size] = (near * (1 + 2.0**-9)).astype(kind)
    programs = -(-a.size // 8192)  # a larger tile has more registers a thread than chips have
    shape = (a.size // programs,)
    bit = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16, "f6E2M3FN": 6, "f6E3M2FN": 6, "f4E2M1FN": 4}
    ws, wt = bit.get(source, 8), bit.get(target, 8)
    if ws == wt:
        body = f"%w = arith.extf %a : {tensor(shape, source)} to {tensor(shape, 'f32')}\n%r = arith.truncf %w : {tensor(shape, 'f32')} to {tensor(shape, target)}"
    else:
        op = "extf" if ws < wt else "truncf"
        body = f"%r = arith.{op} %a : {tensor(shape, source)} to {tensor(shape, target)}"
    got = apply(body, {"a": a}, {"r": (a.shape, target)}, programs)
    with np.errstate(all="ignore"):
        want = (
            a.astype(np.float64).astype(NUMPY[target])
            if source != "f64"
            else a.astype(NUMPY[target])
        )
        if target not in ("f64", "f32", "f16") and source == "f64":
            want = round_once(a, NUMPY[target])
    if target not in PACKED:
        nans = np.isnan(want.astype(np.float32))
    else:  # it has no NaN: a zero, whose sign only the host knows
        nans = np.isnan(a.astype(np.float32)) & (got.astype(np.float32) == 0) & (DEVICE != "cpu")
    same = bits(got) == bits(want)
    assert np.all(same | nans), (a[~same][:8], got[~same][:8], want[~same][:8])
    if target not in PACKED:
        assert np.array_equal(np.isnan(got.astype(np.float32)), nans)


def round_once(values, kind):
    """float64 to a narrow type without a second rounding on the way: ml_dtypes goes by f32."""
    nearest = values.astype(np.float32)
    away = np.abs(nearest.astype(np.float64)) > np.abs(values)
    raw = nearest.view(np.uint32) - away.astype(np.uint32)
    exact = nearest.astype(np.float64) == values
    odd = np.where(exact | np.isnan(values), nearest.view(np.uint32), raw | 1).astype(np.uint32)
    return odd.view(np.float32).astype(kind)


@pytest.mark.parametrize(
    "source, op",
    [("i64", "sitofp"), ("i64", "uitofp"), ("i32", "sitofp"), ("i32", "uitofp"), ("f64", "truncf")],
)
def test_what_is_beside_the_middle_is_rounded_once(rng, source, op):
    """A rounding to f32 before that to bf16 would take it for the middle, whose rule is another."""
    width = {"i64": 64, "i32": 32, "f64": 53}[source]
    exact = []
    for top in range(25, width - (op == "sitofp")):
        for significand in rng.integers(128, 256, 3):
            middle = (2 * int(significand) + 1) << (top - 8)
            exact += [middle - 1, middle, middle + 1]
    if op != "uitofp":
        exact += [-x for x in exact]
    if source == "f64":
        a = np.array(exact, np.float64)
    else:
        a = np.array([x % 2**width for x in exact], f"u{width // 8}").view(NUMPY[source])
    got = apply(
        f"%r = arith.{op} %a : {tensor(a.shape, source)} to {tensor(a.shape, 'bf16')}",
        {"a": a},
        {"r": (a.shape, "bf16")},
    )

    def rounded(x):
        drop = abs(x).bit_length() - 8
        kept, rest = abs(x) >> drop, abs(x) & ((1 << drop) - 1)
        kept += rest > 1 << (drop - 1) or (rest == 1 << (drop - 1) and kept & 1)
        return float(kept << drop) * (1 if x > 0 else -1)

    assert np.array_equal(got.astype(np.float64), [rounded(x) for x in exact])


@pytest.mark.crossed
@pytest.mark.parametrize("real", ["f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2"])
@pytest.mark.parametrize("integer", ["i64", "i32", "i16", "i8", "i4"])
@pytest.mark.parametrize("signed", [True, False])
def test_integer_to_float_and_back(rng, real, integer, signed):
    width = WIDTH[integer]
    low, high = -(2 ** (width - 1)), 2 ** (width - 1) - 1
    n = 200
    a = (rng.integers(low, high, n, endpoint=True) >> rng.integers(0, width, n)).astype(
        NUMPY[integer]
    )
    letter = "s" if signed else "u"
    got = apply(
        f"%r = arith.{letter}itofp %a : {tensor((n,), integer)} to {tensor((n,), real)}",
        {"a": a},
        {"r": ((n,), real)},
    )
    exact = [int(x) if signed else int(x) % 2**width for x in a]
    if real in ("f64", "f32"):
        want = np.array([np.float64(x) if real == "f64" else np.float32(x) for x in exact])
        if real == "f32":
            import fractions

            def near(x):
                f = np.float32(x)
                best = min(
                    (f, np.nextafter(f, np.float32(np.inf)), np.nextafter(f, np.float32(-np.inf))),
                    key=lambda c: (
                        abs(fractions.Fraction(float(c)) - x),
                        int(np.float32(c).view(np.uint32)) & 1,
                    ),
                )
                return best

            want = np.array([near(x) for x in exact], np.float32)
    else:
        sticky = np.array(
            [
                np.float64(
                    (abs(x) >> 11 | bool(abs(x) & 2047)) << 11 if abs(x) >= 2**52 else abs(x)
                )
                * (1 if x >= 0 else -1)
                for x in exact
            ]
        )
        want = sticky.astype(np.float16) if real == "f16" else round_once(sticky, NUMPY[real])
    assert np.array_equal(got.astype(np.float64), want.astype(np.float64), equal_nan=True)

    x = (rng.standard_normal(n) * 2.0 ** rng.integers(-2, width + 2, n)).astype(NUMPY[real])
    if real not in ("f8E4M3FN",):
        x[:3] = [np.inf, -np.inf, np.nan]
    back = apply(
        f"%r = arith.fpto{letter}i %a : {tensor((n,), real)} to {tensor((n,), integer)}",
        {"a": x},
        {"r": ((n,), integer)},
    )
    lowest, highest = (low, high) if signed else (0, 2**width - 1)
    for value, result in zip(x.astype(np.float64), back, strict=True):
        if np.isnan(value):
            want = 0
        elif np.isinf(value):
            want = highest if value > 0 else lowest
        else:
            want = min(max(int(value), lowest), highest)
        assert (int(result) - want) % 2**width == 0, (value, int(result), want)


@pytest.mark.parametrize("predicate", ["oeq", "ogt", "olt", "one", "uno", "ueq", "ult", "une"])
@pytest.mark.parametrize("element", ["f64", "f32", "f16", "bf16", "f8E4M3FN"])
def test_compare_and_select(rng, predicate, element):
    shape = (3, 41)
    a, b = (rng.integers(-2, 3, shape).astype(np.float32).astype(NUMPY[element]) for _ in range(2))
    a.flat[:5] = np.nan
    t, m = tensor(shape, element), tensor(shape, "i1")
    body = f"%m = arith.cmpf {predicate}, %a, %b : {t}\n%r = arith.select %m, %a, %b : {m}, {t}"
    mask, got = apply(body, {"a": a, "b": b}, {"m": (shape, "i1"), "r": (shape, element)})
    x, y = a.astype(np.float64), b.astype(np.float64)
    nan = np.isnan(x) | np.isnan(y)
    base = {"eq": x == y, "gt": x > y, "lt": x < y, "ne": x != y, "no": nan}[predicate[1:]]
    want = nan if predicate == "uno" else (base & ~nan if predicate[0] == "o" else base | nan)
    assert np.array_equal(mask, want)
    assert np.array_equal(bits(got), bits(np.where(want, a, b)))


@pytest.mark.parametrize("element", ["i64", "i32", "i16", "i8", "i4", "i2"])
def test_integer_casts_and_compares(rng, element):
    width, shape = WIDTH[element], (7, 19)
    a = rng.integers(-(2 ** (width - 1)), 2 ** (width - 1) - 1, shape, endpoint=True).astype(
        NUMPY[element]
    )
    b = rng.permuted(a.astype(np.int64)).astype(NUMPY[element])
    t, m = tensor(shape, element), tensor(shape, "i1")
    body = f"%s = arith.cmpi slt, %a, %b : {t}\n%u = arith.cmpi uge, %a, %b : {t}\n"
    body += f"%e = arith.select %s, %a, %b : {m}, {t}"
    less, above, smaller = apply(
        body, {"a": a, "b": b}, {"s": (shape, "i1"), "u": (shape, "i1"), "e": (shape, element)}
    )
    x, y = a.astype(np.int64), b.astype(np.int64)
    ux, uy = (
        x.astype(np.uint64) & np.uint64(2**width - 1),
        y.astype(np.uint64) & np.uint64(2**width - 1),
    )
    assert np.array_equal(less, x < y) and np.array_equal(above, ux >= uy)
    assert np.array_equal(smaller.astype(np.int64), np.minimum(x, y))
    for other, narrow in WIDTH.items():
        if narrow > width:
            wide = apply(
                f"%r = arith.extsi %a : {t} to {tensor(shape, other)}",
                {"a": a},
                {"r": (shape, other)},
            )
            assert np.array_equal(wide.astype(np.int64), x)
        elif narrow < width and other != "i1":
            cut = apply(
                f"%r = arith.trunci %a : {t} to {tensor(shape, other)}",
                {"a": a},
                {"r": (shape, other)},
            )
            assert np.array_equal((cut.astype(np.int64) - x) % 2**narrow, np.zeros_like(x))


FUNCTIONS = {
    "exp": (np.exp, -80, 80), "exp2": (np.exp2, -100, 100), "expm1": (np.expm1, -20, 20),
    "log": (np.log, 1e-30, 1e30), "log2": (np.log2, 1e-30, 1e30), "log10": (np.log10, 1e-30, 1e30),
    "log1p": (np.log1p, -0.9, 100), "sqrt": (np.sqrt, 0, 1e10), "rsqrt": (lambda x: 1 / np.sqrt(x), 1e-10, 1e10),
    "sin": (np.sin, -50, 50), "cos": (np.cos, -50, 50), "tan": (np.tan, -1.5, 1.5), "tanh": (np.tanh, -12, 12),
    "erf": (np.vectorize(__import__("math").erf), -6, 6), "floor": (np.floor, -100, 100), "ceil": (np.ceil, -100, 100),
    "absf": (np.abs, -10, 10), "round": (lambda x: np.trunc(x + np.copysign(0.5, x)), -99, 99), "roundeven": (np.rint, -99, 99),
    "trunc": (np.trunc, -99, 99), "atan": (np.arctan, -100, 100), "asin": (np.arcsin, -1, 1), "acos": (np.arccos, -1, 1),
    "sinh": (np.sinh, -10, 10), "cosh": (np.cosh, -10, 10), "cbrt": (np.cbrt, -1000, 1000),
}  # fmt: skip


def stated_bound(function, element):
    """Units in the last place that docs/reference/math.md allows; what it does not list is exact."""
    if function not in math_bounds.BOUNDS:
        return 0
    return math_bounds.bound(function, element, DEVICE == "cpu")


@pytest.mark.parametrize("element", ["f64", "f32", "f16", "bf16"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions(rng, function, element):
    reference, low, high = FUNCTIONS[function]
    shape = (4, 1003)
    if low > 0:
        a = np.exp(rng.uniform(np.log(low), np.log(high), shape))
    else:
        a = rng.uniform(low, high, shape)
    if element == "f16":
        a = np.clip(a, max(low, -10), min(high, 10))
    a = a.astype(NUMPY[element])
    got = apply(
        f"%r = math.{function} %a : {tensor(shape, element)}", {"a": a}, {"r": (shape, element)}
    )
    with np.errstate(all="ignore"):
        want = reference(a.astype(np.float64)).astype(NUMPY[element])
    info = ml_dtypes.finfo(NUMPY[element])
    g, w = got.astype(np.float64), want.astype(np.float64)
    assert np.array_equal(np.isfinite(g), np.isfinite(w))
    ok = np.isfinite(w)
    spacing = np.maximum(np.abs(w[ok]) * float(info.eps), float(info.smallest_subnormal))
    ulps = np.abs(g[ok] - w[ok]) / spacing
    print(function, element, "worst", ulps.max(), "ulp at", a[ok][ulps.argmax()])
    # The reference is rounded once more, and NumPy's own f64 errs by up to four units.
    assert ulps.max() <= stated_bound(function, element) + (4 if element == "f64" else 0.5)


@pytest.mark.parametrize("element", ["f64", "f32", "f16", "bf16"])
@pytest.mark.parametrize("function", ["powf", "atan2", "copysign"])
def test_binary_functions(rng, function, element):
    shape = (300,)
    a = rng.uniform(0.1, 6, shape).astype(NUMPY[element])
    b = rng.uniform(-3, 3, shape).astype(NUMPY[element])
    got = apply(
        f"%r = math.{function} %a, %b : {tensor(shape, element)}",
        {"a": a, "b": b},
        {"r": (shape, element)},
    )
    reference = {"powf": np.power, "atan2": np.arctan2, "copysign": np.copysign}[function]
    want = reference(a.astype(np.float64), b.astype(np.float64))
    assert_close(got, want, 4 * float(ml_dtypes.finfo(NUMPY[element]).eps))


@pytest.mark.parametrize("element", ["f64", "f32", "f16", "bf16"])
def test_the_remainder_is_exact(rng, element):
    """C's fmod: no error whatever the quotient, the dividend's sign, NaN where there is none."""
    kind, shape = NUMPY[element], (4, 1003)
    unsigned = np.dtype(f"u{np.dtype(kind).itemsize}")
    a, b = (
        rng.integers(0, np.iinfo(unsigned).max, shape, unsigned, endpoint=True).view(kind)
        for _ in range(2)
    )
    b[2] = kind(3)
    factor, whole = rng.uniform(-1, 1, shape[1]), rng.integers(1, 16, shape[1])
    with np.errstate(all="ignore"):
        b[1] = (a[1].astype(np.float64) * factor).astype(kind)  # small quotients
        a[3] = (b[3].astype(np.float64) * whole).astype(kind)  # multiples, or beside
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.5], kind)
    a[0, :49], b[0, :49] = np.repeat(edges, 7), np.tile(edges, 7)
    got = apply(
        f"%r = arith.remf %a, %b : {tensor(shape, element)}",
        {"a": a, "b": b},
        {"r": (shape, element)},
    )
    with np.errstate(all="ignore"):
        want = np.fmod(a.astype(np.float64), b.astype(np.float64))
    got = got.astype(np.float64)
    assert np.array_equal(np.isnan(got), np.isnan(want))
    kept = ~np.isnan(want)
    assert np.array_equal(got[kept], want[kept])
    assert np.array_equal(np.signbit(got[kept]), np.signbit(want[kept]))


def test_functions_at_the_edges():
    """What functions give at infinities, NaN, zeros and beyond their range."""
    edges = np.array(
        [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 89.0, -110.0, 3e38, -3e38, 1.0],
        np.float32,
    )
    for function in (
        "exp",
        "exp2",
        "log",
        "log2",
        "log1p",
        "tanh",
        "erf",
        "sqrt",
        "sin",
        "cos",
        "expm1",
        "floor",
    ):
        got = apply(
            f"%r = math.{function} %a : {tensor(edges.shape, 'f32')}",
            {"a": edges},
            {"r": (edges.shape, "f32")},
        )
        reference = FUNCTIONS[function][0]
        with np.errstate(all="ignore"):
            want = reference(edges.astype(np.float64)).astype(np.float32)
        huge = np.abs(edges) > 1e30
        check = ~(huge & np.isfinite(edges)) if function in ("sin", "cos") else np.ones_like(huge)
        assert np.allclose(got[check], want[check], rtol=1e-6, atol=0, equal_nan=True), (
            function,
            got,
            want,
        )


def round_fraction(exact: Fraction, precision: int) -> float:
    """To the nearest number of so many bits, of two the even one; within the range of normals."""
    unit = Fraction(2) ** (
        exact.numerator.bit_length() - exact.denominator.bit_length() - precision
    )
    while abs(exact) >= unit * 2**precision:
        unit *= 2
    return float(round(exact / unit) * unit)


@pytest.mark.parametrize("element, precision", [("bf16", 8), ("f16", 11), ("f8E5M2", 3)])
def test_a_fused_product_rounds_once(rng, element, precision):
    """Products that are the middle of two numbers, and sums that are beside it by less than f32
    sees."""
    least, most = 2**precision, 2 ** (precision + 1)
    odd = [3 * m for m in range(1, most) if m % 2 and least < 3 * m < most]
    product = np.array(rng.choice(odd, 96))
    a = np.full(96, 3.0) * rng.choice([-1, 1], 96)
    b = product / 3.0
    c = rng.choice([-1, 1], 96) * 2.0 ** (-14 if element == "f8E5M2" else -24)
    c[::8] = rng.choice([0, 1, -3], 12)
    if element == "f8E5M2":
        b, a = b, a * 2.0**10
    a, b, c = (np.asarray(x).astype(NUMPY[element]) for x in (a, b, c))
    t = tensor((96,), element)
    got = apply(
        f"%y = math.fma %a, %b, %c : {t}", {"a": a, "b": b, "c": c}, {"y": ((96,), element)}
    )
    want = [
        round_fraction(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)), precision)
        for x, y, z in zip(a, b, c, strict=True)
    ]
    assert np.array_equal(got.astype(np.float64), want)
