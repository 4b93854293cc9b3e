"""The command `kiln`: its options, what it writes, its exit codes."""

import json
import os
import re
import struct
import subprocess
import sys
import textwrap
import zlib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import kiln
from kiln import cli

HERE = Path(__file__).resolve().parent
KERNELS = str(HERE / "runtime_kernels.py")
MLIR = """
tile.kernel @double(%x: !tile.view<?xf32> {tile.name = "x"},
                    %y: !tile.view<?xf32> {tile.name = "y"},
                    %f: f32 {tile.name = "f"}) grid {
  %n = tile.dim %x, 0 : !tile.view<?xf32>
  %c32 = arith.constant 32 : index
  %tiles = arith.ceildivsi %n, %c32 : index
  tile.grid %tiles
} {
  %p = tile.program_id x
  %c32 = arith.constant 32 : index
  %i = arith.muli %p, %c32 : index
  %v = tile.load %x[%i] : !tile.view<?xf32> -> tensor<32xf32>
  %s = tile.splat %f : tensor<32xf32>
  %w = arith.mulf %v, %s : tensor<32xf32>
  tile.store %w, %y[%i] : tensor<32xf32>, !tile.view<?xf32>
  tile.return
}
"""


@pytest.fixture
def kiln_command(tmp_path):
    """kiln_command(*arguments) -> the finished process; it runs in an empty folder."""

    def run(*arguments, **environment):
        path = os.pathsep.join(sys.path)
        return subprocess.run(
            [sys.executable, "-m", "kiln", *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": path, **environment}, cwd=tmp_path,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    return run


def succeeded(done):
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


TYPES = ("--arg", "a=f32[?]", "--arg", "b=f32[?]", "--arg", "c=f32[?]")
ADD = ("compile", f"{KERNELS}:add", *TYPES)


@pytest.mark.parametrize("stage", ["tile", "layout", "schedule", "target", "llvm", "llvmir", "asm"])
def test_compile_emits_every_stage(kiln_command, stage):
    text = succeeded(kiln_command("compile", f"{KERNELS}:add", *TYPES, "--emit", stage))
    assert {"tile": "tile.kernel @add", "llvmir": "define", "asm": ".text"}.get(stage, "") in text
    assert len(text) > 200


def test_compile_writes_an_artifact(kiln_command, tmp_path):
    succeeded(kiln_command("compile", f"{KERNELS}:add", *TYPES, "--set", "BLOCK=64"))
    from kiln import _native

    artifact = _native.Artifact.deserialize((tmp_path / "add.kiln").read_bytes())
    assert json.loads(artifact.metadata)["kernel"] == "add"
    assert "tensor<64xf32>" in artifact.section("ir:tile").decode()


def test_explain(kiln_command):
    text = succeeded(kiln_command("explain", f"{KERNELS}:scale", "--arg", "x=f32[?]", "--arg",
                                  "y=f32[?]"))  # fmt: skip
    assert text.startswith("kernel scale for cpu") and "factor: f32 scalar" in text


def test_run_a_script_with_arguments(kiln_command, tmp_path):
    (tmp_path / "script.py").write_text(
        "import sys\nif __name__ == '__main__':\n    print('ran', sys.argv[1:])\n"
    )
    assert succeeded(kiln_command("run", "script.py", "--", "one", "--two")) == (
        "ran ['one', '--two']\n"
    )


def test_run_a_kernel_on_random_inputs(kiln_command, tmp_path):
    (tmp_path / "k.mlir").write_text(MLIR)
    text = succeeded(
        kiln_command("run", "k.mlir", "--size", "x=100", "--size", "y=100", "--value", "f=2.5",
                     "--seed", "7", "--repeat", "3", "--save", "out.npz")
    )  # fmt: skip
    assert "double for cpu, seed 7" in text and "median of 3" in text
    arrays = np.load(tmp_path / "out.npz")
    np.testing.assert_array_equal(arrays["y"], arrays["x"] * np.float32(2.5))
    assert np.linalg.norm(arrays["x"]) > 1


def test_mlir_is_compiled_in_a_worker(kiln_command, tmp_path):
    (tmp_path / "k.mlir").write_text(MLIR)
    done = kiln_command("compile", "k.mlir", KILN_WORKER=str(tmp_path / "nowhere"))
    assert done.returncode == 1 and "worker" in done.stderr
    succeeded(kiln_command("compile", "k.mlir", "--in-process", KILN_WORKER="/nowhere"))


def test_a_compile_error_shows_the_line_and_exits_1(kiln_command, tmp_path):
    (tmp_path / "bad.py").write_text(
        "import kiln\n@kiln.kernel\ndef bad(x: kiln.View[kiln.f32, 1]):\n"
        "    kiln.grid(1)\n    y = x.nothing\n"
    )
    done = kiln_command("compile", "bad.py")
    assert done.returncode == 1 and "bad.py:5:9: error:" in done.stderr and "^" in done.stderr
    for text in (b"import kiln\nx = (", b"x = 1\0", b"\xff\xfe\x00"):
        (tmp_path / "odd.py").write_bytes(text)
        for command in ("compile", "explain", "run"):
            done = kiln_command(command, "odd.py")
            assert done.returncode == 1 and "expected Python in odd.py, got:" in done.stderr
            assert "Traceback" not in done.stderr
    (tmp_path / "bad.mlir").write_text("tile.kernel @k( {\n")
    done = kiln_command("compile", "bad.mlir")
    assert done.returncode == 1 and "bad.mlir:1:" in done.stderr, done.stderr


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["compile", "nope.py"], "expected a file, got 'nope.py', which is not there"),
        (["compile", "/"], "expected a file, got '/', which is none"),
        (["compile", KERNELS], "expected one kernel, or FILE:KERNEL"),
        (["compile", f"{KERNELS}:nope"], "expected the kernel 'nope'"),
        (["compile", f"{KERNELS}:add"], "expected the types of a, b, c"),
        (["compile", f"{KERNELS}:add", "--arg", "a=f99[?]"], "expected a type such as f32"),
        (["compile", f"{KERNELS}:add", "--arg", "a"], "expected NAME=TYPE, got 'a'"),
        (["compile", f"{KERNELS}:add", *TYPES, "--arg", "z=f32"], "expected arguments of add"),
        (["cache", "show", "zz"], "expected the beginning of one key"),
        (["cache", "prune", "--max-bytes", "much"], "expected a size such as 500M"),
        ([*ADD, "--target", "nope"], "expected a target (cpu, "),
        (
            [*ADD, "--pipeline", "a=1"],
            "expected the pipeline option stop-after, from, exact, model or solver, got",
        ),
        ([*ADD, "--pipeline", "stop-after=layout", "--emit", "asm"], "expected one of 'ir:tile', "),
        ([*ADD, "--from", "layout"], "expected --from and --exact with MLIR, got a Python file"),
        ([*ADD, "--from", "soup"], "invalid choice: 'soup'"),
        (["run", KERNELS, "--device", "cpu"], "got a script, whose arrays say where it runs"),
        (["bake"], "invalid choice"),
        ([], "usage: kiln"),
    ],
)
def test_wrong_usage_exits_2(kiln_command, arguments, message):
    done = kiln_command(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr + done.stdout


def test_the_cache(kiln_command, tmp_path):
    where = {"KILN_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "script.py").write_text(
        f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
        "import runtime_kernels as k, numpy as np\n"
        "x = np.ones(9, np.float32); k.add(x, x, x.copy())\n"
    )
    succeeded(kiln_command("run", "script.py", **where))
    (entry,) = [e for e in json.loads(succeeded(kiln_command("cache", "list", "--json", **where)))
                if e["kind"] == "artifact"]  # fmt: skip
    assert entry["kernel"] == "add" and entry["key"][:16] in succeeded(
        kiln_command("cache", "list", **where)
    )
    shown = json.loads(succeeded(kiln_command("cache", "show", entry["key"][:12], **where)))
    assert shown["metadata"]["kernel"] == "add" and shown["sections"]["binary"] > 0
    assert "0 removed" in succeeded(kiln_command("cache", "verify", **where))
    damaged = next(p for p in (tmp_path / "cache").rglob("*") if p.is_file()
                   and p.stat().st_size > 1000)  # fmt: skip
    damaged.write_bytes(damaged.read_bytes()[:-5])
    assert "1 removed" in succeeded(kiln_command("cache", "verify", **where))
    succeeded(kiln_command("cache", "prune", **where))
    assert json.loads(succeeded(kiln_command("cache", "show", **where)))["entries"] == 0


def test_pruning_takes_the_choices_of_tuners_too(kiln_command, tmp_path):
    (tmp_path / "tuned.py").write_text(
        f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
        "import kiln, numpy as np\n"
        "@kiln.autotune(restore=['y'], seconds=0.002)\n"
        "@kiln.kernel\n"
        "def copy(x: kiln.View, y: kiln.View, B: kiln.tunable = kiln.tunable(16, 32)):\n"
        "    i = kiln.grid(kiln.cdiv(x.shape[0], B))\n"
        "    y.store((i * B,), x.load((i * B,), (B,)))\n"
        "if __name__ == '__main__':\n"
        "    x = np.ones(99, np.float32); copy(x, np.zeros_like(x))\n"
    )
    where = {"KILN_CACHE_DIR": str(tmp_path / "cache")}
    succeeded(kiln_command("run", "tuned.py", **where))
    assert len(list((tmp_path / "cache" / "autotune").glob("*.json"))) == 1
    assert "removed 1 choices" in succeeded(kiln_command("cache", "prune", **where))
    assert not list((tmp_path / "cache" / "autotune").glob("*.json"))
    text = succeeded(kiln_command("explain", "tuned.py", "--arg", "x=f32[?]", "--arg", "y=f32[?]"))
    assert "kernel copy for cpu\n  B = 16" in text


def test_an_unsafe_cache_directory_exits_4(kiln_command, tmp_path):
    (tmp_path / "open").mkdir()
    os.chmod(tmp_path / "open", 0o777)
    done = kiln_command("cache", "list", "--dir", tmp_path / "open")
    assert done.returncode == 4, done.stdout + done.stderr


def test_devices_and_targets(kiln_command):
    assert succeeded(kiln_command("devices")).startswith("cpu ")
    entries = json.loads(succeeded(kiln_command("devices", "--json")))
    assert entries[0]["available"] and all(e["available"] or e["reason"] for e in entries)
    lines = succeeded(kiln_command("devices")).splitlines()
    emulated = next(line for line in lines if line.startswith("emu "))
    assert "'emu:<chip>'" in emulated and "absent" not in emulated
    listed = succeeded(kiln_command("devices", "--targets")).splitlines()
    assert {"  cpu", "  nvptx:sm_90a", "  amdgpu:gfx942", "  emu:gfx942"} < set(listed)


def test_each_target_that_is_listed_is_one(kiln_command, tmp_path, monkeypatch):
    (tmp_path / "k.mlir").write_text(MLIR)
    monkeypatch.chdir(tmp_path)
    for line in succeeded(kiln_command("devices", "--targets")).splitlines():
        if line.startswith("  "):
            command = ["compile", "k.mlir", "--target", line.strip()]
            assert cli.main([*command, "--pipeline", "stop-after=tile", "--in-process"]) == 0, line
    for target in ("nope", "nvptx", "emu:nope"):
        for more in ((), ("--in-process",)):
            done = kiln_command("compile", "k.mlir", "--target", target, *more)
            assert done.returncode == 2 and f"got '{target}'" in done.stderr, done.stderr


def test_mlir_is_compiled_for_the_device_that_it_runs_on(kiln_command, tmp_path):
    (tmp_path / "k.mlir").write_text(MLIR)
    given = ("--size", "x=100", "--size", "y=100", "--value", "f=2.5", "--save", "out.npz")
    text = succeeded(kiln_command("run", "k.mlir", *given, "--device", "emu:gfx942"))
    assert "double for emu:gfx942" in text
    arrays = np.load(tmp_path / "out.npz")
    np.testing.assert_array_equal(arrays["y"], arrays["x"] * np.float32(2.5))
    done = kiln_command("run", "k.mlir", *given, "--device", "emu:gfx942", "--target", "cpu")
    assert done.returncode == 3 and "got one for 'cpu'" in done.stderr


@pytest.mark.parametrize("stage", ["layout", "asm"])
@pytest.mark.parametrize("device", ["cpu", "emu:gfx942"])
def test_what_was_stopped_before_its_code_cannot_be_run(kiln_command, tmp_path, stage, device):
    (tmp_path / "k.mlir").write_text(MLIR)
    stopped = ("--pipeline", f"stop-after={stage}")
    done = kiln_command("run", "k.mlir", "--device", device, *stopped)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "kernel `double`: expected code to launch, got a kernel whose compile" in done.stderr
    target = kiln.device(device).target
    succeeded(kiln_command("compile", "k.mlir", "-o", "k.kiln", "--target", target, *stopped))
    assert kiln_command("run", "k.kiln", "--device", device).returncode == 2
    succeeded(kiln_command("run", "k.mlir", "--pipeline", "stop-after=binary"))


@pytest.mark.parametrize("command", ["compile", "explain", "run", "cache", "devices"])
def test_help_names_the_exit_codes(kiln_command, command):
    assert "exit codes:" in succeeded(kiln_command(command, "--help"))
    assert "kiln 0." in succeeded(kiln_command("--version"))


FRAGMENT = "register = [[0,1],[8,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]]"


def test_layout_draws_who_owns_what(kiln_command, tmp_path):
    text = succeeded(kiln_command("layout", f"#tile.layout<{FRAGMENT}>", "--shape", "16x8",
                                  "--svg", "a.svg", "--png", "a.png"))  # fmt: skip
    lines = text.splitlines()
    assert lines[0].startswith("4 registers x 32 lanes over 16x8; 2 consecutive registers")
    assert lines[1].split() == [f"l{lane}:{r}" for lane in range(4) for r in (0, 1)]
    # Row 9: lane 4, and the registers of the lower half.
    assert lines[10].split() == [f"l{lane}:{r}" for lane in range(4, 8) for r in (2, 3)]
    svg = ElementTree.parse(tmp_path / "a.svg").getroot()
    boxes = svg.findall(".//{http://www.w3.org/2000/svg}rect")
    titles = [t.text for t in svg.iter("{http://www.w3.org/2000/svg}title")]
    assert len(boxes) == 128
    assert titles[9 * 8 + 5] == "l6:3"
    # One lane's boxes have one colour, and its neighbour's another.
    fills = [box.get("fill") for box in boxes]
    assert fills[0] == fills[1] == fills[64] != fills[2]
    data = (tmp_path / "a.png").read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    assert (width, height) == (8 * 56 + 1, 16 * 28 + 1)
    size = struct.unpack(">I", data[33:37])[0]
    pixels = zlib.decompress(data[41 : 41 + size])
    assert len(pixels) == height * (1 + 3 * width)
    at = 3 * (1 + 2) + 1 + 2 * (1 + 3 * width)
    assert pixels[at : at + 3] == bytes(map(int, fills[0][4:-1].split(",")))


def test_layout_tells_what_is_repeated(kiln_command):
    text = succeeded(kiln_command("layout", "register = [], lane = [[1],[0]] -> [4]"))
    assert text.splitlines() == [
        "4 lanes over 4; repeated by lane bits 0b10; some elements are held by none",
        "l0|l2  l1|l3  .      .",
    ]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["lane = [[1]]"], "expected --shape"),
        (["lane = [[1]] -> [2]", "--shape", "2"], "got both"),
        (["lane = [[1]]", "--shape", "2x"], "expected a shape such as 16x8, got '2x'"),
        (["lane = [[1]", "--shape", "2"], "the layout cannot be read: expected"),
        (["lane = [[3]]", "--shape", "2"], "expected a basis of 'lane' within the extent 2, got 3"),
        (["lane = []", "--shape", "131072"], "expected at most 2^16 places and elements"),
        (["lane = []", "--shape", "8192", "--svg", "a.svg"], "expected at most 4096 elements"),
    ],
)
def test_layout_refuses(kiln_command, arguments, error):
    done = kiln_command("layout", *arguments)
    assert done.returncode == 2
    assert error in done.stderr


