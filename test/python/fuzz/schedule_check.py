"""Compiles a random schedule, runs it on its emulated chip or on a GPU of that kind, and says what is
wrong: a refusal that does not say what it refuses, a wrong number, a race or a wait without end."""

from __future__ import annotations

import math
import os
import random
import re
import subprocess
import time
import zlib
from dataclasses import replace
from pathlib import Path

import kernel_check
import numpy as np
import schedule_code
from known_refusals import UNROUNDED, is_known
from schedule_catalogue import KERNELS
from schedule_writer import Case

# What an error about a decision may call it by.
DECISIONS = re.compile(
    r"atom|instruction|stage|order|role|ring|slot|depth|in.flight|copies|warps|parts|reads_ahead"
    r"|promote|swap|persistent|programs?\b|raster|per_core|turns|cluster|multicast|residency"
    r"|registers|shared memory|tensor memory|barriers|carried|columns|fetched|interleave|extents"
    r"|share|skew|write_stage|overlap|split|#nvptx|#amdgcn|wait for those before"
)
# Ops that passes alone make.
INTERNAL = re.compile(
    r"'tile\.(put|get|release|copy_in|copy_out|write|read|barrier|convert_layout|start_dot|wait|commit"
    r"|fetch|init|channel|warp_groups)'"
)
# What of the schedule stage holds decisions against one another; more of it is in known_refusals.
CHECKS = ("tile-decide-stages", "tile-check-schedule")
REFUSAL = re.compile(r"('[\w.]+' (op )?)?(expected |is not supported on \S+ yet: expected )")
# Of a tile along each axis, as far as it is made smaller.
LEAST = 16
# The seconds after which a GPU's kernel is one that never ends.
PATIENCE = 30


def inputs(case: Case, number: int, size: dict[str, int]):
    """The arguments of one run, and what the outputs must be."""
    rng = np.random.default_rng([case.seed, number, zlib.crc32(repr(size).encode())])
    return KERNELS[case.kernel].run(rng, case.form, size)


def check(case: Case, device: str | None = None, reads_code: bool = False) -> str:
    """Nothing if it is right, "refused: " and why if it is refused as it should be, or what is wrong.
    It runs on a device of its chip, else on the emulated chip; its final code may be read back, too."""
    from placing import Placement  # of test/python, and needs Kiln

    import kiln

    kernel = kernel_check.define(case.text)
    for number, size in enumerate(case.sizes):
        args, outputs = inputs(case, number, size)
        placement = Placement(device or f"emu:{case.chip}")
        try:
            kernel(*map(placement.place, args.values()), _device=placement.device)
            kiln.synchronize(placement.device, timeout=PATIENCE)
            placement.fetch()
        except kiln.CompileError as error:
            return refused(kernel, args.values(), case, error)
        except kiln.LaunchError as error:
            is_open = UNROUNDED in str(error) and "while " in case.text
            return f"refused: {error}" if is_open else f"LaunchError: {error}"
        except Exception as error:  # whatever it is, a kernel that compiles must run
            return f"{type(error).__name__}: {error}"
        for name, (want, allowed) in outputs.items():
            got = args[name].astype(np.float64)
            wrong = ~(np.abs(got - want) <= allowed)
            if wrong.any():
                at = tuple(int(i) for i in np.argwhere(wrong)[0])
                return (
                    f"wrong numbers: expected {want[at]}, got {got[at]} in {name} at {list(at)} "
                    f"({int(wrong.sum())} of {wrong.size} elements) with {size}"
                )
    if reads_code and case.sizes:
        return schedule_code.find_problem(kernel, inputs(case, 0, case.sizes[0])[0].values(), case)
    return ""


