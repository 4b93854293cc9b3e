#!/usr/bin/env python3
"""How exact each function of mathematics is: the bounds that tests hold, and the page that says so.

    utils/support/math_bounds.py --write            write docs/reference/math.md
    utils/support/math_bounds.py [--device DEVICE]  measure, and print the largest errors found

A bound is in units in the last place of the result, for arguments anywhere in the type. Results are
compared with MPFR's (gmpy2) at 200 bits.
"""

import argparse
import json
import math
import sys
from pathlib import Path

import ml_dtypes
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/math.md"
DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}

# By function: the bounds on accelerators in f64 and f32, on the host in f64 and f32, and intervals
# whose neighbourhood is worth more samples than others.
BOUNDS = {
    "acos": ((0.7, 0.51), (1, 7), [(-1, 1), (0.99, 1), (-1, -0.99)]),
    "acosh": ((0.51, 0.51), (3, 0.51), [(1, 10), (1, 1.01)]),
    "asin": ((0.7, 0.51), (1, 8), [(-1, 1), (0.99, 1)]),
    "asinh": ((0.51, 0.51), (3, 0.51), [(-10, 10), (-1e-3, 1e-3)]),
    "atan": ((0.7, 0.51), (1, 0.51), [(-3, 3), (-50, 50)]),
    "atan2": ((0.7, 0.51), (1, 0.51), [(-1, 1), (-1e10, 1e10)]),
    "atanh": ((0.51, 0.51), (3, 0.51), [(-1, 1), (-1e-3, 1e-3)]),
    "cbrt": ((0.51, 0.51), (4, 0.51), [(-10, 10), (-1e-30, 1e-30)]),
    "cos": ((0.8, 2), (1, 0.51), [(-10, 10), (-1e4, 1e4), (-1e7, 1e7)]),
    "cosh": ((1.5, 0.51), (2, 0.51), [(-3, 3), (-90, 90), (-711, 711)]),
    "divf": ((0.5, 0.5), (0.5, 0.5), [(-10, 10), (1e-30, 1e30)]),
    "erf": ((1.5, 3), (1.5, 4), [(-1, 1), (-6, 6)]),
    "erfc": ((4, 0.51), (6, 0.51), [(-2, 2), (-6, 27)]),
    "exp": ((0.8, 2.5), (1, 2), [(-1, 1), (-104, 90), (-745, 710)]),
    "exp2": ((0.8, 2), (1, 2), [(-1, 1), (-150, 129), (-1075, 1025)]),
    "expm1": ((1, 0.51), (2, 3), [(-1, 1), (-30, 90), (-1e-3, 1e-3)]),
    "fma": ((0.5, 0.5), (0.5, 0.5), [(-10, 10)]),
    "log": ((0.51, 2), (1, 2), [(0.5, 2), (0, 1e4)]),
    "log10": ((0.51, 0.51), (2, 0.51), [(0.5, 2), (0, 1e4)]),
    "log1p": ((0.51, 0.51), (1, 3), [(-1, 1), (-1e-3, 1e-3)]),
    "log2": ((0.51, 2), (1, 3), [(0.5, 2), (0, 1e4)]),
    "powf": ((0.8, 0.51), (1, 0.51), [(0.5, 2), (0, 100), (-8, 8)]),
    "rsqrt": ((1.5, 2), (1.5, 1.5), [(0, 4), (0, 1e10)]),
    "sin": ((0.8, 2), (1, 0.51), [(-10, 10), (-1e4, 1e4), (-1e7, 1e7)]),
    "sinh": ((2.5, 0.51), (2, 0.51), [(-3, 3), (-90, 90), (-711, 711)]),
    "sqrt": ((0.5, 0.5), (0.5, 0.5), [(0, 4), (0, 1e10)]),
    "tan": ((2.5, 4), (1, 0.51), [(-10, 10), (-1e4, 1e4), (-1e7, 1e7)]),
    "tanh": ((3, 5), (3, 5), [(-1, 1), (-20, 20), (-1e-3, 1e-3)]),
}
# By function: the bounds of AMD's OCML in f64 and f32, with the instructions that emulated chips
# have: approximations are the exact results, rounded.
VENDOR_BOUNDS = {
    "acos": (1, 1.5),
    "acosh": (0.8, 0.7),
    "asin": (0.8, 2.5),
    "asinh": (1.2, 0.7),
    "atan": (2, 2),
    "atan2": (2, 2),
    "atanh": (1.2, 0.6),
    "cbrt": (0.6, 1.2),
    "cos": (1, 2),
    "cosh": (0.8, 0.7),
    "erf": (1, 2),
    "erfc": (4, 3),
    "exp": (1, 0.6),
    "exp2": (1, 0.6),
    "expm1": (2, 2),
    "log": (0.8, 1),
    "log10": (0.8, 2.5),
    "log1p": (1.2, 0.7),
    "log2": (0.8, 1),
    "powf": (1.5, 1.2),
    "rsqrt": (1, 2),
    "sin": (1, 2),
    "sinh": (1, 1),
    "tan": (1.2, 2.5),
    "tanh": (1, 1.5),
}
# In 16 bits a function is computed in f32 and rounded again.
NARROW = 0.51
OPERANDS = {"atan2": 2, "powf": 2, "divf": 2, "fma": 3}


