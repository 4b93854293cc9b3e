#!/usr/bin/env python3
"""Asks the compiler what each target makes of each op and element type, and writes it down.

    utils/support/table.py             compare docs/reference/support.json with what it says now
    utils/support/table.py --write     write that file and docs/reference/support.md
Exit status: 0 the table is as the compiler says, 1 it is not, 2 wrong usage.

A cell is `native`, `emulated`, or the message that the target refuses the op with. Where the op's
own verifier refuses the type there is no cell: that is asked once, of no target. Of a chip that is
much like another only the rows that differ are kept. The JSON file is what the tests read; the page
is made of it.
"""

import argparse
import bisect
import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import probes

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs/reference/support.json"
PAGE = ROOT / "docs/reference/support.md"
# The chip of each target whose table is whole; another's is told by what differs from it.
BASES = {"cpu": "cpu", "nvptx": "nvptx:sm_90a", "amdgpu": "amdgpu:gfx942"}
WORDS = ("native", "emulated")
CELL, NO_CELL = "cell", "no cell"  # for a type that a verifier takes; for one that it refuses
MARKS = {CELL: "+", NO_CELL: "-"}  # what stands for them in a row
SEPARATOR = "\n// -----\n"
DIAGNOSTIC = re.compile(r"^<stdin>:(\d+):\d+: (error|remark): (.*)$", re.MULTILINE)


def pairs():
    """Every (op, type), in the table's order."""
    return [(probe, element) for probe in probes.PROBES for element in probes.TYPES]


def cells(verified):
    """Those that verifiers take."""
    return [(probe, element) for probe, element in pairs() if verified[probe.op][element] == CELL]


