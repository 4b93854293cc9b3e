"""Every decision of every pinned kernel, flipped one at a time, and every one that it could have had,
makes other code or an error that names an op: nothing that is written is ignored."""

import functools
import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
TILE_OPT = Path(os.environ["KILN_BUILD"]) / "bin" / "tile-opt"
TILE_COMPILE = TILE_OPT.with_name("tile-compile")
KERNELS = ["gemm", "attention", "gemm-sm_80", "gemm-sm_100a", "gemm-gfx942", "gemm-gfx950"]
COUNTS = re.compile(
    r"\b(stage|order|depth|in_flight|warps|copies|skew|registers|programs|group|reads_ahead)"
    r" = (\d+)"
)
PARTS = re.compile(r"\bparts = array<i64: (\d+), (\d+), (\d+)>")
NAMES = re.compile(r'\b(role|ring) = "(\w+)"')
ATOMS = re.compile(r"\b(atom|read_atom) = ([^,}]+)")
BUFFERS = re.compile(r"\bbuffer = (!\w+)")
TURNS = re.compile(r"tile\.turns = \{(\w+) = (\d+)")
SCHEDULES = re.compile(r', interleave = "[^"]*"|interleave = "[^"]*", ')
# What is there or not.
UNITS = re.compile(
    r"(, )?tile\.split_loop|tile\.persistent = #tile\.persistent<[^>]*>,?\s*"
    r"|tile\.turns = \{[^}]*\},?\s*|\b(?:swap|promote), "
)
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
)


def flips(source: str) -> list[tuple[str, str]]:
    """The source with one decision another, and what that was."""
    made = []

    def add(match: re.Match, group: int, new: str) -> None:
        line = source.count("\n", 0, match.start()) + 1
        text = source[: match.start(group)] + new + source[match.end(group) :]
        made.append((text, f"{line}: {match[0]} -> {new}"))

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
    for match in re.finditer(r"programs = (\d+)", source):
        add(match, 1, "0")
    for match in itertools.chain(UNITS.finditer(source, body), SCHEDULES.finditer(source, body)):
        add(match, 0, "")
    types = dict(re.findall(r"^(!\w+) = (tensor<.*)$", source, re.M))
    for match, text in additions(source, types):
        made.append((source[: match.end()] + text + source[match.end() :],
                     f"{source.count(chr(10), 0, match.end()) + 1}: +{text}"))  # fmt: skip
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
        made += [(match, f"{unit}, ") for unit in ("swap", "promote") if unit not in match[1]]
    made += itertools.product(ATTRIBUTES.finditer(source), LAUNCHES)
    for match in itertools.islice(TENSORS.finditer(source, body), 4):
        kind = re.match(r"tensor<((?:\d+x)+)", aliases.get(match[1], match[1]))
        if kind:
            shape = tuple(int(extent) for extent in kind[1].split("x")[:-1])
            made += [(match, f" {{tile.layout = {layout}}}") for layout in layouts(source, shape)]
    return made


def compiled(source: str, path: Path) -> tuple[str, str]:
    """What runs, on the device and to launch it there, or nothing; and the errors."""
    path.write_text(source, encoding="utf-8")

    def stage(name: str) -> subprocess.CompletedProcess:
        command = [TILE_OPT, path, f"--tile-pipeline=stop-after={name}"]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    scheduled = stage("schedule")
    if scheduled.returncode:
        return "", scheduled.stderr
    grid = re.search(r"\bgrid \{.*?^ *\} \{", scheduled.stdout, re.M | re.S)
    code = stage("llvm")
    assert scheduled.returncode >= 0 and code.returncode >= 0, code.stderr
    return (grid[0] if grid else "") + code.stdout, code.stderr


@functools.cache
def in_python(name: str, chip: str = "sm_90a") -> str:
    """What the front end makes of one of the kernels that are pinned in Python."""
    sys.path.append(str(ROOT / "benchmarks"))
    import pinned_kernels

    def some(*shape: int) -> np.ndarray:
        return np.empty(shape, ml_dtypes.bfloat16)

    product = (some(512, 512), some(512, 512), some(512, 512))
    arguments = {
        "gemm": product,
        "clustered_gemm": (*product, 2, 1),
        "gemm_in_turn": (*product, 64, 256, 4),
        "large_gemm": product,
        "attention": (*(some(512, 128) for _ in range(4)), 512, 1),
        "gemm_skewed": (*product, 304),
        "gemm_interleaved": (*product, 304, pinned_kernels.INTERLEAVED.get(chip)),
        "gemm_through_registers": product,
        "attention_by_waves": (
            *(some(512, 128) for _ in range(4)),
            512,
            1,
            *pinned_kernels.heads_of(128).values(),
        ),
    }[name]
    family = "nvptx" if chip.startswith("sm_") else "amdgpu"
    made = getattr(pinned_kernels, name).compile(
        *arguments, target=f"{family}:{chip}", _pipeline="stop-after=tile"
    )
    dialect = "nvptx" if family == "nvptx" else "amdgcn"
    target = f'{{tile.target = #{dialect}.target<chip = "{chip}">}}'
    return re.sub(r"module attributes \{.*\} \{", f"module attributes {target} {{", made.ir("tile"))


