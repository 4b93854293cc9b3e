"""What `utils/soak` runs: each part shares its jobs among processes, and counts their ends.

A part is a function of a Soak. What hangs or dies does so in a process of its own, whose watchdog
ends it: it is a finding, by its seed, and the next job runs in a new one.
"""

import itertools
import re
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import programs as random_programs
import schedules as random_schedules
import subjects
from campaign import Campaign
from schedules_table import Table
from worker import WRONG, Worker

# What each part runs, unless it is told otherwise; on a GPU schedules count by their launches.
COUNTS = {"schedules": 2000, "orders": 50, "programs": 20000, "mutated schedules": 24,
          "ordered schedules": 12}  # fmt: skip
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


def subjects_of(campaign, drawn):
    """Kernels that are pinned, and so many random schedules, by the compiler of this process."""
    random_schedules.prepare()
    import mutation_subjects
    import pinned_subjects
    import schedule_chips

    for name in pinned_subjects.PINNED:
        yield mutation_subjects.pinned(name)
    while drawn:
        chip = campaign.rng.choice(list(schedule_chips.CHIPS))
        subject = mutation_subjects.drawn(campaign.rng.randrange(1 << 32), chip)
        if subject and not subject.find():
            drawn -= 1
            yield subject


def ask_of_subjects(soak, campaign, jobs, judge):
    """`judge(worker, job, answer)` of each job, until the time is over; whether all were done."""
    left, lock, done = iter(jobs), threading.Lock(), []

    def work(number):
        log = soak.log(campaign.name, number)
        with Worker(random_schedules.prepare, subjects.perform, log, seconds=240) as worker:
            while campaign.goes_on():
                with lock:
                    job = next(left, None)
                if job is None:
                    done.append(number)
                    return
                judge(worker, job, worker.attempt(job))
                with lock:
                    campaign.runs += 1

    soak.share(work)
    return len(done) == soak.processes


def mutants(soak):
    """Every mutant of every pinned kernel and of random schedules: an emulated chip finds each,
    unless the order that it breaks shows why not: another one stands in, or it orders nothing."""
    campaign = soak.campaign("mutants", sys.maxsize)
    most = soak.count or sys.maxsize

    def made():
        for subject in subjects_of(campaign, COUNTS["mutated schedules"]):
            wrong = [*subject.wrong, *subject.wrong_in_code]
            yield from (("mutant", subject, mutant, 0) for mutant in wrong)

    def judge(worker, job, answer):
        _, subject, mutant, _ = job
        is_explained = answer.startswith(subjects.EXPLAINED)
        campaign.count("explained" if is_explained else "found" if answer else "not found")
        # Dropping one order may leave a wait without end, which the emulated chip itself tells of.
        if not answer or answer.startswith(WRONG):
            what = f"{subject.name} on {subject.chip} {mutant.what}: {answer or 'not found'}"
            campaign.find(what, *subjects.shrunk_mutant(worker, subject, mutant))

    is_enough = ask_of_subjects(soak, campaign, itertools.islice(made(), most), judge)
    return campaign, campaign.counts, is_enough


def orders(soak):
    """Every pinned kernel, random schedules, examples and kernels of benchmarks in other orders of
    their threads: none is accused."""
    campaign = soak.campaign("orders", sys.maxsize)
    seeds = range(1, 1 + (soak.count or COUNTS["orders"]))
    kernels = [*subjects_of(campaign, COUNTS["ordered schedules"])]
    import schedule_chips
    import whole_programs

    kernels += whole_programs.programs(tuple(schedule_chips.CHIPS))
    jobs = (("order", kernel, seed) for seed in seeds for kernel in kernels)

    def judge(worker, job, answer):
        campaign.count("accused" if answer else "right")
        if answer:
            _, kernel, seed = job
            what = f"{kernel.name} on {kernel.chip} with KILN_EMULATED_SEED={seed}: {answer}"
            group = f"{kernel.name} {re.sub('[0-9]+', '', answer)[:80]}"
            is_known = group in campaign.known
            text, suffix = (
                (kernel.text, ".mlir") if is_known else subjects.shrunk_order(worker, kernel, seed)
            )
            campaign.find(what, text, suffix, group)

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
