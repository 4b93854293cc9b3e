"""The kernels of the suite `memory` compute on the CPU what they say, against float64; and how they
narrow to f4. test_every_benchmark.py runs them on emulated chips."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from every_kernel import BF16, Run
from memory_runs import RUNS

import kiln


@pytest.mark.parametrize("name", RUNS)
def test_on_the_cpu(rng, name: str) -> None:
    RUNS[name](Run("benchmarks", "memory_kernels.py", "cpu"), rng)


@kiln.kernel(fast_math=True)
def narrow_to_f4(x: kiln.View, out: kiln.View, BLOCK: kiln.constexpr):
    i = kiln.grid(kiln.cdiv(x.shape[0], BLOCK))
    out.store((i * BLOCK,), x.load((i * BLOCK,), (BLOCK,)).to(kiln.f4e2m1fn))


@pytest.mark.parametrize("device", ["cpu", "emu:sm_90a"])
def test_every_bf16_to_f4(device):
    """Every number: ties, subnormals, both zeros, and what is too large. Fast mathematics says
    nothing of NaN and infinities."""
    x = np.arange(1 << 16, dtype=np.uint16).view(BF16)
    x = x[np.isfinite(x.astype(np.float32))]
    out = kiln.PackedArray.empty(x.shape, "f4e2m1fn")
    narrow_to_f4.options(device=device)(x, out, BLOCK=4096)
    wanted = x.astype(np.float32).astype(ml_dtypes.float4_e2m1fn)
    assert np.array_equal(out.to_numpy().view(np.uint8), wanted.view(np.uint8))
