"""The suites that need a GPU, as far as they run without one: their work and their checks on the CPU,
with a clock that only runs what it ought to time. The kernel of `attention` runs on an emulated chip.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch, whose tensors the suites use, is not here")
from pinned import BENCHMARKS, build  # noqa: E402

HEAD = 128
OURS = ("kiln", "python", "plain")


@pytest.fixture
def suite(monkeypatch):
    """The suite `attention`, each turn of whose clock is a run; theirs take twice the time of ours."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    bursts = importlib.import_module("bursts")

    def turns(runs, *_, rounds: int) -> dict[str, list[float]]:
        for run in runs.values():
            run()
        return {who: [1e-3 if who in OURS else 2e-3] * rounds for who in runs}

    monkeypatch.setattr(bursts, "burst", turns)
    monkeypatch.setattr(bursts, "sustained", turns)
    return importlib.import_module("suite_attention")


@pytest.fixture(scope="module")
def kernel():
    return build((BENCHMARKS / "attention.mlir").read_bytes(), "sm_90a")


@pytest.fixture
def ours(suite, kernel, monkeypatch) -> dict:
    """Our kernels by name: in MLIR, in Python, and without pins."""
    on_chip = {}
    for name in ("pinned_kernels", "plain_kernels"):
        module = importlib.import_module(name)
        on_chip[name] = module.attention.options(device="emu:sm_90a")
    monkeypatch.setattr(suite, "plain_kernels", SimpleNamespace(attention=on_chip["plain_kernels"]))
    return {"kiln": kernel, "python": on_chip["pinned_kernels"], "plain": suite.plain}


def inputs_of(batch: int, heads: int, size: int) -> list[torch.Tensor]:
    return [torch.randn(batch, heads, size, HEAD).bfloat16() for _ in range(3)]


def measured(suite, *arguments) -> tuple[list[dict], dict[str, str]]:
    from measure import Report

    stream = io.StringIO()
    missing = suite.measure(Report("attention", stream), "case", *arguments, 2.0)
    return [json.loads(line) for line in stream.getvalue().splitlines()], missing


@pytest.mark.parametrize("causal", [False, True])
def test_a_case_of_attention(suite, ours, causal: bool) -> None:
    """Two heads of two batches, beside FlashAttention of PyTorch on the CPU; which has no cuDNN."""
    lines, missing = measured(suite, inputs_of(2, 2, 128), causal, ours)
    assert list(missing) == ["cudnn"]
    assert [(line["case"], line["implementation"]) for line in lines] == [
        (f"case, {regime}", who) for regime in ("burst", "sustained") for who in (*OURS, "flash")
    ]
    work = 4 * 2 * 2 * 128 * 128 * HEAD // (2 if causal else 1)
    for line in lines:
        assert 0 < line["error"] <= suite.TOLERANCE
        assert line["rate"] == pytest.approx(work * 1e-9 / (line["milliseconds"] * 1e-3))
    assert [line.get("ratio") for line in lines] == 2 * [None, 1.0, 1.0, 2.0]
    assert [line.get("asked") for line in lines] == 2 * [*3 * [None], suite.ASKED]


def test_means_of_attention(suite) -> None:
    """Geometric, over the cases, of each regime alone."""
    from measure import Report

    report = Report("attention", io.StringIO())
    for regime, ratios in (("burst", (0.5, 2.0)), ("sustained", (1.0, 4.0))):
        for number, ratio in enumerate(ratios):
            report.add(f"case {number}, {regime}", "kiln", 1.0, 1e9, "GFLOP/s", 0.0)
            report.add(f"case {number}, {regime}", "cudnn", ratio, 3e9, "GFLOP/s", 0.1, ratio)
    suite.report_means(report, report.rows[:])
    means = {row.case.rpartition(", ")[2]: row for row in report.rows[-2:]}
    assert [means[regime].ratio for regime in means] == [pytest.approx(1), pytest.approx(2)]
    assert [means[regime].milliseconds for regime in means] == [
        pytest.approx(1000), pytest.approx(2000)
    ]  # fmt: skip
    assert {regime: row.asked for regime, row in means.items()} == suite.ASKED_OF_ALL


