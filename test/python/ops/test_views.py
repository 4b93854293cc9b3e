"""Parts of views, permuted and reshaped views, views that are chosen when the kernel runs: what is
read and written through them is what NumPy's views hold."""

import itertools
import linecache

import numpy as np
import pytest
from tiles import DEVICE, NUMPY, run

import kiln

_numbers = itertools.count()


def kernel_of(body: list[str], arguments: str = "x, y, out, n, m"):
    """A kernel of one program that is made of text."""
    text = f"def kernel({arguments}):\n    kiln.grid(1)\n    " + "\n    ".join(body) + "\n"
    file = f"views_{next(_numbers)}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"kiln": kiln}
    exec(compile(text, file, "exec"), scope)
    return kiln.kernel(scope["kernel"])


def window(view: np.ndarray, offsets, shape, pad) -> np.ndarray:
    """What a load gives: the elements from the offsets on, `pad` outside."""
    out = np.full(shape, pad, view.dtype)
    for at in np.ndindex(*shape):
        place = tuple(o + i for o, i in zip(offsets, at, strict=True))
        if all(0 <= p < n for p, n in zip(place, view.shape, strict=True)):
            out[at] = view[place]
    return out


def place(view: np.ndarray, offsets, tile: np.ndarray) -> None:
    """What a store does: writes inside, drops the rest."""
    for at in np.ndindex(*tile.shape):
        where = tuple(o + i for o, i in zip(offsets, at, strict=True))
        if all(0 <= p < n for p, n in zip(where, view.shape, strict=True)):
            view[where] = tile[at]


def random_chain(rng, name: str, array: np.ndarray, numbers: dict[str, int]) -> str:
    """Python that makes a view of an array: NumPy and Kiln read the same text."""
    text, view = name, array
    for _ in range(rng.integers(1, 5)):
        kind = rng.choice(["index", "slice", "permute", "reshape", "new", "T"])
        rank = view.ndim
        step = None
        if kind == "index" and rank > 1:
            keys = [":"] * rank
            for dim in rng.permutation(rank)[: rng.integers(1, rank)]:
                if view.shape[dim] == 0:
                    continue
                fit = [k for k, v in numbers.items() if v < view.shape[dim]]
                keys[dim] = (
                    str(rng.choice(fit)) if fit and rng.random() < 0.6
                    else str(rng.integers(view.shape[dim]))
                )  # fmt: skip
            last = max((i for i, k in enumerate(keys) if k != ":"), default=0)
            keys = keys[: last + 1] if rng.random() < 0.5 else keys
            step = f"[{', '.join(keys)}]"
        elif kind == "slice":
            keys = []
            for extent in view.shape:
                names = [str(k) for k in numbers]
                low = str(rng.choice(["", *names, str(rng.integers(-extent - 1, extent + 2))]))
                high = str(rng.choice(["", *names, str(rng.integers(-extent - 1, extent + 2))]))
                by = str(rng.choice(["", "", "", ":2", ":-1", ":3", ":-2"]))
                keys.append(f"{low}:{high}{by}")
            step = f"[{', '.join(keys)}]"
        elif kind == "permute":
            step = f".transpose({', '.join(map(str, rng.permutation(rank)))})"
        elif kind == "T":
            step = ".T"
        elif kind == "new" and rank < 5:
            keys = [":"] * rank
            keys.insert(rng.integers(rank + 1), "None")
            step = f"[{', '.join(keys)}]"
        elif kind == "reshape" and view.flags.c_contiguous and view.size:
            cut = rng.integers(rank + 1)
            tail = [str(n) for n in view.shape[cut:]]
            step = f".reshape({', '.join(['-1', *tail])})"
        if step is not None:
            text += step
            view = eval(text, {name: array, **numbers})
    assert np.shares_memory(view, array) or view.size == 0
    return text


