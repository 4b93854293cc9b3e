"""Signals while a grid runs: the launch ends soon, and what comes after is right."""

import os
import subprocess
import sys

import pytest

# Far more programs than would ever end.
GIANT = """
import os, signal, sys, threading, time
import kiln, numpy as np

@kiln.kernel
def count(out: kiln.View[kiln.i64, 1], first: kiln.i64):
    i = kiln.program_id(0)
    if i < first:
        kiln.atomic_add(out, (0,), kiln.full((1,), 1, kiln.i64))

@kiln.kernel
def add(x: kiln.View, y: kiln.View):
    kiln.grid(kiln.cdiv(x.shape[0], 64))
    i = kiln.program_id(0) * 64
    y.store((i,), x.load((i,), (64,)) + 1)

device = sys.argv[1]
out = np.zeros(1, np.int64)
giant = (1 << 30, 1 << 30) if device != "cpu" else 1 << 60
launch = count.options(device=device)
launch[4](out, 3)
assert out[0] == 3, out

def interrupted(expected, *numbers):
    timer = threading.Timer(0.3, lambda: [os.kill(os.getpid(), n) for n in numbers])
    timer.start()
    start = time.monotonic()
    try:
        launch[giant](out, 5)
        print("no interrupt", flush=True)
    except expected as error:
        print(type(error).__name__, error, 0.2 < time.monotonic() - start < 20, flush=True)
    timer.join()

interrupted(KeyboardInterrupt, signal.SIGINT)

def raises(number, frame):
    raise LookupError("of a handler")

calls = []
signal.signal(signal.SIGUSR1, raises)
signal.signal(signal.SIGUSR2, lambda *_: calls.append(1))
interrupted(LookupError, signal.SIGUSR1)

# A handler that returns does not end the launch.
timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGUSR2))
timer.start()
interrupted(KeyboardInterrupt, signal.SIGINT)
print("handled", len(calls), flush=True)

x = np.arange(100_000, dtype=np.float32); y = np.zeros_like(x)
add.options(device=device)(x[:5000], y[:5000])
add(x[5000:], y[5000:])
print("right", bool((y == x + 1).all()), int(out[0]) - 3 - 5 * 3, flush=True)
"""


def run(code, folder, *arguments, **environment):
    """A file of its own: a kernel's source is read from one."""
    file = folder / "interrupted.py"
    file.write_text(code)
    return subprocess.run(
        [sys.executable, str(file), *arguments], capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path),
             "KILN_CACHE_DIR": str(folder), **environment},
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", "emu:sm_90a"])
@pytest.mark.parametrize("threads", [1, 4])
def test_ctrl_c_ends_a_giant_grid(device, threads, tmp_path):
    if device != "cpu" and threads != 1:
        pytest.skip("an emulated grid runs on one thread")
    done = run(GIANT, tmp_path, device, KILN_NUM_THREADS=str(threads))
    assert done.stdout.splitlines() == [
        "KeyboardInterrupt  True",
        "LookupError of a handler True",
        "KeyboardInterrupt  True",
        "handled 1",
        "right True 0",
    ], done.stdout + done.stderr


ELSEWHERE = """
import os, signal, threading, numpy as np, kiln

@kiln.kernel
def spin(out: kiln.View[kiln.i64, 1]):
    i = kiln.program_id(0)
    if i == 0:
        kiln.atomic_add(out, (0,), kiln.full((1,), 1, kiln.i64))

out = np.zeros(1, np.int64)
spin[2](out)
ended = []
other = threading.Thread(target=lambda: ended.append(spin[1 << 28](out)))
other.start()
try:
    os.kill(os.getpid(), signal.SIGINT)
    other.join()
    print("joined")
except KeyboardInterrupt:
    print("interrupted")
other.join()
print(ended, out[0])
"""


def test_a_launch_of_another_thread_leaves_signals_to_the_main_one(tmp_path):
    """Python's handlers run in the main thread alone."""
    assert run(ELSEWHERE, tmp_path).stdout.split() == ["interrupted", "[None]", "2"]