def in_text(name: str) -> str:
    return (ROOT / "benchmarks" / f"{name}.mlir").read_text(encoding="utf-8")


PINNED = ("gemm", "clustered_gemm", "gemm_in_turn", "large_gemm", "attention")
ON_OTHER_CHIPS = {
    "gemm_skewed": "gfx942",
    "gemm_interleaved": "gfx950",
    "gemm_through_registers": "gfx1201",
    "attention_by_waves": "gfx942",
}
SOURCES = [(in_text, name) for name in KERNELS] + [(in_python, name) for name in PINNED]
SOURCES += [
    (functools.partial(in_python, chip=chip), name) for name, chip in ON_OTHER_CHIPS.items()
]


def check_flips(source: str, tmp_path: Path, made: list[tuple[str, str]] | None = None) -> None:
    path = tmp_path / "kernel.mlir"
    pinned, errors = compiled(source, path)
    assert pinned, errors
    wrong = []
    for text, name in made or flips(source):
        code, errors = compiled(text, path)
        if code == pinned:
            wrong.append(f"{name}: the same code")
        elif not code and "error:" not in errors:
            wrong.append(f"{name}: no error, but {errors[-200:]!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("read, kernel", SOURCES)
def test_no_decision_is_ignored(read, kernel: str, tmp_path: Path) -> None:
    check_flips(read(kernel), tmp_path)


def test_no_decision_about_parts_is_ignored(tmp_path: Path) -> None:
    source = in_text("gemm-sm_80")
    parts = "parts = array<i64: 1, 1, 2>, promote, reads_ahead = 1 : i64, swap, "
    check_flips(source.replace("{atom = #mma, ", "{atom = #mma, " + parts), tmp_path)


def test_no_decision_about_shared_loops_is_ignored(tmp_path: Path) -> None:
    loop, stream = "tile.depth = 4 : i64", 'tile.share = "stream"'
    source = in_python("gemm")
    assert source.count(loop) == 1
    source = source.replace(loop, f"{loop}, {stream}")
    others = ["tile.share = 2 : i64", "tile.share = 3 : i64", f"{stream}, tile.share_atomic",
              'tile.share = "banana"', "tile.depth = 3 : i64"]  # fmt: skip
    made = [(source.replace(stream, other), other) for other in others[:-1]]
    made += [
        (source.replace(f", {stream}", ""), "none"),
        (source.replace(loop, others[-1]), "depth"),
    ]
    persistent = re.search(
        r"tile\.persistent = #tile\.persistent<programs = 132, group = 16>", source
    )
    for other in (
        "programs = 131, group = 16",
        "programs = 0, group = 16",
        "programs = 132, group = 8",
    ):
        text = f"tile.persistent = #tile.persistent<{other}>"
        made.append((source.replace(persistent[0], text), other))
    made += [(source.replace(persistent[0], f"{persistent[0]}, {more}"), more)
             for more in ('tile.raster = "longest_y"', LAUNCHES[0].rstrip(", "), "tile.overlap")]  # fmt: skip
    made.append((UNITS.sub("", source), "not persistent"))
    check_flips(source, tmp_path, made)


# What the last passes of the schedule decide stands in that stage's text.
THREADS = re.compile(r"tile\.(by_warp|ends|instructions) = (\d+)")


@pytest.mark.parametrize(
    "kernel, target, decided",
    [
        ("NVPTX/tensor-operands", "nvptx:sm_100a", {"by_warp", "ends"}),
        ("AMDGPU/plain-ring", "amdgpu:gfx950", {"instructions"}),
    ],
)
def test_no_decision_about_threads_is_ignored(kernel, target, decided, tmp_path: Path) -> None:
    path = ROOT / "test" / "Target" / f"{kernel}.mlir"
    command = [TILE_COMPILE, path, "--target", target, "--emit", "schedule"]
    text = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    assert {match[1] for match in THREADS.finditer(text)} == decided
    path = tmp_path / "schedule.mlir"

    def lowered(schedule: str) -> tuple[str, str]:
        path.write_text(schedule, encoding="utf-8")
        command = [TILE_COMPILE, path, "--from", "schedule", "--emit", "llvm"]
        made = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        return made.stdout, made.stderr

    code, errors = lowered(text)
    assert code, errors
    for match in THREADS.finditer(text):
        for new in {int(match[2]) + 1, max(int(match[2]) - 1, 0)} - {int(match[2])}:
            flipped, errors = lowered(text[: match.start(2)] + str(new) + text[match.end(2) :])
            assert flipped != code, f"{match[0]} -> {new}: the same code"
            assert flipped or "error:" in errors, errors
