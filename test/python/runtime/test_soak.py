"""`utils/soak` runs from a checkout, and from a package with what that carries."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_a_soak_says_what_its_parts_ran(tmp_path):
    command = [sys.executable, ROOT / "utils/soak", "schedules", "programs", "--seed", 7,
               "--count", 2, "--processes", 1, "--device", "emu:sm_80", "--output", tmp_path]  # fmt: skip
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    first, second = done.stdout.splitlines()
    assert re.match(r"schedules: seed 7, 2 schedules right, .* 0 findings", first), first
    assert re.match(r"programs: seed 7, \d right, 0 findings", second), second
    assert "/ " in (tmp_path / "schedules.table").read_text()
