"""The same kernels on an accelerator, where there is one that PyTorch and Kiln both see."""

import numpy as np
import pytest
from runtime_kernels import accumulate, add, assert_close, copy2d, matmul, softmax

import kiln

torch = pytest.importorskip("torch")
if not torch.accelerator.is_available():
    pytest.skip("no accelerator", allow_module_level=True)
DEVICE = torch.accelerator.current_accelerator()


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, device=DEVICE).to(dtype)


def wide(tensor):
    return tensor.double().cpu().numpy()


@pytest.mark.parametrize("n", [1, 255, 256, 10_007])
def test_vector_add(n):
    x, y = random(2, n)
    out = torch.empty_like(x)
    add(x, y, out)
    assert torch.equal(out, x + y)


@pytest.mark.parametrize("shape", [(1, 1), (7, 100), (33, 128)])
def test_softmax(shape):
    x = random(*shape)
    out = torch.empty_like(x)
    softmax(x, out, BLOCK=128)
    values = np.exp(wide(x) - wide(x).max(axis=1, keepdims=True))
    assert_close(out.cpu(), values / values.sum(axis=1, keepdims=True), 1e-6)


@pytest.mark.parametrize("m, n, k", [(32, 32, 16), (33, 65, 47), (70, 5, 128)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
def test_matmul(m, n, k, dtype):
    a, b = random(m, k, dtype=dtype), random(k, n, dtype=dtype)
    out = torch.empty(m, n, device=DEVICE)
    matmul(a, b, out)
    assert_close(out.cpu(), wide(a) @ wide(b), 1e-6)


def test_strides():
    x = random(40, 50)
    out = torch.zeros(50, 40, device=DEVICE)
    copy2d(x.t(), out)
    assert torch.equal(out, x.t())


def test_the_frameworks_current_stream_is_used():
    stream = torch.Stream(DEVICE)
    x = random(1 << 22)
    y, out = torch.zeros_like(x), torch.empty_like(x)
    torch.accelerator.synchronize()
    with stream:
        for _ in range(200):  # work ahead in the same stream
            y.add_(x)
        y.copy_(x)
        add(x, y, out)
    stream.synchronize()
    assert torch.equal(out, x + x)
    add(x, x, y, _stream=stream)
    stream.synchronize()
    assert torch.equal(y, x + x)


def test_memory_of_the_host_does_not_mix_in():
    x = random(16)
    with pytest.raises(kiln.LaunchError, match=r"kernel `add`, argument `b`: expected .*reach"):
        add(x, np.ones(16, np.float32), x)


def test_tuning_waits_for_the_device():
    tuned = kiln.autotune(key=["x"], restore=["y"], seconds=0.002)(accumulate)
    x, y = random(1000), torch.zeros(1000, device=DEVICE)
    tuned(x, y)
    kiln.synchronize()
    assert torch.equal(y, x)
    assert tuned.records[0]["device"] != "cpu"
