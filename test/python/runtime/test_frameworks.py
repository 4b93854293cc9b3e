"""Tensors of other frameworks: PyTorch, and whatever has `__dlpack__`."""

import numpy as np
import pytest
from runtime_kernels import add, copy

import kiln

torch = pytest.importorskip("torch")


class Exporter:
    """A tensor of a library that Kiln knows nothing of. `versioned` False: an old one."""

    def __init__(self, array, versioned=True):
        self.array, self.versioned, self.exports = array, versioned, 0

    def __dlpack__(self, **keywords):
        self.exports += 1
        if not self.versioned:
            if keywords:
                raise TypeError("__dlpack__() got an unexpected keyword argument")
            return self.array.__dlpack__()
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize(
    "dtype",
    ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8",
     "bool", "float8_e4m3fn", "float8_e5m2"],
)  # fmt: skip
def test_torch_dtypes(rng, dtype):
    kind = getattr(torch, dtype)
    size = torch.empty(0, dtype=kind).element_size()
    raw = torch.from_numpy(rng.integers(0, 2, 96 * size, dtype=np.uint8))
    x = raw.view(kind)
    out = torch.zeros(96, dtype=torch.uint8).repeat(size).view(kind)
    copy(x, out)
    assert torch.equal(out.view(torch.uint8), x.view(torch.uint8))


def test_torch_strides(rng):
    x = torch.from_numpy(rng.standard_normal((20, 30), dtype=np.float32))
    out = torch.zeros(20)
    copy(x.t()[3], out)
    assert torch.equal(out, x[:, 3])


def test_kinds_mix_in_one_launch(rng):
    a = torch.from_numpy(rng.standard_normal(100, dtype=np.float32))
    b = rng.standard_normal(100, dtype=np.float32)
    c = np.zeros(100, np.float32)
    add(a, Exporter(b), c)
    np.testing.assert_array_equal(c, a.numpy() + b)


@pytest.mark.parametrize("versioned", [True, False])
def test_plain_dlpack(rng, versioned):
    x = rng.standard_normal(50, dtype=np.float32)
    out = np.zeros_like(x)
    source, target = Exporter(x, versioned), Exporter(out, versioned)
    copy(source, target)
    np.testing.assert_array_equal(out, x)
    assert source.exports == (1 if versioned else 2) or not versioned


def test_a_capsule_is_freed_after_the_launch():
    import sys

    x = np.ones(16, np.float32)
    out = np.zeros_like(x)
    before = sys.getrefcount(x)
    for _ in range(100):
        copy(Exporter(x), out)
    assert sys.getrefcount(x) == before


def test_what_a_producer_raises_is_told_of_the_argument():
    class Broken(Exporter):
        def __dlpack__(self, **keywords):
            raise BufferError("not exportable")

    with pytest.raises(
        kiln.LaunchError, match="kernel `copy`, argument `x`: expected .* refuses: not exportable"
    ) as caught:
        copy(Broken(np.ones(16, np.float32)), np.zeros(16, np.float32))
    assert isinstance(caught.value.__cause__, BufferError)


def test_ctrl_c_in_a_producer_comes_through():
    class Interrupted(Exporter):
        def __dlpack__(self, **keywords):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy(Interrupted(np.ones(16, np.float32)), np.zeros(16, np.float32))


@pytest.mark.parametrize("kind", ["meta", "sparse"])
def test_torch_tensors_without_memory_are_refused(kind):
    x = torch.ones(16).to_sparse() if kind == "sparse" else torch.ones(16, device="meta")
    with pytest.raises(kiln.LaunchError, match="kernel `copy`, argument `x`: expected .*refuses: "):
        copy(x, torch.zeros(16))


def test_torch_tensors_that_are_negated_when_read_are_refused(rng):
    z = torch.from_numpy(rng.standard_normal((16, 2), dtype=np.float32))
    imaginary = torch.view_as_complex(z).conj().imag
    out = torch.zeros(16)
    with pytest.raises(kiln.LaunchError, match=r"argument `x`: expected .*negated.*resolve_neg"):
        copy(imaginary, out)
    copy(imaginary.resolve_neg(), out)
    assert torch.equal(out, -z[:, 1])
    copy(torch.view_as_complex(z).imag, out)
    assert torch.equal(out, z[:, 1])


def test_something_else_than_a_capsule():
    class Wrong(Exporter):
        def __dlpack__(self, **keywords):
            return 42

    with pytest.raises(kiln.LaunchError, match="argument `x`: expected a DLPack capsule"):
        copy(Wrong(np.ones(16, np.float32)), np.zeros(16, np.float32))


def test_torch_complex_is_refused():
    with pytest.raises(kiln.LaunchError, match="argument `x`: expected an element type"):
        copy(torch.zeros(4, dtype=torch.complex64), torch.zeros(4))


class Elsewhere:
    """A tensor that says it is in another device's memory. Nothing may touch its bytes."""

    def __init__(self, device_type):
        self.device_type = device_type

    def __dlpack_device__(self):
        return (self.device_type, 0)

    def __dlpack__(self, **keywords):
        import ctypes

        class Tensor(ctypes.Structure):
            _fields_ = [
                ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
                ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
            ]  # fmt: skip

        self.shape = (ctypes.c_int64 * 1)(16)
        self.tensor = Tensor(0x1000, self.device_type, 0, 1, 2, 32, 1, self.shape, None, 0)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.tensor), b"dltensor", None)


def test_wrong_device_memory_of_one_that_is_not_there():
    with pytest.raises((kiln.LaunchError, kiln.DeviceError, LookupError)) as caught:
        copy(Elsewhere(15), Elsewhere(15))
    assert "15" in str(caught.value)


def test_wrong_device_memory_of_two_in_one_launch():
    out = np.zeros(16, np.float32)
    with pytest.raises(kiln.LaunchError, match=r"kernel `copy`, argument `y`: expected .*cpu"):
        copy(out, Elsewhere(15))
