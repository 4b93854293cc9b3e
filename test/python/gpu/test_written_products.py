"""Products that read from shared memory what warps compute, on a real GPU, against float64: fences and
barriers that emulated chips cannot miss. Skipped elsewhere; utils/gpu-test runs it."""

from __future__ import annotations

import pytest
from gpu_machine import torch
from written_kernels import bytes_across, gathered, left, widened


def drawn(rng, rows: int, columns: int, dtype):
    """Small whole numbers: sums of their products are exact."""
    return torch.from_numpy(rng.integers(-8, 9, (rows, columns))).to("cuda", dtype)


def assert_near(got, want, what: object) -> None:
    error = float((got.double() - want).norm())
    assert error <= 1e-5 * float(want.norm()) + 1e-30, (error, what)


@pytest.mark.parametrize("draw", range(24))
@pytest.mark.parametrize("maker", ["cast", "mma"])
def test_weights_that_are_widened(rng, maker: str, draw: int) -> None:
    dtype = (torch.bfloat16, torch.float16, torch.float32)[rng.integers(3)]
    is_wide, is_over, copies = dtype == torch.float32, bool(draw % 2), int(rng.integers(1, 3))
    tile = dict(
        atom="wgmma", maker=maker, makers=int(rng.integers(1, 3)), copies=copies,
        tb=is_wide or bool(rng.integers(2)), flight=int(is_over),
        depth=int(rng.integers(1 + is_over, 4)), BM=64 * copies,
        BN=int(rng.choice([32, 64, 128])), BK=32 if is_wide else int(rng.choice([32, 64])),
        precision="tf32" if is_wide else "ieee", persistent=bool(rng.integers(2)),
    )  # fmt: skip
    m, n, k = (int(rng.integers(1, most)) * by for most, by in ((900, 1), (40, 16), (30, 64)))
    x = drawn(rng, m, k, dtype)
    w = drawn(rng, n, k, torch.int8) if tile["tb"] else drawn(rng, k, n, torch.int8)
    s, c = torch.ones(n, device="cuda", dtype=dtype), torch.full((m, n), torch.nan, device="cuda")
    s[::3] = 0.5
    widened(x, w, s, c, **tile)
    y = (w if tile["tb"] else w.T).double() * s.double()[:, None]
    assert_near(c, x.double() @ y.T, (tile, m, n, k))


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("BM, BN", [(128, 256), (256, 128), (128, 192)])
def test_registers_that_passes_decide(rng, BM: int, BN: int, persistent: bool) -> None:
    """Warps wait for registers that others give away: for ever, if these are too few."""
    m, n, k = (int(rng.integers(1, most)) * by for most, by in ((900, 1), (40, 16), (30, 64)))
    x, w = drawn(rng, m, k, torch.bfloat16), drawn(rng, n, k, torch.int8)
    s = torch.ones(n, device="cuda", dtype=torch.bfloat16)
    c = torch.full((m, n), torch.nan, device="cuda")
    tile = dict(
        atom="wgmma", maker="cast", makers=int(rng.integers(1, 3)), copies=2, tb=True, flight=1,
        depth=2, BM=BM, BN=BN, BK=64, precision="ieee", persistent=persistent,
    )  # fmt: skip
    widened(x, w, s, c, **tile)
    assert_near(c, x.double() @ w.double().T, (tile, m, n, k))


@pytest.mark.parametrize("draw", range(4))
@pytest.mark.parametrize("ta", [False, True])
@pytest.mark.parametrize("maker", ["cast", "mma"])
def test_the_first_operand_where_it_is_said(rng, maker: str, ta: bool, draw: int) -> None:
    copies = 1 if ta and maker == "mma" else int(rng.integers(1, 3))
    rows, k = 64 * copies, 64 * int(rng.integers(1, 40))
    x = drawn(rng, *((k, rows) if ta else (rows, k)), torch.bfloat16)
    w, c = drawn(rng, 64, k, torch.bfloat16), torch.full((rows, 64), torch.nan, device="cuda")
    tile = dict(atom="wgmma", maker=maker, copies=copies, ta=ta, flight=draw % 2, BM=rows)
    left(x, w, c, **tile)
    y = 2 * x.double() + 1
    assert_near(c, (y.T if ta else y) @ w.double().T, (tile, k))


@pytest.mark.parametrize("maker", ["gather", "mma"])
def test_rows_that_a_list_names(rng, maker: str) -> None:
    x, rows = (drawn(rng, n, 64, torch.bfloat16) for n in (64, 1000))
    pages = torch.from_numpy(rng.integers(0, 1000, 32 * rng.integers(1, 50))).to(
        "cuda", torch.int32
    )
    c = torch.full((64, len(pages)), torch.nan, device="cuda")
    gathered(x, rows, pages, c, atom="wgmma", maker=maker, BM=64)
    assert_near(c, x.double() @ rows.double()[pages.long()].T, len(pages))


@pytest.mark.parametrize("narrowed", [False, True])
@pytest.mark.parametrize("tb", [False, True])
@pytest.mark.parametrize("ta", [False, True])
def test_bytes_that_are_read_along_k_alone(rng, ta: bool, tb: bool, narrowed: bool) -> None:
    m, n, k = 64, int(rng.choice([64, 128])), 64 * int(rng.integers(1, 5))
    x = drawn(rng, *((k, m) if ta else (m, k)), torch.float8_e4m3fn)
    w = drawn(rng, *((n, k) if tb else (k, n)), torch.bfloat16 if narrowed else torch.float8_e4m3fn)
    c = torch.full((m, n), torch.nan, device="cuda")
    tile = dict(
        atom="wgmma", ta=ta, tb=tb, flight=int(rng.integers(2)), BM=m, BN=n, narrowed=narrowed
    )
    bytes_across(x, w, c, **tile)
    x, w = x.double(), w.double()
    assert_near(c, (x.T if ta else x) @ (w.T if tb else w), (tile, k))
