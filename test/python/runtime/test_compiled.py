"""kernel.compile, kernel.warmup, and what they give."""

import re

import numpy as np
import pytest
from product_kernels import finished
from runtime_kernels import add, matmul, scale

import kiln

VECTOR = kiln.View[kiln.f32, 1]
STAGES = ("tile", "layout", "schedule", "target", "llvm", "llvmir", "asm")


def test_every_stage_is_there():
    compiled = add.compile(VECTOR, VECTOR, VECTOR, BLOCK=128)
    texts = [compiled.ir(stage) for stage in STAGES]
    assert "tile.kernel" in texts[0] and "tensor<128xf32>" in texts[0]
    assert "define" in compiled.ir("llvmir")
    assert compiled.asm == compiled.ir("asm") and ".text" in compiled.asm
    assert len(compiled.binary) > 100
    assert compiled.constants == {"BLOCK": 128} and compiled.target == "cpu"


def test_the_metadata_is_the_abi():
    metadata = add.compile(VECTOR, VECTOR, VECTOR).metadata
    assert metadata["kernel"] == "add" and metadata["has_grid"] is True
    assert [a["name"] for a in metadata["arguments"]] == ["a", "b", "c"]
    assert [a["written"] for a in metadata["arguments"]] == [False, False, True]
    assert [e["kind"] for e in metadata["abi"][:2]] == ["pointer", "extent"]


def test_types_and_real_arguments_mix():
    compiled = scale.compile(np.zeros(32, np.float32), VECTOR, kiln.f32)
    facts = [a.get("facts", {}) for a in compiled.metadata["arguments"]]
    assert facts[0].get("pointer") == 16 and not facts[1].get("pointer")


def test_wrong_requests():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'c'"):
        add.compile(VECTOR, VECTOR)
    with pytest.raises(kiln.LaunchError, match="expected the rank of `a`"):
        add.compile(kiln.View[kiln.f32], VECTOR, VECTOR)
    with pytest.raises(TypeError, match="unexpected keyword argument 'BLOK'"):
        add.compile(VECTOR, VECTOR, VECTOR, BLOK=3)
    with pytest.raises(ValueError, match="expected a stage of tile, layout"):
        add.compile(VECTOR, VECTOR, VECTOR).ir("cuda")
    with pytest.raises((kiln.LaunchError, kiln.CompileError), match=r"expected .*target.*, got"):
        add.compile(VECTOR, VECTOR, VECTOR, target="abacus")


def test_warmup_does_not_launch():
    x, out = np.ones(40, np.float32), np.zeros(40, np.float32)
    compiled = add.warmup(x, x, out, BLOCK=8)
    np.testing.assert_array_equal(out, 0)
    add(x, x, out, BLOCK=8)
    np.testing.assert_array_equal(out, 2)
    assert add.warmup(x, x, out, BLOCK=8) is compiled
    assert "tile.kernel" in compiled.ir("tile")  # compiled once more, to keep the stages


def test_explain_tells_arguments_and_stages():
    text = add.compile(VECTOR, VECTOR, VECTOR, BLOCK=64).explain()
    assert text.startswith("kernel add for cpu\n  BLOCK = 64\n")
    assert "c: view ? of f32, strides [1], written" in text
    assert "grid: the kernel's own" in text
    for stage in STAGES:
        assert f"  {stage:9}" in text


def test_explain_tells_the_decisions():
    view = kiln.View[kiln.f32, 2]
    text = matmul.compile(view, view, view).explain()
    assert "decided by stage layout" in text
    assert "protocol" not in text  # of warps, of which this kernel has none
    assert re.search(r"  tile.dot tensor<32x32xf32>: .*= ", text), text


