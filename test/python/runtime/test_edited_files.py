"""A file that is edited while the program runs: a kernel is what its function was when it was defined."""

import importlib
import os
import sys

import numpy as np
import pytest

import kiln

BEFORE = """
import kiln


@kiln.function
def half(x):
    return x * 0.5


@kiln.kernel
def scaled(a: kiln.View, b: kiln.View):
    b.store((0,), half(a.load((0,), (16,))) + 1.0)


def make(n):
    @kiln.kernel
    def shifted(a: kiln.View, b: kiln.View):
        b.store((0,), a.load((0,), (16,)) + n)

    return shifted
"""
# As many lines, other numbers; and everything some lines further down.
OTHER = BEFORE.replace("0.5", "0.25").replace("1.0", "3.0").replace("+ n", "- n")
LOWER = BEFORE.replace("import kiln\n", "import kiln\n\n\ndef more(x):\n    return x\n", 1)


@pytest.fixture
def module(tmp_path, monkeypatch):
    name = "edited_kernels"
    path = tmp_path / f"{name}.py"
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    write(path, BEFORE)
    yield importlib.import_module(name), path
    sys.modules.pop(name)


def write(path, text: str) -> None:
    """With a time of its own, however coarse the clock of files is."""
    later = path.stat().st_mtime_ns + 2_000_000_000 if path.exists() else None
    path.write_text(text, encoding="utf-8")
    if later:
        os.utime(path, ns=(later, later))


def run(kernel) -> float:
    a, b = np.full(16, 8, np.float32), np.zeros(16, np.float32)
    kernel[1](a, b)
    assert (b == b[0]).all()
    return float(b[0])


@pytest.mark.parametrize("text", [OTHER, LOWER, "", "def scaled(:\n"])
def test_a_kernel_is_what_was_imported(module, text: str) -> None:
    kernels, path = module
    write(path, text)
    assert run(kernels.scaled) == 5
    assert run(kernels.make(2)) == 10


def test_a_module_that_is_loaded_again_has_new_kernels(module) -> None:
    kernels, path = module
    old = kernels.scaled
    assert run(old) == 5
    write(path, OTHER)
    importlib.invalidate_caches()
    importlib.reload(kernels)
    assert run(kernels.scaled) == 8 * 0.25 + 3
    assert run(kernels.make(2)) == 6
    # Its own text is that of before; the names in it are the module's.
    assert run(old) == 8 * 0.25 + 1


def test_a_text_that_is_gone_is_an_error(module) -> None:
    """Neither what the file was when it was first seen nor what it is now has the function."""
    kernels, path = module
    write(path, OTHER)
    names: dict = {"__name__": kernels.__name__}
    exec(compile(BEFORE.replace("0.5", "2.0").replace("1.0", "7.0"), str(path), "exec"), names)
    with pytest.raises(
        kiln.CompileError, match="got one that has changed since.*edited_kernels.py"
    ):
        run(names["scaled"])
    assert run(kernels.scaled) == 5


FACTORY = BEFORE[: BEFORE.index("@kiln.function")] + BEFORE[BEFORE.index("def make") :]


@pytest.mark.parametrize("text", [FACTORY.replace("+ n", "- n"), "\n" + FACTORY, ""])
def test_a_factory_of_a_file_that_changed_before_its_first_kernel_is_refused(module, text) -> None:
    """Nobody has read the text that its function came of: what the file says is another one."""
    _, path = module
    write(path, FACTORY)
    sys.modules.pop("edited_kernels")
    importlib.invalidate_caches()
    kernels = importlib.import_module("edited_kernels")
    forget(path)
    write(path, text)
    with pytest.raises(
        kiln.CompileError, match="got one that has changed since.*edited_kernels.py"
    ):
        run(kernels.make(2))
    write(path, FACTORY)
    assert run(kernels.make(2)) == 10


def forget(path) -> None:
    """As if nothing of the file had been decorated yet."""
    from kiln.frontend import source

    source._files.pop(str(path), None)
