"""The page of reports: its commands print what it says, but for numbers and where lines are broken."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def told(text: str) -> str:
    return re.sub(r"\d+", "#", " ".join(text.split()))


def test_the_page_of_reports(tmp_path):
    page = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8")
    (tmp_path / "benchmarks").symlink_to(ROOT / "benchmarks")
    for name, body in re.findall(r"```python\n# (\S+)\n(.*?)```", page, re.DOTALL):
        (tmp_path / name).write_text(body)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "KILN_CACHE_DIR": ""}
    blocks = re.findall(r"```sh\n(.*?)```\n```text\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == page.count("```sh")
    for commands, listing in blocks:
        done = subprocess.run(
            ["bash", "-uc", f'kiln() {{ "{sys.executable}" -m kiln "$@"; }}\n{commands}'],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == (3 if listing.startswith("kernel '") else 0), done.stderr
        printed = (done.stdout + done.stderr).replace(f"{tmp_path}/", "")
        assert told(printed) == told(listing), commands
    html = (tmp_path / "product.html").read_text(encoding="utf-8")
    assert "warp 11 (mma)" in html
    assert "a.load((i * 128, k), (128, 64))" in html