def bound(function, element, is_host):
    """The bound that the page states and the tests hold."""
    if element in ("f16", "bf16"):
        return 0.5 if function in ("divf", "sqrt") else NARROW
    device, host, _ = BOUNDS[function]
    return (host if is_host else device)[element == "f32"]


def kernel(function, element):
    """The function of n elements, 1024 to a program."""
    count = OPERANDS.get(function, 1)
    dialect = "arith" if function == "divf" else "math"
    view, tensor = f"!tile.view<?x{element}>", f"tensor<1024x{element}>"
    names = "abc"[:count]
    loads = [f"  %x{n} = tile.load %{n}[%at] : {view} -> {tensor}" for n in names]
    return "\n".join([
        f"tile.kernel @function({', '.join(f'%{n}: {view}' for n in names)}, %o: {view}) grid {{",
        f"  %n = tile.dim %o, 0 : {view}",
        "  %block = arith.constant 1024 : index",
        "  %programs = arith.ceildivui %n, %block : index",
        "  tile.grid %programs",
        "} {",
        "  %block = arith.constant 1024 : index",
        "  %p = tile.program_id x",
        "  %at = arith.muli %p, %block : index",
        *loads,
        f"  %r = {dialect}.{function} {', '.join(f'%x{n}' for n in names)} : {tensor}",
        f"  tile.store %r, %o[%at] : {tensor}, {view}",
        "  tile.return",
        "}",
    ])  # fmt: skip


def vendor_bound(function, element):
    """The bound of the vendor's library."""
    return VENDOR_BOUNDS[function][element == "f32"]


def apply(function, element, operands, device, vendor=False):
    """The function's results on a device, by the vendor's library if asked."""
    from kiln import _native

    opened = _native.Device.open(device)
    text = kernel(function, element).encode()
    artifact, _, _ = _native.compile(
        None, None, {"source": text, "target": opened.target, "isolation": 0,
                     "vendor_math": int(vendor)}
    )  # fmt: skip
    if vendor and "libraries" not in json.loads(artifact.metadata):
        raise RuntimeError(f"expected math.{function} to be the vendor's, got Kiln's own")
    out = np.zeros_like(operands[0])
    opened.load(artifact).launch("function", [*operands, out])
    return out


def ends(dtype, rng, count):
    """Subnormal numbers, those so small that a product's low half is subnormal, and large ones."""
    info, half = np.finfo(dtype), count // 2
    small = rng.integers(info.minexp - info.nmant, info.minexp + 2 * info.nmant, half)
    large = rng.integers(info.maxexp - info.nmant, info.maxexp, half)
    fractions = rng.uniform(1, 2, 2 * half) * rng.choice([-1, 1], 2 * half)
    return np.ldexp(fractions, np.concatenate([small, large])).astype(dtype)


