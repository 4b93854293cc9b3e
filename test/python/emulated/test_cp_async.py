"""Products whose rings are filled by cp.async, on emulated chips, against float64.

What a copy brings is there only once the thread has waited for its group, and a read of it before is
an error; so are races that a barrier is missing for.
"""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from pinned import BENCHMARKS, build, compiled
from pinned_runs import COPIES, check_product
from product_kernels import SINGLE_TOLERANCE as TOLERANCE
from product_kernels import assert_sums, tolerance_of
from ring_kernels import TYPES, write, write_beside_the_engine

import kiln

SOURCE = (BENCHMARKS / "gemm-sm_80.mlir").read_text()


def check(kernel, rng: np.random.Generator, m: int, n: int, k: int) -> None:
    check_product(kernel, rng, m, n, k, pad=6)


@pytest.mark.parametrize("chip", ["sm_86", "sm_90a"])
def test_product(rng: np.random.Generator, chip: str) -> None:
    """That of benchmarks/ on chips beside its own."""
    kernel = build(SOURCE.replace('"sm_80"', f'"{chip}"').encode(), chip)
    for m, n, k in COPIES:
        check(kernel, rng, m, n, k)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("stage", [1, 2, 3])
def test_a_load_at_a_later_stage(rng: np.random.Generator, number: int, stage: int) -> None:
    """A trip's load then brings what is so many trips behind the other's."""
    given = f"stage = 0, order = {number}"
    assert SOURCE.count(given) == 1
    source = SOURCE.replace(given, f"stage = {stage}, order = {number}")
    kernel = build(source.encode(), "sm_80")
    for m, n, k in [(128, 256, 96), (100, 70, 200), (40, 20, 321), (16, 16, 0)]:
        check(kernel, rng, m, n, k)


def test_tiles_that_begin_below_zero(rng: np.random.Generator) -> None:
    """Of a tile that begins 24 columns before the view, what is outside counts as zero."""
    assert SOURCE.count("%kk]") == 2
    source = SOURCE.replace("%kk]", "%from]").replace("%c0 to %k step", "%c0 to %far step")
    source = source.replace(
        "  %zero = ",
        "  %c24 = arith.constant 24 : index\n  %far = arith.addi %k, %c24 : index\n  %zero = ",
    ).replace("    %at = ", "    %from = arith.subi %kk, %c24 : index\n    %at = ")
    kernel = build(source.encode(), "sm_80")
    for m, n, k in COPIES:
        check(kernel, rng, m, n, k)


# Other types, widths and depths.


def random(rng: np.random.Generator, rows: int, columns: int, dtype, bytes: int) -> np.ndarray:
    """With rows that begin at multiples of so many bytes and numbers behind them."""
    each = max(1, bytes // np.dtype(dtype).itemsize)
    shape = (rows, columns // each * each + each)
    if dtype is np.int8:
        whole = rng.integers(-128, 128, shape).astype(np.int8)
    else:
        whole = rng.standard_normal(shape).astype(dtype)
    return whole[:, :columns]


def multiply(kernel, rng, chip: str, name: str, m: int, n: int, k: int, bytes: int) -> None:
    dtype, _, sum, _ = TYPES[name]
    a, b = random(rng, m, k, dtype, bytes), random(rng, n, k, dtype, bytes)
    c = np.full((m, n), -1, np.int32 if sum == "i32" else np.float32)
    kernel(a, b, c)
    x, y = a.astype(np.float64), b.astype(np.float64)
    want, terms = x @ y.T, np.abs(x) @ np.abs(y.T)
    assert_sums(c, want, terms + 1e-30, tolerance_of(chip, dtype))


CASES = [
    ("f16", "sm_80", 16, 3, 2), ("bf16", "sm_80", 16, 2, 1),
    ("i8", "sm_80", 16, 5, 4), ("e4m3", "sm_89", 16, 3, 2), ("e5m2", "sm_90a", 16, 4, 2),
    ("f16", "sm_86", 8, 4, 3), ("bf16", "sm_90a", 4, 3, 1), ("i8", "sm_80", 4, 3, 2),
    ("e4m3", "sm_89", 8, 6, 5),
]  # fmt: skip


@pytest.mark.parametrize("name, chip, bytes, depth, stage", CASES)
def test_types(rng, name: str, chip: str, bytes: int, depth: int, stage: int) -> None:
    kernel = build(write(name, chip, bytes, depth, stage).encode(), chip)
    for m, n, k in [(64, 64, 256), (70, 33, 101), (5, 9, 3), (20, 64, 463)]:
        multiply(kernel, rng, chip, name, m, n, k, bytes)


def test_hints() -> None:
    """Sixteen bytes pass by the first cache unless the load says otherwise; fewer cannot."""

    def copies(*what) -> set[str]:
        artifact = compiled(write(*what).encode(), "nvptx:sm_80", ("asm",))
        text = artifact.section("asm").decode()
        return set(re.findall(r"cp\.async\.\w+\.shared\.global", text))

    assert copies("f16", "sm_80", 16, 3, 2) == {"cp.async.cg.shared.global"}
    both = {"cp.async.cg.shared.global", "cp.async.ca.shared.global"}
    assert copies("f16", "sm_80", 16, 3, 2, "cache = all") == both
    assert copies("f16", "sm_80", 4, 3, 2) == {"cp.async.ca.shared.global"}


def test_rows_that_are_not_aligned_are_refused(rng) -> None:
    kernel = build(write("f16", "sm_80", 16, 3, 2).encode(), "sm_80")
    a, b = random(rng, 8, 40, np.float16, 16), random(rng, 8, 40, np.float16, 2)
    with pytest.raises(kiln.LaunchError, match="multiple of 16"):
        kernel(a, b, np.zeros((8, 8), np.float32))


def test_beside_a_ring_of_the_engine(rng) -> None:
    """One kernel's roles: one brings a tile by the tensor copy engine, the other fills its own
    ring."""
    kernel = build(write_beside_the_engine("sm_90a").encode(), "sm_90a")
    for m, n, k in [(64, 64, 256), (70, 33, 101), (5, 9, 3), (20, 64, 463)]:
        a, b = (random(rng, rows, k, ml_dtypes.bfloat16, 16) for rows in (m, n))
        bias = random(rng, m, n, np.float32, 16)
        c = np.full((m, n), -1, np.float32)
        kernel(a, b, c, bias)
        x, y, z = (t.astype(np.float64) for t in (a, b, bias))
        assert_sums(c, x @ y.T + z, np.abs(x) @ np.abs(y.T) + np.abs(z), TOLERANCE)
