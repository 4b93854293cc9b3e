"""What the examples, which pin nothing, become on NVIDIA's chips, held to figures that are checked in
(nvidia-figures.json): a plain kernel gets none slower, as far as one sees without such a chip.

A floor holds for every kernel: no spills, products go through matrix instructions, and the protocol
that the metadata declares is found in the code. What is
written down may only get better: the proposal of roles (the first is the best), the slots of each
ring, how many products are under way, registers, and how many instructions of each kind there are.
Of matrix instructions the forms are the same.

`python test/python/examples/test_nvidia_figures.py --write` writes the figures anew; look at what
changed.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from example_cases import CASES, bf16, compile_case, several, write_rows

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from cubin import ASSEMBLER  # noqa: E402
from isa import check, has_checker  # noqa: E402

FIGURES = Path(__file__).with_name("nvidia-figures.json")
CHIPS = ("sm_80", "sm_90a", "sm_100a")
# Tiles of the size that large arguments are tuned to.
LARGE: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "05_matmul, large": (
        "matmul", lambda: several(3, bf16, 4096, 4096), {"BM": 128, "BN": 256, "BK": 64},
    ),
    "06_attention, large": (
        "attention",
        lambda: (*several(4, bf16, 2, 8, 4096, 128), 0.125),
        {"CAUSAL": True, "D": 128, "BM": 128, "BN": 128},
    ),
}  # fmt: skip
KERNELS = CASES | LARGE
# On a chip whose products need smaller tiles: the autotuner does not choose these.
TOO_LARGE = {("05_matmul, large", "sm_80"), ("06_attention, large", "sm_80")}
PLACES = [(name, chip) for name in KERNELS for chip in CHIPS if (name, chip) not in TOO_LARGE]
KINDS = {
    "global_loads": r"ld\.global", "global_stores": r"st\.global",
    "shared_loads": r"ld\.shared|ldmatrix", "shared_stores": r"st\.shared|stmatrix",
    "copies": r"cp\.async\.(?!commit|wait|bulk\.(?:commit|wait))", "barriers": r"bar(?:rier)?\.",
    "exponentials": r"ex2\.", "shuffles": r"shfl\.",
}  # fmt: skip
MATRIX = r"(?:wgmma\.mma_async|mma\.sync|tcgen05\.mma)[\w.:]*"
NO_PROPOSAL = 4


def summarise(name: str, chip: str) -> dict[str, Any]:
    """What is worth holding of compiled code."""
    code = compile_case(name, f"nvptx:{chip}", KERNELS)
    assert code.metadata["local_bytes"] == 0
    if has_checker():
        check(code.asm.encode())
    schedule = code.ir("schedule")
    channels = re.findall(r"= tile\.channel .*?!tile\.channel<(\d+)", schedule)
    waits = re.findall(r"tile\.wait %\S+ in_flight = (\d+)", schedule)
    texts = re.findall(r"^\s*{?(?:@!?%p\d+ )?([a-z][\w.:]*)[\s;]", code.asm, re.M)
    kinds = {
        kind: sum(bool(re.match(form, text)) for text in texts) for kind, form in KINDS.items()
    }
    return {
        "proposal": code.metadata.get("proposal", NO_PROPOSAL),
        "slots": sorted(map(int, channels)),
        "in_flight": max(map(int, waits), default=0),
        "registers": code.metadata["registers"],
        "instructions": len(texts),
        "matrix": dict(sorted(Counter(filter(re.compile(MATRIX).match, texts)).items())),
    } | {kind: count for kind, count in kinds.items() if count}


def recorded() -> dict[str, Any]:
    return json.loads(FIGURES.read_text(encoding="utf-8"))


def check_not_worse(now: dict[str, Any], before: dict[str, Any]) -> None:
    assert now["proposal"] <= before["proposal"]
    assert len(now["slots"]) == len(before["slots"])
    assert all(mine >= theirs for mine, theirs in zip(now["slots"], before["slots"], strict=True))
    assert now["in_flight"] >= before["in_flight"]
    assert now["registers"] <= before["registers"] + 8  # what registers are handed out by
    assert set(now["matrix"]) == set(before["matrix"])
    # LLVM's choices among addresses and conditions are not held.
    assert now["instructions"] <= 1.1 * before["instructions"]
    for kind in KINDS:
        assert now.get(kind, 0) <= before.get(kind, 0), kind


@pytest.mark.skipif(not ASSEMBLER.exists(), reason="there is no ptxas")
@pytest.mark.drawn(0.5)
@pytest.mark.parametrize(("name", "chip"), PLACES)
def test_figures(name: str, chip: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KILN_ASSEMBLER", str(ASSEMBLER))
    figures = summarise(name, chip)
    if name.startswith(("05_matmul", "06_attention")):
        assert figures["matrix"]
    check_not_worse(figures, recorded()[name][chip])


def test_what_got_worse_is_found() -> None:
    before = recorded()["05_matmul, large"]["sm_90a"]
    check_not_worse(before, before)
    for worse in (
        before | {"proposal": NO_PROPOSAL},
        before | {"slots": [slots - 1 for slots in before["slots"]]},
        before | {"in_flight": 0},
        before | {"registers": before["registers"] + 9},
        before | {"matrix": {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32": 64}},
        before | {"shared_loads": before.get("shared_loads", 0) + 1},
    ):
        with pytest.raises(AssertionError):
            check_not_worse(worse, before)


def write() -> None:
    figures: dict[str, Any] = {}
    for name, chip in PLACES:
        figures.setdefault(name, {})[chip] = summarise(name, chip)
    write_rows(FIGURES, figures)


if __name__ == "__main__":
    assert sys.argv[1:] == ["--write"], "expected --write"
    os.environ["KILN_ASSEMBLER"] = str(ASSEMBLER)
    write()