def test_explain_tells_why_no_roles_are_decided():
    from kiln.runtime.devices import targets

    if not any(entry["name"] == "nvptx" for entry in targets()):
        pytest.skip("this build has no target whose products run beside their warps")
    view, row = kiln.View[kiln.f16, 2], kiln.View[kiln.f16, 1]
    switches = dict.fromkeys(("BIAS", "MORE", "RELU", "SCALED"), False)
    arguments, options = (view, view, view, row, view), dict(BM=64, BN=64, BK=32, **switches)
    text = finished.compile(*arguments, **options, target="nvptx:sm_90a").explain()
    assert re.search(r"^no roles are decided, since line \d+: no copy engine brings ", text,
                     re.MULTILINE), text  # fmt: skip
    text = finished.compile(*arguments, **options, target="nvptx:sm_80").explain()
    assert "no roles" not in text
    assert re.search(r"^protocol$\n^  role( \w+)?: ", text, re.MULTILINE), text


def test_explain_tells_the_protocol():
    from kiln.runtime.explain import _protocol

    role = {"skew": 0, "registers": 0, "trips": []}
    lines = _protocol({
        "kernel": "gemm",
        "roles": [
            role | {"name": "load", "first": 0, "warps": 1, "copies": 1, "registers": 40},
            role | {"name": "mma", "first": 1, "warps": 4, "copies": 2, "skew": 1},
        ],
        "rings": [{"depth": 4, "own": False,
                   "buffers": [{"at": 0, "bytes": 16384}, {"at": 65536, "bytes": 32768}]}],
        "counters": [
            {"at": 196608, "slots": 4, "arrivals": 1, "arrive": ["load"], "wait": ["mma"]},
            {"at": 196640, "slots": 4, "arrivals": 8, "arrive": ["mma"], "wait": ["load"]},
        ],
        "barriers": [{"number": 2, "count": 2, "warps": 4}],
        "fences": [{"kind": "barriers", "count": 1}, {"kind": "shared", "count": 4}],
    })  # fmt: skip
    assert lines == [
        "role load: 1 warp from warp 0 on, 40 registers a thread",
        "role mma: 2 copies of 4 warps from warp 1 on, each 1 barrier behind the one before it",
        "ring of 4 slots: 16384 bytes each from byte 0 on and 32768 bytes each from byte 65536 on",
        "4 counters from byte 196608 on: 1 arrival by load, mma waits",
        "4 counters from byte 196640 on: 8 arrivals by mma, load waits",
        "barriers 2 to 3: 4 warps each",
        "fences: 1 of barriers, 4 of shared",
    ]


def test_explain_tells_layouts_and_what_moves_cost():
    from kiln.runtime.devices import targets

    view = kiln.View[kiln.f16, 2]
    names = [entry["spellings"][0] for entry in targets() if entry["name"] not in ("cpu", "emu")]
    if not names:
        pytest.skip("this build has only the host as target")
    for name in names:
        text = matmul.compile(view, view, kiln.View[kiln.f32, 2], target=name).explain()
        layouts = text.split("\nlayouts\n")[1].split("\n\n")[0]
        assert re.search(r"^  register = .*lane = .*warp = ", layouts, re.MULTILINE), text
        assert re.search(r"^    tile.load 32x16xf16$", layouts, re.MULTILINE), text
        assert re.search(r"^  offset = .*\n    (tile.alloc|buffer of tile.load) 32x16xf16$", layouts,
                         re.MULTILINE), text  # fmt: skip
        moves = text.split("\nmoves, for one warp\n")[1].split("\n\n")[0]
        for op in ("tile.load", "tile.store", "tile.write", "tile.read"):
            assert re.search(rf"^  line \d+: {op} tensor<.*>: \d+ bytes a lane, ", moves,
                             re.MULTILINE), text  # fmt: skip
        assert "cycles, no bank conflict" in moves


