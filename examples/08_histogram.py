"""Histogram of bytes: each program counts its block, then adds the counts to memory at once."""

import numpy as np
from checking import check_equal, generator

import kiln


@kiln.kernel
def histogram(x: kiln.View, counts: kiln.View, BLOCK: kiln.constexpr = 4096):
    n = x.shape[0]
    i = kiln.grid(kiln.cdiv(n, BLOCK))
    block = x.load((i * BLOCK,), (BLOCK,)).to(kiln.i32)
    inside = kiln.arange(BLOCK) < (n - i * BLOCK).to(kiln.i32)  # padding is not counted
    local = kiln.histogram(block, 256, mask=inside)
    kiln.atomic_add(counts, (kiln.arange(256),), local, order="relaxed")


def main() -> None:
    rng = generator()
    for n in (1, 4096, 1_000_003):
        x = np.minimum(rng.exponential(40.0, n), 255).astype(np.uint8)
        counts = np.zeros(256, np.int32)
        histogram(x, counts)
        check_equal(f"histogram of {n} bytes", counts, np.bincount(x, minlength=256))


if __name__ == "__main__":
    main()
