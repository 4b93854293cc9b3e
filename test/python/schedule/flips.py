"""Kernels with one decision another, what is made of them, and whether what refuses them says so."""

import bisect
import itertools
import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
TILE_OPT = Path(os.environ["KILN_BUILD"]) / "bin" / "tile-opt"
TILE_COMPILE = TILE_OPT.with_name("tile-compile")
COUNTS = re.compile(
    r"\b(stage|order|depth|in_flight|warps|copies|skew|registers|programs|group|reads_ahead)"
    r" = (\d+)"
)
PARTS = re.compile(r"\bparts = array<i64: (\d+), (\d+), (\d+)>")
NAMES = re.compile(r'\b(role|ring) = "(\w+)"')
ATOMS = re.compile(r"\b(atom|read_atom) = ([^,}]+)")
BUFFERS = re.compile(r"\bbuffer = (!\w+)")
TURNS = re.compile(r"tile\.turns = \{(\w+) = (\d+)")
INTERLEAVE = r"interleave = #tile\.interleave<[^>]*>"
SCHEDULES = re.compile(rf", {INTERLEAVE}|{INTERLEAVE}, ")
# What is there or not.
LARGE = r"tile\.(?:persistent = #tile\.persistent<[^>]*>|turns = \{[^}]*\})"
UNITS = re.compile(rf"(, )?tile\.split_loop|,\s*{LARGE}|{LARGE},?\s*|\b(?:swap|promote) = true, ")
# Where something could be added: an access's hints, a product's transpose and promotion, a kernel's
# launches, a tensor's layout.
ACCESSES = re.compile(r"tile\.(?:load|store) [^{\n]*?\](?= *\{)")
DOTS = re.compile(r"tile\.dot [^{:]*\{(?=([^}]*)\})")
ATTRIBUTES = re.compile(r"tile\.kernel [^{]*(?:\{[^{}]*\}[^{]*?)*attributes \{")
TENSORS = re.compile(
    r"= arith\.\w+ %[\w#]+(?:, %[\w#]+)?(?= : (?:[^\n]* to )?(tensor<[^>]*>|!\w+))"
)
HINTS = ("cache = streaming", "cache = bypass", "evict = first", "evict = last")
MULTICASTS = re.compile(r', multicast = \["(\w)"\]|multicast = \["(\w)"\], ')
BROUGHT = re.compile(r"tile\.load [^{\n]*?\] *\{(?=[^}]*\batom = )")
CLUSTERS = re.compile(r"\btile\.cluster = array<i64: (\d), (\d), 1>")
LAUNCHES = (
    "tile.cluster = array<i64: 2, 1, 1>, ",
    "tile.overlap, ",
    "tile.turns = {mma = 2 : i64}, ",
    "tile.block_programs = 2 : i64, ",
    "tile.batch = 2 : i64, ",
)


# Of two words each, or of few.
WORDS = {
    "tile.residency": ("registers", "shared", "tensor_memory"),
    "tile.carried": ("registers", "tensor_memory"),
    "tile.fetched": ("whole", "boxes"),
    "tile.kept": ("shared", "registers"),
    "tile.raster": ("grouped", "chiplets", "longest_x", "longest_y", "longest_z"),
}
SAID = re.compile(rf'({"|".join(WORDS).replace(".", "[.]")}) = "(\w+)"')
NUMBERS = re.compile(
    r"(tile\.(?:write_stage|per_core|warps|block_programs|batch|run|columns|operand_columns|ragged))"
    r" = (\d+)"
)
LISTS = re.compile(
    r"\b(part_stages|part_orders|tile\.run|tile\.extents|tile\.chunk) = array<i64: ([\d, ]+)>"
)
FLAGS = re.compile(r"(tile\.guarded|tile\.row_starts) = (true|false)")
MARKS = re.compile(r"(, )?tile\.(?:triggers|whole_rows|lanes|first_of_pair|share_atomic)\b(?:, )?")


class Flip(NamedTuple):
    """The text with a decision another, what that was, and the decision's name."""

    text: str
    what: str
    word: str


def word_of(source: str, at: int, text: str) -> str:
    """The name of the decision at whose name a text begins, as the IR spells it."""
    text = text.lstrip(", {\n")
    spelled = "tile." if source[:at].endswith("tile.") else ""
    return spelled + re.match(r"(?:tile\.)?\w+", text)[0]


