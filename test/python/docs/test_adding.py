"""The patches on the pages of docs/adding: applied to a copy of the tree, built, and used.

The copy is an overlay at the tree's own place, in a mount namespace of its own: a build folder
holds absolute paths, and what is built there before is not built again. What is written there goes
with the namespace.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("KILN_BUILD", ROOT / "build"))
BUILDS_ALL = os.environ.get("KILN_TEST_ADDING") == "all"
OVERLAY = """
set -e
mount -t tmpfs none "$1"
mkdir "$1/upper" "$1/work" "$1/python"
if [ -d "$2/.venv" ]; then mount --bind "$2/.venv" "$1/python"; fi
mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" "$2"
if [ -d "$2/.venv" ]; then mount --bind "$1/python" "$2/.venv"; fi
cd "$2"
set -o pipefail
eval "$3"
"""
# The table of what targets support asks each that is built in. What it says of others is held already.
ROWS = """
import sys
sys.path.insert(0, "utils/support")
import table
tool = "build/bin/tile-opt"
made = table.targets(tool)
alike = table.read()["amdgpu:gfx1201"]
verified = table.read_verified()
rows = table.classify(tool, "amdgpu:gfx1200", table.cells(verified), alike)
rows = table.fill(rows, verified)
if "amdgpu:gfx1200" in made and rows == alike:
    print("the rows of gfx1201")
"""


def in_overlay(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    command = ["unshare", "--mount", "bash", "-c", OVERLAY, "bash", folder, ROOT, script]
    seconds = 1800 if BUILDS_ALL else 500
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)


@pytest.fixture
def build(tmp_path):
    """Applies a page's patch, builds targets with it and runs commands there."""
    if not (BUILD / "build.ninja").is_file() or BUILD.resolve().parent != ROOT:
        pytest.skip("no build folder in the tree")
    if not shutil.which("unshare") or in_overlay(tmp_path, "true").returncode:
        pytest.skip("this process may not mount an overlay, as root of a machine may")

    def build(page: str, targets: str, commands: str) -> str:
        text = (ROOT / "docs" / "adding" / page).read_text(encoding="utf-8")
        patches = re.findall(r"^```diff\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        assert patches, page
        patch = tmp_path.with_suffix(".patch")
        patch.write_text("".join(patches), encoding="utf-8")
        done = in_overlay(
            tmp_path,
            f"patch -p1 --fuzz=0 < {shlex.quote(str(patch))}\n"
            f"ninja -C {shlex.quote(str(BUILD))} {targets}\n"
            f"export PATH={shlex.quote(str(BUILD / 'bin'))}:/usr/lib/llvm-22/bin:$PATH\n{commands}",
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    return build


def test_an_op(build):
    """Every file that knows the dialect is compiled again to run it, which is asked for."""
    if not BUILDS_ALL:
        objects = "lib/Dialect/Tile/IR/CMakeFiles/KilnTile.dir"
        sources = ("TileComputeOps", "TileDialect")
        build("an-op.md", " ".join(f"{objects}/{name}.cpp.o" for name in sources), "true")
        return
    test = "test/Dialect/Tile/square.mlir"
    build(
        "an-op.md", "tile-opt",
        f'tile-opt {test} --tile-pipeline="target=cpu stop-after=tile" | FileCheck {test}\n'
        f'tile-opt {test} --tile-pipeline="target=cpu stop-after=llvm" > /dev/null\n'
        f'tile-opt {test} --tile-pipeline="target=nvptx:sm_90a stop-after=llvm" |'
        f" FileCheck {test} --check-prefix=GPU",
    )  # fmt: skip


def test_a_pass(build):
    """In a room with few files, for all that know its passes are compiled again."""
    test = "test/Target/NVPTX/drop-negations.mlir"
    build("a-pass.md", "tile-opt", f"tile-opt {test} --nvptx-drop-negations | FileCheck {test}")


def test_a_chip(build):
    test = "test/Target/AMDGPU/gfx1200.mlir"
    out = build(
        "a-chip.md", "tile-compile tile-opt",
        f"tile-compile {test} --target amdgpu:gfx1200 --emit asm | FileCheck {test}\n"
        f"tile-compile --list-targets\n{shlex.quote(sys.executable)} -c {shlex.quote(ROWS)}",
    )  # fmt: skip
    assert "\namdgpu:gfx1200\n" in out and "\nthe rows of gfx1201\n" in out
