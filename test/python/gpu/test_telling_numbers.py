"""Numbers of one role's tensors that tell another what to load, and sums that a role of their own
stores, on a real GPU, where roles run beside one another: the same bits each time, against float64."""

from __future__ import annotations

import pytest
from gpu_machine import assert_same_bits, torch
from telling_kernels import iterated, so_many, stored, until_large, where_large

if torch.cuda.get_device_capability() != (9, 0):
    pytest.skip("the kernels are pinned to sm_90a", allow_module_level=True)

COPIES = pytest.mark.parametrize("copies", [1, 2])
ATOMS = pytest.mark.parametrize("atom", ["tma", "cp_async", "through_registers"])


@COPIES
@ATOMS
@pytest.mark.parametrize("depth, warps", [(1, 4), (2, 1), (3, 2)])
def test_a_while_that_another_role_ends(atom: str, depth: int, warps: int, copies: int) -> None:
    x = (torch.randn(64 * 500, 1024, device="cuda") / 4).abs().bfloat16()
    c, counts = torch.zeros(64 * 500, 32, device="cuda"), torch.zeros(500, device="cuda").int()
    until_large(x, c, counts, atom=atom, depth=depth, copies=copies, warps=warps)
    sums = x.float().reshape(500, 64, 32, 32).cumsum(2)
    trips = 1 + (sums.amax((1, 3)) < 4).sum(1)
    assert torch.equal(counts.long(), trips)
    want = sums[torch.arange(500, device="cuda"), :, trips - 1]
    torch.testing.assert_close(c.reshape(500, 64, 32), want, rtol=1e-5, atol=1e-5)


@COPIES
@ATOMS
@pytest.mark.parametrize("depth, warps", [(1, 4), (2, 1), (3, 2)])
def test_a_condition_of_another_role(atom: str, depth: int, warps: int, copies: int) -> None:
    x = (torch.randn(64 * 500, 640, device="cuda") / 7).bfloat16()
    c = torch.zeros(64 * 500, 32, device="cuda")

    def run() -> torch.Tensor:
        where_large(x, c, atom=atom, depth=depth, copies=copies, warps=warps)
        return c.clone()

    assert_same_bits(run)
    tiles = x.double().reshape(500, 64, 20, 32)
    large = (tiles.amax((1, 3)) > 0.5)[:, None, :, None]
    want = (tiles**2 * large).sum(2).reshape(-1, 32)
    assert (c.double() - want).abs().max() <= 1e-5


@COPIES
@ATOMS
def test_trips_that_another_role_counts(atom: str, copies: int) -> None:
    import kiln

    x = torch.randint(-3, 4, (64 * 500, 512), device="cuda").bfloat16()
    x.reshape(500, -1)[::7] = -1
    c = torch.zeros(64 * 500, 32, device="cuda")
    so_many(x, c, atom=atom, depth=2, copies=copies, warps=2, dtype=kiln.f32)
    tiles = x.double().reshape(500, 64, 16, 32)
    trips = (4 * tiles[:, :, 0].amax((1, 2))).clamp(min=0)
    some = torch.arange(16, device="cuda")[None, :] < trips[:, None]
    want = (tiles * some[:, None, :, None]).sum(2).reshape(-1, 32)
    assert torch.equal(c.double(), want)


@COPIES
def test_products_until_they_are_large(copies: int) -> None:
    rows = 64 * copies
    a = torch.randint(-2, 3, (rows * 200, 64 * 30), device="cuda").bfloat16()
    c, trips = torch.zeros(rows * 200, 64, device="cuda"), torch.zeros(200, device="cuda").int()
    iterated(a, c, trips, atom="wgmma", copy="tma", copies=copies, flight=0)
    x = a.double().reshape(200, rows, 30, 64).transpose(1, 2)
    sums = (x @ x[0, :, :64].transpose(1, 2)).cumsum(1)
    least = (sums.amax((2, 3)).cummax(1).values < 100).sum(1).clamp(max=29)
    assert torch.equal(trips.long(), least + 1)
    want = sums[torch.arange(200, device="cuda"), least].reshape(-1, 64)
    assert torch.equal(c.double(), want)


@pytest.mark.parametrize(
    "rows, columns, copies, users, warps",
    [
        (64, 128, 2, 1, 4), (128, 96, 2, 1, 4), (128, 96, 2, 2, 8), (192, 64, 3, 1, 8),
        (192, 64, 3, 3, 4), (64, 192, 3, 3, 4), (192, 96, 3, 3, 4),
    ],
)  # fmt: skip
def test_sums_that_another_role_stores(
    rows: int, columns: int, copies: int, users: int, warps: int
) -> None:
    a = torch.randint(-2, 3, (rows * 20 + 8, 520), device="cuda").bfloat16()
    b = torch.randint(-2, 3, (columns * 20 + 8, 520), device="cuda").bfloat16()
    c = torch.zeros(len(a), len(b), device="cuda")

    def run() -> torch.Tensor:
        stored(
            a, b, c, atom="wgmma", copy="tma", flight=0, rows=rows, columns=columns, copies=copies,
            users=users, warps=warps,
        )  # fmt: skip
        return c.clone()

    assert_same_bits(run)
    assert torch.equal(c.double(), a.double() @ b.double().T)
