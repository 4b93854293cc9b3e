"""Arguments that are None, tuples or lists; many arguments; arrays without dimensions."""

from __future__ import annotations

import linecache
import pickle
from typing import NamedTuple

import numpy as np
import pytest

import kiln

DEVICES = ["cpu", "emu:sm_90a", "emu:gfx942", "emu:gfx1201"]


@kiln.kernel
def linear(
    x: kiln.View,
    out: kiln.View,
    bias: kiln.View | None = None,
    scale: kiln.View[kiln.f32, 1] | None = None,
    shift: kiln.i32 | None = None,
    BLOCK: kiln.constexpr = 32,
):
    i = kiln.grid(kiln.cdiv(x.shape[0], BLOCK))
    tile = x.load(i * BLOCK, BLOCK)
    if scale is not None:
        tile = tile * scale.load(i * BLOCK, BLOCK)
    if bias is not None:
        tile = tile + bias.load(i * BLOCK, BLOCK)
    tile = tile if shift is None else tile + shift
    out.store(i * BLOCK, tile)


@pytest.mark.parametrize("device", DEVICES)
def test_optional_arrays_are_specialised(device: str, rng) -> None:
    x, bias, scale = rng.standard_normal((3, 50), dtype=np.float32)
    for b in (None, bias):
        for s, n in ((None, 3), (scale, None)):
            out = np.zeros(50, np.float32)
            linear(x, out, b, scale=s, shift=n, BLOCK=64, _device=device)
            want = x * (1 if s is None else s) + (0 if b is None else b) + (n or 0)
            np.testing.assert_allclose(out, want, rtol=1e-6, atol=1e-6)
    linear(x, out, _device=device)
    assert np.array_equal(out, x)


def test_an_absent_argument_is_none_of_the_compiled_kernel(rng) -> None:
    x = rng.standard_normal(50, dtype=np.float32)
    compiled = linear.warmup(x, x.copy(), None)
    assert [entry["name"] for entry in compiled.metadata["arguments"]] == ["x", "out"]
    view = kiln.View[kiln.f32, 1]
    names = [e["name"] for e in linear.compile(view, view, shift=kiln.i32).metadata["arguments"]]
    assert names == ["x", "out", "shift"]
    with kiln.on_launch(before=lambda event: names.append(event.arguments["bias"])):
        linear(x, x.copy(), None)
    assert names[-1] is None
    with pytest.raises(kiln.LaunchError, match="argument `x`: expected a view, got None"):
        linear(None, x)


class Layer(NamedTuple):
    weight: kiln.View
    bias: kiln.View | None

    @kiln.function
    def apply(self, x, i):
        y = x * self.weight.load(i * 16, 16)
        return y if self.bias is None else y + self.bias.load(i * 16, 16)


@kiln.kernel
def network(x: kiln.View, layers: list, pairs, out: tuple[kiln.View[kiln.f32, 1], kiln.View]):
    i = kiln.grid(kiln.cdiv(x.shape[0], 16))
    kiln.static_assert(isinstance(layers[0], Layer))
    y = x.load(i * 16, 16)
    for layer in layers:
        y = layer.apply(y, i)
    for n, ((view, factor), nothing) in enumerate(pairs):
        kiln.static_assert(nothing is None)
        y += view.load(i * 16, 16) * factor + n
    out[0].store(i * 16, y)
    out[1][i] = len(layers) + len(pairs)


@pytest.mark.parametrize("device", DEVICES)
def test_tuples_of_views_and_lists_of_tensors_are_arguments(device: str, rng) -> None:
    x, a, b, c, d, e = rng.standard_normal((6, 40), dtype=np.float32)
    out, counts = np.zeros(40, np.float32), np.zeros(3, np.int32)
    layers = [Layer(a, None), Layer(b, c)]
    network(x, layers, [((d, 2.0), None), [(e, 3), None]], (out, counts), _device=device)
    np.testing.assert_allclose(out, x * a * b + c + d * 2 + e * 3 + 1, rtol=1e-5, atol=1e-5)
    assert counts.tolist() == [4, 4, 4]
    network(x, layers[:1], (), [out, counts], _device=device)
    np.testing.assert_allclose(out, x * a, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: network(x, x, (), (x, x)), "`layers`: expected a tuple or a list, got one"),
        (lambda x: network(x, [], (), (x, x, x)), "`out`: expected 2 in the tuple, got 3"),
        (lambda x: network(x, [], (), (None, x)), r"`out`: expected a view, got None"),
        (
            lambda x: network([x], [], (), (x, x)),
            "`x`: expected a view, got a tuple or a list of 1",
        ),
        (lambda x: network(x, [], [["a"]], (x, x)), r"`pairs\[0\]\[0\]`: expected an array"),
    ],
)
def test_a_structure_that_does_not_fit_names_the_argument(call, message: str) -> None:
    with pytest.raises(kiln.LaunchError, match=message):
        call(np.zeros(16, np.float32))
    with pytest.raises(TypeError, match="missing"):
        network(np.zeros(16, np.float32), [])


