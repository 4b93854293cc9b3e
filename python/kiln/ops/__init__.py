"""Plain kernels for everyday work: nothing in them is pinned, and the model chooses their tiles.

    from kiln import ops

    c = ops.matmul(a, b, epilogue=[ops.epilogues.bias(v), kiln.gelu])

Each function checks its arguments, makes memory for the result where none is given (NumPy's and
PyTorch's), and launches. A wrong argument is a `kiln.LaunchError` that says what is right. No
gradient flows through them. Options of a launch (`_stream=...`) and tunables (`BM=128`) may be
given by keyword.
"""

from kiln.ops import epilogues
from kiln.ops.attention import attention
from kiln.ops.decode import decode
from kiln.ops.grouped import grouped_matmul
from kiln.ops.matmul import matmul
from kiln.ops.quantized import quantized_matmul
from kiln.ops.rows import layer_norm, rms_norm, softmax
from kiln.ops.steps import Epilogue

__all__ = [
    "Epilogue", "attention", "decode", "epilogues", "grouped_matmul", "layer_norm", "matmul",
    "quantized_matmul", "rms_norm", "softmax",
]  # fmt: skip
