"""Random schedules, others for each commit, on a real GPU of their chip, against float64: each is obeyed
or refused. Skipped elsewhere; utils/gpu-test runs it, and `utils/soak --device cuda:0` draws thousands."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from gpu_machine import torch
from seeds import seed_of_commit

sys.path.append(str(Path(__file__).resolve().parents[1] / "fuzz"))
import schedule_check  # noqa: E402
import schedule_chips  # noqa: E402
from schedule_writer import KERNELS, write  # noqa: E402

MADE = {(9, 0): "sm_90a", (8, 0): "sm_80", (10, 0): "sm_100a"}
CHIP = MADE.get(torch.cuda.get_device_capability(), "")
if CHIP not in schedule_chips.CHIPS:
    pytest.skip("no random schedules are drawn for this GPU", allow_module_level=True)

COUNT, SHARES = 50, 5


@pytest.mark.parametrize("share", range(SHARES))
def test_random_schedules_are_obeyed_or_refused(monkeypatch, share: int) -> None:
    monkeypatch.setenv("KILN_COMPILE_IN_PROCESS", "1")
    accepted, first = 0, seed_of_commit() + share * COUNT // SHARES
    for seed in range(first, first + COUNT // SHARES):
        case = write(seed, CHIP, list(KERNELS)[seed % len(KERNELS)])
        said = schedule_check.check(case, "cuda:0")
        reproduced = schedule_check.reproduction(case, f"seed {seed}: {said}", "cuda:0")
        assert not said or said.startswith("refused: "), reproduced
        accepted += not said
    assert accepted, "who refuses everything computes nothing wrong"
