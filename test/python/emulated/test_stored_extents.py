"""Tiles of extents that are no powers of two that an engine stores, without a product: by one copy of
a role, by copies that share them out, or by another role. Elements are whole numbers, so results are
exact."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

CHIPS = ["sm_90a", "sm_100a"]
DTYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f8": ml_dtypes.float8_e4m3fn}
UNTOUCHED = 99


@kiln.kernel
def stored(
    a: kiln.View, c: kiln.View, M: kiln.constexpr, N: kiln.constexpr, copies: kiln.constexpr = 1,
    beside: kiln.constexpr = False, in_flight: kiln.constexpr = None, trips: kiln.constexpr = 1,
):  # fmt: skip
    """Tiles of `a`, doubled, so many below one another a program; stored by a role of its own if
    `beside`."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], M * trips), kiln.cdiv(c.shape[1], N))
    work = kiln.role("work", warps=4, copies=copies)
    kiln.pin(roles=(work, kiln.role("out", warps=1)) if beside else work)
    for trip in range(0, trips):
        row = (i * trips + trip) * M
        t = kiln.pin(a.load((row, j * N), (M, N)), role="work")
        t = kiln.pin(t + t, role="work")
        kiln.pin(
            c.store((row, j * N), t),
            role="out" if beside else "work",
            atom="tma",
            in_flight=in_flight,
        )


def check(rng, chip: str, dtype: str, shape: tuple[int, int], **tile) -> None:
    """Around what is stored nothing changes: the arguments are views of larger arrays."""
    rows, columns = shape
    a = rng.integers(-8, 9, shape).astype(DTYPES[dtype])
    c = np.full((rows + 8, columns), UNTOUCHED, DTYPES[dtype])
    stored.options(device=f"emu:{chip}")(a, c[:rows], **tile)
    np.testing.assert_array_equal(c[:rows].astype(np.float64), 2 * a.astype(np.float64))
    assert (c[rows:] == DTYPES[dtype](UNTOUCHED)).all()


TILES = [(64, 96), (96, 64), (64, 24), (192, 64), (64, 40), (96, 96), (48, 160)]


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("chip", CHIPS)
def test_tiles_end_inside_and_outside(rng, chip, tile, dtype, copies, beside) -> None:
    """One program whose tile is all of the arguments, one whose tile ends outside, and four of which
    the first ends inside."""
    M, N = tile
    if N * np.dtype(DTYPES[dtype]).itemsize % 16:
        pytest.skip("an engine's rows are multiples of 16 bytes")
    for shape in ((M, N), (M - 8, N - 16), (M + 24, N + 16)):
        if min(shape) > 0:
            check(rng, chip, dtype, shape, M=M, N=N, copies=copies, beside=beside)


@pytest.mark.parametrize("in_flight", [0, 1, 2])
@pytest.mark.parametrize("M, N", [(64, 96), (96, 64), (24, 160)])
def test_boxes_in_flight(rng, M, N, in_flight) -> None:
    """A buffer is written again once all pieces of the box that was in it are stored."""
    check(rng, "sm_90a", "f32", (3 * M - 8, N), M=M, N=N, in_flight=in_flight, trips=3)


def test_rows_of_no_pieces_are_refused() -> None:
    """24 elements of a byte are no multiple of 16 bytes, which is what the engine moves."""
    a = np.zeros((64, 32), DTYPES["f8"])
    message = "expected a tile that begins at a multiple of 16 bytes along its rows"
    with pytest.raises(kiln.CompileError, match=message) as refused:
        stored.compile(a, a, M=64, N=24, target="nvptx:sm_90a")
    assert "test_stored_extents.py" in str(refused.value)


def test_rows_that_copies_cannot_share_out_they_share_by_columns(rng) -> None:
    """192 rows of 256 are no two alike, 32 of 64 columns are."""
    a = np.zeros((192, 64), np.float32)
    text = stored.compile(a, a, M=192, N=64, copies=2, target="nvptx:sm_90a").ir("schedule")
    assert "256x32xf32" in text, text
    check(rng, "sm_90a", "f32", (192, 64), M=192, N=64, copies=2)
