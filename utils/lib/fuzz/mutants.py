"""Damage to the text of IR: from one token to a type wherever it stands.

The corpus is what the tests hold, in the form it was written in and in the generic one, where
nothing but the verifiers stands in the way.
"""

import re
import subprocess
from pathlib import Path

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


class Corpus:
    """Sections, now and then in generic form, where nothing but the verifiers is in the way."""

    def __init__(self, sections, tool):
        self.sections, self.tool, self.forms = sections, tool, {}

    def choose(self, rng):
        section = rng.choice(self.sections)
        return self.generic(section) if rng.random() < 0.5 else section

    def generic(self, section):
        if section not in self.forms:
            arguments = [self.tool, "-mlir-print-op-generic", "-allow-unregistered-dialect"]
            done = subprocess.run(
                arguments, input=section.encode(), capture_output=True, timeout=60, check=False
            )
            self.forms[section] = section if done.returncode else done.stdout.decode()
        return self.forms[section]


def shrink_lines(lines, is_same):
    """Fewer lines of which `is_same` still holds: halves first, then ever smaller pieces."""
    size = len(lines) // 2
    while size:
        at = 0
        while at < len(lines) and len(lines) > 1:
            fewer = lines[:at] + lines[at + size :]
            if fewer and is_same(fewer):
                lines = fewer
            else:
                at += size
        size //= 2
    return lines


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
    pool = TYPE.findall(corpus.choose(rng)) if rng.random() < 0.6 else WORDS
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
    others = re.findall(r'"[a-z]+\.[a-z_]+"(?=\()', corpus.choose(rng))
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


def nest(text, corpus, rng):
    """A bracket nests far deeper than any stack is, or as deep as is allowed."""
    opening, closing = rng.choice(
        [("tuple<", ">"), ("vector<", ">"), ("(", ")"), ("[", "]"), ("{", "}"), ("module {", "}"),
         ("!tile.view<", ">"), ("loc(", ")"), ("-", ""), ("() -> ", ""), ("tensor<1x", ">")]
    )  # fmt: skip
    depth = rng.choice([40, 150, 100_000])
    place = rng.choice(list(TOKEN.finditer(text)))
    inside = place.group() if rng.random() < 0.5 else ""
    return text[: place.start()] + opening * depth + inside + closing * depth + text[place.end() :]


def lengthen(text, corpus, rng):
    """A number gets as many digits as take minutes to read, or nearly as many as are allowed."""
    places = list(re.finditer(r"\d+", text))
    if not places:
        return text
    place = rng.choice(places)
    digits = rng.choice("123456789") * rng.choice([30, 900, 100_000])
    return text[: place.start()] + digits + text[place.end() :]


def garble(text, corpus, rng):
    """Damage without regard to the grammar."""
    tokens = list(TOKEN.findall(text))
    others = [t for t in TOKEN.findall(corpus.choose(rng)) if not t.isspace()]
    mutate(tokens, others, rng)
    return "".join(tokens)


DAMAGES = [retype, retype, reshape, renumber, renumber, empty_region, rename_op, rewire, rewire,
           drop_line, drop_attribute, garble]  # fmt: skip
HUGE = [nest, lengthen]


def mutant(corpus, rng, huge=0.01):
    """A section, damaged; `huge` is how often something in it grows beyond all limits."""
    text = corpus.choose(rng)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        text = rng.choice(DAMAGES)(text, corpus, rng) or " "
    if rng.random() < huge:
        text = rng.choice(HUGE)(text, corpus, rng)
    if any(pattern.search(text) for pattern in UPSTREAM):
        return mutant(corpus, rng, huge)
    return text.replace("// -----", "")
