"""Kernels pickle, are copied, and travel to workers; compiled ones are saved and loaded."""

import copy
import pickle

import numpy as np
import pytest
from travelling import plus, run, triple, tripled, tuned

import kiln


@pytest.mark.parametrize("value", [triple, tuned, tripled, kiln.bf16, kiln.exp, kiln.View])
def test_what_a_module_has_is_pickled_by_its_name_and_copied_as_itself(value) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(value, protocol)) is value
    assert copy.deepcopy({"k": [value]})["k"][0] is value and copy.copy(value) is value


def test_a_kernel_of_a_factory_is_pickled_with_all_it_needs() -> None:
    made = pickle.loads(pickle.dumps(plus(5)))
    assert np.array_equal(run(made, 100), 3 * np.arange(100, dtype=np.float32) + 5)
    assert made.parameters == plus(5).parameters
    assert made.warmup(np.zeros(4, np.float32), np.zeros(4, np.float32)).metadata
    wrong = pickle.loads(pickle.dumps(plus("x")))
    with pytest.raises(kiln.CompileError, match=r"travelling.py:\d+:\d+: error: expected numbers"):
        run(wrong, 4)


def test_launch_options_are_pickled_and_a_stream_is_not() -> None:
    configured = triple.options(opt_level=1, device="cpu")[(2,)]
    again = pickle.loads(pickle.dumps(configured))
    assert again.kernel is triple and again._launch_options == configured._launch_options
    assert np.array_equal(run(again, 128), 3 * np.arange(128, dtype=np.float32))
    placed = triple.options(priority=2, cluster=(2, 1), cooperative=True)
    assert pickle.loads(pickle.dumps(placed))._launch_options == placed._launch_options
    with pytest.raises(TypeError, match="expected a kernel without a stream to pickle"):
        pickle.dumps(triple.options(stream=1))


@pytest.mark.parametrize("start", ["spawn", "forkserver"])
def test_kernels_travel_to_spawned_workers(python, tmp_path, start: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"""
import multiprocessing
import kiln
from travelling import plus, run, triple, tripled, tuned

@kiln.kernel
def mine(x: "kiln.View", out: kiln.View, BLOCK: kiln.constexpr = 64):
    i = kiln.grid(kiln.cdiv(x.shape[0], BLOCK))
    out.store(i * BLOCK, tripled(x.load(i * BLOCK, BLOCK)) - 1)

if __name__ == "__main__":
    kernels = [triple, plus(2), mine, triple.options(opt_level=1)]
    with multiprocessing.get_context("{start}").Pool(1) as pool:
        print(*[float(pool.apply(run, (kernel, 9))[8]) for kernel in kernels])
        try:
            pool.apply(run, (plus("x"), 3))
        except kiln.CompileError as error:
            print(error.line)
""")
    code = "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    assert python(code, str(script))[0] == "24.0 26.0 23.0 24.0"


def test_errors_and_packed_arrays_are_pickled() -> None:
    with pytest.raises(kiln.LaunchError) as caught:
        triple(3, np.zeros(4, np.float32))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.kernel, again.argument) == (str(caught.value), "triple", "x")
    packed = kiln.PackedArray.from_numpy(np.arange(8) - 4, "i4")
    for other in (pickle.loads(pickle.dumps(packed)), copy.deepcopy(packed)):
        assert other.__kiln_tensor__[0] == other.data.ctypes.data != packed.data.ctypes.data
        assert np.array_equal(other.to_numpy(), packed.to_numpy())


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "triple.kiln"
    x = np.zeros(64, np.float32)
    triple.compile(x, x.copy(), BLOCK=32).save(path)
    return path


def test_a_saved_kernel_is_loaded_and_launched(saved) -> None:
    loaded = kiln.load(saved)
    assert (loaded.name, loaded.target) == ("triple", kiln.device("cpu").target)
    assert np.array_equal(run(loaded, 64), 3 * np.arange(64, dtype=np.float32))
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    loaded[(1,)](x, out=out)
    assert np.array_equal(out, np.where(x < 32, 3 * x, 0))
    assert pickle.loads(pickle.dumps(loaded.compiled)).asm == loaded.compiled.asm
    assert np.array_equal(run(pickle.loads(pickle.dumps(loaded)), 64), 3 * x)


def test_a_loaded_kernel_needs_no_source(python, saved) -> None:
    code = """import sys, numpy as np, kiln
x = np.arange(64, dtype=np.float32); out = np.zeros_like(x)
kiln.load(sys.argv[1])(x, out)
print(out[5], "travelling" in sys.modules, "kiln.frontend.lowering" in sys.modules)"""
    assert python(code, str(saved)) == ["15.0 False False"]


@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
def test_a_kernel_for_another_chip_is_loaded_where_it_runs(tmp_path, chip: str) -> None:
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    target = kiln.device(f"emu:{chip}").target
    triple.compile(x, out, target=target).save(tmp_path / "k.kiln")
    loaded = kiln.load(str(tmp_path / "k.kiln"))
    loaded(x, out, _device=f"emu:{chip}")
    assert np.array_equal(out, 3 * x)
    with pytest.raises(kiln.LaunchError, match="expected an artifact for target 'cpu'"):
        loaded(x, out)


def test_what_a_loaded_kernel_refuses(saved, tmp_path) -> None:
    loaded, x = kiln.load(saved), np.zeros(64, np.float32)
    fixed = x.copy()
    fixed.flags.writeable = False
    with pytest.raises(kiln.LaunchError, match="argument `out`: expected an array that may be"):
        loaded(x, fixed)
    with pytest.raises(kiln.LaunchError, match="argument 'x'|argument `x`"):
        loaded(x.astype(np.float64), x)
    with pytest.raises(TypeError, match="missing the argument 'out'"):
        loaded(x)
    with pytest.raises(TypeError, match="unexpected argument 'BLOCK'"):
        loaded(x, x.copy(), BLOCK=32)
    with pytest.raises(kiln.LaunchError, match="expected 2 arguments"):
        loaded(x, x, x)
    (tmp_path / "bad.kiln").write_bytes(b"nothing")
    with pytest.raises(kiln.CacheError, match="artifact"):
        kiln.load(tmp_path / "bad.kiln")
    with pytest.raises(FileNotFoundError):
        kiln.load(tmp_path / "absent.kiln")
    with pytest.raises(TypeError, match="with the path of a compiled kernel"):
        kiln.load(x, 0, 4)
