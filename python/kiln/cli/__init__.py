"""The command `kiln`.

    kernels.py    finding kernels in files, argument types on the command line
    compile.py    kiln compile, kiln explain
    run.py        kiln run; placed.py: its arrays on the device
    store.py      kiln cache
    layout.py     kiln layout
    machine.py    kiln devices
    progress.py   what is shown while something takes long

Each command is imported when it is used.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module

OK, COMPILE_FAILED, USAGE, RUN_FAILED, CACHE_FAILED, INTERRUPTED = 0, 1, 2, 3, 4, 130

EXIT_CODES = """exit codes:
  0    done
  1    the kernel does not compile; the error shows where
  2    wrong usage: an option, a target or a file that is not there, an argument that is missing
  3    the kernel compiled, but launching it or its device failed, or --check found what is wrong
  4    the cache directory cannot be used
  130  interrupted by Ctrl-C"""

_COMMANDS = {
    "compile": ("compile", "compile a kernel and write any stage of it"),
    "explain": ("compile", "compile a kernel and tell every decision that was taken"),
    "run": ("run", "run a script, or a kernel in MLIR or a .kiln file, on random inputs"),
    "layout": ("layout", "draw who holds which element under a layout"),
    "cache": ("store", "look after the cache of compiled kernels"),
    "devices": ("machine", "list devices, and why others are absent"),
}


class Failure(Exception):
    """Ends the command with a message and an exit code."""

    def __init__(self, message: str, code: int = USAGE):
        super().__init__(message)
        self.code = code


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = _parser(next((a for a in arguments if a in _COMMANDS), None))
    options = parser.parse_args(arguments)
    if options.version:
        import kiln

        print(f"kiln {kiln.__version__}")
        return OK
    if not options.command:
        parser.print_help()
        return USAGE
    try:
        return options.handler(options) or OK
    except Failure as failure:
        print(f"kiln: {failure}", file=sys.stderr)
        return failure.code
    except KeyboardInterrupt:
        print("kiln: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except Exception as error:
        code = _code_of(error)
        if code is None:
            raise
        print(error, file=sys.stderr)
        return code


def _parser(chosen: str | None) -> argparse.ArgumentParser:
    """The whole parser, with the options of the command that is used: the others' modules are
    not needed."""
    parser = argparse.ArgumentParser(
        prog="kiln",
        description="Compiles kernels over tiles, runs them, and shows how they were made.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (module, help_text) in _COMMANDS.items():
        command = commands.add_parser(
            name,
            help=help_text,
            description=help_text[0].upper() + help_text[1:] + ".",
            epilog=EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == chosen:
            import_module(f"kiln.cli.{module}").add_options(name, command)
    return parser


def _code_of(error: Exception) -> int | None:
    """The exit code of an error that users can cause; None for a defect of Kiln's."""
    from kiln.runtime import errors

    if isinstance(error, (errors.RequestError, errors.StoppedError)):
        return USAGE
    if isinstance(error, errors.CompileError):
        return COMPILE_FAILED
    if isinstance(error, errors.CacheError):
        return CACHE_FAILED
    failed = (errors.LaunchError, errors.DeviceError, errors.DeviceAssertError)
    if isinstance(error, (*failed, MemoryError, LookupError)):
        return RUN_FAILED
    return None