def test_a_launch_that_fails_exits_3(kiln_command, tmp_path):
    (tmp_path / "k.mlir").write_text(MLIR)
    text = MLIR.replace("tile.return", 'tile.assert %false, "never" : i1\n  tile.return')
    (tmp_path / "k.mlir").write_text(
        text.replace("%p = ", "%false = arith.constant false\n  %p = ")
    )
    done = kiln_command("run", "k.mlir", "--size", "x=100", "--size", "y=100", "--value", "f=1")
    assert done.returncode == 3 and "never" in done.stderr, done.stdout + done.stderr


def test_ctrl_c_exits_130(kiln_command, tmp_path):
    (tmp_path / "script.py").write_text("raise KeyboardInterrupt\n")
    done = kiln_command("run", "script.py")
    assert done.returncode == 130 and "interrupted" in done.stderr


def test_progress_is_shown_on_long_work_and_only_to_a_terminal(monkeypatch):
    import io
    import time

    from kiln.cli.progress import Progress

    for tty in (True, False):
        stream = io.StringIO()
        stream.isatty = lambda tty=tty: tty
        monkeypatch.setattr(sys, "stderr", stream)
        with Progress("compiling k", delay=0.01):
            time.sleep(0.2)
        with Progress("quick work", delay=60):
            pass
        shown = stream.getvalue()
        assert ("compiling k … 0 s" in shown) == tty and "quick work" not in shown
        assert not tty or shown.endswith("\r\x1b[K")


