"""The kernels of a folder, found in its files, and how small runs of them are launched on a device and
judged against float64."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from pinned import build

ROOT = Path(__file__).resolve().parents[2]
CHIPS = ("sm_90a", "sm_80", "sm_100a", "gfx942", "gfx950", "gfx1201")
BF16 = ml_dtypes.bfloat16


def kernels_in(folder: str) -> set[str]:
    """`file:kernel`, of Python and of MLIR text."""
    found = set()
    for path in sorted((ROOT / folder).glob("*.py")):
        found |= {f"{path.name}:{name}" for name in decorated(ast.parse(path.read_text()))}
    for path in sorted((ROOT / folder).glob("*.mlir")):
        names = re.findall(r"tile\.kernel @(\w+)", path.read_text())
        found |= {f"{path.name}:{name}" for name in names}
    return found


def decorated(node: ast.AST, inside: str = "") -> Iterator[str]:
    """Functions under `@kiln.kernel`; one that another makes has that one's name before its own."""
    for each in ast.iter_child_nodes(node):
        name = f"{inside}{each.name}" if isinstance(each, ast.FunctionDef) else ""
        marks = {ast.unparse(mark).split("(")[0] for mark in getattr(each, "decorator_list", [])}
        if name and "kiln.kernel" in marks:
            yield name
        yield from decorated(each, f"{name}." if name else inside)


def module_of(folder: str, name: str) -> Any:
    """As `python FOLDER/NAME` sees it."""
    if str(ROOT / folder) not in sys.path:
        sys.path.insert(0, str(ROOT / folder))
    return importlib.import_module(name)


class Run:
    """Launches the kernels of one file on a device: by name, or what the file has made."""

    def __init__(self, folder: str, file: str, device: str) -> None:
        self.chip = device.removeprefix("emu:")
        self._folder, self._path, self._device = folder, ROOT / folder / file, device
        self._text: Callable[..., None] | None = None

    def __call__(self, kernel: Any, *arguments: Any, **constants: Any) -> None:
        if self._path.suffix == ".mlir":
            self._text = self._text or build(self._path.read_bytes(), self.chip)
            self._text(*arguments)
            return
        if isinstance(kernel, str):
            kernel = getattr(module_of(self._folder, self._path.stem), kernel)
        kernel.options(device=self._device)(*arguments, **constants)


Case = Callable[[Run, np.random.Generator], None]


def runs_of(folder: str) -> dict[str, Case]:
    """The runs of a folder, by `file:kernel`."""
    if folder == "examples":
        from example_runs import RUNS
    else:
        from benchmark_runs import RUNS
    return RUNS


def places(folder: str) -> list[tuple[str, str]]:
    """Each kernel that has a run, with each chip whose instructions it needs: of what pins none, all."""
    from pinned_runs import PINNED

    return [
        (name, chip) for name in runs_of(folder) for chip in CHIPS
        if name not in PINNED or chip in PINNED[name][1]
    ]  # fmt: skip


def draw_order(rng: np.random.Generator, monkeypatch: Any) -> None:
    """In which programs, warps and lanes of an emulated chip go on."""
    monkeypatch.setenv("KILN_EMULATED_SEED", str(rng.integers(1, 1 << 32)))


def exact(x: Any) -> np.ndarray:
    return np.asarray(x).astype(np.float64)


def check(result: np.ndarray, reference: np.ndarray, tolerance: float = 4e-3) -> None:
    """As a whole, and each element."""
    difference = np.abs(exact(result) - reference)
    norm = np.linalg.norm(reference)
    assert np.linalg.norm(difference) <= tolerance * norm
    assert (difference <= 16 * tolerance * (np.abs(reference) + norm / reference.size**0.5)).all()


def poisoned(*shape: int, dtype: Any = BF16) -> np.ndarray:
    return np.full(shape, np.nan, dtype)


def normal(rng: np.random.Generator, *shape: int, dtype: Any = BF16) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32).astype(dtype)
