"""Code for kinds of processors: what it needs, what it uses, and one artifact of several versions."""

import re
import shutil
import struct
import subprocess

import numpy as np
import pytest
from runtime_kernels import add, matmul

import kiln
from kiln import _native
from kiln.runtime.devices import device

VECTOR, MATRIX = kiln.View[kiln.f32, 1], kiln.View[kiln.f32, 2]
X86 = ["cpu:x86-64-v2", "cpu:x86-64-v3", "cpu:x86-64-v4"]
OBJDUMP = shutil.which("llvm-objdump-22") or shutil.which("objdump")


def compiled(target: str, kernel=add):
    view = VECTOR if kernel is add else MATRIX
    return kernel.compile(view, view, view, target=target)


def disassemble(code: bytes, folder) -> str:
    (folder / "code.o").write_bytes(code)
    return subprocess.run(
        [OBJDUMP, "-d", folder / "code.o"], capture_output=True, text=True, check=True
    ).stdout


def runs_here(kernel) -> bool:
    try:
        device("cpu").load(kernel.artifact)
    except kiln.CompileError as error:
        assert "expected a processor" in str(error)
        return False
    except kiln.DeviceError as error:
        assert "expected a processor" in str(error)
        return False
    return True


@pytest.mark.skipif(OBJDUMP is None, reason="needs objdump")
@pytest.mark.parametrize("target", X86)
def test_code_uses_what_its_kind_has_and_nothing_more(target: str, tmp_path) -> None:
    for kernel in (compiled(target), compiled(target, matmul)):
        assert kernel.target == target
        needed = set(kernel.metadata["processor_features"])
        assert kernel.metadata["processor"] == "x86_64"
        text = disassemble(kernel.binary, tmp_path)
        wide, widest = "%ymm" in text, "%zmm" in text
        assert ("avx2" in needed, "avx512f" in needed) == (target != X86[0], target == X86[2])
        assert wide <= ("avx2" in needed) and widest <= ("avx512f" in needed)
        if target == X86[0]:
            assert not re.search(r"\bv[a-z]+ps\b|\bmulx\b|\blzcnt\b|\bvfm", text)
    assert wide or widest or target == X86[0]


@pytest.mark.parametrize("target", X86)
def test_code_of_a_kind_that_is_here_runs(target: str, rng) -> None:
    kernel = compiled(target)
    if not runs_here(kernel):
        pytest.skip(f"this machine does not run {target}")
    a, b = (rng.standard_normal(1000, dtype=np.float32) for _ in range(2))
    c = np.zeros_like(a)
    artifact = _native.Artifact.deserialize(kernel.artifact.serialize())
    device("cpu").load(artifact).launch("add", [a, b, c])
    np.testing.assert_array_equal(c, a + b)


def test_another_architecture_is_compiled_for_and_not_loaded() -> None:
    kernel = compiled("cpu:aarch64", matmul)
    machine = struct.unpack_from("<H", kernel.binary, 18)[0]
    assert kernel.binary[:4] == b"\x7fELF" and machine == 183
    assert "neon" in kernel.metadata["processor_features"]
    if kernel.metadata["processor"] != compiled("cpu").metadata["processor"]:
        with pytest.raises((kiln.CompileError, kiln.DeviceError), match="processor of aarch64"):
            device("cpu").load(kernel.artifact)


def test_the_best_version_that_runs_is_chosen(rng) -> None:
    several = compiled("cpu:x86-64-v2,cpu:x86-64-v3,cpu:x86-64-v4,cpu:aarch64")
    assert [v["target"] for v in several.metadata["versions"]] == [*X86, "cpu:aarch64"]
    executable = device("cpu").load(several.artifact)
    best = [t for t in ("cpu:aarch64", *X86) if runs_here(compiled(t))][-1]
    assert f'"target":"{best}"' in executable.metadata
    a, b = (rng.standard_normal(1000, dtype=np.float32) for _ in range(2))
    c = np.zeros_like(a)
    executable.launch("add", [a, b, c])
    np.testing.assert_array_equal(c, a + b)


def test_versions_are_of_processors() -> None:
    with pytest.raises(kiln.CompileError, match="expected kinds of processor"):
        compiled("cpu:x86-64-v2,emu:gfx942")
    with pytest.raises(kiln.CompileError, match="x86-64-v2"):
        compiled("cpu:z80")


def test_native_code_says_what_it_needs() -> None:
    metadata = compiled("cpu").metadata
    assert metadata["target"] == "cpu" and metadata["processor"]
    assert compiled("emu:gfx942").metadata["processor_features"] is not None
    assert compiled("emu:gfx942").metadata["stack_bytes"] > 0
