"""The assembler that is started before there is anything to assemble, which reads a pipe."""

import os
import signal
import threading
import time

import pytest
from cubin import ASSEMBLER

from kiln import _native

pytestmark = pytest.mark.skipif(not ASSEMBLER.exists(), reason=f"needs {ASSEMBLER}")

SOURCE = """
tile.kernel @copy(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<64xf32>
  tile.store %a, %y[%c0] : tensor<64xf32>, !tile.view<?xf32>
  tile.return
}
"""


def compile_copy() -> None:
    request = {"source": SOURCE, "target": "nvptx:sm_90a", "isolation": 0}
    artifact, _, _ = _native.compile(None, None, request)
    assert artifact.section("binary")


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # it has threads: on purpose
def test_forks_meanwhile_do_not_keep_it_waiting(monkeypatch) -> None:
    """A child of a fork holds all that is open, but not the end of the assembler's pipe."""
    monkeypatch.setenv("KILN_ASSEMBLER", str(ASSEMBLER))
    compile_copy()  # the compiler is loaded
    thread = threading.Thread(target=lambda: [compile_copy() for _ in range(4)])
    children = []
    start = time.monotonic()
    thread.start()
    try:
        while thread.is_alive() and len(children) < 300:
            child = os.fork()
            if child == 0:
                time.sleep(30)
                os._exit(0)
            children.append(child)
            time.sleep(0.002)
        thread.join(20)
        assert not thread.is_alive()
        assert time.monotonic() - start < 20
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        thread.join()
    assert len(children) > 4