def test_run_a_compiled_kernel_on_given_and_random_arguments(kiln_command, tmp_path):
    x = np.arange(40, dtype=np.float32)
    source = tmp_path / "scale.py"
    source.write_text(
        "import kiln\n@kiln.kernel\n"
        "def scale(x: kiln.View[kiln.f32, 1], y: kiln.View[kiln.f32, 1], f: kiln.f32):\n"
        "    i = kiln.grid(kiln.cdiv(x.shape[0], 16))\n"
        "    y.store(i * 16, x.load(i * 16, 16) * f)\n"
    )
    file, saved = tmp_path / "scale.kiln", tmp_path / "out.npz"
    succeeded(kiln_command("compile", source, "-o", file))
    np.save(tmp_path / "x.npy", x)
    given = (f"--arg=x={tmp_path / 'x.npy'}", "--arg=y=f32[40]", "--arg=f=2.5", f"--save={saved}")
    assert "scale for cpu" in succeeded(kiln_command("run", file, *given))
    assert np.array_equal(np.load(saved)["y"], x * 2.5)
    assert "x: 256 f32" in succeeded(kiln_command("run", file))
    assert "scale" in succeeded(kiln_command("explain", file))
    target = kiln.device("emu:gfx942").target
    succeeded(kiln_command("compile", source, "-o", file, "--target", target))
    assert kiln_command("run", file).returncode == 3
    succeeded(kiln_command("run", file, *given, "--device", "emu:gfx942"))
    assert np.array_equal(np.load(saved)["y"], x * 2.5)
    for wrong in ("--arg=x=i32[4]", "--arg=z=1", "--arg=x=absent.npy", "--set=f=1"):
        assert kiln_command("run", file, wrong).returncode == 2


