"""Drops one barrier of a module after another, each of which the protocol check must miss. Prints how
many it refused, and which it did not, by their numbers."""

import subprocess
import sys

tool, path = sys.argv[1:]
lines = open(path).read().splitlines(keepends=True)
barriers = [i for i, line in enumerate(lines) if line.strip().startswith("tile.barrier")]
kept = []
for number, at in enumerate(barriers, start=1):
    text = "".join(lines[:at] + lines[at + 1 :])
    run = subprocess.run(
        [tool, "--tile-check-protocol"], input=text, capture_output=True, text=True
    )
    if run.returncode == 0:
        kept.append(number)
print(len(barriers) - len(kept), "refused, of these not:", *kept)
