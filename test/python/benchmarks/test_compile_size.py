"""What the suite `host` compiles against the clock for a GPU, by the size of what there is to compile.

Time is not measured here, but what it comes from is: each pass, LLVM's and ours, and the assembler
take as long as what they read is long. The limits are a little above what the kernels take; one that
is exceeded means that some lowering became more verbose, and that compiling became slower with it.
"""

from __future__ import annotations

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from cubin import count_instructions

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
F32, BF16 = (np.ones((1024, 1024), dtype) for dtype in (np.float32, ml_dtypes.bfloat16))
# The kernels and arguments of gpu_start.py, and the most ops at the target stage and in LLVM's
# dialect, instructions of LLVM once optimised, instructions of PTX, and machine instructions.
KERNELS = {
    "softmax": (F32, 2, {"BLOCK": 1024}, (335, 465, 400, 455, 815)),
    "matmul": (BF16, 3, {"BM": 128, "BN": 128, "BK": 32}, (700, 900, 790, 490, 730)),
}


def count_ops(text: str) -> int:
    """Ops that do something: neither constants nor the ends of regions."""
    ops = re.findall(r"^\s+(?:[%\w, :]+ = )?\"?([a-z]+\.[\w.]+)", text, re.M)
    return sum(not op.endswith((".constant", ".yield", ".return")) for op in ops)


def count_llvm(text: str) -> int:
    body = text[text.index("define ") :]
    return len(re.findall(r"^  \S", body[: body.index("\n}")], re.M))


def count_ptx(text: str) -> int:
    return len(re.findall(r"^\t(?:@!?%p\d+ )?[a-z][\w.]*", text[text.index("{\n") :], re.M))


@pytest.mark.parametrize("name", KERNELS)
def test_size(name: str, monkeypatch, tmp_path) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import kernels

    array, count, constants, most = KERNELS[name]
    kernel = getattr(kernels, name)
    compiled = kernel.compile(*[array] * count, target="nvptx:sm_90a", **constants)
    found = (
        count_ops(compiled.ir("target")), count_ops(compiled.ir("llvm")),
        count_llvm(compiled.ir("llvmir")), count_ptx(compiled.asm),
        count_instructions(compiled.asm, name, "sm_90a", tmp_path),
    )  # fmt: skip
    assert all(mine <= limit for mine, limit in zip(found, most, strict=True)), (found, most)
