"""What LLVM's code generator makes of arithmetic on AMD's chips, after all that an emulated chip
runs: the final code of each op in each type, interpreted, against exact references."""

from __future__ import annotations

import math
import re
from collections import Counter
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from amd_processor import HEAP, KERNARG, Processor
from arithmetic_cells import CELLS, final_code, instructions
from isa import assemble

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NaN and infinity are meant
# Elements a thread: more than one are packed where the chip can.
CHIPS = ["gfx90a-2", "gfx942-1", "gfx942-4", "gfx950-4"]
WAVE, COUNT = 64, 1024
NUMPY = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
}  # fmt: skip
FLOATS, INTEGERS = ["f64", "f32", "f16", "bf16"], ["i64", "i32", "i16", "i8"]
PRECISION = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}


def run(chip: str, body: str, inputs: dict[str, tuple[str, np.ndarray]], result: str) -> np.ndarray:
    """`body` computes %r of elements `result` from the inputs' names; so many a thread."""
    chip, each = chip.split("-")
    tile = WAVE * int(each)
    views = {name: f"!tile.view<{COUNT}x{element}>" for name, (element, _) in inputs.items()}
    out = f"!tile.view<{COUNT}x{result}>"
    arguments = ", ".join([*(f"%{n}_view: {v}" for n, v in views.items()), f"%out: {out}"])
    lines = [
        f"%{name} = tile.load %{name}_view[%at] : {views[name]} -> tensor<{tile}x{element}>"
        for name, (element, _) in inputs.items()
    ]
    text = "\n".join([
        f"tile.kernel @k({arguments}) attributes {{tile.warps = 1 : i32}} {{",
        "%p = tile.program_id x", f"%size = arith.constant {tile} : index",
        "%at = arith.muli %p, %size : index", *lines, body.replace("tensor<N", f"tensor<{tile}"),
        f"tile.store %r, %out[%at] : tensor<{tile}x{result}>, {out}", "tile.return", "}", "",
    ])  # fmt: skip
    arrays = [array for _, array in inputs.values()] + [np.zeros(COUNT, NUMPY[result])]
    memory = np.zeros(HEAP + 16 * COUNT * len(arrays), np.uint8)
    places, at = [], HEAP
    for array in arrays:
        places.append(at)
        memory[at : at + array.nbytes] = array.view(np.uint8)
        at += array.nbytes + -array.nbytes % 256
    memory[KERNARG : KERNARG + 8 * len(places)] = np.array(places, np.uint64).view(np.uint8)
    Processor(assemble(text, chip).decode(), "k", memory, WAVE, COUNT // tile).run()
    return memory[places[-1] : places[-1] + arrays[-1].nbytes].view(NUMPY[result])


def convert(op: str, source: str, target: str, value: np.ndarray, chip: str) -> np.ndarray:
    types = f"tensor<Nx{source}> to tensor<Nx{target}>"
    return run(chip, f"%r = arith.{op} %a : {types}", {"a": (source, value)}, target)


def to_nearest(exact: Fraction, element: str) -> float:
    """The nearest number of a format, of two the even one; subnormals too."""
    if not exact:
        return 0.0
    info = ml_dtypes.finfo(NUMPY[element])
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent += size >= Fraction(2) ** (exponent + 1)
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, int(info.minexp)) - PRECISION[element] + 1)
    rounded = round(exact / unit) * unit
    if abs(rounded) > Fraction(float(info.max)):
        return math.inf if exact > 0 else -math.inf
    return float(rounded) if rounded else 0.0 if exact > 0 else -0.0


def agree(got: np.ndarray, want: np.ndarray) -> None:
    """To the bit, but for which NaN it is."""
    if got.dtype.kind not in "iu":
        word = f"u{got.itemsize}"
        same = (got.view(word) == want.view(word)) | (np.isnan(got) & np.isnan(want))
    else:
        same = got == want
    wrong = np.flatnonzero(~same)
    assert not wrong.size, (
        f"{wrong.size} are wrong; at {wrong[0]} {got[wrong[0]]!r} for {want[wrong[0]]!r}"
    )


def integers(rng, element: str, signed: bool) -> np.ndarray:
    """Random ones of every size, and what is beside the middles of two floats."""
    bits = int(element[1:])
    size = rng.integers(1, bits + 1, COUNT)
    values = [int.from_bytes(rng.bytes(8), "little") >> (64 - int(n)) for n in size]
    for i in range(0, COUNT, 2):
        n = int(size[i])
        precision = int(rng.choice([p for p in (53, 24, 11, 8) if p < n] or [0]))
        if precision:
            half = 1 << (n - precision - 1)
            middle = (values[i] >> (n - precision) << (n - precision)) + half + (1 << (n - 1))
            values[i] = middle + int(rng.integers(-1, 2))
    values[:8] = [0, 1, -1, 1 << (bits - 1), (1 << (bits - 1)) - 1, 33685505, -33685505, 3]
    wrapped = np.array([v & ((1 << bits) - 1) for v in values], np.uint64)
    flips = rng.random(COUNT) < 0.5
    return np.where(flips & signed, -wrapped, wrapped).astype(f"u{bits // 8}").view(f"i{bits // 8}")


