"""NumPy's arrays handed to a kernel on any device.

A device that reads the host's memory (`cpu`, `emu:…`) takes them as they are. For a GPU,
`Placement` copies each buffer there once, so that views of one array still overlap, and `fetch`
copies what the kernel left there back in place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import kiln
from kiln import _native

DLPACK_KINDS = {"cuda": 2, "hip": 10}


class Placed:
    """Memory of a GPU under Kiln's own tensor protocol."""

    __slots__ = ("__kiln_tensor__",)

    def __init__(self, tensor: tuple):
        self.__kiln_tensor__ = tensor


def code_of(dtype: np.dtype) -> int:
    name = dtype.name.replace("bfloat", "bf").replace("float8_", "f8").replace("float", "f")
    return _native.dtype_code(name.replace("uint", "u").replace("int", "i"))


class Placement:
    """What one launch on `device` is given."""

    def __init__(self, device: str):
        self.device = device
        self.kind = DLPACK_KINDS.get(device.split(":")[0])
        self.index = int(device.split(":")[1]) if self.kind else 0
        self.buffers: dict[int, tuple[np.ndarray, Any]] = {}

    def place(self, value: Any) -> Any:
        """The value as a launch takes it; all but arrays are themselves."""
        if self.kind is None:
            return value
        if isinstance(value, kiln.PackedArray):
            address, dtype, shape, strides, _, _, fixed = value.__kiln_tensor__
            return self._placed(value.data, dtype, shape, strides, fixed)
        if isinstance(value, np.ndarray):
            steps = tuple(step // value.itemsize for step in value.strides)
            fixed = not value.flags.writeable
            return self._placed(value, code_of(value.dtype), value.shape, steps, fixed)
        return value

    def address(self, array: np.ndarray | kiln.PackedArray) -> int:
        """Where the array's first element is."""
        if self.kind is None:
            return (array.data if isinstance(array, kiln.PackedArray) else array).ctypes.data
        return self.place(array).__kiln_tensor__[0]

    def fetch(self) -> None:
        """Waits for the device, by Kiln, which tells what failed there, and copies every buffer back."""
        if self.kind is not None:
            kiln.synchronize(self.device)
        for host, there in self.buffers.values():
            if host.flags.writeable:
                host.reshape(-1).view(np.uint8)[...] = there.cpu().numpy()

    def _placed(self, array: np.ndarray, *description) -> Placed:
        import torch

        base = array
        while isinstance(base.base, np.ndarray):
            base = base.base
        if not base.flags.c_contiguous:
            base = base.T
        assert base.flags.c_contiguous, "expected an array whose buffer is dense"
        start = base.ctypes.data
        if start not in self.buffers:
            data = np.frombuffer(base.tobytes(), np.uint8).copy()
            there = torch.from_numpy(data).to(f"cuda:{self.index}")
            self.buffers[start] = (base, there)
        address = self.buffers[start][1].data_ptr() + array.ctypes.data - start
        dtype, shape, strides, fixed = description
        return Placed((address, dtype, tuple(shape), strides, self.kind, self.index, fixed))
