"""How lit runs the .mlir tests: each file's RUN lines, with Kiln's and LLVM's tools on the path."""

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

# Where an assembler for PTX is at hand, the PTX that tests emit is assembled as well.
if lit.util.which("ptxas", config.environment["PATH"]):
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", "ptxas"))
else:
    config.substitutions.append(("%ptxas", "true"))
