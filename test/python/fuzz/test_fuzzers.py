"""A short slice of each fuzzer finds nothing, and the fuzzers can tell when there is something."""

import itertools
import os
import random
import re
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("KILN_BUILD", ROOT / "build")).resolve()
sys.path.insert(0, str(ROOT / "utils/lib/fuzz"))
import frontend  # noqa: E402
import generator  # noqa: E402
import mutants  # noqa: E402
import parsers  # noqa: E402
import pipelines  # noqa: E402
import programs  # noqa: E402
import protocol  # noqa: E402
import schedules  # noqa: E402
import subjects  # noqa: E402
from campaign import Campaign  # noqa: E402
from worker import Worker  # noqa: E402

# Runs of each from each seed, of which a commit draws one; they take half a minute. Seeds and counts
# are fixed, so that a commit passes everywhere or nowhere: what is new is looked for in campaigns, and
# what they find becomes a test.
SEED = 7
SEEDS = (SEED, 8, 9)
BUDGET = {"ir-text": 100, "pipelines": 100, "programs": 8, "parsers": 4500, "frontend": 180,
          "protocol": 50}  # fmt: skip


def fuzz(*arguments, build=BUILD):
    command = [sys.executable, ROOT / "utils/fuzz", *arguments, "--build", build]
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=600, check=False
    )


@pytest.mark.crossed(1)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", BUDGET)
def test_a_slice_of_the_fuzzer_finds_nothing(name, seed, tmp_path):
    done = fuzz(name, "--count", BUDGET[name], "--seed", seed, "--output", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split(" runs")[0].split()[-1]) > 0, done.stdout


def test_programs_on_emulated_chips_find_nothing(tmp_path):
    chips = [f"--device=emu:{chip}" for chip in ("sm_90a", "gfx942", "gfx1201")]
    done = fuzz("programs", *chips, "--count", 16, "--seed", SEED, "--output", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) right", done.stdout)[1]) > 0, done.stdout


def test_what_there_is_to_run_is_listed():
    done = fuzz()
    assert done.returncode == 0 and set(BUDGET) <= {line.split()[0] for line in
                                                    done.stdout.splitlines()}  # fmt: skip


