"""How the planning of scratch memory grows with a kernel, and that its places are right.

scratch_growth.py time TILE-OPT     seconds of four times the lines against those of one time
scratch_growth.py places TILE-OPT   many buffers: those that live together share no byte
"""

import random
import re
import resource
import subprocess
import sys


def cpu_seconds(command, text):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime, done.stdout


def kernel(lines):
    return (
        "tile.kernel @k(%x: !tile.view<?xf32>) {\n  %c0 = arith.constant 0 : index\n"
        + "\n".join(lines)
        + "\n  tile.return\n}\n"
    )


def chain(length):
    """Lines that each read the one before, all computed where the last one stores."""
    lines = ["%t0 = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<64xf32>"]
    lines += [f"%t{i + 1} = arith.addf %t{i}, %t0 : tensor<64xf32>" for i in range(length)]
    store = f"tile.store %t{length}, %x[%c0] : tensor<64xf32>, !tile.view<?xf32>"
    return kernel([*lines, store])


def sorts(count, rng):
    """Buffers of several sizes that live for random times; (text, spans by line)."""
    lines, due, size = [], {}, {}
    for i in range(count):
        size[i] = rng.choice([16, 64, 64, 1024])
        shape = f"tensor<{size[i]}xf32>"
        lines.append(f"%l{i} = tile.load %x[%c0] : !tile.view<?xf32> -> {shape}")
        lines.append(f"%s{i} = tile.sort %l{i} axis = 0 : {shape} -> {shape}")
        due.setdefault(i + rng.choice([0, 1, 3, 200]), []).append(i)
        for dead in due.pop(i, []):
            shape = f"tensor<{size[dead]}xf32>"
            lines.append(f"tile.store %s{dead}, %x[%c0] : {shape}, !tile.view<?xf32>")
    return kernel(lines)


def check_time(tool):
    command = [tool, "--tile-pipeline=target=cpu stop-after=llvm", "-o", "/dev/null"]
    few, many = (min(cpu_seconds(command, chain(n))[0] for _ in range(2)) for n in (2000, 8000))
    print(f"2000 lines take {few:.2f} s, 8000 take {many:.2f} s")
    assert many < 9 * few + 0.5, "expected time in proportion to the lines"


def check_places(tool):
    command = [tool, "--cpu-decide-materialization", "--cpu-plan-scratch"]
    text = cpu_seconds(command, sorts(700, random.Random(5)))[1]
    numbers = {
        name: [int(n) for n in values.split(",")]
        for name, values in re.findall(r"cpu\.buffer_(\w+) = array<i64: ([^>]*)>", text)
    }
    total = int(re.search(r"cpu\.scratch_bytes = (\d+)", text)[1])
    spans, holder = {}, {}
    for number, line in enumerate(text.splitlines()):
        for value in re.findall(r"%\w+", line):
            if value in holder:
                spans[holder[value]][1] = number
        for temps in re.findall(r"cpu\.temps = array<i64: ([^>]*)>", line):
            spans |= {int(buffer): [number, number] for buffer in temps.split(",")}
        found = re.search(r"(%\w+) = .*cpu\.buffers = array<i64: (\d+)>", line)
        if found:
            holder[found[1]] = int(found[2])
            spans.setdefault(int(found[2]), [number, number])
    sizes, offsets = numbers["bytes"], numbers["offsets"]
    assert len(sizes) > 500 and len(spans) > 500, (len(sizes), len(spans))
    for a in spans:
        assert 128 <= offsets[a] and offsets[a] + sizes[a] <= total
        for b in spans:
            if a < b and spans[a][0] <= spans[b][1] and spans[b][0] <= spans[a][1]:
                ends = offsets[a] + sizes[a] <= offsets[b] or offsets[b] + sizes[b] <= offsets[a]
                assert ends, f"expected buffers {a} and {b} to lie apart: both live at {spans[a]}"
    print(f"{len(sizes)} buffers of {sum(sizes)} bytes in {total}")
    assert total < sum(sizes) * 3 // 4, "expected places to be used again"


if __name__ == "__main__":
    {"time": check_time, "places": check_places}[sys.argv[1]](sys.argv[2])
