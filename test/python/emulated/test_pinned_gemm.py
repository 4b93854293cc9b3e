"""Matrix products of benchmarks/ whose decisions are pinned, beyond the chips and the shapes that
test_every_benchmark.py has: on a chip of the same kind, and over nothing."""

from __future__ import annotations

import pytest
from pinned import BENCHMARKS, build
from pinned_runs import ENGINES, check_product

import kiln


@pytest.mark.parametrize("chip, multiple", [("gfx942", 2), ("gfx950", 8)])
def test_a_product_over_nothing_is_refused(rng, chip: str, multiple: int) -> None:
    """The kernels promise rows of positive multiples, from which their code starts."""
    kernel = build((BENCHMARKS / f"gemm-{chip}.mlir").read_bytes(), chip)
    message = f"expected an extent that is a positive multiple of {multiple} along dimension 1"
    with pytest.raises(kiln.LaunchError, match=message):
        check_product(kernel, rng, 16, 16, 0, pad=6)


def test_product_into_tensor_memory(rng) -> None:
    source = (BENCHMARKS / "gemm-sm_100a.mlir").read_bytes().replace(b'"sm_100a"', b'"sm_103a"')
    kernel = build(source, "sm_103a")
    for m, n, k in ENGINES:
        check_product(kernel, rng, m, n, k, pad=8)