def test_decisions_are_found_wherever_attributes_stand():
    from kiln.runtime.explain import _decisions

    text = """
      "x.kernel"(%a: !tile.view<4xf32> {tile.name = "a, {b}"}) attributes {x.bytes = 8 : i64} {
        %1 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<4xf32>) {
          %2 = tile.dot %a, %b, %s {atom = #x.mma<16x8, [1, 2]>, tile.name = "n"} : tensor<4xf32>
        } {order = 3 : i64, roles = [#tile.role<"load", warps 4>]}
        %4 = arith.addi %1, %2 {overflow = 1} : i64
      }
    """
    assert _decisions(text) == [
        "x.kernel: x.bytes = 8",
        "tile.dot tensor<4xf32>: atom = #x.mma<16x8, [1, 2]>",
        'scf.for: order = 3, roles = [#tile.role<"load", warps 4>]',
    ]


def test_an_artifact_is_saved_and_read_back(tmp_path):
    from kiln import _native

    compiled = add.compile(VECTOR, VECTOR, VECTOR)
    compiled.save(tmp_path / "add.kiln")
    artifact = _native.Artifact.deserialize((tmp_path / "add.kiln").read_bytes())
    assert artifact.metadata == compiled.artifact.metadata
    x, out = np.arange(9, dtype=np.float32), np.zeros(9, np.float32)
    kiln.device("cpu").load(artifact).launch("add", [x, x, out])
    np.testing.assert_array_equal(out, x + x)
    damaged = bytearray((tmp_path / "add.kiln").read_bytes())
    damaged[-10] ^= 1
    with pytest.raises(kiln.CacheError):
        _native.Artifact.deserialize(bytes(damaged))


def test_a_loaded_kernel_refuses_what_shares_bytes_if_it_was_compiled_for_none(tmp_path):
    """Its loads may be moved over its stores; only what nobody writes may overlap."""
    x, y, out = np.ones(64, np.float32), np.ones(64, np.float32), np.zeros(64, np.float32)
    add.compile(x, y, out).save(tmp_path / "add.kiln")
    loaded = kiln.load(tmp_path / "add.kiln")
    memory = np.ones(128, np.float32)
    for first, last in ((memory[:64], memory[16:80]), (memory[48:112], memory[:64])):
        with pytest.raises(kiln.LaunchError, match="expected memory that no other argument"):
            loaded(first, y, last)
    assert (memory == 1).all()
    loaded(memory[:64], memory[16:80], out)
    loaded(memory[:64], memory[:64], memory[64:])
    assert (out == 2).all() and (memory[64:] == 2).all()
    add.compile(memory[:64], y, memory[16:80]).save(tmp_path / "add.kiln")
    kiln.load(tmp_path / "add.kiln")(memory[:64], y, memory[16:80])


def test_a_kernel_that_is_stopped_before_its_code_is_no_launch():
    x = np.ones(9, np.float32)
    for stage in ("layout", "asm"):
        with pytest.raises(kiln.LaunchError, match=r"kernel `add`: expected code.*stop-after"):
            add(x, x, x.copy(), _pipeline=f"stop-after={stage}")
    with pytest.raises(kiln.CompileError, match="expected stop-after to be a stage, got 'soup'"):
        add(x, x, x.copy(), _pipeline="stop-after=soup")
    stopped = add.compile(VECTOR, VECTOR, VECTOR, _pipeline="stop-after=layout")
    assert "tile.load" in stopped.ir("layout")


def test_a_kernel_says_what_it_is():
    assert repr(add) == "<kiln.kernel add>" and add.__name__ == "add"
    assert add.__doc__ == "Adds two vectors." and add.__module__ == "runtime_kernels"
    assert [p.name for p in add.parameters] == ["a", "b", "c", "BLOCK"]
    import inspect

    assert list(inspect.signature(add).parameters) == ["a", "b", "c", "BLOCK"]


def test_options_make_code_of_their_own():
    x, out = np.ones(16, np.float32), np.zeros(16, np.float32)
    configured = add.options(opt_level=1, grid=1)
    configured(x, x, out)
    np.testing.assert_array_equal(out, 2)
    assert add.warmup(x, x, out, _opt_level=1) is not add.warmup(x, x, out)
    with pytest.raises(TypeError, match="unexpected launch option '_speed'"):
        add.options(speed=3)