# ---- Emulated chips


def test_check_says_what_was_checked(kiln_command, tmp_path):
    """Of a Python kernel, as a call with such arrays compiles it."""
    size = ("--arg", "a=f32[256]", "--arg", "b=f32[256]", "--arg", "c=f32[256]")
    text = succeeded(
        kiln_command("run", f"{KERNELS}:add", "--device", "emu:sm_90a", "--check", *size)
    )
    assert text.startswith("add on emu:sm_90a: 1 × ")
    assert text.endswith("nothing is wrong\n")
    assert "steps; of warps" in text


def test_check_of_an_example_as_it_stands(kiln_command):
    """The command that the documentation tells of: the example's own launches run on the chip."""
    example = Path(__file__).resolve().parents[3] / "examples/05_matmul.py"
    for chip in ("sm_90a", "gfx942"):
        text = succeeded(kiln_command("run", example, "--device", f"emu:{chip}", "--check"))
        lines = text.splitlines()
        assert sum(line.startswith("matmul NN, ") for line in lines) == 6, "the script's own"
        told = rf"matmul on emu:{chip}: 24 launches, (\d+) steps; of warps .*; nothing is wrong"
        steps = re.fullmatch(told, lines[-1])
        assert steps and int(steps[1]) > 10_000, text


SCRIPT = """
import sys
import kiln
import numpy as np


@kiln.kernel
def scale(x: kiln.View, flags: kiln.View):
    i = kiln.grid(x.shape[0])
    x[i] = x[i] * 2.0


@kiln.kernel
def relay(x: kiln.View, flags: kiln.View):
    i = kiln.grid(x.shape[0])
    if i > 0:
        while kiln.atomic_add(flags, (i - 1,), 0, order="relaxed") != 7:
            pass
        x[i] = x[i] + x[i - 1]
    kiln.atomic_exchange(flags, (i,), 7, order="release")


"""
LAUNCHES = """x = np.ones(4, np.float32)
for kernel in (scale, scale, *([relay] if "wrong" in sys.argv else [])):
    kernel.options(device="cpu")(x, np.zeros(4, np.int32))
print(x.tolist())
"""


