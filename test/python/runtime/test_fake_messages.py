"""What kernels on a GPU tell, and kernels that never end: as users of Python see it, through the
stand-ins for both vendors' driver libraries, which write what a kernel would."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("KILN_BUILD", ROOT / "build")).resolve()
FAKES = {vendor: BUILD / f"test/Runtime/{vendor.upper()}/libkiln-fake-{vendor}.so"
         for vendor in ("cuda", "hip")}  # fmt: skip

pytestmark = pytest.mark.skipif(
    not all(fake.exists() for fake in FAKES.values()), reason="no build tree with the stand-ins"
)
HEAD = """
import sys
from fake_device import *

@kiln.kernel
def checked(x: kiln.View[kiln.f32, 1]):
    kiln.grid(1)
    t = x.load((0,), (64,))
    kiln.device_print("t", t)
    kiln.device_assert(t > 0, "not positive")

def leave(*records):
    abi = checked.compile(x, target=device.target).metadata["abi"]
    place = next(i for i, entry in enumerate(abi) if entry["kind"] == "messages")
    text = " ".join(str(n) for record in records for n in record)
    os.environ["KILN_FAKE_MESSAGES"] = f"{place} {text}"

device = kiln.device(sys.argv[1])
x = Array(sys.argv[1])
"""


@pytest.fixture(params=FAKES)
def fake(request, python, tmp_path):
    """Runs code in a process with the vendor's stand-in; the kernel's source is a file."""

    def run(code: str):
        script = tmp_path / "script.py"
        script.write_text(HEAD + code)
        environment = {f"KILN_{request.param.upper()}_LIBRARY": str(FAKES[request.param])}
        return python(
            "import runpy, sys; runpy.run_path(sys.argv.pop(), run_name='__main__')",
            f"{request.param}:0", str(script), KILN_FAKE_LOG=str(tmp_path / "log"), **environment,
        )  # fmt: skip

    return run


def test_lines_and_assertions(fake):
    lines = fake("""
leave((1, 0, 0, 0, 1, 0x3FF8000000000000), (1, 0, 0, 0, 0, 0xBFF0000000000000))
checked(x)
device.synchronize()
leave((2, 0, 0, 0, 0, 0))
checked(x)
os.environ.pop("KILN_FAKE_MESSAGES")
text = reason(kiln.synchronize, device.name)
print(text, flush=True)
print(reason(checked, x), reason(kiln.synchronize, device.name), sep="; ")
""")
    assert lines[:2] == ["(0, 0, 0) [0] t: -1", "(0, 0, 0) [1] t: 1.5"]
    where = HEAD.split("\n").index('    kiln.device_assert(t > 0, "not positive")') + 1
    assert lines[2].startswith(
        "DeviceAssertError: kernel 'checked': assertion failed: not positive at "
    )
    assert f"script.py:{where}:" in lines[2] and lines[2].endswith(" in program (0, 0, 0)")
    assert lines[3] == "nothing was wrong; nothing was wrong"


def test_a_kernel_that_does_not_end_is_named(fake):
    lines = fake("""
add(x, x)
os.environ["KILN_FAKE_BUSY"] = "1"
print(reason(kiln.synchronize, device.name, timeout=0.002))
del os.environ["KILN_FAKE_BUSY"]
print(reason(kiln.synchronize, device.name, timeout=1.0))
print(reason(add, x, x))
""")
    assert lines[0].startswith("TimeoutError: kernel 'add' (") and "fake_device.py:" in lines[0]
    assert lines[0].endswith(":0' within 2 ms")
    assert lines[1:] == ["nothing was wrong"] * 2


def test_a_fault_is_told_with_what_was_asserted(fake):
    lines = fake("""
os.environ["KILN_FAKE_LATE"] = "1"
leave((2, 3, 0, 0, 0, 0))
checked(x)
name = "hip" if device.name.startswith("hip") else "cu"
os.environ.update(KILN_FAKE_FAIL=name + "StreamSynchronize", KILN_FAKE_RESULT="719")
print(reason(kiln.synchronize, device.name))
import numpy as np
a, b = np.ones(256, np.float32), np.zeros(256, np.float32)
add(a, b)
print((b == 2).all())
""")
    assert (
        lines[0].startswith("DeviceError: kernel 'checked' (") and "StreamSynchronize" in lines[0]
    )
    assert "; before that, kernel 'checked': assertion failed: not positive at " in lines[0]
    assert lines[0].endswith("in program (3, 0, 0)") and lines[1] == "True"
