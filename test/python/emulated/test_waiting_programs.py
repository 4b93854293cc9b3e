"""Programs that wait for one another, by atomics in global memory: split-K in turn, and a scan that looks
back. What their orders lack is found, as are programs that wait for one that begins too late, and accesses
of programs and threads that nothing orders."""

from __future__ import annotations

import re

import numpy as np
import pytest
from mutation import loaded

import kiln

CHIPS = ("sm_90a", "gfx942", "gfx1201")


@kiln.kernel
def split_k(
    a: kiln.View, b: kiln.View, c: kiln.View, turns: kiln.View, PARTS: kiln.constexpr,
    acquire: kiln.constexpr, release: kiln.constexpr, scope: kiln.constexpr,
):  # fmt: skip
    """Each part adds to the tile when it is its turn."""
    part, tile = kiln.grid(PARTS, kiln.cdiv(c.shape[0], 32))
    k = a.shape[1] // PARTS
    acc = kiln.zeros((32, 32), kiln.f32)
    for at in range(part * k, (part + 1) * k, 16):
        x = a.load((tile * 32, at), (32, 16))
        acc = kiln.dot(x, b.load((at, 0), (16, 32)), acc)
    turn = kiln.atomic_add(turns, (tile,), 0, order=acquire, scope=scope)
    while turn != part:
        turn = kiln.atomic_add(turns, (tile,), 0, order=acquire, scope=scope)
    if part > 0:
        acc = acc + c.load((tile * 32, 0), (32, 32))
    c.store((tile * 32, 0), acc)
    kiln.atomic_add(turns, (tile,), 1, order=release, scope=scope)


def run_split_k(rng, chip: str, acquire="acquire", release="release", scope="device") -> None:
    parts = 3
    a = rng.integers(-4, 5, (64, 32 * parts)).astype(np.float16)
    b = rng.integers(-4, 5, (32 * parts, 32)).astype(np.float16)
    c = np.full((64, 32), np.nan, np.float32)
    turns = np.zeros(2, np.int32)
    split_k.options(device=f"emu:{chip}")(
        a, b, c, turns, PARTS=parts, acquire=acquire, release=release, scope=scope
    )
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64))
    assert (turns == parts).all()


@pytest.mark.parametrize("chip", CHIPS)
def test_split_k_in_turn(rng, monkeypatch, chip: str) -> None:
    for seed in range(5):
        monkeypatch.setenv("KILN_EMULATED_SEED", str(seed))
        run_split_k(rng, chip)


@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
@pytest.mark.parametrize(
    "orders, missing",
    [
        (dict(acquire="relaxed"), "has told of it since"),
        (dict(release="relaxed"), "has told no other program"),
        (dict(scope="program"), "has told no other program"),
    ],
)
def test_split_k_whose_order_lacks_something(rng, chip: str, orders: dict, missing: str) -> None:
    with pytest.raises(kiln.DeviceError) as raised:
        run_split_k(rng, chip, **orders)
    told = str(raised.value)
    assert re.search(r"a race: a (read|write) of byte \d+ of argument 'c', which thread \d+ ", told)
    assert missing in told
    lines = [int(n) for n in re.findall(r"test_waiting_programs\.py:(\d+)", told)]
    assert line_of("acc = acc + c.load") in lines or line_of("c.store((tile * 32") in lines


@kiln.kernel
def exchanged(x: kiln.View, y: kiln.View, z: kiln.View, flags: kiln.View):
    """Programs of several waves read what another one has written."""
    i = kiln.grid(2)
    kiln.pin(warps=4, programs_per_block=1)
    y.store((i * 512,), x.load((i * 512,), (512,)))
    kiln.atomic_add(flags, (i,), 1, order="release")
    seen = kiln.atomic_add(flags, (1 - i,), 0, order="acquire")
    while seen == 0:
        seen = kiln.atomic_add(flags, (1 - i,), 0, order="acquire")
    z.store((i * 512,), y.load(((1 - i) * 512,), (512,)))


