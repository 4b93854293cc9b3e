"""What programs on emulated chips print and assert: the CPU's text, to the letter."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import kiln
from kiln import _native
from kiln.runtime.devices import device

CHIPS = ["sm_90a", "sm_80", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"]


@kiln.kernel
def talk(x: kiln.View, n: kiln.i32, small: kiln.View):
    kiln.grid(1)
    kiln.device_print("begin")
    t = x.load((0, 0), (4, 96))
    kiln.device_print("row max", kiln.max(t, axis=1))
    for i in range(n):
        kiln.device_print("turn %d", i)
        kiln.device_print("x", x.load((i, 0), (1, 4)))
    kiln.device_print("bits", x.load((1, 0), (1, 8)), hex=True)
    kiln.device_print("large", t > 1.0)
    kiln.device_print("small", small.load((0,), (40,)))


@kiln.kernel
def programs(x: kiln.View):
    i, j = kiln.grid(3, 2)
    kiln.device_print("at", x.load((i + 3 * j,), (1,)))


@kiln.kernel
def many(n: kiln.i32):
    kiln.grid(2)
    for i in range(n):
        kiln.device_print("line", i)


@kiln.kernel
def bounded(x: kiln.View, y: kiln.View, N: kiln.constexpr):
    i = kiln.grid(kiln.cdiv(x.shape[0], N))
    t = x.load((i * N,), (N,), pad=1)
    y.store((i * N,), t)
    kiln.device_assert(t > 0, "expected a positive number")  # LINE
    y.store((i * N,), t + 1)


@kiln.kernel
def counted(n: kiln.i32):
    kiln.grid(1)
    kiln.device_assert(n < 3, 'a "count"')


LINE = 1 + next(
    i for i, text in enumerate(open(__file__).read().split("\n")) if text.endswith("# LINE")
)


def output(call: str) -> list[str]:
    """The lines of a call in a process of its own, since they go past Python's sys.stdout."""
    code = f"""
import sys
sys.path[:0] = {sys.path!r}
import ml_dtypes, numpy as np
from test_messages import *
{call}
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
        cwd=__file__.rpartition("/")[0],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_lines_are_the_hosts(rng):
    """In one process, which takes longer to start than all of them."""
    seed, devices = int(rng.integers(1 << 30)), ["cpu", *(f"emu:{chip}" for chip in CHIPS)]
    lines = output(
        f"""
rng = np.random.default_rng({seed})
x = rng.standard_normal((8, 96)).astype(np.float32)
x[0, :4] = [np.nan, -np.nan, np.inf, -0.0]
small = rng.standard_normal(40).astype(ml_dtypes.float8_e4m3fn)
for device in {devices}:
    print("on", device, flush=True)
    talk(x, 3, small, _device=device)
