"""LayerNorm(residual + dropout(x)): one pass, with the mask made from a counter.

Dropout needs no stored mask: Philox's random bits are a function of the seed and the element's
position alone, so the reference below makes the same ones in NumPy, and a backward pass could
make them again.
"""

import numpy as np
from checking import check, check_equal, generator

import kiln


@kiln.kernel
def layernorm_dropout(
    x: kiln.View, residual: kiln.View, weight: kiln.View, bias: kiln.View, total: kiln.View,
    out: kiln.View, seed: kiln.i64, keep: kiln.f32, eps: kiln.f32, BLOCK: kiln.constexpr,
):  # fmt: skip
    rows, columns = x.shape
    i = kiln.grid(rows)
    column = kiln.arange(BLOCK)[None, :]
    inside = column < columns.to(kiln.i32)
    n = columns.to(kiln.f32)

    dropped = x.load((i, 0), (1, BLOCK)).to(kiln.f32)
    uniform = kiln.rand(seed, column, i.to(kiln.i32))  # the row is the stream
    dropped = kiln.where(uniform < keep, dropped / keep, 0.0)
    h = dropped + residual.load((i, 0), (1, BLOCK)).to(kiln.f32)
    total.store((i, 0), h.to(total.dtype))

    mean = kiln.sum(h, axis=1, keepdims=True) / n
    centred = kiln.where(inside, h - mean, 0.0)
    variance = kiln.sum(centred * centred, axis=1, keepdims=True) / n
    w = weight.load((0,), (BLOCK,))[None, :].to(kiln.f32)
    b = bias.load((0,), (BLOCK,))[None, :].to(kiln.f32)
    y = centred * kiln.rsqrt(variance + eps) * w + b
    out.store((i, 0), y.to(out.dtype))


def philox_uniform(seed: int, streams: np.ndarray, counters: np.ndarray) -> np.ndarray:
    """The first word of Philox 4x32-10 as a number in [0, 1), as `kiln.rand` defines it.

    Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
    """
    low = np.uint64(0xFFFFFFFF)
    c0, c1 = np.broadcast_arrays(counters.astype(np.uint64), streams.astype(np.uint64))
    c2 = c3 = np.zeros_like(c0)
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        p0, p1 = c0 * np.uint64(0xD2511F53), c2 * np.uint64(0xCD9E8D57)
        c0, c1, c2, c3 = (
            (p1 >> np.uint64(32)) ^ c1 ^ np.uint64(k0), p1 & low,
            (p0 >> np.uint64(32)) ^ c3 ^ np.uint64(k1), p0 & low,
        )  # fmt: skip
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return (c0 >> np.uint64(8)).astype(np.float64) * 2.0**-24


def main() -> None:
    rng = generator()
    for rows, columns in ((64, 1024), (5, 770)):
        x, residual = rng.standard_normal((2, rows, columns), dtype=np.float32)
        weight, bias = rng.standard_normal((2, columns), dtype=np.float32)
        total, out = np.empty_like(x), np.empty_like(x)
        seed, keep, eps = int(rng.integers(2**62)), 0.75, 1e-5
        layernorm_dropout(
            x, residual, weight, bias, total, out, seed, keep, eps,
            BLOCK=1 << (columns - 1).bit_length(),
        )  # fmt: skip

        kept = philox_uniform(seed, np.arange(rows)[:, None], np.arange(columns)[None]) < keep
        h = np.where(kept, x.astype(np.float64) / keep, 0) + residual
        centred = h - h.mean(axis=1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=1, keepdims=True) + eps)
        name = f"{rows} x {columns} f32"
        seen = np.abs(x) > 1e-4  # what is smaller may vanish in the sum
        check_equal(f"dropout's mask, {name}", (total != residual) & seen, kept & seen)
        check(f"dropout + residual, {name}", total, h, 1e-6)
        check(f"LayerNorm, {name}", out, centred / scale * weight + bias, 1e-6)


if __name__ == "__main__":
    main()
