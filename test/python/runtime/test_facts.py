"""Facts about arguments: what a launch is compiled for, and that any arguments give the right
numbers, whatever was compiled before."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings
from runtime_kernels import accumulate, copy2d

import kiln

MEMORY = np.random.default_rng().standard_normal(4096, dtype=np.float32)


@st.composite
def views(draw):
    """(shape, strides in elements, offset) of a view inside MEMORY."""
    shape = draw(
        st.tuples(st.sampled_from([0, 1, 2, 7, 16, 17, 32]), st.sampled_from([1, 5, 8, 12, 16]))
    )
    strides = draw(st.tuples(st.integers(-40, 40), st.integers(-20, 20)))
    reach = [(n - 1) * s if n > 1 else 0 for n, s in zip(shape, strides, strict=True)]
    low, high = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach)
    offset = draw(st.integers(-low, len(MEMORY) - 1 - high))
    return shape, strides, offset


def view_of(memory, view):
    shape, strides, offset = view
    return np.lib.stride_tricks.as_strided(
        memory[offset:], shape, [4 * s for s in strides], writeable=True
    )


@settings(max_examples=150, deadline=None)
@given(views(), st.integers(0, 3))
def test_any_view_is_read_right(view, shift):
    x = view_of(MEMORY, view)
    out = np.full(x.size + shift, np.nan, np.float32)[shift:].reshape(x.shape)
    copy2d(x, out)
    np.testing.assert_array_equal(out, x)


@settings(max_examples=150, deadline=None)
@given(views())
def test_any_view_is_written_right_and_nothing_else(view):
    shape, strides, _ = view
    if any(s == 0 and n > 1 for n, s in zip(shape, strides, strict=True)):
        return
    index = view_of(np.arange(len(MEMORY), dtype=np.int32), view)
    if len(np.unique(index)) != index.size:
        return  # elements that share memory: which one stays is open
    memory = MEMORY.copy()
    x = np.arange(index.size, dtype=np.float32).reshape(index.shape) + 10_000
    copy2d(x, view_of(memory, view))
    expected = MEMORY.copy()
    expected[index.reshape(-1)] = x.reshape(-1)
    np.testing.assert_array_equal(memory, expected)


def compiled_facts(kernel, *arguments):
    return [a.get("facts", {}) for a in kernel.warmup(*arguments).metadata["arguments"]]


def test_alignment_and_divisibility_are_compiled_for():
    base = np.zeros(16 * 65, np.float32)
    assert base.ctypes.data % 16 == 0
    aligned, odd = base[:1024], base[1:18]
    facts = compiled_facts(accumulate, aligned, odd)
    assert facts[0]["pointer"] == 16 and facts[0]["extents"] == [16]
    assert facts[1]["pointer"] == 4 and not any(facts[1].get("extents", []))


def test_a_ragged_extent_is_compiled_for_its_largest_power_of_two():
    base = np.zeros(8192, np.float32)
    for extent, multiple in ((5000, 8), (5004, 4), (5002, 2), (5008, 16)):
        assert compiled_facts(accumulate, base[:extent], base)[0]["extents"] == [multiple]
    assert not any(compiled_facts(accumulate, base[:5001], base)[0].get("extents", []))
    assert not any(compiled_facts(accumulate, base[:0], base)[0].get("extents", []))


def test_an_array_without_elements_is_compiled_for_as_a_dense_one():
    x, out = np.zeros((0, 32), np.float32), np.zeros((0, 32), np.float32)
    for argument in copy2d.warmup(x, out).metadata["arguments"][:2]:
        assert argument["strides"] == [None, 1] and argument["facts"]["strides"] == [16, 4]


def test_facts_can_be_left_out():
    @kiln.kernel(no_facts=("x",))
    def plain(x: kiln.View, y: kiln.View):
        kiln.grid(1)
        y.store((0,), x.load((0,), (16,)))

    base = np.zeros(64, np.float32)
    assert plain.warmup(base, base) is not None
    first = plain.warmup(base[:16], base)
    assert plain.warmup(base[1:18], base) is first


def test_overlap_is_tested_at_each_launch():
    @kiln.kernel
    def shift(x: kiln.View, y: kiln.View):
        kiln.grid(1)
        y.store((0,), x.load((0,), (16,)) + 1.0)

    base = np.arange(64, dtype=np.float32)
    expected = base.copy()
    expected[16:32] = base[:16] + 1
    shift(base[:16], base[16:32])
    np.testing.assert_array_equal(base, expected)
    apart = compiled_facts(shift, base[:16], base[16:32])
    overlapping = compiled_facts(shift, base[:16], base[8:24])
    assert apart[0].get("noalias") and not overlapping[0].get("noalias")
    expected[8:24] = expected[:16] + 1
    shift(base[:16], base[8:24])
    np.testing.assert_array_equal(base, expected)