def widened(case: Case, count: int) -> Case:
    """The case with up to so many more extents, of which the compiler knows what it knows of those
    that it has: the same code serves them."""
    rng, sizes = random.Random(f"extents of {case.seed}"), list(case.sizes)
    most = len(sizes) + count
    rough = {rough_facts(size) for size in sizes}
    known = {facts(case, number, size) for number, size in enumerate(sizes)}
    drawn = (KERNELS[case.kernel].sizes(rng, case.form) for _ in range(200 if count else 0))
    alike = [size for size in drawn if rough_facts(size) in rough]
    for size in alike[: 3 * count]:
        if len(sizes) < most and size not in sizes and facts(case, len(sizes), size) in known:
            sizes.append(size)
    return replace(case, sizes=sizes)


def lengthened(case: Case, depth: int, others: int = 2) -> Case:
    """The case with extents that go round rings of so many slots at least twice, and behind them up to
    so many others that the compiler knows the same of: of fewer trips, and the tails. Where programs
    take tiles in turn there is one that takes all."""
    made, rng = KERNELS[case.kernel], random.Random(f"rounds of {case.seed}")
    pins, form, first = dict(case.pins), case.form, case.sizes[0]
    long = first | {name: (2 * depth + 1) * form.get(step, 1) for name, step in made.steps.items()}
    kernel = pins.get("kernel", {})
    if isinstance(kernel.get("persistent"), (tuple, int)) and kernel["persistent"]:
        cluster = math.prod(kernel.get("cluster", (1,)))
        given = kernel["persistent"] if isinstance(kernel["persistent"], tuple) else (0, 1)
        pins["kernel"] = kernel | {"persistent": (cluster, *given[1:])}
        long |= {name: 3 * form[tile] for name, tile in (("m", "M"), ("n", "N"), ("rows", "M"))
                 if name in long and name not in made.steps and tile in form}  # fmt: skip
    case = replace(case, pins=pins, sizes=[long])
    known, sizes = facts(case, 0, long), [long]
    for size in (made.sizes(rng, form) for _ in range(40)):
        arrays = [x for x in inputs(case, len(sizes), size)[0].values() if np.ndim(x)]
        is_known = facts(case, len(sizes), size) == known and all(x.size for x in arrays)
        if len(sizes) <= others and size not in sizes and is_known:
            sizes.append(size)
    return replace(case, sizes=sizes)


def divisor(number: int) -> int:
    """What is known of a number: that it is 1, or the power of two up to 16 that divides it."""
    return -1 if number == 1 else math.gcd(number, 16)


def rough_facts(size: dict[str, int]) -> tuple:
    return tuple(map(divisor, size.values()))


def facts(case: Case, number: int, size: dict[str, int]) -> tuple:
    """What a kernel is specialised for."""
    arguments, _ = inputs(case, number, size)
    return tuple(
        tuple(map(divisor, (*value.shape, *value.strides)))
        if isinstance(value, np.ndarray)
        else divisor(value)
        for value in arguments.values()
    )


def refused(kernel, args, case: Case, error) -> str:
    """What the checks accept is realised: whoever refuses a schedule does so before, at the author's
    line and in the author's words, but for what is known."""
    import kiln

    message = str(error.message)
    if not REFUSAL.match(message):
        return f"not a refusal: {error}"
    if not error.line or not str(error.file).startswith("random_kernel"):
        return f"no line: {error}"
    if not DECISIONS.search(message):
        return f"no decision: {error}"
    try:
        made = kernel.compile(*args, target=f"emu:{case.chip}", _pipeline="stop-after=layout")
    except kiln.CompileError:
        return f"refused: {message}"
    refuser = find_refuser(made.ir("tile"), case.chip)
    if not refuser:
        return f"refused too late: {error}"
    if is_known(refuser, message, case.pins) or (
        refuser in CHECKS and not INTERNAL.search(message)
    ):
        return f"refused: {message}"
    return f"refused behind the checks, by {refuser}: {error}"


