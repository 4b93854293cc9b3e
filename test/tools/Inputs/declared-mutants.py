"""Changes each member of what a kernel declares of its protocol, one at a time, and asks
tile-check-isa to find that the code does not keep it.

    declared-mutants.py CHECKER ASSEMBLY LEAST

A number is one more or less, or as much as slots of rings are aligned to; a truth is the other one; a
name is another one; a member, or one of a list, is gone. LEAST is how many mutants there must be.
Prints `N mutants refused`, or each that is kept.
"""

import copy
import json
import re
import subprocess
import sys
import tempfile

ALIGNMENT = 1024


def find_protocol(text):
    """What stands beside the only kernel of a text, PTX or AMD's."""
    if found := re.search(r"^// kiln\.protocol (.*)$", text, re.MULTILINE):
        return json.loads(found[1])
    found = re.search(r"\.kiln\.protocol.*\n\s*\.asciz\s+(\".*\")", text)
    return json.loads(json.loads(found[1]))


def edits(value):
    """What may stand in place of a value, by what it is called."""
    if isinstance(value, bool):
        yield "the other one", not value
    elif isinstance(value, int):
        for more in (1, -1, ALIGNMENT, -ALIGNMENT):
            yield f"{more:+}", value + more
    elif isinstance(value, str):
        yield "renamed", value + "_"
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield f"[{at}] gone", value[:at] + value[at + 1 :]
            for what, other in edits(each):
                yield f"[{at}]{what}", [*value[:at], other, *value[at + 1 :]]
    elif isinstance(value, dict):
        for name, each in value.items():
            yield f".{name} gone", {key: other for key, other in value.items() if key != name}
            for what, other in edits(each):
                yield f".{name} {what}", copy.copy(value) | {name: other}


def main(checker, path, least):
    with open(path) as file:
        protocol = find_protocol(file.read())
    mutants = list(edits(protocol))
    with tempfile.NamedTemporaryFile("w") as file:
        file.writelines(json.dumps(each) + "\n" for each in (protocol, *(m for _, m in mutants)))
        file.flush()
        command = [checker, f"--against={file.name}", path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    answers = done.stdout.splitlines()
    if len(answers) != len(mutants) + 1:
        raise SystemExit(f"{len(answers)} answers to {len(mutants)} mutants: {done.stderr}")
    if answers[0] != "kept":
        raise SystemExit(f"what is declared is not kept: {answers[0]}")
    kept = [
        what for (what, _), answer in zip(mutants, answers[1:], strict=True) if answer == "kept"
    ]
    for what in kept:
        print(f"kept: {what}")
    if kept:
        raise SystemExit(f"{len(kept)} of {len(mutants)} mutants are kept")
    if len(mutants) < int(least):
        raise SystemExit(f"expected at least {least} mutants, got {len(mutants)}")
    print(f"{len(mutants)} mutants refused")


if __name__ == "__main__":
    main(*sys.argv[1:])