def floats(rng, element: str) -> np.ndarray:
    """All exponents, and what is special."""
    dtype = np.dtype(NUMPY[element])
    word = f"u{dtype.itemsize}"
    value = np.frombuffer(rng.bytes(COUNT * dtype.itemsize), word).copy()
    near = rng.random(COUNT) < 0.6
    exponents = rng.integers(-12, 40 if element[0] == "f" and dtype.itemsize > 2 else 12, COUNT)
    with np.errstate(all="ignore"):
        plain = (rng.standard_normal(COUNT) * np.exp2(exponents)).astype(dtype)
    value = np.where(near, plain.view(word), value)
    info = ml_dtypes.finfo(dtype)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, info.max, info.tiny, 0.5]
    value[:10] = np.array(special, dtype).view(word)
    value[10:14] = np.array([1, 2, 3, 5], word)
    return value.view(dtype)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("narrow", ["f8E4M3FN", "f8E5M2"])
def test_bytes_widen_and_narrow_in_the_final_code(narrow: str, chip: str) -> None:
    """As the OCP has them (FP8, revision 1.0), on chips too whose own conversions know other formats (FNUZ):
    E4M3 has one NaN and no infinity, and what is too large becomes NaN, or infinity in E5M2."""
    dtype = np.dtype(NUMPY[narrow])
    every = np.tile(np.arange(256, dtype=np.uint8), COUNT // 256).view(dtype)
    for wide in ("f32", "f16", "bf16"):
        agree(convert("extf", narrow, wide, every, chip), every.astype(NUMPY[wide]))
    # Each number, the middles between two, and what is beside them; and beyond the largest.
    finite = np.unique(every[np.isfinite(every.astype(np.float32))].astype(np.float32))
    middles = (finite[:-1] + finite[1:]) / 2
    largest, unit = finite[-1], finite[-1] - finite[-2]
    edges = np.array([largest + unit * x for x in (0.25, 0.5, 0.75, 1, 4)], np.float32)
    some = np.concatenate([finite, middles, edges, -edges, [np.inf, -np.inf, np.nan]])
    beside = [np.nextafter(middles, np.float32(x)) for x in (-np.inf, np.inf)]
    value = np.resize(np.concatenate([some, *beside]).astype(np.float32), COUNT)
    for wide in ("f32", "f16", "bf16"):
        given = value.astype(NUMPY[wide])
        agree(convert("truncf", wide, narrow, given, chip), given.astype(dtype))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("op", ["sitofp", "uitofp"])
def test_integers_are_rounded_once_by_the_final_code(op: str, target: str, chip: str, rng) -> None:
    for source in INTEGERS:
        value = integers(rng, source, op == "sitofp")
        exact = value if op == "sitofp" else value.view(f"u{value.itemsize}")
        want = [to_nearest(Fraction(int(v)), target) for v in exact]
        agree(convert(op, source, target, value, chip), np.array(want).astype(NUMPY[target]))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("source", FLOATS)
def test_floats_are_converted_by_the_final_code(source: str, chip: str, rng) -> None:
    for target in FLOATS:
        if PRECISION[source] == PRECISION[target] or {source, target} == {"f16", "bf16"}:
            continue
        op = "truncf" if PRECISION[source] > PRECISION[target] else "extf"
        value = floats(rng, source)
        if op == "truncf":  # the middles of two numbers, and what is beside them
            word, half = f"u{value.itemsize}", PRECISION[source] - PRECISION[target]
            bits = value.view(word)[100:].copy()
            bits = bits >> half << half | np.array(1 << (half - 1), word)
            bits = bits + rng.integers(-1, 2, bits.size).astype(word)
            value.view(word)[100:] = bits
        want = [
            to_nearest(Fraction(float(v)), target) if np.isfinite(v) and v else float(v)
            for v in value
        ]
        with np.errstate(all="ignore"):
            want = np.array(want).astype(NUMPY[target])
        agree(convert(op, source, target, value, chip), want)


def greater(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether a is the greater; +0 is greater than -0."""
    return (a > b) | ((a == b) & np.signbit(b))


def maximum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    chosen = np.where(greater(a, b), a, b)
    return np.where(np.isnan(a) | np.isnan(b), a.dtype.type(np.nan), chosen)


def number(a: np.ndarray, b: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Of one NaN the other."""
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, chosen))


