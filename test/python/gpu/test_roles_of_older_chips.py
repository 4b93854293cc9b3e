"""Roles as sm_80 has them, on a real GPU of any later kind: its driver assembles their PTX, which the
runtime, who loads a kernel for the chip that is there, does not. Against float64."""

from __future__ import annotations

import pytest
from gpu_machine import torch
from role_kernels import PLAIN, attention, product


def launch(kernel, blocks: int, *arguments: torch.Tensor, **constants) -> None:
    """Compiles for sm_80 and launches along one axis."""
    from cuda_driver import Driver

    made = kernel.compile(*arguments, target="nvptx:sm_80", **constants)
    assert "test_wait" in made.asm and "try_wait" not in made.asm
    facts, numbers = made.metadata, []
    for entry in facts["abi"]:
        tensor = arguments[entry["arg"]]
        if entry["kind"] == "pointer":
            numbers.append(tensor.data_ptr())
        else:
            numbers.append(
                {"extent": tensor.size, "stride": tensor.stride}[entry["kind"]](entry["dim"])
            )
    threads = facts["warps"] * facts["warp_size"]
    torch.cuda.synchronize()
    driver = Driver()
    module = driver.load(made.asm)
    module.launch(facts["kernel"], blocks, threads, tuple(numbers), (), facts["shared_bytes"])
    driver.synchronize()


def matrix(rows: int, columns: int) -> torch.Tensor:
    return torch.randn(rows, columns, device="cuda").bfloat16()


@pytest.mark.parametrize("copy_a", ["cp_async", "through_registers"])
@pytest.mark.parametrize("copy_b", ["cp_async", "through_registers"])
@pytest.mark.parametrize("stores", ["mma", "store"])
@pytest.mark.parametrize("loaders, copies", [(1, 1), (1, 2), (2, 2)])
def test_product(copy_a: str, copy_b: str, stores: str, loaders: int, copies: int) -> None:
    """Of more programs than run at once, and trips than a ring has slots."""
    schedule = PLAIN | dict(
        copy_a=copy_a, copy_b=copy_b, stores=stores, loaders=loaders, copies=copies, depth_a=3,
        lanes=True,
    )  # fmt: skip
    for m, k in ((128 * 3000, 64), (1000, 4096), (128, 32), (77, 96)):
        a, b = matrix(m, k), matrix(64, k)
        c = torch.full((m, 64), float("nan"), device="cuda")
        launch(product, -(-m // 128), a, b, c, **schedule)
        x, y = a.double().clamp(min=0), b.double()
        assert ((c.double() - x @ y.T).abs() <= 2.0**-18 * (x.abs() @ y.T.abs()) + 1e-6).all()


@pytest.mark.parametrize("copy", ["cp_async", "through_registers"])
@pytest.mark.parametrize("later", [0, 1])
@pytest.mark.parametrize("copies", [1, 2])
def test_attention(copy: str, later: int, copies: int) -> None:
    for rows, keys in ((64 * 2000, 320), (1000, 2000), (64, 32), (33, 7)):
        q, k, v = 0.3 * matrix(rows, 64), matrix(keys, 64), matrix(keys, 64)
        out = torch.full((rows, 64), float("nan"), device="cuda")
        # Two programs, which run the tiles in turn.
        launch(attention, 2, q, k, v, out, copy=copy, depth=2 + later, copies=copies, later=later)
        scores = q.double() @ k.double().T
        weights = torch.exp2(scores - scores.amax(1, keepdim=True))
        want = weights @ v.double() / weights.sum(1, keepdim=True)
        assert (out.double() - want).abs().max() <= 1e-2 * want.abs().max(), (rows, keys)
