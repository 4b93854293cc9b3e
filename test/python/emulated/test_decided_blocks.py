"""Kernels that pin nothing, but that no program runs several in step (test_batched_programs.py), and
whose programs are small: passes have a block run several of them (tile-decide-block-programs). On
emulated chips, against float64: rows, sums that all add to, random numbers and lines by a program's
number, on grids of the kernel's and of the call's."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
CHIPS = {
    "sm_90a": "nvptx", "sm_100a": "nvptx", "sm_80": "nvptx", "sm_86": "nvptx", "sm_89": "nvptx",
    "gfx942": "amdgpu", "gfx950": "amdgpu", "gfx1201": "amdgpu",
}  # fmt: skip
# How long rows may be. The other chips' cores hold as many blocks of one wave as waves.
DECIDED = {"sm_90a": 256, "sm_100a": 256, "sm_80": 64, "sm_86": 64, "sm_89": 64}


@kiln.kernel
def norm(x: kiln.View, w: kiln.View, y: kiln.View, WIDTH: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    kiln.pin(batch=1)
    row = x.load((i, 0), (1, WIDTH)).to(kiln.f32)
    mean = kiln.sum(row * row, axis=1)[:, None] / x.shape[1].to(kiln.f32)
    weights = w.load((0,), (WIDTH,)).to(kiln.f32).reshape((1, WIDTH))
    y.store((i, 0), (row * kiln.rsqrt(mean + 1e-5) * weights).to(y.dtype))


def blocks_of(kernel, *args, target: str = "nvptx:sm_90a", **options) -> int:
    return kernel.compile(*args, **options, target=target).metadata.get("programs_per_block", 1)


def norm_of(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5) * w.astype(np.float64)


@pytest.mark.parametrize("width", [64, 256])
@pytest.mark.parametrize("chip", CHIPS)
def test_rows(rng: np.random.Generator, chip: str, width: int) -> None:
    kernel = norm.options(device=f"emu:{chip}")
    for rows in (1, 7, 8, int(rng.integers(9, 40))):
        columns = int(rng.integers(1, width + 1))
        x, w = (rng.standard_normal(shape).astype(BF16) for shape in ((rows, columns), columns))
        y = np.full((rows, columns), np.nan, np.float32)
        kernel(x, w, y, WIDTH=width)
        np.testing.assert_allclose(y, norm_of(x, w), rtol=1e-5, atol=1e-6)
    made = blocks_of(norm, x, w, y, WIDTH=width, target=f"{CHIPS[chip]}:{chip}")
    assert made == (8 if width <= DECIDED.get(chip, 0) else 1)


def test_what_does_not_pay_is_not_decided() -> None:
    x = np.zeros((4, 2048), BF16)
    assert blocks_of(norm, x, x[0], x, WIDTH=256) == 8
    assert blocks_of(norm, x, x[0], x, WIDTH=512) == 1  # memory is busy with these
    assert blocks_of(norm, x, x[0], x, WIDTH=1024) == 1  # of two warps


@kiln.kernel
def scaled(x: kiln.View, y: kiln.View, WIDTH: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    kiln.pin(warps=2, batch=1)
    y.store((i, 0), x.load((i, 0), (1, WIDTH)) * 2.0)


@pytest.mark.parametrize("chip", ["sm_86", "sm_89", "sm_90a"])
def test_programs_of_two_warps(rng: np.random.Generator, chip: str) -> None:
    """A core of sm_86 holds 16 blocks and 48 warps, of sm_89 24 and 48."""
    for rows in (1, 4, 5, int(rng.integers(6, 40))):
        x = rng.standard_normal((rows, 100)).astype(np.float32)
        y = np.full((rows, 100), np.nan, np.float32)
        scaled.options(device=f"emu:{chip}")(x, y, WIDTH=128)
        np.testing.assert_array_equal(y, x * 2)
    assert blocks_of(scaled, x, y, WIDTH=128, target=f"nvptx:{chip}") == (
        4 if chip == "sm_86" else 1
    )


@pytest.mark.parametrize("chip", ["sm_90a", "sm_80"])
def test_a_call_says_how_many_programs(rng: np.random.Generator, chip: str) -> None:
    x, w = rng.standard_normal((30, 64)).astype(BF16), rng.standard_normal(64).astype(BF16)
    for rows in (0, 1, 8, 9, 23):
        y = np.full((30, 64), 7, np.float32)
        norm.options(device=f"emu:{chip}")[rows](x, w, y, WIDTH=64)
        np.testing.assert_allclose(y[:rows], norm_of(x, w)[:rows], rtol=1e-5, atol=1e-6)
        assert (y[rows:] == 7).all()


@kiln.kernel
def places(x: kiln.View, total: kiln.View, drawn: kiln.View, seed: kiln.i32):
    i = kiln.grid(x.shape[0])
    number = i.to(kiln.i32)
    x.store((i, 0), kiln.full((1, 1), number * 1000 + kiln.num_programs(0).to(kiln.i32)))
    kiln.atomic_add(total, (0,), number + 1)
    drawn.store((i, 0), kiln.rand(seed, kiln.arange(0, 16) + i * 16).reshape((1, 16)))


@pytest.mark.parametrize("pinned", [False, True])
def test_each_program_is_there_once(rng: np.random.Generator, pinned: bool) -> None:
    rows, seed = int(rng.integers(1, 60)), int(rng.integers(1000))
    results = []
    for device in ("emu:sm_90a", "cpu"):
        x, total = np.zeros((60, 1), np.int32), np.zeros(1, np.int32)
        drawn = np.zeros((60, 16), np.float32)
        given = (x, total, drawn, seed)
        if not pinned:
            given = (x[:rows], total, drawn[:rows], seed)
        kernel = places.options(device=device)
        (kernel[rows] if pinned else kernel)(*given)
        np.testing.assert_array_equal(x[:rows, 0], np.arange(rows) * 1000 + rows)
        assert total[0] == rows * (rows + 1) // 2
        assert not x[rows:].any() and not drawn[rows:].any()
        results.append(drawn)
    np.testing.assert_array_equal(*results)
    assert blocks_of(places, *given) == 8


@kiln.kernel
def says(x: kiln.View):
    i = kiln.grid(x.shape[0])
    if kiln.sum(x.load((i, 0), (1, 32))) > 0:
        kiln.device_print("row", i)


def test_lines_name_the_program(rng: np.random.Generator, capfd) -> None:
    x = np.zeros((21, 32), np.float32)
    chosen = sorted(int(i) for i in rng.choice(21, 4, replace=False))
    x[chosen] = 1
    assert blocks_of(says, x) == 8
    says.options(device="emu:sm_90a")(x)
    lines = [line for line in capfd.readouterr().out.splitlines() if "row" in line]
    assert len(lines) == 4
    for i in chosen:
        assert any(f"({i}, 0, 0)" in line and line.rstrip().endswith(str(i)) for line in lines)


@kiln.kernel
def asserts(x: kiln.View):
    i = kiln.grid(x.shape[0])
    kiln.device_assert(kiln.sum(x.load((i, 0), (1, 32))) < 1, "small")
    x.store((i, 0), kiln.full((1, 32), 2.0))


def test_an_assertion_ends_its_program_alone() -> None:
    x = np.zeros((9, 32), np.float32)
    assert blocks_of(asserts, x) == 1
    x[4] = 1
    with pytest.raises(kiln.DeviceAssertError, match="small"):
        asserts.options(device="emu:sm_90a")(x)


@kiln.kernel
def pinned_to_one(x: kiln.View):
    i = kiln.grid(x.shape[0])
    kiln.pin(programs_per_block=1)
    x.store((i, 0), kiln.full((1, 32), 2.0))


@kiln.kernel
def on_two_axes(x: kiln.View):
    i, j = kiln.grid(x.shape[0], 4)
    x.store((i, j * 8), kiln.full((1, 8), 2.0))


def test_what_an_author_says_stays() -> None:
    x = np.zeros((9, 32), np.float32)
    for kernel in (pinned_to_one, on_two_axes):
        assert blocks_of(kernel, x) == 1
        x[:] = 0
        kernel.options(device="emu:sm_90a")(x)
        assert (x == 2).all()