def test_a_fence_for_the_block_tells_no_other_program(rng) -> None:
    """On chips whose waves share a cache it waits for no store: one wave cannot tell others of what
    all have written before they have waited."""
    x = rng.random(1024, np.float32)
    for chip in ("gfx942", "gfx1201"):
        y, z, flags = np.zeros_like(x), np.zeros_like(x), np.zeros(2, np.int32)
        text = exchanged.compile(x, y, z, flags, target=f"emu:{chip}").ir("llvm")
        loaded(text, f"emu:{chip}")(x, y, z, flags)
        assert np.array_equal(z, np.roll(x, 512))
        if chip == "gfx1201":
            assert "waitcnt" not in text
            continue
        lines = [line for line in text.split("\n") if not re.match(r"\s*rocdl\.s\.waitcnt", line)]
        assert len(lines) < text.count("\n") + 1
        flags[:] = 0
        with pytest.raises(kiln.DeviceError, match="a race: a (read|write) of byte") as raised:
            loaded("\n".join(lines), f"emu:{chip}")(x, y, z, flags)
        assert "a fence, or a wait of thread" in str(raised.value)


@kiln.kernel
def scan(
    x: kiln.View, y: kiln.View, states: kiln.View, sums: kiln.View, totals: kiln.View,
    acquire: kiln.constexpr, release: kiln.constexpr,
):  # fmt: skip
    """Decoupled look-back: a block's sum is there first (1), its total behind that (2)."""
    i = kiln.grid(kiln.cdiv(x.shape[0], 64))
    block = x.load((i * 64,), (64,))
    own = kiln.sum(block, axis=0)
    sums[i] = own
    kiln.atomic_add(states, (i,), 1, order=release)
    before = own * 0
    j = i - 1
    while j >= 0:
        state = kiln.atomic_add(states, (j,), 0, order=acquire)
        if state == 2:
            before = before + totals[j]
            j = j * 0 - 1
        elif state == 1:
            before = before + sums[j]
            j = j - 1
    totals[i] = before + own
    kiln.atomic_add(states, (i,), 1, order=release)
    y.store((i * 64,), kiln.cumsum(block, axis=0) + before)


def run_scan(rng, chip: str, acquire: str = "acquire", release: str = "release") -> None:
    n = 9 * 64
    x = rng.integers(-9, 10, n).astype(np.float32)
    y = np.full(n, np.nan, np.float32)
    states, sums, totals = np.zeros(9, np.int32), np.zeros(9, np.float32), np.zeros(9, np.float32)
    run = scan.options(device=f"emu:{chip}")
    run(x, y, states, sums, totals, acquire=acquire, release=release)
    np.testing.assert_array_equal(y, np.cumsum(x))


@pytest.mark.parametrize("chip", CHIPS)
def test_a_scan_that_looks_back(rng, monkeypatch, chip: str) -> None:
    for seed in range(5):
        monkeypatch.setenv("KILN_EMULATED_SEED", str(seed))
        run_scan(rng, chip)


@pytest.mark.parametrize("chip", ["sm_90a", "gfx1201"])
@pytest.mark.parametrize("orders", [dict(acquire="relaxed"), dict(release="relaxed")])
def test_a_scan_whose_order_lacks_something(rng, chip: str, orders: dict) -> None:
    with pytest.raises(
        kiln.DeviceError, match=r"a race: a read of byte \d+ of argument '(sum|total)s'"
    ):
        run_scan(rng, chip, **orders)


# ---- Waiting for what comes too late


@kiln.kernel
def later(flags: kiln.View, BEHIND: kiln.constexpr):
    i = kiln.grid(flags.shape[0])
    kiln.pin(warps=16)
    if i + BEHIND < flags.shape[0]:
        seen = kiln.atomic_add(flags, (i + BEHIND,), 0, order="acquire")
        while seen == 0:
            seen = kiln.atomic_add(flags, (i + BEHIND,), 0, order="acquire")
    kiln.atomic_add(flags, (i,), 1, order="release")


def test_a_program_may_wait_for_as_many_as_are_resident() -> None:
    chip, resident = "gfx942", 6
    flags = np.zeros(resident, np.int32)
    later.options(device=f"emu:{chip}")(flags, BEHIND=resident - 1)
    assert (flags == 1).all()
    flags = np.zeros(2 * resident, np.int32)
    with pytest.raises(kiln.DeviceError) as raised:
        later.options(device=f"emu:{chip}")(flags, BEHIND=resident)
    told = str(raised.value)
    assert (
        "programs wait for one another forever: thread 0 of program (0, 0, 0) waits for 4 bytes"
        in told
    )
    assert f"program ({resident}, 0, 0) and those behind it begin only when others end" in told
    assert re.search(
        r"\n  program \(1, 0, 0\), warp 0: waits for 4 bytes at byte \d+ of argument", told
    )


