"""The kernels of benchmarks/pinned_kernels.py for AMD's chips: against float64 on the emulated chips,
and their final code, whose waits are proven and which spills no vector register."""

from __future__ import annotations

import re
import sys

import ml_dtypes
import numpy as np
import pytest
from isa import figures, has_checker
from pinned import BENCHMARKS

sys.path.append(str(BENCHMARKS))
import pinned_kernels  # noqa: E402

BF16 = ml_dtypes.bfloat16
SKEWED = {"gfx942": 304, "gfx950": 256}
ATTENTION = [(chip, width) for chip in SKEWED for width in (64, 128)]


def error(out: np.ndarray, reference: np.ndarray) -> float:
    return float(np.linalg.norm(out.astype(np.float64) - reference) / np.linalg.norm(reference))


def multiply(rng, kernel, m: int, n: int, k: int, **constants) -> float:
    a, b = (rng.standard_normal((rows, k)).astype(BF16) for rows in (m, n))
    c = np.zeros((m, n), BF16)
    kernel(a, b, c, **constants)
    return error(c, a.astype(np.float64) @ b.astype(np.float64).T)


# One tile; ragged along each dimension; K shorter than a trip.
@pytest.mark.parametrize("m, n, k", [(256, 256, 64), (200, 304, 104), (40, 520, 24)])
@pytest.mark.parametrize("chip", SKEWED)
def test_product_of_two_groups(rng, chip: str, m: int, n: int, k: int) -> None:
    kernel = pinned_kernels.gemm_skewed.options(device=f"emu:{chip}")
    assert multiply(rng, kernel, m, n, k, PROGRAMS=SKEWED[chip]) < 4e-3


@pytest.mark.parametrize("m, n, k", [(128, 256, 64), (200, 304, 104), (40, 520, 24)])
@pytest.mark.parametrize("chip", SKEWED)
def test_interleaved_product(rng, chip: str, m: int, n: int, k: int) -> None:
    kernel = pinned_kernels.gemm_interleaved.options(device=f"emu:{chip}")
    constants = {"PROGRAMS": SKEWED[chip], "INTERLEAVE": pinned_kernels.INTERLEAVED[chip]}
    assert multiply(rng, kernel, m, n, k, **constants) < 4e-3


@pytest.mark.parametrize("m, n, k", [(128, 256, 64), (200, 304, 328), (40, 520, 72), (9, 8, 7)])
def test_product_through_registers(rng, m: int, n: int, k: int) -> None:
    kernel = pinned_kernels.gemm_through_registers.options(device="emu:gfx1201")
    assert multiply(rng, kernel, m, n, k) < 4e-3


def lying(rows: int, width: int) -> list[np.ndarray]:
    return [np.zeros((rows, width), BF16) for _ in range(4)]


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("heads, n", [(1, 200), (2, 256), (1, 7)])
@pytest.mark.parametrize("chip, width", ATTENTION)
def test_attention(rng, chip: str, width: int, heads: int, n: int, causal: int) -> None:
    q, k, v = (rng.standard_normal((heads, n, width)).astype(BF16) for _ in range(3))
    o = np.zeros((heads * n, width), BF16)
    kernel = pinned_kernels.attention_by_waves.options(device=f"emu:{chip}")
    rows = [x.reshape(heads * n, width) for x in (q, k, v)]
    kernel(*rows, o, n, causal, **pinned_kernels.heads_of(width))
    scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) / width**0.5
    if causal:
        scores = np.where(np.tril(np.ones((n, n), bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    assert error(o, (weights @ v.astype(np.float64)).reshape(-1, width)) < 1e-2


def compiled(name: str, chip: str, width: int):
    target = f"amdgpu:{chip}"
    if name == "attention_by_waves":
        kernel, constants = pinned_kernels.attention_by_waves, pinned_kernels.heads_of(width)
        return kernel.compile(*lying(512, width), 512, 1, **constants, target=target)
    constants = {"PROGRAMS": SKEWED[chip]} if chip in SKEWED else {}
    if name == "gemm_interleaved":
        constants["INTERLEAVE"] = pinned_kernels.INTERLEAVED[chip]
    kernel = getattr(pinned_kernels, name)
    return kernel.compile(*lying(512, 512)[:3], **constants, target=target)


KERNELS = [
    *((name, chip, 0) for name in ("gemm_skewed", "gemm_interleaved") for chip in SKEWED),
    ("gemm_through_registers", "gfx1201", 0),
    # Not heads of 128 on gfx942: addresses go through scalar and vector registers and accumulators.
    *(("attention_by_waves", *each) for each in ATTENTION if each != ("gfx942", 128)),
]


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


def test_loads_stand_between_products() -> None:
    """In each trip but for the first and last of them loads stand apart, two products between."""
    text = compiled("gemm_interleaved", "gfx950", 0).asm
    words = re.findall(r"^\t(v_mfma|buffer_load_dword\S* .* lds|s_barrier|s_cbranch)", text, re.M)
    kinds = "".join({"v": "M", "b": "L"}.get(word[0], "\n") for word in words)
    assert len(re.findall(r"(?:MML){5,}", kinds)) >= 2, kinds
