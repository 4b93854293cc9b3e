"""How many specialisations of kernels stay in memory, and what each takes."""

import gc
import os
import random

import numpy as np
import pytest
from runtime_kernels import copy, scale

from kiln.runtime import cache


@pytest.fixture
def bound():
    before = cache.specialisations()["max"]
    yield cache.set_max_specialisations
    cache.set_max_specialisations(before)


def test_random_launches_under_a_small_bound(bound) -> None:
    """Whichever went, each launch computes what it says, and as few stay as are allowed."""
    seed = int.from_bytes(os.urandom(4), "little")
    draw = random.Random(seed)
    bound(4)
    evicted = cache.specialisations()["evicted"]
    for _ in range(60):
        size, block = draw.choice([1, 7, 16, 48, 333]), draw.choice([16, 32, 64])
        x = np.arange(size + 1, dtype=draw.choice([np.float32, np.float64, np.int32]))
        x = x[draw.choice([0, 1]) :][:size]
        y = np.zeros_like(x)
        if x.dtype == np.float32 and draw.random() < 0.5:
            scale(x, y, 2.0, BLOCK=block)
            np.testing.assert_array_equal(y, x * 2, str(seed))
        else:
            copy(x, y, BLOCK=block)
            np.testing.assert_array_equal(y, x, str(seed))
        assert cache.specialisations()["loaded"] <= 4
    assert cache.specialisations()["evicted"] > evicted


def mappings() -> int:
    with open("/proc/self/maps") as lines:
        return sum(1 for _ in lines)


def test_each_takes_one_mapping_at_most_and_gives_it_back(bound) -> None:
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    copy(x, y, BLOCK=1)
    gc.collect()
    bound(0)
    before = mappings()
    for block in range(2, 42):
        copy(x, y, BLOCK=block)
    gc.collect()
    assert mappings() - before <= 50
    bound(1)
    copy(x, y, BLOCK=50)
    gc.collect()
    assert cache.specialisations()["loaded"] == 1
    assert mappings() - before <= 15


def test_the_environment_sets_the_bound(python) -> None:
    code = """
import numpy as np
from kiln.runtime import cache
from runtime_kernels import copy
x = np.ones(64, np.float32)
for block in (1, 2, 4, 8, 16):
    copy(x, np.zeros_like(x), BLOCK=block)
print(cache.specialisations())
"""
    assert python(code, KILN_MAX_SPECIALISATIONS="2") == ["{'evicted': 3, 'loaded': 2, 'max': 2}"]
    done = python(code, check=False, KILN_MAX_SPECIALISATIONS="many")
    assert "expected KILN_MAX_SPECIALISATIONS to be a number, 0 for no bound, got 'many'" in (
        done.stderr
    )
