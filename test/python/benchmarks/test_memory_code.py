"""What the suite `memory` asks of its kernels' code for the GPU it is measured on.

Measured speed is not tested here, but what it comes from is: sixteen bytes to an access, and so few
instructions an element that issuing them takes less time than moving its bytes. The limits are
those of PTX, a little above what the code takes.
"""

from __future__ import annotations

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

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
        {}, 16, 21,
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
        i for i in instructions if re.match(r"(ld|st)\.global.*\.v4\.b32|st\.global\.v2\.b32", i)
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
