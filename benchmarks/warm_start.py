"""One new process of the suite `host`: what the first launch costs after import.

Prints two numbers: the seconds of the first call, and 1 if the kernel came from the disk cache.
"""

from time import perf_counter

import kernels
import numpy as np

x, y = np.random.default_rng().standard_normal((2, 100_000), dtype=np.float32)
out = np.empty_like(x)
start = perf_counter()
kernels.add(x, y, out)
seconds = perf_counter() - start
np.testing.assert_array_equal(out, x + y)
print(seconds, int(kernels.add.warmup(x, y, out).source_level == "disk"))
