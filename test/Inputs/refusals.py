"""Asks a tool to refuse each of many mutants of a text: what the tests share that break something.

A mutant is the text with one edit that breaks it, by the name of the edit. lit's tests find this
module on their PYTHONPATH.
"""

import subprocess
from concurrent.futures import ThreadPoolExecutor


def run(command, text):
    """What the tool makes of the text, and what it says if it refuses it, else None."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command[0]} ended with {done.returncode}: {done.stderr}")
    return done.stdout, done.stderr if done.returncode else None


def refusal(command, text):
    return run(command, text)[1]


def end_of(lines, start):
    """Behind the op that starts here, its region included."""
    depth = lines[start].count("{") - lines[start].count("}")
    end = start
    while depth > 0:
        end += 1
        depth += lines[end].count("{") - lines[end].count("}")
    return end + 1


def expect_refused(command, source, mutants, least, proves_nothing=()):
    """Prints `N mutants refused`, or each one that passed, and then fails.

    command         the tool that checks its standard input; it must accept the source
    mutants         pairs of an edit's name and the lines that it makes of the source
    least           how many there must be
    proves_nothing  a refusal in one of these words does not count: another check's, of the syntax
    """
    error = refusal(command, source)
    if error is not None:
        raise SystemExit(f"the source itself is refused:\n{error}")
    edits = {}
    for what, lines in mutants:
        edits.setdefault("\n".join(lines) + "\n", what)
    with ThreadPoolExecutor(2) as pool:
        errors = list(pool.map(lambda text: refusal(command, text), edits))
    passed = [what for what, e in zip(edits.values(), errors, strict=True) if e is None]
    for what in passed:
        print(f"passed: {what}")
    if passed:
        raise SystemExit(f"{len(passed)} of {len(edits)} mutants passed")
    count = sum(not any(words in e for words in proves_nothing) for e in errors)
    if count < int(least):
        raise SystemExit(f"expected at least {least} mutants, got {count}")
    print(f"{count} mutants refused")
