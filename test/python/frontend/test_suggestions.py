"""Names of NumPy, PyTorch, JAX and Triton, and habits of Python: each error says what does it here."""

import math

import numpy as np
import pytest
from lowered import Lowered, from_text

import kiln
from kiln import language
from kiln.frontend import CompileError, KernelSource, suggestions

# (the body of a kernel of the view a and the tile t, what is underlined, the message, what is legal)
CASES = [
    ("x = np.zeros((4, 4))", "np.zeros((4, 4))", "got numpy.zeros", "kiln.zeros"),
    ("x = np.array([1, 2])", "np.array([1, 2])", "got numpy.array", "kiln.full(shape, value)"),
    ("x = np.linspace(0, 1, 5)", "np.linspace", "got `numpy.linspace`", "kiln.arange(n)"),
    ("x = np.exp(t)", "np.exp", "got `numpy.exp`", "kiln.exp"),
    ("x = np.matmul(t, t)", "np.matmul", "got `numpy.matmul`", "kiln.dot(a, b), or a @ b"),
    ("x = math.exp(t)", "math.exp(t)", "got a 4x4 f32 tensor", "kiln.exp"),
    ("x = kiln.matmul(t, t)", "kiln.matmul", "got `kiln.matmul`", "kiln.dot(a, b), or a @ b"),
    ("x = kiln.amax(t)", "kiln.amax", "got `kiln.amax`", "kiln.max"),
    ("x = kiln.softmx(t)", "kiln.softmx", "got `kiln.softmx`", "kiln.softmax"),
    ("x = kiln.bf32", "kiln.bf32", "got `kiln.bf32`", "kiln.bf16, kiln.f32"),
    ("x = kiln.float32", "kiln.float32", "got `kiln.float32`", "kiln.f32"),
    ("x = t.tanh()", "t.tanh", "got `.tanh`", "kiln.tanh; dtype"),
    ("x = t.astype(kiln.f16)", "t.astype", "got `.astype`", "x.to(dtype)"),
    ("x = t.unsqueeze(0)", "t.unsqueeze", "got `.unsqueeze`", "kiln.expand_dims(x, axis)"),
    ("x = []\n    x.append(t)", "x.append", "got `.append`", "items = (*items, x)"),
    ("x = [t, t]\n    x[0] = t", "x[0]", "got a tuple of 2", "tuples do not change"),
    ("t[0, 0] = 1.0", "t[0, 0]", "got a 4x4 f32 tensor", "kiln.where"),
    ("x = sorted(t)", "sorted(t)", "got Python's sorted", "kiln.sort"),
    ("print(t)", "print(t)", "got Python's print", "kiln.device_print"),
    ("x = max(t)", "max(t)", "expected a tensor of rank 1", "kiln.max(x, axis)"),
    ("x = kiln.load(a + kiln.arange(4))", "a + kiln.arange(4)", "got a ?x? f32 view", "view.load"),
    (
        "m = kiln.zeros((4,), kiln.f32)\n    for i in range(4):\n"
        "        k = m + 1\n        m = k.to(kiln.f64)\n        k = m",
        "m = k.to(kiln.f64)",
        "expected `m` to keep its type in the loop, a 4 f32 tensor, got a 4 f64 tensor",
        "m = m.to(f32)",
    ),
]


@pytest.mark.parametrize(("body", "underlined", "message", "legal"), CASES)
def test_names_of_other_libraries(body, underlined, message, legal):
    import linecache

    text = f"def kernel(a):\n    t = a.load((0, 0), (4, 4))\n    {body}\n    a.store((0, 0), t)\n"
    kernel = from_text(text, np=np, math=math)
    with pytest.raises(CompileError) as raised:
        KernelSource(kernel).lower({"a": Lowered.type((kiln.f32, 2))})
    error = raised.value
    assert message in error.message
    assert legal in error.legal
    line = linecache.getline(error.span.file, error.span.line).rstrip("\n")
    assert line[error.span.column - 1 : error.span.end - 1] == underlined


def test_no_name_of_the_language_is_another_librarys():
    """A suggestion for a name that the language has would never be seen, or would be wrong."""
    given = set(suggestions._NAMES) - {"range", "view"}
    assert given & set(language.__all__) == set()


def test_each_suggestion_names_what_there_is():
    import re

    for text in suggestions._NAMES.values():
        for name in re.findall(r"kiln\.(\w+)", text):
            assert hasattr(kiln, name), text


def test_pythons_own_functions_of_tiles_and_views(lower):
    def kernel(v, a):
        x = v.load(0, 16)
        v[0] = sum(x) + max(x) + min(x) + len(v) * 1.0
        for i in reversed(range(2, 11, 3)):
            v[i] = 1.0
        for n in reversed((1, 2)):
            v[n] = 2.0

    text = str(lower(kernel, v=(kiln.f32, 1), a=(kiln.f32, 2)))
    assert text.count("tile.reduce") == 3 and "tile.dim" in text


@kiln.kernel
def backwards(y: kiln.View, START: kiln.constexpr, STOP: kiln.constexpr, STEP: kiln.constexpr):
    kiln.grid(1)
    at = 0
    for i in reversed(range(START, STOP, STEP)):
        y[at] = i
        at += 1
    for i in reversed(range(START, y.shape[0] + (STOP - 64), STEP)):
        y[at] = i
        at += 1


def test_reversed_ranges(rng):
    """Of constants and of values, against Python's own."""
    for _ in range(20):
        start, stop = (int(n) for n in rng.integers(-16, 16, 2))
        step = int(rng.integers(1, 9)) * int(rng.choice([-1, 1]))
        y = np.full(64, 99, np.int64)
        backwards(y, START=start, STOP=stop, STEP=step)
        expected = list(reversed(range(start, stop, step))) * 2
        assert y[: len(expected)].tolist() == expected and (y[len(expected) :] == 99).all()