def exact(causal: bool, late: int = 0):
    """A stand-in for the kernel; queries see `late` keys more than they should."""

    def run(q, k, v, out, n: int, is_causal: int) -> None:
        assert is_causal == causal
        q, k, v = (x.view(-1, n, HEAD).double() for x in (q, k, v))
        scores = q @ k.mT / HEAD**0.5
        if causal:
            scores += torch.full((n, n), float("-inf"), dtype=torch.float64).triu(1 + late)
        out.copy_((scores.softmax(-1) @ v).view(-1, HEAD))

    return run


@pytest.mark.parametrize("causal", [False, True])
def test_errors_of_attention(suite, causal: bool) -> None:
    """A bf16 result of exact attention is off by its rounding alone, row by row."""
    inputs = inputs_of(1, 3, 1500)  # more rows than a strip has
    out = torch.empty_like(inputs[0])
    exact(causal)(*(x.view(-1, HEAD) for x in (*inputs, out)), 1500, causal)
    error, worst = suite.errors_of(out, inputs, causal)
    assert 1e-3 < error < 2e-3
    assert error < worst < 3e-3
    out[0, 2, 1400] *= 1.125
    error, worst = suite.errors_of(out, inputs, causal)
    assert error < suite.TOLERANCE < suite.ROW_TOLERANCE < worst
    assert worst == pytest.approx(0.125, abs=0.01)
    out[0, 1, 7, 3] = float("nan")
    assert not np.isfinite(suite.errors_of(out, inputs, causal)[0])


def test_a_wrong_attention_is_not_timed(suite) -> None:
    inputs = inputs_of(1, 1, 256)
    with pytest.raises(AssertionError, match="case: expected kiln within"):
        measured(suite, inputs, True, {"kiln": exact(True, late=1)})
    with pytest.raises(AssertionError, match="got nan"):
        measured(suite, inputs, False, {"kiln": lambda *_: None})


def test_cases_of_attention_are_whole_tiles(suite) -> None:
    """With several heads the kernel asks for a multiple of 128 keys."""
    for size in suite.SIZES:
        assert size % 128 == 0
        assert suite.TOKENS % size == 0
    names = {suite.name_of(size, causal) for size in suite.SIZES for causal in (False, True)}
    assert len(names) == 2 * len(suite.SIZES)


def test_what_was_measured_is_shown_beside_what_is_missing(
    suite, kernel, ours, monkeypatch, capsys
):
    """The whole of `run.py attention`, on small cases, where a chip of the right kind is pretended."""
    random = torch.randn
    monkeypatch.setattr(torch, "randn", lambda *shape, device: random(*shape))
    for name, value in {
        "is_available": True, "get_device_capability": (9, 0), "get_device_name": "a chip",
    }.items():  # fmt: skip
        monkeypatch.setattr(torch.cuda, name, lambda value=value: value)
    kernel.registers, kernel.local_bytes = 168, 0
    monkeypatch.setattr(suite, "MLIRKernel", lambda path: kernel)
    monkeypatch.setattr(suite.pinned_kernels, "attention", ours["python"])
    for name, value in {"SIZES": (128,), "TOKENS": 256, "HEADS": 1}.items():
        monkeypatch.setattr(suite, name, value)
    # Neither the versions here nor what is set for a process of its own.
    program, peers = (importlib.import_module(name) for name in ("run", "peers"))
    monkeypatch.setattr(peers, "require", lambda _: None)
    monkeypatch.setattr(peers, "describe", lambda _: "here")
    monkeypatch.setattr(program, "set_environment", lambda *_: None)
    assert program.main(["attention", "--only", "128 "]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("a chip: our kernel has 168 registers")
    for case in ("full", "causal"):
        for regime in ("burst", "sustained"):
            assert f"attention bf16 d128 128 {case}, {regime} kiln" in said.out
    assert said.out.count("flash") == 4
    assert said.err.splitlines()[-1].startswith(
        "error: expected peers flash and cudnn, got none of cudnn: "
    )


@pytest.mark.parametrize("name", ["memory", "gemm", "attention"])
def test_a_suite_without_its_peers_or_gpu_fails(name: str) -> None:
    command = [sys.executable, str(BENCHMARKS / "run.py"), name]
    hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=hidden)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: expected ")
