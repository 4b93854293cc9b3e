"""One new process of the suite `host` on a GPU: gpu_start.py compile | start.

Prints a line of JSON. `compile`: the seconds from source to loaded code, three times each kernel,
and who assembled. `start`: the seconds of the first launch of a kernel, and where its code came
from. The device's context is live before any clock starts.
"""

import json
import sys
from time import perf_counter

import kernels
import torch

import kiln
from kiln.runtime import cache


def live() -> torch.Tensor:
    """Memory of the device, after both libraries have done work there."""
    x = torch.randn(2, 1 << 16, device="cuda")
    torch.cuda.synchronize()
    kiln.device("cuda:0").synchronize()
    return x


def assembler(compiled) -> str:
    """Who made machine code of the text: whoever the artifact names, else the driver."""
    return compiled.metadata.get("assembler") or "driver"


def compile_kernels() -> dict:
    live()
    square = torch.ones(1024, 1024, device="cuda")
    half = square.bfloat16()
    calls = {
        "softmax": (kernels.softmax, (square, square), {"BLOCK": 1024}),
        "matmul": (kernels.matmul, (half, half, half), {"BM": 128, "BN": 128, "BK": 32}),
    }
    # The compiler itself is loaded with the first kernel, whichever that is.
    out: dict = {"assembler": assembler(kernels.add.warmup(square[0], square[1], square[2]))}
    for name, (kernel, arguments, constants) in calls.items():
        out[name] = []
        for _ in range(3):
            cache.use("")
            kernel.captured_changed()  # forget what was compiled
            start = perf_counter()
            compiled = kernel.warmup(*arguments, **constants)
            out[name].append(perf_counter() - start)
            assert compiled.source_level == "compiled"
    return out


def first_launch() -> dict:
    x, y = live()
    out = torch.empty_like(x)
    start = perf_counter()
    kernels.add(x, y, out, BLOCK=1024)
    seconds = perf_counter() - start
    assert torch.equal(out, x + y)
    compiled = kernels.add.warmup(x, y, out, BLOCK=1024)
    return {"seconds": seconds, "level": compiled.source_level, "assembler": assembler(compiled)}


if __name__ == "__main__":
    print(json.dumps({"compile": compile_kernels, "start": first_launch}[sys.argv[1]]()))
