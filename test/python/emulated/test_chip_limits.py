"""What a chip cannot do is refused with its limit, at the user's lines, and the process goes on."""

from __future__ import annotations

import numpy as np
import pytest
from chip_kernels import add

import kiln

SHARED = {"sm_80": 166912, "sm_86": 101376, "sm_90a": 232448, "gfx942": 65536, "gfx950": 163840}


@kiln.kernel
def ordered(x: kiln.View, y: kiln.View, N: kiln.constexpr):
    kiln.grid(1)
    y.store((0,), kiln.sort(x.load((0,), (N,))))


@kiln.kernel
def wide(x: kiln.View, y: kiln.View, N: kiln.constexpr):
    kiln.grid(1)
    y.store((0, 0), x.load((0, 0), (N, N)))


def check_add(chip: str) -> None:
    x = np.arange(64, dtype=np.float32)
    z = np.zeros_like(x)
    add(x, x, z, B=64, _device=f"emu:{chip}")
    assert np.array_equal(z, 2 * x)


@pytest.mark.parametrize("chip", SHARED)
def test_too_much_shared_memory_names_op_size_line_and_limit(chip: str) -> None:
    x = np.zeros(8, np.float32)
    with pytest.raises(kiln.CompileError) as caught:
        ordered(x, x.copy(), N=65536, _device=f"emu:{chip}")
    text = str(caught.value)
    assert f"expected at most {SHARED[chip]} bytes of shared memory on emu:{chip}, got " in text
    assert "def ordered(" in text
    assert "test_chip_limits.py:17:" in text and "bytes for 'tile.sort'" in text
    check_add(chip)


@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
def test_a_tile_beyond_any_register_file_is_named_at_its_line(chip: str) -> None:
    x = np.zeros((8, 8), np.float32)
    with pytest.raises(kiln.CompileError) as caught:
        wide(x, x.copy(), N=1024, _device=f"emu:{chip}")
    assert "expected at most 131072 elements, got tensor<1024x1024xf32>" in str(caught.value)
    assert "test_chip_limits.py:23:" in str(caught.value)
    check_add(chip)


@pytest.mark.parametrize(
    "target, known",
    [
        ("nvptx:sm_70", "target 'nvptx' .*sm_80.*got 'nvptx:sm_70'"),
        ("amdgpu:gfx900", "target 'amdgpu' .*gfx942.*got 'amdgpu:gfx900'"),
        ("amdgpu", "target 'amdgpu' .*gfx942.*got 'amdgpu'"),
        ("metal:m1", "cpu, nvptx:<chip>, amdgpu:<chip>, emu:<chip>.*got 'metal:m1'"),
    ],
)
def test_unknown_chips(target: str, known: str) -> None:
    x = np.zeros(8, np.float32)
    with pytest.raises(kiln.CompileError, match=known):
        add.compile(x, x, x, B=8, target=target)
