"""CUDA's driver by its C interface, for code that is measured without any library above it."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES = 5, 6
MULTIPROCESSORS, MAJOR = 16, 75
MOST_SHARED_BYTES = 8  # of a function, beyond 48 KB


class Driver:
    """The first device, its primary context current in this thread."""

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL(os.environ.get("KILN_CUDA_LIBRARY", "libcuda.so.1"))
        except OSError as error:
            raise AssertionError(f"expected CUDA's driver, got none: {error}") from None
        self._device, context = ctypes.c_int(), ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuDeviceGet", ctypes.byref(self._device), 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._device)
        self._call("cuCtxSetCurrent", context)
        name = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", name, 256, self._device)
        self.name = name.value.decode()

    def _call(self, function: str, *arguments: object) -> None:
        status = getattr(self._library, function)(*arguments)
        if status:
            raise AssertionError(f"expected {function} to succeed, got error {status}")

    def attribute(self, number: int) -> int:
        value = ctypes.c_int()
        self._call("cuDeviceGetAttribute", ctypes.byref(value), number, self._device)
        return value.value

    def load(self, text: str) -> Module:
        """What the driver makes of a module in PTX."""
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        try:
            self._call(
                "cuModuleLoadDataEx", ctypes.byref(module), text.encode(), 2, options, values
            )
        except AssertionError as error:
            raise AssertionError(f"{error}: {log.value.decode()}") from None
        return Module(self, module)

    @contextmanager
    def memory(self, size: int) -> Iterator[Memory]:
        """Bytes of the device, all zero."""
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        try:
            memory = Memory(self, address.value, size)
            memory.fill(0)
            yield memory
        finally:
            self._call("cuMemFree_v2", address)

    def synchronize(self) -> None:
        self._call("cuCtxSynchronize")

    def event(self) -> ctypes.c_void_p:
        """Recorded now, behind what is queued."""
        event = ctypes.c_void_p()
        self._call("cuEventCreate", ctypes.byref(event), 0)
        self._call("cuEventRecord", event, None)
        return event

    def seconds_between(self, start: ctypes.c_void_p, end: ctypes.c_void_p) -> float:
        """Waits for both; they are gone afterwards."""
        milliseconds = ctypes.c_float()
        self._call("cuEventSynchronize", end)
        self._call("cuEventElapsedTime", ctypes.byref(milliseconds), start, end)
        for event in (start, end):
            self._call("cuEventDestroy_v2", event)
        return milliseconds.value * 1e-3


class Memory:
    def __init__(self, driver: Driver, address: int, size: int) -> None:
        self._call, self.address, self.size = driver._call, address, size

    def fill(self, byte: int) -> None:
        self._call(
            "cuMemsetD8_v2", ctypes.c_uint64(self.address), ctypes.c_ubyte(byte),
            ctypes.c_size_t(self.size),
        )  # fmt: skip

    def write(self, data: bytes, offset: int = 0) -> None:
        place = ctypes.c_uint64(self.address + offset)
        self._call("cuMemcpyHtoD_v2", place, data, ctypes.c_size_t(len(data)))

    def read(self, size: int) -> bytes:
        data = ctypes.create_string_buffer(size)
        self._call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(self.address), ctypes.c_size_t(size))
        return data.raw


class Module:
    def __init__(self, driver: Driver, handle: ctypes.c_void_p) -> None:
        self._call, self._handle = driver._call, handle

    def launch(
        self, name: str, blocks: int, threads: int, addresses: tuple[int, ...],
        numbers: tuple[int, ...], shared_bytes: int = 0,
    ) -> None:  # fmt: skip
        """Queues a kernel whose parameters are addresses, then numbers of 32 bits, with so much
        shared memory beside what its code says."""
        function = ctypes.c_void_p()
        self._call("cuModuleGetFunction", ctypes.byref(function), self._handle, name.encode())
        if shared_bytes:
            self._call("cuFuncSetAttribute", function, MOST_SHARED_BYTES, shared_bytes)
        values = [*map(ctypes.c_uint64, addresses), *map(ctypes.c_uint32, numbers)]
        parameters = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        self._call(
            "cuLaunchKernel",
            function,
            blocks,
            1,
            1,
            threads,
            1,
            1,
            shared_bytes,
            None,
            parameters,
            None,
        )
