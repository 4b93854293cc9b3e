#!/usr/bin/env python3
"""Fills in the listings of docs/overview.md from what the compiler really prints.

    docs/regenerate.py            rewrites the page
    docs/regenerate.py --check    exit code 1 if that would change it: what the tests run

A listing is a fenced block below a comment, which says what to run and which lines to show:

    <!-- kiln: --emit target | from=scf.for to=scf.yield -->

A kernel is a Python block with a `<!-- kernel: ... -->` comment below it: its name, the types of
its arguments, and `aligned` if each view is known to begin at a multiple of 16 bytes, and so are
its rows. The page's first, or that which `kernel=NAME` names, is lowered and goes to
`tile-compile` with the options given. `from` and `to` are regular expressions; without them a
listing is shown whole; of one with `only`, the lines that match it. Long lists of registers are
shortened, and lines longer than 100 characters are wrapped. Where a listing depends on the
machine (`if=TEXT`: the output must contain TEXT) it is left as it stands on any other machine.
"""

from __future__ import annotations

import argparse
import difflib
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE / "overview.md"
REGISTERS = re.compile(r"\{(%\w+), (?:%\w+, ){6,}(%\w+)\}")
LISTING = re.compile(r"<!-- kiln: (.*?) -->\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def tile_compile() -> str:
    """The build's own, unless $TILE_COMPILE says otherwise."""
    return os.environ.get("TILE_COMPILE", str(HERE.parent / "build" / "bin" / "tile-compile"))


def lower(code: str, kernel: str) -> str:
    """A kernel of the page in the tile dialect."""
    from kiln.frontend.kernel import KernelSource
    from kiln.frontend.types import Facts, ScalarType, ViewType
    from kiln.language.dtypes import by_name

    name, *words = kernel.split()
    arguments = {}
    for word in words:
        argument, _, spelled = word.partition("=")
        dtype, _, extents = spelled.partition("x")
        rank = tuple(None if e == "?" else int(e) for e in extents.split("x")) if extents else None
        kind = by_name(dtype) if spelled else None
        if kind and rank is None:
            arguments[argument] = ScalarType(kind)
        elif kind:
            # Elements of two bytes, sixteen of them in a row of which all rows have a multiple.
            facts = (
                Facts(pointer=16, strides=(16, 2), extents=(16, 16))
                if "aligned" in words
                else Facts()
            )
            arguments[argument] = ViewType(kind, rank, facts=facts)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "overview.py"
        file.write_text(code.replace("@kiln.kernel\n", ""), encoding="utf-8")
        spec = importlib.util.spec_from_file_location("overview", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return KernelSource(getattr(module, name)).lower(arguments)


def lower_all(page: str) -> dict[str, str]:
    """The kernels of a page, by name."""
    block = r"^```python\n((?:(?!^```)[\s\S])*?)^```\n<!-- kernel: (.*?) -->"
    found = re.finditer(block, page, re.MULTILINE)
    kernels = {match[2].split()[0]: lower(match[1], match[2]) for match in found}
    if not kernels:
        raise SystemExit(f"error: expected a Python block and a kernel comment in {PAGE}")
    return kernels


def listing(directive: str, kernels: dict[str, str]) -> str | None:
    """What to show; None if this machine prints something else."""
    options, _, filters = directive.partition(" | ")
    command = [tile_compile(), "-", *shlex.split(options)]
    wanted = dict(word.partition("=")[::2] for word in shlex.split(filters))
    source = kernels[wanted.get("kernel", next(iter(kernels)))]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"error: {' '.join(command)}\n{done.stderr}")
    if "if" in wanted and wanted["if"] not in done.stdout:
        return None
    # What `--from` needs says nothing of the program.
    shown = re.sub(r"tile\.emitted = .*(?=tile\.target = )", "", done.stdout)
    lines = shown.splitlines()
    if "from" in wanted:
        start = find(lines, wanted["from"], 0, directive)
        stop = find(lines, wanted["to"], start, directive) if "to" in wanted else len(lines) - 1
        lines = lines[start : stop + 1]
    if "only" in wanted:
        lines = [line.strip() for line in lines if re.search(wanted["only"], line)]
    lines = [REGISTERS.sub(r"{\1, ..., \2}", line) for line in lines]
    indent = min((len(x) - len(x.lstrip()) for x in lines if x.strip()), default=0)
    return "".join(wrap(line[indent:].rstrip()) + "\n" for line in lines)


def find(lines: list[str], pattern: str, start: int, directive: str) -> int:
    for index in range(start, len(lines)):
        if re.search(pattern, lines[index]):
            return index
    raise SystemExit(f"error: {pattern!r} is not in the output of: {directive}")


def wrap(line: str) -> str:
    """Breaks at the last space, for a reader's screen."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    out = []
    while len(line) > 100 and " " in line[len(indent) + 1 : 100]:
        at = line.rindex(" ", 0, 100)
        out.append(line[:at])
        line = indent + line[at + 1 :]
    return "\n".join([*out, line])


def regenerate(page: str) -> str:
    kernels = lower_all(page)

    def fill(match: re.Match) -> str:
        shown = listing(match[1], kernels)
        body = match[3] if shown is None else shown
        return f"<!-- kiln: {match[1]} -->\n```{match[2]}\n{body}```"

    return LISTING.sub(fill, page)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="change nothing; say what differs")
    options = parser.parse_args()
    sys.path.insert(0, str(HERE.parent / "python"))
    before = PAGE.read_text(encoding="utf-8")
    after = regenerate(before)
    if not options.check:
        PAGE.write_text(after, encoding="utf-8")
        return 0
    sys.stdout.writelines(
        difflib.unified_diff(
            before.splitlines(True), after.splitlines(True), str(PAGE), "what the compiler prints"
        )
    )
    return int(before != after)


if __name__ == "__main__":
    sys.exit(main())
