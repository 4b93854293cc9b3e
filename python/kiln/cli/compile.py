"""`kiln compile` and `kiln explain`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from kiln.cli import EXIT_CODES, Failure
from kiln.cli.kernels import TYPES_HELP, add_kernel_options, compile_file
from kiln.cli.run import add_launch_options, launch_emulated

STAGES = ("tile", "layout", "schedule", "target", "llvm", "llvmir", "asm", "binary")
_EXAMPLES = """examples:
  kiln compile softmax.py --arg 'x=f32[?,?]' --arg 'y=f32[?,?]' --emit asm
  kiln compile matmul.py:matmul --set BM=128 --emit llvmir -o matmul.ll
  kiln compile kernel.mlir -o kernel.kiln"""


def add_options(command: str, parser: argparse.ArgumentParser) -> None:
    add_kernel_options(parser)
    parser.epilog = f"{TYPES_HELP}\n\n{_EXAMPLES}\n\n{EXIT_CODES}"
    if command == "explain":
        parser.epilog = f"{TYPES_HELP}\n\n{EXIT_CODES}"
        parser.add_argument("--emulate", action="store_true",
                            help="run the kernel on --device emu:<chip> and tell, by line, its "
                            "instructions, bank conflicts, sectors, bytes and waits")  # fmt: skip
        parser.add_argument(
            "--html",
            metavar="FILE",
            help="with --emulate: write that, and when each warp does what",
        )
        add_launch_options(parser)
        parser.set_defaults(handler=explain)
        return
    parser.add_argument(
        "--emit", choices=(*STAGES, "metadata", "artifact"), default="artifact",
        help="what to write: the program after a stage, the metadata as JSON, or the artifact "
        "that holds all of it (default)",
    )  # fmt: skip
    parser.add_argument(
        "-o", dest="output", metavar="FILE",
        help="where to; text goes to the terminal without it, `-` forces that",
    )  # fmt: skip
    parser.set_defaults(handler=compile_)


def compile_(options: argparse.Namespace) -> None:
    compiled = compile_file(options)
    try:
        data, output = _emitted(compiled, options)
    except LookupError as error:  # of a file that holds less, or with stop-after
        raise Failure(str(error)) from None
    _write(data, output)


def _emitted(compiled: Any, options: argparse.Namespace) -> tuple[str | bytes, str | None]:
    """What `--emit` says, and where it goes."""
    output = options.output
    if options.emit == "artifact":
        return compiled.artifact.serialize(), output or f"{compiled.name}.kiln"
    if options.emit == "binary":
        return compiled.binary, output or f"{compiled.name}.bin"
    if options.emit == "metadata":
        import json

        return json.dumps(compiled.metadata, indent=2) + "\n", output
    return compiled.ir(options.emit), output


def explain(options: argparse.Namespace) -> None:
    if not options.emulate:
        if options.html or options.device:
            raise Failure("expected --emulate with --html and --device, got none")
        sys.stdout.write(compile_file(options).explain())
        return
    profile = launch_emulated(options)
    sys.stdout.write(profile.text())
    if options.html:
        _write(profile.html(), options.html)


def _write(data: str | bytes, output: str | None) -> None:
    raw = data.encode() if isinstance(data, str) else data
    if output in (None, "-"):
        if isinstance(data, bytes) and sys.stdout.isatty():
            raise Failure("expected -o FILE for binary output, got a terminal")
        sys.stdout.buffer.write(raw)
        sys.stdout.flush()
        return
    try:
        Path(output).write_bytes(raw)
    except OSError as error:
        raise Failure(f"expected a file that can be written, got {output}: {error}") from None
    print(f"{output}: {len(raw)} bytes", file=sys.stderr)
