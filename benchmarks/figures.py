#!/usr/bin/env python3
"""Keeps what was measured, and writes it into docs/benchmarks.md as tables and as plots.

    benchmarks/run.py SUITE --json SUITE.json
    benchmarks/figures.py SUITE.json...       takes these measurements for the kept ones
    benchmarks/figures.py                     writes the page and the plots again
    benchmarks/figures.py --check             exit code 1 if the page is not of the kept ones

The measurements stand in benchmarks/results, a file a suite, a line a figure that was asked for, or
of `chip` a quantity; `host` has another file on a machine with a GPU. A suite that no file is about
stays, and so does a case of one: where a case was measured again, its new figures stand in place of
the old.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
PLOTS = ROOT / "docs" / "benchmarks"
RESULTS = ROOT / "benchmarks" / "results"
FIELDS = ("suite", "case", "implementation", "asked", "ratio", "limit", "milliseconds")
QUANTITY = ("suite", "case", "implementation", "value", "unit", "least", "most")


def file_name(suite: str) -> str:
    return suite.replace(" ", "-")


def rounded(value: str | float) -> str | float:
    """Four digits of a number: measurements differ by more from run to run."""
    return float(f"{value:.4g}") if isinstance(value, float) else value


def keep(files: list[Path]) -> None:
    """Takes the cases of some files for those in `results`: figures asked for, and quantities."""
    lines = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    for suite in sorted({line["suite"] for line in lines}):
        cases: dict[str, list[dict]] = {}
        for line in kept().get(suite, ()):
            cases.setdefault(line["case"], []).append(line)
        new: dict[str, list[dict]] = {}
        for line in lines:
            if line["suite"] == suite and line.keys() & {"asked", "limit", "value"}:
                fields = QUANTITY if "value" in line else FIELDS
                figures = {field: rounded(line[field]) for field in fields if field in line}
                new.setdefault(line["case"], []).append(figures)
        cases.update(new)
        text = "".join(
            json.dumps(line, ensure_ascii=False) + "\n" for case in cases.values() for line in case
        )
        (RESULTS / f"{file_name(suite)}.jsonl").write_text(text, encoding="utf-8")


def kept() -> dict[str, list[dict]]:
    """The kept measurements, by suite."""
    out: dict[str, list[dict]] = {}
    for file in sorted(RESULTS.glob("*.jsonl")):
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        out[lines[0]["suite"]] = lines
    return out


def row(line: dict) -> str:
    """One measurement as a line of a table."""
    if "value" in line:
        spread = f"{line['least']:.5g} to {line['most']:.5g}"
        return f"| {line['case']} | {line['value']:.5g} {line['unit']} | {spread} |"
    if "asked" in line:
        asked = f"at least {line['asked']:g} of {line['implementation']}'s rate"
        reached, missed = f"{line['ratio']:.2f}", line["ratio"] < line["asked"]
    else:
        asked = f"{line['implementation']}: at most {line['limit']:.4g} ms"
        reached = f"{line['milliseconds']:.4g} ms"
        missed = line["milliseconds"] > line["limit"]
    return f"| {line['case']} | {asked} | {reached}{' (missed)' if missed else ''} |"


def table(lines: list[dict]) -> str:
    rows = [row(line) for line in lines]
    names = (
        ("Quantity", "Median", "Spread")
        if "value" in lines[0]
        else ("Case", "Asked for", "Reached")
    )
    return "\n".join([f"| {' | '.join(names)} |", "| --- | --- | --- |", *rows]) + "\n"


def write_tables(page: str, suites: dict[str, list[dict]]) -> str:
    """The page with a table for each suite between its marks."""
    for name, lines in suites.items():
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
        if begin not in page or end not in page:
            raise SystemExit(f"error: expected {begin.strip()} and {end} in {PAGE}")
        head, rest = page.split(begin)
        page = head + begin + table(lines) + end + rest.split(end, 1)[1]
    return page


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="SUITE.json")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    options = parser.parse_args(arguments)
    if not options.check:
        keep(options.files)
    suites = kept()
    page = PAGE.read_text(encoding="utf-8")
    written = write_tables(page, suites)
    if options.check:
        return 0 if written == page else 1
    PAGE.write_text(written, encoding="utf-8")
    import plots

    plots.draw({name: lines for name, lines in suites.items() if "value" not in lines[0]}, PLOTS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
