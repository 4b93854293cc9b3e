"""What breaks the order of a compiled kernel, one thing at a time, in the IR behind its schedule: what
an emulated chip must find, by an error or by wrong numbers, whatever order it runs the threads in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kiln import _native
from kiln.runtime.devices import device

# What orders accesses, or tells of them.
RELEASES = (
    r"fence\.proxy|cp\.async\.bulk\.commit_group|cp\.async\.commit\.group|wgmma\.commit"
    r"|mbarrier\.arrive|tcgen05\.commit|tcgen05\.fence <before>|cp\.async\.mbarrier\.arrive"
)
WAITS = (
    r"cp\.async\.bulk\.wait_group|cp\.async\.wait\.group|wgmma\.wait|tcgen05\.wait <store>"
    r"|tcgen05\.fence <after>"
)
BARRIERS = r"barrier0?\b|bar\.warp|cluster\.(?:arrive|wait)"
ORDERS = re.compile(
    rf"\s*(?:(%\w+) = )?nvvm\.(?:{RELEASES}|{WAITS}|{BARRIERS})|\s*rocdl\.s\.barrier"
)
RELEASE = re.compile(rf"\s*(?:%\w+ = )?nvvm\.(?:{RELEASES})")
WAIT = re.compile(rf"\s*nvvm\.(?:{WAITS})")
# What uses memory that threads and engines share.
ACCESS = re.compile(
    r"llvm\.(?:load|store) .*ptr<3>|nvvm\.(?:ldmatrix|stmatrix|cp\.async\.(?:shared|bulk\.tensor)"
    r"|tcgen05\.(?:mma|ld|st)\b|mma\.sync)|wgmma\.mma_async|nvvm\.cp\.async\.bulk\.tensor"
)
# One fence of tensor memory stands in for another on the same way: such mutants may be the same
# program.
MAY_BE_SAME = re.compile(r"nvvm\.tcgen05\.fence")


@dataclass(frozen=True)
class Mutant:
    what: str
    text: str
    may_be_same: bool = False


def mutants(text: str) -> list[Mutant]:
    """All that can be made of a module in the LLVM dialect: an order that is dropped, moved to where
    its block begins or ends, or weakened; phases, counts and bytes that are others."""
    lines = text.split("\n")
    made = [*dropped(text, lines), *moved(lines), *weakened(text, lines)]
    for kind in ("before", "after"):
        if f"tcgen05.fence <{kind}>" in text:
            rest = [line for line in lines if f"nvvm.tcgen05.fence <{kind}>" not in line]
            made.append(Mutant(f"without any fence of tensor memory <{kind}>", "\n".join(rest)))
    return made


def shown(lines: list[str], i: int) -> str:
    return f"'{lines[i].strip()[:60]}' of line {i + 1}"


def is_used(name: str | None, text: str) -> bool:
    return bool(name) and len(re.findall(rf"{name}\b", text)) > 1


def dropped(text: str, lines: list[str]) -> Iterator[Mutant]:
    for i, line in enumerate(lines):
        order = ORDERS.match(line)
        # A result that somebody uses cannot go.
        if order and not is_used(order[1], text):
            same = bool(MAY_BE_SAME.search(line))
            yield Mutant(f"without {shown(lines, i)}", "\n".join(lines[:i] + lines[i + 1 :]), same)


def block_of(lines: list[str], i: int) -> tuple[int, int]:
    """The lines of the block that a line is in, but for its label and its terminator."""
    ends = re.compile(r"\s*(?:\^bb|llvm\.(?:br|cond_br|switch|return|func|unreachable))|\s*}")
    first = i
    while first > 0 and not ends.match(lines[first - 1]):
        first -= 1
    last = i
    while last + 1 < len(lines) and not ends.match(lines[last + 1]):
        last += 1
    return first, last


def moved(lines: list[str]) -> Iterator[Mutant]:
    """What tells of accesses in front of them, what waits behind what it waits for."""
    for i, line in enumerate(lines):
        first, last = block_of(lines, i)
        rest = lines[:i] + lines[i + 1 :]
        if RELEASE.match(line):
            used = set(re.findall(r"%\w+", line))
            where = first
            while any(m and m[1] in used for m in map(DEFINES.match, lines[where:i])):
                where += 1
            between = lines[where:i]
        elif WAIT.match(line):
            where, between = last, lines[i + 1 : last + 1]
        else:
            continue
        if any(ACCESS.search(each) for each in between):
            text = "\n".join(rest[:where] + [line] + rest[where:])
            same = bool(MAY_BE_SAME.search(line))
            yield Mutant(f"with {shown(lines, i)} behind line {where}", text, same)


DEFINES = re.compile(r"\s*(%\w+)(?::\d+)? = ")
COUNTED = re.compile(r"(wait_group(?:\.sync\.aligned)?|wait\.group(?:\.sync\.aligned)?) (\d)")
PHASE = re.compile(r"(\s*%\w+ = nvvm\.mbarrier\.(?:try_wait|test\.wait)\S* %\w+, )(%\w+)( : .*)")
BYTES = re.compile(r"(\s*(?:%\w+ = )?nvvm\.mbarrier\.arrive\.expect_tx %\w+, )(%\w+)( : .*)")
COUNT = re.compile(r"(\s*nvvm\.mbarrier\.init %\w+, )(%\w+)( : .*)")
THREADS = re.compile(r"(\s*nvvm\.barrier id = %\w+ number_of_threads = )(%\w+)(.*)")
PROXY = "kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>"


def weakened(text: str, lines: list[str]) -> Iterator[Mutant]:
    def change(i: int, new: list[str], what: str) -> Mutant:
        return Mutant(f"{what} in {shown(lines, i)}", "\n".join(lines[:i] + new + lines[i + 1 :]))

    def computed(i: int, form: re.Match, op: str, number: int) -> list[str]:
        return [
            f"    %mutant_number = llvm.mlir.constant({number} : i32) : i32",
            f"    %mutant = llvm.{op} {form[2]}, %mutant_number : i32",
            f"{form[1]}%mutant{form[3]}",
        ]

    for i, line in enumerate(lines):
        if counted := COUNTED.search(line):
            more = f"{counted[1]} {int(counted[2]) + 1}"
            yield change(i, [line.replace(counted[0], more)], "one more in flight")
        if PROXY in line:
            other = line.replace(PROXY, "kind = #nvvm.proxy_kind<async.global>")
            yield change(i, [other], "another memory")
        for pattern, op, number, what in (
            (PHASE, "xor", 1, "the other phase"),
            (BYTES, "add", 16, "more bytes"),
            (BYTES, "sub", 16, "fewer bytes"),
            (COUNT, "add", 1, "one arrival more"),
            (THREADS, "sub", 32, "one warp fewer"),
        ):
            if form := pattern.match(line):
                yield change(i, computed(i, form, op, number), what)


def assemble(text: str, target: str):
    """The artifact of a module in the LLVM dialect."""
    request = {
        "source": text.encode(), "source_name": "mutant.mlir", "kernel": None, "target": target,
        "keep_stages": (), "opt_level": 3, "fast_math": 0, "options": "from=llvm", "isolation": 1,
    }  # fmt: skip
    artifact, _, _ = _native.compile(None, None, request)
    return artifact


def loaded(text: str, target: str) -> Callable[..., None]:
    artifact = assemble(text, target)
    executable = device(target).load(artifact)
    name = json.loads(artifact.metadata)["kernel"]
    return lambda *arguments: executable.launch(name, list(arguments), None)
