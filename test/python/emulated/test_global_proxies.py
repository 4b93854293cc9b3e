"""What threads write to global memory an engine finds behind a fence of the proxy alone, of the writer
or of who was told of it: kernels have it, and without it there is a race."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from mutation import loaded

import kiln

BF16 = ml_dtypes.bfloat16
FENCE = re.compile(r"\s*nvvm\.fence\.proxy .*async\.global")


@kiln.kernel
def own(x: kiln.View, c: kiln.View, y: kiln.View):
    """Of one program, from role to role."""
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("use", warps=4)))
    t = kiln.pin(x.load((0, 0), (64, 64)), role="load", atom="tma", ring="x")
    s = kiln.pin(t * 2.0, role="use")
    kiln.pin(c.store((0, 0), s), role="use")
    n = kiln.pin(kiln.max(kiln.max(s.to(kiln.f32), axis=1), axis=0), role="use")
    row = kiln.where(n > 1000.0, 64, 0)
    u = kiln.pin(c.load((row, 0), (64, 64)), role="load", atom="tma", ring="c")
    kiln.pin(y.store((0, 0), kiln.pin(u + 1.0, role="use")), role="use")


@kiln.kernel
def others(x: kiln.View, c: kiln.View, y: kiln.View, flags: kiln.View):
    """Each program loads what another one has stored."""
    i = kiln.grid(2)
    kiln.pin(roles=(kiln.role("all", warps=4),))
    c.store((i * 64, 0), x.load((i * 64, 0), (64, 64)) * 2.0)
    kiln.atomic_add(flags, (i,), 1, order="release")
    seen = kiln.atomic_add(flags, (1 - i,), 0, order="acquire")
    while seen == 0:
        seen = kiln.atomic_add(flags, (1 - i,), 0, order="acquire")
    t = kiln.pin(c.load(((1 - i) * 64, 0), (64, 64)), atom="tma")
    y.store(((1 - i) * 64, 0), t + 1.0)


@pytest.mark.parametrize("name", ["own", "others"])
def test_engines_find_what_was_written(rng, name: str) -> None:
    rows = 64 if name == "own" else 128
    x, c, y = (rng.integers(-8, 9, (rows, 64)).astype(BF16) for _ in "xcy")
    arguments = (x, c, y) if name == "own" else (x, c, y, np.zeros(2, np.int32))
    kernel = {"own": own, "others": others}[name]
    text = kernel.compile(*arguments, target="emu:sm_90a").ir("llvm")
    loaded(text, "emu:sm_90a")(*arguments)
    assert np.array_equal(y, x * BF16(2) + BF16(1))
    lines = [line for line in text.split("\n") if not FENCE.match(line)]
    assert len(lines) < text.count("\n") + 1
    if name == "others":
        arguments[-1][:] = 0
    with pytest.raises(
        kiln.DeviceError, match="a race: a read of byte .* of argument 'c'"
    ) as raised:
        loaded("\n".join(lines), "emu:sm_90a")(*arguments)
    assert "missing: a fence of the proxy for global memory, by thread" in str(raised.value)
