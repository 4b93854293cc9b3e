"""Products pinned from Python by drawn tiles on a real GPU of their kind, against float64: of each
dtype that the chip multiplies out of shared memory, as some the emulator does not run, and of
operands that lie either way. Skipped elsewhere; utils/gpu-test runs it."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_machine import torch

import kiln

if torch.cuda.get_device_capability() != (9, 0):
    pytest.skip("the kernels are pinned to sm_90a", allow_module_level=True)


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr, BK: kiln.constexpr, depth: kiln.constexpr,
    copies: kiln.constexpr, flight: kiln.constexpr, TA: kiln.constexpr, TB: kiln.constexpr,
    ACC: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies)))
    acc = kiln.zeros((BM, BN), ACC)
    depth_of_a = a.shape[0] if TA else a.shape[1]
    for k in kiln.pin(range(0, depth_of_a, BK), depth=depth):
        if TA:
            x = kiln.pin(a.load((k, i * BM), (BK, BM)), role="load", stage=0, atom="tma")
        else:
            x = kiln.pin(a.load((i * BM, k), (BM, BK)), role="load", stage=0, atom="tma")
        if TB:
            y = kiln.pin(b.load((j * BN, k), (BN, BK)), role="load", stage=0, atom="tma")
        else:
            y = kiln.pin(b.load((k, j * BN), (BK, BN)), role="load", stage=0, atom="tma")
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_a=TA, transpose_b=TB),
            role="mma", stage=0, in_flight=flight, atom="wgmma",
        )  # fmt: skip
    kiln.pin(c.store((i * BM, j * BN), acc.to(c.dtype)), role="mma", in_flight=0, atom="tma")


KINDS = {
    "bf16": (torch.bfloat16, torch.bfloat16, kiln.f32, 4e-3),
    "f16": (torch.float16, torch.float16, kiln.f32, 1e-3),
    "f8": (torch.float8_e4m3fn, torch.bfloat16, kiln.f32, 5e-3),
    "i8": (torch.int8, torch.int32, kiln.i32, 0),
}


@pytest.mark.parametrize("draw", range(6))
@pytest.mark.parametrize("kind", KINDS)
def test_drawn_product(rng, kind: str, draw: int) -> None:
    rng = np.random.default_rng([draw, int(rng.integers(1 << 62))])

    def pick(choices):
        return choices[rng.integers(len(choices))]

    dtype, out, accumulator, bound = KINDS[kind]
    copies, wide = pick((1, 2)), kind in ("bf16", "f16")
    # Bytes are multiplied along k alone.
    tile = {
        "BM": 64 * copies, "BN": pick((64, 128)), "BK": pick((32, 64)), "depth": pick((2, 3)),
        "copies": copies, "flight": pick((0, 1)), "TA": wide and pick((True, False)),
        "TB": not wide or pick((True, False)),
    }  # fmt: skip
    m, n, k = (16 * int(rng.integers(1, 40)) for _ in range(3))
    shapes = ((k, m) if tile["TA"] else (m, k), (n, k) if tile["TB"] else (k, n))
    if kind == "i8":
        a, b = (torch.randint(-128, 128, s, device="cuda").to(dtype) for s in shapes)
    else:
        a, b = (torch.randn(*s, device="cuda").to(dtype) for s in shapes)
    c = torch.zeros(m, n, device="cuda", dtype=out)
    product(a, b, c, ACC=accumulator, **tile)
    left, right = a.double(), b.double()
    reference = (left.T if tile["TA"] else left) @ (right.T if tile["TB"] else right)
    error = (c.double() - reference).norm() / reference.norm()
    assert error <= bound, (tile, m, n, k)
