"""Functions of mathematics as kernels call them: their numbers, their dtypes, and their constants."""

import math

import numpy as np
import pytest

import kiln

# By name: NumPy's or Python's function of f64, and an interval of arguments.
FUNCTIONS = {
    "acos": (np.arccos, -1, 1), "acosh": (np.arccosh, 1, 9), "asin": (np.arcsin, -1, 1),
    "asinh": (np.arcsinh, -9, 9), "atan": (np.arctan, -9, 9), "atanh": (np.arctanh, -0.9, 0.9),
    "cbrt": (np.cbrt, -9, 9), "ceil": (np.ceil, -9, 9), "cos": (np.cos, -9, 9),
    "cosh": (np.cosh, -3, 3), "erf": (np.vectorize(math.erf), -3, 3),
    "erfc": (np.vectorize(math.erfc), -3, 3), "exp": (np.exp, -3, 3), "exp2": (np.exp2, -3, 3),
    "expm1": (np.expm1, -1, 1), "floor": (np.floor, -9, 9), "log": (np.log, 0.1, 9),
    "log10": (np.log10, 0.1, 9), "log1p": (np.log1p, -0.9, 9), "log2": (np.log2, 0.1, 9),
    "round": (np.rint, -9, 9), "rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 9), "sin": (np.sin, -9, 9),
    "sinh": (np.sinh, -3, 3), "sqrt": (np.sqrt, 0, 9), "tan": (np.tan, -1, 1),
    "tanh": (np.tanh, -3, 3), "trunc": (np.trunc, -9, 9),
}  # fmt: skip


@kiln.kernel
def apply(x: kiln.View, y: kiln.View, FUNCTION: kiln.constexpr, N: kiln.constexpr = 64):
    i = kiln.grid(kiln.cdiv(x.shape[0], N))
    y.store(i * N, FUNCTION(x.load(i * N, N)))


@kiln.kernel
def apply_two(a: kiln.View, b: kiln.View, y: kiln.View, FUNCTION: kiln.constexpr):
    kiln.grid(1)
    y.store(0, FUNCTION(a.load(0, 64), b.load(0, 64)))


@kiln.kernel
def of_constant(y: kiln.View, FUNCTION: kiln.constexpr, X: kiln.constexpr):
    kiln.grid(1)
    y[0] = FUNCTION(X)


def test_every_function_of_mathematics_is_tested_here():
    from kiln.language import mathematics

    assert set(mathematics.__all__) == {*FUNCTIONS, "sigmoid", "atan2", "copysign"}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name, dtype, rng):
    reference, low, high = FUNCTIONS[name]
    x = rng.uniform(low, high, 100).astype(dtype)
    x[:4] = np.clip([0.5, -0.5, 1.5, 2.5], low, high)
    y = np.empty_like(x)
    apply(x, y, FUNCTION=getattr(kiln, name))
    want = reference(x.astype(np.float64))
    tolerance = {np.float64: 1e-13, np.float32: 2e-6, np.float16: 2e-3}[dtype]
    assert np.allclose(y.astype(np.float64), want, rtol=tolerance, atol=tolerance / 16)


@pytest.mark.parametrize("name", ["atan2", "copysign"])
def test_function_of_two(name, rng):
    a, b = rng.standard_normal((2, 64)).astype(np.float32)
    a[:4], b[:4] = [0, -0.0, 0, -0.0], [1, 1, -1, -1]
    y = np.empty_like(a)
    apply_two(a, b, y, FUNCTION=getattr(kiln, name))
    want = getattr(np, {"atan2": "arctan2"}.get(name, name))(
        *(v.astype(np.float64) for v in (a, b))
    )
    assert np.allclose(y, want, rtol=1e-6, atol=1e-12)
    assert np.array_equal(np.signbit(y), np.signbit(want))


@pytest.mark.parametrize(
    "name", [n for n in FUNCTIONS if n not in ("ceil", "floor", "round", "trunc")]
)
def test_ints_are_computed_in_f32(name):
    x = np.ones(64, np.int32)
    if name == "atanh":
        x[:] = 0
    y = np.empty(64, np.float32)
    apply(x, y, FUNCTION=getattr(kiln, name))
    assert np.allclose(y, FUNCTIONS[name][0](x.astype(np.float64)), rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_a_constant_is_a_constant(name):
    y = np.empty(1, np.float64)
    of_constant(y, FUNCTION=getattr(kiln, name), X=1.0 if name != "atanh" else 0.5)
    want = FUNCTIONS[name][0](1.0 if name != "atanh" else 0.5)
    assert np.isclose(y[0], want, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "x"), [("acos", 2.0), ("acosh", 0.5), ("log10", -1.0), ("sinh", 1e9), ("atanh", 1.0)]
)
def test_a_constant_beyond_a_functions_domain_is_an_error(name, x):
    y = np.empty(1, np.float64)
    with pytest.raises(kiln.CompileError, match=f"expected a constant that {name} takes, got"):
        of_constant(y, FUNCTION=getattr(kiln, name), X=x)


def test_what_is_no_number_is_an_error():
    x = np.empty(64, np.float32)
    with pytest.raises(kiln.CompileError, match="expected a number, a scalar or a tensor"):
        of_constant(x, FUNCTION=kiln.expm1, X="text")


@kiln.kernel
def exponentials(x: kiln.View, y: kiln.View, BASE: kiln.constexpr, FLUSH: kiln.constexpr):
    kiln.grid(1)
    y.store(0, BASE(x.load(0, 256), flush=FLUSH))


@pytest.mark.parametrize("device", ["cpu", "emu:sm_80", "emu:gfx942", "emu:gfx1201"])
@pytest.mark.parametrize("name", ["exp", "exp2"])
def test_only_subnormal_results_are_flushed(name: str, device: str, rng) -> None:
    x = rng.uniform(-155, 30, 256).astype(np.float32)
    found = {}
    for flush in (False, True):
        found[flush] = np.empty_like(x)
        exponentials.options(device=device)(x, found[flush], BASE=getattr(kiln, name), FLUSH=flush)
    want = getattr(np, name)(x.astype(np.float64))
    normal = want >= 2.0**-126
    for y in found.values():
        assert np.allclose(y[normal].astype(np.float64), want[normal], rtol=1e-6, atol=0)
    assert np.allclose(found[False].astype(np.float64), want, rtol=1e-6, atol=2.0**-148)
    assert np.all((found[True] == 0) | (np.abs(found[True] - want) <= 2.0**-140) | normal)


def test_flush_is_known_when_compiling() -> None:
    with pytest.raises(kiln.CompileError, match="expected True or False, known when compiling"):
        exponentials(np.zeros(256, np.float32), np.zeros(256, np.float32), BASE=kiln.exp, FLUSH=1)


def test_flush_is_for_approximate_exponentials_alone() -> None:
    text = {
        flush: exponentials.compile(
            kiln.View[kiln.f32, 1], kiln.View[kiln.f32, 1], BASE=kiln.exp2, FLUSH=flush
        ).ir("tile")
        for flush in (False, True)
    }
    assert "math.exp2" in text[False] and "fastmath" not in text[False]
    assert "fastmath<afn>" in text[True]
