"""Ranges as Python has them, up to the ends of 64 and 32 bits: how many rounds, which positions."""

import os
import random

import numpy as np
import pytest

import kiln

TOP, BOTTOM = (1 << 63) - 1, -(1 << 63)
EMULATED = ["emu:sm_90a", "emu:gfx942", "emu:gfx950", "emu:gfx1201"]


@kiln.function
def visit(y, start, stop, step):
    """Stores how many rounds the range has, and a hash of its positions in order."""
    rounds, total = kiln.i64(0), kiln.i64(0)
    for i in range(start, stop, step):
        rounds = rounds + 1
        total = total * 3 + i
    y.store((0,), kiln.full((1,), rounds, kiln.i64))
    y.store((1,), kiln.full((1,), total, kiln.i64))


@kiln.kernel
def constant_step(y: kiln.View[kiln.i64, 1], start: kiln.i64, stop: kiln.i64,
                  STEP: kiln.constexpr = 1):  # fmt: skip
    kiln.grid(1)
    visit(y, start, stop, STEP)


@kiln.kernel
def given_step(y: kiln.View[kiln.i64, 1], start: kiln.i64, stop: kiln.i64, step: kiln.i64):
    kiln.grid(1)
    visit(y, start, stop, step)


@kiln.kernel
def narrow(y: kiln.View[kiln.i64, 1], start: kiln.i32, stop: kiln.i32, step: kiln.i32):
    kiln.grid(1)
    visit(y, start, stop, step)


@kiln.kernel
def constant_start(y: kiln.View[kiln.i64, 1], stop: kiln.i64, step: kiln.i64,
                   START: kiln.constexpr = 0):  # fmt: skip
    kiln.grid(1)
    visit(y, START, stop, step)


@kiln.kernel
def left_early(y: kiln.View[kiln.i64, 1], start: kiln.i64, stop: kiln.i64, limit: kiln.i64,
               STEP: kiln.constexpr = 1):  # fmt: skip
    kiln.grid(1)
    rounds, total = kiln.i64(0), kiln.i64(0)
    for i in range(start, stop, STEP):
        if rounds == limit:
            break
        rounds = rounds + 1
        total = total * 3 + i
    y.store((0,), kiln.full((1,), rounds, kiln.i64))
    y.store((1,), kiln.full((1,), total, kiln.i64))


def expected(*bounds: int) -> list[int]:
    total = 0
    for i in range(*bounds):
        total = (total * 3 + i) % (1 << 64)
    return [len(range(*bounds)), total - (1 << 64 if total >> 63 else 0)]


def check(kernel, where: str, bounds: tuple, *arguments, **constants) -> None:
    y = np.zeros(2, np.int64)
    kernel(y, *arguments, **constants, _device=where)
    if expected(*bounds)[0] != y[0] or expected(*bounds)[1] % (1 << 64) != int(y[1]) % (1 << 64):
        pytest.fail(f"range{bounds} on {where}: {y.tolist()}, expected {expected(*bounds)}")


ENDS = [
    (TOP - 5, TOP, 3), (TOP - 1, TOP, 2), (TOP - 100, TOP, 64), (0, TOP, 1 << 62),
    (BOTTOM, TOP, 1 << 62), (BOTTOM, TOP, TOP), (TOP, TOP, 7), (TOP, BOTTOM, 5),
    (BOTTOM, BOTTOM + 5, 2), (BOTTOM + 5, BOTTOM, -2), (TOP, TOP - 5, -3), (TOP, BOTTOM, BOTTOM),
    (TOP, BOTTOM, -(1 << 62)), (TOP, 0, -(1 << 62)), (BOTTOM, 0, -3), (5, BOTTOM, BOTTOM), (-1, 10, 4), (10, -1, -4), (3, 3, -1),
]  # fmt: skip


@pytest.mark.parametrize("where", ["cpu", *EMULATED])
def test_ranges_end_near_the_ends_of_64_bits(where: str) -> None:
    for bounds in ENDS if where == "cpu" else random.sample(ENDS, 4):
        start, stop, step = bounds
        check(constant_step, where, bounds, start, stop, STEP=step)
        check(left_early, where, bounds, start, stop, TOP, STEP=step)
        if step > 0:
            check(given_step, where, bounds, start, stop, step)


def test_random_ranges() -> None:
    seed = int.from_bytes(os.urandom(4), "little")
    draw = random.Random(seed)
    print("seed", seed)

    def edge(bits: int) -> int:
        top = 1 << (bits - 1)
        near = draw.choice([0, 0, top - 1, -top, top >> 1, -(top >> 1)])
        return max(-top, min(top - 1, near + draw.randint(-200, 200)))

    def steps(start: int, stop: int, bits: int) -> int:
        distance = abs(stop - start)
        least = distance // 40 + 1
        return min(
            (1 << (bits - 1)) - 1, draw.choice([least, least + draw.randint(0, 100), 1 << 62])
        )

    for _ in range(60):
        start, stop = edge(64), edge(64)
        step = steps(start, stop, 64)
        check(given_step, "cpu", (start, stop, step), start, stop, step)
        first = draw.choice([0, 1, -3, 1 << 40])
        check(constant_start, "cpu", (first, stop, max(step, abs(stop - first) // 40 + 1)), stop,
              min(TOP, max(step, abs(stop - first) // 40 + 1)), START=first)  # fmt: skip
        low, high = edge(32), edge(32)
        step = min(steps(low, high, 32), (1 << 31) - 1)
        check(narrow, "cpu", (low, high, step), low, high, step)
    for _ in range(6):
        start, stop = edge(64), edge(64)
        step = steps(start, stop, 64) * draw.choice([1, -1])
        check(constant_step, "cpu", (start, stop, step), start, stop, STEP=step)


def test_ranges_over_programs_and_rows_need_no_guard(lower) -> None:
    def near(x):
        kiln.grid(4)
        for row in range(kiln.program_id(0) * 4, x.shape[0], 16):
            for column in range(row * 8, row * 8 + 8, 2):
                x[row, column] = 1.0

    def far(x, first):
        for row in range(first, first + 8, 4):
            for column in range(row * 8, row * 8 + 8, 2):
                x[row, column] = 1.0

    near, far = lower(near, x=(kiln.f32, 2)), lower(far, x=(kiln.f32, 2), first=kiln.i64)
    assert near.count("scf.for") == far.count("scf.for") == 2
    assert "arith.minui" not in near
    # Positions that a caller gives may be next to 2^63, and so may multiples of them.
    assert far.count("arith.minui") == 2
    assert "4611686018427387904" in far
