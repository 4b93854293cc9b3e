"""A matrix product whose weights take 3 bits each, unpacked on the way.

A weight is (q - 4) * scale with q in 0 ... 7 and one scale a group of 64 rows and a column. The
three bits of a weight lie in three bit planes: word [p, k, n] holds bit p of the weights 32 k to
32 k + 31 of column n, so 32 weights take 96 bits and none straddles a word.
"""

import numpy as np
from checking import check, generator

import kiln

GROUP = 64


@kiln.function
def unpack(words):
    """One bit of each weight: [BK / 32, BN] words to [BK, BN] zeros and ones."""
    bit = (words[:, None, :] >> kiln.arange(32)[None, :, None]) & 1
    return bit.reshape((words.shape[0] * 32, words.shape[1]))


@kiln.kernel
def dequant_matmul(
    a: kiln.View, planes: kiln.View, scales: kiln.View, c: kiln.View,
    BM: kiln.tunable = kiln.tunable(16, 32, 64, default=32),
    BN: kiln.tunable = kiln.tunable(32, 64, 128, default=64),
    GROUP: kiln.constexpr = GROUP,
):  # fmt: skip
    M, K = a.shape
    N = scales.shape[1]
    i, j = kiln.grid(kiln.cdiv(M, BM), kiln.cdiv(N, BN))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, K, GROUP):
        x = a.load((i * BM, k), (BM, GROUP))
        q = kiln.zeros((GROUP, BN), kiln.i32)
        for p in kiln.static_range(3):
            words = planes.load((p, k // 32, j * BN), (1, GROUP // 32, BN))
            q = q | (unpack(words.reshape((GROUP // 32, BN))) << p)
        scale = scales.load((k // GROUP, j * BN), (1, BN))
        w = (q - 4).to(kiln.f32) * scale
        acc = kiln.dot(x, w.to(a.dtype), acc)
    c.store((i * BM, j * BN), acc.to(c.dtype))


def pack(q: np.ndarray) -> np.ndarray:
    """[K, N] values of 0 ... 7 to [3, K / 32, N] words."""
    k, n = q.shape
    bits = (q.reshape(1, k // 32, 32, n) >> np.arange(3).reshape(3, 1, 1, 1)) & 1
    words = (bits.astype(np.uint32) << np.arange(32, dtype=np.uint32)[:, None]).sum(axis=2)
    return words.astype(np.uint32).view(np.int32)


def main() -> None:
    rng = generator()
    for m, n, k in ((32, 128, 256), (7, 200, 512)):
        a = rng.standard_normal((m, k), dtype=np.float32)
        q = rng.integers(0, 8, (k, n))
        scales = rng.uniform(0.5, 2, (k // GROUP, n)).astype(np.float32)
        planes = pack(q)
        c = np.empty((m, n), np.float32)
        dequant_matmul(a, planes, scales, c)
        w = (q - 4) * np.repeat(scales.astype(np.float64), GROUP, axis=0)
        name = f"3-bit matmul, {m} x {n} x {k}, {8 * planes.nbytes / q.size:g} bits a weight"
        check(name, c, a.astype(np.float64) @ w, 1e-6)


if __name__ == "__main__":
    main()
