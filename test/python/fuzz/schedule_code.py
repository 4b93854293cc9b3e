"""The final code of a random schedule for the chip itself, read back by tile-check-isa: it keeps the
protocol that it declares, and on AMD's chips it waits for what it reads."""

from __future__ import annotations

import re

from schedule_writer import Case

MARK = "final code: "
# What tile-check-isa says of AMD's code of random schedules that are right in numbers, not mended yet:
# runs by drawn numbers in which waves write the same at one place, look at words of other meetings
# than are declared, come to no counter or end in a wait.
KNOWN = re.compile(
    r"'ds_(write|store)\w+': wave \d+ writes byte \d+ of LDS, which wave \d+ writes by"
    r"|the metadata declares counters at byte \d+; in no run of the code anybody (arrives|waits)"
    r"|waves look at byte \d+ of LDS, which the metadata does not declare"
    r"|no wave can go on: |not decided: "
)
# The same of NVIDIA's chips: two in eighty, of rings of one slot.
KNOWN_OF_ONE_SLOT = re.compile(
    r"a ring of 1 slots at bytes \d+ to \d+ of shared memory"
    r"( that others fill; the code does not have it so|; the code reads other slots)"
)


def is_told_by(what: str) -> bool:
    return MARK in what


def target_of(chip: str) -> str:
    return f"{'amdgpu' if chip.startswith('gfx') else 'nvptx'}:{chip}"


def find_problem(kernel, args, case: Case) -> str:
    """What is wrong with the code, or nothing. A wait that is stronger than it need be is LLVM's;
    where the checker cannot tell, it says so."""
    import isa  # of test/python

    import kiln

    try:
        made = kernel.compile(*args, target=target_of(case.chip), _pipeline="stop-after=asm")
    except kiln.CompileError as error:
        return f"{MARK}none, but for the emulated chip: {error}"
    said = isa.find_problem(made.asm.encode(), allow_strong=True)
    known = KNOWN if case.chip.startswith("gfx") else KNOWN_OF_ONE_SLOT
    is_known = all(known.search(line) for line in said.splitlines())
    return "" if not said or is_known else f"{MARK}{said}"
