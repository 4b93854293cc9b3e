#!/usr/bin/env python3
"""Mutates the .mlir tests and asserts that tile-opt survives whatever comes out.

An error is what malformed IR deserves; a signal or a hang is a bug. Many mutants go through one
process (`-split-input-file`); a batch that dies is halved until one mutant is left, which is
shrunk line by line and written to the output folder.

    utils/fuzz/mutate_ir.py --tool build/bin/tile-opt --seconds 30
Exit status: 0 no crash, 1 crashes (their files are named), 2 wrong usage.
"""

import argparse
import random
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SEPARATOR = "\n// -----\n"
TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|![a-z_.]+|#[a-z_.]+|[%^@][\w$.-]*(?:#\d+)?|->|[A-Za-z_][\w.$]*|-?\d+(?:\.\d+)?'
    r"|\s+|."
)
NUMBERS = ["0", "1", "-1", "2", "3", "7", "8", "9", "64", "4294967296", "9223372036854775807",
           "-9223372036854775808", "16777217", "?"]  # fmt: skip
WORDS = ["f32", "f64", "tf32", "bf16", "f8E8M0FNU", "f4E2M1FN", "i1", "i4", "i64", "index", "none",
         "tensor<8xf32>", "tensor<f32>", "tensor<?xf32>", "tensor<*xf32>", "tensor<0xf32>",
         "tensor<4x8xi4>", "vector<4xf32>", "!tile.view<?xf32>", "!tile.view<f32>",
         "!tile.buffer<8x8xf32>", "!tile.pointer<f32>", "()", "{}", "({})", "[]", "unit",
         "dense<0>", "memref<8xf32>", "complex<f32>", "tuple<>"]  # fmt: skip
PASSES = "-canonicalize -cse -tile-inline-functions -tile-verify-kernels -canonicalize"

# Text on which LLVM 22's own parser is known to die, before any code of ours runs. The compile
# worker turns that into an error; here it would hide what else there is to find.
UPSTREAM = [
    re.compile(r"array<\s*index"),  # asks for the width of index
]


def read_corpus(folders):
    """Every section of every .mlir file, without its comments."""
    sections = []
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.mlir")):
            for section in re.split(r"(?m)^// -----.*$", path.read_text()):
                text = re.sub(r"(?m)^\s*//.*\n", "", section).strip()
                if text:
                    sections.append(text)
    return sections


