"""What becomes of launches and compiles at the edges of a process: threads that outlive the
interpreter, descriptors that are closed."""

import pytest

LAUNCHES = """
import threading, time, numpy as np, kiln
from runtime_kernels import add, copy, scale

x = np.ones(1 << {size}, np.float32)
y = np.zeros_like(x)
add(x, x, y)

def launch():
    while True:
        {body}

for _ in range(3):
    threading.Thread(target=launch, daemon=True).start()
time.sleep(0.3)
print("ends", flush=True)
"""


@pytest.mark.parametrize(
    ("size", "body"),
    [(8, "add(x, x, y)"), (22, "add(x, x, y)"), (8, "kiln.synchronize('cpu'); kiln.devices()"),
     (8, "add.compile(kiln.View[kiln.f32, 1], kiln.View[kiln.f32, 1], kiln.View[kiln.f32, 1])")],
    ids=["short", "long", "devices", "compiles"],
)  # fmt: skip
def test_daemon_threads_that_launch_do_not_end_the_process_badly(python, size, body) -> None:
    for _ in range(2):
        done = python(LAUNCHES.format(size=size, body=body), check=False)
        assert done.returncode == 0, (done.returncode, done.stderr)
        assert done.stdout == "ends\n"
        assert "Fatal" not in done.stderr and "terminate" not in done.stderr, done.stderr


@pytest.mark.parametrize("closed", ["0", "0, 1", "0, 1, 2"])
def test_compiles_with_closed_descriptors(python, tmp_path, closed) -> None:
    said = tmp_path / "said"
    python(
        f"""
import os, sys
said = os.open({str(said)!r}, os.O_WRONLY | os.O_CREAT)
said = os.dup2(said, 20)
for descriptor in ({closed},):
    os.close(descriptor)
import numpy as np
from kiln import _native
source = '''
tile.kernel @copy(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) {{
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<64xf32>
  tile.store %a, %y[%c0] : tensor<64xf32>, !tile.view<?xf32>
  tile.return
}}
'''
for isolation in (1, 2):
    for target in ("cpu", "amdgpu:gfx942", "nvptx:sm_90a"):
        try:
            request = {{"source": source, "target": target, "isolation": isolation}}
            artifact = _native.compile(None, None, request)[0]
            assert artifact.sections
            os.write(said, b"made " + target.encode() + b"\\n")
        except Exception as error:
            os.write(said, repr(error).encode() + b"\\n")
os._exit(0)
""",
        check=False,
    )
    lines = said.read_text().splitlines()
    assert lines == [f"made {t}" for t in ("cpu", "amdgpu:gfx942", "nvptx:sm_90a")] * 2
