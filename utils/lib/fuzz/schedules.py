"""Random schedules: kernels whose decisions are drawn, on emulated chips, against float64.

The kernels and what draws their schedules are beside the tests, in test/python/fuzz: what CI draws
a few of is the same. Whatever is pinned is obeyed or refused: by an error at a line of the kernel
that names a decision. What is obeyed must compute the kernel's numbers, whatever runs beside
whatever. A finding is a file that shows it by itself, with as few decisions as it takes.
`--device emu:CHIP` keeps to some chips; what follows the name, to some kernels.
"""

import os
import re
import sys
from pathlib import Path

from schedules_table import Table
from worker import WRONG, Worker

TESTS = Path(__file__).resolve().parents[3] / "test/python/fuzz"


def prepare():
    """The compiler is in this process, and nothing is kept on disk."""
    sys.path[:0] = [str(TESTS), str(TESTS.parent)]
    os.environ |= {"KILN_COMPILE_IN_PROCESS": "1", "KILN_LIBDEVICE": "none", "KILN_OCML": "none"}
    os.environ["KILN_CACHE_DIR"] = ""


def perform(_, case):
    import schedule_check

    try:
        return schedule_check.check(case)
    except Exception as error:  # the checker's own
        return f"unchecked: {type(error).__name__}: {error}"


def run(campaign):
    sys.path.insert(0, str(TESTS))
    import schedule_chips
    import schedule_writer

    chips = [device.partition(":")[2] for device in campaign.devices]
    chips = chips or list(schedule_chips.CHIPS)
    kernels = [str(name) for name in campaign.corpus] or list(schedule_writer.KERNELS)
    log = campaign.output / f"{campaign.name}.stderr"
    table = Table()
    with Worker(prepare, perform, log, seconds=60, memory=campaign.memory) as worker:
        while campaign.goes_on():
            campaign.runs += 1
            rng = campaign.rng
            seed, chip, kernel = rng.randrange(1 << 32), rng.choice(chips), rng.choice(kernels)
            case = schedule_writer.write(seed, chip, kernel)
            answer = worker.attempt(case)
            verdict = table.add(case, answer)
            campaign.count(f"{verdict} of the odd" if case.odd else verdict)
            if verdict == "wrong":
                report(campaign, worker, case, answer)
    print(table.text(), flush=True)


def report(campaign, worker, case, answer):
    """The fewest decisions with which the same goes wrong."""
    import schedule_check

    def group_of(case):
        names = sorted(f"{at}.{name}" for at, pins in case.pins.items() for name in pins)
        said = schedule_check.kind(answer)
        return f"{said} {case.chip if said == 'wrong numbers' else ''}", " ".join(names)

    before = f"{case.kernel} {group_of(case)[0]}"
    campaign.seen = getattr(campaign, "seen", {})
    campaign.seen[before] = campaign.seen.get(before, 0) + 1
    if campaign.seen[before] > 3:  # of what is alike a few are shrunk
        campaign.count("findings")
        return

    def fails(smaller):
        again = worker.attempt(smaller)
        if answer.startswith(WRONG):
            return again.startswith(WRONG)
        return bool(again) and schedule_check.kind(again) == schedule_check.kind(answer)

    hangs = answer.startswith(WRONG) and "no answer" in answer
    case = case if hangs else schedule_check.shrunk(case, fails, seconds=40)
    answer_now = answer if hangs else worker.attempt(case) or answer
    what = f"seed {case.seed}, {case.chip}, {case.kernel}: {answer_now}"
    first = re.sub(r'"""', "'''", answer_now)
    text = schedule_check.reproduction(case, first)
    campaign.find(what, text, ".py", " ".join([case.kernel, *group_of(case)]))
