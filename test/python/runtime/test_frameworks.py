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


def test_what_a_producer_raises_comes_through():
    class Broken(Exporter):
        def __dlpack__(self, **keywords):
            raise BufferError("not exportable")

    with pytest.raises(BufferError, match="not exportable"):
        copy(Broken(np.ones(16, np.float32)), np.zeros(16, np.float32))


def test_something_else_than_a_capsule():
    class Wrong(Exporter):
        def __dlpack__(self, **keywords):
            return 42

    with pytest.raises(kiln.LaunchError, match="argument `x`: expected a DLPack capsule"):
        copy(Wrong(np.ones(16, np.float32)), np.zeros(16, np.float32))


def test_torch_complex_is_refused():
    with pytest.raises(kiln.LaunchError, match="argument `x`: expected an element type"):
        copy(torch.zeros(4, dtype=torch.complex64), torch.zeros(4))
