"""The final code of the kernels of benchmarks/pinned_kernels.py for AMD's chips, whose waits are proven
and which spills no vector register; and what is broken in it is found."""

from __future__ import annotations

import functools
import random
import re
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from isa import figures, find_problem, has_checker
from pinned import BENCHMARKS
from seeds import seed_of_commit

sys.path += [str(BENCHMARKS), str(Path(__file__).resolve().parents[2] / "Inputs")]
import order_mutants  # noqa: E402
import pinned_kernels  # noqa: E402

BF16 = ml_dtypes.bfloat16
SKEWED = {"gfx942": 304, "gfx950": 256}
ATTENTION = [(chip, width) for chip in SKEWED for width in (64, 128)]


def lying(rows: int, width: int) -> list[np.ndarray]:
    return [np.zeros((rows, width), BF16) for _ in range(4)]


@functools.cache
def compiled(name: str, chip: str, width: int):
    target = f"amdgpu:{chip}"
    if name == "attention_by_waves":
        kernel, constants = pinned_kernels.attention_by_waves, pinned_kernels.heads_of(width)
        return kernel.compile(*lying(512, width), 512, 1, **constants, target=target)
    constants = {} if name == "gemm_through_registers" else {"PROGRAMS": SKEWED[chip]}
    if name == "gemm_interleaved":
        constants["INTERLEAVE"] = pinned_kernels.INTERLEAVED[chip]
    kernel = getattr(pinned_kernels, name)
    return kernel.compile(*lying(512, 512)[:3], **constants, target=target)


KERNELS = [
    *((name, chip, 0) for name in ("gemm_skewed", "gemm_interleaved") for chip in SKEWED),
    *(("gemm_through_registers", chip, 0) for chip in (*SKEWED, "gfx1201")),
    *(("attention_by_waves", *each) for each in ATTENTION),
]
DRAWN = 4  # of what may be broken in a product; half as many of attention, which takes seconds


@pytest.mark.skipif(not has_checker(), reason="a package has no tile-check-isa")
@pytest.mark.parametrize("name, chip, width", KERNELS)
def test_waits_are_proven_and_nothing_spills(name: str, chip: str, width: int) -> None:
    # Reads of two bytes, which transpose on gfx942, are moved in front of the wait that a release
    # of their slot is, which then waits for them too.
    allow_strong = name == "attention_by_waves" and chip == "gfx942"
    code = figures(compiled(name, chip, width).asm.encode(), allow_strong)
    assert code["vgpr_spills"] == 0 and code["scratch_bytes"] == 0, code
    # Each loop over k is the ring's, and what it multiplies comes out of LDS.
    assert all("matrix" in loop and "lds_reads" in loop for loop in code["inner_loops"]), code
    # The block's runs come to all that matters, and some to their ends.
    replayed = code["replayed"]
    if name != "attention_by_waves":
        assert replayed["missed"] == 0 and replayed["cut_short"] < replayed["runs"], code


@pytest.mark.skipif(not has_checker(), reason="a package has no tile-check-isa")
@pytest.mark.parametrize("name, chip, width", KERNELS)
def test_broken_orders_are_found(name: str, chip: str, width: int) -> None:
    """Some of them, drawn by the commit. Of attention barriers, and waits for loads: between the many
    reads of LDS of a trip others wait as well, or its counter is full."""
    lines = compiled(name, chip, width).asm.splitlines()
    mutants, drawn = list(order_mutants.in_loops(lines)), DRAWN
    if name == "attention_by_waves":
        mutants, drawn = list(order_mutants.not_of_lds(lines, mutants)), DRAWN // 2
    assert len(mutants) > DRAWN
    for what, broken in random.Random(seed_of_commit()).sample(mutants, drawn):
        assert find_problem("\n".join([*broken, ""]).encode(), allow_strong=True), what


def test_loads_stand_between_products() -> None:
    """In each trip but for the first and last of them loads stand apart, two products between."""
    text = compiled("gemm_interleaved", "gfx950", 0).asm
    words = re.findall(r"^\t(v_mfma|buffer_load_dword\S* .* lds|s_barrier|s_cbranch)", text, re.M)
    kinds = "".join({"v": "M", "b": "L"}.get(word[0], "\n") for word in words)
    assert len(re.findall(r"(?:MML){5,}", kinds)) >= 2, kinds
