"""What the tests of the stand-in for a driver run in a process of their own: arrays of its devices,
whose memory is the host's, a kernel, and what the driver was asked for."""

import os

import kiln

__all__ = [
    "Array",
    "add",
    "small",
    "calls",
    "kiln",
    "os",
    "paired",
    "product",
    "reason",
    "transposed",
]


class Array:
    """256 floats of a device, or more."""

    __slots__ = ("__kiln_tensor__",)

    def __init__(self, device: str, size: int = 256):
        where = kiln.device(device)
        memory = where.allocate(4 * size)
        self.__kiln_tensor__ = (memory, 2, (size,), None, *where.memory, False)


@kiln.kernel
def add(x: kiln.View[kiln.f32, 1], y: kiln.View[kiln.f32, 1], B: kiln.constexpr = 64):
    i = kiln.grid(kiln.cdiv(x.shape[0], B))
    kiln.pin(programs_per_block=1)
    y.store((i * B,), x.load((i * B,), (B,)) + 1)


@kiln.kernel
def small(x: kiln.View[kiln.f32, 1], y: kiln.View[kiln.f32, 1], B: kiln.constexpr = 16):
    """Of which a block runs several."""
    kiln.pin(batch=1)
    i = kiln.grid(kiln.cdiv(x.shape[0], B))
    y.store((i * B,), x.load((i * B,), (B,)) + 1)


@kiln.kernel
def paired(x: kiln.View[kiln.f32, 1], y: kiln.View[kiln.f32, 1], B: kiln.constexpr = 64):
    kiln.pin(cluster=2, overlap=True)
    i = kiln.grid(kiln.cdiv(x.shape[0], B))
    y.store((i * B,), x.load((i * B,), (B,)) + 1)


@kiln.kernel
def product(
    a: kiln.View[kiln.bf16, 2],
    b: kiln.View[kiln.bf16, 2],
    c: kiln.View[kiln.f32, 2],
    M: kiln.constexpr = 128,
    N: kiln.constexpr = 128,
    K: kiln.constexpr = 64,
):
    i, j = kiln.grid(kiln.cdiv(c.shape[0], M), kiln.cdiv(c.shape[1], N))
    total = kiln.zeros((M, N), kiln.f32)
    for k in range(0, a.shape[1], K):
        total = kiln.dot(a.load((i * M, k), (M, K)), b.load((k, j * N), (K, N)), total)
    c.store((i * M, j * N), total)


@kiln.kernel
def transposed(
    x: kiln.View[kiln.f32, 2],
    y: kiln.View[kiln.f32, 2],
    n: kiln.i8,
    s: kiln.f64,
    A: kiln.constexpr = 64,
    B: kiln.constexpr = 64,
):
    i, j = kiln.grid(kiln.cdiv(x.shape[0], A), kiln.cdiv(x.shape[1], B))
    tile = x.load((i * A, j * B), (A, B)) * s.to(kiln.f32) + n.to(kiln.f32)
    y.store((j * B, i * A), tile.T)


def calls() -> list[str]:
    """The launches, and what made devices peers, since the last time."""
    log = os.environ["KILN_FAKE_LOG"]
    lines = []
    if os.path.exists(log):
        with open(log) as file:
            lines = file.read().splitlines()
        os.remove(log)
    return [line for line in lines if "Launch" in line or "Peer" in line]


def reason(call, *args, **keywords) -> str:
    try:
        call(*args, **keywords)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing was wrong"
