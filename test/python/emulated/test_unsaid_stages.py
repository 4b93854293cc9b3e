"""Rings of which nobody says when they are read, by products in flight: on emulated chips, against
float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def squared(
    a: kiln.View, c: kiln.View,
    depth: kiln.constexpr, flight: kiln.constexpr, copy: kiln.constexpr, twice: kiln.constexpr,
):  # fmt: skip
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=depth):
        x = kiln.pin(a.load((0, k), (64, 32)), atom=copy)
        acc = kiln.pin(kiln.dot(x, x, acc, transpose_b=True), atom="wgmma", in_flight=flight)
        if twice:
            y = kiln.pin(a.load((0, k), (64, 32)), atom=copy)
            acc = kiln.pin(kiln.dot(y, y, acc, transpose_b=True), atom="wgmma", in_flight=flight)
    c.store((0, 0), acc)


# The least slots by what is in flight, of one use a trip and of two.
LEAST = {
    ("cp_async", False): (1, 2, 3),
    ("through_registers", False): (2, 3, 4),
    ("cp_async", True): (2, 3, 4),
    ("through_registers", True): (4, 5, 6),
}


@pytest.mark.parametrize("flight", [0, 1, 2])
@pytest.mark.parametrize("copy, twice", list(LEAST))
def test_every_depth_from_the_least_on(rng, copy: str, twice: bool, flight: int) -> None:
    least = LEAST[copy, twice][flight]
    kernel = squared.options(device="emu:sm_90a")
    for depth in range(1, least + 2):
        a = rng.standard_normal((64, 32 * int(rng.integers(1, 9)))).astype(BF16)
        c = np.zeros((64, 64), np.float32)
        constants = {"depth": depth, "flight": flight, "copy": copy, "twice": twice}
        if depth < least:
            message = rf"expected at least {least} slots \('depth'\).*'in_flight' is {flight}"
            with pytest.raises(kiln.CompileError, match=message):
                kernel(a, c, **constants)
            continue
        kernel(a, c, **constants)
        reference = (1 + twice) * (a.astype(np.float64) @ a.astype(np.float64).T)
        assert np.linalg.norm(c - reference) <= 1e-5 * np.linalg.norm(reference), constants
