"""Products in flight in parts along m, n and k, on a real GPU, against float64: where descriptors begin
inside of swizzled rows, which hardware alone tells, and sums that stay in registers while others are
multiplied. Skipped elsewhere; utils/gpu-test runs it."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_machine import torch
from part_kernels import attended, multiplied, placed

TYPES = [
    (torch.bfloat16, 64), (torch.float16, 128), (torch.float8_e4m3fn, 128), (torch.int8, 128),
    (torch.float32, 32),
]  # fmt: skip
PARTS = [(1, 1, 2), (1, 1, 4), (1, 2, 1), (2, 1, 1), (1, 2, 2), (2, 2, 4)]


def drawn(rng, rows: int, columns: int, dtype):
    """Small whole numbers: sums of their products are exact."""
    return torch.from_numpy(rng.integers(-8, 9, (rows, columns))).to("cuda", dtype)


def check(rng, dtype, ta: bool, tb: bool, **tile) -> None:
    step = 16 // torch.empty(0, dtype=dtype).element_size()
    m, n, k = (int(rng.integers(1, most)) * step for most in (100, 60, 120))
    a = drawn(rng, *((k, m) if ta else (m, k)), dtype)
    b = drawn(rng, *((n, k) if tb else (k, n)), dtype)
    sums = torch.int32 if dtype == torch.int8 else torch.float32
    c = torch.full((m, n), -1, device="cuda", dtype=sums)
    multiplied(a, b, c, atom="wgmma", copy="tma", store="mma", ta=ta, tb=tb, **tile)
    x, y = a.double(), b.double()
    want = (x.T if ta else x) @ (y.T if tb else y)
    # Sums of products of byte floats keep few bits.
    near = 2e-3 if dtype == torch.float8_e4m3fn else 0.0
    error = float((c.double() - want).norm())
    assert error <= near * float(want.norm()), (error, m, n, k, tile)


@pytest.mark.parametrize("draw", range(3))
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("dtype, BK", TYPES)
def test_types(rng, dtype, BK: int, parts, draw: int) -> None:
    is_shared = parts[0] == 1 and bool(rng.integers(2))
    # Four slots of more take all of shared memory.
    is_wide = BK * torch.empty(0, dtype=dtype).element_size() > 128
    check(
        rng, dtype, False, True, BM=128, BN=64 if is_wide else int(rng.choice([64, 128])), BK=BK, parts=parts,
        flight=draw, copies=2 if is_shared else 1, depth=4, persistent=bool(rng.integers(2)),
    )  # fmt: skip


@pytest.mark.parametrize("ta, tb", [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("parts", [*PARTS, (1, 4, 1), (1, 8, 2)])
def test_rows_of_columns(rng, parts, ta: bool, tb: bool) -> None:
    """A part of 32 or 16 columns begins inside of a row of 64 along n."""
    tile = dict(BM=128, BN=128, BK=64, parts=parts, flight=1, copies=1, depth=3, persistent=False)
    check(rng, torch.bfloat16, ta, tb, **tile)


@pytest.mark.parametrize("flight", [0, 1, 2])
@pytest.mark.parametrize(
    "parts, stage, stages, orders",
    [
        ((1, 2, 1), 1, ((0, 0), (1, 1)), None),
        ((1, 2, 1), 0, None, ((2, 3), (0, 1))),
        ((1, 2, 1), 1, ((1, 1), (0, 0)), ((0, 1), (2, 3))),
    ],
)
def test_places_of_parts(rng, parts, stage: int, stages, orders, flight: int) -> None:
    k = 8 * int(rng.integers(1, 300))
    a, b = drawn(rng, 64, k, torch.bfloat16), drawn(rng, 128, k, torch.bfloat16)
    c = torch.full((64, 128), torch.nan, device="cuda")
    placed(a, b, c, BN=128, flight=flight, parts=parts, stage=stage, stages=stages, orders=orders)
    assert torch.equal(c.double(), a.double() @ b.double().T), k


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("scores, sums", [((1, 2, 2), (1, 1, 2)), ((1, 1, 4), (1, 2, 1))])
def test_weights_in_registers(rng, scores, sums, copies: int, late: bool) -> None:
    n, keys = int(rng.integers(1, 900)), int(rng.integers(1, 900))
    q, k, v = (
        torch.from_numpy(rng.standard_normal((rows, 64)).astype(np.float16)).cuda()
        for rows in (n, keys, keys)
    )
    o = torch.full((n, 64), torch.nan, device="cuda")
    attended(
        q, k, v, o, atom="wgmma", flight=0, copies=copies, scores=scores, sums=sums,
        rows=64 * copies, late=late,
    )  # fmt: skip
    want = torch.softmax(q.double() @ k.double().T, dim=1) @ v.double()
    assert float((o.double() - want).abs().max()) < 3e-3, (n, keys)