BINARY = {
    "arith.addf": lambda a, b: a + b,
    "arith.subf": lambda a, b: a - b,
    "arith.mulf": lambda a, b: a * b,
    "arith.divf": lambda a, b: a / b,
    "arith.maximumf": maximum,
    "arith.minimumf": lambda a, b: -maximum(-a, -b),
    "arith.maxnumf": lambda a, b: number(a, b, maximum(a, b)),
    "arith.minnumf": lambda a, b: number(a, b, -maximum(-a, -b)),
    "math.copysign": lambda a, b: np.where(np.signbit(a) == np.signbit(b), a, -a),
}
UNARY = {
    "math.sqrt": np.sqrt,
    "math.floor": np.floor,
    "math.ceil": np.ceil,
    "math.trunc": np.trunc,
    "math.roundeven": np.rint,
    "math.absf": np.abs,
    "arith.negf": np.negative,
}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("op", BINARY)
def test_arithmetic_of_floats_by_the_final_code(op: str, element: str, chip: str, rng) -> None:
    a, b = floats(rng, element), floats(rng, element)
    rng.shuffle(b)
    b[20:40] = a[20:40]
    b[40:60] = -a[40:60]
    a[60:64], b[60:64] = np.array([[0, -0.0, 0, -0.0], [-0.0, 0, 0, -0.0]]).astype(NUMPY[element])
    with np.errstate(all="ignore"):
        want = np.asarray(BINARY[op](a, b)).astype(NUMPY[element])
    types = f"tensor<Nx{element}>"
    agree(
        run(chip, f"%r = {op} %a, %b : {types}", {"a": (element, a), "b": (element, b)}, element),
        want,
    )


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("op", UNARY)
def test_functions_that_are_exact_by_the_final_code(op: str, element: str, chip: str, rng) -> None:
    a = floats(rng, element)
    with np.errstate(all="ignore"):
        want = np.asarray(UNARY[op](a)).astype(NUMPY[element])
    got = run(chip, f"%r = {op} %a : tensor<Nx{element}>", {"a": (element, a)}, element)
    agree(got, want)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("element", FLOATS)
def test_fused_products_by_the_final_code(element: str, chip: str, rng) -> None:
    a, b = floats(rng, element), floats(rng, element)
    rng.shuffle(b)
    with np.errstate(all="ignore"):
        product = a.astype(np.float64) * b.astype(np.float64)
        c = np.where(rng.random(COUNT) < 0.6, -product, floats(rng, element).astype(np.float64))
        c = c.astype(NUMPY[element])
        # Products that are the middle of two numbers, and sums beside it.
        precision = PRECISION[element]
        odd = rng.integers(1 << (precision - 1), 1 << precision, 200) | 1
        a[200:400], b[200:400] = odd.astype(NUMPY[element]), np.array(3).astype(NUMPY[element])
        c[200:400] = (rng.choice([-1, 1, 0], 200) * 2.0**-20).astype(NUMPY[element])
        want = (a.astype(np.float64) * b + c).astype(NUMPY[element])
    for i in np.flatnonzero(np.isfinite(a) & np.isfinite(b) & np.isfinite(c)):
        exact = Fraction(float(a[i])) * Fraction(float(b[i])) + Fraction(float(c[i]))
        if exact:
            want[i] = to_nearest(exact, element)
    types = f"tensor<Nx{element}>"
    inputs = {"a": (element, a), "b": (element, b), "c": (element, c)}
    agree(run(chip, f"%r = math.fma %a, %b, %c : {types}", inputs, element), want)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("element", FLOATS)
def test_a_product_and_a_sum_stay_apart_in_the_final_code(element: str, chip: str, rng) -> None:
    a, b, c = (floats(rng, element) for _ in range(3))
    a[200:], b[200:] = (np.abs(rng.normal(size=(2, COUNT - 200))) + 0.5).astype(NUMPY[element])
    with np.errstate(all="ignore"):
        c[200:] = -(a[200:] * b[200:])
        want = (a * b).astype(NUMPY[element]) + c
    body = f"%m = arith.mulf %a, %b : tensor<Nx{element}>\n%r = arith.addf %m, %c : tensor<Nx{element}>"
    inputs = {"a": (element, a), "b": (element, b), "c": (element, c)}
    agree(run(chip, body, inputs, element), want)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("op", ["fptosi", "fptoui"])
