"""What a kernel captures: each change is seen, by the next launch and by the cache's keys."""

import dataclasses
import enum
import types
from typing import NamedTuple

import numpy as np
import pytest

import kiln
from kiln.frontend.fingerprint import Fingerprint, constant_key
from kiln.frontend.kernel import KernelSource

settings = types.ModuleType("settings")


class Limits:
    least = 1.0

    class Inner:
        most = 2.0


@dataclasses.dataclass
class Options:
    scale: float = 1.0


@kiln.function
def shifted(t):
    return t + settings.shift


settings.shift, settings.shifted = 1.0, shifted
options = Options()


@kiln.kernel
def by_module(x, y):
    y.store(0, x.load(0, 16) + settings.shift)


@kiln.kernel
def by_helper_of_module(x, y):
    y.store(0, settings.shifted(x.load(0, 16)))


@kiln.kernel
def by_class(x, y):
    y.store(0, x.load(0, 16) + Limits.least)


@kiln.kernel
def by_inner_class(x, y):
    y.store(0, x.load(0, 16) + Limits.Inner.most)


@kiln.kernel
def by_structure(x, y):
    y.store(0, x.load(0, 16) + options.scale)


@kiln.kernel
def by_name_defined_late(x, y):
    y.store(0, x.load(0, 16) + late)  # noqa: F821


@kiln.kernel
def by_builtin(x, y):
    y.store(0, x.load(0, 16) + abs(-2.0))


def run(kernel, dtype=np.float32) -> float:
    x, y = np.zeros(16, dtype), np.zeros(16, dtype)
    kernel[1](x, y)
    assert (y == y[0]).all()
    return float(y[0])


