"""A race of two warps is found though others meet between the two accesses: a barrier orders those who
come to it, and nobody else. On an emulated chip, in drawn orders of its threads."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import kiln

sys.path.append(str(Path(__file__).resolve().parents[1] / "conformance"))
from form_programs import Program, Text  # noqa: E402

BARRIER = "nvvm.barrier id = {} number_of_threads = {}"


def kernel(tells: bool) -> Program:
    """Warp 0 writes a word, 2 and 3 meet, then 1 and 2, and warp 1 reads the word: who wrote it comes to
    the first barrier only if it tells."""
    text = Text()
    thread, shared = text.thread(), text.shared()
    warp = text.arithmetic("lshr", thread, 5)
    place = text.place(shared, text.arithmetic("mul", text.arithmetic("and", thread, 31), 4), 3)
    labels = 0

    def of(which: int, act) -> None:
        nonlocal labels
        labels += 1
        mine = text.op(f'llvm.icmp "eq" {warp}, {text.constant(which)} : i32')
        text.do(f"llvm.cond_br {mine}, ^in{labels}, ^out{labels}")
        text.do(f"^in{labels}:")
        act(f"^out{labels}")

    def end(label: str) -> None:
        text.do(f"llvm.br {label}")
        text.do(f"{label}:")

    def meet(number: int, warps: int) -> None:
        text.do(BARRIER.format(text.constant(number), text.constant(32 * warps)))

    first = 3 if tells else 2

    def write(label: str) -> None:
        text.store(thread, place, "i32", 3)
        if tells:
            meet(1, first)
        end(label)

    def pass_on(label: str) -> None:
        meet(1, first)
        meet(2, 2)
        end(label)

    def read(label: str) -> None:
        meet(2, 2)
        value = text.load(place, "i32", 3)
        at = text.arithmetic("mul", text.arithmetic("and", thread, 31), 4)
        text.store(value, text.place("%a0", at), "i32")
        end(label)

    def come(label: str) -> None:
        meet(1, first)
        end(label)

    for which, act in ((0, write), (2, pass_on), (3, come), (1, read)):
        of(which, act)
    return Program(text, [("i32", (32,))], 0, 128, shared=128)


@pytest.mark.parametrize("number", range(4))
def test_a_barrier_of_others_orders_nothing(rng, monkeypatch, number: int) -> None:
    if number:
        monkeypatch.setenv("KILN_EMULATED_SEED", str(rng.integers(1, 1 << 32)))
    (got,) = kernel(tells=True).run("emu:sm_90a", [])
    assert np.array_equal(got, np.arange(32))
    with pytest.raises(
        kiln.DeviceError, match="nothing orders the two|which no thread has written"
    ):
        kernel(tells=False).run("emu:sm_90a", [])
