"""Makes functions of texts, lowers kernels, and has tile-opt verify what comes out."""

import importlib.util
import itertools
import linecache
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("kiln", deadline=None, max_examples=40)
settings.load_profile("kiln")

ROOT = Path(__file__).resolve().parents[3]
if importlib.util.find_spec("kiln") is None:
    build = Path(os.environ.get("KILN_BUILD", ROOT / "build")) / "python"
    sys.path.insert(0, str(build if build.exists() else ROOT / "python"))

import kiln  # noqa: E402
from kiln.frontend import KernelSource, ScalarType, ViewType  # noqa: E402
from kiln.language import dtypes  # noqa: E402

_numbers = itertools.count()


def tile_opt() -> str:
    """The tile-opt of the build under test."""
    for folder in (os.environ.get("KILN_BUILD"), ROOT / "build"):
        if folder and (Path(folder) / "bin/tile-opt").exists():
            return str(Path(folder) / "bin/tile-opt")
    found = shutil.which("tile-opt")
    if found is None:
        pytest.fail("expected tile-opt in the build folder or on the path, got none")
    return found


def verified(text: str, *options: str) -> str:
    """The module as tile-opt prints it, after parsing and verifying it."""
    done = subprocess.run([tile_opt(), *options, "-"], input=text, text=True, capture_output=True)
    assert done.returncode == 0, f"{done.stderr}\n{text}"
    return done.stdout


class Lowered:
    """Lowers a function and has the text verified.

    Keywords name arguments: a dtype makes a scalar, a pair (dtype, rank or extents) a view,
    anything else is passed on as it is.
    """

    def __call__(self, function, constants=None, grid_pinned=False, **arguments) -> str:
        types = {name: self.type(given) for name, given in arguments.items()}
        source = KernelSource(function)
        text = source.lower(types, constants or {}, grid_pinned=grid_pinned)
        verified(text)
        return text

    @staticmethod
    def type(given):
        if isinstance(given, dtypes.DType):
            return ScalarType(given)
        if isinstance(given, tuple):
            dtype, shape = given
            return ViewType(dtype, (None,) * shape if isinstance(shape, int) else shape)
        return given


def from_text(text: str, name: str = "kernel", **scope):
    """A function defined by a text, whose source the front end can read."""
    file = f"generated_{next(_numbers)}.py"
    lines = text.splitlines(keepends=True)
    linecache.cache[file] = (len(text), None, lines, file)
    scope = {"kiln": kiln, **scope}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        exec(compile(text, file, "exec"), scope)
    return scope[name]


def lower_body(*statements: str) -> str:
    """The verified IR of a kernel of a view `v`, of two dimensions in rows, and a number `n`."""
    body = "\n".join("    " + line for line in "\n".join(statements).split("\n"))
    source = KernelSource(from_text(f"def kernel(v, n):\n{body}\n"))
    arguments = {"v": ViewType(kiln.f32, (None, None), (None, 1)), "n": ScalarType(kiln.i64)}
    text = source.lower(arguments, {}, grid_pinned="kiln.grid" not in body)
    verified(text)
    return text
