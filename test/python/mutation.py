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
# An order that another one stands in for: each with what it orders, which way that lies, and what
# stands in for it if it comes first on all paths.
USES = re.compile(ACCESS.pattern + r"|rocdl\.(?:ds_read_tr|\S*load\S*lds)")
TENSOR_USES = re.compile(r"nvvm\.tcgen05\.(?:mma|ld|st|alloc|dealloc)\b")
STAND_INS = [
    (re.compile(rf"\s*{name}(?!\w)"), uses, ways, re.compile(rf"\s*{name}(?!\w)"))
    for name, uses, ways in (
        (r"rocdl\.s\.barrier", USES, (1, -1)),
        (r"nvvm\.barrier0", USES, (1, -1)),
        (r"nvvm\.tcgen05\.fence <after>", TENSOR_USES, (1,)),
        # A commit tells of products by itself.
        (r"nvvm\.tcgen05\.fence <before>", re.compile(r"nvvm\.tcgen05\.(?:ld|st|alloc)\b"), (-1,)),
        (r"nvvm\.wgmma\.commit\.group\.sync\.aligned", re.compile(r"wgmma\.wait_group"), (1,)),
    )
]


@dataclass(frozen=True)
class Mutant:
    what: str
    text: str
    may_be_same: bool = False


def mutants(text: str) -> list[Mutant]:
    """All that can be made of a module in the LLVM dialect: an order that is dropped, moved to where
    its block begins or ends, or weakened; phases, counts and bytes that are others."""
    lines = text.split("\n")
    flow = Flow(lines)
    made = [*dropped(flow, text), *moved(flow), *weakened(text, lines)]
    for kind in ("before", "after"):
        if f"tcgen05.fence <{kind}>" in text:
            rest = [line for line in lines if f"nvvm.tcgen05.fence <{kind}>" not in line]
            made.append(Mutant(f"without any fence of tensor memory <{kind}>", "\n".join(rest)))
    return made


def shown(lines: list[str], i: int) -> str:
    return f"'{lines[i].strip()[:60]}' of line {i + 1}"


def is_used(name: str | None, text: str) -> bool:
    return bool(name) and len(re.findall(rf"{name}\b", text)) > 1


class Flow:
    """The lines of a module, and which may follow which."""

    LABEL = re.compile(r"\s*(\^bb\d+)")

    def __init__(self, lines: list[str]):
        self.lines = lines
        labels = {m[1]: i for i, line in enumerate(lines) if (m := self.LABEL.match(line))}
        self.after: list[list[int]] = [[] for _ in lines]
        self.before: list[list[int]] = [[] for _ in lines]
        for i, line in enumerate(lines):
            named = re.findall(r"\^bb\d+", line.split("//")[0]) if "llvm." in line else []
            ends = re.match(r"\s*llvm\.(?:br|cond_br|switch|return|unreachable)\b|\s*}", line)
            follow = [labels[name] for name in named] if named else [] if ends else [i + 1]
            for j in follow:
                if j < len(lines):
                    self.after[i].append(j)
                    self.before[j].append(i)

    def reaches(self, i: int, way: int, what: re.Pattern, first: re.Pattern) -> bool:
        """Whether a path from a line, forward or back, comes to `what` before `first`."""
        steps = self.after if way > 0 else self.before
        open_, seen = list(steps[i]), set()
        while open_:
            at = open_.pop()
            if at in seen or first.match(self.lines[at]):
                continue
            seen.add(at)
            if what.search(self.lines[at]):
                return True
            open_ += steps[at]
        return False

    def is_covered(self, i: int) -> bool:
        """Whether without it the program may be the same, since another one stands in for it."""
        return any(
            name.match(self.lines[i]) and any(not self.reaches(i, w, uses, first) for w in ways)
            for name, uses, ways, first in STAND_INS
        )


def dropped(flow: Flow, text: str) -> Iterator[Mutant]:
    lines = flow.lines
    for i, line in enumerate(lines):
        order = ORDERS.match(line)
        # A result that somebody uses cannot go.
        if order and not is_used(order[1], text):
            rest = "\n".join(lines[:i] + lines[i + 1 :])
            yield Mutant(f"without {shown(lines, i)}", rest, flow.is_covered(i))


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


def moved(flow: Flow) -> Iterator[Mutant]:
    """What tells of accesses in front of them, what waits behind what it waits for."""
    lines = flow.lines
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
            what = f"with {shown(lines, i)} behind line {where}"
            yield Mutant(what, text, flow.is_covered(i))


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
