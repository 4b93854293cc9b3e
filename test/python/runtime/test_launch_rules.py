"""Real code, launched through the stand-ins for drivers, which refuse what a driver would refuse:
more shared memory than a block may have (what the code states and what the launch asks for,
together), blocks of more threads than the code is made for, parameters that lie askew."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("KILN_BUILD", ROOT / "build")).resolve() / "test/Runtime"
FAKES = {"cuda": BUILD / "CUDA/libkiln-fake-cuda.so", "hip": BUILD / "HIP/libkiln-fake-hip.so"}

pytestmark = pytest.mark.skipif(
    not all(fake.exists() for fake in FAKES.values()), reason="no build tree with the stand-ins"
)

LAUNCHES = """
import json, random
from fake_device import *

def matrix(dtype, rows, columns):
    array = Array(DEVICE, rows * columns)
    address, _, _, *rest = array.__kiln_tensor__
    array.__kiln_tensor__ = (address, kiln._native.dtype_code(dtype), (rows, columns), *rest)
    return array

def launches(call, *arguments, **options):
    calls()
    said = reason(lambda: call(*arguments, **options))
    line = [c for c in calls() if "Launch" in c and "HostFunc" not in c]
    stated = json.loads(json.dumps(call.warmup(*arguments, **options).metadata))
    print(said, "|", stated["shared_bytes"], "|", line[-1] if line else "")

rng = random.Random(SEED)
for _ in range(3):
    m, n, k = (rng.choice([64, 128]), rng.choice([64, 128, 256]), rng.choice([32, 64, 128]))
    a, b, c = (matrix(t, 256, 256) for t in ("bf16", "bf16", "f32"))
    launches(product, a, b, c, M=m, N=n, K=k, _cooperative=rng.random() < 0.5)
    x, y = matrix("f32", 512, 256), matrix("f32", 256, 512)
    launches(transposed, x, y, 3, 0.5, A=rng.choice([16, 64, 128]), B=rng.choice([32, 64, 128]))
"""


@pytest.mark.parametrize("arch", ["sm_90a", "gfx942", "gfx950"])
def test_shared_memory_is_asked_for_once(python, tmp_path, arch):
    kind = "cuda" if arch.startswith("sm_") else "hip"
    seed = int.from_bytes(os.urandom(4), "little")
    lines = python(
        f"DEVICE, SEED = '{kind}:0', {seed}\n{LAUNCHES}",
        KILN_CUDA_LIBRARY=str(FAKES["cuda"]), KILN_HIP_LIBRARY=str(FAKES["hip"]),
        KILN_FAKE_ARCH=arch, KILN_FAKE_LOG=str(tmp_path / "log"), KILN_ASSEMBLER="driver",
    )  # fmt: skip
    assert len(lines) == 6
    largest = 0
    for line in lines:
        said, stated, call = (part.strip() for part in line.split("|"))
        assert said == "nothing was wrong", (seed, line)
        asked = int(call.split(" shared ")[1].split()[0]) if " shared " in call else None
        if kind == "hip":  # the code object states it
            assert asked == 0, (seed, line)
        elif asked is not None:
            assert asked == int(stated), (seed, line)
        largest = max(largest, int(stated))
    assert largest > 0
