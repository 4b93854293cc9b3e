"""Runs every form on a chip and on its emulation, says where the two differ, and writes what the chip
gave: one file a form, results alone, for what goes in is drawn from a seed.

    python3 test/python/conformance/record.py --device cuda:0 --out DIR [--only PATTERN]
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from forms import all_forms
from laws import candidates
from products import Product
from recordings import write
from suite import Form, Numbers


def say(text: str) -> None:
    print(text, flush=True)


def compare(form: Form, chip: list[np.ndarray], ours: list[np.ndarray]) -> int:
    """How many results differ; says which, and of approximations how far they are apart."""
    wrong = 0
    for name, held, theirs, mine in zip(form.results, form.held, chip, ours):
        differs = held.differs(theirs, mine)
        wrong += int(differs.sum())
        if measured := held.measure(theirs, mine):
            say(f"    {form.name}/{name}: {measured}")
        if differs.any():
            say(f"    {form.name}/{name}: {int(differs.sum())} of {len(differs)} differ")
            given = form.given()
            for at in np.flatnonzero(differs)[:6]:
                operands = []
                for array in given:
                    flat = array.reshape(-1)
                    each = flat.nbytes // len(differs)
                    if each and flat.nbytes % len(differs) == 0:
                        raw = flat.view(np.uint8)[at * each : (at + 1) * each]
                        operands.append(raw[::-1].tobytes().hex())
                say(
                    f"      [{at}] of {' '.join(operands)}: chip {held.words(theirs)[at]:#x}, "
                    f"emulated {held.words(mine)[at]:#x}"
                )
    return wrong


def fit(form: Product, chip: list[np.ndarray]) -> None:
    """Which laws of accumulation the chip keeps."""
    if form.law is None or form.law.integer:
        return
    a, b, c = form.matrices()
    got = form.gather(chip).view(np.uint32)
    columns = slice(0, 8)

    def wrong(law: object) -> np.ndarray:
        want = law.apply(a, b[:, :, columns], c[:, :, columns], (form.a, form.b))
        mine = np.ascontiguousarray(got[:, :, columns])
        return (
            Numbers("f32").differs(mine, np.ascontiguousarray(want)).reshape(len(a), -1).sum(axis=1)
        )

    expected = wrong(form.law)
    say(f"    {form.name}: {form.law} fails on {int(expected.sum())} of {got[:, :, columns].size}, "
        f"by tile {expected.tolist()}")  # fmt: skip
    nan = got[np.isnan(got.view(np.float32))]
    say(f"    {form.name}: NaNs are {sorted({hex(x) for x in nan})}")
    if not expected.any():
        return
    found = sorted(
        ((int(wrong(law).sum()), str(law)) for law in candidates(a.shape[2])), key=lambda x: x[0]
    )
    for count, law in found[:6]:
        say(f"      {count} fail: {law}")


FORMS: dict[str, Form] = {}


def know() -> None:
    FORMS.update((form.name, form) for form in all_forms())


def emulate(name: str) -> list[np.ndarray]:
    """In a process of its own, which may be left behind."""
    return FORMS[name].emulate()


def record(name: str, place: str, folder: Path) -> list[np.ndarray] | str:
    """What the chip gives, twice alike; else what went wrong. In a process of its own, since a kernel
    that the chip refuses takes the context with it."""
    try:
        form = FORMS[name]
        chip = form.program.run(place, form.given())
        again = form.program.run(place, form.given())
        if not all(np.array_equal(x.view(np.uint8), y.view(np.uint8)) for x, y in zip(chip, again)):
            say(f"    {name}: two runs differ")
        write(folder, form, chip, place)
        return chip
    except Exception:
        return traceback.format_exc(limit=3)


class Recorder:
    """One process after another: who breaks one, leaves the next form a new one."""

    def __init__(self, place: str, folder: Path) -> None:
        self._place, self._folder = place, folder
        self._pool: ProcessPoolExecutor | None = None

    def record(self, name: str) -> list[np.ndarray] | str:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(1, get_context("spawn"), know)
        try:
            made = self._pool.submit(record, name, self._place, self._folder).result(timeout=120)
        except Exception as error:  # it died, or does not end
            made = f"{type(error).__name__}: {error}"
        if isinstance(made, str):
            kill(self._pool)
            self._pool = None
        return made


def kill(pool: ProcessPoolExecutor) -> None:
    for process in list((pool._processes or {}).values()):
        process.kill()  # one may run for ever


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--processes", type=int, default=8)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    begin = time.time()
    know()
    chosen = [form for form in FORMS.values() if re.search(options.only, form.name)]
    passed, failed, broken = [], [], []
    pool = ProcessPoolExecutor(options.processes, get_context("spawn"), know)
    ours = {form.name: pool.submit(emulate, form.name) for form in chosen}
    given: dict[str, list[np.ndarray]] = {}
    recorder = Recorder(options.device, options.out)
    for form in chosen:
        made = recorder.record(form.name)
        if isinstance(made, str):
            broken.append(form.name)
            say(f"BROKEN {form.name} on {options.device}: {made.strip().splitlines()[-1]}\n{made}")
        else:
            given[form.name] = made
    say(f"recorded {len(given)} forms; {time.time() - begin:.0f} s")
    for name, chip in given.items():
        form, wrong = FORMS[name], 0
        try:
            if isinstance(form, Product):
                fit(form, chip)
            wrong = compare(form, chip, ours[name].result(timeout=30))
        except Exception:
            wrong = -1
            say(f"    {name}: {traceback.format_exc(limit=3)}")
        (failed if wrong else passed).append(name)
        say(f"{'FAIL' if wrong else 'pass'} {name}")
    say(
        f"{len(passed)} pass, {len(failed)} fail, {len(broken)} broken; {time.time() - begin:.0f} s"
    )
    say(f"failed: {' '.join(failed)}\nbroken: {' '.join(broken)}")
    sys.stdout.flush()
    kill(pool)
    os._exit(bool(failed or broken))


if __name__ == "__main__":
    main()
