"""Every test here runs kernels, on the CPU unless it says otherwise, with a cache of its own."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
SEED = int(os.environ.get("KILN_SEED") or np.random.SeedSequence().entropy % 2**32)


@pytest.fixture(autouse=True, scope="session")
def cache_directory(tmp_path_factory):
    """Tests neither use nor fill the user's cache."""
    directory = tmp_path_factory.mktemp("kiln-cache")
    os.environ["KILN_CACHE_DIR"] = str(directory)
    return directory


@pytest.fixture
def rng(request):
    """Fresh numbers each run; the seed stands in the output of a test that fails."""
    print(f"KILN_SEED={SEED}")
    return np.random.default_rng(SEED)


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
