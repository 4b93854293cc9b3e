"""A process that runs many kernels on an emulated chip: none keeps shared memory once it has run."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import kiln


@kiln.kernel
def scaled(x: kiln.View, c: kiln.View, factor: kiln.constexpr):
    i = kiln.grid(kiln.cdiv(x.shape[0], 256))
    t = x.load((i * 256,), (256,)) * float(factor)
    c.store((i * 256,), kiln.sort(t, axis=0))


def count_low_bytes() -> int:
    """What is mapped in addresses of 31 bits, where shared memory lies."""
    total = 0
    with open("/proc/self/maps") as lines:
        for line in lines:
            begin, end = (int(number, 16) for number in line.split()[0].split("-"))
            total += end - begin if end <= 1 << 31 else 0
    return total


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_kernels_share_what_blocks_have(rng) -> None:
    x = rng.standard_normal(256).astype(np.float32)
    mapped = []
    for factor in range(1, 6):
        c = np.empty_like(x)
        scaled.options(device="emu:sm_80")(x, c, factor)
        np.testing.assert_array_equal(c, np.sort(x * np.float32(factor)))
        mapped.append(count_low_bytes())
    assert mapped[-1] - mapped[0] < 256 * 1024, mapped
