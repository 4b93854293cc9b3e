"""Random schedules: kernels whose decisions are drawn, on emulated chips or a GPU, against float64.

The kernels and what draws their schedules are beside the tests, in test/python/fuzz: what CI draws
a few of is the same. Whatever is pinned is obeyed or refused: by an error at a line of the kernel
that names a decision. What is obeyed must compute the kernel's numbers, whatever runs beside
whatever. A finding is a file that shows it by itself, with as few decisions as it takes.
`--device emu:CHIP` keeps to some chips, and `--device cuda:0` runs them there; what follows the
name, to some kernels.
"""

import os
import re
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path

from schedules_table import Table
from worker import WRONG, Worker

TESTS = Path(__file__).resolve().parents[3] / "test/python/fuzz"
# What is wrong and leaves a GPU's context as it was.
PASSING = ("refused", "wrong numbers")
IMPATIENCE = 20  # seconds that a smaller case may take before it counts as one that hangs as well


def prepare():
    """The compiler is in this process, and nothing is kept on disk."""
    sys.path[:0] = [str(TESTS), str(TESTS.parent)]
    os.environ |= {"KILN_COMPILE_IN_PROCESS": "1", "KILN_LIBDEVICE": "none", "KILN_OCML": "none"}
    os.environ |= {"KILN_CACHE_DIR": "", "CUDA_CACHE_DISABLE": "1"}


def perform(_, job):
    """The case with up to so many more extents, and what is wrong with it."""
    case, device, more = job
    import isa
    import schedule_check

    try:
        case = schedule_check.widened(case, more) if more else case
        return case, schedule_check.check(case, device, not device and isa.has_checker())
    except Exception as error:  # the checker's own
        return case, f"unchecked: {type(error).__name__}: {error}"


def places(devices):
    """Chips, each with the device that it runs on, or none if it is emulated."""
    import schedule_chips

    import kiln

    if not devices:
        return [(chip, None) for chip in schedule_chips.CHIPS]
    targets = {entry["name"]: entry.get("target") or "" for entry in kiln.devices()}
    found = []
    for device in devices:
        is_emulated = device.startswith("emu:")
        chip = (device if is_emulated else targets.get(device, "")).partition(":")[2]
        if chip not in schedule_chips.CHIPS:
            known = ", ".join(schedule_chips.CHIPS)
            sys.exit(f"error: expected a device whose chip is one of {known}, got '{device}'")
        found.append((chip, None if is_emulated else device))
    return found


class Checker:
    """A process that checks cases; on a GPU, a new one after what its context may not outlive."""

    def __init__(self, log, memory, on_gpu=False):
        # A process that waits for a GPU computes nothing. A launch there has its own limit, but the
        # vendor's assembler takes minutes where one warp is given a tile of many.
        rounds, seconds = 10 if memory else 1, 240 if on_gpu else 60
        self.worker = Worker(prepare, perform, log, seconds=seconds, memory=memory, rounds=rounds)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.worker.stop()

    @contextmanager
    def impatient(self):
        """While a hang is made smaller, which takes as long each time."""
        seconds, self.worker.seconds = self.worker.seconds, IMPATIENCE
        try:
            yield
        finally:
            self.worker.seconds = seconds

    def check(self, case, device, more=0):
        answer = self.worker.attempt((case, device, more))
        case, said = (case, answer) if isinstance(answer, str) else answer
        if device and said and not said.startswith(PASSING):
            self.worker.stop()
        return case, said


def run(campaign):
    sys.path.insert(0, str(TESTS))
    import schedule_writer

    among = places(campaign.devices)
    kernels = [str(name) for name in campaign.corpus] or list(schedule_writer.KERNELS)
    log = campaign.output / f"{campaign.name}.stderr"
    table = Table()
    with Checker(log, campaign.memory, any(device for _, device in among)) as checker:
        while campaign.goes_on():
            campaign.runs += 1
            rng = campaign.rng
            seed, (chip, device), kernel = (
                rng.randrange(1 << 32), rng.choice(among), rng.choice(kernels),
            )  # fmt: skip
            case, answer = checker.check(schedule_writer.write(seed, chip, kernel), device)
            verdict = table.add(case, answer)
            campaign.count(f"{verdict} of the odd" if case.odd else verdict)
            if verdict == "wrong":
                report(campaign, checker, case, device, answer)
    print(table.text(), flush=True)


def report(campaign, checker, case, device, answer):
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
        _, again = checker.check(smaller, device)
        if answer.startswith(WRONG):
            return again.startswith(WRONG)
        return bool(again) and schedule_check.kind(again) == schedule_check.kind(answer)

    hangs = "no answer within" in answer or answer.startswith("TimeoutError")
    with checker.impatient() if hangs else nullcontext():
        case = schedule_check.shrunk(case, fails, seconds=12 * IMPATIENCE if hangs else 40)
    answer_now = answer if hangs else checker.check(case, device)[1] or answer
    what = f"seed {case.seed}, {device or case.chip}, {case.kernel}: {answer_now}"
    first = re.sub(r'"""', "'''", answer_now)
    text = schedule_check.reproduction(case, first, device)
    campaign.find(what, text, ".py", " ".join([case.kernel, *group_of(case)]))
