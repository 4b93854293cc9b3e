"""The compile worker and the process that asks it, each faced with what the other would not say.

A worker that gets malformed frames must end by itself. Whatever a worker answers, and whatever
bytecode it is given, the process that asked gets an artifact or an error, and lives.
"""

import json
import os
import socket
import stat
import subprocess

import mutants
import parsers
import pipelines
from worker import Worker

KERNEL = b"""tile.kernel @k(%x: !tile.view<?xf32>) {
  %i = tile.program_id x
  %t = tile.load %x[%i] : !tile.view<?xf32> -> tensor<4xf32>
  tile.store %t, %x[%i] : tensor<4xf32>, !tile.view<?xf32>
  tile.return
}
"""
REQUEST = {"source_name": "a", "kernel": "k", "target": "cpu", "keep_stages": ["tile"],
           "opt_level": 0, "fast_math": False, "options": "stop-after=layout",
           "memory_bytes": 1 << 32, "seconds": 5}  # fmt: skip
SECONDS = 20


def ask(native, job):
    """The outcome of a compile in a worker: "compiled" or the error's text."""
    source, worker = job
    os.environ["KILN_WORKER"] = worker
    request = {"source": source, "target": "cpu", "isolation": 1, "worker_seconds": 5}
    request.update({"kernel": "k", "options": "stop-after=layout", "worker_memory_bytes": 1 << 32})
    try:
        native.compile(None, None, request)
    except Exception as error:  # any error will do; it is the process that must live
        return str(error) or "WRONG: an error without a text"
    return "compiled"


def damaged(data, rng):
    """Bytes changed, dropped, repeated."""
    data = bytearray(data)
    for _ in range(rng.choice([0, 1, 1, 2, 4, 8])):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            del data[at : at + rng.choice([1, 1, 4, 64])]
        elif kind == 1:
            data[at:at] = data[at // 2 : at // 2 + rng.choice([1, 8, 64])]
        elif at < len(data):
            data[at] = rng.choice([0, 255, 127, data[at] ^ (1 << rng.randrange(8))])
    return bytes(data)


def request(rng):
    """A request's frames, its fields of by turns wrong types and values."""
    fields = dict(REQUEST)
    for name in rng.sample(sorted(fields), rng.choice([0, 0, 1, 2])):
        if name != "memory_bytes":  # too little of it is no defect
            fields[name] = rng.choice([None, -1, 1 << 70, "", "cpu", [[]], {}, 3.5, True, ["x", 1]])
    header = json.dumps(fields).encode()
    if rng.random() < 0.05:
        header = b"[" * 100000
    return parsers.frame(b"q", header) + parsers.frame(b"s", KERNEL)


def feed_worker(campaign, program, data):
    """Gives a worker these bytes; it must end, by no signal."""
    ours, theirs = socket.socketpair()
    child = subprocess.Popen([program], stdin=theirs, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)  # fmt: skip
    theirs.close()
    try:
        ours.settimeout(SECONDS)
        ours.sendall(data)
        ours.shutdown(socket.SHUT_WR)
        while ours.recv(65536):
            pass
    except (BrokenPipeError, ConnectionResetError, TimeoutError):
        pass
    ours.close()
    try:
        status = child.wait(SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        status = child.wait()
        campaign.find(f"the worker did not end within {SECONDS} seconds", data, ".frames")
        return
    campaign.count("ended")
    if status < 0:
        campaign.find(f"the worker was ended by signal {-status}", data, ".frames", "signal")


def answers(rng):
    """Frames as a worker may send them, and others."""
    said = {"severity": rng.choice([0, 9, -1]), "file": "a", "line": rng.choice([1, -1, 1 << 40]),
            "column": 2, "text": rng.choice(["t", None, 1])}  # fmt: skip
    error = {"code": rng.choice([0, 2, 99, -5, "x"]), "message": rng.choice(["wrong", "", None, 3])}
    choices = [parsers.frame(b"d", json.dumps(said).encode()),
               parsers.frame(b"e", json.dumps(error).encode()),
               parsers.frame(b"a", parsers.artifact([(b"binary", b"x")])),
               parsers.frame(b"d", b"[" * 100000), parsers.frame(b"?", b"")]  # fmt: skip
    return damaged(b"".join(rng.sample(choices, rng.randrange(1, 4))), rng)


def bytecode(campaign):
    """That of the tests' kernels."""
    tool = str(campaign.build / "bin/tile-opt")
    sections = [s for s in mutants.read_corpus([campaign.root / "test"]) if "tile.kernel @" in s]
    found = []
    for section in campaign.rng.sample(sections, 20):
        done = subprocess.run([tool, "--emit-bytecode"], input=section.encode(), check=False,
                              capture_output=True)  # fmt: skip
        if done.returncode == 0:
            found.append(done.stdout)
    return found


def run(campaign):
    rng = campaign.rng
    program = str(campaign.build / "bin/kiln-worker")
    reply = campaign.output / "answer"
    impostor = campaign.output / "impostor"
    impostor.write_text(f'#!/bin/sh\ncat "{reply.resolve()}" >&0\n')
    impostor.chmod(impostor.stat().st_mode | stat.S_IXUSR)
    modules = bytecode(campaign)
    log = campaign.output / f"{campaign.name}.stderr"
    with Worker(pipelines.prepare, ask, log, seconds=60) as asker:
        while campaign.goes_on():
            campaign.runs += 1
            kind = rng.randrange(3)
            if kind == 0:
                feed_worker(campaign, program, damaged(request(rng), rng))
                continue
            source, worker = damaged(rng.choice(modules), rng), program
            if kind == 1:
                data = answers(rng)
                reply.write_bytes(data)
                source, worker = KERNEL, str(impostor.resolve())
            answer = asker.attempt((source, worker))
            campaign.count("compiled" if answer == "compiled" else "refused")
            if answer.startswith("WRONG"):
                campaign.find(answer, source if kind == 2 else data, ".bytes")