def test_a_dying_tool_is_found_and_its_input_shrunk(tmp_path):
    tool = tmp_path / "bin/tile-opt"
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\ntext=$(cat)\ncase "$text" in *tile.grid*) kill -SEGV $$ ;; esac\n')
    tool.chmod(0o755)
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "a.mlir").write_text("// a comment\nfirst line\n  tile.grid %n\nlast line\n")
    done = fuzz("ir-text", corpus, "--seconds", 1, "--output", tmp_path / "out", build=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    crashes = list((tmp_path / "out").glob("*.mlir"))
    assert crashes and all("tile.grid" in path.read_text() for path in crashes)
    assert all(len(path.read_text().splitlines()) == 1 for path in crashes)


def test_a_refusal_is_told_from_an_upstream_message():
    assert pipelines.is_refusal("mutant:2:3: error: 'tile.kernel' op expected a name, got ''")
    assert pipelines.is_refusal("mutant:7:10: error: 'tile.print' is not supported on a chip yet")
    assert pipelines.is_refusal("mutant:2:3: error: 'tile.get' op cannot be compiled for the host")
    assert not pipelines.is_refusal("mutant:2:3: error: failed to legalize operation 'func.func'")
    assert not pipelines.is_refusal("mutant:2:3: error: 'llvm.load' op result #0 must be sized")
    assert not pipelines.is_refusal("'arith.constant' is not supported on a chip yet: expected …")


def some_program(seed):
    return next(p for p in (generator.generate(seed + n, 12) for n in range(100)) if p)


def test_a_wrong_number_is_told_from_a_right_one():
    whole = ("i32", "i64", "i8")  # where every other bit is another number
    made = (some_program(random.randrange(1 << 32)) for _ in itertools.count())
    program = next(p for p in made if any(a.element in whole for a in p.arguments))
    arrays = [programs.host_array(argument) for argument in program.arguments]
    for argument, (array, packed) in zip(program.arguments, arrays, strict=True):
        want = program.memory[argument.name]
        array[...] = generator.memory.store_form(want, argument.element)
        if packed is not None:
            packed.data[...] = type(packed).from_numpy(np.ascontiguousarray(array)).data
    assert programs.compare(program, arrays) == ""
    spoilt = next(i for i, a in enumerate(program.arguments) if a.element in whole)
    array, packed = arrays[spoilt]
    array.flat[0] ^= 1
    assert "wrong numbers" in programs.compare(program, arrays)


def test_a_program_is_the_same_each_time():
    seed = random.randrange(1 << 32)
    assert some_program(seed).text() == some_program(seed).text()


def test_mutants_differ_from_what_they_were_made_of():
    sections = mutants.read_corpus([ROOT / "test/Dialect"])
    corpus = mutants.Corpus(sections, str(BUILD / "bin/tile-opt"))
    rng = random.Random(1)
    made = [mutants.mutant(corpus, rng) for _ in range(50)]
    assert len(set(made)) > 25 and sum(text not in sections for text in made) > 25


def test_mutants_nest_beyond_any_stack_and_hold_endless_numbers():
    """Both are drawn, and every tool says where such a text is wrong."""
    rng = random.Random(1)
    text = "tile.kernel @k(%x: !tile.view<?x8xf32>) {\n  tile.return\n}\n"
    deep = next(t for t in iter(lambda: mutants.nest(text, None, rng), "") if "tuple<" * 9999 in t)
    long = next(t for t in iter(lambda: mutants.lengthen(text, None, rng), "") if len(t) > 90_000)
    for made, says in ((deep, "to nest at most 200 deep"), (long, "at most 1000 digits")):
        for tool, options in (("tile-opt", []), ("tile-compile", ["--emit", "tile"])):
            done = subprocess.run([BUILD / "bin" / tool, *options], input=made.encode(),
                                  capture_output=True, timeout=60, check=False)  # fmt: skip
            assert done.returncode == 1 and says in done.stderr.decode(), done.stderr[:500]
    corpus = mutants.Corpus([text], str(BUILD / "bin/tile-opt"))
    assert any(len(mutants.mutant(corpus, rng)) > 90_000 for _ in range(2000))


def test_arithmetic_holds_endless_numbers():
    rng = random.Random(1)
    drawn = [frontend.arithmetic(rng)[0] for _ in range(2000)]
    assert any("BIG" in text for text in drawn) and any(len(text) > 90_000 for text in drawn)


def test_a_worker_refuses_a_request_that_nests_too_deeply():
    data = parsers.frame(b"q", b"[" * 100000) + parsers.frame(b"s", protocol.KERNEL)
    ours, theirs = socket.socketpair()
    with ours, subprocess.Popen([BUILD / "bin/kiln-worker"], stdin=theirs) as worker:
        theirs.close()
        ours.sendall(data)
        ours.shutdown(socket.SHUT_WR)
        assert worker.wait(60) == 2


@pytest.mark.parametrize("source, says", [(b"!t = " + b"tuple<" * 100_000, b"to nest at most 200"),
                                          (b"1" * 100_000, b"at most 1000 digits")])  # fmt: skip
def test_a_worker_refuses_a_source_that_its_parser_would_die_of(source, says):
    request = b'{"source_name": "deep.mlir", "target": "cpu", "opt_level": 3}'
    data = parsers.frame(b"q", request) + parsers.frame(b"s", source)
    ours, theirs = socket.socketpair()
    with ours, subprocess.Popen([BUILD / "bin/kiln-worker"], stdin=theirs) as worker:
        theirs.close()
        ours.sendall(data)
        answer = b"".join(iter(lambda: ours.recv(1 << 16), b""))
        assert worker.wait(60) == 0
    assert b"deep.mlir:1:" in answer and says in answer


def test_a_refusal_without_a_caret_is_told_from_one_with_it():
    view = {"v": ("view", "f32", (None,))}
    ir, said = frontend.lower("def kernel(v):\n    v[0] = nothing\n", "kernel", view, {})
    assert ir is None and "^" in said and not said.startswith("WRONG")
    ir, said = frontend.lower("def kernel(v, w):\n    v[0] = 1.0\n", "kernel", view, {})
    assert ir is None and said


@pytest.mark.parametrize("harness", parsers.NAMES)
def test_every_parser_has_seeds_that_it_survives(harness, tmp_path):
    for number, seed in enumerate(parsers.seeds(harness, ROOT)[:60]):
        (tmp_path / str(number)).write_bytes(seed)
    command = [str(BUILD / "bin/kiln-fuzz"), f"--harness={harness}", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and int(done.stdout.split()[0]) > 0, done.stdout + done.stderr


def test_the_reference_of_an_f64_fma_is_rounded_once():
    """As x * y + z, rounded twice, 38 right numbers looked wrong."""
    small = 2.0**-52
    assert generator.elementwise.fused(1 + small, 1 + small, -1.0) == 2 * small + small**2
    assert (1 + small) * (1 + small) - 1.0 == 2 * small


def soak(folder, *arguments):
    command = [sys.executable, ROOT / "utils/soak", *arguments, "--seed", SEED, "--build", BUILD]
    return subprocess.run(
        [*map(str, command), "--output", str(folder)], capture_output=True, text=True, timeout=600,
        check=False,
    )  # fmt: skip


def test_a_soak_that_ran_less_than_asked_for_fails(tmp_path):
    done = soak(tmp_path, "schedules", "--minutes", 1e-6)
    assert done.returncode == 1 and "LESS THAN ASKED FOR" in done.stdout, done.stdout + done.stderr


def test_a_soak_asks_for_a_chip_that_schedules_are_drawn_for(tmp_path):
    done = soak(tmp_path, "--device", "cuda:77")
    assert done.returncode == 1 and "expected a device whose chip is one of" in done.stderr


class Judge:
    """Stands for processes that check cases: of those that `fails` one thing is said, of others nothing."""

    def __init__(self, fails, said):
        self.fails, self.said, self.worker = fails, said, SimpleNamespace(seconds=60)

    impatient = schedules.Checker.impatient

    def check(self, case, device):
        return case, self.said if self.fails(case) else ""


def test_a_hang_is_ended_and_named(tmp_path):
    """By the seed, and by a smaller case that hangs as well; and the next job runs."""
    with Worker(str, stall, tmp_path / "log", seconds=1, rounds=1) as worker:
        assert worker.attempt(0) == "0"
        said = worker.attempt(60)
        assert said == "WRONG: no answer within 1 seconds" and worker.attempt(0) == "0"
    sys.path[:0] = [str(schedules.TESTS)]
    import schedule_writer

    campaign = Campaign("soak", BUILD, tmp_path, SEED, 0, ROOT, [])
    case = schedule_writer.write(77, "sm_90a", "product")
    case.pins["x"] = {"atom": "tma", "depth": 3}
    judge = Judge(lambda case: case.pins.get("x", {}).get("depth", 0) > 1, said)
    schedules.report(campaign, judge, case, "cuda:0", said)
    assert [each.what for each in campaign.findings] == [f"seed 77, cuda:0, {case.kernel}: {said}"]
    text = campaign.findings[0].text
    assert b"check(CASE, 'cuda:0')" in text and b"\n    {'x': {'depth': 2}},\n" in text
    assert judge.worker.seconds == 60


def test_what_a_campaign_finds_is_shrunk_by_itself(tmp_path):
    """To the decision without which it does not fail, on one set of extents."""
    sys.path[:0] = [str(schedules.TESTS)]
    import schedule_writer

    def is_copied(case):
        return case.pins.get("x", {}).get("atom") == "cp_async"

    judge = Judge(is_copied, "wrong numbers: expected 1")
    drawn = (schedule_writer.write(seed, "sm_80", "product") for seed in itertools.count())
    case = next(c for c in drawn if is_copied(c) and len(c.pins) > 3 and len(c.sizes) == 2)
    campaign = Campaign("soak", BUILD, tmp_path, SEED, 0, ROOT, [])
    schedules.report(campaign, judge, case, None, judge.said)
    (found,) = tmp_path.glob("*.py")
    text = found.read_text()
    assert "\n    {'x': {'atom': 'cp_async'}},\n" in text and text.count("'rounds': ") == 1


@pytest.mark.parametrize("question", ["mutants like", "order of case"])
def test_what_a_soak_finds_of_a_random_schedule_is_shrunk(question):
    """A mutant that is not found, and an order that is accused; a process that ends counts as one."""
    sys.path[:0] = [str(schedules.TESTS)]
    import schedule_writer

    case = schedule_writer.write(77, "sm_90a", "product")
    case.pins["x"] = {"atom": "tma", "depth": 3}
    asked = []

    def attempt(job):
        asked.append(job[0])
        is_deep = job[1].pins.get("x", {}).get("depth", 0) > 1
        return f"without 'order' of line {len(asked)}" if is_deep else ""

    subject, worker = SimpleNamespace(case=case), SimpleNamespace(attempt=attempt)
    if question == "mutants like":
        mutant = SimpleNamespace(what="without 'order' of line 12")
        text, suffix = subjects.shrunk_mutant(worker, subject, mutant)
    else:
        text, suffix = subjects.shrunk_order(worker, subject, 7)
        assert "KILN_EMULATED_SEED=7" in text
    assert set(asked) == {question} and suffix == ".py"
    assert (
        "\n    {'x': {'depth': 2}},\n" in text and "here: without" in text or "7: without" in text
    )


def test_of_a_pinned_kernel_that_is_accused_the_launch_is_named():
    """The others are left out."""

    @dataclass
    class Pinned:
        text: str
        runs: list
        case: object = None

    worker = SimpleNamespace(attempt=lambda job: "a race" if 2 in job[1].runs else "")
    text, suffix = subjects.shrunk_order(worker, Pinned("module {}", [1, 2, 3]), 5)
    assert (text, suffix) == ("// KILN_EMULATED_SEED=5, by each of [2]\nmodule {}", ".mlir")


def stall(_, seconds):
    time.sleep(seconds)
    return str(seconds)
