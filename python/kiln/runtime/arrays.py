"""Arrays of types that are narrower than a byte.

NumPy keeps such elements one in each byte. Kernels read them packed: element i occupies the
bits from `i * bits`, low bits first, and rows follow each other without gaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kiln import _native
from kiln.language.dtypes import DType, by_name

if TYPE_CHECKING:
    import numpy as np

_NUMPY_NAMES = {
    "i4": "int4", "i2": "int2", "u4": "uint4", "u2": "uint2", "f4e2m1fn": "float4_e2m1fn",
    "f6e2m3fn": "float6_e2m3fn", "f6e3m2fn": "float6_e3m2fn",
}  # fmt: skip


class PackedArray:
    """A dense, packed array on the host, of i4, u4, i2, u2, f4 or f6 elements.

    shape  its extents
    dtype  its element type
    data   the bytes, as a one-dimensional NumPy array of uint8
    """

    __slots__ = ("__kiln_tensor__", "data", "dtype", "shape")

    def __init__(self, data: np.ndarray, shape: tuple[int, ...], dtype: DType | str):
        self.dtype = by_name(dtype) if isinstance(dtype, str) else dtype
        self.shape = tuple(int(n) for n in shape)
        if self.dtype.name not in _NUMPY_NAMES:
            raise TypeError(f"expected a dtype of {', '.join(_NUMPY_NAMES)}, got {self.dtype.name}")
        wanted = (self.size * self.dtype.bits + 7) // 8
        if data.dtype != "uint8" or data.ndim != 1 or data.size != wanted or data.strides != (1,):
            raise ValueError(
                f"expected {wanted} contiguous bytes for {self.size} elements of {self.dtype}, "
                f"got {data.dtype} of shape {data.shape}"
            )
        self.data = data
        address, writable = data.ctypes.data, data.flags.writeable
        self.__kiln_tensor__ = (
            address, _native.dtype_code(self.dtype.name), self.shape, None, 1, 0, not writable,
        )  # fmt: skip

    @property
    def size(self) -> int:
        """The number of elements."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @classmethod
    def empty(cls, shape: tuple[int, ...], dtype: DType | str) -> PackedArray:
        """All elements zero, which is what every type's zero bits mean."""
        import numpy as np

        kind = by_name(dtype) if isinstance(dtype, str) else dtype
        count = 1
        for extent in shape:
            count *= extent
        return cls(np.zeros((count * kind.bits + 7) // 8, np.uint8), shape, kind)

    @classmethod
    def from_numpy(cls, array: np.ndarray, dtype: DType | str | None = None) -> PackedArray:
        """Packs an array that has one element in each byte.

        An array of `ml_dtypes` knows its dtype. With `dtype`, integers of any NumPy type are
        taken as values (which must fit), and uint8 for a float type as its bits.
        """
        import numpy as np

        kind = _dtype_of(array, dtype)
        if array.dtype.name == _NUMPY_NAMES[kind.name]:
            values = np.ascontiguousarray(array).view(np.uint8)
        elif kind.is_float:
            if array.dtype != np.uint8:
                raise TypeError(
                    f"expected the bits of {kind.name} elements as uint8, or an array of "
                    f"{_NUMPY_NAMES[kind.name]}, got {array.dtype}"
                )
            values = array
        else:
            if array.size and not (kind.minimum <= array.min() and array.max() <= kind.maximum):
                raise ValueError(
                    f"expected values from {kind.minimum} to {kind.maximum} for {kind.name}, got "
                    f"{array.min()} to {array.max()}"
                )
            values = array.astype(np.uint8)
        return cls(_pack(values.reshape(-1), kind.bits), array.shape, kind)

    def to_numpy(self) -> np.ndarray:
        """One element in each byte again, in the dtype of `ml_dtypes`."""
        import ml_dtypes
        import numpy as np

        count, width = self.size, self.dtype.bits
        bits = np.unpackbits(self.data, bitorder="little")[: count * width].reshape(count, width)
        values = np.packbits(bits, axis=1, bitorder="little").reshape(count)
        if self.dtype.kind == "int":  # ml_dtypes keeps the sign in the whole byte
            values = ((values ^ (1 << (width - 1))) - (1 << (width - 1))).astype(np.uint8)
        dtype = getattr(ml_dtypes, _NUMPY_NAMES[self.dtype.name])
        return values.view(dtype).reshape(self.shape)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles hold other bytes, at another address."""
        return PackedArray, (self.data, self.shape, self.dtype)

    def __repr__(self) -> str:
        return f"kiln.PackedArray(shape={self.shape}, dtype={self.dtype.name})"


def _dtype_of(array: Any, dtype: DType | str | None) -> DType:
    if dtype is not None:
        return by_name(dtype) if isinstance(dtype, str) else dtype
    for name, numpy_name in _NUMPY_NAMES.items():
        if array.dtype.name == numpy_name:
            return by_name(name)
    raise TypeError(
        f"expected an array of {', '.join(_NUMPY_NAMES.values())}, or the dtype to pack to; "
        f"got {array.dtype}"
    )


def _pack(values: Any, width: int) -> Any:
    import numpy as np

    bits = np.unpackbits(values.reshape(-1, 1), axis=1, bitorder="little")[:, :width]
    return np.packbits(bits.reshape(-1), bitorder="little")
