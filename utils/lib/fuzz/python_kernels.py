"""Random kernels in Python against a NumPy interpreter of their syntax trees.

Both are beside the tests, in test/python/fuzz: what CI draws a few hundred of is the same. Each
kernel runs on the CPU and on one or two emulated chips, or on the devices of `--device`, and every
array must hold what the interpreter leaves there, to the bit. A finding is a file that shows the
difference by itself, shrunk.
"""

import os
import re
import sys
from pathlib import Path

from worker import Worker

CHIPS = ["emu:sm_90a", "emu:gfx942", "emu:gfx1201", "emu:gfx950"]
TESTS = Path(__file__).resolve().parents[3] / "test/python/fuzz"


def prepare():
    """The compiler is in this process, and nothing is kept on disk."""
    sys.path[:0] = [str(TESTS), str(TESTS.parent)]
    os.environ |= {"KILN_COMPILE_IN_PROCESS": "1", "KILN_LIBDEVICE": "none", "KILN_OCML": "none"}
    os.environ["KILN_CACHE_DIR"] = ""


def perform(_, job):
    """What is wrong with the kernel of a seed, or the empty string."""
    import kernel_check
    import kernel_writer

    seed, size, devices, text = job
    case = kernel_writer.write(seed, size)
    case.text = text or case.text
    try:
        want = kernel_check.wanted(case)
    except Exception as error:  # of a shrunk kernel; of a whole one it is the writer's defect
        return "undefined" if text else f"undefined: {type(error).__name__}: {error}\n{case.text}"
    return kernel_check.check(case, devices, want)


def run(campaign):
    rng = campaign.rng
    sys.path.insert(0, str(TESTS))
    log = campaign.output / f"{campaign.name}.stderr"
    with Worker(prepare, perform, log, seconds=60, memory=campaign.memory) as worker:
        while campaign.goes_on():
            campaign.runs += 1
            seed, size = rng.randrange(1 << 32), rng.choice([4, 8, 12, 12, 16, 24])
            devices = campaign.devices or ["cpu", *rng.sample(CHIPS, rng.choice([1, 2]))]
            answer = worker.attempt((seed, size, devices, ""))
            campaign.count("wrong" if answer else "right")
            for device in devices:
                campaign.count(f"on {device}")
            if answer:
                report(campaign, worker, seed, size, answer)


def report(campaign, worker, seed, size, answer):
    """The smallest kernel that goes wrong on the same device in the same way."""
    import kernel_check
    import kernel_writer

    device = answer.split(": ")[0]
    devices = [device] if device in ("cpu", *CHIPS, *campaign.devices) else ["cpu"]

    def kind(answer):
        """What went wrong, but for numbers and places."""
        return re.sub(r"\d+|expected \S+, got \S+ in .*", "", answer.splitlines()[0])

    def fails(case):
        again = worker.attempt((seed, size, devices, case.text))
        return again != "" and kind(again) == kind(answer)

    case = kernel_check.shrunk(kernel_writer.write(seed, size), fails)
    what = f"seed {seed}, size {size}: {answer}"
    campaign.find(what, kernel_check.reproduction(case, answer.splitlines()[0], devices), ".py")
