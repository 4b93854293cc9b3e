"""Mutants of every .mlir test through the whole pipeline, for every target.

A mutant that does not verify deserves an error and gets no further. One that does must compile, or
be refused in our own words; a dead process, a hang, or an upstream message about IR that one of our
passes made is a finding.
"""

import json
import re
import sys

import mutants
from worker import WRONG, Worker

# How our refusals begin; whatever else is said after the source has verified is a finding.
REFUSALS = re.compile(
    r"expected |kernel '|unknown |is not supported on |cannot be compiled for "
    r"|cannot (read|link) library '"
)
PLACE = re.compile(r"^.*?(mutant|fuzzed_\d+\.py):\d+:\d+: (error: )?('[\w.]+' (op )?)?")


KERNEL = re.compile(r'tile\.kernel @([\w$]+)|"tile\.kernel".*?sym_name = "(\w+)"')


def prepare():
    from kiln import _native

    return _native


def compile_text(native, job):
    """The diagnostics' first error, or the empty string."""
    source, target, options = job
    name = KERNEL.search(source)
    request = {"source": source, "target": target, "options": options, "source_name": "mutant"}
    request["max_depth"] = 50
    request["kernel"] = name[1] or name[2] if name else None
    try:
        native.compile(None, None, request)
    except Exception as error:  # the runtime's errors have one base that is not exported here
        if not type(error).__module__.startswith("kiln") and not isinstance(
            error, (ValueError, RuntimeError, MemoryError, TypeError)
        ):
            raise
        return str(error) or repr(error)
    return ""


def targets():
    """The chips of each target that this build has."""
    from kiln import _native

    return [target["spellings"] for target in json.loads(_native.targets())["targets"]]


def kernels(campaign):
    """Those of the tests, and of one for each op and element type up to three times as many."""
    sys.path.insert(0, str(campaign.root / "utils/support"))
    import probes

    sections = mutants.read_corpus([campaign.root / "test"])
    sections = [section for section in sections if KERNEL.search(section)]
    probed = [probe.kernel(element) for probe in probes.PROBES for element in probes.TYPES]
    return sections + campaign.rng.sample(probed, min(3 * len(sections), len(probed)))


def run(campaign):
    chips = targets()
    corpus = mutants.Corpus(kernels(campaign), str(campaign.build / "bin/tile-opt"))
    log = campaign.output / f"{campaign.name}.stderr"
    with Worker(prepare, compile_text, log, seconds=60) as compiler:
        while campaign.goes_on():
            text = mutants.mutant(corpus, campaign.rng)
            campaign.runs += 1
            judge(campaign, compiler, text, [campaign.rng.choice(list) for list in chips])


def judge(campaign, compiler, text, chips):
    answer = compiler.attempt((text, chips[0], "stop-after=tile"))
    if answer.startswith(WRONG):
        report(campaign, compiler, text, chips[0], "stop-after=tile", answer)
        return
    if answer:
        campaign.count("rejected")
        return
    for chip in chips:
        for options in ["stop-after=llvm", "stop-after=binary"]:
            answer = compiler.attempt((text, chip, options))
            if answer.startswith(WRONG) or (answer and not is_refusal(answer)):
                report(campaign, compiler, text, chip, options, answer)
            campaign.count("refused" if answer else "compiled")
            if answer or campaign.rng.random() < 0.7:
                break


def is_refusal(message):
    first = message.splitlines()[0]
    return bool(REFUSALS.match(PLACE.sub("", first)))


def signature(message):
    """Messages that differ in numbers, names and types alone are alike."""
    line = message.strip().splitlines()[0] if message.strip() else ""
    frames = re.findall(r"(?m)^ *#\d+ 0x[0-9a-f]+ ([\w:~<>]+)", message)
    line = PLACE.sub(r"\3", line)
    return re.sub(r"<[^']*>|\d+", "", line) + " " + " ".join(frames[:6])


def report(campaign, compiler, text, chip, options, answer):
    """Shrinks by whole lines as long as the same goes wrong, then writes it down."""
    group = f"{chip.partition(':')[0]} {signature(answer)}"
    if group in campaign.known:
        campaign.count("findings")
        return

    def same(lines):
        now = compiler.attempt(("\n".join(lines), chip, options))
        if now.startswith(WRONG) or answer.startswith(WRONG):
            return now.startswith(WRONG) and answer.startswith(WRONG)
        return signature(now) == signature(answer) and not compiler.attempt(
            ("\n".join(lines), chip, "stop-after=tile")
        )

    lines = text.splitlines()
    if not (answer.startswith(WRONG) and "no answer" in answer):
        lines = mutants.shrink_lines(lines, same)
    head = f"// {chip} {options}\n"
    campaign.find(f"{chip} {options}: {answer}", head + "\n".join(lines) + "\n", ".mlir", group)
