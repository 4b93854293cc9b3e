"""What utils/demo shows: one kernel, from its source to checked numbers, on the best device."""

import sys
import time

import numpy as np

import kiln


@kiln.function
def relu(x):
    return kiln.maximum(x, 0.0)


@kiln.kernel
def matmul(
    a: kiln.View,
    b: kiln.View,
    c: kiln.View,
    BM: kiln.constexpr = 64,
    BN: kiln.constexpr = 64,
    BK: kiln.constexpr = 32,
    epilogue: kiln.constexpr = relu,
):
    M, K = a.shape
    N = b.shape[1]
    i, j = kiln.grid(kiln.cdiv(M, BM), kiln.cdiv(N, BN))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, K, BK):
        acc = kiln.dot(a.load((i * BM, k), (BM, BK)), b.load((k, j * BN), (BK, BN)), acc)
    c.store((i * BM, j * BN), epilogue(acc))


def excerpt(text, lines=24):
    """The start of a stage's text, so that a screen holds all stages."""
    rows = text.rstrip().splitlines()
    more = f"\n    … {len(rows) - lines} more lines" if len(rows) > lines else ""
    return "\n".join("    " + row[:110] for row in rows[:lines]) + more


def main():
    print("== devices")
    for device in kiln.devices():
        print(f"  {device}")

    rng = np.random.default_rng()
    M, N, K = 1000, 777, 513
    a = rng.standard_normal((M, K), dtype=np.float32)
    b = rng.standard_normal((K, N), dtype=np.float32)
    c = np.full((M, N), np.nan, dtype=np.float32)

    print(f"\n== matmul with a fused relu, {M}×{K} by {K}×{N}, f32; the source is {__file__}")
    compiled = matmul.compile(a, b, c)
    for stage in ("tile", "asm"):
        print(f"\n-- {stage}")
        print(excerpt(compiled.asm if stage == "asm" else compiled.ir(stage)))

    start = time.perf_counter()
    matmul(a, b, c)
    first = time.perf_counter() - start
    times = []
    for _ in range(10):
        start = time.perf_counter()
        matmul(a, b, c)
        times.append(time.perf_counter() - start)
    best = min(times)

    reference = np.maximum(a.astype(np.float64) @ b.astype(np.float64), 0)
    error = np.linalg.norm(c - reference) / np.linalg.norm(reference)
    rate = 2 * M * N * K / best / 1e9
    print(f"\n== first launch {first * 1e3:.1f} ms, then {best * 1e3:.2f} ms: {rate:.1f} GFLOP/s")
    print(f"== error against float64: {error:.2e}", "(right)" if error < 1e-5 else "(WRONG)")
    return 0 if error < 1e-5 else 1


if __name__ == "__main__":
    sys.exit(main())
