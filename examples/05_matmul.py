"""Matrix product, all four transpositions, any size.

A transposed operand is the same memory with its strides swapped: `a.T` in NumPy. The kernel is
the same; Kiln compiles it for the strides that it is given. Tiles over the edge read zeros,
which add nothing, and what they would write outside is dropped. The model chooses the tile for the
sizes of each call.
"""

import ml_dtypes
import numpy as np
from checking import check, generator

import kiln


@kiln.kernel
def matmul(
    a: kiln.View, b: kiln.View, c: kiln.View,
    BM: kiln.tunable = kiln.tunable(64, 16, 128, 192, 256),
    BN: kiln.tunable = kiln.tunable(64, 32, 128, 160, 192, 224, 256),
    BK: kiln.constexpr = 64,
):  # fmt: skip
    M, K = a.shape
    N = b.shape[1]
    i, j = kiln.grid(kiln.cdiv(M, BM), kiln.cdiv(N, BN))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, K, BK):
        x = a.load((i * BM, k), (BM, BK))
        y = b.load((k, j * BN), (BK, BN))
        acc = kiln.dot(x, y, acc)
    c.store((i * BM, j * BN), acc.to(c.dtype))


def main() -> None:
    rng = generator()
    for dtype, tolerance in ((np.float32, 1e-6), (ml_dtypes.bfloat16, 4e-3)):
        for m, n, k in ((64, 128, 128), (100, 131, 77), (1, 100, 257)):
            for form in ("NN", "NT", "TN", "TT"):
                a = rng.standard_normal((m, k) if form[0] == "N" else (k, m)).astype(dtype)
                b = rng.standard_normal((k, n) if form[1] == "N" else (n, k)).astype(dtype)
                a = a if form[0] == "N" else a.T
                b = b if form[1] == "N" else b.T
                c = np.empty((m, n), dtype)
                matmul(a, b, c)
                reference = a.astype(np.float64) @ b.astype(np.float64)
                check(f"matmul {form}, {m} x {n} x {k} {c.dtype}", c, reference, tolerance)


if __name__ == "__main__":
    main()
