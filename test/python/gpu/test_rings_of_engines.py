"""Roles that use what an engine brings them, on a real GPU, against float64. Skipped elsewhere;
utils/gpu-test runs it."""

from __future__ import annotations

import engine_kernels
import pytest
from gpu_machine import torch


def drawn(rng, rows: int, columns: int):
    """Small whole numbers: sums of their products are exact."""
    return torch.from_numpy(rng.integers(-8, 9, (rows, columns))).to("cuda", torch.bfloat16)


@pytest.mark.parametrize("way", ["warps", "copies", "waits", "turns", "shared", "persistent"])
def test_products(rng, way: str) -> None:
    for _ in range(4):
        flies = way not in ("warps", "waits")
        depth = int(rng.integers(2, 5)) + flies
        schedule = dict(depth=depth, stage=int(rng.integers(0, depth - flies)))
        schedule["atom"] = "mma_sync" if way == "warps" else "wgmma"
        if way != "warps":
            schedule["flight"] = int(flies)
        if way == "copies":
            schedule |= dict(copies=2, M=128, N=128)
        if way == "shared":
            schedule["shared"] = True
        if way in ("turns", "persistent"):
            schedule |= dict(programs=int(rng.integers(1, 200)), turns=1 + (way == "turns"))
        m, n, k = (
            int(rng.integers(1, 1500)),
            int(rng.integers(1, 900)),
            8 * int(rng.integers(1, 300)),
        )
        a, b = drawn(rng, m, k), drawn(rng, n, k)
        c = torch.full((m, n), torch.nan, device="cuda")
        engine_kernels.product(a, b, c, **schedule)
        assert torch.equal(c.double(), a.double() @ b.double().T), (schedule, m, n, k)


def tiles(a):
    return a.double().reshape(64, -1, 64).swapaxes(0, 1)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_slots_that_are_filled_again(rng, depth: int) -> None:
    for _ in range(4):
        count, below = int(rng.integers(1, 60)), int(rng.integers(1, 9))
        a, b = drawn(rng, 64, 64 * count), drawn(rng, 64 * below, 64 * count)
        c, d = (torch.full((64, 64), torch.nan, device="cuda") for _ in "cd")
        engine_kernels.both(a, c, d, depth=depth)
        assert torch.equal(c.double(), tiles(a).sum(0)), count
        assert torch.equal(d.double(), tiles(a).max(0)[0]), count
        engine_kernels.sequence(a, c, depth=depth)
        assert torch.equal(c.double(), 3 * tiles(a).sum(0)), count
        engine_kernels.nest(a, b, c, outer=depth, inner=int(rng.integers(1, 4)))
        want = (tiles(a) * sum(tiles(part) for part in b.split(64))).sum(0)
        assert torch.equal(c.double(), want), (count, below)
        flags = torch.from_numpy(rng.integers(0, 2, count)).to("cuda", torch.int32)
        engine_kernels.chosen(a, flags, c, depth=depth, atom="wgmma")
        left = tiles(a) * (flags > 0)[:, None, None]
        assert torch.equal(c.double(), (left @ left.transpose(1, 2)).sum(0)), count
        engine_kernels.until(a.abs(), c, depth=depth)
        want = torch.zeros(64, 64, dtype=torch.float64, device="cuda")
        for tile in tiles(a.abs()):
            want += tile * (want.max() < 4)
        assert torch.equal(c.double(), want), count