def flips(source: str) -> list[Flip]:
    """The source with one decision another."""
    made = []

    def add(match: re.Match, group: int, new: str) -> None:
        line = source.count("\n", 0, match.start()) + 1
        start, end = match.span(group)
        if not new and source[start] == "," and source[end - 1 : end] == " ":
            new = ", "
        text = source[:start] + new + source[end:]
        word = word_of(source, match.start(), match[0])
        made.append(Flip(text, f"{line}: {match[0]} -> {new}", word))

    body = source.index("module attributes")
    names = {kind: set(re.findall(rf'\b{kind} = "(\w+)"', source)) for kind in ("role", "ring")}
    for match in COUNTS.finditer(source, body):
        for new in {int(match[2]) + 1, max(int(match[2]) - 1, 0)} - {int(match[2])}:
            add(match, 2, str(new))
    for match in TURNS.finditer(source, body):
        for new in (1, 3):
            add(match, 2, str(new))
        for new in ("load", "another"):
            add(match, 1, new)
    for match in PARTS.finditer(source, body):
        for group in (1, 2, 3):
            for new in {2 * int(match[group]), max(int(match[group]) // 2, 1)} - {
                int(match[group])
            }:
                add(match, group, str(new))
    for match in NAMES.finditer(source, body):
        for new in sorted(names[match[1]] - {match[2]} | {"another"}):
            add(match, 2, new)
    aliases = dict(re.findall(r"^(#\w+) = (#.*)$", source, re.M))
    for match in ATOMS.finditer(source, body):
        for new in ("#tile.fma", "#nvptx.cp_async<8>", "#nvptx.tma", '"banana"'):
            if new != aliases.get(match[2], match[2]):
                add(match, 2, new)
    names_of_atoms = set(re.findall(r'\batom = ("\w+")', source))
    for match in re.finditer(r'\batom = ("\w+")', source):
        for new in sorted(names_of_atoms - {match[1]} | {'"cp_async"', '"mma_sync"'}):
            add(match, 1, new)
    for match in MULTICASTS.finditer(source, body):
        axis = 1 if match[1] else 2
        for new in {"x", "y", "z"} - {match[axis]}:
            add(match, axis, new)
        add(match, 0, "")
    for match in CLUSTERS.finditer(source, body):
        for group in (1, 2):
            add(match, group, str(2 * int(match[group])))
            add(match, group, "1" if int(match[group]) > 1 else "3")
    for match in re.finditer(r"\bprograms = ([1-9]\d*)", source):
        add(match, 1, "0")
    for match in itertools.chain(UNITS.finditer(source, body), SCHEDULES.finditer(source, body)):
        add(match, 0, "")
    types = dict(re.findall(r"^(!\w+) = (tensor<.*)$", source, re.M))
    for match, text in additions(source, types):
        made.append(Flip(source[: match.end()] + text + source[match.end() :],
                         f"{source.count(chr(10), 0, match.end()) + 1}: +{text}",
                         word_of("", 0, text)))  # fmt: skip
    for match in SAID.finditer(source, body):
        for new in set(WORDS[match[1]]) - {match[2]}:
            add(match, 2, new)
    for match in NUMBERS.finditer(source, body):
        for new in {int(match[2]) + 1, max(int(match[2]) - 1, 0)} - {int(match[2])}:
            add(match, 2, str(new))
    for match in LISTS.finditer(source, body):
        numbers = match[2].split(", ")
        for at, number in enumerate(numbers):
            for new in {int(number) + 1, max(int(number) - 1, 0)} - {int(number)}:
                add(match, 2, ", ".join([*numbers[:at], str(new), *numbers[at + 1 :]]))
    for match in FLAGS.finditer(source, body):
        add(match, 2, "false" if match[2] == "true" else "true")
    for match in MARKS.finditer(source, body):
        add(match, 0, "")
    buffers = set(re.findall(r"^(!\w+) = !tile.buffer", source, re.M))
    for match in BUFFERS.finditer(source, body):
        for new in sorted(buffers - {match[1]} | {"!tile.buffer<64x64xbf16>"}):
            add(match, 1, new)
    return made


def layouts(source: str, shape: tuple[int, ...]) -> list[str]:
    """Two ways to spread a tensor over the warps of the kernel's last role: lanes along each row,
    and lanes along each column."""
    lanes = 6 if "gfx9" in source else 5
    warps, copies = re.findall(r"warps = (\d+)(?:, copies = (\d+))?", source)[-1]
    warps = int(warps) * int(copies or 1)
    made = []
    for turned in (False, True):
        dims = range(len(shape)) if turned else reversed(range(len(shape)))
        bits = [
            [2**bit if at == dim else 0 for at in range(len(shape))]
            for dim in dims
            for bit in range(shape[dim].bit_length() - 1)
        ]
        last = lanes + warps.bit_length() - 1
        parts = {"register": bits[last:], "lane": bits[:lanes], "warp": bits[lanes:last]}
        text = ", ".join(f"{name} = {part}" for name, part in parts.items() if part)
        made.append(f"#tile.layout<{text}>")
    return made


def additions(source: str, aliases: dict[str, str]) -> list[tuple[re.Match, str]]:
    """Where a decision could stand that the kernel leaves open, and its text."""
    body = source.index("tile.kernel")
    made: list[tuple[re.Match, str]] = []
    for match in ACCESSES.finditer(source, body):
        made += [(match, f" {hint}") for hint in HINTS]
    for match in BROUGHT.finditer(source, body):
        if "multicast" not in source[match.end() : source.index("}", match.end())]:
            made += [(match, f'multicast = ["{axis}"], ') for axis in "xy"]
    for match in DOTS.finditer(source, body):
        made += [
            (match, f"{unit} = true, ") for unit in ("swap", "promote") if unit not in match[1]
        ]
    absent = [each for each in LAUNCHES if each.split()[0].rstrip(",") not in source]
    made += itertools.product(ATTRIBUTES.finditer(source), absent)
    for match in itertools.islice(TENSORS.finditer(source, body), 4):
        kind = re.match(r"tensor<((?:\d+x)+)", aliases.get(match[1], match[1]))
        if kind:
            shape = tuple(int(extent) for extent in kind[1].split("x")[:-1])
            made += [(match, f" {{tile.layout = {layout}}}") for layout in layouts(source, shape)]
    return made


MARKER = "// -----\n"
BATCH = 40  # texts that one process compiles: it takes longer to start than to compile one


def reach(texts: list[str], stage: str, path: Path) -> list[tuple[str, str]]:
    """What is made of each text up to the stage, or nothing, and its errors.

    All are asked of one process; where its errors are not all told apart by the lines of the texts,
    each of a process of its own."""

    def run(text: str, *options: str) -> subprocess.CompletedProcess:
        path.write_text(text, encoding="utf-8")
        command = [TILE_OPT, path, f"--tile-pipeline=stop-after={stage}", *options]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    def alone(text: str) -> tuple[str, str]:
        done = run(text)
        assert done.returncode >= 0, done.stderr
        return ("", done.stderr) if done.returncode else (done.stdout, "")

    assert not any(MARKER in text for text in texts)
    done = run(MARKER.join(texts), "--split-input-file")
    made = done.stdout.split(MARKER)
    if done.returncode == 0 and len(made) == len(texts):
        return [(text, "") for text in made]
    errors: list[list[str]] = [[] for _ in texts]
    firsts = list(itertools.accumulate((text.count("\n") + 1 for text in texts), initial=1))
    # Each error and the notes behind it.
    pieces = re.split(r"^(?=\S+: error: )", done.stderr, flags=re.M)
    for piece in pieces[1:]:
        at = re.match(rf"{re.escape(str(path))}:(\d+):\d+: ", piece)
        if not at:
            return [alone(text) for text in texts]
        errors[bisect.bisect_right(firsts, int(at[1])) - 1].append(piece)
    # A text that is refused makes nothing, and is told apart from the next one all the same.
    own = ["".join(some) for some in errors]
    if (
        [bool(text.strip()) for text in made] != [not some for some in own]
        or done.returncode != 1
        or pieces[0]
    ):
        return [alone(text) for text in texts]
    return [("" if some else text, some) for text, some in zip(made, own, strict=True)]


def compiled(sources: list[str], path: Path) -> list[tuple[str, str]]:
    """What runs of each, on the device and to launch it there, or nothing; and the errors of the
    stages up to the schedule: the lowering refuses no decision."""
    made = []
    for start in range(0, len(sources), BATCH):
        texts = sources[start : start + BATCH]
        scheduled = reach(texts, "schedule", path)
        taken = [text for text, (code, _) in zip(texts, scheduled, strict=True) if code]
        lowered = iter(reach(taken, "llvm", path) if taken else [])
        for schedule, errors in scheduled:
            if not schedule:
                made.append(("", errors))
                continue
            code, errors = next(lowered)
            grid = re.search(r"\bgrid \{.*?^ *\} \{", schedule, re.M | re.S)
            code = (grid[0] if grid else "") + code if code else ""
            made.append((code, f"refused in the lowering alone: {errors}" if errors else ""))
    return made


# What a decision is called in an error, where that is not its name alone: several are counted, and
# places of parts are stages and orders.
CALLED = {"copies": "cop(?:y|ies)", "part_stages": "(?:part_)?stages?",
         "part_orders": "(?:part_)?orders?", "write_stage": "(?:write_)?stage"}  # fmt: skip
SAYS = re.compile(r"^(\S+?:\d+:\d+): (error|note): (.*)$", re.M)


def why_unclear(errors: str, word: str, path: Path) -> str:
    """What an error lacks: the line of the kernel's text, or the decision; nothing if it has both."""
    said = [each for each in SAYS.findall(errors) if "see current operation" not in each[2]]
    if not said or not said[0][0].startswith(f"{path}:") or said[0][1] != "error":
        return "no error at a line of the kernel"
    word = word.removeprefix("tile.")
    name = CALLED.get(word, rf"{word.removesuffix('s')}s?")
    if not any(re.search(rf"\b{name}\b", text) for _, _, text in said):
        return f"an error that does not name {word}"
    return ""


def check_flips(source: str, tmp_path: Path, made: list[Flip]) -> None:
    """Each makes other code, or is refused by a stage up to the schedule, at a line of the kernel,
    with the decision's name."""
    path = tmp_path / "kernel.mlir"
    (pinned, errors), *codes = compiled([source, *(flip.text for flip in made)], path)
    assert pinned, errors
    wrong = []
    for (_, what, word), (code, errors) in zip(made, codes, strict=True):
        if code == pinned:
            wrong.append(f"{what}: the same code")
        elif not code and (why := why_unclear(errors, word, path)):
            wrong.append(f"{what}: {why}: {errors[:400]!r}")
    assert not wrong, "\n".join(wrong)
