"""Loops, branches, helpers, closures: what is carried, what is folded, what is refused."""

import inspect
import math
import re
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from lowered import from_text

import kiln
from kiln.frontend import KernelSource, ViewType

SCALE = 0.5
COUNT = np.int32(3)
TABLE = (1, 2, 4)
V = (kiln.f32, 1)


def carried(text: str) -> list[str]:
    """The types that each scf.for carries."""
    return re.findall(r"scf.for .*?(?:-> \((.*?)\) )?\{", text)


def test_only_live_names_are_carried(lower):
    def kernel(v, n):
        total = 0.0
        dead = 1.0
        unchanged = 3
        for i in range(n):
            dead = v[i]
            temporary = dead * unchanged
            total += temporary
        v[0] = total

    assert carried(lower(kernel, v=V, n=kiln.i64)) == ["f32"]


def test_carried_constants_take_the_type_that_the_body_gives(lower):
    def kernel(v, n):
        total, count, product, at = 0, 0, 1.0, 0
        for i in range(n):
            total = total + v.load(i, 8)
            count += 1
            product = product * kiln.f64(2)
            at = at + i
        v.store(at + count, total * product.to(kiln.f32))

    (types,) = carried(lower(kernel, v=V, n=kiln.i64))
    assert types == "tensor<8xf32>, i64, f64, index"


def test_nested_loops_and_swaps(lower):
    def kernel(v, n):
        a, b = v.load(0, 4), v.load(4, 4)
        for i in range(0, n, 2):
            for j in range(i, n):
                a, b = b, a + j
            b = b * 2
        v.store(0, a + b)

    text = lower(kernel, v=V, n=kiln.i32)
    assert carried(text) == ["tensor<4xf32>, tensor<4xf32>"] * 2


def test_downward_and_run_time_steps(lower):
    def kernel(v, n, step):
        for i in range(n, 0, -2):
            v[i] = 1
        for i in range(0, n, step):
            v[i] = 2

    text = lower(kernel, v=V, n=kiln.i64, step=kiln.i64)
    assert "arith.ceildivsi" in text and "tile.assert" in text and "arith.maxsi" in text


def test_static_range_unrolls_and_constant_conditions_fold(lower):
    def kernel(v, FLAG: kiln.constexpr):
        x = v.load(0, 4)
        for k in kiln.static_range(3):
            if k == 1 and FLAG:
                x = x * 2
            elif k == 2:
                x = x + 1
        for scale in TABLE[1:]:
            x = x * scale
        v.store(0, x if FLAG else x.load())

    text = lower(kernel, {"FLAG": True}, v=V)
    assert "scf" not in text
    assert text.count("arith.mulf") == 3 and text.count("arith.addf") == 1


def test_while(lower):
    def kernel(v, n):
        i, x = 0, v[0]
        while i < n and x > 0:
            x = x / 2
            i += 1
        while v[0] > 1:
            v[0] = v[0] - 1
        v[i] = x

    text = lower(kernel, v=V, n=kiln.i64)
    assert "scf.while (" in text and ": (f32, i64) -> (f32, i64)" in text
    assert "scf.while () : () -> ()" in text


def test_if_gives_back_what_is_read_after_it(lower):
    def kernel(v, n):
        x, y, z = 1.0, 2, 5
        if n > 0:
            x = v[0]
            y = 3
            w = x * 2
            x = w
        else:
            y = n
        if n > 1:
            v[1] = x
        elif n > 2:
            v[2] = x
        v[z] = y.to(kiln.f32) + x

    text = lower(kernel, v=V, n=kiln.i64)
    assert "scf.if" in text and "-> (f32, i64)" in text
    assert text.count("scf.if") == 3


def test_a_constant_that_both_branches_share_stays_constant(lower):
    def kernel(v, n):
        if n > 0:
            size = 8
            v[0] = 1
        else:
            size = 8
        v.store(0, kiln.zeros(size, kiln.f32))

    lower(kernel, v=V, n=kiln.i64)


@kiln.function
def sign(x):
    if x > 0:
        return 1.0
    if x < 0:
        return -1.0
    return 0.0


@kiln.function
def typed(x, LOG: kiln.constexpr, base: kiln.f32 = 2.0):
    if LOG:
        return kiln.log(x) * base
    return x


def test_helpers_return_from_branches(lower):
    def kernel(v):
        v[0] = sign(v[0]) + typed(v[1], False) + typed(v[2], LOG=True)
        if v[3] > 0:
            return
        v[4] = 1

    text = lower(kernel, v=V)
    assert text.count("scf.if") == 2 and text.count("math.log") == 1


