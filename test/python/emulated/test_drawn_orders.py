"""KILN_EMULATED_SEED draws in which order programs, warps and lanes of an emulated chip go on."""

from __future__ import annotations

import numpy as np
import pytest

import kiln


@kiln.kernel
def tickets(counter: kiln.View, taken: kiln.View):
    """Each thread takes the next number."""
    i = kiln.grid(8)
    at = kiln.full((256,), 0, kiln.i32)
    number = kiln.atomic_add(counter, (at,), kiln.full((256,), 1, kiln.i32), order="relaxed")
    taken.store((i * 256,), number)


def taken(monkeypatch, chip: str, seed: int) -> np.ndarray:
    monkeypatch.setenv("KILN_EMULATED_SEED", str(seed))
    counter, numbers = np.zeros(1, np.int32), np.zeros(8 * 256, np.int32)
    tickets.options(device=f"emu:{chip}")(counter, numbers)
    assert sorted(numbers) == list(range(8 * 256))
    return numbers


@pytest.mark.parametrize("chip, lanes", [("sm_90a", 32), ("gfx942", 64)])
def test_a_seed_draws_an_order_of_programs_warps_and_lanes(monkeypatch, chip, lanes) -> None:
    first, again, other = (taken(monkeypatch, chip, seed) for seed in (7, 7, 8))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    in_turn = taken(monkeypatch, chip, 0)
    for drawn in (first, other):
        for size in (256, lanes, 1):  # who comes first of two that follow one another
            before = [numbers.reshape(-1, size).min(axis=1) for numbers in (in_turn, drawn)]
            assert not np.array_equal(*(np.argsort(each) for each in before)), size
