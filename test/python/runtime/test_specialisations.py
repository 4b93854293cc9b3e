"""How many specialisations of kernels stay in memory, and what each takes."""

import gc
import os
import random

import numpy as np
import pytest
from runtime_kernels import copy, scale

import kiln
from kiln.runtime import cache
from kiln.runtime.kernel import VARIANTS_BEFORE_A_SWEEP


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


def test_what_a_kernel_keeps_is_bounded(bound) -> None:
    """Constants, options and read-only arrays make variants: those of which nothing is loaded go,
    as do those that cannot be compiled."""
    bound(3)

    @kiln.kernel
    def shifted(x: kiln.View, y: kiln.View, by: kiln.constexpr):
        kiln.static_assert(by != 1000, "not this one")
        y.store(0, x.load(0, (16,)) + by)

    half = shifted.half
    x, y = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    most = 0
    for by in range(150):
        for each in (by, 7):  # 7 is launched again and again, and stays
            shifted[1](x, y, by=each)
            np.testing.assert_array_equal(y, x + each)
        with pytest.raises(kiln.CompileError, match="not this one"):
            shifted.options(grid=1, opt_level=by % 4)(x, y, by=1000)
        most = max(most, len(half._variants))
    assert most <= VARIANTS_BEFORE_A_SWEEP
    assert len(half._settled_variants) <= most
    numbers = set(half._variants)
    shifted[1](x, y, by=7)
    assert set(half._variants) == numbers


def test_threads_whose_variants_go(bound) -> None:
    """A variant that goes between a launch's look-up and its compile is made again."""
    import threading

    bound(2)

    @kiln.kernel
    def shifted(x: kiln.View, y: kiln.View, by: kiln.constexpr):
        y.store(0, x.load(0, (16,)) + by)

    x = np.arange(16, dtype=np.float32)
    shifted.half._sweep_at = 0
    wrong = []

    def run(seed: int) -> None:
        draw, y = random.Random(seed), np.zeros(16, np.float32)
        try:
            for _ in range(60):
                by = draw.randrange(8)
                shifted.half._sweep_at = 0
                shifted[1](x, y, by=by)
                if not (y == x + by).all():
                    wrong.append((by, y.copy()))
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_artifacts_in_memory_are_bounded_by_bytes(python) -> None:
    code = """
import numpy as np
from kiln.runtime import cache
from runtime_kernels import copy
x, most = np.ones(64, np.float32), 0
for block in [2 ** i for i in range(7)] * 2:
    for option in range(4):
        copy.options(opt_level=option)(x, np.zeros_like(x), BLOCK=block)
        most = max(most, cache.describe()["memory_bytes"])
print(most, cache.describe()["max_memory_bytes"], cache.describe()["misses"])
"""
    kept, bound, misses = map(int, python(code, KILN_CACHE_MEMORY="30K")[-1].split())
    assert bound == 30 << 10
    assert kept <= bound < 3 * kept
    kept, bound, fewer = map(int, python(code, KILN_CACHE_MEMORY="")[-1].split())
    assert bound == 64 << 20
    assert kept > 60 << 10
    assert fewer <= misses
