"""What breaks the order of a compiled kernel, one thing at a time, in the IR behind its schedule: what
an emulated chip must find, by an error or by wrong numbers, whatever order it runs the threads in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from control_flow import Flow

from kiln import _native
from kiln.runtime.devices import device

# What orders accesses, or tells of them.
FENCES = r"fence\.proxy|fence\.mbarrier|wgmma\.fence"
RELEASES = (
    r"cp\.async\.bulk\.commit_group|cp\.async\.commit\.group|wgmma\.commit"
    r"|mbarrier\.arrive|tcgen05\.commit|tcgen05\.fence <before>|cp\.async\.mbarrier\.arrive"
)
WAITS = (
    r"cp\.async\.bulk\.wait_group|cp\.async\.wait\.group|wgmma\.wait|tcgen05\.wait <store>"
    r"|tcgen05\.fence <after>"
)
BARRIERS = r"barrier0?\b|bar\.warp|cluster\.(?:arrive|wait)"
LAUNCHES = r"griddepcontrol +(?:wait|launch_dependents)"
WAVE = r'call_intrinsic "llvm\.amdgcn\.wave\.barrier"'
WORD = r"atomicrmw uinc_wrap"
ORDERS = re.compile(
    rf"\s*(?:(%\w+) = )?(?:nvvm\.(?:{FENCES}|{RELEASES}|{WAITS}|{BARRIERS}|{LAUNCHES})"
    rf"|rocdl\.s\.(?:barrier|wait\.dscnt)|llvm\.(?:{WAVE}|{WORD}|fence\b))"
)
MEETING = re.compile(rf"\s*(?:nvvm\.(?:barrier0?\b|bar\.warp)|rocdl\.s\.barrier|llvm\.(?:{WAVE}))")
# (What a product reads of registers is not followed there.)
RELEASE = re.compile(
    rf"\s*(?:%\w+ = )?(?:nvvm\.(?:fence\.(?:proxy|mbarrier)|{RELEASES})|llvm\.{WORD})"
)
WAIT = re.compile(rf"\s*nvvm\.(?:{WAITS})")
# Until so many loads of a wave are outstanding: the bits of an `s_waitcnt` that say so are all set
# where it waits for none.
COUNTER = re.compile(r"(\s*rocdl\.s\.waitcnt )(\d+)")
LOADS, OF_LDS = 0xC00F, 0x0F00

LOADED = r"rocdl\.s\.waitcnt (?!49279\b)"

# What uses memory that threads and engines share.
PRODUCT = r"wgmma\.mma_async"
ACCESS = re.compile(
    r"llvm\.(?:load|store) .*ptr<3>|nvvm\.(?:ldmatrix|stmatrix|cp\.async\.(?:shared|bulk\.tensor)"
    rf"|mbarrier\.init|tcgen05\.(?:mma|cp|ld|st)\b|mma\.sync)|{PRODUCT}"
)
ENGINE = rf"{PRODUCT}|nvvm\.(?:cp\.async\.bulk\.tensor|tcgen05\.(?:mma|cp)\b)"
GENERIC = r"llvm\.(?:load|store) .*ptr<3>|nvvm\.(?:ldmatrix|stmatrix|cp\.async\.shared)"
USES = ACCESS.pattern + r"|rocdl\.(?:ds_read_tr|\S*load\S*lds)"
TENSOR_USES = r"nvvm\.tcgen05\.(?:mma|cp|ld|st|alloc|dealloc)\b"
TELLS = rf"nvvm\.(?:{RELEASES}|cluster\.arrive)|llvm\.{WORD}"
HEARS = (
    rf"nvvm\.(?:{WAITS}|mbarrier\.(?:try_wait|test\.wait)|cluster\.wait)|wait_group|wait::ld"
    rf"|llvm\.load .* atomic|{LOADED}"
)
WRITES = (
    rf"llvm\.store .*ptr<3>|nvvm\.(?:stmatrix|cp\.async\.(?:shared|bulk\.tensor)|tcgen05\.)"
    rf"|{PRODUCT}|rocdl\.\S*load\S*lds"
)
MEET_LANES = "%mutant_all = llvm.mlir.constant(-1 : i32) : i32 nvvm.bar.warp.sync %mutant_all : i32"
NEVER = r"(?!)"
# What only the final code shows, which `tile-check-isa` proves: for the emulated chip reads and writes
# of LDS are done at once, and stay where they are.
ATOMIC = r"llvm\.(?:atomicrmw|cmpxchg|(?:load|store) .* atomic)"
IN_FINAL_CODE = re.compile(r"\s*(?:rocdl\.s\.wait\.dscnt|llvm\.fence .*(?:singlethread|mmra))")
OTHERS = r"nvvm\.(?:barrier id|cluster)"  # who comes to these may run other code
MEET = rf"{OTHERS}|nvvm\.(?:barrier0\b|bar\.warp)|rocdl\.s\.barrier|llvm\.{WAVE}"


@dataclass(frozen=True)
class StandIn:
    """An order may go if on all paths from it, forward or back, `other` comes before any `use`."""

    way: int
    use: re.Pattern
    other: re.Pattern


def stand_ins(line: str) -> Iterator[list[StandIn]]:
    """What may stand in for the order of a line, by what each orders: the one or the other, all of
    whose rules hold."""

    def one(way: int, use: str, other: str) -> StandIn:
        return StandIn(way, re.compile(use), re.compile(r"\s*(?:%\w+ = )?" + other))

    def rule(way: int, use: str, other: str) -> list[StandIn]:
        return [one(way, use, other)]

    text = line.strip()
    for name, other, heard in (
        (r"nvvm\.barrier0(?!\w)", r"nvvm\.barrier0(?!\w)", HEARS),
        (r"rocdl\.s\.barrier(?!\w)", r"rocdl\.s\.barrier(?!\w)", HEARS),
        (r"nvvm\.barrier id", re.escape(text), HEARS),
        (r"nvvm\.bar\.warp", rf"(?:{MEET})", HEARS),
        (rf"llvm\.{WAVE}", rf"(?:{MEET})", LOADED),  # a wave looks at a word as one
    ):
        if re.match(name, text):
            yield rule(1, rf"{USES}|{TELLS}", other)
            yield rule(-1, rf"{USES}|{heard}|{FENCES}", other)
            # Reads go with reads.
            yield [one(1, rf"{WRITES}|{TELLS}", other),
                   one(-1, rf"{WRITES}|{heard}|{FENCES}", other)]  # fmt: skip
    if text.startswith("nvvm.fence.proxy"):
        yield rule(1, rf"{ENGINE}|{TELLS}|{OTHERS}", re.escape(text))
        yield rule(-1, rf"{GENERIC}|{HEARS}|{MEET}", re.escape(text))
    if text.startswith("nvvm.fence.mbarrier"):
        yield rule(1, rf"{ENGINE}|{TELLS}|{MEET}", re.escape(text))
        yield rule(-1, r"nvvm\.mbarrier\.init", re.escape(text))
    # It orders atomic accesses alone: on NVIDIA's chips it is there for the assembler's schedule.
    if text.startswith('llvm.fence syncscope("block")'):
        yield [one(1, ATOMIC, NEVER), one(-1, ATOMIC, NEVER)]
    # The next launch may begin, which waits for the end of all of this one.
    if re.match(r"nvvm\.griddepcontrol +launch_dependents", text):
        yield []
    if text.startswith("nvvm.wgmma.fence"):
        yield rule(1, PRODUCT, re.escape(text))
        yield rule(-1, r"wgmma\.wait", re.escape(text))
    if text.startswith("nvvm.tcgen05.fence <after>"):
        yield rule(1, TENSOR_USES, re.escape(text))
        yield rule(-1, rf"{HEARS}|{MEET}", re.escape(text))
    if text.startswith("nvvm.tcgen05.fence <before>"):
        # A commit tells of products by itself.
        yield rule(1, rf"{TELLS}|{MEET}", re.escape(text))
        yield rule(-1, r"nvvm\.tcgen05\.(?:ld|st|alloc)\b", re.escape(text))
    if text.startswith("nvvm.wgmma.commit"):
        yield rule(1, r"wgmma\.wait", re.escape(text))
    if text.startswith("nvvm.tcgen05.wait <store>"):
        yield rule(1, rf"{USES}|{TELLS}|{MEET}", re.escape(text))
        yield rule(-1, r"nvvm\.tcgen05\.st\b", re.escape(text))
    if counted := COUNTED.search(text):
        kind = re.escape(counted[1])
        if counted[1].startswith("wait_group.sync") or "wgmma" in text:
            kind, started = r".*wgmma\.wait.group\.sync\.aligned", r"wgmma\.commit"
        elif "bulk" in text:
            kind, started = r"nvvm\.cp\.async\.bulk\.wait_group", r"bulk\.commit_group"
        else:
            kind, started = r"nvvm\.cp\.async\.wait\.group", r"cp\.async\.commit\.group"
        # At most as many stay in flight.
        other = rf"{kind} [0-{counted[2]}]\b"
        yield rule(1, rf"{USES}|{TELLS}|{MEET}", other)
        yield rule(-1, started, other)
    if COUNTER.match(line):
        yield rule(1, rf"{USES}|{TELLS}|{MEET}", re.escape(text) + r"\b")
        yield rule(-1, r"rocdl\.\S*load", re.escape(text) + r"\b")


@dataclass(frozen=True)
class Mutant:
    """What is wrong, and what stands instead at lines of the right text, which are counted from 0.
    So each line keeps its number."""

    what: str
    edits: dict[int, str] = field(hash=False)
    may_be_same: bool = False  # since another order stands in on all paths
    is_drop: bool = False
    in_final_code: bool = False  # the emulated chip does not see it
    at: int | None = None  # the line of the order that it breaks, if that is another one

    @property
    def places(self) -> set[int]:
        """The lines that must come to pass for it to matter: of what is moved, where it was."""
        if self.at is not None:
            return {self.at}
        return {i for i, line in self.edits.items() if not line} or set(self.edits)


def changed(text: str, *mutants: Mutant) -> str:
    lines = text.split("\n")
    for mutant in mutants:
        for i, line in mutant.edits.items():
            lines[i] = line
    return "\n".join(lines)


def mutants(text: str, passed: set[int]) -> list[Mutant]:
    """All that can be made of a module in the LLVM dialect: an order that is dropped, moved to where
    its block begins or ends, or weakened; phases, counts and bytes that are others. `passed` are the
    lines of orders and accesses that come to pass."""
    lines = text.split("\n")
    passed = passed | {
        i
        for i, line in enumerate(lines)
        if IN_FINAL_CODE.match(line) and not passed.isdisjoint(span(block_of(lines, i)))
    }
    told = re.compile(rf"{ORDERS.pattern}|{USES}|{HEARS}")
    idle = {i for i, line in enumerate(lines) if told.search(line)} - passed
    # Waits that others stand in for tell nobody anything.
    flow = Flow(lines, idle)
    waits = [i for i, line in enumerate(lines) if COUNTED.search(line) or COUNTER.match(line)]
    needless = {i for i in waits if is_covered(flow, i)}
    flow = Flow([("" if i in needless else line) for i, line in enumerate(lines)], idle)
    covered = {i for i in passed if i in needless or is_covered(flow, i)}

    made = [*dropped(lines, text, covered), *moved(lines, covered), *weakened(lines, covered)]
    for kind in ("before", "after"):
        fences = {i: "" for i, x in enumerate(lines) if f"nvvm.tcgen05.fence <{kind}>" in x}
        if fences:
            made.append(Mutant(f"without any fence of tensor memory <{kind}>", fences))
    return [each for each in made if each.places <= passed]


def is_covered(flow: Flow, i: int) -> bool:
    """Whether the program may be the same without the order of a line."""
    return any(
        all(not flow.reaches(i, each.way, each.use, each.other) for each in rules)
        for rules in stand_ins(flow.lines[i])
    )


def shown(lines: list[str], i: int) -> str:
    return f"'{lines[i].strip()[:60]}' of line {i + 1}"


def is_used(name: str | None, text: str) -> bool:
    return bool(name) and len(re.findall(rf"{name}\b", text)) > 1


def dropped(lines: list[str], text: str, covered: set[int]) -> Iterator[Mutant]:
    for i, line in enumerate(lines):
        order, counter = ORDERS.match(line), COUNTER.match(line)
        # A result that somebody uses cannot go.
        if order and not is_used(order[1], text):
            hidden = bool(IN_FINAL_CODE.match(line))
            what = f"without {shown(lines, i)}"
            yield Mutant(what, {i: ""}, i in covered, is_drop=True, in_final_code=hidden)
        for bits, of, hidden in ((LOADS, "load", False), (OF_LDS, "access to LDS", True)):
            if counter and int(counter[2]) & bits != bits:
                less = f"{counter[1]}{int(counter[2]) | bits}"
                what = f"waiting for no {of} in {shown(lines, i)}"
                is_same = i in covered and not hidden
                yield Mutant(what, {i: less}, is_same, is_drop=True, in_final_code=hidden)


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


def span(block: tuple[int, int]) -> range:
    return range(block[0], block[1] + 1)


def moved(lines: list[str], covered: set[int]) -> Iterator[Mutant]:
    """What tells of accesses in front of them, what waits behind what it waits for, and where threads
    meet both."""
    for i, line in enumerate(lines):
        first, last = block_of(lines, i)
        if RELEASE.match(line) or MEETING.match(line):
            used = set(re.findall(r"%\w+", line))
            while any(m and m[1] in used for m in map(DEFINES.match, lines[first:i])):
                first += 1
            if any(ACCESS.search(each) for each in lines[first:i]):
                edits = {first: f"{line} {lines[first]}", i: ""}
                yield Mutant(f"with {shown(lines, i)} before line {first + 1}", edits, i in covered)
        if WAIT.match(line) or MEETING.match(line):
            if any(ACCESS.search(each) for each in lines[i + 1 : last + 1]):
                edits = {i: "", last: f"{lines[last]} {line}"}
                yield Mutant(f"with {shown(lines, i)} behind line {last + 1}", edits, i in covered)


DEFINES = re.compile(r"\s*(%\w+)(?::\d+)? = ")
COUNTED = re.compile(r"(wait_group(?:\.sync\.aligned)?|wait\.group(?:\.sync\.aligned)?) (\d)")
POLLED = re.compile(r"(\s*%\w+ = )nvvm\.mbarrier\.(?:try_wait|test\.wait)")
PHASE = re.compile(r"(\s*%\w+ = nvvm\.mbarrier\.(?:try_wait|test\.wait)\S* %\w+, )(%\w+)( .*)")
BYTES = re.compile(r"(\s*(?:%\w+ = )?nvvm\.mbarrier\.arrive\.expect_tx %\w+, )(%\w+)( : .*)")
COUNT = re.compile(r"(\s*nvvm\.mbarrier\.init %\w+, )(%\w+)( : .*)")
WORDS = re.compile(rf"(\s*(?:%\w+ = )?llvm\.{WORD} %\w+, )(%\w+)( .*)")
THREADS = re.compile(r"(\s*nvvm\.barrier id = %\w+ number_of_threads = )(%\w+)(.*)")
ID = re.compile(r"(\s*nvvm\.barrier id = )(%\w+)( .*)")
MASK = re.compile(r"(.* multicast_mask = )(%\w+)(\b.*)")
RANK = re.compile(r"(\s*%\w+ = nvvm\.mapa %\w+, )(%\w+)( : .*)")
REACH = "#nvvm.mem_scope<cluster>"
READ = "tcgen05.wait::ld.sync.aligned"
# The same registers go through it, and it waits for nothing that such a chip does.
NO_WAIT = "wgmma.wait_group.sync.aligned 7"
ATOMIC_ORDER = re.compile(rf"\s*(?:%\w+ = )?{ATOMIC}.*?\b(acq_rel|acquire|release|seq_cst)\b")
PROXY = "kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>"


def number_of(lines: list[str], name: str) -> str:
    """What a value is, if that is a constant."""
    made = rf"\s*{name} = llvm\.mlir\.constant\((\d+) : i32\)"
    return next((found[1] for line in lines if (found := re.match(made, line))), "")


def first_id(lines: list[str], name: str) -> str:
    """The number of a barrier, of the first of a role's copies, that of the others is added to."""
    sums = (re.match(rf"\s*{name} = llvm\.add (%\w+), (%\w+)", line) for line in lines)
    values = next((found.groups() for found in sums if found), (name,))
    return next(filter(None, (number_of(lines, value) for value in values)), "")


