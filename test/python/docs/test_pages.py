"""The pages that are promised are there, their links lead somewhere, and the page of benchmarks
states what was asked for beside what was reached."""

from __future__ import annotations

import html
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])


@pytest.mark.parametrize(
    "page", ["overview", "tutorial", "language", "runtime", "cli", "rationale/README",
             "adding/an-op", "adding/a-pass", "adding/a-chip", "adding/a-target",
             "benchmarks", "reports", "developing", "from-triton", "performance", "reference/functions",
             "ops", "reference/ops"]
)  # fmt: skip
def test_page_is_there(page):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert text.startswith("# ") and len(text) > 200


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links_lead_somewhere(page):
    code = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
    text = code.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), target


def test_scripts_that_pages_name_can_be_typed():
    for page in PAGES:
        for name in re.findall(r"[\w./-]+/[\w-]+\.py\b", page.read_text(encoding="utf-8")):
            script = ROOT / name
            if script.is_file() and script.read_bytes().startswith(b"#!"):
                assert os.access(script, os.X_OK), (page.name, name)


def test_the_commands_of_the_page_of_tools(tmp_path):
    """Those of the sections tile-compile, tile-opt, tile-check-isa and kiln, in their order; `kiln` is
    `python -m kiln`, and w.npy is a file of the user's own."""
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    blocks = [
        re.search(rf"^## {name}\n.*?```sh\n(.*?)```", text, re.MULTILINE | re.DOTALL)[1]
        for name in ("tile-compile", "tile-opt", "tile-check-isa", "kiln")
    ]
    commands = "".join(blocks).replace("kiln cache list | show [KEY] | prune", "kiln cache prune")
    commands = commands.replace(" [--max-bytes 1G] | verify", "")
    for folder in ("examples", "benchmarks"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    np.save(tmp_path / "w.npy", np.ones(1000, np.float32))
    build = Path(os.environ.get("KILN_BUILD", ROOT / "build"))
    environment = {**os.environ, "PATH": f"{build / 'bin'}:{os.environ['PATH']}",
                   "PYTHONPATH": os.pathsep.join(sys.path),
                   "KILN_CACHE_DIR": str(tmp_path / "cache")}  # fmt: skip
    done = subprocess.run(
        ["bash", "-euc", f'set -o pipefail\nkiln() {{ "{sys.executable}" -m kiln "$@"; }}\n{commands}'],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for part in ("swiglu for emu:gfx942", "rmsnorm for cpu", "64x1000", "kernel rmsnorm for cpu"):
        assert part in done.stdout, part
    assert (tmp_path / "fragment.png").exists()


ASKED = {
    "cpu": [
        ("gemm f32 1024", "at least 0.33 of numpy"), ("gemm f32 4096", "at least 0.33 of numpy"),
        ("gemm bf16 1024", "at least 0.8 of kiln f32"),
        ("gemm bf16 4096", "at least 0.8 of kiln f32"), ("vector add", "at least 0.67 of copy"),
        ("softmax", "at least 0.67 of copy"), ("RMSNorm", "at least 0.67 of copy"),
        ("vector add", "at least 50 of triton interpreter"),
        ("softmax", "at least 50 of triton interpreter"),
        ("RMSNorm", "at least 50 of triton interpreter"),
        ("matmul", "at least 5 of triton interpreter"),
        ("attention", "at least 5 of triton interpreter"),
        *(
            (case, "at least 0.333")
            for case in (
                "acosh f32", "asinh f32", "atan f32", "cbrt f32", "cos f32", "cosh f32",
                "erfc f32", "log10 f32", "sin f32", "sinh f32", "tan f32", "remainder f32",
                "integer division", "sort", "top-k", "reduce of a tuple", "embedding gather",
                "CSR product", "conv3d",
            )
        ),
    ],
    "host": [
        ("launch", "NumPy: at most "), ("launch", "PyTorch: at most "),
        ("launch", "__dlpack__: at most "), ("first launch", "kiln: at most 2 ms"),
    ],
    "memory": [
        (case, f"at least {least} of {peer}")
        for case in (
            "RMSNorm", "dropout + residual + LayerNorm", "softmax", "SwiGLU", "GELU", "RoPE",
            "cross-entropy", "quantise to f8", "quantise to MXFP4", "transpose",
            "cumulative sum",
        )
        for least, peer in ((0.95, "memcpy"), (0.95, "copy"), (0.99, "torch"))
    ],
    "gemm": [
        (f"gemm bf16 A·Bᵀ {size}, burst", f"at least {asked} of cublas")
        for size, asked in ((4096, 1.09), (8192, 1.04), (16384, 1.02))
    ],
    "attention": [
        *(
            (f"attention bf16 d128 {keys} {mask}, {regime}", f"at least 0.97 of {peer}")
            for keys in (4096, 8192, 16384)
            for mask in ("full", "causal")
            for regime in ("burst", "sustained")
            for peer in ("flash", "cudnn")
        ),
        ("attention bf16 d128, geometric mean, burst", "at least 1 of cudnn"),
        ("attention bf16 d128, geometric mean, sustained", "at least 0.98 of cudnn"),
    ],
    "host on a GPU": [
        ("GPU launch", "kiln: at most "), ("GPU compile softmax", "kiln, "),
        ("GPU compile matmul", "kiln, "), ("GPU first launch", "kiln, "),
    ],
}  # fmt: skip


@pytest.mark.parametrize("suite", ASKED)
def test_the_page_states_each_figure_that_was_asked_for_beside_what_was_reached(suite):
    text = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    table = text.partition(f"<!-- {suite}: begin -->")[2].partition(f"<!-- {suite}: end -->")[0]
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[3:] if line
    ]
    for case, asked in ASKED[suite]:
        found = [row for row in rows if row[0].startswith(case) and row[1].startswith(asked)]
        assert found, (case, asked)
        for row in found:
            assert re.match(r"[\d.]+( ms)?( \(missed\))?$", row[2]), row


def test_the_page_of_benchmarks_is_of_the_kept_measurements():
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "figures.py", "--check"], check=False
    )
    assert done.returncode == 0, "run benchmarks/figures.py"


