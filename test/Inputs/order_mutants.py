"""Breaks of the order between the waves of a kernel's final code, for tile-check-isa to refuse.

A mutant is the code with a barrier, a wait, an arrival or a look gone, a wait behind the barrier or
arrival that follows it, or an arrival or a look at the next slot.
"""

import re

BARRIER = re.compile(r"\s*s_barrier(_signal|_wait)?\b")
WAIT = re.compile(r"\s*s_wait(cnt|_loadcnt|_dscnt|_storecnt|_loadcnt_dscnt)\b")
ARRIVAL = re.compile(r"\s*ds_inc_(rtn_)?u32\b")
LDS_READ = re.compile(r"\s*ds_(read|load)_b32\b")
SLOT_BYTES = 8


def looks(lines):
    """Each read that a loop with a sleep makes, with the label behind the loop."""
    for sleep, line in enumerate(lines):
        if not re.match(r"\s*s_sleep\b", line):
            continue
        reads = [at for at in range(max(0, sleep - 20), sleep) if LDS_READ.match(lines[at])]
        behind = (re.match(r"(\.LBB\w+):", at) for at in lines[sleep + 1 : sleep + 8])
        label = next((found[1] for found in behind if found), None)
        if reads and label:
            yield reads[-1], label


def shifted(line):
    """The line with the slot that lies behind the one it names."""
    offset = int((re.search(r" offset:(\d+)", line) or [0, 0])[1])
    return re.sub(r" offset:\d+", "", line.rstrip()) + f" offset:{offset + SLOT_BYTES}"


def waits_for_nothing(code, at):
    """A wait of one that has made no access to LDS since it has waited for all of them."""
    if not code[at].strip().startswith("s_waitcnt lgkmcnt") or "vmcnt" in code[at]:
        return False
    for line in reversed(code[:at]):
        if "lgkmcnt(0)" in line:
            return True
        if re.match(r"\s*(ds_|s_load|s_buffer_load|s_barrier)", line):
            return False
    return False


def without(lines, at):
    return lines[:at] + lines[at + 1 :]


def weakened(line):
    """The wait for one more, by each counter that it names."""
    for found in re.finditer(r"(vmcnt|lgkmcnt)\((\d+)\)", line):
        yield line[: found.start(2)] + str(int(found[2]) + 1) + line[found.end(2) :]
    if found := re.match(r"(\s*s_wait_\w+ )(0x[0-9a-f]+)$", line):
        yield f"{found[1]}{hex(int(found[2], 16) + 1)}"


def barriers(lines):
    """The code without each of its barriers."""
    for at, line in enumerate(lines):
        if BARRIER.match(line):
            yield f"line {at + 1}: no barrier", without(lines, at)


def mutants(lines):
    code = [line.split(";")[0].rstrip() for line in lines]
    yield from barriers(lines)
    for at, line in enumerate(code):
        where = f"line {at + 1}: "
        if ARRIVAL.match(line):
            yield where + "no arrival", without(lines, at)
            yield where + "arrival at the next slot", [*lines[:at], shifted(line), *lines[at + 1 :]]
        if not WAIT.match(line) or waits_for_nothing(code, at):
            continue
        yield where + "no wait", without(lines, at)
        for weaker in weakened(line):
            yield where + weaker.strip(), [*lines[:at], weaker, *lines[at + 1 :]]
        for behind in range(at + 1, min(at + 8, len(lines))):
            if BARRIER.match(code[behind]) or ARRIVAL.match(code[behind]):
                moved = [*lines[:at], *lines[at + 1 : behind + 1], lines[at], *lines[behind + 1 :]]
                yield where + "a wait behind what tells of it", moved
                break
    for number, (at, behind) in enumerate(looks(code), start=1):
        where = f"line {at + 1}: "
        yield where + f"no look {number}", [*lines[:at], f"\ts_branch {behind}", *lines[at:]]
        yield (
            where + f"look {number} at the next slot",
            [*lines[:at], shifted(code[at]), *lines[at + 1 :]],
        )


def in_loops(lines):
    """Those of loops that hold no other one and multiply; and waits wherever they are, but for those
    that are moved. Behind the last trip of a loop a barrier may be of no use."""
    inside = set()
    for end, line in enumerate(lines):
        found = re.match(r"\s*s_c?branch\w* (\.LBB\w+)", line)
        starts = [at for at in range(end) if found and lines[at].startswith(f"{found[1]}:")]
        body = lines[starts[-1] : end] if starts else []
        targets = [re.match(r"\s*s_c?branch\w* (\.LBB\w+)", each) for each in body]
        labels = {each.split(":")[0] for each in body if each.startswith(".LBB")}
        is_outer = any(each and each[1] in labels for each in targets)
        if body and not is_outer and any("v_mfma" in each or "v_wmma" in each for each in body):
            inside |= set(range(starts[-1], end))
    for what, broken in mutants(lines):
        at = int(re.match(r"line (\d+)", what)[1]) - 1
        if at in inside or not re.search(r"no barrier|behind what tells", what):
            yield what, broken


def not_of_lds(lines, broken):
    """Those of mutants that leave what waits for accesses to LDS as it is, or drop what waits for loads
    as well."""
    for what, code in broken:
        line = lines[int(re.match(r"line (\d+)", what)[1]) - 1]
        waits = line.strip().startswith("s_waitcnt")
        weakens_lds = re.search(r"lgkmcnt\((?!0\))", what)
        if not waits or ("vmcnt" in line and not weakens_lds):
            yield what, code
