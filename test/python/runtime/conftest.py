"""Every test here runs kernels, on the CPU unless it says otherwise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


@pytest.fixture
def python():
    """Runs code in a new process: python(code, **environment) -> its output, as lines."""

    def run(code: str, *arguments: str, check: bool = True, **environment: str):
        path = os.pathsep.join([str(HERE), *sys.path])
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env={**os.environ, "PYTHONPATH": path, **environment},
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        if check:
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout.splitlines()
        return done

    return run
