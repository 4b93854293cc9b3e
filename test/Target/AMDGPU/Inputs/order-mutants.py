"""Breaks the order between the waves of a kernel's final code and asks tile-check-isa to refuse it.

    order-mutants.py CHECKER ASSEMBLY LEAST [PASSES]
    order-mutants.py CHECKER ASSEMBLY barriers=COUNT loose=LOOSE

LEAST is how many mutants there must be (test/Inputs/order_mutants.py). Looks count from one. Of those
that a regular expression PASSES names nothing is asked, for they break nothing; the test that names
them says why. With `barriers` only these are left out, each of just so many. Of just LOOSE one may go,
and then so may all of these: what they order the others order, each of which is needed then, too.
Prints `N mutants refused`, or each that passed.
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

    def is_proven(gone):
        left = [line for at, line in enumerate(lines) if at not in gone]
        return not refusal(command, "\n".join([*left, ""]))

    passing = {at for at in places if is_proven({at})}
    spelled = sorted(at + 1 for at in passing)
    if not is_proven(set()) or len(passing) != loose:
        raise SystemExit(f"expected {loose} barriers that may go, got those of lines {spelled}")
    if not is_proven(passing):
        raise SystemExit(f"expected others to order what those of lines {spelled} do")
    needless = [at + 1 for at in places if at not in passing and is_proven(passing | {at})]
    if needless:
        raise SystemExit(f"expected each that is left to be needed, got those of lines {needless}")
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
