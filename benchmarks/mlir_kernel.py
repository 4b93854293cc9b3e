"""A kernel in MLIR text, compiled for a GPU and launched on PyTorch's tensors."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from kiln import _native
from kiln.runtime.devices import device


class MLIRKernel:
    """Compiled once; a call runs it on PyTorch's current stream, on its own grid.

    registers, local_bytes   what each thread has, as the driver says
    """

    def __init__(self, path: Path, kernel: str | None = None, where: str = "cuda:0"):
        place = device(where)
        request = {
            "source": Path(path).read_bytes(),
            "source_name": str(path),
            "kernel": kernel,
            "target": place.target,
            "keep_stages": ("all",),
            "opt_level": 3,
            "fast_math": 0,
            "options": None,
            "isolation": 1,
        }
        self.artifact, _, _ = _native.compile(None, None, request)
        self.metadata = json.loads(self.artifact.metadata)
        self.name = self.metadata["kernel"]
        self.executable = place.load(self.artifact)
        described = json.loads(self.executable.describe())
        self.registers = described.get("registers")
        self.local_bytes = described.get("local_bytes")

    def __call__(self, *arguments: object) -> None:
        stream = torch.cuda.current_stream().cuda_stream
        self.executable.launch(self.name, list(arguments), None, stream)
