"""Random kernels on the CPU and emulated chips, against an interpreter of their syntax trees."""

import ast
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import kernel_check
import kernel_interpreter
import kernel_writer
import numpy as np
import pytest
from seeds import seed_of_commit

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("KILN_BUILD", ROOT / "build")).resolve()
DEVICES = ["cpu", "emu:sm_90a", "emu:gfx942", "emu:gfx1201", "emu:gfx950"]
COUNT = 60  # on each device, of each commit others


@pytest.fixture(autouse=True)
def in_process(monkeypatch):
    monkeypatch.setenv("KILN_COMPILE_IN_PROCESS", "1")


def found(seed: int, device: str, said: str) -> str:
    """A file that shows what goes wrong by itself, with no more statements than it needs."""

    def kind(said: str) -> str:
        return re.sub(r"\d+|expected \S+, got \S+ in .*", "", said.splitlines()[0] if said else "")

    def fails(case: kernel_writer.Case) -> bool:
        return kind(kernel_check.check(case, [device])) == kind(said)

    case = kernel_check.shrunk(kernel_writer.write(seed), fails)
    return kernel_check.reproduction(case, f"seed {seed}: {said}", [device])


@pytest.mark.parametrize("device", DEVICES)
def test_random_kernels_compute_what_the_interpreter_does(device):
    first = seed_of_commit() + COUNT * DEVICES.index(device)
    for seed in range(first, first + COUNT):
        case = kernel_writer.write(seed)
        wrong = kernel_check.check(case, [device])
        assert not wrong, found(seed, device, wrong)


def test_300_kernels_are_drawn():
    assert COUNT * len(DEVICES) >= 300


def test_the_interpreter_shares_nothing_with_the_compiler():
    tree = ast.parse(Path(kernel_interpreter.__file__).read_text())
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else
                     [alias.name for alias in node.names])
    }  # fmt: skip
    assert imported == {"__future__", "ast", "operator", "numpy"}


def test_a_kernel_is_the_same_each_time():
    assert kernel_writer.write(7).text == kernel_writer.write(7).text
    assert kernel_writer.write(7).text != kernel_writer.write(8).text


def test_the_interpreter_runs_one_statement_after_the_other():
    text = (
        "def kernel(a, b, n):\n"
        "    p = kiln.grid(2)\n"
        "    m, w = a.load(p * 2, (2,)), kiln.full((2,), 0, kiln.i32)\n"
        "    for i in range(n):\n"
        "        m, w = m + 1, w + m\n"
        "        a.store(p * 2, w)\n"
        "    while kiln.max(w) < 20:\n"
        "        w = w + a.load(p * 2, (2,))\n"
        "    if p == 1:\n"
        "        return\n"
        "    b.store(-1, w)\n"
    )
    a, b = np.arange(4, dtype=np.int32), np.zeros(2, np.int32)
    given = {"a": a, "b": b, "n": np.int32(3)}
    kernel_interpreter.Interpreter(text).run("kernel", given)
    assert a.tolist() == [3, 6, 9, 12] and b.tolist() == [24, 0]


class Wrong:
    """A device on which the last element of every array is another."""

    def __init__(self, kernel):
        self.kernel = kernel

    def __call__(self, *values, _device):
        self.kernel(*values, _device="cpu")
        for value in values:
            if np.ndim(value):
                value[...] += 1


def test_a_wrong_number_is_found_shrunk_and_shown(monkeypatch, tmp_path):
    define = kernel_check.define
    monkeypatch.setattr(kernel_check, "define", lambda text: Wrong(define(text)))
    monkeypatch.setattr(kernel_writer, "write", partial(kernel_writer.write, size=4))
    case = kernel_writer.write(3)
    said = kernel_check.check(case, ["cpu"])
    assert "wrong numbers" in said
    shown = found(3, "cpu", said)
    text = re.search(r"TEXT = \'\'\'\\\n(.*?)\'\'\'", shown, re.DOTALL)[1]
    assert len(text.splitlines()) < len(case.text.splitlines())
    file = tmp_path / "found.py"
    file.write_text(shown)
    here = Path(__file__).parent
    path = os.pathsep.join(map(str, (here, here.parent, BUILD / "python")))
    done = subprocess.run(
        [sys.executable, file], env={**os.environ, "PYTHONPATH": path}, text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout == "right\n"


def test_a_campaign_counts_its_kernels(tmp_path):
    command = [ROOT / "utils/fuzz", "python-kernels", "--count", 3, "--seed", 1, "--target", "cpu",
               "--build", BUILD, "--output", tmp_path]  # fmt: skip
    done = subprocess.run(
        [sys.executable, *map(str, command)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "3 runs, 0 findings" in done.stdout, done.stdout + done.stderr