def find_refuser(text: str, chip: str) -> str:
    """The pass of the schedule stage that fails; none if all do what they shall."""
    import kiln

    built = Path(kiln.__file__).parents[2] / "bin/tile-opt"  # beside the package of a build
    tool = str(built) if built.exists() else "tile-opt"
    done = subprocess.run(
        [tool, f"--tile-pipeline=target=emu:{chip} stop-after=schedule",
         "--mlir-print-ir-after-failure", "-o", os.devnull, "-"],
        input=text, text=True, capture_output=True, check=False,
    )  # fmt: skip
    failed = re.findall(r"IR Dump After .* Failed \(([\w-]+)", done.stderr)
    return next((name for name in failed if name != "tile-pipeline"), "")


def kind(answer: str) -> str:
    """What went wrong, but for numbers, names and places."""
    first = answer.splitlines()[0] if answer else ""
    first = re.sub(r"\S*random_kernel_\d+\.py:\d+:\d+: (error: )?", "", first)
    if first.startswith("wrong numbers"):
        return "wrong numbers"
    return re.sub(r"\d+|#[\w.]+<[^>]*>|tensor<[^>]*>|\"[^\"]*\"|'[^']*'", "…", first)[:200]


def shrunk(case: Case, fails, seconds: float = 60) -> Case:
    """The case with every decision left out that it fails without, on the fewest and smallest
    extents, as far as the time reaches."""
    end, again = time.monotonic() + seconds, True
    while again and time.monotonic() < end:
        again = False
        for smaller in reduced(case):
            if time.monotonic() > end:
                break
            if fails(smaller):
                case, again = smaller, True
                break
    return case


def reduced(case: Case):
    """Cases that are a little smaller."""
    if len(case.sizes) > 1:
        for size in case.sizes:
            yield replace(case, sizes=[size])
    for at in [at for at in case.pins if at != "kernel"]:
        yield case.without(at)
    for at, decisions in case.pins.items():
        for name in decisions:
            yield case.without(at, name)
    for number, role in enumerate(case.pins.get("kernel", {}).get("roles", [])):
        for name in [name for name in role if name not in ("name", "warps")]:
            less = [dict(each) for each in case.pins["kernel"]["roles"]]
            del less[number][name]
            kernel = case.pins["kernel"] | {"roles": less}
            yield replace(case, pins=case.pins | {"kernel": kernel})
    for name, value in case.form.items():
        if value is True:
            smaller = replace(case, form=case.form | {name: False})
            if all(at in (*smaller.places, "kernel", "loop") for at in case.pins):
                yield smaller
    for at, decisions in case.pins.items():
        for name in ("depth", "stage", "in_flight"):
            if decisions.get(name, 0) > (name == "depth"):
                less = decisions | {name: decisions[name] - 1}
                yield replace(case, pins=case.pins | {at: less})
    for name in ("M", "N", "K", "B", "D"):
        if (value := case.form.get(name, 0)) > LEAST:
            yield replace(case, form=case.form | {name: max(value // 2, LEAST)})
    for number, size in enumerate(case.sizes):
        for name, value in size.items():
            step = case.form.get(
                {"m": "M", "rows": "M", "n": "N", "k": "K", "keys": "B"}.get(name), 1
            )
            for less in (step, value - step):
                if 0 < less < value:
                    sizes = [*case.sizes]
                    sizes[number] = size | {name: less}
                    yield replace(case, sizes=sizes)


def reproduction(case: Case, what: str, device: str | None = None) -> str:
    """A file that shows it by itself, with test/python and its fuzz on the path."""
    given = f"CASE, {device!r}" if device else "CASE"
    given += ", reads_code=True" if schedule_code.is_told_by(what) else ""
    shown = "\n".join(f"#   {line}" for line in case.text.splitlines())
    return (
        f'"""{what}"""\n\nfrom schedule_check import check\nfrom schedule_writer import Case\n\n'
        f"CASE = Case(\n    {case.seed}, {case.chip!r}, {case.kernel!r},\n    {case.form!r},\n"
        f"    {case.pins!r},\n    {case.sizes!r},\n)\n\n# The kernel:\n{shown}\n\n"
        f"if __name__ == '__main__':\n    print(check({given}) or 'right')\n"
    )


__all__ = ["check", "inputs", "kind", "reduced", "reproduction", "shrunk", "widened"]
