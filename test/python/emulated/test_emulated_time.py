"""How long an emulated chip takes: of processor time, which neighbours on a machine change little."""

from __future__ import annotations

import time

import pytest
from every_kernel import CHIPS, Run, check, exact, normal, poisoned

SECONDS = 5.0  # of two cores; it takes a tenth


@pytest.mark.crossed(0)
@pytest.mark.parametrize("chip", CHIPS)
def test_a_product_of_256_takes_less_than_five_seconds(rng, monkeypatch, chip: str) -> None:
    """Compiled and run, with the checks on."""
    monkeypatch.setenv("KILN_COMPILE_IN_PROCESS", "1")
    a, b, c = normal(rng, 256, 256), normal(rng, 256, 256), poisoned(256, 256)
    begin = time.process_time()
    Run("benchmarks", "plain_kernels.py", f"emu:{chip}")("gemm", a, b, c)
    assert time.process_time() - begin < SECONDS
    check(c, exact(a) @ exact(b))
