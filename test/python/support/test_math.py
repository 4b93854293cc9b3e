"""Functions of mathematics on every target, held to the bounds that docs/reference/math.md states:
every number of the 16-bit types, and samples of the others against MPFR."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
import vendor_libraries

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "utils/support"))
import math_bounds  # noqa: E402

DEVICES = ["cpu", "emu:sm_90a", "emu:gfx942"]
UNARY = [name for name in math_bounds.BOUNDS if name not in math_bounds.OPERANDS]
NUMPY = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh,
    "atan": np.arctan, "atanh": np.arctanh, "erf": np.vectorize(math.erf),
    "erfc": np.vectorize(math.erfc), "rsqrt": lambda x: 1 / np.sqrt(x),
}  # fmt: skip


@pytest.mark.crossed
@pytest.mark.parametrize("element", ["f64", "f32"])
@pytest.mark.parametrize("function", math_bounds.BOUNDS)
@pytest.mark.parametrize("device", DEVICES)
def test_function_is_within_its_bound(device, function, element, rng):
    math_bounds.exact_context()
    operands = math_bounds.samples(function, element, rng, 300)
    results = math_bounds.apply(function, element, operands, device)
    size, where = math_bounds.worst(function, element, operands, results)
    assert size <= math_bounds.bound(function, element, device == "cpu"), where


@pytest.mark.parametrize("element", ["f64", "f32"])
@pytest.mark.parametrize("function", math_bounds.OPERANDS)
@pytest.mark.parametrize("device", DEVICES)
def test_function_of_all_ends_together(device, function, element):
    """Zeros, infinities, NaN and the least and greatest numbers, each with each."""
    math_bounds.exact_context()
    dtype = math_bounds.DTYPES[element]
    info = np.finfo(dtype)
    sizes = [0, info.smallest_subnormal, info.tiny, info.eps, 0.5, 1, 3, info.max**0.75, info.max]
    values = np.array([*sizes, *(-size for size in sizes), np.inf, -np.inf, np.nan], dtype)
    values[len(sizes)] = -0.0
    count = math_bounds.OPERANDS[function]
    operands = [axis.ravel() for axis in np.meshgrid(*[values] * count)]
    operands = [np.resize(row, -(-len(row) // 1024) * 1024) for row in operands]
    results = math_bounds.apply(function, element, operands, device)
    size, where = math_bounds.worst(function, element, operands, results)
    assert size <= math_bounds.bound(function, element, device == "cpu"), where


@pytest.mark.parametrize("element", ["f64", "f32"])
@pytest.mark.parametrize("function", math_bounds.VENDOR_BOUNDS)
def test_the_vendors_function_is_within_its_bound(function, element, rng, monkeypatch):
    for name, value in vendor_libraries.variables().items():
        monkeypatch.setenv(name, value)
    math_bounds.exact_context()
    operands = math_bounds.samples(function, element, rng, 300)
    results = math_bounds.apply(function, element, operands, "emu:gfx942", vendor=True)
    size, where = math_bounds.worst(function, element, operands, results)
    assert size <= math_bounds.vendor_bound(function, element), where


@pytest.mark.parametrize("element", ["f16", "bf16"])
@pytest.mark.parametrize("function", UNARY)
@pytest.mark.parametrize("device", DEVICES)
def test_function_of_every_16_bit_number(device, function, element):
    dtype = math_bounds.DTYPES[element]
    x = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    got = math_bounds.apply(function, element, [x], device)
    with np.errstate(all="ignore"):
        wide = NUMPY.get(function, getattr(np, function, None))(x.astype(np.float64))
        want = wide.astype(dtype).astype(np.float64)
        # Half a unit and what f32 lost before: a neighbour of the rounded number, at a tie.
        apart = np.abs(got.astype(np.float64) - wide)
        spacing = np.abs(np.nextafter(wide.astype(dtype), dtype(np.inf)).astype(np.float64) - want)
    assert np.array_equal(np.isnan(got.astype(np.float64)), np.isnan(want))
    same = (got.astype(np.float64) == want) | np.isnan(want)
    bound = math_bounds.bound(function, element, device == "cpu")
    near = apart <= bound * spacing
    wrong = np.flatnonzero(~(same | near))
    assert len(wrong) == 0, [(float(x[i]), float(got[i]), float(wide[i])) for i in wrong[:4]]


def test_the_page_is_made_of_the_bounds():
    assert math_bounds.PAGE.read_text() == math_bounds.render()
