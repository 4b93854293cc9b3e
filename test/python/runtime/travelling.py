"""Kernels that the tests of pickling import on the other side."""

import kiln

FACTOR = 3


@kiln.function
def tripled(x):
    return x * FACTOR


@kiln.kernel
def triple(x: kiln.View, out: kiln.View, BLOCK: kiln.constexpr = 64):
    i = kiln.grid(kiln.cdiv(x.shape[0], BLOCK))
    out.store(i * BLOCK, tripled(x.load(i * BLOCK, BLOCK)))


@kiln.autotune(configs=[{"BLOCK": 32}, {"BLOCK": 64}])
@kiln.kernel
def tuned(x: kiln.View, out: kiln.View, BLOCK: kiln.constexpr = 64):
    i = kiln.grid(kiln.cdiv(x.shape[0], BLOCK))
    out.store(i * BLOCK, tripled(x.load(i * BLOCK, BLOCK)))


def plus(amount: int):
    """A kernel that no module has under its name."""

    @kiln.function
    def shifted(x):
        return tripled(x) + amount

    @kiln.kernel(opt_level=1, no_facts=("x",))
    def made(x: kiln.View[kiln.f32, 1] | None, out: kiln.View, BLOCK: kiln.constexpr = 64):
        i = kiln.grid(kiln.cdiv(out.shape[0], BLOCK))
        out.store(i * BLOCK, shifted(x.load(i * BLOCK, BLOCK)))

    return made


def run(kernel, count: int):
    """What a kernel makes of the first numbers; for workers."""
    import numpy as np

    x = np.arange(count, dtype=np.float32)
    out = np.zeros_like(x)
    kernel(x, out)
    return out
