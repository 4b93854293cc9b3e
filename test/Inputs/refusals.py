"""Asks a tool to refuse each of many mutants of a text: what the tests share that break something.

A mutant is the text with one edit that breaks it, by the name of the edit. lit's tests find this
module on their PYTHONPATH.
"""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

NOT_DECIDED = 3  # a status of tile-check-isa: it is not proven either
MARKER = "// -----\n"
BATCH = 40  # texts that one process is asked of: it takes longer to start than to refuse one


def run(command, text):
    """What the tool makes of the text, and what it says if it refuses it, else None."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300)
    if done.returncode not in (0, 1, NOT_DECIDED):
        raise SystemExit(f"{command[0]} ended with {done.returncode}: {done.stderr}")
    return done.stdout, done.stderr if done.returncode else None


def refusal(command, text):
    return run(command, text)[1]


def refusals(command, texts):
    """What tile-opt says of each text, all asked of one process; None of one that it takes.

    An error is its text's whose lines it names. A text of which none does is asked of alone, and so
    are all if the process does not end as it should.
    """
    whole = MARKER.join(texts)
    command = [*command, "--split-input-file"]
    done = subprocess.run(command, input=whole, capture_output=True, text=True, timeout=300)
    if done.returncode not in (0, 1):
        return [None] * len(texts)
    said = {}
    for found in re.finditer(r"^<stdin>:(\d+):\d+: error: .*$", done.stderr, re.MULTILINE):
        said.setdefault(int(found[1]), []).append(found[0])
    answers, first = [], 1
    for text in texts:
        behind = first + text.count("\n")
        own = [error for line, errors in said.items() if first <= line < behind for error in errors]
        answers.append("\n".join(own) or None)
        first = behind + 1
    return answers


def end_of(lines, start):
    """Behind the op that starts here, its region included."""
    depth = lines[start].count("{") - lines[start].count("}")
    end = start
    while depth > 0:
        end += 1
        depth += lines[end].count("{") - lines[end].count("}")
    return end + 1


def expect_refused(command, source, mutants, least, proves_nothing=(), splits=False):
    """Prints `N mutants refused`, or each one that passed, and then fails.

    command         the tool that checks its standard input; it must accept the source
    mutants         pairs of an edit's name and the lines that it makes of the source
    least           how many there must be
    proves_nothing  a refusal in one of these words does not count: another check's, of the syntax
    splits          the tool is tile-opt, which takes several texts at once
    """
    error = refusal(command, source)
    if error is not None:
        raise SystemExit(f"the source itself is refused:\n{error}")
    edits = {}
    for what, lines in mutants:
        edits.setdefault("\n".join(lines) + "\n", what)
    with ThreadPoolExecutor(2) as pool:
        texts = list(edits)
        errors = [None] * len(texts)
        if splits:
            batches = [texts[at : at + BATCH] for at in range(0, len(texts), BATCH)]
            answers = pool.map(lambda batch: refusals(command, batch), batches)
            errors = [error for answer in answers for error in answer]
        alone = [at for at, error in enumerate(errors) if error is None]
        for at, error in zip(alone, pool.map(lambda at: refusal(command, texts[at]), alone)):
            errors[at] = error
    passed = [what for what, e in zip(edits.values(), errors, strict=True) if e is None]
    for what in passed:
        print(f"passed: {what}")
    if passed:
        raise SystemExit(f"{len(passed)} of {len(edits)} mutants passed")
    count = sum(not any(words in e for words in proves_nothing) for e in errors)
    if count < int(least):
        raise SystemExit(f"expected at least {least} mutants, got {count}")
    print(f"{count} mutants refused")
