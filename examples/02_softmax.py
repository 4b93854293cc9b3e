"""Softmax of each row. A row is read once, whole: the block is the next power of two."""

import ml_dtypes
import numpy as np
from checking import check, generator

import kiln


@kiln.kernel
def softmax(x: kiln.View, out: kiln.View, BLOCK: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    # Padding with minus infinity: exp makes it 0, so it counts neither here nor in the sum.
    row = x.load((i, 0), (1, BLOCK), pad=float("-inf")).to(kiln.f32)
    e = kiln.exp(row - kiln.max(row, axis=1, keepdims=True))
    y = e / kiln.sum(e, axis=1, keepdims=True)
    out.store((i, 0), y.to(out.dtype))


def reference(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def main() -> None:
    rng = generator()
    for shape in ((64, 1024), (33, 781), (1, 1)):
        x = (4 * rng.standard_normal(shape)).astype(np.float32)
        out = np.empty_like(x)
        softmax(x, out, BLOCK=1 << (shape[1] - 1).bit_length())
        check(f"softmax, {shape[0]} x {shape[1]} f32", out, reference(x), 1e-6)

        x = x.astype(ml_dtypes.bfloat16)
        out = np.empty_like(x)
        softmax(x, out, BLOCK=1 << (shape[1] - 1).bit_length())
        check(f"softmax, {shape[0]} x {shape[1]} bf16", out, reference(x), 4e-3)


if __name__ == "__main__":
    main()
