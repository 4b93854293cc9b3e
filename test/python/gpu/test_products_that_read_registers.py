"""Products in flight whose operands are in registers, on a real GPU, against float64: emulated chips
run a product at once, and miss registers that are written too early. Skipped elsewhere;
utils/gpu-test runs it."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_machine import torch
from register_kernels import (
    attended,
    attention,
    reread,
    rereading,
    weighted,
    widened_rows,
)


def drawn(rng, rows: int, columns: int, dtype, most: int = 8):
    """Small whole numbers: sums of their products are exact."""
    return torch.from_numpy(rng.integers(-most, most + 1, (rows, columns))).to("cuda", dtype)


@pytest.mark.parametrize("draw", range(12))
@pytest.mark.parametrize("copy", ["tma", "cp_async", "through_registers"])
def test_weights_that_are_widened_in_registers(rng, copy: str, draw: int) -> None:
    ahead = 0 if copy == "through_registers" else draw % 3
    copies, flight = int(rng.integers(1, 3)), int(rng.integers(4))
    options = dict(
        copy=copy, copies=copies, flight=flight, ahead=ahead,
        depth=flight + 1 + ahead + (copy != "tma") + int(rng.integers(2)), BM=64 * copies,
        BN=int(rng.choice([32, 64, 128])), BK=int(rng.choice([32, 64])),
    )  # fmt: skip
    if options["depth"] * (options["BM"] + 2 * options["BN"]) * options["BK"] > 200_000:
        options["BN"] = 32
    m, n, k = (int(rng.integers(1, most)) * by for most, by in ((900, 1), (40, 16), (120, 16)))
    w, x = drawn(rng, m, k, torch.int8), drawn(rng, n, k, torch.bfloat16)
    c = torch.full((m, n), torch.nan, device="cuda")
    widened_rows(w, x, c, **options)
    assert torch.equal(c.double(), w.double() @ x.double().T), (options, m, n, k)


@pytest.mark.parametrize("later", [1, 2, 3])
@pytest.mark.parametrize("copies", [1, 2])
def test_results_that_a_later_trip_adds(rng, copies: int, later: int) -> None:
    for flight in range(2 * later + 1):
        q = drawn(rng, 64 * copies, 64, torch.bfloat16, 3)
        x = drawn(rng, 64 * int(rng.integers(1, 60)), 64, torch.bfloat16, 3)
        c = torch.full((64 * copies, 64), torch.nan, device="cuda")
        weighted(q, x, c, later, flight, copies)
        halves = (q.double() @ x.double().T * 0.5).bfloat16().double()
        want = halves @ x.double()
        assert float((c.double() - want).abs().max()) <= 1e-6 * float(want.abs().max()), flight


@pytest.mark.parametrize("B", [64, 128])
@pytest.mark.parametrize("D", [64, 128])
def test_rows_that_every_trip_reads(rng, B: int, D: int) -> None:
    """The assembler gave what the trip computes the registers of what all trips read."""
    q = drawn(rng, 40 * 64, D, torch.bfloat16, 2).reshape(40, 64, D)
    bounds = np.cumsum(np.append(0, rng.integers(1, 300, 40))).astype(np.int32)
    x = drawn(rng, int(bounds[-1]), D, torch.bfloat16, 1)
    c = torch.full((40, 64, D), torch.nan, device="cuda")
    attended(q, x, torch.from_numpy(bounds).to("cuda"), c, B, D)
    want = attention(*(a.double().cpu().numpy() for a in (q, x)), bounds)
    assert float(np.abs(c.cpu().numpy() - want).max()) <= 0.01


@pytest.mark.parametrize("looped", [False, True])
@pytest.mark.parametrize("draw", range(4))
def test_weights_that_are_multiplied_again(rng, looped: bool, draw: int) -> None:
    q = drawn(rng, 64, 64, torch.bfloat16, 3)
    rows = 64 * int(rng.integers(2, 40)) if looped else 128
    x = drawn(rng, rows, 64, torch.bfloat16, 3)
    c = torch.full((64, 64), torch.nan, device="cuda")
    reread(q, x, c, looped)
    want = rereading(*(a.double().cpu().numpy() for a in (q, x)))
    assert float(np.abs(c.cpu().numpy() - want).max()) <= 1e-5 * float(np.abs(want).max())