def test_floats_saturate_in_integers_by_the_final_code(
    op: str, source: str, chip: str, rng
) -> None:
    value = floats(rng, source)
    for target in INTEGERS:
        dtype = np.dtype(
            NUMPY[target] if op == "fptosi" else f"u{np.dtype(NUMPY[target]).itemsize}"
        )
        limits = np.iinfo(dtype)
        edges = np.array([limits.max, limits.min, limits.max / 2, limits.min / 2], np.float64)
        with np.errstate(all="ignore"):
            value[20:24] = edges.astype(NUMPY[source])
            value[24:28] = np.nextafter(edges, 0).astype(NUMPY[source])
        want = []
        for v in value.astype(np.float64):
            whole = (
                0
                if np.isnan(v)
                else limits.max
                if v > limits.max
                else limits.min
                if v < limits.min
                else int(v)
            )
            want.append(min(max(whole, limits.min), limits.max))
        agree(convert(op, source, target, value, chip), np.array(want, dtype).view(NUMPY[target]))


def wrap(value: int, bits: int, signed: bool) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def quotient(a: int, b: int) -> int:
    """Towards zero; of a division by zero 0."""
    return 0 if not b else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


INTEGER_OPS = {
    "divsi": quotient,
    "divui": quotient,
    "remsi": lambda a, b: a - b * quotient(a, b) if b else 0,
    "remui": lambda a, b: a % b if b else 0,
    "floordivsi": lambda a, b: a // b if b else 0,
    "ceildivsi": lambda a, b: -(-a // b) if b else 0,
    "ceildivui": lambda a, b: -(-a // b) if b else 0,
    "muli": lambda a, b: a * b,
}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("element", INTEGERS)
@pytest.mark.parametrize("op", INTEGER_OPS)
def test_arithmetic_of_integers_by_the_final_code(op: str, element: str, chip: str, rng) -> None:
    bits, signed = int(element[1:]), not op.endswith("ui")
    a, b = integers(rng, element, True), integers(rng, element, True)
    rng.shuffle(b)
    b[:6], a[:6] = [0, -1, 1, -1, 0, 2], [5, 1 << (bits - 2), 7, -(1 << (bits - 1)), 0, -1]
    want = [
        wrap(INTEGER_OPS[op](wrap(int(x), bits, signed), wrap(int(y), bits, signed)), bits, True)
        for x, y in zip(a, b, strict=True)
    ]
    types = f"tensor<Nx{element}>"
    inputs = {"a": (element, a), "b": (element, b)}
    agree(
        run(chip, f"%r = arith.{op} %a, %b : {types}", inputs, element),
        np.array(want, NUMPY[element]),
    )


FUNCTIONS = {
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "rsqrt": lambda x: 1 / np.sqrt(x),
}  # fmt: skip


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_are_near_by_the_final_code(function: str, chip: str, rng) -> None:
    """Within four units, though the chip's own approximation is a unit off; subnormals too."""
    a = floats(rng, "f32")
    if function.startswith("exp"):
        a[500:] = rng.uniform(-160, 140, COUNT - 500)
    got = run(chip, f"%r = math.{function} %a : tensor<Nxf32>", {"a": ("f32", a)}, "f32")
    with np.errstate(all="ignore"):
        exact = FUNCTIONS[function](a.astype(np.float64))
        want = exact.astype(np.float32)
        unit = np.spacing(np.abs(want)).astype(np.float64)
        near = np.abs(got.astype(np.float64) - exact) <= 4 * unit
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    wrong = np.flatnonzero(~(near | same))
    assert not wrong.size, (
        f"{wrong.size} are wrong; of {a[wrong[0]]!r} {got[wrong[0]]!r} for {want[wrong[0]]!r}"
    )


EXPANDED = [
    name for name in CELLS
    if name.split()[0] in ("divf", "sqrt", "exp", "exp2", "log", "log2", "rsqrt", "divsi", "divui")
    or (name.split()[0] in ("sitofp", "uitofp", "fptosi", "fptoui") and "i64" in name)
]  # fmt: skip
SAME = {
    "fmac": "fma",
    "fmamk": "fma",
    "fmaak": "fma",
    "fma_mix": "fma",
    "cls_i32": "ffbh_i32",
    "clz_i32_u32": "ffbh_u32",
}


def steps(name: str, chip: str) -> Counter:
    """The instructions that round or approximate, whatever the chip calls them."""
    found = Counter()
    for one in instructions(final_code(CELLS[name], chip), chip):
        _, how = one.split("_", 1)
        for theirs, ours in SAME.items():
            how = re.sub(rf"^{theirs}(?=_f|$)", ours, how)
        if re.match(
            r"(div_|rcp|rsq|sqrt|fma|mul_f|mul_hi|ldexp|cvt|exp|log|rndne|floor|trunc|ffbh)", how
        ):
            found[how.replace("rcp_iflag", "rcp")] += 1
    return found


@pytest.mark.parametrize("chip", ["gfx1100", "gfx1201"])
def test_what_llvm_expands_takes_the_same_steps_on_rdna(chip: str) -> None:
    """Whose code is not interpreted: of each op the steps are those of a chip whose code is."""
    for name in EXPANDED:
        assert steps(name, chip) == steps(name, "gfx942"), name
