"""What a launch costs over the C API, and what the first one costs in a new process."""

import statistics

import numpy as np
import pytest
from runtime_kernels import empty

from kiln.runtime.measure import launch_overhead

pytestmark = pytest.mark.serial


class Exporter:
    """As of a library: the methods are found on the type."""

    __slots__ = ("__dlpack__", "__dlpack_device__")

    def __init__(self, array):
        self.__dlpack__ = array.__dlpack__
        self.__dlpack_device__ = array.__dlpack_device__


def arguments(kind):
    arrays = [np.zeros(16, np.float32) for _ in range(3)]
    if kind == "torch":
        torch = pytest.importorskip("torch")
        arrays = [torch.from_numpy(a) for a in arrays]
    if kind == "dlpack":
        arrays = [Exporter(a) for a in arrays]
    return (*arrays, 5, 7)


@pytest.mark.parametrize("kind", ["numpy", "torch", "dlpack"])
def test_a_launch_takes_a_few_microseconds_at_most(kind):
    """A loose bound: `benchmarks/run.py host` measures against the C API's own call."""
    times = launch_overhead(empty, arguments(kind), count=20_000)
    assert times["median_ns"] - times["empty_call_ns"] < 5000, times


def test_the_first_launch_of_a_warm_cache_is_quick(python, tmp_path):
    code = (
        "import numpy as np, runtime_kernels as k\n"
        "from time import perf_counter\n"
        "x = np.ones(1000, np.float32); y = np.zeros_like(x)\n"
        "start = perf_counter(); k.add(x, x, y); print(perf_counter() - start)"
    )
    where = {"KILN_CACHE_DIR": str(tmp_path / "c")}
    python(code, **where)
    times = [float(python(code, **where)[-1]) for _ in range(7)]
    assert statistics.median(times) < 0.01, times
