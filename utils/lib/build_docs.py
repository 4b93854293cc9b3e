"""Puts the written pages beside the generated reference and checks what a reader would stumble on.

Called by the CMake target `kiln-docs`, after TableGen wrote <output>/reference. Findings are
printed as `file:line: warning: …`, and any finding makes the exit status 1.
"""

import argparse
import re
import shutil
import sys
from pathlib import Path

LINK = re.compile(r"\[[^\]\n]*\]\(([^)#\s]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^\s*```")


def visible_lines(path):
    """The lines outside code blocks, with their numbers."""
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, line


def check_links(path, source):
    """Each relative link leads to a page, or from the page's source to a file of the repository."""
    for number, line in visible_lines(path):
        for target, _ in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", target):
                continue
            if not any((folder / target).exists() for folder in (path.parent, source.parent)):
                yield f"{path}:{number}: warning: expected a page or file, got a link to '{target}'"


def check_fences(path):
    """Code blocks end."""
    count = sum(bool(FENCE.match(line)) for line in path.read_text(encoding="utf-8").splitlines())
    if count % 2:
        yield f"{path}:1: warning: expected each code block to end"


def sections(path, level):
    """The sections of a generated page under headings of one level: name, line, lines."""
    name, start, lines = None, 0, []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        heading = re.match(r"(#+) `?([^`]*)`?", line)
        if heading and len(heading.group(1)) <= level:
            if name:
                yield name, start, lines
            same = len(heading.group(1)) == level
            name, start, lines = heading.group(2) if same else None, number, []
        elif name:
            lines.append(line)
    if name:
        yield name, start, lines


def check_reference(path):
    """An op has a summary and an example, a pass a description."""
    if path.name.startswith("dialect-"):
        for name, number, lines in sections(path, 3):
            if not re.match(r"[a-z]+\.\w+$", name):
                continue
            text = "\n".join(lines)
            if not re.search(r"^_[A-Za-z0-9`]", text, re.M):
                yield f"{path}:{number}: warning: expected a summary of {name}"
            if "```mlir" not in text:
                yield f"{path}:{number}: warning: expected an example of {name}"
    elif path.name.startswith("passes-"):
        for name, number, lines in sections(path, 3):
            prose = [
                line for line in lines if line.strip() and not line.startswith(("_", "#", "-"))
            ]
            if name.startswith("-") and not prose:
                yield f"{path}:{number}: warning: expected a description of {name}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    findings = []
    for page in sorted(options.source.rglob("*.md")):
        copy = options.output / page.relative_to(options.source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, copy)
    pages = sorted(options.output.rglob("*.md"))
    for page in pages:
        written = options.source / page.relative_to(options.output)
        if not written.exists() and page.parent.name != "reference":
            page.unlink()  # its source is gone
            continue
        findings += check_fences(page)
        if written.exists():
            findings += check_links(page, written)
        else:
            findings += check_reference(page)
    for finding in findings:
        print(finding)
    print(f"{len(pages)} pages in {options.output}, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