def test_conditional_expressions_are_lazy(lower):
    def kernel(v, n):
        v[0] = v[1] if n > 0 else 0.0
        v[1] = 1.0 if n > 1 else 2.0
        ok = n > 0 and v[n] > 0 or n < -5
        v[2] = 1.0 if ok else 0.0
        safe = n != 0 and kiln.atomic_add(v, 0, 1.0) > 0
        v[3] = kiln.f32(not safe)

    text = lower(kernel, v=V, n=kiln.i64)
    assert "arith.select" in text and text.count("scf.if") == 2 and "arith.andi" in text


def test_chained_comparisons(lower):
    def kernel(v, n):
        x = v.load(0, 4)
        v.store(0, kiln.where((0 < x) & (x <= n < 7), x, 0))
        kiln.static_assert(1 < SCALE + 1 < 3 and not 1 < COUNT > 3)

    assert lower(kernel, v=V, n=kiln.f32).count("arith.cmpf") == 3


@kiln.function
def apply(f, *values, by=1):
    out = values[0]
    for value in values[1:]:
        out = f(out, value)
    return out * by


def test_functions_are_values(lower):
    def kernel(v, OP: kiln.constexpr):
        bias = v[7]

        def local(a, b=2):
            c = a * b
            return c + bias

        x = apply(lambda a, b: a - b, v[0], v[1], v[2], by=3)
        x = x + apply(kiln.maximum, v[0], v[1]) + OP(local(v[1]), local(v[2], b=3))
        v[0] = x

    text = lower(kernel, {"OP": kiln.minimum}, v=V)
    assert "arith.minimumf" in text and "arith.maximumf" in text


class Config(NamedTuple):
    tile: int
    scale: float = 1.5


@dataclass
class Pair:
    a: object
    b: object = 2

    @kiln.function
    def total(self):
        return self.a + self.b


CONFIG = Config(16)


def test_structures_live_in_loops_and_branches(lower):
    def kernel(v, n, C: kiln.constexpr):
        p = Pair(v.load(0, C.tile), v.load(0, C.tile))
        state = Config(tile=0, scale=1.0)
        for i in range(n):
            if i > 3:
                p = Pair(p.total(), p.a)
            else:
                p = Pair(p.a, p.a * CONFIG.scale)
            state = state._replace(tile=state.tile + 1)
        v.store(state.tile, p.total() * state.scale)

    text = lower(kernel, {"C": CONFIG}, v=V, n=kiln.i64)
    assert carried(text) == ["tensor<16xf32>, tensor<16xf32>, i64, f32"]


def test_captured_values(lower):
    offset = 7

    def kernel(v):
        x = v.load(0, 4) * SCALE + COUNT + offset
        for a, (b, c) in zip(TABLE, enumerate((5, 6, 7))):
            x = x + a * b + c
        y = [x * i for i in range(3) if i != 1]
        first, *rest = TABLE
        x = sum(y) + len(rest) + first + max(TABLE) + math.pi + min(2, v[0]) + abs(-1)
        v.store(int(2.5), x * float("1e3") + int(v[0]) + float(3) + bool(1))
        kiln.static_assert(isinstance(CONFIG, Config) and 4 in TABLE)

    lower(kernel, v=V)


def test_static_print_speaks_once(lower, capsys):
    def kernel(v, n):
        i = kiln.grid(n)
        x = v.load(0, 4)
        kiln.static_print("x is", x, f"{SCALE:.2f} {n}", (1, v))
        total = 0
        for _ in range(i):
            kiln.static_print("in the loop")
            total = total + x[0]
        v[0] = total

    lower(kernel, v=V, n=kiln.i64)
    assert capsys.readouterr().out == (
        "x is 4 f32 tensor 0.50 i64 scalar (1, ? f32 view)\nin the loop\n"
    )


def test_grid_statements_are_emitted_in_both_regions(lower):
    def kernel(v, n, BLOCK: kiln.constexpr = 8):
        size = v.shape[0]
        if size > n:  # noqa: PLR1730
            size = n
        tiles = kiln.cdiv(size, BLOCK)
        i = kiln.grid(tiles, 2)
        v[i[0]] = tiles.to(kiln.f32)

    text = lower(kernel, v=V, n=kiln.i64)
    grid, body = text.split("  } {\n")
    assert "arith.ceildivsi" in grid and "arith.ceildivsi" in body and "scf.if" in grid
    assert "tile.store" not in grid