def ask(tool, kernels, arguments, together=False):
    """For each kernel, the diagnostics that tile-opt has about it, as (sort, text). Each is a
    module of its own, for one error ends the work on a module; with `together` all are tried as
    one module first, which takes a tenth of the time."""
    starts, line = [], 1
    for kernel in kernels:
        starts.append(line)
        line += kernel.count("\n") + SEPARATOR.count("\n")
    names = (f"@probe{n}" if together else "@probe" for n in range(len(kernels)))
    text = SEPARATOR.join(k.replace("@probe", name) for k, name in zip(kernels, names, strict=True))
    splits = [] if together else ["-split-input-file"]
    done = subprocess.run(
        [tool, *splits, "-mlir-print-op-on-diagnostic=false", "-mlir-disable-threading",
         *arguments, "-o", "/dev/null"],
        input=text, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        raise RuntimeError(f"expected tile-opt to end, got status {done.returncode}")
    if together and done.returncode:
        return ask(tool, kernels, arguments)
    found = [[] for _ in kernels]
    for number, sort, message in DIAGNOSTIC.findall(done.stderr):
        found[bisect.bisect_right(starts, int(number)) - 1].append((sort, message))
    return found


def base_of(target):
    """The target that this one's table is told by; none if its own is whole."""
    base = BASES[target.split(":")[0]]
    return None if target == base else base


def targets(tool):
    """Every chip of the build's targets; of the host's processors the one at hand."""
    listing = subprocess.run(
        [Path(tool).with_name("tile-compile"), "--list-targets"],
        check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    known = [
        target for target in listing
        if target.split(":")[0] in BASES and not target.startswith("cpu:")
    ]  # fmt: skip
    return sorted(known, key=lambda target: base_of(target) is not None)


def is_refused(answer):
    return answer.startswith("refused: ")


def verify(tool, held):
    """What the ops' own verifiers make of each type: a cell, or why it is none."""
    answers = {}
    for is_cell in (False, True):
        asked = [(p, e) for p, e in pairs() if (held.get(p.op, {}).get(e) == CELL) == is_cell]
        kernels = [probe.kernel(element) for probe, element in asked]
        answers |= zip(asked, ask(tool, kernels, [], together=is_cell), strict=True)
    verified = {}
    for probe, element in pairs():
        refusals = [message for sort, message in answers[probe, element] if sort == "error"]
        answer = f"refused: {refusals[0]}" if refusals else CELL
        verified.setdefault(probe.op, {})[element] = answer
    return verified


def classify(tool, target, asked, held, compiled=()):
    """What the target makes of each of these cells, native, emulated or why it is refused, asked in
    few modules where the table that is held is right. The cells that the caller compiles himself
    are not lowered; one that is refused is."""
    refused = {(p, e) for p, e in asked if is_refused(held.get(p.op, {}).get(e, "refused: "))}
    others = set(compiled) - refused
    answers = {}
    for some, lowers, together in (
        (refused, True, False), (set(asked) - refused - others, True, True), (others, False, True),
    ):  # fmt: skip
        group = [cell for cell in asked if cell in some]
        answers |= zip(group, answers_of(tool, target, group, lowers, together))
    table = {}
    for probe, element in asked:
        table.setdefault(probe.op, {})[element] = answers[probe, element]
    return table


def answers_of(tool, target, asked, lowers, together):
    """The answer for each of these cells."""
    kernels = [probe.kernel(element, target) for probe, element in asked]
    passes = [f"--tile-report-support=target={target}"]
    if lowers:
        passes.append(f"--tile-pipeline=target={target} stop-after=llvm")
    answers = ask(tool, kernels, passes, together)
    for (probe, _), diagnostics in zip(asked, answers, strict=True):
        refusals = [message for sort, message in diagnostics if sort == "error"]
        if refusals:
            yield f"refused: {refusals[0]}"
        elif ("remark", f"'{probe.name}' is emulated") in diagnostics:
            yield "emulated"
        else:
            yield "native"


def fill(rows, verified):
    """The answers for each type, of those for each cell."""
    return {
        op: {e: rows[op][e] if answer == CELL else answer for e, answer in row.items()}
        for op, row in verified.items()
    }


def expand(rows, base, table, target):
    """The whole table of a target, of its own rows and those of the one that it is like."""
    spelled = {
        op: {element: answer.replace(base, target) for element, answer in row.items()}
        for op, row in table.items()
    }
    return spelled | rows


def own_rows(tables, target):
    """The rows in which a target differs from the one that it is like; all if from none."""
    base = base_of(target)
    like = expand({}, base, tables[base], target) if base else {}
    return {op: row for op, row in tables[target].items() if like.get(op) != row}


def differences(old, new):
    """Where two tables of one target differ, in words."""
    for op in sorted(old.keys() | new.keys()):
        for element in sorted(old.get(op, {}).keys() | new.get(op, {}).keys()):
            was, is_now = old.get(op, {}).get(element), new.get(op, {}).get(element)
            if was != is_now:
                yield f"{op} of {element}: expected {was!r}, got {is_now!r}"


def write(tables, verified):
    """The data file: a row is a word for each type, a number stands for one of the messages."""
    packed = {NO_CELL: pack(verified)}
    for target in tables:
        packed[target] = pack({
            op: {e: a if verified[op][e] == CELL else NO_CELL for e, a in row.items()}
            for op, row in own_rows(tables, target).items()
        })  # fmt: skip
    DATA.parent.mkdir(parents=True, exist_ok=True)
    DATA.write_text(json.dumps(packed, indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text(render(tables))


def pack(answers):
    messages, rows = {}, {}
    for op, row in answers.items():
        rows[op] = " ".join(
            str(messages.setdefault(a, len(messages))) if is_refused(a) else MARKS.get(a, a)
            for a in row.values()
        )
    return {"rows": rows, "messages": list(messages)}


def unpack(packed):
    words = {mark: word for word, mark in MARKS.items()}
    return {
        op: {
            element: packed["messages"][int(word)] if word.isdigit() else words.get(word, word)
            for element, word in zip(probes.TYPES, row.split(" "), strict=True)
        }
        for op, row in packed["rows"].items()
    }


def read_verified():
    """What verifiers make of each type, that `write` wrote."""
    return unpack(json.loads(DATA.read_text())[NO_CELL])


def read():
    """The tables that `write` wrote, which have an answer for each type."""
    packed, tables = json.loads(DATA.read_text()), {}
    verified = unpack(packed.pop(NO_CELL))
    for target, each in packed.items():
        rows = unpack(each)
        rows = fill(rows, {op: verified[op] for op in rows})
        base = base_of(target)
        tables[target] = expand(rows, base, tables[base], target) if base else rows
    return tables


def render(tables):
    """The page."""
    lines = [
        "# What each target supports",
        "",
        "Written by `utils/support/table.py --write`, which asks the compiler; the tests ask",
        "again, and run what is shown, on the host and on emulated chips. **N**: native.",
        "**E**: emulated: computed in a wider type, unpacked, expanded into other ops, or a loop",
        "around a compare-and-swap. A number: refused, with the message of that number.",
    ]
    for target in tables:
        lines += ["", f"## {target}", ""]
        rows = own_rows(tables, target)
        if base := base_of(target):
            lines += [f"As {base}{', but for:' if rows else '.'}", *[""] * bool(rows)]
        lines += render_rows(rows) if rows else []
    return "\n".join(lines) + "\n"


def render_rows(rows):
    """Markdown's table of some rows, and the messages that it numbers."""
    messages = {}
    lines = ["| op | " + " | ".join(probes.TYPES) + " |", "|---" * (len(probes.TYPES) + 1) + "|"]
    for op, row in rows.items():
        marks = []
        for answer in row.values():
            if answer in WORDS:
                marks.append(answer[0].upper())
            else:
                message = general(answer.removeprefix("refused: "))
                marks.append(str(messages.setdefault(message, len(messages) + 1)))
        lines.append(f"| `{op}` | " + " | ".join(marks) + " |")
    return [*lines, "", *(f"{number}. {message}" for message, number in messages.items())]


def general(message):
    """A refusal without what differs from cell to cell."""
    message = re.sub(r"'(?:[^' ]*<[^']*|[if]\d\w*|bf16|tf32|index)'", "…", message)
    message = re.sub(r"^custom op '[a-z]+\.\w+' |^'[a-z]+\.\w+' op ", "", message)
    message = re.sub(r"'(arith|math|tile)\.\w+'", r"'\1.…'", message)
    return message.replace("|", "\\|").replace("<", "\\<")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tool", default=ROOT / "build/bin/tile-opt", type=Path)
    parser.add_argument("--write", action="store_true", help="write the table")
    options = parser.parse_args()
    tool = str(options.tool.resolve())
    held = {} if options.write else read_verified()
    verified = verify(tool, held)
    committed = {} if options.write else read()
    asked = cells(verified)
    tables = {
        target: fill(classify(tool, target, asked, committed.get(target, {})), verified)
        for target in targets(tool)
    }
    if options.write:
        write(tables, verified)
        return 0
    wrong = list(differences(held, verified))
    wrong += [
        f"{target}: {difference}"
        for target in tables.keys() | committed.keys()
        for difference in differences(committed.get(target, {}), tables.get(target, {}))
    ]
    if PAGE.read_text() != render(committed):
        wrong.append(f"{PAGE.name} is not the page of {DATA.name}")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
