"""Cumulative sum along rows of any length: a scan a block, the total carried to the next."""

import numpy as np
from checking import check, check_equal, generator

import kiln


@kiln.kernel
def cumsum(x: kiln.View, out: kiln.View, BLOCK: kiln.constexpr = 1024):
    rows, columns = x.shape
    i = kiln.grid(rows)
    carry = kiln.zeros((1, 1), out.dtype)
    for j in range(0, columns, BLOCK):
        block = x.load((i, j), (1, BLOCK)).to(out.dtype)
        out.store((i, j), kiln.cumsum(block, axis=1) + carry)
        carry = carry + kiln.sum(block, axis=1, keepdims=True)


def main() -> None:
    rng = generator()
    for rows, columns in ((16, 1024), (3, 10_007), (1, 1)):
        x = rng.random((rows, columns), dtype=np.float32)
        out = np.empty_like(x)
        cumsum(x, out)
        expected = np.cumsum(x, axis=1, dtype=np.float64)
        check(f"cumulative sum, {rows} x {columns} f32", out, expected, 2e-6)

        x = rng.integers(-100, 100, (rows, columns), dtype=np.int32)
        out = np.empty_like(x)
        cumsum(x, out)
        expected = np.cumsum(x, axis=1, dtype=np.int32)
        check_equal(f"cumulative sum, {rows} x {columns} i32", out, expected)


if __name__ == "__main__":
    main()
