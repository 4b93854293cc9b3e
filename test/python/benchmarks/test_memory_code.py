"""What the suite `memory` asks of its kernels' code for the GPU it is measured on.

Measured speed is not tested here, but what it comes from is: sixteen bytes to an access, and so few
instructions an element that issuing them takes less time than moving its bytes. The limits are
those of PTX, a little above what the code takes; of what is nearest to its bound they are those of
the machine code that the pinned assembler makes.
"""

from __future__ import annotations

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from cubin import count_instructions
from isa import CHIPS, check, has_checker

import kiln

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
ROWS, COLUMNS = 64, 4096
BF16 = ml_dtypes.bfloat16


def some(*shape: int, dtype=BF16) -> np.ndarray:
    return np.empty(shape, dtype)


ROW, COLUMN = (ROWS, COLUMNS), (COLUMNS,)
FLAT = (ROWS * COLUMNS,)
# By kernel: its arguments, its constants, the elements of a thread, and the most instructions for
# each of them.
KERNELS = {
    "layernorm_dropout": (
        (some(*ROW), some(*ROW), some(*COLUMN), some(*COLUMN), some(*ROW), some(*ROW), 7, 0.75, 1e-5),
        {"BLOCK": COLUMNS}, 16, 64,
    ),
    "gelu": ((some(*FLAT), some(*FLAT)), {}, 32, 17),
    "gather_rows": (
        (some(4 * ROWS, COLUMNS), some(ROWS, dtype=np.int32), some(*ROW)), {}, 64, 5,
    ),
    "cross_entropy": (
        (some(4096, 128256), some(4096, dtype=np.int64), some(4096, dtype=np.float32)), {}, 32, 15,
    ),
    "quantise_f8": (
        (some(*ROW), some(*ROW, dtype=ml_dtypes.float8_e4m3fn), some(ROWS, dtype=np.float32)),
        {"BLOCK": COLUMNS}, 16, 13,
    ),
    "quantise_mxfp4": (
        (
            some(*ROW), kiln.PackedArray.empty(ROW, "f4e2m1fn"),
            some(ROWS, COLUMNS // 32, dtype=np.uint8),
        ),
        {}, 32, 12,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_code(name: str, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import memory_kernels

    arguments, constants, elements, most = KERNELS[name]
    kernel = getattr(memory_kernels, name)
    code = kernel.compile(*arguments, target="nvptx:sm_90a", **constants).asm
    body = code[code.index("{\n") :]
    instructions = re.findall(r"^\t(?:@!?%p\d+ )?([a-z][\w.]*)", body, re.M)
    assert len(instructions) / elements <= most
    wide = [
        i for i in instructions if re.match(r"(ld|st)\.global.*\.v4\.b32|st\.global.*\.v2\.b32", i)
    ]
    narrow = [i for i in instructions if re.match(r"(ld|st)\.global", i) and i not in wide]
    # What is one to a row or to a group of 32.
    assert len(narrow) <= 3, narrow
    assert len(wide) >= 2
    assert "ex2.approx.f32" not in instructions
    # bf16 is widened by shifts, not by the unit for conversions.
    assert not any(re.match(r"cvt\.(ftz\.)?f32\.bf16", i) for i in instructions)
    if name in ("gelu", "cross_entropy"):
        assert "ex2.approx.ftz.f32" in instructions


@pytest.mark.skipif(not has_checker(), reason="needs tile-check-isa")
@pytest.mark.drawn(0.5)
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", KERNELS)
def test_waits_on_amd(name: str, chip: str, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import memory_kernels

    arguments, constants, _, _ = KERNELS[name]
    code = getattr(memory_kernels, name).compile(*arguments, target=f"amdgpu:{chip}", **constants)
    check(code.asm.encode(), drawn=False)


def test_machine_code_of_mxfp4(monkeypatch, tmp_path) -> None:
    """An H200 issues 132 x 4 x 32 instructions of a thread a cycle, 2.9e13 a second at 1.7 GHz. An
    element and its result are 2.53 bytes: a copy's 4.27 TB/s move 1.7e12 of them. So 17 instructions
    an element take as long as memory does, and half of them may be masks, shifts, comparisons and
    the like, which take turns. The loop has 10, 4 of which take turns; what is before and after it
    is little beside eight rows."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import memory_kernels

    arguments, constants, elements, _ = KERNELS["quantise_mxfp4"]
    kernel = memory_kernels.quantise_mxfp4
    compiled = kernel.compile(*arguments, target="nvptx:sm_90a", **constants)
    instructions = count_instructions(compiled.asm, "quantise_mxfp4", "sm_90a", tmp_path)
    assert instructions / elements <= 14.5
    # Nothing in the loop waits for other threads, and the greatest is found two at a time.
    assert compiled.metadata["shared_bytes"] == 0
    code = compiled.asm.split("// kiln.protocol")[0]
    assert "barrier" not in code and "bar.sync" not in code
    assert compiled.asm.count("max.NaN.bf16x2") == 2 * 7
    assert "max.NaN.f32" not in compiled.asm