@pytest.mark.parametrize("suite", [*ASKED, "summary"])
def test_each_suite_has_its_plot(suite):
    """Text stays text: each figure of the page stands in its plot."""
    plot = (ROOT / "docs" / "benchmarks" / f"{suite.replace(' ', '-')}.svg").read_text("utf-8")
    file = ROOT / "benchmarks" / "results" / f"{suite.replace(' ', '-')}.jsonl"
    for line in file.read_text("utf-8").splitlines() if file.exists() else ():
        record = json.loads(line)
        assert html.escape(record["case"], quote=False) in plot
        assert "ratio" not in record or f"{record['ratio']:.2f}" in plot


def test_the_readme_is_short_and_shows_a_picture():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 100 and "docs/benchmarks/summary.svg" in text


def test_cases_that_were_measured_again_replace_their_old_figures_alone(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("figures", ROOT / "benchmarks" / "figures.py")
    figures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(figures)
    monkeypatch.setattr(figures, "RESULTS", tmp_path)

    def keep(*lines: dict) -> list[tuple]:
        file = tmp_path / "measured.json"
        file.write_text("".join(json.dumps({"suite": "s", **line}) + "\n" for line in lines))
        figures.keep([file])
        text = (tmp_path / "s.jsonl").read_text("utf-8")
        found = [json.loads(line) for line in text.splitlines()]
        return [(line["case"], line["implementation"], line["ratio"]) for line in found]

    a, b = ({"case": case, "implementation": "x", "asked": 1, "ratio": 2} for case in "ab")
    assert keep(a, b, {"case": "b", "implementation": "unasked", "ratio": 3}) == [
        ("a", "x", 2), ("b", "x", 2),
    ]  # fmt: skip
    others = [{**a, "ratio": 4.00001}, {**a, "implementation": "y"}, {**b, "case": "c"}]
    assert keep(*others) == [("a", "x", 4), ("a", "y", 2), ("b", "x", 2), ("c", "x", 2)]


@pytest.mark.parametrize("page, least", [("schedule-tests", 60), ("check-tests", 40)])
def test_each_test_that_holds_a_line_is_there(page, least):
    text = (ROOT / "docs" / "rationale" / f"{page}.md").read_text("utf-8")
    named = re.findall(r"`(test/[^`:]+)(?:::(\w+))?`", text)
    assert len(named) > least
    for file, name in named:
        assert (ROOT / file).is_file(), file
        if name:
            assert f"def {name}(" in (ROOT / file).read_text("utf-8"), f"{file}::{name}"
