"""Breaks a kernel's final code in small ways and asks tile-check-isa to refuse each.

    isa-mutants.py CHECKER ASSEMBLY LEAST

A mutant is the innermost loop with a wait gone, weaker or behind the barrier that follows it, or a
barrier gone; LEAST is how many there must be. Prints `N mutants refused`, or each that passed.
"""

import re
import sys

from refusals import expect_refused


def find_loop(lines):
    """From the label of the loop that holds the matrix instructions to the branch back to it."""
    for end, line in enumerate(lines):
        found = re.match(r"\s*s_cbranch_\w+ (\.LBB\w+)", line)
        if not found or f"{found[1]}:" not in (
            at.split()[0] if at.split() else "" for at in lines[:end]
        ):
            continue
        start = max(i for i, at in enumerate(lines[:end]) if at.startswith(f"{found[1]}:"))
        body = "\n".join(lines[start:end])
        if "lds" in body and "v_mfma" in body:
            return start, end
    raise SystemExit("no loop that loads to LDS and multiplies")


def mutants(lines):
    start, end = find_loop(lines)
    for at in range(start, end):
        line = lines[at].split(";")[0].rstrip()
        if re.match(r"\s*s_barrier", line):
            yield f"line {at + 1}: no barrier", lines[:at] + lines[at + 1 :]
        if re.match(r"\s*s_waitcnt", line):
            yield f"line {at + 1}: no wait", lines[:at] + lines[at + 1 :]
            for found in re.finditer(r"(vmcnt|lgkmcnt)\((\d+)\)", line):
                for more in (1, 4):
                    weaker = (
                        line[: found.start(2)] + str(int(found[2]) + more) + line[found.end(2) :]
                    )
                    yield (
                        f"line {at + 1}: {weaker.strip()}",
                        lines[:at] + [weaker] + lines[at + 1 :],
                    )
            if re.match(r"\s*s_barrier", lines[at + 1]):
                moved = lines[:at] + [lines[at + 1], lines[at]] + lines[at + 2 :]
                yield f"line {at + 1}: a wait behind its barrier", moved
        # A load into the place, or a read of it, of the other slot.
        if re.match(r"\s*ds_read_b128", line):
            offset = int((re.search(r"offset:(\d+)", line) or [0, 0])[1])
            other = re.sub(r" offset:\d+", "", line) + f" offset:{offset ^ 16384}"
            yield f"line {at + 1}: {other.strip()}", lines[:at] + [other] + lines[at + 1 :]


def main(checker, path, least):
    with open(path) as file:
        source = file.read()
    command = [checker, "--allow-strong-waits", "-"]
    expect_refused(command, source, mutants(source.splitlines()), least)


if __name__ == "__main__":
    main(*sys.argv[1:4])
