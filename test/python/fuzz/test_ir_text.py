"""tile-opt survives mutants of its own tests, and the fuzzer that says so can tell."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FUZZER = ROOT / "utils/fuzz/mutate_ir.py"
SECONDS = 30


def fuzz(*arguments):
    return subprocess.run(
        [sys.executable, FUZZER, *arguments], capture_output=True, text=True, timeout=300
    )


def test_no_mutant_kills_tile_opt(tmp_path):
    tool = Path(os.environ.get("KILN_BUILD", ROOT / "build")) / "bin/tile-opt"
    done = fuzz("--tool", tool, "--seconds", str(SECONDS), "--output", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_dying_tool_is_found_and_its_input_shrunk(tmp_path):
    tool = tmp_path / "tool"
    tool.write_text('#!/bin/sh\ntext=$(cat)\ncase "$text" in *tile.grid*) kill -SEGV $$ ;; esac\n')
    tool.chmod(0o755)
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "a.mlir").write_text("// a comment\nfirst line\n  tile.grid %n\nlast line\n")
    done = fuzz("--tool", tool, "--seconds", "1", "--output", tmp_path / "out", corpus)
    assert done.returncode == 1, done.stdout + done.stderr
    crashes = list((tmp_path / "out").glob("*.mlir"))
    assert crashes and all("tile.grid" in path.read_text() for path in crashes)
    assert all(len(path.read_text().splitlines()) == 1 for path in crashes)
