"""Loops and conditions around the loads of one role that a number of another role's tensors decides:
it is handed over, and whoever loads waits for it. And sums of copies of a role that another stores.
On emulated chips, against NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from telling_kernels import iterated, so_many, stored, until_large, until_past, where_large

import kiln

BF16 = ml_dtypes.bfloat16
COPIES = [
    ("sm_80", "cp_async"), ("sm_80", "through_registers"), ("sm_90a", "tma"), ("sm_90a", "cp_async"),
    ("sm_90a", "through_registers"), ("sm_100a", "tma"), ("sm_100a", "cp_async"),
    ("gfx942", "load_to_lds"), ("gfx950", "through_registers"), ("gfx1201", "through_registers"),
]  # fmt: skip


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("chip, atom", COPIES)
def test_a_while_that_another_role_ends(
    rng: np.random.Generator, chip: str, atom: str, copies: int
) -> None:
    x = np.abs(rng.standard_normal((128, 1024)) / 4).astype(BF16)
    c, counts = np.zeros((128, 32), np.float32), np.zeros(2, np.int32)
    until_large.options(device=f"emu:{chip}")(
        x, c, counts, atom=atom, depth=int(rng.integers(1, 4)), copies=copies,
        warps=int(rng.choice([1, 2, 4])),
    )  # fmt: skip
    for i in range(2):
        rows, acc, trips = x[64 * i : 64 * i + 64].astype(np.float32), np.zeros((64, 32), "f4"), 0
        while acc.max() < 4:
            acc += rows[:, 32 * trips : 32 * trips + 32]
            trips += 1
        assert counts[i] == trips
        np.testing.assert_allclose(c[64 * i : 64 * i + 64], acc, rtol=1e-6)


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("chip, atom", COPIES)
def test_a_condition_of_another_role(
    rng: np.random.Generator, chip: str, atom: str, copies: int
) -> None:
    x = (rng.standard_normal((128, 32 * int(rng.integers(1, 12)))) / 6).astype(BF16)
    c = np.zeros((128, 32), np.float32)
    where_large.options(device=f"emu:{chip}")(
        x, c, atom=atom, depth=int(rng.integers(1, 4)), copies=copies,
        warps=int(rng.choice([1, 2, 4])),
    )  # fmt: skip
    tiles = x.astype(np.float64).reshape(2, 64, -1, 32).transpose(0, 2, 1, 3)
    large = (tiles.max(axis=(2, 3)) > 0.5)[:, :, None, None]
    np.testing.assert_allclose(c, (tiles**2 * large).sum(axis=1).reshape(128, 32), atol=1e-5)


@pytest.mark.parametrize("bound", [5, 90])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_whole_numbers_that_end_a_while(rng, dtype: type, bound: int) -> None:
    x = rng.integers(0, 9, (128, 1024)).astype(dtype)
    c = np.zeros((128, 32), dtype)
    chip = str(rng.choice(["sm_80", "sm_90a", "gfx942", "gfx1201"]))
    atom = "through_registers" if chip.startswith("gfx") else "cp_async"
    until_past.options(device=f"emu:{chip}")(
        x, c, atom=atom, bound=bound, copies=int(rng.integers(1, 3))
    )
    for i in range(2):
        acc, trips = np.zeros((64, 32), dtype), 0
        while acc.max() < bound:
            acc, trips = acc + x[64 * i : 64 * i + 64, 32 * trips : 32 * trips + 32], trips + 1
        np.testing.assert_array_equal(c[64 * i : 64 * i + 64], acc)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("chip, atom", COPIES)
def test_trips_that_another_role_counts(
    rng: np.random.Generator, chip: str, atom: str, whole: bool
) -> None:
    dtype = str(rng.choice(["i32", "i8"] if whole else ["f32", "bf16"]))
    x = rng.integers(-3, int(rng.integers(-2, 4)) + 1, (128, 512)).astype(BF16)
    c = np.zeros((128, 32), np.float32)
    so_many.options(device=f"emu:{chip}")(
        x, c, atom=atom, depth=int(rng.integers(1, 4)), copies=int(rng.integers(1, 3)),
        warps=int(rng.choice([1, 2, 4])), dtype=getattr(kiln, dtype),
    )  # fmt: skip
    for i in range(2):
        tiles = x[64 * i : 64 * i + 64].astype(np.float64).reshape(64, -1, 32)
        trips = max(int(4 * tiles[:, 0].max()), 0)
        np.testing.assert_array_equal(c[64 * i : 64 * i + 64], tiles[:, :trips].sum(axis=1))


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize(
    "chip, atom, copy, flight",
    [
        ("sm_80", "mma_sync", "cp_async", None), ("sm_90a", "wgmma", "tma", 0),
        ("sm_90a", "mma_sync", "cp_async", None), ("gfx950", "matrix", "load_to_lds", None),
    ],
)  # fmt: skip
def test_products_until_they_are_large(rng, chip, atom, copy, flight, copies: int) -> None:
    rows = 64 * copies
    a = rng.integers(-2, 3, (2 * rows, 64 * int(rng.integers(1, 9)))).astype(BF16)
    c, trips = np.full((2 * rows, 64), np.nan, np.float32), np.zeros(2, np.int32)
    iterated.options(device=f"emu:{chip}")(
        a, c, trips, atom=atom, copy=copy, copies=copies, flight=flight
    )
    x = a.astype(np.float64)
    for i in range(2):
        mine, acc, n = x[rows * i : rows * i + rows], np.zeros((rows, 64)), 0
        while acc.max() < 100 and 64 * n < a.shape[1]:
            k = slice(64 * n, 64 * n + 64)
            acc, n = acc + mine[:, k] @ x[:64, k].T, n + 1
        assert trips[i] == n
        np.testing.assert_array_equal(c[rows * i : rows * i + rows], acc)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize(
    "rows, columns, copies, users, warps",
    [
        (64, 128, 2, 1, 4), (128, 96, 2, 1, 4), (128, 96, 2, 2, 8), (192, 64, 3, 1, 8),
        (192, 64, 3, 3, 4), (64, 192, 3, 3, 4), (192, 96, 3, 3, 4),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "chip, atom, copy, flight",
    [
        ("sm_80", "mma_sync", "cp_async", None), ("sm_90a", "wgmma", "tma", 0),
        ("sm_100a", "tcgen05", "tma", 0), ("gfx950", "matrix", "through_registers", None),
    ],
)  # fmt: skip
def test_sums_that_another_role_stores(
    rng, chip, atom, copy, flight, rows: int, columns: int, copies: int, users: int, warps: int,
    dtype: str,
) -> None:  # fmt: skip
    if chip.startswith("gfx") and 4 + 4 * copies + users * warps > 16:
        pytest.skip("more waves than a block has")
    m, n, k = rows + int(rng.integers(1, 99)), columns + int(rng.integers(1, 99)), 72
    a, b = (rng.integers(-2, 3, (x, k)).astype(BF16) for x in (m, n))
    c = np.full((m, n), np.nan, np.float32 if dtype == "f32" else BF16)
    tile = dict(rows=rows, columns=columns, copies=copies, users=users, warps=warps)

    def run() -> None:
        stored.options(device=f"emu:{chip}")(a, b, c, atom=atom, copy=copy, flight=flight, **tile)

    # Sums that nothing is made of stay in tensor memory, where each copy fetches those of one.
    if chip == "sm_100a" and dtype == "f32" and (users != copies or warps != 4):
        with pytest.raises(kiln.CompileError, match="it in tensor memory|has in tensor memory"):
            run()
        return
    run()
    want = (a.astype(np.float64) @ b.astype(np.float64).T).astype(c.dtype)
    np.testing.assert_array_equal(c, want)


def test_what_threads_cannot_have_is_refused(rng) -> None:
    """Two extents of no power of two, which registers of one copy would both count."""
    a, b = (np.zeros((x, 64), BF16) for x in (192, 96))
    c = np.zeros((192, 96), BF16)
    tile = dict(rows=192, columns=96, copies=3, users=1, warps=4)
    with pytest.raises(kiln.CompileError, match="that one part of a place counts") as refused:
        stored.options(device="emu:sm_90a")(a, b, c, atom="wgmma", copy="tma", flight=0, **tile)
    assert "acc.to(c.dtype)" in str(refused.value) and "3 copies" in str(refused.value)
