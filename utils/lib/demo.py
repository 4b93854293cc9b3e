"""What utils/demo shows: one kernel, from its source to checked numbers, on the best device."""

import sys
import time
from pathlib import Path

import numpy as np

import kiln
from kiln.runtime.devices import in_words


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


def excerpt(text, lines=24, around=None):
    """A screenful of a stage's text: from its start, or around a word that shows the work."""
    rows = text.rstrip().splitlines()
    first = 0
    if around is not None:
        counts = [sum(around in row for row in rows[i : i + lines]) for i in range(len(rows))]
        first = counts.index(max(counts))
    shown = [f"    {row[:108]}" for row in rows[first : first + lines]]
    left = len(rows) - len(shown)
    return "\n".join(shown) + (f"\n    … and {left} more lines" if left else "")


def show_devices():
    print("== devices")
    for device in kiln.devices():
        print(f"  {device['name']:8} {in_words(device)[:110]}")


def to_gpu(*arrays):
    """The arrays on the first GPU, by PyTorch, where there are both; None otherwise."""
    if not any(d["available"] and not d["name"].startswith(("cpu", "emu")) for d in kiln.devices()):
        return None
    try:
        import torch
    except ImportError:
        print("a GPU is here, but no PyTorch to put arrays on it: the CPU it is")
        return None
    if not torch.cuda.is_available():  # which is also how PyTorch names AMD's
        return None
    return [torch.from_numpy(array).to("cuda") for array in arrays]


def measure(a, b, c, synchronize):
    """Seconds of the first launch, which compiles or loads, and of the best of ten more."""
    times = []
    for _ in range(11):
        start = time.perf_counter()
        matmul(a, b, c)
        synchronize()
        times.append(time.perf_counter() - start)
    return times[0], min(times[1:])


def main():
    show_devices()
    rng = np.random.default_rng()
    M, N, K = 1000, 777, 513
    a = rng.standard_normal((M, K), dtype=np.float32)
    b = rng.standard_normal((K, N), dtype=np.float32)
    c = np.full((M, N), np.nan, dtype=np.float32)
    arrays, synchronize = to_gpu(a, b, c), lambda: None
    if arrays is None:
        arrays = (a, b, c)
    else:
        import torch

        synchronize = torch.cuda.synchronize

    source = Path(__file__).read_text(encoding="utf-8")
    print(f"\n== a matmul with a user's relu, {M}×{K} by {K}×{N}, f32, for {arrays[0].device}")
    print(excerpt(source[source.index("@kiln.function") : source.index("def excerpt")], 30))
    try:
        compiled = matmul.compile(*arrays)
    except (kiln.UnsupportedError, kiln.CompileError) as error:
        if arrays[0] is a:
            raise
        print(f"-- not on this device yet, so on the CPU instead: {error}")
        arrays, synchronize = (a, b, c), lambda: None
        compiled = matmul.compile(*arrays)
    print("\n-- as tiles: what the kernel means; no threads, no chip")
    print(excerpt(compiled.ir("tile"), 26))
    print("\n-- as the processor's instructions")
    print(excerpt(compiled.asm, 16, around="fma"))

    first, best = measure(*arrays, synchronize)
    result = np.asarray(arrays[2].cpu()) if hasattr(arrays[2], "cpu") else c
    reference = np.maximum(a.astype(np.float64) @ b.astype(np.float64), 0)
    error = np.linalg.norm(result - reference) / np.linalg.norm(reference)
    rate = 2 * M * N * K / best / 1e9
    right = error < 1e-5
    print(f"\n== first launch {first * 1e3:.1f} ms, then {best * 1e3:.2f} ms: {rate:.1f} GFLOP/s")
    print(f"== error against float64: {error:.2e}", "(right)" if right else "(WRONG)")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
