"""Runs the kernel of 11_swiglu.mlir, which is written in MLIR text, through the command `kiln`.

`kiln run` makes random input, compiles, launches, and saves all arrays; the check reads them.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from checking import check

SOURCE = Path(__file__).resolve().with_suffix(".mlir")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for shape in ((64, 1024), (33, 300), (1, 1)):
            saved = Path(folder) / "arrays.npz"
            size = f"{shape[0]}x{shape[1]}"
            sizes = [f"--size={name}={size}" for name in ("gate", "up", "out")]
            command = [sys.executable, "-m", "kiln", "run", str(SOURCE), *sizes]
            subprocess.run([*command, f"--save={saved}"], check=True, stdout=subprocess.DEVNULL)
            with np.load(saved) as arrays:
                gate, up = (arrays[name].astype(np.float64) for name in ("gate", "up"))
                reference = gate / (1 + np.exp(-gate)) * up
                check(f"SwiGLU in MLIR text, {size} f32", arrays["out"], reference, 1e-6)


if __name__ == "__main__":
    main()