def test_check_of_a_script_runs_its_launches_on_the_chip(kiln_command, tmp_path):
    """Wherever they would run, whether under a condition or not; what is wrong ends it."""
    file, command = (
        tmp_path / "script.py",
        ("run", "--device", "emu:sm_90a", "--check", "script.py"),
    )
    guarded = "if __name__ == '__main__':\n" + textwrap.indent(LAUNCHES, "    ")
    for launches in (LAUNCHES, guarded):
        file.write_text(SCRIPT + launches)
        text = succeeded(kiln_command(*command))
        assert text.startswith("[4.0, 4.0, 4.0, 4.0]\nscale on emu:sm_90a: 2 launches, ")
        assert text.endswith("; nothing is wrong\n")
        done = kiln_command(*command, "--", "wrong")
        assert done.returncode == 3 and "kernel 'relay': " in done.stderr
        assert "a race: a read of byte 4 of argument 'x'" in done.stderr and not done.stdout


def test_check_of_kernels_that_nothing_launches_says_what_to_do(kiln_command, tmp_path):
    file, command = (
        tmp_path / "script.py",
        ("run", "script.py", "--device", "emu:sm_90a", "--check"),
    )
    for text, said in (
        (SCRIPT, "expected one kernel, or FILE:KERNEL in script.py, got scale, relay; or a script that "
                 "launches its kernels, under `if __name__ == '__main__':`, which is run without "
                 "--arg and without a kernel's name"),
        (SCRIPT.split("@kiln.kernel\ndef relay")[0],
         "expected the types of x, flags, got none; for example --arg 'x=f32[256]'; or a script that"),
    ):  # fmt: skip
        file.write_text(text)
        done = kiln_command(*command)
        assert done.returncode == 2 and said in done.stderr, done.stderr


