"""The cases of one operation each in suite `cpu`: every kernel is right."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benchmarks"))


def test_operations_are_right(monkeypatch):
    import measure
    import operations

    monkeypatch.setattr(operations, "N", 1 << 13)
    names = []
    for case in operations.operations(np.random.default_rng(), 1, ""):
        measure.check(case)
        names.append(case.name)
    assert {"sort", "top-k", "conv3d", "CSR product", "embedding gather"} <= set(names)
    assert set(operations.FUNCTIONS) <= {name.split()[0] for name in names}
