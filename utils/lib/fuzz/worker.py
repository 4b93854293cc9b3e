"""A process that does what may kill it: whatever becomes of it is an answer like any other."""

import multiprocessing
import os
import resource
import signal
import sys

# How the answer about a process that died begins.
WRONG = "WRONG: "


class Died(Exception):
    """The process ended, or was ended, before it answered. The text says how."""


def _serve(connection, log, prepare, work, memory):
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    state = prepare()
    while True:
        try:
            job = connection.recv()
        except EOFError:
            return
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        connection.send(work(state, job))


class Worker:
    """Runs `work(prepare(), job)` elsewhere. It is started again once it died, and after
    `jobs` jobs, so that what leaks does not add up. On a busy machine one that computes little may
    take `rounds` times its seconds."""

    def __init__(self, prepare, work, log, seconds, memory=4 << 30, jobs=2000, rounds=10):
        self.context = multiprocessing.get_context("spawn")
        self.prepare, self.work, self.log = prepare, work, str(log)
        self.seconds, self.memory, self.jobs, self.rounds = seconds, memory, jobs, rounds
        self.process = self.connection = None
        self.done = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        self.connection, theirs = self.context.Pipe()
        self.process = self.context.Process(
            target=_serve, args=(theirs, self.log, self.prepare, self.work, self.memory)
        )
        self.process.start()
        theirs.close()
        self.done = 0

    def stop(self):
        """How the process ended."""
        if self.process is None:
            return None
        self.connection.close()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
        self.process.join()
        status, self.process = self.process.exitcode, None
        return status

    def attempt(self, job):
        """What `work` answers, a text; or how the process died, after `WRONG`."""
        try:
            return self.ask(job)
        except Died as death:
            return f"{WRONG}{death}"

    def ask(self, job):
        if self.process is None:
            self.start()
            self.connection.send(job)
            seconds = self.seconds + 30
        else:
            self.connection.send(job)
            seconds = self.seconds
        spent, rounds = self.spent(), 0
        try:
            while not self.connection.poll(seconds):
                rounds += 1
                if self.spent() - spent < seconds / 2 and rounds < self.rounds:
                    continue  # on a busy machine it is the process's own time that counts
                self.process.kill()
                self.stop()
                raise Died(f"no answer within {self.seconds} seconds")
            answer = self.connection.recv()
        except (EOFError, ConnectionError):
            status = self.stop()
            said = self.said()
            name = signal.Signals(-status).name if status and status < 0 else f"status {status}"
            raise Died(f"ended by {name}: {said}") from None
        self.done += 1
        if self.done == self.jobs:
            self.stop()
        return answer

    def spent(self):
        """The CPU seconds that the process has used."""
        try:
            with open(f"/proc/{self.process.pid}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def said(self):
        """The end of what the process wrote."""
        try:
            with open(self.log, errors="replace") as file:
                return file.read()[-1500:]
        except OSError as error:
            print(error, file=sys.stderr)
            return ""
