"""Each decision is obeyed by one pass: the one that the dialect's list names is the last in front of which it
stands, in every pinned kernel that has it."""

import re
import subprocess
from pathlib import Path

import pytest
from flips import TILE_COMPILE, TILE_OPT
from test_flipped_decisions import MORE, in_text, with_pins

DUMP = re.compile(r"// -----// IR Dump (?:Before|After) \w+ \(([\w-]+)\) //----- //")


def passes() -> dict[str, set[str]]:
    """By decision, of those whose names no op's own attributes have."""
    command = [TILE_COMPILE, "--list-decisions"]
    listed = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    named: dict[str, set[str]] = {}
    for line in listed.splitlines():
        name, _, by, *_ = line.split()
        if name.startswith(("tile.", "part", "promote", "swap", "reads_ahead")):
            named.setdefault(name, set()).add(by)
    assert len(named) > 30
    return named


@pytest.mark.drawn
@pytest.mark.parametrize("kernel", ["gemm", "gemm-sm_80", "gemm-sm_100a", "gemm-gfx950", *MORE])
def test_each_decision_is_obeyed_by_the_pass_that_is_named(kernel: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.mlir"
    path.write_text(with_pins()[kernel] if kernel in MORE else in_text(kernel), encoding="utf-8")
    command = [TILE_OPT, path, "--tile-pipeline=stop-after=target", "--mlir-print-ir-before-all",
               "--mlir-print-ir-after-all", "--mlir-disable-threading"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    dumps = DUMP.split(done.stderr)[1:]
    seen = 0
    for name, named in passes().items():
        stands = re.compile(rf"(?<![\w.\"]){re.escape(name)}(?=\s*=\s*[^=]|[,}}])")
        pairs = reversed(list(zip(dumps[::2], dumps[1::2], strict=True)))
        # Whether the name is there at all is found much sooner.
        last = next((by for by, text in pairs if name in text and stands.search(text)), None)
        if last:
            seen += 1
            assert last in named, f"{name} stands up to {last}"
    assert seen > 2
