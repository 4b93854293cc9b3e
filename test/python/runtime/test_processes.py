"""Threads, forks and signals."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from runtime_kernels import add, matmul

import kiln


def test_threads_share_a_kernel(rng):
    """Each thread with types of its own, so that they compile and launch at once."""
    failures = []

    def work(index):
        try:
            dtype = [np.float32, np.float64, np.int32, np.int16][index % 4]
            x = (np.arange(1000) + index).astype(dtype)
            out = np.zeros_like(x)
            for _ in range(50):
                add(x, x, out, BLOCK=32)
                assert (out == x + x).all()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_other_python_threads_run_during_a_launch(rng):
    a = rng.standard_normal((768, 768), dtype=np.float32)
    out = np.zeros_like(a)
    matmul(a, a, out)
    running, ticks = True, 0

    def tick():
        nonlocal ticks
        while running:
            ticks += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    time.sleep(0.01)
    before, start = ticks, time.perf_counter()
    while time.perf_counter() - start < 0.3:
        matmul(a, a, out)
    running = False
    thread.join()
    assert ticks - before > 5


def test_a_forked_child_launches(rng):
    x = rng.standard_normal(5000, dtype=np.float32)
    out = np.zeros_like(x)
    add(x, x, out)
    child = os.fork()
    if child == 0:
        out[:] = 0
        add(x, x, out)
        y = x.astype(np.float64)
        wide = np.zeros_like(y)
        add(y, y, wide)  # compiles
        os._exit(0 if (out == x + x).all() and (wide == y + y).all() else 1)
    for _ in range(600):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the forked child hangs")
    assert os.waitstatus_to_exitcode(status) == 0


SLOW = """
import sys, kiln, numpy as np
@kiln.kernel
def slow(x: kiln.View, y: kiln.View, N: kiln.constexpr = 256):
    kiln.grid(1)
    v = x.load((0,), (64,))
    for _ in kiln.static_range(N):
        v = kiln.exp(kiln.sin(v) * 1.5 + v)
    y.store((0,), v)
x = np.ones(64, np.float32); y = np.zeros_like(x)
slow(x, y, N=1)
print("ready", flush=True)
try:
    slow(x, y, N=int(sys.argv[1]))
    print("no interrupt")
except KeyboardInterrupt:
    print("interrupted", flush=True)
slow(x, y, N=2)
print("usable", flush=True)
"""


@pytest.mark.slow
def test_ctrl_c_ends_the_wait_for_a_compile(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path),
                   "KILN_CACHE_DIR": str(tmp_path)}  # fmt: skip
    file = tmp_path / "slow.py"
    file.write_text(SLOW)
    process = subprocess.Popen(
        [sys.executable, str(file), "1500"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=environment,
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert out.splitlines()[0] in ("interrupted", "no interrupt"), err
    if out.splitlines()[0] == "no interrupt":
        pytest.skip("the compile was over before the signal")
    assert out.splitlines() == ["interrupted", "usable"], err
    assert process.returncode == 0, err


def test_a_kernel_that_nobody_holds_is_freed():
    import gc
    import weakref

    def make():
        factor = 3.0

        @kiln.kernel
        def local(x: kiln.View, y: kiln.View):
            kiln.grid(1)
            y.store((0,), x.load((0,), (16,)) * factor)

        x, out = np.ones(16, np.float32), np.zeros(16, np.float32)
        local(x, out)
        local[1](x, out)
        np.testing.assert_array_equal(out, 3)
        return weakref.ref(local)

    reference = make()
    gc.collect()
    assert reference() is None


SCALE = 0.0


def test_globals_that_change_while_other_threads_launch():
    """No launch crashes; each sees one of the values."""
    global SCALE

    @kiln.kernel
    def scaled(x: kiln.View, y: kiln.View):
        kiln.grid(1)
        y.store((0,), x.load((0,), (16,)) * SCALE)

    x, failures, done = np.ones(16, np.float32), [], threading.Event()

    def work():
        out = np.zeros(16, np.float32)
        while not done.is_set():
            try:
                scaled(x, out)
            except RuntimeError as error:
                if "captured globals" not in str(error):
                    failures.append(error)
            except BaseException as error:
                failures.append(error)
            if not (out == out[0]).all():
                failures.append(out.copy())

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for value in range(20):
        SCALE = float(value)
        time.sleep(0.03)
    done.set()
    for thread in threads:
        thread.join()
    assert not failures
    out = np.zeros(16, np.float32)
    scaled(x, out)
    np.testing.assert_array_equal(out, SCALE)


def test_without_memory(python):
    """An allocation that cannot succeed is a MemoryError, and the process goes on."""
    with pytest.raises(MemoryError):
        kiln.device("cpu").allocate(1 << 60)


def test_a_cache_that_cannot_be_written_is_said_once(python):
    lines = python(
        "import warnings, numpy as np, runtime_kernels as k\n"
        "x = np.ones(9, np.float32)\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    for dtype in ('f4', 'f8', 'i4'):\n"
        "        v = x.astype(dtype); out = v.copy(); k.add(v, v, out); assert (out == 2).all()\n"
        "print(len(seen), *[str(w.message) for w in seen])",
        KILN_CACHE_DIR="/proc/nowhere/kiln",
    )
    assert lines[-1].startswith("1 kiln: ") and "/proc/nowhere/kiln" in lines[-1], lines
