"""Breaks the order between the waves of a kernel's final code and asks tile-check-isa to refuse it.

    order-mutants.py CHECKER ASSEMBLY LEAST [PASSES]
    order-mutants.py CHECKER ASSEMBLY barriers=COUNT loose=LOOSE

LEAST is how many mutants there must be (test/Inputs/order_mutants.py). Looks count from one. Of those
that a regular expression PASSES names nothing is asked, for they break nothing; the test that names
them says why. With `barriers` only these are left out, each of just so many, of which just LOOSE break
nothing. Prints `N mutants refused`, or each that passed.
"""

import re
import sys

import order_mutants
from refusals import expect_refused, refusal


def expect_barriers(command, source, count, loose):
    lines = source.splitlines()
    places = [at for at, line in enumerate(lines) if order_mutants.BARRIER.match(line)]
    if len(places) != count:
        raise SystemExit(f"expected {count} barriers, got {len(places)}")

    passing = [
        at + 1
        for at in places
        if not refusal(command, "\n".join([*order_mutants.without(lines, at), ""]))
    ]
    if refusal(command, source) or len(passing) != loose:
        raise SystemExit(f"expected {loose} barriers that may go, got those of lines {passing}")
    print(f"{count - loose} mutants refused")


def main(checker, path, least, passes=None):
    with open(path) as file:
        source = file.read()
    lines = source.splitlines()
    command = [checker, "--allow-strong-waits", "-"]
    if found := re.match(r"barriers=(\d+)$", least):
        return expect_barriers(command, source, int(found[1]), int(passes.removeprefix("loose=")))
    broken = (
        (what, lines)
        for what, lines in order_mutants.mutants(lines)
        if not passes or not re.search(passes, what)
    )
    return expect_refused(command, source, broken, least)


if __name__ == "__main__":
    main(*sys.argv[1:])