"""
    )
    starts = [lines.index(f"on {device}") for device in devices]
    ends = [*starts[1:], len(lines)]
    want, *others = (lines[start + 1 : end] for start, end in zip(starts, ends, strict=True))
    for chip, said in zip(CHIPS, others, strict=True):
        assert said == want, chip
    assert len(want) == 1 + 4 + 3 * 5 + 8 + 4 * 96 + 40
    assert "(0, 0, 0) [0, 0] x: nan" in want and "(0, 0, 0) turn %d: 2" in want


@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
def test_each_program_says_which_it_is(chip):
    lines = output(f"programs(np.arange(6, dtype=np.int8), _device='emu:{chip}')")
    want = output("programs(np.arange(6, dtype=np.int8), _device='cpu')")
    assert sorted(lines) == sorted(want)
    assert "(2, 1, 0) [0] at: 5" in lines


PERSISTENT = """
tile.kernel @k(%m: index, %n: index, %most: index) attributes {
    tile.persistent = #tile.persistent<programs = 3, group = 2>} grid {
  tile.grid %m, %n
} {
  %x = tile.program_id x
  %y = tile.program_id y
  tile.print "tile" (%x, %y) : index, index
  %sum = arith.addi %x, %y : index
  %ok = arith.cmpi ule, %sum, %most : index
  tile.assert %ok, "far" : i1
  tile.return
}"""


def run_persistent(where: str, most: int) -> None:
    """The host runs a program a tile, whatever is decided."""
    place = device(where)
    request = {"source": PERSISTENT, "source_name": "k.mlir", "kernel": "k", "target": place.target}
    place.load(_native.compile(None, None, request)[0]).launch("k", [5, 3, most], None)


@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
def test_a_persistent_program_says_which_tile_it_is_at(chip):
    lines = output(f"run_persistent('emu:{chip}', 6)")
    want = [f"({i}, {j}, 0) tile: {at}" for i in range(5) for j in range(3) for at in (i, j)]
    assert sorted(lines) == sorted(want)
    assert sorted(output("run_persistent('cpu', 6)")) == sorted(want)
    for where in ("cpu", f"emu:{chip}"):
        with pytest.raises(
            kiln.DeviceAssertError, match=r"failed: far at .* in program \(4, 2, 0\)"
        ):
            run_persistent(where, 5)


def test_a_full_buffer_is_said_and_hangs_nobody():
    code = "many(40000, _device='emu:gfx942')"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\nfrom test_messages import *\n{code}"],
        capture_output=True, text=True, timeout=120, cwd=__file__.rpartition("/")[0],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    room = (1 << 20) // 32 - 2
    assert len(lines) == 2 * room and lines[room - 1] == f"(0, 0, 0) line: {room - 1}"
    lost = f"kernel 'many': {40000 - room} lines that it printed found no room and are lost\n"
    assert done.stderr.count(lost) == 2


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("size", [64, 100, 256])
def test_a_failed_assertion_says_where(chip, size, rng):
    """One text for all devices; the program stops there, all others' and later launches go on."""
    device = f"emu:{chip}"
    x = rng.integers(1, 100, 1000).astype(np.int32)
    x[size * 2 + int(rng.integers(size))] = 0
    texts = []
    for where in ("cpu", device):
        y = np.zeros_like(x)
        with pytest.raises(kiln.DeviceAssertError) as caught:
            bounded(x, y, size, _device=where)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
    assert "kernel 'bounded': assertion failed: expected a positive number at " in texts[1]
    assert f"test_messages.py:{LINE}:" in texts[1]
    assert texts[1].endswith("in program (2, 0, 0)")
    assert np.array_equal(y[: 2 * size], x[: 2 * size] + 1)
    assert np.array_equal(y[2 * size : 3 * size], x[2 * size : 3 * size])
    x[x == 0] = 1
    bounded(x, y, size, _device=device)
    assert np.array_equal(y, x + 1)


@pytest.mark.parametrize("chip", CHIPS)
def test_scalars_are_asserted(chip):
    counted(2, _device=f"emu:{chip}")
    with pytest.raises(
        kiln.DeviceAssertError, match=r'assertion failed: a "count" at .*:\d+:\d+ in'
    ):
        counted(3, _device=f"emu:{chip}")
    counted(1, _device=f"emu:{chip}")


@kiln.kernel
def locked(lock: kiln.View, x: kiln.View):
    kiln.grid(2)
    kiln.device_assert(x.load((0,), (64,)) > 0, "unlocked")
    busy = kiln.atomic_add(lock, (0,), 0, order="acquire")
    while busy != 0:
        busy = kiln.atomic_add(lock, (0,), 0, order="acquire")


@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
def test_where_others_wait_the_launch_is_ended(chip):
    """Who waits in a loop for another program would do so for ever: a trap, behind the record."""
    x = np.zeros(64, np.int32)
    with pytest.raises(kiln.DeviceAssertError, match="assertion failed: unlocked at .* in program"):
        locked(np.array([1], np.int32), x, _device=f"emu:{chip}")
    locked(np.array([0], np.int32), x + 1, _device=f"emu:{chip}")
