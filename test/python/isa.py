"""The final code of AMD kernels, proven: each wait that is needed is there, and inner loops have no
stronger ones."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from kiln import _native

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("KILN_BUILD", ROOT / "build"))
CHECKER = os.environ.get("TILE_CHECK_ISA") or str(BUILD / "bin/tile-check-isa")


def prove_waits(text: str, chip: str) -> None:
    """Compiles a module for an AMD chip and checks what came of it. A package has no checker."""
    if not os.access(CHECKER, os.X_OK):
        return
    request = {"source": text, "target": f"amdgpu:{chip}", "isolation": 0, "keep_stages": ["asm"]}
    artifact, _, _ = _native.compile(None, None, request)
    done = subprocess.run(
        [CHECKER, "-"], input=bytes(artifact.section("asm")), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
