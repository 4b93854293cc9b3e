"""Breaks a kernel whose role fills its own ring in many small ways; the protocol check refuses each.

    own-ring-mutants.py TILE_OPT SOURCE LEAST

SOURCE has its decisions pinned; it is realised first. A mutant lacks a put, a wait, a barrier, a
read or a release, waits for one put too few, or takes a slot whose turn it is not. LEAST is how many
there must be. Prints `N mutants refused`, or each one that passed, and then fails.
"""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

PASSES = [
    f"--tile-realise-{what}" for what in ("persistence", "rings", "warp-groups", "copies", "stores")
]


def run(tool, source, passes):
    """What the passes make, and their error."""
    done = subprocess.run(
        [tool, "-", *passes], input=source, capture_output=True, text=True, timeout=120
    )
    if done.returncode < 0:
        raise SystemExit(f"tile-opt ended by signal {-done.returncode}")
    return done.stdout, done.stderr if done.returncode else None


def end_of(lines, start):
    """Behind the op that starts here, its region included."""
    depth = lines[start].count("{") - lines[start].count("}")
    end = start
    while depth > 0:
        end += 1
        depth += lines[end].count("{") - lines[end].count("}")
    return end + 1


def mutants(lines, depth):
    for at, line in enumerate(lines):
        found = re.match(r"\s*(?:%\S+ = )?tile\.(put|wait_puts|barrier|release) ?", line)
        if not found:
            if slot := re.match(r"(\s*%\S+ = tile\.get %\w+\[%c)(\d)(_i32\w*)(,.*)", line):
                other = (int(slot[2]) + 1) % depth
                name = f"    %other = arith.constant {other} : i32"
                edited = re.sub(r"\[%\w+", "[%other", line)
                yield (
                    f"line {at + 1}: gets slot {other}",
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
    realised, error = run(tool, source, PASSES)
    error = error or run(tool, realised, ["--tile-check-protocol"])[1]
    if error:
        raise SystemExit(f"the source itself is refused:\n{error}")
    made = {"\n".join(text): what for what, text in mutants(realised.splitlines(), depth)}
    with ThreadPoolExecutor(2) as pool:
        errors = list(pool.map(lambda text: run(tool, text, ["--tile-check-protocol"])[1], made))
    # An edit that MLIR itself refuses proves nothing.
    by_mlir = ("undeclared", "does not dominate", "redefinition", "expected ':'")
    refused = [e for e in errors if e and not any(words in e for words in by_mlir)]
    passed = [what for what, e in zip(made.values(), errors) if not e]
    for what in passed:
        print(f"passed: {what}")
    if passed:
        raise SystemExit(f"{len(passed)} of {len(made)} mutants passed")
    if len(refused) < int(least):
        raise SystemExit(f"expected at least {least} mutants, got {len(refused)}")
    print(f"{len(refused)} mutants refused")


if __name__ == "__main__":
    main(*sys.argv[1:4])
