"""Runs of elements below a byte, moved by whole words: from any bit, and beside others' bits."""

import numpy as np
import pytest

import kiln

NAMES = ["i4", "u4", "i2", "u2", "f4e2m1fn", "f6e2m3fn", "f6e3m2fn"]


def bits_of(name):
    return kiln.PackedArray.empty((1,), name).dtype.bits


def random_packed(rng, shape, name):
    """An array of random bits, and the bits of its elements one in each byte."""
    bits, count = bits_of(name), int(np.prod(shape))
    data = rng.integers(0, 256, (count * bits + 7) // 8).astype(np.uint8)
    return kiln.PackedArray(data, shape, name), elements(data, bits)[:count].reshape(shape)


def elements(data, bits):
    every = np.unpackbits(data, bitorder="little")
    whole = every[: every.size // bits * bits].reshape(-1, bits)
    return (whole << np.arange(bits)).sum(axis=1).astype(np.uint8)


@kiln.kernel
def move(
    x: kiln.View, y: kiln.View, row: kiln.i64, column: kiln.i64, to: kiln.i64,
    A: kiln.constexpr, B: kiln.constexpr,
):  # fmt: skip
    kiln.grid(1)
    y.store((row, to), x.load((row, column), (A, B)))


@pytest.mark.parametrize("name", NAMES)
def test_a_tile_from_any_bit_to_any_bit(rng, name):
    for columns in (64, 37, 101):
        for height, width in ((2, 16), (3, 64), (1, 24), (4, 4), (1, 7)):
            x, source = random_packed(rng, (9, columns), name)
            y, wanted = random_packed(rng, (9, columns), name)
            row = int(rng.integers(0, 9))
            column, to = (int(n) for n in rng.integers(-3, columns, 2))
            move(x, y, row, column, to, A=height, B=width)
            for i in range(row, min(row + height, 9)):
                for j in range(width):
                    if 0 <= to + j < columns:
                        inside = 0 <= column + j < columns
                        wanted[i, to + j] = source[i, column + j] if inside else 0
            got = elements(y.data, bits_of(name))[: 9 * columns].reshape(9, columns)
            assert np.array_equal(got, wanted), (columns, height, width, row, column, to)


@kiln.kernel
def copy_rows(x: kiln.View, y: kiln.View, N: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    y.store((i, 0), x.load((i, 0), (1, N)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("columns", [33, 47, 128])
def test_programs_that_share_bytes(rng, name, columns):
    """Rows that begin within a byte: each program writes some bits of its neighbour's bytes."""
    x, _ = random_packed(rng, (2000, columns), name)
    bits = 2000 * columns * bits_of(name)
    assert bits % 8 == 0
    y = kiln.PackedArray.empty((2000, columns), name)
    copy_rows(x, y, N=64)
    if columns <= 64:
        assert np.array_equal(y.data, x.data)
        return
    got = elements(y.data, bits_of(name)).reshape(2000, columns)
    want = elements(x.data, bits_of(name)).reshape(2000, columns)
    assert np.array_equal(got[:, :64], want[:, :64]) and not got[:, 64:].any()


@pytest.mark.parametrize("name", NAMES)
def test_no_element_is_fetched_alone(name):
    """Tiles that lie inside their view."""
    array = kiln.PackedArray.empty((64, 128), name)
    text = copy_rows.compile(array, array, N=128, target="cpu").ir("target")
    before = text[: text.index("} else {")]
    assert "fshr" in before and "masked.gather" not in before, text
