"""What `utils/soak` runs: each part shares its jobs among processes, and counts their ends.

A part is a function of a Soak. What hangs or dies does so in a process of its own, whose watchdog
ends it: it is a finding, by its seed, and the next job runs in a new one.
"""

import os
import re
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import programs as random_programs
import schedules as random_schedules
from campaign import Campaign
from schedules_table import Table
from worker import WRONG, Worker

# What each part runs, unless it is told otherwise; on a GPU schedules count by their launches.
COUNTS = {"schedules": 2000, "orders": 50, "programs": 20000}
MORE_EXTENTS = 4  # for each schedule on a GPU


class Shared(Campaign):
    """A campaign that also ends with its soak's time."""

    until = None

    def goes_on(self):
        return (self.until is None or time.monotonic() < self.until) and super().goes_on()


@dataclass
class Soak:
    build: Path
    output: Path
    root: Path
    seed: int
    devices: list
    processes: int
    minutes: float
    count: int
    threads: list = field(default_factory=list)

    def __post_init__(self):
        self.until = time.monotonic() + 60 * self.minutes if self.minutes else None

    def campaign(self, name, most, seed=0):
        campaign = Shared(
            name, self.build, self.output, self.seed + seed, 0, self.root, [], self.devices, most
        )
        campaign.until = self.until
        return campaign

    def share(self, work):
        """Calls `work` with a number each, as often at once as there may be processes."""
        failed = []

        def guarded(number):
            try:
                work(number)
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=guarded, args=[n]) for n in range(self.processes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]

    def log(self, name, number):
        return self.output / f"{name}-{number}.stderr"


def schedules(soak):
    """Random schedules: so many that are accepted, or on a GPU so many launches."""
    sys.path.insert(0, str(random_schedules.TESTS))
    import schedule_writer

    among = random_schedules.places(soak.devices)
    on_gpu = any(device for _, device in among)
    most = soak.count or COUNTS["schedules"]
    campaign = soak.campaign("schedules", sys.maxsize)
    table, lock, done = Table(), threading.Lock(), {"schedules": 0, "launches": 0, "refused": 0}
    reached = "launches" if on_gpu else "schedules"
    kernels = list(schedule_writer.KERNELS)

    def work(number):
        log = soak.log("schedules", number)
        with random_schedules.Checker(log, campaign.memory, on_gpu) as checker:
            while campaign.goes_on() and done[reached] < most:
                with lock:
                    rng = campaign.rng
                    seed, (chip, device) = rng.randrange(1 << 32), rng.choice(among)
                    kernel = rng.choice(kernels)
                case = schedule_writer.write(seed, chip, kernel)
                more = MORE_EXTENTS if device else 0
                case, answer = checker.check(case, device, more)
                with lock:
                    campaign.runs += 1
                    verdict = table.add(case, answer)
                    done["refused"] += verdict == "refused"
                    done["schedules"] += verdict == "accepted"
                    done["launches"] += len(case.sizes) if verdict == "accepted" else 0
                if verdict == "wrong":
                    random_schedules.report(campaign, checker, case, device, answer)

    start = time.monotonic()
    soak.share(work)
    rate = done["launches"] / (time.monotonic() - start)
    (soak.output / "schedules.table").write_text(table.text() + "\n")
    counted = {f"{what} right" if what != "refused" else what: n for what, n in done.items()}
    counted["right a second"] = f"{rate:.1f} launches"
    return campaign, counted, done[reached] >= most


def perform_subject(_, job):
    """What an emulated chip finds wrong with a pinned kernel, or with a mutant of it."""
    name, text, seed = job
    os.environ["KILN_EMULATED_SEED"] = str(seed)
    import mutation_subjects

    _, chip, runs = mutation_subjects.PINNED[name]
    return mutation_subjects.Subject(name, chip, "", runs).find(text)


def pinned_subjects():
    """By the compiler of this process."""
    tests = random_schedules.TESTS
    sys.path[:0] = [str(tests), str(tests.parent)]
    import mutation_subjects

    return [mutation_subjects.pinned(name) for name in mutation_subjects.PINNED]


def ask_of_subjects(soak, campaign, jobs, judge):
    """`judge(job, answer)` of each job, until the time is over."""
    left, lock = iter(jobs), threading.Lock()

    def work(number):
        log = soak.log(campaign.name, number)
        with Worker(random_schedules.prepare, perform_subject, log, seconds=120) as worker:
            while campaign.goes_on():
                with lock:
                    job = next(left, None)
                if job is None:
                    return
                judge(job, worker.attempt(job[:3]))
                with lock:
                    campaign.runs += 1

    soak.share(work)
    return campaign.runs == len(jobs)


def mutants(soak):
    """Every mutant of every pinned kernel: an emulated chip finds each."""
    campaign = soak.campaign("mutants", sys.maxsize)
    made = [(each.name, m.text, 0, m) for each in pinned_subjects() for m in each.mutants]
    jobs = [job for job in made if not job[3].may_be_same]
    jobs = jobs[:: -(-len(jobs) // soak.count)] if soak.count else jobs

    def judge(job, answer):
        name, text, _, mutant = job
        campaign.count("found" if answer else "not found")
        # Dropping one order may leave a wait without end, which the emulated chip itself tells of.
        if not answer or answer.startswith(WRONG):
            campaign.find(f"{name} {mutant.what}: {answer or 'not found'}", text, ".mlir")

    is_enough = ask_of_subjects(soak, campaign, jobs, judge)
    return campaign, campaign.counts, is_enough


def orders(soak):
    """Every pinned kernel in other orders of its threads: none is accused."""
    campaign = soak.campaign("orders", sys.maxsize)
    made, seeds = pinned_subjects(), range(1, 1 + (soak.count or COUNTS["orders"]))
    jobs = [(each.name, each.text, seed) for seed in seeds for each in made]

    def judge(job, answer):
        campaign.count("accused" if answer else "right")
        if answer:
            name, text, seed = job
            what = f"{name} with KILN_EMULATED_SEED={seed}: {answer}"
            campaign.find(what, text, ".mlir", f"{name} {re.sub('[0-9]+', '', answer)[:80]}")

    is_enough = ask_of_subjects(soak, campaign, jobs, judge)
    return campaign, campaign.counts, is_enough


def programs(soak):
    """Random programs over tiles, on the host and what else utils/fuzz takes."""
    most = soak.count or COUNTS["programs"]
    shares = [len(range(n, most, soak.processes)) for n in range(soak.processes)]
    each = [soak.campaign(f"programs-{n}", share, n) for n, share in enumerate(shares)]
    soak.share(lambda number: shares[number] and random_programs.run(each[number]))
    total = soak.campaign("programs", most)
    for campaign in each:
        total.runs += campaign.runs
        total.findings += campaign.findings
        for what, count in campaign.counts.items():
            total.counts[what] = total.counts.get(what, 0) + count
    return total, dict(sorted(total.counts.items())), total.runs >= most


PARTS = {part.__name__: part for part in (schedules, mutants, orders, programs)}
