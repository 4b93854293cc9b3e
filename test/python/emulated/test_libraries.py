"""Functions of libraries of bitcode on emulated chips: own ones and the vendors', called by name and
as mathematics; and what becomes of a library that changes or is no library."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import vendor_libraries

import kiln
from kiln import _native

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = str(ROOT / "utils/support/functions.ll")
CHIPS = ["sm_90a", "gfx942", "gfx1201"]
FLOATS = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
          "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}  # fmt: skip
INTEGERS = {"i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8}


@kiln.kernel
def called(x: kiln.View, y: kiln.View, SYMBOL: kiln.constexpr, WHERE: kiln.constexpr):
    i = kiln.grid(kiln.cdiv(x.shape[0], 256))
    a = x.load((i * 256,), (256,))
    y.store((i * 256,), kiln.extern_call(SYMBOL, (a,), x.dtype, library=WHERE, pure=True))


@kiln.kernel
def computed(x: kiln.View, y: kiln.View):
    i = kiln.grid(kiln.cdiv(x.shape[0], 256))
    a = x.load((i * 256,), (256,))
    y.store((i * 256,), kiln.sin(a) + kiln.erf(a) * kiln.exp(a) + kiln.log(kiln.abs(a)))


@pytest.fixture
def found(monkeypatch):
    """The vendors' libraries are where a toolkit would have them."""
    for name, value in vendor_libraries.variables().items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("element", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("chip", CHIPS)
def test_a_function_for_each_type(chip, element, rng):
    if element in FLOATS:
        x = rng.standard_normal(700).astype(FLOATS[element])
    else:
        x = rng.integers(-127, 127, 700).astype(INTEGERS[element])
    y = np.zeros_like(x)
    called(x, y, SYMBOL=f"abs_{element}", WHERE=LIBRARY, _device=f"emu:{chip}")
    assert np.array_equal(y.astype(np.float64), np.abs(x.astype(np.float64)))


@pytest.mark.parametrize(
    "chip, element",
    [("sm_90a", "f64"), *[(chip, element) for chip in CHIPS[1:] for element in ("f32", "f64")]],
)
def test_a_function_of_the_vendor(chip, element, rng, found):
    name = "__nv_cbrt" if chip == "sm_90a" else f"__ocml_cbrt_{element}"
    x = rng.standard_normal(1000).astype(FLOATS[element])
    y = np.zeros_like(x)
    called(x, y, SYMBOL=name, WHERE="", _device=f"emu:{chip}")
    want = np.cbrt(x.astype(np.float64))
    assert np.max(np.abs(y - want) / np.abs(want)) < (3e-7 if element == "f32" else 1e-15)


@pytest.mark.parametrize("chip", CHIPS[1:])
def test_mathematics_of_the_vendor(chip, rng, found):
    x = rng.uniform(-3, 3, 1000).astype(np.float32)
    y, own = np.zeros_like(x), np.zeros_like(x)
    computed(x, y, _device=f"emu:{chip}", _vendor_math=True)
    libraries = computed.warmup(x, y, _device=f"emu:{chip}", _vendor_math=True).metadata
    assert len(libraries["libraries"]) == 1 and libraries["vendor_math"]
    computed(x, own, _device=f"emu:{chip}")
    assert "libraries" not in computed.warmup(x, own, _device=f"emu:{chip}").metadata
    wide = x.astype(np.float64)
    erf = np.vectorize(math.erf)(wide)
    want = np.sin(wide) + erf * np.exp(wide) + np.log(np.abs(wide))
    for got in (y, own):
        assert np.max(np.abs(got - want) / (1 + np.abs(want))) < 2e-6


def test_without_it_mathematics_is_the_own(rng):
    x = rng.uniform(-3, 3, 256).astype(np.float32)
    y, own = np.zeros_like(x), np.zeros_like(x)
    computed(x, y, _device="emu:gfx942", _vendor_math=True)
    computed(x, own, _device="emu:gfx942")
    assert np.array_equal(y, own)


def test_what_is_found_is_in_the_key(monkeypatch):
    """Both levels' keys: an environment with another library, or none, is another key."""
    seen = set()
    for variable, target in (("KILN_LIBDEVICE", "nvptx:sm_90a"), ("KILN_OCML", "amdgpu:gfx942")):
        request = {"source": "module {}", "target": target}
        for where in (vendor_libraries.variables()[variable], "none"):
            monkeypatch.setenv(variable, where)
            seen.add((_native.target_identity(target), _native.request_key(request)))
    assert len({identity for identity, _ in seen}) == 4 and len({key for _, key in seen}) == 4


RUN = """
import sys, numpy as np, kiln
sys.path.insert(0, sys.argv[1])
import user
x = np.arange(256, dtype=np.float32)
y = np.zeros_like(x)
user.k(x, y, WHERE=sys.argv[2], _device="emu:gfx942")
compiled = user.k.warmup(x, y, WHERE=sys.argv[2], _device="emu:gfx942")
print(compiled.source_level, y[3])
"""
KERNEL = """
import kiln
@kiln.kernel
def k(x: kiln.View, y: kiln.View, WHERE: kiln.constexpr):
    kiln.grid(1)
    a = x.load((0,), (256,))
    y.store((0,), kiln.extern_call("f", (a,), kiln.f32, library=WHERE, pure=True))
"""
FUNCTION = """
define float @f(float %x) {{
  %y = fmul float %x, {factor}
  ret float %y
}}
"""


def test_a_library_that_changes_is_compiled_with_again(tmp_path):
    (tmp_path / "user.py").write_text(KERNEL)
    library = tmp_path / "f.ll"

    def run(factor):
        library.write_text(FUNCTION.format(factor=factor))
        done = subprocess.run(
            [sys.executable, "-c", RUN, str(tmp_path), str(library)],
            capture_output=True, text=True, check=True,
            env={**os.environ, "KILN_CACHE_DIR": str(tmp_path / "cache"),
                 "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        return done.stdout.split()

    assert run("2.0") == ["compiled", "6.0"]
    assert run("2.0") == ["disk", "6.0"]
    assert run("4.0") == ["compiled", "12.0"]
    assert run("4.0") == ["disk", "12.0"]


def test_damaged_bitcode_never_ends_the_process(tmp_path, rng):
    """What the reader does not notice, a worker process takes upon itself."""
    assembler = shutil.which("llvm-as-22") or "/usr/lib/llvm-22/bin/llvm-as"
    good = tmp_path / "good.bc"
    subprocess.run([assembler, LIBRARY, "-o", str(good)], check=True)
    content = good.read_bytes()
    x = np.ones(256, np.float32)
    for number in range(25):
        damaged = bytearray(content)
        for at in rng.integers(0, len(content), 3):
            damaged[at] ^= 1 << rng.integers(0, 8)
        path = tmp_path / f"{number}.bc"
        path.write_bytes(bytes(damaged))
        try:
            called(x, x.copy(), SYMBOL="abs_f32", WHERE=str(path), _device="emu:gfx942")
        except kiln.CompileError as error:
            assert "called" in str(error) or "test_libraries.py" in str(error)
        except (kiln.WorkerError, kiln.DeviceError) as error:
            assert "called" in str(error)
