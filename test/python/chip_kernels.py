"""Kernels that the tests of GPUs and of emulated chips share."""

import kiln


@kiln.kernel
def add(x: kiln.View, y: kiln.View, z: kiln.View, B: kiln.constexpr):
    i = kiln.grid(kiln.cdiv(x.shape[0], B))
    z.store((i * B,), x.load((i * B,), (B,)) + y.load((i * B,), (B,)))


@kiln.kernel
def softmax(x: kiln.View, y: kiln.View, N: kiln.constexpr):
    row = kiln.grid(x.shape[0])
    t = x.load((row, 0), (1, N), pad=float("-inf")).to(kiln.f32)
    e = kiln.exp(t - kiln.max(t, axis=1)[:, None])
    y.store((row, 0), (e / kiln.sum(e, axis=1)[:, None]).to(y.dtype))