def test_what_a_tuple_holds_is_checked_for_writes(rng) -> None:
    x = rng.standard_normal(16, dtype=np.float32)
    fixed = np.zeros(16, np.float32)
    fixed.flags.writeable = False
    with pytest.raises(kiln.LaunchError, match=r"argument `out\[0\]`: expected an array that may"):
        network(x, [Layer(x, None)], (), (fixed, np.zeros(1, np.int32)))


def many(count: int):
    names = [f"a{i}" for i in range(count)]
    lines = [
        f"def many({', '.join(names)}, out: kiln.View):",
        "    kiln.grid(1)",
        "    t = a0.load(0, 4)",
    ]
    lines += [f"    t = t + {name}.load(0, 4)" for name in names[1:]]
    text = "\n".join([*lines, "    out.store(0, t)", ""])
    file = f"many_{count}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"kiln": kiln}
    exec(compile(text, file, "exec"), scope)
    return kiln.kernel(scope["many"])


@pytest.mark.parametrize("device", DEVICES)
def test_more_than_64_parameters(device: str) -> None:
    kernel, out = many(100), np.zeros(4, np.float32)
    arrays = [np.full(4, i, np.float32) for i in range(100)]
    for array in arrays[60:]:
        array.flags.writeable = False
    kernel(*arrays, out, _device=device)
    assert out.tolist() == [4950.0] * 4


def test_a_read_only_array_beyond_the_64th_is_known_as_such() -> None:
    kernel, out = many(70), np.zeros(4, np.float32)
    out.flags.writeable = False
    with pytest.raises(kiln.LaunchError, match="argument `out`: expected an array that may be"):
        kernel(*[np.zeros(4, np.float32)] * 70, out)


def test_too_many_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="expected at most 512 arguments, got 601"):
        many(600)


@kiln.kernel
def total(views, out: kiln.View):
    kiln.grid(1)
    sum = kiln.zeros((4,), kiln.f32)
    for view in views:
        sum += view.load(0, 4)
    out.store(0, sum)


def test_a_list_of_a_hundred_tensors() -> None:
    out = np.zeros(4, np.float32)
    total([np.full(4, i, np.float32) for i in range(100)], out)
    assert out.tolist() == [4950.0] * 4


@kiln.kernel
def scaled(x: kiln.View, out: kiln.View, alpha: kiln.f32, n: int, flag: bool, beta: kiln.View):
    i = kiln.grid(kiln.cdiv(x.shape[0], 16))
    if flag and beta > 0:
        out.store(i * 16, x.load(i * 16, 16) * alpha + (n - beta) * 2)
    if i == 0:
        beta[()] = -beta


@pytest.mark.parametrize("device", DEVICES)
def test_arrays_without_dimensions_are_scalars(device: str, rng) -> None:
    x = rng.standard_normal(20, dtype=np.float32)
    out, beta = np.zeros(20, np.float32), np.array(1.5, np.float32)
    alpha = np.array(3.0)
    scaled(x[:16], out, alpha, np.array(7, np.int16), np.array(True), beta, _device=device)
    np.testing.assert_allclose(out[:16], x[:16] * 3 + (7 - 1.5) * 2, rtol=1e-6)
    assert beta == -1.5 and not out[16:].any()


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_tensors_without_dimensions_are_scalars(framework: str, rng) -> None:
    package = pytest.importorskip("torch" if framework == "torch" else "jax.numpy")
    make = package.tensor if framework == "torch" else package.asarray
    x, out = rng.standard_normal(16, dtype=np.float32), np.zeros(16, np.float32)
    scaled(x, out, make(2.0), make(5), make(True), np.array(1.0, np.float32))
    np.testing.assert_allclose(out, x * 2 + 8, rtol=1e-6)
    with pytest.raises(kiln.LaunchError, match="argument `n`"):
        scaled(x, out, 1.0, make(0.5), True, np.array(1.0, np.float32))
    with pytest.raises(kiln.LaunchError, match="argument `n`"):
        scaled(x, out, 1.0, np.array([1]), True, np.array(1.0, np.float32))


@kiln.autotune(key=["x"])
@kiln.kernel
def tuned(x: kiln.View, outs: list, bias: kiln.View | None = None,
          BLOCK: kiln.tunable = kiln.tunable(16, 32)):  # fmt: skip
    i = kiln.grid(kiln.cdiv(x.shape[0], BLOCK))
    tile = x.load(i * BLOCK, BLOCK)
    for out in outs:
        out.store(i * BLOCK, tile if bias is None else tile + bias.load(i * BLOCK, BLOCK))


def test_a_tuner_takes_structures(rng) -> None:
    x = rng.standard_normal(32, dtype=np.float32)
    outs = [np.zeros_like(x), np.zeros_like(x)]
    tuned(x, outs)
    assert np.array_equal(outs[0], x) and np.array_equal(outs[1], x)
    tuned(x, outs[:1], x)
    assert np.array_equal(outs[0], 2 * x)
    assert pickle.loads(pickle.dumps(tuned)) is tuned
