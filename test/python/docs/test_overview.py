"""docs/overview.md shows what the compiler prints: regenerating its listings changes nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def regenerate(docs: Path, *options: str) -> subprocess.CompletedProcess:
    command = [sys.executable, str(docs / "regenerate.py"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_overview_is_up_to_date():
    done = regenerate(ROOT / "docs", "--check")
    assert done.returncode == 0, f"run docs/regenerate.py\n{done.stdout}{done.stderr}"


def test_a_stale_listing_is_found_and_mended(tmp_path, monkeypatch):
    """On a copy of the page."""
    monkeypatch.setenv("TILE_COMPILE", str(ROOT / "build" / "bin" / "tile-compile"))
    for name in ("regenerate.py", "overview.md"):
        shutil.copy(ROOT / "docs" / name, tmp_path / name)
    page = tmp_path / "overview.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("tile.reduce %", "tile.deduce %"), encoding="utf-8")
    done = regenerate(tmp_path, "--check")
    assert done.returncode == 1
    assert "-%3 = tile.deduce" in done.stdout.replace("-  %", "-%")
    assert regenerate(tmp_path).returncode == 0
    assert page.read_text(encoding="utf-8") == text