@pytest.mark.parametrize("round", range(5 if DEVICE == "cpu" else 3))
def test_random_chains_of_parts(rng, round):
    """Loads, stores, gathers, scatters, atomics and elements of parts of parts."""
    shape = tuple(int(n) for n in rng.integers(1, 7, rng.integers(1, 5)))
    dtype = rng.choice([np.float32, np.int32])
    base = rng.integers(-99, 99, tuple(n + 2 for n in shape)).astype(dtype)
    x = base[tuple(slice(1, n + 1) for n in shape)] if rng.random() < 0.4 else base
    y, numbers = rng.integers(-99, 99, x.shape).astype(dtype), {"n": 1, "m": 2}
    read = random_chain(rng, "x", x, numbers)
    written = random_chain(rng, "y", y, numbers)
    source, target = eval(read, {"x": x, **numbers}), y.copy()
    place_in = eval(written, {"y": target, **numbers})
    tile = rng.integers(1, 5, source.ndim)
    while np.prod(tile) > 200:  # what comes behind it in `out` begins there
        tile[tile.argmax()] -= 1
    tile = tuple(int(t) for t in tile)
    at = tuple(int(o) for o in rng.integers(-2, 4, source.ndim))
    to = tuple(int(o) for o in rng.integers(-2, 4, place_in.ndim))
    stored = tuple(int(t) for t in rng.integers(1, 5, place_in.ndim))
    first = ", ".join(["0"] * source.ndim)
    lines = ", ".join(f"kiln.arange(4) - {o}" for o in at)
    spots = ", ".join(["kiln.arange(2)"] * place_in.ndim)
    kernel = kernel_of([
        f"v = {read}",
        f"w = {written}",
        f"t = v.load({at!r}, {tile!r}, pad=7)",
        f"out[0:{np.prod(tile)}] = t.reshape(-1)",
        f"out[200:204] = kiln.gather(v, ({lines},), pad=5)",
        f"out[210] = v[{first}]",
        f"s = kiln.arange({np.prod(stored)}).to(y.dtype).reshape({stored!r})",
        f"w.store({to!r}, s)",
        f"kiln.atomic_add(w, ({spots},), kiln.full(2, 3, y.dtype))",
    ])  # fmt: skip
    out = np.zeros(256, dtype)
    run(kernel, x, y, out, 1, 2)
    want = np.zeros(256, dtype)
    want[: np.prod(tile)] = window(source, at, tile, 7).ravel()
    want[200:204] = [
        window(source, [i - o for o in at], (1,) * source.ndim, 5).item() for i in range(4)
    ]
    want[210] = window(source, (0,) * source.ndim, (1,) * source.ndim, 0).item()
    place(place_in, to, np.arange(np.prod(stored)).astype(dtype).reshape(stored))
    for i in range(2):
        if all(i < n for n in place_in.shape):
            place_in[(i,) * place_in.ndim] += 3
    print(read, written, x.shape, tile, at, stored, to)
    assert np.array_equal(out, want)
    assert np.array_equal(y, target)


@kiln.kernel
def heads(x: kiln.View, y: kiln.View, M: kiln.constexpr, D: kiln.constexpr):
    b, h = kiln.grid(x.shape[0], x.shape[1])
    q, o = x[b, h], y[b][:, h]
    kiln.static_assert(q.rank == 2 and o.rank == 2)
    for i in range(0, q.shape[0], M):
        o.store((i, 0), q.load((i, 0), (M, D)) * 2)


def test_dropped_dimensions(rng):
    x = rng.standard_normal((2, 3, 13, 16)).astype(np.float32)
    y = np.zeros((2, 13, 3, 16), np.float32)
    run(heads, x, y, M=8, D=16)
    assert np.array_equal(y, x.transpose(0, 2, 1, 3) * 2)


@kiln.kernel
def outside(x: kiln.View, y: kiln.View, i: kiln.i32):
    kiln.grid(1)
    row = x[i]
    y[0, 0:8] = row.load(0, 8, pad=9)
    y[1, 0:8] = row[::-1].load(0, 8, pad=9)
    y[2, 0:8] = x.T[:, i].load(0, 8, pad=9)
    row.store(0, kiln.zeros(8, x.dtype))
    x[i, ::2].store(0, kiln.zeros(4, x.dtype))


@pytest.mark.parametrize("i", [-1, 4, 1 << 20, -(1 << 31)])
def test_an_index_that_is_outside_reaches_nothing(rng, i):
    base = rng.standard_normal((6, 8)).astype(np.float32)
    before, y = base.copy(), np.zeros((3, 8), np.float32)
    run(outside, base[1:5], y, i)
    assert np.all(y == 9) and np.array_equal(base, before)


@kiln.kernel
def bounded(x: kiln.View, y: kiln.View, lo: kiln.i64, hi: kiln.i64):
    kiln.grid(1)
    part = x[:, lo:hi]
    y.store((0, 0), part.load((0, 0), (4, 32), pad=-1))
    part.store((0, 0), kiln.full((4, 32), 5, x.dtype))


@pytest.mark.parametrize("lo, hi", [(3, 17), (16, 32), (-5, 4), (20, 10), (30, 99), (40, 50)])
def test_a_slice_bounds_what_is_reached(rng, lo, hi):
    x = rng.integers(0, 99, (4, 32), np.int32)
    want, y = x.copy(), np.zeros((4, 32), np.int32)
    lo_, hi_ = max(lo, 0), max(hi, 0)
    expected = window(x[:, lo_:hi_], (0, 0), (4, 32), -1)
    want[:, lo_:hi_] = 5
    run(bounded, x, y, lo, hi)
    assert np.array_equal(y, expected) and np.array_equal(x, want)


