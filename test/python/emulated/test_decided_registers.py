"""Roles of which nobody says how many registers their threads have: a role that casts leaves 16 warps,
whose threads begin with 128. Against float64 on an emulated chip, and by what the assembler says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from cubin import ASSEMBLER
from written_kernels import widened

BF16 = ml_dtypes.bfloat16
TILE = dict(
    atom="wgmma", maker="cast", makers=1, copies=2, tb=True, flight=1, depth=2, BK=64,
    precision="ieee",
)  # fmt: skip
SHAPES = [(128, 256), (256, 128), (128, 192)]


def draw(rng) -> list[np.ndarray]:
    x = rng.integers(-4, 5, (300, 256)).astype(BF16)
    w = rng.integers(-4, 5, (272, 256)).astype(np.int8)
    return [x, w, np.ones(272, BF16), np.zeros((300, 272), np.float32)]


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("BM, BN", SHAPES)
def test_sums_that_all_registers_would_take(rng, BM: int, BN: int, persistent: bool) -> None:
    x, w, s, c = draw(rng)
    tile = TILE | dict(BM=BM, BN=BN, persistent=persistent)
    widened.options(device="emu:sm_90a")(x, w, s, c, **tile)
    np.testing.assert_array_equal(c, x.astype(np.float64) @ w.astype(np.float64).T)


@pytest.mark.skipif(not ASSEMBLER.exists(), reason=f"needs {ASSEMBLER}")
@pytest.mark.parametrize("BM, BN", SHAPES)
def test_they_are_assembled_without_local_memory(rng, tmp_path: Path, BM: int, BN: int) -> None:
    tile = TILE | dict(BM=BM, BN=BN, persistent=False)
    code = widened.compile(*draw(rng), target="nvptx:sm_90a", **tile).asm
    # An instruction has no more sums than threads begin with.
    assert {int(n) for n in re.findall(r"wgmma\S*m64n(\d+)k16", code)} <= {96, 128, 192}
    (tmp_path / "k.ptx").write_text(code)
    told = subprocess.run(
        [ASSEMBLER, "-v", "-arch=sm_90a", tmp_path / "k.ptx", "-o", tmp_path / "k.cubin"],
        capture_output=True, text=True, check=True,
    ).stderr  # fmt: skip
    assert "0 bytes spill stores, 0 bytes spill loads" in told and "serialized" not in told, told
