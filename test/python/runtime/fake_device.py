"""What the tests of the stand-in for a driver run in a process of their own: arrays of its devices,
whose memory is the host's, a kernel, and what the driver was asked for."""

import os

import kiln

__all__ = ["Array", "add", "calls", "kiln", "os", "paired", "reason"]


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
    y.store((i * B,), x.load((i * B,), (B,)) + 1)


@kiln.kernel
def paired(x: kiln.View[kiln.f32, 1], y: kiln.View[kiln.f32, 1], B: kiln.constexpr = 64):
    kiln.pin(cluster=2, overlap=True)
    i = kiln.grid(kiln.cdiv(x.shape[0], B))
    y.store((i * B,), x.load((i * B,), (B,)) + 1)


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