@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
def test_who_waits_acquires(rng, chip: str) -> None:
    """Loads that are not atomic wait, too, and are told what they lack."""
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((64, 96), (96, 32)))
    c, turns = np.zeros((64, 32), np.float32), np.zeros(2, np.int32)
    orders = dict(PARTS=3, acquire="acquire", release="release", scope="device")
    text = split_k.compile(a, b, c, turns, **orders, target=f"emu:{chip}").ir("llvm")
    look = re.compile(r"llvm\.atomicrmw add (%\w+), %\w+ syncscope\(\"\w+\"\) acquire ")
    text, count = look.subn(r"llvm.load \1 ", text)
    assert count == 2
    text = re.sub(r"(llvm\.load .*)!llvm\.ptr<1>, i32$", r"\1!llvm.ptr<1> -> i32", text, flags=re.M)
    with pytest.raises(kiln.DeviceError, match="a race: .* of argument 'turns'") as raised:
        loaded(text, f"emu:{chip}")(a, b, c, turns)
    assert "who waits for what another program tells must read it by one that acquires" in str(
        raised.value
    )


# ---- Accesses that nothing orders


@kiln.kernel
def overlapping(y: kiln.View, same: kiln.constexpr):
    """Rows of 64 elements, 32 apart."""
    i = kiln.grid(4)
    kiln.pin(programs_per_block=1)
    value = 1 if same else i
    y.store((i * 32,), kiln.full((64,), value, kiln.f32))


@kiln.kernel
def shifted(y: kiln.View):
    """A program reads what the next one writes."""
    i = kiln.grid(4)
    kiln.pin(programs_per_block=1)
    y.store((i * 32,), y.load((i * 32 + 16,), (32,)))


@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
def test_programs_that_write_the_same_place(chip: str) -> None:
    overlapping.options(device=f"emu:{chip}")(np.zeros(160, np.float32), same=True)
    with pytest.raises(kiln.DeviceError) as raised:
        overlapping.options(device=f"emu:{chip}")(np.zeros(160, np.float32), same=False)
    told = str(raised.value)
    assert re.search(r"a race: a write of byte 128 of argument 'y', which thread \d+ \(warp \d+\) of "
                     r"program \(0, 0, 0\) writes; nothing orders the two", told)  # fmt: skip
    assert told.count(f"test_waiting_programs.py:{line_of('y.store((i * 32,), kiln.full')}") == 3


@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
def test_a_program_that_reads_what_another_one_writes(rng, chip: str) -> None:
    with pytest.raises(kiln.DeviceError, match="a race: a (read|write) of byte") as raised:
        shifted.options(device=f"emu:{chip}")(rng.random(256, np.float32))
    assert "has told no other program: behind its" in str(raised.value)


@kiln.kernel
def turned(x: kiln.View, y: kiln.View, z: kiln.View):
    """Threads hand values on through global memory."""
    kiln.grid(1)
    kiln.pin(warps=4, programs_per_block=1)
    y.store((0,), x.load((0,), (256,)))
    z.store((0,), kiln.gather(y, (255 - kiln.arange(256),)))


@pytest.mark.parametrize(
    "chip, pattern, missing",
    [
        ("sm_90a", r"nvvm\.barrier", "has come to no barrier since"),
        # Barriers alone order what is in LDS.
        (
            "gfx942",
            r'llvm\.fence syncscope\("workgroup"\) release|rocdl\.s\.waitcnt',
            "a fence, or a wait of thread",
        ),
        (
            "gfx1201",
            r'llvm\.fence syncscope\("workgroup"\) release',
            "a fence, or a wait of thread",
        ),
    ],
)
def test_threads_that_nothing_orders(rng, chip: str, pattern: str, missing: str) -> None:
    x, y, z = rng.random(256, np.float32), np.zeros(256, np.float32), np.zeros(256, np.float32)
    text = turned.compile(x, y, z, target=f"emu:{chip}").ir("llvm")
    loaded(text, f"emu:{chip}")(x, y, z)
    np.testing.assert_array_equal(z, x[::-1])
    without = [line for line in text.split("\n") if not re.match(rf"\s*(?:{pattern})", line)]
    y[:] = 0
    with pytest.raises(kiln.DeviceError, match="a race: a (read|write) of byte") as raised:
        loaded("\n".join(without), f"emu:{chip}")(x, y, z)
    assert missing in str(raised.value)


def line_of(text: str) -> int:
    with open(__file__, encoding="utf-8") as file:
        return next(i for i, line in enumerate(file, 1) if line.strip().startswith(text))
