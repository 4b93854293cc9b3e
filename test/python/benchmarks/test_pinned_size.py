"""The pinned kernels of benchmarks/ by the size of what there is to compile, stage by stage.

Compiling takes as long as what its passes read is long, LLVM's and the assembler's included. So in
place of time, which no test can hold, the ops of each stage and the instructions at the end are
held to what they were (pinned-sizes.json): one that grows by more than a fifth is more to compile,
and mostly code that does more too. `python test/python/benchmarks/test_pinned_size.py --write`
writes the sizes anew; look at what changed.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

HERE = Path(__file__).resolve()
BENCHMARKS = HERE.parents[3] / "benchmarks"
SIZES = HERE.with_name("pinned-sizes.json")
sys.path[:0] = [str(BENCHMARKS), str(HERE.parents[1])]
import pinned_kernels  # noqa: E402
from pinned import compiled as compiled_text  # noqa: E402

STAGES = ("tile", "layout", "schedule", "target", "llvm", "llvmir", "asm")
GROWTH = 6 / 5


def some(*shape: int) -> np.ndarray:
    return np.empty(shape, ml_dtypes.bfloat16)


PRODUCT = (some(512, 512), some(512, 512), some(512, 512))
HEADS = tuple(some(512, 128) for _ in range(4))
# Kernels in Python by name and chip; those in text by name alone.
IN_PYTHON: dict[str, tuple[tuple[Any, ...], tuple[str, ...]]] = {
    "gemm": (PRODUCT, ("sm_90a",)),
    "clustered_gemm": ((*PRODUCT, 2, 1), ("sm_90a",)),
    "large_gemm": (PRODUCT, ("sm_90a",)),
    "gemm_in_turn": ((*PRODUCT, 64, 256, 4), ("sm_90a",)),
    "attention": ((*HEADS, 512, 1), ("sm_90a",)),
    "gemm_skewed": ((*PRODUCT, 304), ("gfx942", "gfx950")),
    "gemm_interleaved": ((*PRODUCT, 304), ("gfx942", "gfx950")),
    "gemm_through_registers": (PRODUCT, ("gfx1201",)),
    "attention_by_waves": (
        (*HEADS, 512, 1, *pinned_kernels.heads_of(128).values()), ("gfx942", "gfx950"),
    ),
}  # fmt: skip
IN_TEXT = {
    "gemm": "sm_90a", "attention": "sm_90a", "gemm-sm_80": "sm_80", "gemm-sm_100a": "sm_100a",
    "gemm-gfx942": "gfx942", "gemm-gfx950": "gfx950",
}  # fmt: skip
CASES = [(name, chip) for name, (_, chips) in IN_PYTHON.items() for chip in chips]
CASES += [(f"{name}.mlir", chip) for name, chip in IN_TEXT.items()]


def count(text: str, stage: str) -> int:
    """Ops that do something, neither constants nor the ends of regions; instructions of functions."""
    if stage == "llvmir":
        return len(re.findall(r"^  [^ ;]", text, re.M))
    if stage == "asm":
        return len(re.findall(r"^\t(?:@!?%p\d+ )?[a-z]\w*[._ \t;]", text, re.M))
    ops = re.findall(r"^\s+(?:[%\w, :]+ = )?\"?([a-z]+\.[\w.]+)", text, re.M)
    return sum(not op.endswith((".constant", ".yield", ".return")) for op in ops)


def measure(name: str, chip: str) -> dict[str, int]:
    target = f"{'nvptx' if chip.startswith('sm_') else 'amdgpu'}:{chip}"
    if name.endswith(".mlir"):
        made = compiled_text((BENCHMARKS / name).read_bytes(), target, STAGES)
        names = {stage: "asm" if stage == "asm" else f"ir:{stage}" for stage in STAGES}
        texts = {stage: made.section(names[stage]).decode() for stage in STAGES}
    else:
        arguments, _ = IN_PYTHON[name]
        if name == "gemm_interleaved":
            arguments = (*arguments, pinned_kernels.INTERLEAVED[chip])
        made = getattr(pinned_kernels, name).compile(*arguments, target=target)
        texts = {stage: made.asm if stage == "asm" else made.ir(stage) for stage in STAGES}
    return {stage: count(text, stage) for stage, text in texts.items()}


def recorded() -> dict[str, dict[str, int]]:
    return json.loads(SIZES.read_text(encoding="utf-8"))


def check_not_grown(now: dict[str, int], before: dict[str, int]) -> None:
    grown = {stage: (before[stage], now[stage]) for stage in STAGES
             if now[stage] > GROWTH * before[stage]}  # fmt: skip
    assert not grown, f"more to compile by over a fifth: {grown}"


@pytest.mark.drawn(0.5)
@pytest.mark.parametrize(("name", "chip"), CASES)
def test_size(name: str, chip: str) -> None:
    now = measure(name, chip)
    assert min(now.values()) > 10
    check_not_grown(now, recorded()[f"{name} {chip}"])


def test_each_pinned_kernel_is_held() -> None:
    kind = type(pinned_kernels.gemm)
    kernels = {name for name, of in vars(pinned_kernels).items() if isinstance(of, kind)}
    assert kernels == set(IN_PYTHON)
    assert {path.stem for path in BENCHMARKS.glob("*.mlir")} == set(IN_TEXT)
    assert set(recorded()) == {f"{name} {chip}" for name, chip in CASES}


def test_what_grew_is_found() -> None:
    for sizes in recorded().values():
        check_not_grown(sizes, sizes)
        for stage in STAGES:
            with pytest.raises(AssertionError, match=stage):
                check_not_grown(sizes | {stage: int(GROWTH * sizes[stage]) + 1}, sizes)


if __name__ == "__main__":
    assert sys.argv[1:] == ["--write"], "expected --write"
    rows = (f'  "{name} {chip}": {json.dumps(measure(name, chip))}' for name, chip in CASES)
    SIZES.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
