"""What editors see is what there is: the stubs and the package have the same names."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import kiln
from kiln import language

FOLDER = Path(language.__file__).resolve().parent


def names(stub: Path) -> set[str]:
    """The public names that a stub gives, those of starred imports left out."""
    out = set()
    pending = list(ast.parse(stub.read_text()).body)
    for node in pending:
        if isinstance(node, ast.ImportFrom):
            out |= {alias.asname for alias in node.names if alias.asname}
        elif isinstance(node, ast.ClassDef):
            out.add(node.name)
        elif isinstance(node, ast.If):
            pending += node.body + node.orelse
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            out |= {target.id for target in targets}
    out.discard("MYPY")
    return {name for name in out if not name.startswith("_") or name == "__version__"}


def test_the_stub_of_the_language():
    assert names(FOLDER / "__init__.pyi") == set(language.__all__)


def test_the_stub_of_the_package():
    assert names(FOLDER.parent / "__init__.pyi") == set(kiln.__all__) - set(language.__all__)


def test_every_name_is_documented():
    for name in language.__all__:
        assert getattr(language, name).__doc__, name


USER = """
import numpy as np
import kiln
from kiln import bf16, f32

@kiln.function
def relu(x):
    return kiln.maximum(x, 0.0)

@kiln.kernel
def matmul(
    a: kiln.View[bf16, 2], b: kiln.View[bf16, None, 16], c: kiln.View, p: kiln.Pointer[f32],
    alpha: kiln.f32, BM: kiln.tunable = kiln.tunable(32, 64, default=64),
    BN: kiln.constexpr = 128, epilogue: kiln.constexpr = relu,
):
    M, K = a.shape
    i, j = kiln.grid(kiln.cdiv(M, BM), kiln.cdiv(b.shape[1], BN))
    acc = kiln.zeros((BM, BN), f32)
    for k in range(0, K, 32):
        x = a.load((i * BM, k), (BM, 32))
        acc = kiln.dot(x, b.load((k, j * BN), (32, BN), pad=0, cache="streaming"), acc)
    c.store((i * BM, j * BN), epilogue(alpha * (acc - kiln.max(acc, axis=1)[:, None])).to(c.dtype))

x = np.zeros((4, 4), np.float32)
matmul(x, x, x, x, 1.0, BM=64)
matmul[(4, 4)](x, x, x, x, 1.0)
made = matmul.compile(kiln.View[bf16, 2], kiln.View[bf16, 2], x, kiln.Pointer[f32], f32)
text: str = made.ir("tile")
wrong: int = made.ir("tile")
kiln.no_such_name
"""


@pytest.mark.slow
def test_a_users_kernel_passes_a_type_checker_and_two_mistakes_do_not(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "user.py").write_text(USER)
    package = str(FOLDER.parent.parent)
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--no-incremental"]
    done = subprocess.run(
        [*command, "user.py"], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "MYPYPATH": package},
    )  # fmt: skip
    found = [line for line in done.stdout.splitlines() if "error" in line and "user.py:" in line]
    last = USER.count("\n")
    assert len(found) == 2, done.stdout + done.stderr
    assert f"user.py:{last - 1}:" in found[0] and f"user.py:{last}:" in found[1], done.stdout
