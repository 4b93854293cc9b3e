"""The compiler's own tools (`tile-opt` and the others), which a wheel holds."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> int:
    """Runs the tool whose name this program has, with its arguments, in the place of Python."""
    name = Path(sys.argv[0]).name
    tool = Path(__file__).resolve().parents[1] / name
    try:
        os.execv(tool, [name, *sys.argv[1:]])
    except OSError as error:
        print(f"{name}: cannot run '{tool}': {error.strerror}", file=sys.stderr)
        return 1
