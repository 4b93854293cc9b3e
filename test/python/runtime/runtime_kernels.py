"""The kernels that the run time's tests launch, and how their results are judged."""

import numpy as np

import kiln


def error_of(result, reference, size=None):
    """‖x − ref‖ / ‖ref‖, and the worst element over the root mean square of the reference; or of
    the `size` of what was summed, where few sums may all cancel."""
    reference = np.asarray(reference, np.float64)
    difference = np.abs(np.asarray(result).astype(np.float64) - reference)
    norm = np.linalg.norm((reference if size is None else size).ravel())
    return np.linalg.norm(difference.ravel()) / norm, difference.max() / (
        norm / np.sqrt(reference.size)
    )


def assert_close(result, reference, tolerance, size=None):
    error, worst = error_of(result, reference, size)
    assert error <= tolerance, f"expected an error of {tolerance}, got {error}"
    assert worst <= 32 * tolerance, f"expected a worst element of {32 * tolerance}, got {worst}"


@kiln.kernel
def add(a: kiln.View, b: kiln.View, c: kiln.View, BLOCK: kiln.constexpr = 256):
    """Adds two vectors."""
    i = kiln.grid(kiln.cdiv(a.shape[0], BLOCK))
    x = a.load((i * BLOCK,), (BLOCK,))
    y = b.load((i * BLOCK,), (BLOCK,))
    c.store((i * BLOCK,), x + y)


@kiln.kernel
def scale(x: kiln.View, y: kiln.View, factor: kiln.f32, BLOCK: kiln.constexpr = 64):
    i = kiln.grid(kiln.cdiv(x.shape[0], BLOCK))
    y.store((i * BLOCK,), x.load((i * BLOCK,), (BLOCK,)) * factor)


@kiln.kernel
def accumulate(x: kiln.View, y: kiln.View, BLOCK: kiln.tunable = kiln.tunable(16, 64, default=64)):
    i = kiln.grid(kiln.cdiv(x.shape[0], BLOCK))
    y.store((i * BLOCK,), y.load((i * BLOCK,), (BLOCK,)) + x.load((i * BLOCK,), (BLOCK,)))


@kiln.kernel
def copy(x: kiln.View, y: kiln.View, BLOCK: kiln.constexpr = 64):
    i = kiln.grid(kiln.cdiv(x.shape[0], BLOCK))
    y.store((i * BLOCK,), x.load((i * BLOCK,), (BLOCK,)))


@kiln.kernel
def copy2d(x: kiln.View, y: kiln.View, BM: kiln.constexpr = 8, BN: kiln.constexpr = 16):
    i, j = kiln.grid(kiln.cdiv(x.shape[0], BM), kiln.cdiv(x.shape[1], BN))
    y.store((i * BM, j * BN), x.load((i * BM, j * BN), (BM, BN)))


@kiln.kernel
def fill(y: kiln.View, value, BLOCK: kiln.constexpr = 32):
    """`value` has no annotation: the argument decides what it is."""
    i = kiln.grid(kiln.cdiv(y.shape[0], BLOCK))
    y.store((i * BLOCK,), kiln.full((BLOCK,), value, y.dtype))


@kiln.kernel
def pinned(y: kiln.View, BLOCK: kiln.constexpr = 16):
    """Has no grid of its own."""
    i = kiln.program_id(0)
    y.store((i * BLOCK,), kiln.full((BLOCK,), 1.0, kiln.f32))


@kiln.kernel
def softmax(x: kiln.View, y: kiln.View, BLOCK: kiln.constexpr):
    row = kiln.grid(x.shape[0])
    value = x.load((row, 0), (1, BLOCK), pad=float("-inf"))
    top = kiln.exp(value - kiln.max(value, axis=1, keepdims=True))
    y.store((row, 0), top / kiln.sum(top, axis=1, keepdims=True))


@kiln.kernel
def matmul(a: kiln.View, b: kiln.View, c: kiln.View,
           BM: kiln.tunable = kiln.tunable(16, 32, default=32),
           BN: kiln.constexpr = 32, BK: kiln.constexpr = 16):  # fmt: skip
    M, K = a.shape
    N = b.shape[1]
    i, j = kiln.grid(kiln.cdiv(M, BM), kiln.cdiv(N, BN))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, K, BK):
        x = a.load((i * BM, k), (BM, BK))
        y = b.load((k, j * BN), (BK, BN))
        acc = kiln.dot(x, y, acc)
    c.store((i * BM, j * BN), acc.to(c.dtype))


@kiln.kernel
def checked(x: kiln.View, limit: kiln.i32):
    kiln.grid(1)
    kiln.device_assert(x.shape[0] <= limit, "too many elements")


@kiln.kernel
def fixed(x: kiln.View[kiln.f32, (None, 16)], y: kiln.View[kiln.f32, (None, 16)]):
    i = kiln.grid(x.shape[0])
    y.store((i, 0), x.load((i, 0), (1, 16)))


@kiln.kernel
def empty(a: kiln.View, b: kiln.View, c: kiln.View, n: kiln.i64, m: kiln.i64):
    kiln.grid(1)