@kiln.kernel
def chosen(a: kiln.View, b: kiln.View, y: kiln.View, c: kiln.i32):
    kiln.grid(1)
    v = a if c > 0 else b
    y[0, 0:16] = v.load(0, 16, pad=1)
    if c > 1:
        w, k = a[2:9], 2
    elif c > 0:
        w, k = b[1:12:2], 3
    else:
        w, k = b[::-1], 4
    y[1, 0:16] = w.load(0, 16, pad=k.to(y.dtype))
    y[2, 0:4] = kiln.gather(w, kiln.arange(4), pad=k.to(y.dtype))
    y[2, 8] = w[1]
    w.store(1, kiln.full(2, 77, y.dtype))
    kiln.atomic_add(w, 0, 1)
    y[2, 9] = (w.shape[0] + v.shape[0]).to(y.dtype)


@pytest.mark.parametrize("c", [0, 1, 2])
@pytest.mark.parametrize("lengths", [(16, 16), (11, 14)])
def test_a_view_that_is_chosen_when_the_kernel_runs(rng, c, lengths):
    a, b = (rng.integers(0, 50, n, np.int32) for n in lengths)
    y, want = np.zeros((3, 16), np.int32), np.zeros((3, 16), np.int32)
    p, q = a.copy(), b.copy()
    v = p if c > 0 else q
    w = p[2:9] if c > 1 else q[1:12:2] if c > 0 else q[::-1]
    k = {0: 4, 1: 3, 2: 2}[c]
    want[0], want[1] = window(v, (0,), (16,), 1), window(w, (0,), (16,), k)
    want[2, :4], want[2, 8], want[2, 9] = w[:4], w[1], len(w) + len(v)
    w[1:3] = 77
    w[0] += 1
    run(chosen, a, b, y, c)
    assert np.array_equal(y, want) and np.array_equal(a, p) and np.array_equal(b, q)


@kiln.kernel
def ping_pong(a: kiln.View, b: kiln.View, rounds: kiln.i32, N: kiln.constexpr):
    kiln.grid(1)
    for _ in range(rounds):
        x = a.load(-1, N) + a.load(1, N)
        b.store(0, x)
        a, b = b, a
    i = 0
    while i < rounds:
        b.store(0, a.load(0, N) * 2)
        a, b, i = b, a, i + 1


@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
def test_views_that_a_loop_swaps(rng, rounds):
    a, b = rng.integers(0, 9, (2, 21)).astype(np.int32)
    p, q = a.copy(), b.copy()
    for _ in range(rounds):
        x = np.pad(p, 1)
        q[:] = x[:-2] + x[2:]
        p, q = q, p
    for _ in range(rounds):
        q[:] = p * 2
        p, q = q, p
    run(ping_pong, a, b, rounds, N=32)
    assert np.array_equal(a, p) and np.array_equal(b, q)


@kiln.kernel
def walked(x: kiln.View, y: kiln.View):
    kiln.grid(1)
    rest = x
    total = 0.0
    for i in range(x.shape[0]):
        total += rest[0]
        rest = rest[1:]
        y[i] = total
    y[x.shape[0]] = rest.shape[0].to(kiln.f32)


def test_a_part_that_a_loop_carries(rng):
    x = rng.integers(0, 9, 13).astype(np.float32)
    y = np.zeros(14, np.float32)
    run(walked, x, y)
    assert np.array_equal(y, [*np.cumsum(x), 0])


@kiln.kernel
def flattened(x: kiln.View, y: kiln.View, n: kiln.i64):
    kiln.grid(1)
    y.store(0, x.reshape(-1).load(0, 64, pad=1))
    z = x.reshape(n, -1)
    y.store(64, z.load((0, 0), (8, 8), pad=2).reshape(-1))


def test_reshapes_that_only_the_run_can_judge(rng):
    x = rng.integers(0, 99, (4, 3, 5), np.int32)
    y = np.zeros(128, np.int32)
    run(flattened, x, y, 6)
    assert np.array_equal(y[:64], window(x.ravel(), (0,), (64,), 1))
    assert np.array_equal(y[64:], window(x.reshape(6, -1), (0, 0), (8, 8), 2).ravel())
    with pytest.raises(kiln.DeviceAssertError, match="do not hold the elements"):
        run(flattened, x, y, 7)
    with pytest.raises(kiln.DeviceAssertError, match="strides do not allow the reshape"):
        run(flattened, rng.integers(0, 99, (4, 3, 7), np.int32)[:, :, :5], y, 6)


