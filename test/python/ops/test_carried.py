"""Carried tensors that feed one another: each of a loop's yielded values is made of what the
iteration began with, in whatever order they are written."""

import itertools

import numpy as np
import pytest
from tiles import run

import kiln


@kiln.kernel
def sum_of_halves(out: kiln.View):
    kiln.grid(1)
    m, w = kiln.zeros(1, kiln.f32), kiln.zeros(1, kiln.f32)
    for _ in range(3):
        m = 0.5 * m + 1.0
        w = w + m
    out.store(0, w)


def test_a_carried_tile_that_feeds_the_next():
    out = np.zeros(1, np.float32)
    run(sum_of_halves, out)
    assert out[0] == 4.25


@kiln.kernel
def counted(out: kiln.View, trips: kiln.i32):
    kiln.grid(1)
    n, s = kiln.full(8, 1, kiln.i32), kiln.zeros(8, kiln.i32)
    for _ in range(trips):
        n, s = n + 1, s + n
    out.store(0, s)


@pytest.mark.parametrize("trips, want", [(0, 0), (1, 1), (3, 6), (100, 5050)])
def test_a_tuple_is_assigned_at_once(trips, want):
    out = np.zeros(8, np.int32)
    run(counted, out, trips)
    assert np.all(out == want)


@kiln.kernel
def turned(a: kiln.View, out: kiln.View, ORDER: kiln.constexpr):
    """Five carried tiles: a turn of three, one that is read transposed, one that reads them all."""
    kiln.grid(1)
    t = a.load((0, 0), (16, 16))
    state = (t, t + 1, t + 2, t + 3, t + 4)
    for i in range(5):
        p, q, r, u, v = state
        new = (q, r, p + u, u.T + p, v + p - r + kiln.i32(i))
        state = (new[ORDER[0]], new[ORDER[1]], new[ORDER[2]], new[ORDER[3]], new[ORDER[4]])
    for k in kiln.static_range(5):
        out.store((16 * k, 0), state[k])


@pytest.mark.parametrize("order", list(itertools.permutations(range(5)))[::13])
def test_carried_tiles_in_a_ring(order, rng):
    a = rng.integers(-50, 50, (16, 16), np.int32)
    out = np.zeros((80, 16), np.int32)
    run(turned, a, out, ORDER=order)
    state = [a + k for k in range(5)]
    for i in range(5):
        p, q, r, u, v = state
        new = (q, r, p + u, u.T + p, v + p - r + i)
        state = [new[k] for k in order]
    assert np.array_equal(out, np.concatenate(state))


@kiln.kernel
def taken_from_tiles(a: kiln.View, out: kiln.View):
    """Scalars of carried tiles, and tiles of carried scalars; a condition that reads both."""
    kiln.grid(1)
    t, total, last = a.load(0, 32), kiln.i32(0), kiln.i32(1)
    while total < 1000:
        t, total, last = t + total + last, total + kiln.max(t) + last, kiln.sum(t) % 7
    out.store(0, t + last)
    out[32] = total


def test_scalars_that_depend_on_carried_tiles(rng):
    a = rng.integers(1, 50, 32, np.int32)
    out = np.zeros(33, np.int32)
    run(taken_from_tiles, a, out)
    t, total, last = a, 0, 1
    while total < 1000:
        t, total, last = t + total + last, total + t.max() + last, t.sum() % 7
    assert np.array_equal(out[:32], t + last) and out[32] == total
