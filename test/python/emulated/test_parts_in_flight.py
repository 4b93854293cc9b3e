"""Products in flight in parts along m, n and k, on emulated chips against float64: parts of what one
slot holds, inside of its swizzled rows too, and sums that a loop carries in parts; and where there can be
none, an error at the product's line."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from part_kernels import attended, filled, linked, multiplied, placed

import kiln

DTYPES = {
    "bf16": ml_dtypes.bfloat16, "f16": np.float16, "e4m3": ml_dtypes.float8_e4m3fn,
    "i8": np.int8, "f32": np.float32,
}  # fmt: skip
FLIGHTS = [0, 1, 2]


def drawn(rng, rows: int, columns: int, dtype) -> np.ndarray:
    """Small whole numbers: sums of their products are exact, however they are cut."""
    return rng.integers(-8, 9, (rows, columns)).astype(dtype)


def run(
    rng, chip: str, dtype=ml_dtypes.bfloat16, ta: bool = False, tb: bool = True, **tile
) -> None:
    """Of extents that fill no tile."""
    given = dict(copy="tma", copies=1, depth=3, store="mma", persistent=False) | tile
    step = 16 // np.dtype(dtype).itemsize
    m, n, k = (int(rng.integers(1, 40)) * step for _ in "mnk")
    a = drawn(rng, *((k, m) if ta else (m, k)), dtype)
    b = drawn(rng, *((n, k) if tb else (k, n)), dtype)
    c = np.zeros((m, n), np.int32 if dtype == np.int8 else np.float32)
    multiplied.options(device=f"emu:{chip}")(a, b, c, ta=ta, tb=tb, **given)
    x, y = (each.astype(np.float64) for each in (a, b))
    want = (x.T if ta else x) @ (y.T if tb else y)
    assert np.array_equal(c, want), (m, n, k, np.abs(c - want).max())


@pytest.mark.parametrize("flight", FLIGHTS)
@pytest.mark.parametrize(
    "tile, parts",
    [
        # Inside of the 128 bytes of a swizzled row; with two rows of pieces; in all three.
        ((64, 64, 64), (1, 1, 2)),
        ((64, 64, 64), (1, 1, 4)),
        ((64, 64, 128), (1, 1, 8)),
        ((64, 128, 64), (1, 2, 1)),
        ((64, 128, 128), (1, 4, 1)),
        ((128, 64, 64), (2, 1, 1)),
        ((128, 64, 128), (2, 1, 1)),
        ((128, 64, 64), (2, 2, 2)),
        ((96, 48, 64), (2, 2, 2)),
    ],
)
def test_parts_of_sums_of_registers(rng, tile, parts, flight: int) -> None:
    BM, BN, BK = tile
    run(rng, "sm_90a", BM=BM, BN=BN, BK=BK, atom="wgmma", parts=parts, flight=flight)


@pytest.mark.parametrize("dtype, BK", [("f16", 64), ("e4m3", 128), ("i8", 128), ("f32", 32)])
@pytest.mark.parametrize("parts", [(1, 1, 2), (1, 1, 4), (1, 2, 2), (2, 1, 1)])
def test_types(rng, dtype: str, BK: int, parts) -> None:
    run(rng, "sm_90a", DTYPES[dtype], BM=128, BN=64, BK=BK, atom="wgmma", parts=parts, flight=1)


@pytest.mark.parametrize("ta", [False, True])
@pytest.mark.parametrize("parts", [(1, 1, 2), (1, 2, 1), (1, 4, 2), (2, 1, 1), (2, 2, 4)])
def test_rows_of_columns(rng, parts, ta: bool) -> None:
    """Operands whose rows in memory are along m or n, of which a part may be some of a row."""
    tile = dict(BM=128, BN=64, BK=64, atom="wgmma", parts=parts, flight=1)
    run(rng, "sm_90a", ta=ta, tb=False, **tile)


@pytest.mark.parametrize("flight", FLIGHTS)
@pytest.mark.parametrize(
    "tile, copies, parts",
    [
        ((128, 128, 64), 2, (1, 1, 2)),
        ((128, 128, 128), 2, (1, 2, 4)),
        # The copies share out columns.
        ((64, 128, 64), 2, (1, 1, 4)),
    ],
)
def test_copies(rng, tile, copies: int, parts, flight: int) -> None:
    BM, BN, BK = tile
    shared = dict(BM=BM, BN=BN, BK=BK, atom="wgmma", copies=copies)
    run(rng, "sm_90a", parts=parts, flight=flight, persistent=bool(flight % 2), **shared)


@pytest.mark.parametrize("copy", ["cp_async", "through_registers"])
@pytest.mark.parametrize("parts", [(1, 1, 2), (1, 2, 1)])
def test_rings_of_other_copies(rng, parts, copy: str) -> None:
    run(rng, "sm_90a", BM=64, BN=64, BK=64, atom="wgmma", copy=copy, parts=parts, flight=1)


@pytest.mark.parametrize("flight", FLIGHTS)
@pytest.mark.parametrize("copy", ["cp_async", "through_registers"])
@pytest.mark.parametrize("parts", [(1, 1, 2), (1, 2, 1), (2, 1, 4)])
def test_rings_of_its_own(rng, parts, copy: str, flight: int) -> None:
    m, n, k = int(rng.integers(1, 129)), int(rng.integers(1, 65)), 8 * int(rng.integers(1, 60))
    a, b = drawn(rng, m, k, DTYPES["f16"]), drawn(rng, n, k, DTYPES["f16"])
    c = np.zeros((m, n), np.float32)
    kernel = filled.options(device="emu:sm_90a")
    kernel(a, b, c, copy=copy, parts=parts, flight=flight, depth=4)
    assert np.array_equal(c, a.astype(np.float64) @ b.astype(np.float64).T), (m, n, k)


@pytest.mark.parametrize("flight, depth", [(1, 2), (2, 2), (3, 3), (4, 3)])
def test_two_parts_are_a_trip(rng, flight: int, depth: int) -> None:
    """So a slot is held for no more trips than it takes them to start as many parts."""
    tile = dict(BM=64, BN=64, BK=64, atom="wgmma", parts=(1, 2, 1))
    run(rng, "sm_90a", flight=flight, depth=depth, **tile)
    with pytest.raises(kiln.CompileError, match=f"expected a depth of at least {depth}"):
        run(rng, "sm_90a", flight=flight, depth=depth - 1, **tile)


@pytest.mark.parametrize("store, flight", [("mma", 0), ("store", 0), ("store", 1)])
@pytest.mark.parametrize(
    "tile, copies, parts",
    [
        ((128, 64, 64), 1, (1, 1, 2)),
        ((128, 128, 64), 1, (1, 2, 1)),
        ((128, 128, 64), 1, (1, 4, 4)),
        ((256, 64, 64), 1, (2, 1, 1)),
        ((256, 64, 128), 1, (2, 2, 2)),
        ((256, 64, 64), 2, (1, 2, 2)),
    ],
)
def test_parts_of_sums_in_tensor_memory(rng, tile, copies, parts, store: str, flight: int) -> None:
    BM, BN, BK = tile
    given = dict(BM=BM, BN=BN, BK=BK, atom="tcgen05", copies=copies, store=store, depth=2)
    run(rng, "sm_100a", parts=parts, flight=flight, persistent=bool(flight), **given)


# The second half a trip later, in front of the first, and both.
PLACES = {
    "later": ((1, 2, 1), 1, ((0, 0), (1, 1)), None),
    "first": ((1, 2, 1), 0, None, ((2, 3), (0, 1))),
    "both": ((1, 2, 1), 1, ((1, 1), (0, 0)), ((0, 1), (2, 3))),
    "along k": ((1, 1, 2), 1, ((0, 0), (1, 1)), None),
}


@pytest.mark.parametrize("flight", FLIGHTS)
@pytest.mark.parametrize("places", PLACES)
def test_places_of_parts(rng, places: str, flight: int) -> None:
    parts, stage, stages, orders = PLACES[places]
    if parts[2] > 1 and flight:
        pytest.skip("a part along k that another adds to a trip later is waited for")
    k = 8 * int(rng.integers(1, 50))
    a, b = drawn(rng, 64, k, DTYPES["bf16"]), drawn(rng, 128, k, DTYPES["bf16"])
    c = np.zeros((64, 128), np.float32)
    placed.options(device="emu:sm_90a")(
        a, b, c, BN=128, flight=flight, parts=parts, stage=stage, stages=stages, orders=orders
    )
    assert np.array_equal(c, a.astype(np.float64) @ b.astype(np.float64).T)


@pytest.mark.parametrize(
    "chip, atom, copies, late",
    [
        ("sm_90a", "wgmma", 1, False),
        ("sm_90a", "wgmma", 2, True),
        ("sm_90a", "wgmma", 1, True),
        # Weights go to tensor memory.
        ("sm_100a", "tcgen05", 1, False),
        ("sm_100a", "tcgen05", 2, False),
    ],
)
@pytest.mark.parametrize("scores, sums", [((1, 2, 2), (1, 1, 2)), ((1, 1, 4), (1, 2, 1)),
                                          ((1, 2, 1), (1, 2, 4))])  # fmt: skip
def test_weights_in_registers(rng, scores, sums, chip, atom, copies: int, late: bool) -> None:
    n, keys = int(rng.integers(1, 150)), int(rng.integers(1, 200))
    q, k, v = (rng.standard_normal((rows, 64)).astype(np.float16) for rows in (n, keys, keys))
    o = np.zeros((n, 64), np.float32)
    attended.options(device=f"emu:{chip}")(
        q, k, v, o, atom=atom, flight=0, copies=copies, scores=scores, sums=sums,
        rows=(64 if atom == "wgmma" else 128) * copies, late=late,
    )  # fmt: skip
    weights = q.astype(np.float64) @ k.astype(np.float64).T
    weights = np.exp(weights - weights.max(axis=1, keepdims=True))
    want = weights / weights.sum(axis=1, keepdims=True) @ v.astype(np.float64)
    assert np.abs(o - want).max() < 3e-3


@pytest.mark.parametrize("parts", [(1, 2, 2), (1, 2, 1)])
@pytest.mark.parametrize(
    "chip, atom, store, flight, promote",
    [
        ("sm_90a", "wgmma", "mma", 0, False),
        ("sm_90a", "wgmma", "mma", 1, False),
        ("sm_90a", "wgmma", "store", 2, False),
        ("sm_90a", "wgmma", "mma", 0, True),
        ("sm_100a", "tcgen05", "mma", 0, False),
        ("sm_100a", "tcgen05", "store", 1, False),
    ],
)
def test_trips_that_nobody_counts(rng, chip, atom, store, flight, promote, parts) -> None:
    for trips in (0, 1, 4):
        order = [int(page) for page in rng.permutation(8)[:trips]]
        following = np.full(8, -7, np.int32)
        for page, after in zip(order, [*order[1:], -1], strict=False):
            following[page] = after
        a, b = drawn(rng, 128, 512, DTYPES["bf16"]), drawn(rng, 64, 512, DTYPES["bf16"])
        c = drawn(rng, 128, 64, np.float32)
        columns = np.array([64 * page + at for page in order for at in range(64)], int)
        x, y = a.astype(np.float64)[:, columns], b.astype(np.float64)[:, columns]
        want = 2 * (c + x @ y.T)
        linked.options(device=f"emu:{chip}")(
            a, b, c, following, order[0] if order else -1, atom=atom, flight=flight, parts=parts,
            promote=promote, store=store,
        )  # fmt: skip
        assert np.array_equal(c, want), order


def code_of(chip: str, parts, stop: str = "target", **tile) -> str:
    view, out = np.zeros((256, 256), DTYPES["bf16"]), np.zeros((256, 256), np.float32)
    given = dict(copy="tma", copies=1, depth=3, ta=False, tb=True, store="mma", persistent=False)
    return multiplied.compile(
        view, view, out, target=f"nvptx:{chip}", parts=parts, _pipeline=f"stop-after={stop}",
        **given | tile,
    ).ir(stop)  # fmt: skip


def test_instructions_are_of_a_part() -> None:
    """As many columns as a part has; and no sum is written or read between trips."""
    tile = dict(BM=128, BN=128, BK=64, atom="wgmma", flight=1)
    schedule = code_of("sm_90a", (1, 2, 2), "schedule", **tile)
    assert set(re.findall(r"m64n\d+k16", schedule)) == {"m64n64k16"}
    loop = max(re.findall(r"scf\.for.*?scf\.yield", schedule, re.S), key=len)
    assert loop.count("tile.start_dot") == 4
    assert not re.search(r"tile\.(pend|concat|slice) ", loop)
    assert re.search(r"of 128x64, #", loop)


def test_no_part_is_ignored() -> None:
    tile = dict(BM=128, BN=128, BK=64, atom="wgmma", flight=1)
    every = [(1, 1, 1), (1, 1, 2), (1, 1, 4), (1, 2, 1), (1, 4, 1), (2, 1, 1), (2, 2, 1), (2, 2, 2)]
    codes = {parts: code_of("sm_90a", parts, **tile) for parts in every}
    assert len(set(codes.values())) == len(every)


@pytest.mark.parametrize(
    "chip, tile, said",
    [
        ("sm_90a", dict(parts=(1, 1, 8)), "expected parts of a multiple of 16 along k"),
        ("sm_90a", dict(parts=(4, 1, 1)), "expected parts of a multiple of 64 along m"),
        ("sm_90a", dict(parts=(1, 32, 1)), "expected parts of a multiple of"),
        (
            "sm_90a",
            dict(parts=(2, 1, 1), copies=2),
            "expected one part along m, which the 2 copies",
        ),
        (
            "sm_100a",
            dict(parts=(2, 1, 1), atom="tcgen05"),
            "expected parts of a multiple of 128 along m",
        ),
    ],
)
def test_what_cannot_hold_is_refused_at_its_line(chip: str, tile, said: str) -> None:
    given = dict(BM=128, BN=128, BK=64, atom="wgmma", flight=0) | tile
    with pytest.raises(kiln.CompileError) as got:
        code_of(chip, **given)
    assert said in str(got.value) and "kiln.dot(x, y, acc, transpose_a=ta" in str(got.value)