def test_source_hash_follows_what_the_kernel_can_reach():
    def make(factor, helper):
        def kernel(v):
            v[0] = helper(v[0]) * factor

        return KernelSource(kernel).source_hash

    assert make(2, sign) == make(2, sign)
    assert make(2, sign) != make(3, sign)
    assert make(2, sign) != make(2.0, sign)
    assert make(2, sign) != make(2, apply)


def test_source_hash_follows_classes():
    def make(value, method):
        class Settings:
            SIZE = value

        class Tuple(NamedTuple):
            x: int = value

            step = method

        instance = Tuple(1)

        def kernel(v):
            v[Settings.SIZE] = instance.step() + Tuple(x=1).x

        return KernelSource(kernel).source_hash

    assert make(2, sign) == make(2, sign)
    assert make(2, sign) != make(3, sign)
    assert make(2, sign) != make(2, apply)


def test_text_of_odd_values(lower):
    def kernel(v):
        kiln.static_assert(len(range(10, 0, -3)) == 4 and len(range(0, 7, 2)) == 4)
        kiln.static_assert(len(range(10**30)) == 10**30 and len(range(5, 0)) == 0)

    lower(kernel, v=V)


# fmt: off
@kiln.function
def odd(
    x,
    y=(
        1
    ),
):
    """A text
that starts at the margin.
    """
    # a comment
    z = x * 2 + len("""
""")
# a comment at the margin

    if False:
        z = nothing

    return z
# not part of it
# fmt: on


def test_the_text_of_a_function_is_found_whole():
    for function in (odd, sign, apply, Pair.total):
        lines, first = inspect.getsourcelines(function.function)
        source = function.source
        assert source.first_line == first
        assert source.text.strip() == "".join(lines).strip()
    assert "return z" in odd.source.text


def test_free_references_follow_modules():
    paths = set(collatz_like.source.free_references())
    assert {("sign",), ("SCALE",), ("math", "pi"), ("kiln", "exp")} <= paths
    assert ("kiln",) not in paths


@kiln.function
def collatz_like(x):
    inner = lambda y: sign(y) * SCALE  # noqa: E731
    return inner(x) + math.pi + kiln.exp(x)


def test_parameters():
    def kernel(
        a,
        b: kiln.View,
        c: kiln.View[kiln.f32, (None, 128)],
        p: kiln.Pointer[kiln.i8],
        s: kiln.u8,
        n: int,
        T: kiln.tunable = kiln.tunable(1, 2, default=2),
        U=kiln.tunable(8),
        K: kiln.constexpr = 3,
        *,
        last: "kiln.f32" = 1.0,
    ):
        pass

    source = KernelSource(kernel)
    kinds = {p.name: p.kind for p in source.parameters}
    assert kinds == {
        "a": "auto", "b": "view", "c": "view", "p": "pointer", "s": "scalar", "n": "scalar",
        "T": "tunable", "U": "tunable", "K": "constexpr", "last": "scalar",
    }  # fmt: skip
    assert source.by_name["T"].candidates == (1, 2) and source.by_name["T"].default == 2
    assert source.by_name["c"].shape == (None, 128) and source.by_name["n"].dtype is kiln.i64
    assert source.by_name["last"].keyword_only and source.by_name["last"].dtype is kiln.f32
    assert not source.has_grid


def test_ways_to_write_the_extents_of_a_view():
    view = kiln.View
    assert view[kiln.f32, None, 128] == view[kiln.f32, (None, 128)]
    assert view[kiln.f32, 2] == view[kiln.f32, (None, None)]
    assert view[kiln.f32, (128,)].shape == (128,) and view[kiln.f32].shape is None
    with pytest.raises(TypeError, match=r"rank of at most 8, got 128; \(128,\) is an extent"):
        view[kiln.f32, 128]
    with pytest.raises(TypeError, match="got kiln.f32 for the|expected None or an extent"):
        view[kiln.f32, 4, kiln.f32]


def test_a_fixed_argument_is_no_parameter(lower):
    def kernel(v, n):
        v.store(0, kiln.zeros(n, kiln.f32))

    text = lower(kernel, {"n": 4}, v=V)
    assert "%n" not in text


def test_lowering_is_quick():
    source = KernelSource(from_text(_fifty_lines()))
    types = {"v": ViewType(kiln.f32, (None,))}
    source.lower(types)
    times = []
    for _ in range(10):  # whoever else runs has no say
        start = time.process_time()
        source.lower(types)
        times.append(time.process_time() - start)
    assert min(times) < 0.025


def _fifty_lines() -> str:
    body = "".join(f"    x = x * {i}.0 + kiln.exp(x) - x[0]\n" for i in range(50))
    return f"def kernel(v):\n    x = v.load(0, 16)\n{body}    v.store(0, x)\n"
