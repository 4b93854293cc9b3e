#!/usr/bin/env python3
"""Writes what was asked for and what was measured into the README.

    benchmarks/run.py SUITE --json SUITE.json
    benchmarks/figures.py SUITE.json...

Each suite has a table of its own, `host` another on a machine with a GPU; a table that no file is
about stays. Only lines with a figure that was asked for make a row.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"


def row(line: dict) -> str:
    """One line of the benchmark as one of the table."""
    if "asked" in line:
        asked = f"at least {line['asked']:g} of {line['implementation']}'s rate"
        reached, missed = f"{line['ratio']:.2f}", line["ratio"] < line["asked"]
    else:
        asked = f"{line['implementation']}: at most {line['limit']:.4g} ms"
        reached = f"{line['milliseconds']:.4g} ms"
        missed = line["milliseconds"] > line["limit"]
    return f"| {line['case']} | {asked} | {reached}{' (missed)' if missed else ''} |"


def table(lines: list[dict]) -> str:
    rows = [row(line) for line in lines if "asked" in line or "limit" in line]
    return "\n".join(["| Case | Asked for | Reached |", "| --- | --- | --- |", *rows]) + "\n"


def main(files: list[str]) -> int:
    if not files or "-h" in files or "--help" in files:
        print(__doc__)
        return 0 if files else 2
    text = "".join(Path(file).read_text(encoding="utf-8") for file in files)
    lines = [json.loads(line) for line in text.splitlines()]
    page = README.read_text(encoding="utf-8")
    for name in sorted({line["suite"] for line in lines}):
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
        if begin not in page or end not in page:
            print(f"error: expected {begin.strip()} and {end} in {README}", file=sys.stderr)
            return 1
        head, rest = page.split(begin)
        ours = table([line for line in lines if line["suite"] == name])
        page = head + begin + ours + end + rest.split(end, 1)[1]
    README.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
