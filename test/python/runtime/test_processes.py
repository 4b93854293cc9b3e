"""Threads, forks and signals."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from runtime_kernels import add, matmul

import kiln
from kiln.runtime import errors


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
import sys, time, kiln, numpy as np
from test_processes import workers
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
deadline = time.monotonic() + 20
while workers() and time.monotonic() < deadline:
    time.sleep(0.05)
print("left", workers(), flush=True)
slow(x, y, N=2)
print("usable", flush=True)
"""


def workers():
    """The compile workers of this process, by their ids."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/stat") as file:
                name, _, rest = file.read().rpartition(")")
        except OSError:
            continue
        state, parent = rest.split()[:2]
        if "(kiln-worker" in name and int(parent) == os.getpid() and state != "Z":
            found.append(int(entry))
    return found


@pytest.mark.slow
def test_ctrl_c_in_a_compile_ends_the_wait_and_the_compile(tmp_path):
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
    assert out.splitlines() == ["interrupted", "left []", "usable"], err
    assert process.returncode == 0, err


def worker_that(tmp_path, command):
    """A worker that does something first."""
    from kiln import _native

    folders = [Path(_native.__file__).resolve().parent, Path(os.environ.get("KILN_BUILD", "build"))]
    for folder in list(folders):
        folders += [folder / "bin", folder.parent / "bin", folder.parent.parent / "bin"]
    found = [f / "kiln-worker" for f in folders if (f / "kiln-worker").exists()]
    assert found, f"expected kiln-worker in one of {folders}"
    path = tmp_path / "worker"
    path.write_text(f"#!/bin/sh\n{command}\nexec {found[0].resolve()}\n")
    path.chmod(0o755)
    return str(path)


COMPILE = """
import kiln, numpy as np, runtime_kernels as k
x = np.ones(9, np.float32)
for _ in range(2):
    try:
        k.add(x, x, x.copy())
    except kiln.CompileError as error:
        print(type(error).__name__, str(error).replace(chr(10), " "))
print("alive")
"""


@pytest.mark.parametrize(
    "command, words",
    [("ulimit -v 90000", "worker"), ("kill -9 $$", "signal 9"), ("exit 3", "status 3")],
    ids=["out of memory", "killed", "left"],
)
def test_a_compile_that_dies_is_an_error_that_names_the_kernel(python, tmp_path, command, words):
    where = {"KILN_WORKER": worker_that(tmp_path, command), "KILN_CACHE_DIR": str(tmp_path / "c")}
    lines = python(COMPILE, **where)
    assert len(lines) == 3 and lines[-1] == "alive"
    for line in lines[:2]:
        assert line.startswith("WorkerError") and "kernel 'add'" in line, lines
        assert words in line, lines


def test_what_a_worker_said_before_it_died_does_not_hide_the_kernel():
    said = [(errors.ERROR, -1, "", 0, 0, "inline assembly '': value is too large")]
    error = errors.from_native(11, "kernel 'add': the compile worker was ended", said, None)
    assert isinstance(error, errors.WorkerError)
    assert "kernel 'add': the compile worker was ended" in str(error)
    assert "value is too large" in str(error)


def test_a_worker_killed_between_compiles_is_replaced():
    x = np.ones(16, np.float32)

    @kiln.kernel
    def times(x: kiln.View, y: kiln.View, factor: kiln.constexpr):
        kiln.grid(1)
        y.store((0,), x.load((0,), (16,)) * factor)

    for factor in (2.0, 3.0, 4.0):
        out = np.zeros_like(x)
        times(x, out, factor=factor + float(np.random.default_rng().random()))
        assert (out >= factor).all()
        assert workers()
        for worker in workers():
            os.kill(worker, signal.SIGKILL)


def test_without_a_worker_kernels_are_compiled_in_the_process(python, tmp_path):
    where = {"KILN_WORKER": "/nowhere", "KILN_CACHE_DIR": str(tmp_path)}
    assert python(COMPILE, **where) == ["alive"]


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


def test_out_of_memory_in_an_allocation(python):
    """An allocation that cannot succeed is a MemoryError, and the process goes on."""
    with pytest.raises(MemoryError):
        kiln.device("cpu").allocate(1 << 60)


def test_an_unwritable_cache_directory_is_said_once(python):
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