@kiln.kernel
def squeezed(x: kiln.View, y: kiln.View, i: kiln.i32):
    kiln.grid(1)
    y.store(0, x.load((i, 0, 2), (1, 8, 1), squeeze=True))
    y.store(8, x.load((i, 0, 2), (1, 8, 1), squeeze=(0, -1)) * 2)
    y[16] = x.load((i, 3, 2), (1, 1, 1), squeeze=True)
    kiln.static_assert(x.load((0, 0, 0), (1, 8, 1), squeeze=0).shape == (8, 1))


def test_loads_that_drop_dimensions(rng):
    x = rng.standard_normal((3, 8, 4)).astype(np.float32)
    y = np.zeros(17, np.float32)
    run(squeezed, x, y, 1)
    assert np.array_equal(y, [*x[1, :, 2], *(x[1, :, 2] * 2), x[1, 3, 2]])


@kiln.kernel
def updated(x: kiln.View, y: kiln.View, N: kiln.constexpr):
    i = kiln.grid(x.shape[0])
    y[i, 0] += 1
    y[i, 1] -= x[i, 0]
    y[i, 2:] *= x.load((i, 0), (1, N), squeeze=0)
    y[i, 2:4] += 5
    y[i, 4:6] = 9


def test_parts_are_updated_in_place(rng):
    x = rng.standard_normal((5, 20)).astype(np.float32)
    y = rng.standard_normal((5, 20)).astype(np.float32)
    want = y.copy()
    want[:, 0] += 1
    want[:, 1] -= x[:, 0]
    want[:, 2:] *= x[:, :18]
    want[:, 2:4] += 5
    want[:, 4:6] = 9
    run(updated, x, y, N=32)
    assert np.array_equal(y, want)


@kiln.kernel
def products(a: kiln.View, b: kiln.View, c: kiln.View, HALF: kiln.constexpr):
    i = kiln.grid(a.shape[0])
    acc = kiln.zeros((32, 64), kiln.f32)
    rows, columns = a[i], b[i].T
    for k in range(0, rows.shape[1], 32):
        if HALF:
            x = rows[:, k : k + 32].load((0, 0), (32, 32))
            y = columns[k:].load((0, 0), (32, 64))
        else:
            x, y = rows.load((0, k), (32, 32)), columns.load((k, 0), (32, 64))
        acc = kiln.dot(x, y, acc)
    c[i].store((0, 0), acc)


@pytest.mark.parametrize("half", [False, True])
def test_products_of_parts(rng, half):
    a = rng.standard_normal((2, 32, 112)).astype(np.float32)
    b = rng.standard_normal((2, 64, 112)).astype(np.float32)
    c = np.zeros((2, 32, 64), np.float32)
    run(products, *(x.astype(NUMPY["bf16"]) for x in (a, b)), c, HALF=half)
    a, b = (x.astype(NUMPY["bf16"]).astype(np.float64) for x in (a, b))
    assert np.abs(c - a @ b.transpose(0, 2, 1)).max() < 1e-3


@kiln.kernel
def shifted_in_place(x: kiln.View, n: kiln.i32):
    kiln.grid(1)
    for i in range(n):
        part = x[i:]
        part.store(0, part.load(0, 256) + 1)


def test_parts_that_overlap_those_of_the_turn_before(rng):
    x = rng.integers(0, 99, 300, np.int32)
    want = x.copy()
    for i in range(9):
        want[i : i + 256] += 1
    run(shifted_in_place, x, 9)
    assert np.array_equal(x, want)


@kiln.kernel
def narrow(x: kiln.View, y: kiln.View, i: kiln.i32):
    kiln.grid(1)
    y.store((0, 0), x[i, 8:].load((0,), (16,), pad=1)[None, :])
    y.store((1, 0), x.T[4:, i].load((0,), (16,), pad=1)[None, :])
    y[2, 2:10].store(0, x[i, 0:8].load(0, 8))


@pytest.mark.parametrize("kind", ["i4", "f6E2M3FN", "f8E4M3FN", "i1", "f64"])
def test_parts_of_narrow_and_wide_elements(rng, kind):
    dtype = NUMPY[kind]
    x, y = (rng.integers(0, 2, (3, 24)).astype(dtype) for _ in range(2))
    want = y.copy()
    want[0, :16] = window(x[1, 8:], (0,), (16,), 1)
    want[1, :16] = window(x[1, 4:], (0,), (16,), 1)
    want[2, 2:10] = x[1, :8]
    packed = kind in ("i4", "f6E2M3FN")
    given = [kiln.PackedArray.from_numpy(v) for v in (x, y)] if packed else [x, y]
    if kind == "f6E2M3FN":  # two elements do not end on a byte
        with pytest.raises(kiln.DeviceAssertError, match="begin on a byte"):
            run(narrow, *given, 1)
        return
    run(narrow, *given, 1)
    got = given[1].to_numpy() if packed else y
    assert np.array_equal(got.astype(np.float64)[:, :24], want.astype(np.float64))
