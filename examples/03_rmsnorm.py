"""RMSNorm: each row divided by its root mean square, then scaled by a weight a column."""

import numpy as np
from checking import check, generator

import kiln


@kiln.kernel
def rmsnorm(x: kiln.View, weight: kiln.View, out: kiln.View, eps: kiln.f32, BLOCK: kiln.constexpr):
    rows, columns = x.shape
    i = kiln.grid(rows)
    row = x.load((i, 0), (1, BLOCK)).to(kiln.f32)
    mean_square = kiln.sum(row * row, axis=1, keepdims=True) / columns.to(kiln.f32)
    w = weight.load((0,), (BLOCK,)).to(kiln.f32)
    y = row * kiln.rsqrt(mean_square + eps) * w[None, :]
    out.store((i, 0), y.to(out.dtype))


def reference(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    x = x.astype(np.float64)
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + eps) * weight.astype(np.float64)


def main() -> None:
    rng = generator()
    for rows, columns in ((64, 4096), (7, 1000), (129, 768)):
        x = rng.standard_normal((rows, columns), dtype=np.float32)
        weight = rng.standard_normal(columns, dtype=np.float32)
        out = np.empty_like(x)
        rmsnorm(x, weight, out, 1e-5, BLOCK=1 << (columns - 1).bit_length())
        check(f"RMSNorm, {rows} x {columns} f32", out, reference(x, weight, 1e-5), 1e-6)


if __name__ == "__main__":
    main()