def other_id(lines: list[str], name: str) -> str:
    """The number of another role's barrier; without one, of that of its own first copy. If there is one
    barrier, another number would be another name."""
    ids = {found[2] for line in lines if (found := ID.match(line))}
    own = first_id(lines, name)
    others = {first_id(lines, each) for each in ids} - {own, ""}
    return min(others, default="" if number_of(lines, name) else own)


def weakened(lines: list[str], covered: set[int]) -> Iterator[Mutant]:
    def change(i: int, new: str, what: str, may_be_same: bool = False) -> Mutant:
        return Mutant(f"{what} in {shown(lines, i)}", {i: new}, may_be_same)

    def computed(i: int, form: re.Match, op: str, number: int) -> str:
        name = f"%mutant_{i}"
        return (
            f"{name}_n = llvm.mlir.constant({number} : i32) : i32 "
            f"{name} = llvm.{op} {form[2]}, {name}_n : i32 {form[1]}{name}{form[3]}"
        )

    for i, line in enumerate(lines):
        if counted := COUNTED.search(line):
            more = f"{counted[1]} {int(counted[2]) + 1}"
            new = line.replace(counted[0], more)
            yield change(i, new, "one more in flight", i in covered)
            if "inline_asm" in line:  # a result that is used cannot go
                none = line.replace(counted[0], f"{counted[1]} 7")
                what = f"waiting for none in {shown(lines, i)}"
                yield Mutant(what, {i: none}, i in covered, is_drop=True)
        if READ in line:
            what = f"without waiting in {shown(lines, i)}"
            yield Mutant(what, {i: line.replace(READ, NO_WAIT)}, is_drop=True)
        if REACH in line:
            # It counts where the other side has it as well.
            other = "try_wait" if "arrive" in line else "arrive"
            is_alone = not any(REACH in each and f"mbarrier.{other}" in each for each in lines)
            new = line.replace(REACH, REACH.replace("cluster", "cta"))
            yield change(i, new, "a block's scope", is_alone)
        if atomic := ATOMIC_ORDER.match(line):
            new = re.sub(rf"\b{atomic[1]}\b", "monotonic", line)
            hidden = "ptr<3>" in line
            what = f"without the order of {shown(lines, i)}"
            yield Mutant(what, {i: new}, is_drop=True, in_final_code=hidden)
        if (barrier := ID.match(line)) and (other := other_id(lines, barrier[2])):
            name = f"%mutant_{i}"
            new = f"{name} = llvm.mlir.constant({other} : i32) : i32 {barrier[1]}{name}{barrier[3]}"
            yield change(i, new, "another barrier")
        if mask := MASK.match(line):
            name = f"%mutant_{i}"
            yield change(
                i,
                f"{name}_n = llvm.mlir.constant(1 : i16) : i16 "
                f"{name}_l = llvm.sub {mask[2]}, {name}_n : i16 "
                f"{name} = llvm.and {mask[2]}, {name}_l : i16 {mask[1]}{name}{mask[3]}",
                "one program fewer",
            )
        counter = COUNTER.match(line)
        if counter and int(counter[2]) & 0xF < 0xF:
            more = f"{counter[1]}{int(counter[2]) + 1}"
            yield change(i, more, "one more load in flight", i in covered)
        if PROXY in line:
            other = line.replace(PROXY, "kind = #nvvm.proxy_kind<async.global>")
            yield change(i, other, "another memory", i in covered)
        if polled := POLLED.match(line):
            new = f"{polled[1]}llvm.mlir.constant(true) : i1"
            yield Mutant(f"without waiting in {shown(lines, i)}", {i: new}, is_drop=True)
        # A barrier that is a word: which half of its round a wave waits for.
        looks = [j for j in range(max(i - 4, 0), i) if re.search("llvm.load .* atomic", lines[j])]
        if 'llvm.icmp "eq"' in line and looks:
            other, what = line.replace('"eq"', '"ne"'), f"the other phase in {shown(lines, i)}"
            yield Mutant(what, {i: other}, at=looks[-1])
            new = line.split("=")[0] + "= llvm.mlir.constant(false) : i1"
            what = f"without waiting in {shown(lines, i)}"
            yield Mutant(what, {i: new}, is_drop=True, at=looks[-1])
        for pattern, op, number, what in (
            (PHASE, "xor", 1, "the other phase"),
            (BYTES, "add", 16, "more bytes"),
            (BYTES, "sub", 16, "fewer bytes"),
            (COUNT, "add", 1, "one arrival more"),
            (WORDS, "add", 1, "one arrival more"),
            (THREADS, "sub", 32, "one warp fewer"),
            (RANK, "xor", 1, "another program"),
        ):
            if form := pattern.match(line):
                yield change(i, computed(i, form, op, number), what)


def assemble(text: str, target: str):
    """The artifact of a module in the LLVM dialect."""
    request = {
        "source": text.encode(), "source_name": "mutant.mlir", "kernel": None, "target": target,
        "keep_stages": (), "opt_level": 3, "fast_math": 0, "options": "from=llvm", "isolation": 0,
    }  # fmt: skip
    artifact, _, _ = _native.compile(None, None, request)
    return artifact


def loaded(text: str, target: str) -> Callable[..., None]:
    artifact = assemble(text, target)
    executable = device(target).load(artifact)
    name = json.loads(artifact.metadata)["kernel"]
    return lambda *arguments: executable.launch(name, list(arguments), None)
