"""How lit runs the .mlir tests: each file's RUN lines, with Kiln's and LLVM's tools on the path."""

import glob
import os

import lit.formats
import lit.util

config.name = "Kiln"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "python"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join(
    [config.kiln_tools_dir, config.llvm_tools_dir, os.environ["PATH"]]
)
# What scripts of several folders' Inputs import.
config.environment["PYTHONPATH"] = os.path.join(config.test_source_root, "Inputs")

# The PTX that tests emit is assembled as well. The assembler is a Python package that
# utils/test installs; without it those tests fail, so that nobody mistakes silence for success.
assembler = os.environ.get("KILN_PTXAS") or next(
    iter(glob.glob(config.kiln_venv + "/lib/python3*/site-packages/nvidia/cu13/bin/ptxas")),
    lit.util.which("ptxas", config.environment["PATH"]),
)
if not assembler:
    lit_config.warning(
        "expected ptxas, of the package nvidia-cuda-nvcc in utils/lib/requirements-test.txt"
    )
# What a kernel is assembled by is not whatever the machine has; tests of it name one.
config.environment["KILN_ASSEMBLER"] = "driver"
config.substitutions.append(("%ptxas", assembler or "ptxas"))
config.substitutions.append(("%fake_jitlink", config.fake_jitlink))
config.substitutions.append(("%kiln_tools_dir", config.kiln_tools_dir))
config.substitutions.append(("%llvm_tools_dir", config.llvm_tools_dir))


def library(path, package):
    """A vendor's library in a Python package that utils/test installs, or a name that is nowhere."""
    found = glob.glob(config.kiln_venv + "/lib/python3*/site-packages/" + path)
    if not found:
        lit_config.warning(f"expected {path}, of the package {package}")
    return found[0] if found else "/none"


# Tests of the vendors' libraries name them; nothing else is to depend on what the machine has.
config.environment["KILN_LIBDEVICE"] = config.environment["KILN_OCML"] = "none"
config.substitutions.append(
    ("%libdevice", library("nvidia/cu13/nvvm/libdevice/libdevice.10.bc", "nvidia-cuda-nvcc"))
)
config.substitutions.append(("%ocml", library("triton/backends/amd/lib", "triton")))
