"""What every campaign shares: a seed, a budget, and findings that are written down."""

import hashlib
import random
import resource
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Finding:
    """What went wrong, the input that it went wrong with, and the name its file gets."""

    what: str
    text: bytes
    suffix: str


@dataclass
class Campaign:
    """One run of one fuzzer: `most` runs if that is given, else `seconds`."""

    name: str
    build: Path
    output: Path
    seed: int
    seconds: float
    root: Path
    corpus: list
    devices: list = field(default_factory=list)
    most: int = 0
    runs: int = 0
    counts: dict = field(default_factory=dict)
    findings: list = field(default_factory=list)
    known: set = field(default_factory=set)

    def __post_init__(self):
        self.rng = random.Random(self.seed)
        self.end = None
        self.lock = threading.Lock()  # several threads may share one
        self.output.mkdir(parents=True, exist_ok=True)

    @property
    def memory(self):
        """The bytes of address space that one worker may take; 0, no limit, on a GPU, whose driver
        reserves as much as all of its memory."""
        emulated = all(device.startswith(("cpu", "emu:")) for device in self.devices)
        return 4 << 30 if emulated else 0

    def goes_on(self):
        if self.end is None:  # what is made ready before the first run costs no budget
            self.end = time.monotonic() + self.seconds
        more = self.runs < self.most if self.most else time.monotonic() < self.end
        return more and len(self.findings) < 200

    def count(self, what):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1

    def find(self, what, text, suffix, group=None):
        """Writes a finding down, once for each group of findings that are alike."""
        group = group or what
        self.count("findings")
        with self.lock:
            if group in self.known:
                return
            self.known.add(group)
        text = text.encode() if isinstance(text, str) else text
        self.findings.append(Finding(what, text, suffix))
        name = hashlib.sha256(text).hexdigest()[:12]
        (self.output / f"{self.name}-{name}{suffix}").write_bytes(text)
        (self.output / f"{self.name}-{name}.txt").write_text(what + "\n")
        print(f"{self.name}: finding {name}{suffix}: {what[:400]}", flush=True)


def cpu_seconds():
    """Of this process and of all that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)
