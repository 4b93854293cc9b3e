"""These pages are programs: their Python runs, and prints what the page says it prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[3] / "docs"
MARK = "--- the block that begins at line"


def blocks(text: str) -> list[tuple[int, str, str, str | None]]:
    """(line, language, body, the output printed below it) of each fenced block but outputs."""
    found = []
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, match.start()) + 2
        language, body = match.groups()
        if language == "text" and found:
            found[-1] = (*found[-1][:3], body)
        else:
            found.append((line, language, body, None))
    return found


def program(found: list[tuple[int, str, str, str | None]]) -> str:
    """All Python blocks, each at its own line, so that an error names the page's line."""
    lines: list[str] = []
    for line, language, body, _ in found:
        if language == "python":
            lines += [""] * (line - 2 - len(lines))
            lines += [f"print({MARK!r}, {line})", *body.splitlines()]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", ["tutorial", "performance", "from-triton", "ops"])
def test_tutorial(name, tmp_path):
    page = DOCS / f"{name}.md"
    found = blocks(page.read_text(encoding="utf-8"))
    script = tmp_path / "page.py"
    script.write_text(program(found), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    printed = {}
    for part in done.stdout.split(MARK)[1:]:
        line, _, output = part.partition("\n")
        printed[int(line)] = output
    for line, language, _, output in found:
        if language == "python":
            assert printed[line] == (output or ""), f"{page.name}:{line}"


def test_blocks_keep_their_lines_and_outputs():
    text = "# Title\n\n```python\nprint(1)\n```\n```text\n1\n```\n\n```python\nx = 2\n```\n"
    found = blocks(text)
    assert found == [(4, "python", "print(1)\n", "1\n"), (11, "python", "x = 2\n", None)]
    lines = program(found).splitlines()
    assert lines[3] == "print(1)"
    assert lines[10] == "x = 2"
