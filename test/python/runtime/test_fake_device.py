"""Launch options, several devices and failures, through the stand-in for a driver that records its
calls: what a machine without such a device can show of them."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("KILN_BUILD", ROOT / "build")).resolve()
FAKE = BUILD / "test/Runtime/CUDA/libkiln-fake-cuda.so"

pytestmark = pytest.mark.skipif(not FAKE.exists(), reason="no build tree with the stand-in here")


@pytest.fixture
def fake(python, tmp_path):
    def run(code: str):
        log = str(tmp_path / "log")
        return python(
            f"from fake_device import *\n{code}", KILN_CUDA_LIBRARY=str(FAKE), KILN_FAKE_LOG=log
        )

    return run


def test_options_reach_the_driver(fake):
    lines = fake("""
x, y = Array("cuda:0"), Array("cuda:0")
add(x, y)
add.options(cluster=(2,), cooperative=True, priority=-2)(x, y)
add[8](x, y, _cluster=4, _stream=66)
print(*calls(), sep="\\n")
print(reason(add.options(cluster=3), x, y))
print(reason(add.options(overlap=True), x, y))
print(calls())
""")
    assert lines[0].startswith("cuLaunchKernel 4x1x1 of ")
    assert lines[1].startswith("cuLaunchKernelEx 4x1x1 of ")
    assert lines[1].endswith(" attribute 4: 2x1x1 attribute 2: 1x0x0 attribute 8: -2x0x0")
    assert lines[2].startswith("cuLaunchKernelEx 8x1x1 of ")
    assert lines[2].endswith(" attribute 4: 4x1x1")
    assert "LaunchError: kernel `add`: expected a grid of whole clusters of 3 x 1 x 1" in lines[3]
    assert "LaunchError: kernel `add`: expected a kernel that is compiled to overlap" in lines[4]
    assert lines[5] == "[]"


def test_a_block_of_several_programs(fake):
    """A grid and a cluster are of programs; the last blocks of a cluster may have none."""
    lines = fake("""
x, y = Array("cuda:0"), Array("cuda:0")
small(x, y)
small[9](x, y)
small[12](x, y, _cluster=3)
print(*calls(), sep="\\n")
print(reason(small.options(cluster=3), x, y))
""")
    assert lines[0].startswith("cuLaunchKernel 2x1x1 of 256x1x1 ")
    assert lines[1].startswith("cuLaunchKernel 2x1x1 of 256x1x1 ")
    assert lines[2].startswith("cuLaunchKernelEx 3x1x1 of 256 attribute 4: 3x1x1")
    assert "LaunchError: kernel `small`: expected a grid of whole clusters of 3 x 1 x 1" in lines[3]


def test_what_is_pinned_goes_with_each_launch(fake):
    lines = fake("""
import numpy as np
x, y = Array("cuda:0"), Array("cuda:0")
paired(x, y)
paired.options(overlap=True, cluster=4)(x, y)
print(*calls(), sep="\\n")
a = np.arange(256, dtype=np.float32)
b = np.full(256, np.nan, np.float32)
paired(a, b)
print((b == a + 1).all())
print(reason(paired, a, b, _device="emu:gfx942"))
""")
    assert lines[0].endswith(" attribute 4: 2x1x1 attribute 6: 1x0x0")
    assert lines[1].endswith(" attribute 4: 4x1x1 attribute 6: 1x0x0")
    assert lines[2] == "True"  # the CPU reads no such decision
    assert "expected a chip that has clusters" in lines[3]


def test_arrays_say_which_device_launches(fake):
    lines = fake("""
a, b = Array("cuda:0"), Array("cuda:1")
add(b, b)
print(*calls(), sep="\\n")
print(reason(add, a, b))
first, second = kiln.device("cuda:0"), kiln.device("cuda:1")
print(first.can_access_peer(second), first.can_access_peer(kiln.device("cpu")))
first.enable_peer_access(second)
add(a, b)
print(*calls(), sep="\\n")
print(reason(add, b, a))
print(reason(first.enable_peer_access, kiln.device("cpu")))
""")
    assert lines[0].startswith("cuLaunchKernel 4x1x1")
    assert lines[1] == (
        "LaunchError: kernel `add`, argument `y`: expected a tensor that device 'cuda:0' can "
        "reach, got one on 'cuda:1'"
    )
    assert lines[2] == "True False"
    assert lines[3] == "cuCtxEnablePeerAccess 1"
    assert lines[4].startswith("cuLaunchKernel 4x1x1")
    assert "argument `y`: expected a tensor that device 'cuda:1' can reach" in lines[5]
    assert lines[6] == "DeviceError: device 'cuda:0' cannot reach the memory of 'cpu'"


def test_a_failed_kernel_is_named_and_the_process_goes_on(fake):
    lines = fake("""
import numpy as np
x = Array("cuda:0")
add(x, x)
os.environ["KILN_FAKE_BUSY"] = "1"
print(reason(kiln.synchronize, "cuda:0", timeout=0.002))
del os.environ["KILN_FAKE_BUSY"]
os.environ.update(KILN_FAKE_FAIL="cuStreamSynchronize", KILN_FAKE_RESULT="700")
print(reason(kiln.synchronize, "cuda:0"))
del os.environ["KILN_FAKE_FAIL"]
print(reason(add, x, x))
a, b = np.ones(256, np.float32), np.zeros(256, np.float32)
add(a, b)
print((b == 2).all())
calls()
kiln.device("cuda:0").reset()
x = Array("cuda:0")
add(x, x)
print(*calls())
""")
    assert lines[0].startswith("TimeoutError: kernel 'add' (") and "fake_device.py:" in lines[0]
    assert lines[0].endswith("did not end on 'cuda:0' within 2 ms")
    assert lines[1].startswith("DeviceError: kernel 'add' (") and "fake_device.py:" in lines[1]
    assert "failed on device 'cuda:0': cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL" in lines[1]
    assert lines[2].startswith("DeviceError: kernel 'add': device 'cuda:0' is lost, because kernel")
    assert lines[2].endswith("(in Python the device's reset()) makes it anew")
    assert lines[3] == "True"
    assert lines[4].startswith("cuLaunchKernel 4x1x1")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("cluster=2", "UnsupportedError: kernel 'add': expected a device that has clusters"),
        ("cooperative=True", "has cooperative launches, got 'cpu'"),
        ("priority=1", "has launches with a priority, got 'cpu'"),
        ("cluster=0", "LaunchError: expected extents of at least 1 for the cluster, got 0"),
        ("cluster=(1, 2, 3, 4)", "expected a cluster of one to three extents, got 4"),
        ("cooperative=1", "TypeError: expected True or False for cooperative, got 1"),
        ("priority=1 << 40", "TypeError: expected an integer of 32 bits for priority"),
    ],
)
def test_what_is_refused(fake, options, text):
    lines = fake(f"""
import numpy as np
x = np.ones(256, np.float32)
print(reason(lambda: add.options({options})(x, x)))
""")
    assert text in lines[0]


def test_explain_asks_the_driver_that_assembled(fake):
    lines = fake("""
os.environ["KILN_ASSEMBLER"] = "driver"
x = Array("cuda:0")
print(add.warmup(x, x).explain())
""")
    assert "registers: 168 a thread" in lines
    assert "spilled: unknown; 8184 bytes of local memory a thread" in lines
    assert "assembler: driver" in lines