def run(tool, arguments, text, timeout):
    """The exit status; None if it hung."""
    try:
        return subprocess.run(
            [tool, *arguments],
            input=text.encode(),
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None


def add_generic_forms(tool, sections):
    """The same sections in generic form, where nothing but the verifiers stands in the way."""
    forms = []
    for section in sections:
        done = run(tool, ["-mlir-print-op-generic", "-allow-unregistered-dialect"], section, 20)
        if done and done.returncode == 0:
            forms.append(done.stdout.decode())
    return sections + forms


def mutate(tokens, others, rng):
    """One small damage to a list of tokens, in place."""
    at = rng.randrange(len(tokens))
    for _ in range(8):  # white space seldom matters
        if not tokens[at].isspace():
            break
        at = rng.randrange(len(tokens))
    kind = rng.randrange(8)
    if kind == 0:
        del tokens[at : at + rng.choice([1, 1, 1, 2, 5])]
    elif kind == 1:
        tokens.insert(at, tokens[at])
    elif kind == 2:
        tokens[at] = rng.choice(others)
    elif kind == 3:
        other = rng.randrange(len(tokens))
        tokens[at], tokens[other] = tokens[other], tokens[at]
    elif kind == 4:
        tokens[at] = rng.choice(WORDS)
    else:  # replace by a token of the same sort, which gets further than any other damage
        same = [t for t in tokens if sort_of(t) == sort_of(tokens[at])]
        if sort_of(tokens[at]) == "number":
            same = NUMBERS
        tokens[at] = rng.choice(same)
    if not tokens:
        tokens.append(" ")


def sort_of(token):
    if re.fullmatch(r"-?\d+(\.\d+)?|\?", token):
        return "number"
    return token[0] if token[0] in '%^@!#"' else ("word" if token[0].isalpha() else token)


TYPE = re.compile(
    r"tensor<[^<>]*>|!tile\.view<[^<>]*>|!tile\.buffer<[^<>]*>|\b(?:[su]?i\d+|f\d+\w*|bf16|tf32|index)\b"
)


def retype(text, corpus, rng):
    """One type becomes another wherever it stands, so that uses still agree with definitions."""
    types = TYPE.findall(text)
    if not types:
        return text
    old = rng.choice(types)
    pool = TYPE.findall(rng.choice(corpus)) if rng.random() < 0.6 else WORDS
    return text.replace(old, rng.choice(pool or WORDS))


def reshape(text, corpus, rng):
    """One extent becomes another wherever it stands in a shape."""
    extents = re.findall(r"\d+(?=x)", text)
    if not extents:
        return text
    return re.sub(rf"\b{rng.choice(extents)}x", f"{rng.choice(NUMBERS)}x", text)


def renumber(text, corpus, rng):
    """One number in an attribute, an axis or an offset becomes an awkward one."""
    places = list(re.finditer(r"(?<=[=\[:, ])-?\d+(?=[ ,\]>:])", text))
    if not places:
        return text
    place = rng.choice(places)
    return text[: place.start()] + rng.choice(NUMBERS[:-1]) + text[place.end() :]


def empty_region(text, corpus, rng):
    """A region loses its ops, its blocks or only its terminator."""
    places = list(re.finditer(r"\{\n(?:[^{}]*\n)?\s*\}", text))
    if not places:
        return text
    place = rng.choice(places)
    lines = place.group().splitlines()
    body = rng.choice(
        [["{}"], ["{", "^bb0:", "}"], lines[:2] + lines[-1:], lines[:-2] + lines[-1:]]
    )
    return text[: place.start()] + "\n".join(body) + text[place.end() :]


def rename_op(text, corpus, rng):
    """An op in generic form becomes another op, with the same operands and attributes."""
    names = re.findall(r'"[a-z]+\.[a-z_]+"(?=\()', text)
    others = re.findall(r'"[a-z]+\.[a-z_]+"(?=\()', rng.choice(corpus))
    if not names or not others:
        return text
    return text.replace(rng.choice(names), rng.choice(others), rng.choice([1, -1]))


def rewire(text, corpus, rng):
    """A use of a value becomes a use of another one."""
    values = list(re.finditer(r"%[\w#]+(?!.* = )", text))
    if not values:
        return text
    place = rng.choice(values)
    return text[: place.start()] + rng.choice(values).group() + text[place.end() :]


def drop_line(text, corpus, rng):
    lines = text.splitlines()
    at = rng.randrange(len(lines))
    lines[at : at + 1] = rng.choice([[], lines[at : at + 1] * 2])
    return "\n".join(lines)


def drop_attribute(text, corpus, rng):
    places = list(re.finditer(r"[a-z_]+ = [^,<>{}\[\]]+(?:, )?", text))
    if not places:
        return text
    place = rng.choice(places)
    return text[: place.start()] + text[place.end() :]


def garble(text, corpus, rng):
    """Damage without regard to the grammar."""
    tokens = list(TOKEN.findall(text))
    others = [t for t in TOKEN.findall(rng.choice(corpus)) if not t.isspace()]
    mutate(tokens, others, rng)
    return "".join(tokens)


DAMAGES = [retype, retype, reshape, renumber, renumber, empty_region, rename_op, rewire, rewire,
           drop_line, drop_attribute, garble]  # fmt: skip


def mutant(corpus, rng):
    text = rng.choice(corpus)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        text = rng.choice(DAMAGES)(text, corpus, rng) or " "
    if any(pattern.search(text) for pattern in UPSTREAM):
        return mutant(corpus, rng)
    return text.replace("// -----", "")


class Fuzzer:
    def __init__(self, tool, passes, timeout):
        self.tool, self.timeout = tool, timeout
        self.arguments = ["-split-input-file", *passes, "-o", "/dev/null"]

    def dies(self, sections):
        done = run(self.tool, self.arguments, SEPARATOR.join(sections), self.timeout)
        return done is None or done.returncode < 0 or done.returncode > 2

    def find(self, sections):
        """Of sections that kill the tool together, those that kill it alone."""
        if len(sections) == 1:
            return sections
        middle = len(sections) // 2
        halves = [half for half in (sections[:middle], sections[middle:]) if self.dies(half)]
        return [crash for half in halves for crash in self.find(half)]

    def shrink(self, text):
        lines = text.splitlines()
        at = 0
        while at < len(lines) and len(lines) > 1:
            fewer = lines[:at] + lines[at + 1 :]
            if self.dies(["\n".join(fewer)]):
                lines = fewer
            else:
                at += 1
        return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tool", default=ROOT / "build/bin/tile-opt", type=Path)
    parser.add_argument("--seconds", default=30.0, type=float)
    parser.add_argument("--seed", default=None, type=int, help="default: of the clock")
    parser.add_argument("--batch", default=100, type=int, help="mutants a process")
    parser.add_argument("--passes", default=PASSES, help="what tile-opt runs")
    parser.add_argument("--output", default=Path("fuzz-crashes"), type=Path)
    parser.add_argument("corpus", nargs="*", default=[ROOT / "test"], help="folders of .mlir files")
    options = parser.parse_args()
    seed = time.time_ns() % 2**32 if options.seed is None else options.seed
    rng = random.Random(seed)
    tool = str(options.tool.resolve())
    corpus = add_generic_forms(tool, read_corpus(options.corpus))
    if not corpus:
        parser.error("expected .mlir files in the corpus, got none")
    fuzzer = Fuzzer(tool, options.passes.split(), timeout=20)

    end, count, crashes = time.monotonic() + options.seconds, 0, []
    while time.monotonic() < end and len(crashes) < 5:
        batch = [mutant(corpus, rng) for _ in range(options.batch)]
        count += len(batch)
        if fuzzer.dies(batch):
            crashes += [fuzzer.shrink(text) for text in fuzzer.find(batch)]
    print(f"seed {seed}: {count} mutants of {len(corpus)} sections, {len(crashes)} crashes")
    for number, text in enumerate(crashes):
        options.output.mkdir(parents=True, exist_ok=True)
        path = options.output / f"crash-{seed}-{number}.mlir"
        path.write_text(text + "\n")
        print(f"crash: {path}\n{text}")
    return 1 if crashes else 0


if __name__ == "__main__":
    sys.exit(main())
