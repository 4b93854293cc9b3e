"""Random programs over tiles, which verify and whose numbers are known.

On the host each must compile and compute those numbers, to the bit but where the order of a sum or
a function's last places are open, at every level of optimisation. On the devices of `--device`
each must compute them too, or be refused in our own words, and for the other targets compile.
"""

import generator
import numpy as np
import pipelines
from worker import Worker

LEVELS = (0, 3)


def perform(native, job):
    """What is wrong with a program, or the empty string; "refused" for a target that may."""
    seed, size, plain, where, options, level = job
    program = generator.generate(seed, size, plain)
    if program is None:
        return "undefined"
    if options:
        said = pipelines.compile_text(native, (program.text(), where, options))
        return ("refused" if pipelines.is_refusal(said) else said) if said else ""
    request = {"source": program.text(), "opt_level": level, "kernel": "k"}
    try:
        device = native.Device.open(where)
        request |= {"target": device.target, "source_name": "mutant"}
        artifact, _, _ = native.compile(None, None, request)
    except Exception as error:
        if where != "cpu" and pipelines.is_refusal(str(error)):
            return "refused"
        return f"{type(error).__name__}: {error}"
    try:
        executable = device.load(artifact)
        arrays = [host_array(argument) for argument in program.arguments]
        executable.launch("k", [packed or array for array, packed in arrays])
    except Exception as error:  # whatever it is, a program that is right must not meet it
        return f"{type(error).__name__}: {error}"
    return compare(program, arrays)


def host_array(argument):
    """The array as it is given to a launch, and packed where the type is narrower than a byte."""
    from kiln import PackedArray

    array = generator.memory.store_form(argument.array, argument.element)
    if argument.element in generator.numbers.PACKED:
        return array, PackedArray.from_numpy(np.ascontiguousarray(array))
    if not argument.array.flags.c_contiguous:
        base = np.zeros([2 * n for n in array.shape], array.dtype)
        part = base[tuple(slice(None, None, 2) for _ in array.shape)]
        part[...] = array
        array = part
    return np.array(array) if array.flags.c_contiguous else array, None


def compare(program, arrays):
    for argument, (array, packed) in zip(program.arguments, arrays, strict=True):
        want = program.memory[argument.name]
        got = packed.to_numpy() if packed is not None else array
        if not generator.numbers.is_float(argument.element):
            got = got.astype(np.int64)
        slack, rough = None, False
        if argument in program.outputs:
            slack, rough = program.memory[argument.name + "?"], program.memory[argument.name + "!"]
        wrong = generator.numbers.same(got, want, slack)
        if not np.any(rough):
            wrong = generator.numbers.same(got, want, None)
        if np.any(wrong):
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            return (
                f"wrong numbers: expected {want[at]!s}, got {got[at]!s} in %{argument.name} at "
                f"{list(at)} ({int(np.sum(wrong))} of {wrong.size} elements)"
            )
    return ""


def run(campaign):
    chips = [list for list in pipelines.targets() if list[0] != "cpu"]
    log = campaign.output / f"{campaign.name}.stderr"
    rng = campaign.rng
    with Worker(pipelines.prepare, perform, log, seconds=60, memory=campaign.memory) as worker:
        while campaign.goes_on():
            campaign.runs += 1
            seed, size = rng.randrange(1 << 32), rng.choice([2, 4, 8, 12, 16, 24])
            plain = rng.random() < 0.3 and not campaign.devices
            jobs = [(seed, size, plain, "cpu", "", level) for level in LEVELS]
            if campaign.devices:
                jobs = [(seed, size, plain, device, "", 3) for device in campaign.devices]
            for chip in chips if plain else []:
                stage = rng.choice(["llvm", "binary"])
                jobs.append((seed, size, plain, rng.choice(chip), f"stop-after={stage}", 3))
            for job in jobs:
                answer = worker.attempt(job)
                if answer == "undefined":
                    campaign.count(answer)
                    break
                campaign.count(answer if answer == "refused" else "wrong" if answer else "right")
                if answer and answer != "refused":
                    report(campaign, worker, job, answer)
                    break


def report(campaign, worker, job, answer):
    """The smallest program of the same seed that goes wrong in the same way."""
    group = f"{job[3] if not job[4] else job[3].partition(':')[0]} {pipelines.signature(answer)}"
    if group in campaign.known:
        campaign.count("findings")
        return
    seed, _, *rest = job
    for size in range(job[1]):
        now = worker.attempt((seed, size, *rest))
        if now and pipelines.signature(now) == pipelines.signature(answer):
            job, answer = (seed, size, *rest), now
            break
    text = generator.generate(*job[:3]).text()
    campaign.find(f"{job}: {answer}", f"// {job}\n{text}", ".mlir", group)