def samples(function, element, rng, count=2048):
    """Arguments: random bits, the ends of the type, each interval uniformly and by magnitude, and
    what is special."""
    dtype = DTYPES[element]
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    low, high = np.iinfo(unsigned).min, np.iinfo(unsigned).max
    special = np.array([0.0, -0.0, 1, -1, 0.5, 2, np.inf, -np.inf, np.nan, 1e-40, -1e-40], dtype)
    rows = []
    for _ in range(OPERANDS.get(function, 1)):
        anything = rng.integers(low, high, count, unsigned, endpoint=True).view(dtype)
        parts = [anything, ends(dtype, rng, count), special]
        for first, last in BOUNDS[function][2]:
            inside = rng.uniform(first, last, count)
            scaled = inside * np.exp(-rng.uniform(0, 30, count))
            parts += [inside.astype(dtype), scaled.astype(dtype)]
        rows.append(np.concatenate(parts))
    if len(rows) > 1:
        rows = [rng.permutation(row) for row in rows]
    return [np.resize(row, -(-len(row) // 1024) * 1024) for row in rows]


def reference(function):
    """The function by MPFR."""
    import gmpy2

    special = {
        "exp2": gmpy2.exp2,
        "powf": lambda x, y: gmpy2.mpfr(1) if y == 0 or x == 1 else x**y,
        "divf": lambda x, y: x / y,
        "rsqrt": lambda x: 1 / gmpy2.sqrt(x),
        "fma": gmpy2.fma,
    }
    return special.get(function) or getattr(gmpy2, function)


def exact_context():
    """200 bits, and exponents beyond all types'."""
    import gmpy2

    context = gmpy2.get_context()
    context.precision = 200
    context.emax, context.emin = gmpy2.get_emax_max(), gmpy2.get_emin_min()


def error(got, want, info):
    """How far a result is from the exact one, in units of its last place."""
    import gmpy2

    if gmpy2.is_nan(want) or math.isnan(got):
        return 0.0 if gmpy2.is_nan(want) and math.isnan(got) else math.inf
    if gmpy2.is_infinite(want) or (want == 0 and got == 0):
        return 0.0 if want == got else math.inf
    two, digits = gmpy2.mpfr(2), info.nmant + 1
    beyond = two**info.maxexp
    if math.isinf(got):  # as if exponents had no end
        got = beyond if got > 0 else -beyond
    exponent = gmpy2.get_exp(want) if want != 0 else info.minexp
    # What the type has beyond its largest number is infinity, half a unit above it and on.
    exponent = min(max(exponent, int(info.minexp) + 1), int(info.maxexp))
    limit = beyond if abs(want) > beyond else abs(want)
    want = limit if want > 0 else -limit
    return float(abs(gmpy2.mpfr(got) - want) / two ** (exponent - digits))


def worst(function, element, operands, results):
    """The largest error, and where it is."""
    from gmpy2 import mpfr

    info, compute = ml_dtypes.finfo(DTYPES[element]), reference(function)
    found = (0.0, None)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        columns = [row.astype(np.float64).tolist() for row in operands]
    for got, *arguments in zip(results.astype(np.float64).tolist(), *columns, strict=True):
        want = compute(*[mpfr(x) for x in arguments])
        size = error(got, want, info)
        if size > found[0]:
            found = (size, tuple(arguments))
    return found


def render():
    """The page."""
    lines = [
        "# How exact mathematics is",
        "",
        "Written by `utils/support/math_bounds.py --write`; the tests hold each bound. Errors are",
        "in units of the result's last place, for arguments anywhere in the type: 0.5 is correctly",
        "rounded. f16, bf16 and narrower types are computed in f32 and rounded again: 0.51, but",
        "that `sqrt` and `divf` stay correctly rounded. Division, square root and `fma` are",
        "correctly rounded everywhere, without `fast_math`.",
        "",
        "Accelerators run Kiln's own functions (`lib/Target/Common/Math`), which need no vendor's",
        "library, and in f32 the chip's exponential where its error is stated.",
        "",
        "| function | accelerators, f64 | accelerators, f32 | host, f64 | host, f32 |",
        "|---|---|---|---|---|",
    ]
    for function, (device, host, _) in BOUNDS.items():
        numbers = " | ".join(f"{x:g}" for x in (*device, *host))
        lines.append(f"| `{'arith' if function == 'divf' else 'math'}.{function}` | {numbers} |")
    lines += [
        "",
        "With `vendor_math` they are those of the vendor's library where that is found. The bounds",
        "of OCML, as the package triton has it, are measured on emulated chips, whose approximate",
        "instructions err less than real ones; NVIDIA states those of libdevice. Division, square",
        "root and `fma` stay as above.",
        "",
        "| function | OCML, f64 | OCML, f32 |",
        "|---|---|---|",
    ]
    for function, numbers in VENDOR_BOUNDS.items():
        double, single = numbers
        lines.append(f"| `math.{function}` | {double:g} | {single:g} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the page")
    parser.add_argument("--device", default="cpu", help="the device to measure")
    parser.add_argument("--vendor", action="store_true", help="measure the vendor's library")
    parser.add_argument("--samples", type=int, default=2048, help="samples of each kind")
    options = parser.parse_args()
    if options.write:
        PAGE.write_text(render())
        return 0
    exact_context()
    rng = np.random.default_rng()
    status = 0
    for function in VENDOR_BOUNDS if options.vendor else BOUNDS:
        for element in ("f64", "f32"):
            operands = samples(function, element, rng, options.samples)
            results = apply(function, element, operands, options.device, options.vendor)
            size, where = worst(function, element, operands, results)
            limit = bound(function, element, options.device == "cpu")
            if options.vendor:
                limit = vendor_bound(function, element)
            status |= size > limit
            mark = "" if size <= limit else " MISSED"
            print(f"{function:6} {element} {size:8.3f} of {limit:g} at {where}{mark}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
