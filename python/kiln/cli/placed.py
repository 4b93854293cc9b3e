"""The arrays of `kiln run` where the device reads them: its own memory, or the host's."""

from __future__ import annotations

from typing import Any

_TO_DEVICE, _TO_HOST = 0, 1


class Memory:
    """An array in a device's memory, as a launch takes it."""

    __slots__ = ("__kiln_tensor__",)

    def __init__(self, description: tuple):
        self.__kiln_tensor__ = description


class Placed:
    """The arguments of a launch on a device; `fetch` brings back what it wrote."""

    def __init__(self, device: Any, arguments: list[Any]):
        import numpy as np

        from kiln import _native

        self._device = device
        self._copies: list[tuple[Any, int]] = []
        kind, number = device.memory
        self.arguments = arguments
        if _native.device_of_memory(kind, number) == "cpu":
            return
        self.arguments = []
        for value in arguments:
            bytes_ = getattr(value, "data", None) if hasattr(value, "__kiln_tensor__") else value
            if not isinstance(bytes_, np.ndarray):
                self.arguments.append(value)
                continue
            address = device.allocate(max(bytes_.nbytes, 1))
            device.copy(address, bytes_.ctypes.data, bytes_.nbytes, _TO_DEVICE)
            self._copies.append((bytes_, address))
            self.arguments.append(Memory((address, *_described(value), kind, number, 0)))

    def fetch(self) -> None:
        """Copies every array back."""
        for array, address in self._copies:
            self._device.copy(array.ctypes.data, address, array.nbytes, _TO_HOST)
        self._device.synchronize()

    def __del__(self) -> None:
        for _, address in self._copies:
            self._device.free(address)


def _described(value: Any) -> tuple[int, tuple[int, ...], None]:
    """The code of its dtype, its shape, and that it is dense."""
    from kiln import _native

    if hasattr(value, "__kiln_tensor__"):
        return value.__kiln_tensor__[1], value.shape, None
    name = value.dtype.name.replace("bfloat", "bf").replace("float8_", "f8").replace("float", "f")
    return _native.dtype_code(name.replace("uint", "u").replace("int", "i")), value.shape, None
