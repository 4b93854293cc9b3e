"""Where tests begin to draw: each commit elsewhere, and the same wherever it is tested."""

import functools
import os
import subprocess
import zlib
from pathlib import Path

WHOLE = "KILN_TEST_WHOLE"  # set where every cell is run, and what is drawn is all
ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def seed_of_commit() -> int:
    named = subprocess.run(
        ["git", "rev-parse", "HEAD^{tree}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return int(named.stdout[:8] or "0", 16)


def is_whole() -> bool:
    return bool(os.environ.get(WHOLE))


def draw_of(text: str, count: int) -> int:
    """A number below the count, which the commit draws for a text."""
    return zlib.crc32(text.encode(), seed_of_commit()) % count
