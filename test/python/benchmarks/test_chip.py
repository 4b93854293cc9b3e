"""The suite `chip` as far as it runs without a GPU: its kernels assemble and keep what they measure,
its cases are quantities of chips' records, and what it computes of counted cycles."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cubin import ASSEMBLER, INSTRUCTION_BYTES, code_bytes

ROOT = Path(__file__).resolve().parents[3]
BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture(autouse=True)
def path(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def test_the_kernels_assemble_and_nothing_is_left_out(tmp_path) -> None:
    import chip_probes

    text, cubin = tmp_path / "chip.ptx", tmp_path / "chip.cubin"
    text.write_text(chip_probes.module(chip_probes.KERNELS))
    done = subprocess.run(
        [ASSEMBLER, "-arch=sm_90a", text, "-o", cubin], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "serialized" not in done.stderr + done.stdout  # matrix products
    code = cubin.read_bytes()
    for kernel in chip_probes.KERNELS:
        instructions = code_bytes(code, kernel.name) // INSTRUCTION_BYTES
        assert instructions >= kernel.copies * kernel.body.count(";") / 2, kernel.name


def quantities() -> dict[str, str]:
    """The unit of each quantity that a record may state."""
    text = (ROOT / "include/kiln/Target/Chip.td").read_text(encoding="utf-8")
    return dict(re.findall(r'^def (\w+) : Quantity<"([^"]*)"', text, re.MULTILINE))


def test_each_case_is_a_quantity_in_its_unit() -> None:
    import suite_chip

    units = quantities()
    assert len(units) > 50
    for case in suite_chip.CASES:
        assert units[case.name.split(" ")[0]] == case.unit, case.name
    names = [case.name for case in suite_chip.CASES]
    assert len(names) == len(set(names))


def test_the_record_has_what_was_measured() -> None:
    """What a record says was measured stands in the kept measurements, but for its rounding."""
    lines = (BENCHMARKS / "results/chip.jsonl").read_text(encoding="utf-8").splitlines()
    measured = {line["case"]: line["value"] for line in map(json.loads, lines)}
    text = (ROOT / "include/kiln/Target/NVPTX/Chips.td").read_text(encoding="utf-8")
    record = re.search(r"measured on an H200: benchmarks/run\.py chip.*?\]>", text, re.DOTALL)
    stated = re.findall(r"Is<(\w+), (\d+)>", record[0])
    assert len(stated) > 25
    for name, value in stated:
        assert int(value) == pytest.approx(measured[name], rel=0.02, abs=0.5), name


class FakeChip:
    """A device on which a launch takes 500 cycles, and each body seven."""

    cores = 132

    def __init__(self, suite) -> None:
        import chip_probes

        self.copies = {kernel.name: kernel.copies for kernel in chip_probes.KERNELS}
        self.data = self.cold = self.driver = self
        self.address, self.suite = 1 << 32, suite

    def count(self, name: str, threads: int, trips: int, offset: int = 0) -> int:
        return 500 + 7 * trips * self.copies[name] + (threads if name == "barrier" else 0) * trips

    def write(self, data: bytes, offset: int = 0) -> None:
        assert len(data) == 8 and 0 <= offset < 1 << 28

    def fill(self, byte: int) -> None: ...

    def synchronize(self) -> None: ...

    def cycles(self, *arguments, **keywords) -> list[float]:
        return self.suite.Chip.cycles(self, *arguments, **keywords)

    def seconds(self, name: str, blocks: int, trips: int) -> list[float]:
        assert blocks == 264
        return [1e-6]


def test_what_is_made_of_counted_cycles() -> None:
    import suite_chip

    found = {case.name: case.samples(FakeChip(suite_chip)) for case in suite_chip.CASES}
    for name, samples in found.items():
        assert samples, name
    of = {name: samples[0] for name, samples in found.items()}
    assert of["sharedLatency"] == of["memoryLatency"] == of["l2FarLatency"] == 7
    assert of["handOverLatency"] == of["resizeCost"] == 3.5
    assert of["fmaF32"] == 4 * 1024 / 7 and of["fmaF16"] == 8 * 1024 / 7
    assert of["matrixF16"] == 8 * 64 * 256 * 16 / 7 and of["matrixF8"] == 8 * 64 * 256 * 32 / 7
    assert of["barrierWarpCost"] == pytest.approx(32 / 16)
    assert of["barrierLatency"] == pytest.approx(7)
    assert of["measuredBandwidth"] == pytest.approx(264 * 1024 * 16 * 8 / 1e-6 * 1e-9)
    assert of["sharedBandwidth"] == 16384 / 7


def test_what_is_printed_and_kept(capsys) -> None:
    import suite_chip

    stream = io.StringIO()
    report = suite_chip.Report("chip", stream)
    report.add_samples(
        suite_chip.Case("sharedLatency", "cycles", list), [29.0, 31.0, 30.123456], "H200"
    )
    assert report.print_table() == 0
    assert json.loads(stream.getvalue()) == {
        "suite": "chip", "case": "sharedLatency", "implementation": "H200", "value": 30.123,
        "unit": "cycles", "least": 29.0, "most": 31.0,
    }  # fmt: skip
    assert re.search(
        r"^sharedLatency +30.123 +29 +31  cycles$", capsys.readouterr().out, re.MULTILINE
    )


def test_without_a_driver_the_suite_says_so(tmp_path) -> None:
    """No peer is asked for."""
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "run.py", "chip"], capture_output=True, text=True, check=False,
        env={"KILN_CUDA_LIBRARY": str(tmp_path / "none.so")},
    )  # fmt: skip
    assert done.returncode == 1
    assert "error: expected CUDA's driver, got none" in done.stderr
