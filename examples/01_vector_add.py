"""Vector add: the smallest kernel. Each program adds one block; the last one is ragged."""

import numpy as np
from checking import check, generator

import kiln


@kiln.kernel
def add(x: kiln.View, y: kiln.View, out: kiln.View, BLOCK: kiln.constexpr = 4096):
    n = x.shape[0]
    i = kiln.grid(kiln.cdiv(n, BLOCK))
    a = x.load((i * BLOCK,), (BLOCK,))
    b = y.load((i * BLOCK,), (BLOCK,))
    out.store((i * BLOCK,), a + b)  # what lies beyond n is dropped


def main() -> None:
    rng = generator()
    for n in (1, 4096, 1_000_003):
        x = rng.standard_normal(n, dtype=np.float32)
        y = rng.standard_normal(n, dtype=np.float32)
        out = np.empty_like(x)
        add(x, y, out)
        check(f"vector add, {n} f32", out, x.astype(np.float64) + y, 1e-7)


if __name__ == "__main__":
    main()
