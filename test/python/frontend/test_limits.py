"""Integers of any length and lambdas are refused at their line, and quickly."""

import linecache
import time

import numpy as np
import pytest

import kiln

BITS = "expected a constant of at most 4096 bits, got an integer of 3"


def kernel_of(text, name="k"):
    """The kernel of a module that stands in no file; its lines are known to linecache."""
    file = f"limits_{len(linecache.cache)}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"kiln": kiln}
    exec(compile(text, file, "exec"), scope)
    return scope[name], file


HEAD = "@kiln.kernel\ndef k(x: kiln.View):\n"
HUGE = "0x" + "f" * 90_000  # over 100,000 digits, which Python's own parser takes in this form


@pytest.mark.parametrize(
    "text, line",
    [
        (HEAD + f"    x.store(0, x.load(0, 4) + {HUGE})\n", 3),
        (HEAD + f"    i = 0\n    x.store({HUGE}, x.load(0, 4))\n", 4),
        (HEAD + f"    x.store(0, x.load(0, {HUGE}))\n", 3),
        (HEAD + f"    for i in range({HUGE}):\n        x[i] = 1.0\n", 3),
        (HEAD + f"    x[0] = -{HUGE}\n", 3),
        (HEAD + f"    t = (1, (2, {HUGE}))\n    x[0] = t[0]\n", 3),
        (f"BIG = {HUGE}\n" + HEAD + "    x[0] = BIG\n", 4),
        (f"BIG = (1, {HUGE})\n" + HEAD + "    x[0] = BIG[0]\n", 4),
        (f"@kiln.function\ndef f(a):\n    return a + {HUGE}\n" + HEAD + "    x[0] = f(x[0])\n", 3),
    ],
)
def test_an_integer_of_100000_digits_is_refused_where_it_stands(text, line):
    kernel, file = kernel_of(text)
    start = time.process_time()
    with pytest.raises(kiln.CompileError) as raised:
        kernel[(1,)](np.zeros(4, np.float32))
    assert time.process_time() - start < 10
    assert (raised.value.file, raised.value.line) == (file, line)
    assert BITS in str(raised.value) and len(str(raised.value)) < 3000


def test_an_integer_of_100000_digits_as_an_argument_is_refused():
    kernel, file = kernel_of(
        "@kiln.kernel\ndef k(x: kiln.View, N: kiln.constexpr):\n    x[0] = N\n"
    )
    with pytest.raises(kiln.CompileError, match="at most 4096 bits") as raised:
        kernel[(1,)](np.zeros(4, np.float32), 10**100_000)
    assert raised.value.file == file


def test_a_lambda_as_a_kernel_is_refused_at_its_line():
    with pytest.raises(kiln.CompileError) as raised:
        kernel_of("\nk = kiln.kernel(lambda x: x.store(0, 1.0))\n")
    error = raised.value
    assert (error.line, error.column) == (2, 17) and "got a lambda" in error.message
    assert "^^^^^^" in str(error) and "@kiln.kernel" in str(error)


def test_lambdas_on_one_line_are_refused_at_that_line():
    with pytest.raises(kiln.CompileError, match="got a lambda") as raised:
        kernel_of("ks = [kiln.kernel(f) for f in (lambda x: x, lambda x: -x)]\n", "ks")
    assert raised.value.line == 1
    with pytest.raises(kiln.CompileError, match="got a lambda"):
        kiln.kernel(eval("lambda x: x"))
    with pytest.raises(kiln.CompileError, match="got a lambda"):
        kiln.kernel(opt_level=1)(lambda x: x)
