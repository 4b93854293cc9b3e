"""Numbers that are fresh each run; the seed stands in the output of a test that fails."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
SEED = int(os.environ.get("KILN_SEED") or np.random.SeedSequence().entropy % 2**32)


@pytest.fixture
def rng():
    print(f"KILN_SEED={SEED}")
    return np.random.default_rng(SEED)
