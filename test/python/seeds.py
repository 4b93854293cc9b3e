"""Where tests begin to draw: each commit elsewhere, and the same wherever it is tested."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def seed_of_commit() -> int:
    named = subprocess.run(
        ["git", "rev-parse", "HEAD^{tree}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return int(named.stdout[:8] or "0", 16)
