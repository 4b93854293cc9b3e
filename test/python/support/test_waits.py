"""One kernel of every op on every AMD chip: its final code waits for all that it reads, and in inner
loops for nothing else. What gfx942 makes of every element type is proven by test_support.py, what
the ops' tests and the examples become by theirs; here each chip gets every op at some type, and a
commit half of them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from isa import CHECKER, CHIPS, assemble, check, has_checker

import kiln

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "utils/support"))
import probes  # noqa: E402

pytestmark = pytest.mark.skipif(not has_checker(), reason=f"needs {CHECKER}")
OTHERS = tuple(chip for chip in CHIPS if chip != "gfx942")
PARTS = 4  # of each chip's ops, so that several cores have work


@pytest.mark.drawn(0.5)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("chip", OTHERS)
def test_ops(chip: str, part: int) -> None:
    """The kernels are checked as one text; a problem names the op's kernel and its type."""
    texts, refused = [], []
    for number, probe in enumerate(probes.PROBES):
        if number % PARTS != part:
            continue
        # Another type on each chip; of those that an op takes, the next one.
        first = number // PARTS * len(OTHERS) + OTHERS.index(chip)
        types = probes.TYPES
        for element in (types[(first + i) % len(types)] for i in range(len(types))):
            name = "".join(c if c.isalnum() else "_" for c in f"{probe.op}_{element}")
            text = probe.kernel(element, f"amdgpu:{chip}").replace("@probe(", f"@{name}(")
            try:
                texts.append(assemble(text, chip))
                break
            except kiln.CompileError:
                continue
        else:
            refused.append(probe.op)
    assert not refused  # by every type
    check(b"".join(texts))


@pytest.mark.parametrize("chip", CHIPS)
def test_each_wait_that_is_missing_is_found(rng, chip: str) -> None:
    """One at a time, some of a product's, drawn afresh. What orders the ALU's own registers, on gfx1201,
    is no wait for memory."""
    text = assemble((ROOT / "test/Target/AMDGPU/matmul.mlir").read_text(), chip)
    check(text)
    waits = list(re.finditer(rb"\n\ts_wait(?!_alu)[^\n]*", text))
    assert len(waits) > 20
    for number in rng.choice(len(waits), 8, replace=False):
        wait = waits[number]
        with pytest.raises(AssertionError, match="expected "):
            check(text[: wait.start()] + text[wait.end() :])
