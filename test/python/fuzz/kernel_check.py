"""Runs a case on devices and by the interpreter, and says where the numbers differ."""

from __future__ import annotations

import ast
import itertools
import linecache
import time
import warnings

import kernel_interpreter
import numpy as np
from kernel_writer import Case

NUMBERS = itertools.count()


def define(text: str):
    """The kernel of a text, whose source the compiler can read."""
    import kiln

    file = f"random_kernel_{next(NUMBERS)}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"kiln": kiln}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, file, "exec"), scope)
    return scope["kernel"]


def wanted(case: Case) -> dict[str, np.ndarray]:
    """The bases as the interpreter leaves them."""
    bases, given = case.arrays()
    kernel_interpreter.Interpreter(case.text).run("kernel", given)
    return bases


def check(case: Case, devices, want=None) -> str:
    """What is wrong with a case, or the empty string."""
    from placing import Placement  # of test/python, and needs Kiln

    want = wanted(case) if want is None else want
    kernel = define(case.text)
    for device in devices:
        bases, given = case.arrays()
        placement = Placement(device)
        try:
            kernel(
                *[placement.place(v) if np.ndim(v) else v.item() for v in given.values()],
                _device=device,
            )
            placement.fetch()
        except Exception as error:  # a kernel that is right must compile and run
            return f"{device}: {type(error).__name__}: {error}"
        for name, base in bases.items():
            wrong = (base != want[name]) & ~((base != base) & (want[name] != want[name]))
            if np.any(wrong):
                at = tuple(int(i) for i in np.argwhere(wrong)[0])
                return (
                    f"{device}: wrong numbers: expected {want[name][at]!s}, got {base[at]!s} in "
                    f"{name} at {list(at)} ({int(np.sum(wrong))} of {wrong.size} elements)"
                )
    return ""


def is_defined(case: Case) -> bool:
    try:
        wanted(case)
    except (AssertionError, KeyError, TypeError, ValueError, IndexError):
        return False
    return True


def statements(tree: ast.AST):
    """Every list of statements, the innermost last."""
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield node, block


def shrunk(case: Case, fails, seconds: float = 60) -> Case:
    """The case with every statement left out that it fails without, as far as the time reaches."""
    end, again = time.monotonic() + seconds, True
    while again:
        again = False
        for which in itertools.count():
            places = [
                (node, block, i)
                for node, block in statements(ast.parse(case.text))
                for i in range(len(block))
                if not isinstance(block[i], ast.FunctionDef)
            ]
            if which >= len(places) or time.monotonic() > end:
                break
            for text in reduced(case.text, which):
                smaller = Case(case.seed, text, case.bases, case.views, case.scalars)
                if is_defined(smaller) and fails(smaller):
                    case, again = smaller, True
                    break
    return case


def reduced(text: str, which: int):
    """The text without one statement, or with its body in its place."""
    for keep in (False, True):
        tree = ast.parse(text)
        places = [
            (node, block, i)
            for node, block in statements(tree)
            for i in range(len(block))
            if not isinstance(block[i], ast.FunctionDef)
        ]
        node, block, i = places[which]
        inner = getattr(block[i], "body", None)
        if keep and not isinstance(inner, list):
            return
        block[i : i + 1] = inner if keep else []
        if not block and not (isinstance(node, ast.If) and block is node.orelse):
            block.append(ast.Pass())
        yield ast.unparse(tree)


def reproduction(case: Case, what: str, devices) -> str:
    """A file that shows the difference by itself, with test/python and its fuzz on the path."""
    return (
        f'"""{what}"""\n\nimport numpy as np\nfrom kernel_check import check\n'
        f"from kernel_writer import Case, Parameter, Type\n\nTEXT = '''\\\n{case.text}'''\n"
        f"CASE = Case(\n    {case.seed}, TEXT,\n    {case.bases!r},\n    {case.views!r},\n"
        f"    {case.scalars!r},\n)\n\nif __name__ == '__main__':\n"
        f"    print(check(CASE, {list(devices)!r}) or 'right')\n"
    )
