"""What the packaging tests share: where things are, and a way to run commands."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("KILN_BUILD", ROOT / "build"))


def run(*command, status=0, **options):
    """Runs a command and returns its output; any other exit status than expected fails the test."""
    result = subprocess.run(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **options,
    )
    assert result.returncode == status, result.stdout
    return result.stdout