def test_check_of_what_is_wrong_fails_with_its_line(kiln_command, tmp_path):
    """One that reads behind its view: IR of the last stage is what it says."""
    file = tmp_path / "double.mlir"
    file.write_text(MLIR)
    low = tmp_path / "low.mlir"
    succeeded(kiln_command("compile", file, "--target", "emu:sm_90a", "--emit", "llvm", "-o", low))
    text = low.read_text().split("\n")
    at = next(i for i, line in enumerate(text) if "llvm.load" in line and "f32" in line)
    address = re.search(r"llvm\.load (%\w+)", text[at])[1]
    type_ = re.search(r"!llvm\.ptr(?:<1>)?", text[at])[0]
    text.insert(at, f"    %far = llvm.getelementptr {address}[1048576] : ({type_}) -> {type_}, f32")
    text[at + 1] = text[at + 1].replace(address, "%far")
    low.write_text("\n".join(text))
    done = kiln_command("run", low, "--from", "llvm", "--device", "emu:sm_90a", "--check")
    assert done.returncode == 3, done.stdout + done.stderr
    assert f"at low.mlir:{at + 2}:" in done.stderr.replace(f"{tmp_path}/", "")
    assert "a read of 4 bytes of global memory that no argument covers, " in done.stderr
    assert re.search(r"covers, \d+ bytes (behind the end|in front) of argument '[xy]'", done.stderr)
    assert done.stdout == ""


def test_explain_emulated_as_text_and_html(kiln_command, tmp_path):
    file = tmp_path / "double.mlir"
    file.write_text(MLIR)
    text = succeeded(
        kiln_command("explain", file, "--emulate", "--device", "emu:sm_90a", "--html", "d.html",
                     "--size", "x=128", "--size", "y=128")
    )  # fmt: skip
    line = MLIR.split("\n").index("  %v = tile.load %x[%i] : !tile.view<?xf32> -> tensor<32xf32>")
    place, what, memory = next(
        part for part in re.findall(r"^ +(\d+)  .*\n +(instructions: .*)\n +(memory: .*)$", text,
                                    re.MULTILINE) if int(part[0]) == line + 1
    )  # fmt: skip
    assert "16 global load" in what  # of programs in step, few of which there are
    assert memory.startswith("memory: 2048 bytes, ")
    assert "Steps are not cycles" in text
    html = (tmp_path / "d.html").read_text(encoding="utf-8")
    svg = ElementTree.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
    assert [t.text for t in svg.findall("text")][0].startswith("warp 0")
    assert any("global load" not in r[0].text and "load" in r[0].text for r in svg.findall("rect"))


def test_what_is_checked_is_an_emulated_chip(kiln_command):
    for command in (("run", "--check"), ("explain", "--emulate")):
        done = kiln_command(command[0], f"{KERNELS}:add", command[1], "--device", "cpu")
        assert done.returncode == 2
        assert "expected --device emu:<chip>, an emulated chip, got cpu" in done.stderr
    done = kiln_command("explain", f"{KERNELS}:add", "--html", "a.html", *TYPES)
    assert done.returncode == 2
    assert "expected --emulate with --html and --device" in done.stderr
