"""Every decision of every pinned kernel, flipped one at a time, and every one that it could have had,
makes other code, or is refused in front of the lowering by an error that names the kernel's line and the
decision: nothing that is written is ignored."""

import functools
import re
import subprocess
from pathlib import Path

import pytest
from flips import LAUNCHES, ROOT, TILE_COMPILE, TILE_OPT, UNITS, Flip, check_flips, flips
from python_pins import in_python
from small_kernels import BATCHED, CHUNKS, COLUMNS, EXTENTS, MASKED, RAGGED, ROWS, TURNED

KERNELS = ["gemm", "attention", "gemm-sm_80", "gemm-sm_100a", "gemm-gfx942", "gemm-gfx950"]


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


@pytest.mark.crossed(1)
@pytest.mark.parametrize("share", range(4))
@pytest.mark.parametrize("read, kernel", SOURCES)
def test_no_decision_is_ignored(read, kernel: str, share: int, tmp_path: Path) -> None:
    """A quarter of them, which a commit draws."""
    source = read(kernel)
    check_flips(source, tmp_path, flips(source)[share::4])


def replaced(source: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in source, old
        source = source.replace(old, new, 1)
    return source


# As the compiler would decide: by ldmatrix without conflicts of banks.
AS_READ = """#reader = #nvptx.ldmatrix<4, 16>
#offsets_of_a = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0],[32,0],[64,0]]>
#offsets_of_b = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0],[16,0],[32,0],[64,0],[128,0]]>
!slot_of_a = !tile.buffer<128x32xbf16, #offsets_of_a>
!slot_of_b = !tile.buffer<256x32xbf16, #offsets_of_b>
"""


def with_pins() -> dict[str, str]:
    """Kernels with pins that none of those has."""
    load, dot = "{atom = #copy, stage = 0, order = 0, ", "{atom = #mma, "
    places = ("parts = array<i64: 1, 1, 2>, part_stages = array<i64: 3, 3, 3, 3>, "
              "part_orders = array<i64: 0, 2, 1, 3>, ")  # fmt: skip
    cores = "tile.persistent = #tile.persistent<programs = 0, group = 16>, "
    product, blackwell, ampere = in_python("gemm"), in_text("gemm-sm_100a"), in_text("gemm-sm_80")
    persistent = "tile.persistent = #tile.persistent<programs = 132, group = 16, even = true>, "
    skewed = "tile.persistent = #tile.persistent<programs = 304, group = 16>, "
    return {
        "parts": replaced(
            ampere,
            (dot, f"{dot}parts = array<i64: 1, 1, 2>, promote = true, reads_ahead = 1 : i64, swap = true, "),
        ),
        "places of parts": replaced(ampere, (dot, dot + places)),
        "parts in flight": replaced(
            product, ("{in_flight = 1 : i64, order", "{parts = array<i64: 1, 2, 2>, in_flight = 1 : i64, order")
        ),
        "places in flight": replaced(
            product, ("{in_flight = 1 : i64, order", "{parts = array<i64: 1, 2, 1>, part_stages = array<i64: 0, 0, 0, 0>, "
                      "part_orders = array<i64: 2, 3, 0, 1>, in_flight = 1 : i64, order"),
        ),
        "slots": AS_READ + replaced(
            ampere, ("{tile.depth = 4}", ""),
            *(("{atom = #copy, ", f"{{buffer = !{name}, read_atom = #reader, depth = 4, atom = #copy, ")
              for name in ("slot_of_a", "slot_of_b")),
        ),
        "residency": replaced(
            in_text("gemm"), (load, f'{load}tile.residency = "registers", '),
            ('role = "mma", in_flight = 1', 'role = "mma", in_flight = 0'),
        ),
        "carried": replaced(blackwell, (dot, f'{dot}tile.carried = "tensor_memory", ')),
        "fetched": replaced(
            blackwell, ('#copy, role = "store", ', '#copy, role = "store", tile.fetched = "boxes", ')
        ),
        "cores": replaced(
            in_python("gemm_skewed", "gfx942"),
            (skewed, cores + 'tile.raster = "grouped", tile.per_core = 1 : i64, ')
        ),
        "launches": replaced(
            product, (persistent, f"{persistent}tile.overlap, "),
            ("arith.truncf %5 ", "arith.truncf %5 {tile.triggers} "),
        ),
        "written later": replaced(
            in_python("gemm_through_registers", "gfx1201"),
            ('stage = 1 : i64, tile.atom = "matrix"', 'stage = 2 : i64, tile.atom = "matrix"'),
            ("stage = 0 : i64, ", "stage = 0 : i64, tile.write_stage = 1 : i64, "),
            ('{role = "all", stage = 0 : i64, tile.atom', '{role = "all", stage = 0 : i64, tile.write_stage = 1 : i64, tile.atom'),
        ),
        "columns": COLUMNS,
        "masks": MASKED,
        "rows": ROWS,
        "extents": EXTENTS,
        "chunks": CHUNKS,
        "batched": BATCHED,
        "turned": TURNED,
        "ragged": RAGGED,
    }  # fmt: skip


MORE = ["parts", "slots", "places of parts", "parts in flight", "places in flight", "residency", "carried", "fetched", "cores", "launches",
        "written later", "columns", "masks", "rows", "extents", "chunks", "batched", "turned", "ragged"]  # fmt: skip


@pytest.mark.crossed(1)
@pytest.mark.parametrize("share", range(4))
@pytest.mark.parametrize("pins", MORE)
def test_no_other_pin_is_ignored(pins: str, share: int, tmp_path: Path) -> None:
    source = with_pins()[pins]
    check_flips(source, tmp_path, flips(source)[share::4])


def flips_of_shared_loops(source: str) -> tuple[str, list[Flip]]:
    loop, stream = "tile.depth = 4 : i64", 'tile.share = "stream"'
    source = replaced(source, (loop, f"{loop}, {stream}"), (", even = true", ""))
    made = [
        Flip(source.replace(stream, other), other, word)
        for other, word in (
            ("tile.share = 2 : i64", "tile.share"),
            ("tile.share = 3 : i64", "tile.share"),
            (f"{stream}, tile.share_atomic", "tile.share_atomic"),
            ('tile.share = "banana"', "tile.share"),
        )
    ]
    made += [
        Flip(source.replace(f", {stream}", ""), "none", "tile.share"),
        Flip(source.replace(loop, "tile.depth = 3 : i64"), "depth", "tile.depth"),
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
        made.append(Flip(source.replace(persistent[0], text), other, "tile.persistent"))
    for more in ('tile.raster = "longest_y"', LAUNCHES[0].rstrip(", "), "tile.overlap"):
        text = source.replace(persistent[0], f"{persistent[0]}, {more}")
        made.append(Flip(text, more, more.split()[0]))
    made.append(Flip(UNITS.sub("", source), "not persistent", "tile.persistent"))
    return source, made


def test_no_decision_about_shared_loops_is_ignored(tmp_path: Path) -> None:
    source, made = flips_of_shared_loops(in_python("gemm"))
    check_flips(source, tmp_path, made)


# What the last passes of the schedule decide stands in that stage's text.
THREADS = re.compile(r"tile\.(by_warp|ends|instructions) = (\d+)")
MEETINGS = re.compile(r'tile\.meets = "(copy|all)"')
ACTORS = re.compile(r"(, )?tile\.(lanes|first_of_pair)\b(?:, )?")
SCHEDULES = [
    ("NVPTX/tensor-operands", "nvptx:sm_100a", {"by_warp", "ends", "meets"}),
    ("NVPTX/pairs-begun", "nvptx:sm_100a", {"by_warp", "first_of_pair", "lanes", "meets"}),
    ("AMDGPU/plain-ring", "amdgpu:gfx950", {"instructions", "meets"}),
]


def flips_of_threads(text: str) -> list[Flip]:
    made = []
    for match in THREADS.finditer(text):
        for new in {int(match[2]) + 1, max(int(match[2]) - 1, 0)} - {int(match[2])}:
            flipped = text[: match.start(2)] + str(new) + text[match.end(2) :]
            made.append(Flip(flipped, f"{match[0]} -> {new}", f"tile.{match[1]}"))
    for match in MEETINGS.finditer(text):
        flipped = text[: match.start(1)] + "lanes" + text[match.end(1) :]
        made.append(Flip(flipped, f"{match[0]} -> lanes", "tile.meets"))
    for match in ACTORS.finditer(text):
        comma = ", " if match[0].startswith(",") and match[0].endswith(" ") else ""
        flipped = text[: match.start()] + comma + text[match.end() :]
        made.append(Flip(flipped, f"-{match[0]}", f"tile.{match[2]}"))
    return made


@pytest.mark.parametrize("kernel, target, decided", SCHEDULES)
def test_no_decision_about_threads_is_ignored(kernel, target, decided, tmp_path: Path) -> None:
    path = ROOT / "test" / "Target" / f"{kernel}.mlir"
    # Of trips in turn, what is computed is written over the scores.
    source = path.read_text(encoding="utf-8").replace("tile.proposal = 0", "tile.proposal = 1")
    path = tmp_path / "kernel.mlir"
    path.write_text(source, encoding="utf-8")
    command = [TILE_COMPILE, path, "--target", target, "--emit", "schedule"]
    text = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    made = flips_of_threads(text)
    assert {flip.word for flip in made} == {f"tile.{name}" for name in decided}
    path = tmp_path / "schedule.mlir"

    def lowered(schedule: str) -> tuple[str, str]:
        path.write_text(schedule, encoding="utf-8")
        command = [TILE_COMPILE, path, "--from", "schedule", "--emit", "llvm"]
        made = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        return made.stdout, made.stderr

    code, errors = lowered(text)
    assert code, errors
    for flip in made:
        flipped, errors = lowered(flip.text)
        assert flipped != code, f"{flip.what}: the same code"
        assert flipped or re.search(rf"^\S+:\d+:\d+: error: .*{flip.word}", errors, re.M), errors


def flips_of_hand_overs() -> tuple[str, list[Flip]]:
    """What is between two passes of the schedule, of a channel's slots."""
    text = (ROOT / "test" / "Schedule" / "decide-hand-overs.mlir").read_text(encoding="utf-8")
    text = subprocess.run(
        [TILE_OPT, "--tile-decide-hand-overs"], input=text.split("// -----")[0],
        capture_output=True, text=True, timeout=120, check=True,
    ).stdout  # fmt: skip
    return text, [
        Flip(text[: match.start(1)] + new + text[match.end(1) :], f"{match[0]} -> {new}", "tile.handed")
        for match in re.finditer(r"tile\.handed = !tile\.channel<(\d+)", text)
        for new in {str(int(match[1]) + 1), str(max(int(match[1]) - 1, 1))} - {match[1]}
    ]  # fmt: skip


def flips_of_boxes() -> tuple[str, list[Flip]]:
    """What is between two passes of the schedule, of the boxes of a loaded tile."""
    text = (ROOT / "test" / "Schedule" / "realise-box-loads.mlir").read_text(encoding="utf-8")
    return text, [
        Flip(text[: match.start(1)] + new + text[match.end(1) :], f"{match[0]} -> {new}", "tile.held")
        for match in re.finditer(r"tile\.held = (\d+)", text)
        for new in (str(int(match[1]) + 1), str(int(match[1]) - 1))
    ]  # fmt: skip


BETWEEN = {
    "handed": (flips_of_hand_overs, "--tile-realise-hand-overs"),
    "held": (flips_of_boxes, "--tile-realise-box-loads"),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_no_decision_between_passes_is_ignored(name: str, tmp_path: Path) -> None:
    make, realiser = BETWEEN[name]
    text, made = make()

    def realised(source: str) -> str:
        path = tmp_path / "decided.mlir"
        path.write_text(source, encoding="utf-8")
        command = [TILE_OPT, path, realiser]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=120, check=True
        ).stdout

    code = realised(text)
    assert made and f"tile.{name}" not in code
    assert all(realised(flip.text) != code for flip in made)


def test_every_decision_is_flipped() -> None:
    """Of each that the dialect lists, but for what passes alone note of loops and kernels."""
    command = [TILE_COMPILE, "--list-decisions"]
    listed = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    names = {line.split()[0] for line in listed.splitlines() if not line.endswith(" mark")}
    assert {"atom", "stage", "tile.stage", "tile.roles"} <= names
    made = [flip for read, kernel in SOURCES for flip in flips(read(kernel))]
    made += [flip for source in with_pins().values() for flip in flips(source)]
    made += flips_of_shared_loops(in_python("gemm"))[1]
    made += flips_of_hand_overs()[1] + flips_of_boxes()[1]
    flipped = {flip.word for flip in made} | {
        f"tile.{name}" for *_, few in SCHEDULES for name in few
    }
    # A role's numbers and a persistent grid's are parts of one attribute each.
    if flipped & {"copies", "warps", "registers", "skew"}:
        flipped.add("tile.roles")
    assert not names - flipped, f"flipped nowhere: {sorted(names - flipped)}"
