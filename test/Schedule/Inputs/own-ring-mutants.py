"""Breaks a kernel whose role fills its own ring in many small ways; the protocol check refuses each.

    own-ring-mutants.py TILE_OPT SOURCE LEAST

SOURCE has its schedule pinned; it is realised first. A mutant lacks a put, a wait, a barrier, what
this publishes, a read or a release, waits for one put too few, or gets one slot always. LEAST is how many there must
be. Prints `N mutants refused`, or each one that passed, and then fails.
"""

import re
import sys

from refusals import end_of, expect_refused, run

PASSES = [
    "--tile-pipeline=stop-after=layout",
    *(f"--tile-realise-{what}" for what in ("persistence", "rings", "warp-groups")),
    "--tile-complete-stages",
    *(f"--tile-realise-{what}" for what in ("stages", "slots", "copies", "stores")),
]


def mutants(lines, depth):
    for at, line in enumerate(lines):
        if "tile.barrier publish" in line:
            quiet = line.replace(" publish", "")
            yield f"line {at + 1}: not published", [*lines[:at], quiet, *lines[at + 1 :]]
        found = re.match(r"\s*(?:%\S+ = )?tile\.(put|wait_puts|barrier|release) ?", line)
        if not found:
            if re.match(r"\s*%\S+ = tile\.get %\w+\[", line):
                for other in range(depth):
                    name = f"    %other = arith.constant {other} : i32"
                    edited = re.sub(r"\[%[\w#]+", "[%other", line)
                    yield (
                        f"line {at + 1}: gets slot {other} always",
                        [*lines[:at], name, edited, *lines[at + 1 :]],
                    )
            continue
        end = end_of(lines, at)
        yield f"line {at + 1}: no tile.{found[1]}", lines[:at] + lines[end:]
        if found[1] == "wait_puts":
            count = int(re.search(r"in_flight = (\d+)", line)[1])
            for more in (1, depth):
                weaker = line.replace(f"in_flight = {count}", f"in_flight = {count + more}")
                yield (
                    f"line {at + 1}: in_flight = {count + more}",
                    [*lines[:at], weaker, *lines[end:]],
                )
            for behind in range(end, min(end + 4, len(lines))):
                if "tile.barrier" in lines[behind]:
                    moved = [*lines[:at], *lines[end : behind + 1], line, *lines[behind + 1 :]]
                    yield f"line {at + 1}: the wait behind the barrier", moved
        if found[1] == "put":
            yield f"line {at + 1}: put twice", lines[:end] + lines[at:]


def main(tool, path, least):
    with open(path) as file:
        source = file.read()
    depth = int(re.search(r"tile\.depth = (\d+)", source)[1])
    realised, error = run([tool, "-", *PASSES], source)
    if error is not None:
        raise SystemExit(f"the source itself is refused:\n{error}")
    made = mutants(realised.splitlines(), depth)
    # An edit that MLIR itself refuses proves nothing.
    by_mlir = ("undeclared", "does not dominate", "redefinition", "expected ':'")
    command = [tool, "-", "--tile-check-protocol", "-o", "/dev/null"]
    expect_refused(command, realised, made, least, by_mlir, splits=True)


if __name__ == "__main__":
    main(*sys.argv[1:4])
