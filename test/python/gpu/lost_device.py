"""Kernels that take a GPU down, in a process of their own: lost_device.py alone|shared
queued|blocking, or slow. Prints a line for each thing that happened, for the test to read."""

import ctypes
import os
import sys

import numpy as np

import kiln

IN, OUT = 0, 1  # KilnCopyKind


@kiln.kernel
def good(p: kiln.Pointer[kiln.f32], n: kiln.i32, B: kiln.constexpr = 128):
    i = kiln.program_id(0)
    x = kiln.view(p, (n,))
    x.store((i * B,), x.load((i * B,), (B,)) + 1)


@kiln.kernel
def bad(p: kiln.Pointer[kiln.f32], n: kiln.i32, B: kiln.constexpr = 128):
    kiln.view(p, (n,)).store((kiln.program_id(0) * B,), kiln.full((B,), 1.0, kiln.f32))


@kiln.kernel
def slow(p: kiln.Pointer[kiln.i32], n: kiln.i64):
    x = kiln.view(p, (1,))
    at = x[0]
    for _ in range(n):
        at = at * 1664525 + 1013904223
    x[0] = at


def attempt(call, *arguments):
    try:
        call(*arguments)
    except Exception as error:
        print(f"{type(error).__name__}: {error}".replace("\n", " "))
    else:
        print("nothing was wrong")


def increments(device, values: np.ndarray) -> bool:
    """Whether `good` adds one to fresh memory of the device."""
    memory = device.allocate(values.nbytes)
    device.copy(memory, values.ctypes.data, values.nbytes, IN)
    good[values.size // 128](memory, values.size, _device="cuda:0")
    device.synchronize()
    back = np.empty_like(values)
    device.copy(back.ctypes.data, memory, values.nbytes, OUT)
    device.synchronize()
    return bool((back == values + 1).all())


def failures(who: str, how: str) -> None:
    if how == "blocking":
        os.environ["KILN_LAUNCH_BLOCKING"] = "1"
    if who == "shared":
        import torch

        torch.zeros(1, device="cuda")
    device = kiln.device("cuda:0")
    values = np.random.default_rng().standard_normal(1024).astype(np.float32)
    if who == "alone":
        device.reset()  # of one that is well: it begins anew
    print("good", increments(device, values))

    def fail():
        bad[4](0x10, 512, _device="cuda:0")  # an address that nobody has
        device.synchronize()

    attempt(fail)
    attempt(lambda: good[8](0x1000, 1024, _device="cuda:0"))
    host = values.copy()
    good[8](host.ctypes.data, 1024, _device="cpu")
    print("host", bool((host == values + 1).all()))
    try:
        device.reset()
    except kiln.DeviceError as error:
        print(f"DeviceError: {error}")
    else:
        print("after the reset", increments(device, values))


def waits() -> None:
    device = kiln.device("cuda:0")
    memory = device.allocate(4)
    slow[1](memory, 1, _device="cuda:0")
    device.synchronize()
    slow[1](memory, 1 << 28, _device="cuda:0")
    attempt(kiln.synchronize, "cuda:0", 0, 0.02)
    device.synchronize(0, 60.0)
    value = ctypes.c_int32()
    device.copy(ctypes.addressof(value), memory, 4, OUT)
    device.synchronize()
    print("ended", True)


if __name__ == "__main__":
    waits() if sys.argv[1] == "slow" else failures(*sys.argv[1:])