@pytest.mark.parametrize(
    ("kernel", "where", "name"),
    [
        (by_module, settings, "shift"), (by_helper_of_module, settings, "shift"),
        (by_class, Limits, "least"), (by_inner_class, Limits.Inner, "most"),
        (by_structure, options, "scale"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)  # fmt: skip
def test_a_change_is_seen_by_the_next_launch(monkeypatch, kernel, where, name) -> None:
    for value in (getattr(where, name), 5.0, 7.0):
        monkeypatch.setattr(where, name, value)
        assert run(kernel) == value
        assert run(kernel, np.float64) == value


def test_names_that_come_and_go(monkeypatch) -> None:
    with pytest.raises(kiln.CompileError, match="got `late`"):
        run(by_name_defined_late)
    for value in (4.0, 6.0):
        monkeypatch.setitem(globals(), "late", value)
        assert run(by_name_defined_late) == value
    monkeypatch.delitem(globals(), "late")
    with pytest.raises(kiln.CompileError, match="got `late`"):
        run(by_name_defined_late)

    assert run(by_builtin) == 2
    monkeypatch.setitem(globals(), "abs", kiln.function(lambda x: x))
    assert run(by_builtin) == -2
    monkeypatch.delitem(globals(), "abs")
    assert run(by_builtin) == 2


def test_a_closures_variable_is_taken_once() -> None:
    """Also by a specialisation that is made after it has changed, which the cache keeps."""

    def make(n):
        @kiln.kernel
        def added(x, y):
            y.store(0, x.load(0, 16) + n)

        def change(value):
            nonlocal n
            n = value

        return added, change

    kernel, change = make(1.0)
    assert run(kernel) == 1
    change(5.0)
    assert run(kernel) == 1
    assert run(kernel, np.float16) == 1
    assert run(make(1.0)[0], np.float16) == 1
    assert run(make(5.0)[0], np.float16) == 5


def by_view(n):
    @kiln.kernel
    def count(x: kiln.View[kiln.f32, (n,)], y: kiln.View):
        kiln.grid(1)
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i]
        y[0] = total

    return count, lambda x: x


def by_named_tuple(n):
    class Pair(NamedTuple):
        first: kiln.View[kiln.f32, (n,)]
        second: kiln.View

    @kiln.kernel
    def count(p: Pair, y: kiln.View):
        kiln.grid(1)
        total = 0.0
        for i in range(p.first.shape[0]):
            total += p.first[i]
        y[0] = total

    return count, lambda x: Pair(x, x)


def by_text(n):
    kernel, wrap = by_view(n)
    kernel.function.__annotations__["x"] = f"kiln.View[kiln.f32, ({n},)]"
    return kiln.kernel(kernel.function), wrap


@pytest.mark.parametrize("make", [by_view, by_named_tuple, by_text])
def test_extents_that_variables_fix_in_annotations(make) -> None:
    for n in (128, 64, 96):
        kernel, wrap = make(n)
        y = np.zeros(1, np.float32)
        kernel(wrap(np.ones(n, np.float32)), y)
        assert y[0] == n


def kernel_with(**captured):
    """Of one text, with other globals."""

    def kernel(x, y):
        y.store(0, value.f(x.load(0, value.n)))  # noqa: F821

    function = types.FunctionType(kernel.__code__, {"kiln": kiln, **captured}, "kernel")
    return KernelSource(function)


@kiln.function
def once(t):
    return t


@kiln.function
def twice(t):
    return t + t


def of_class(f, n, **more):
    return type("Held", (), {"f": f, "n": n, **more})


def of_structure(f, n):
    return dataclasses.make_dataclass("Held", [("n", int, n)], namespace={"f": f})()


@pytest.mark.parametrize(
    "make",
    [
        of_class, of_structure, lambda f, n: of_class(staticmethod(f), n),
        lambda f, n: of_class(f, np.int32(n)), lambda f, n: enum.IntEnum("Held", {"f": n, "n": n}),
        lambda f, n: of_class(f, of_structure(f, n)),
        lambda f, n: of_class(f, (of_structure(f, n),)),
        lambda f, n: type("Derived", (of_class(f, n),), {}),
    ],
)  # fmt: skip
def test_every_member_is_in_the_fingerprint(make) -> None:
    first = kernel_with(value=make(once, 16)).source_hash
    assert first == kernel_with(value=make(once, 16)).source_hash
    assert first != kernel_with(value=make(once, 32)).source_hash
    if make(once, 16).f is once:
        assert first != kernel_with(value=make(twice, 16)).source_hash


@pytest.mark.parametrize(
    "make", [of_structure, of_class, lambda f, n: (of_structure(f, n),), lambda f, n: (1, f)]
)
def test_code_that_a_constant_holds_is_in_its_key(make) -> None:
    assert constant_key(make(once, 16)) == constant_key(make(once, 16))
    assert constant_key(make(once, 16)) != constant_key(make(twice, 16))


def test_a_class_may_hold_its_own_instances() -> None:
    @dataclasses.dataclass
    class Node:
        n: int = 3

    Node.root = Node(4)
    assert len(Fingerprint(Node).hash) == 64
    assert constant_key(Node(5)) != constant_key(Node(6))


def test_an_array_without_dimensions_is_no_constant() -> None:
    """Its element may change unseen."""
    with pytest.raises(kiln.CompileError, match="expected a constant, got a ndarray"):
        constant_key(np.array(1.0))
    assert constant_key(np.float64(1)) == constant_key(1.0)


class Later(NamedTuple):
    v: "kiln.View[kiln.f32, 1]"
    w: "kiln.View"


@kiln.kernel
def of_later(a: Later, y: kiln.View):
    y.store(0, a.v.load(0, 16) + a.w.load(0, 16))


def test_annotations_of_fields_that_are_kept_as_strings() -> None:
    x, y = np.ones(16, np.float32), np.zeros(16, np.float32)
    of_later[1](Later(x, x), y)
    assert (y == 2).all()
    with pytest.raises(kiln.LaunchError, match=r"a\.v.*f32"):
        of_later[1](Later(x.astype(np.float64), x), y)
