"""A wheel is built by pip from the tree, installs, and runs a kernel with nothing else of ours."""

import os
import re
import sys
import zipfile

import pytest
from packaging_support import ROOT, run


@pytest.fixture(scope="module")
def wheel(package, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    run(
        *(sys.executable, "-m", "pip", "wheel", ROOT, "--no-deps", "--no-build-isolation", "-w"),
        *(folder, f"--config-settings=cmake.define.KILN_PREBUILT={package}"),
        f"--config-settings=build-dir={folder / 'build'}",
    )
    wheels = list(folder.glob("kiln-*.whl"))
    assert len(wheels) == 1
    return wheels[0]


def test_wheel_holds_the_library_and_one_extension(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    library = next(name for name in names if re.fullmatch(r"kiln/libkiln\.so\.\d+\.\d+", name))
    assert {"kiln/libkiln.so", "kiln/kiln-worker"} <= set(names)
    script = zipfile.ZipFile(wheel).read("kiln/libkiln.so").decode()
    assert script == f"INPUT({os.path.basename(library)})\n"
    assert len([name for name in names if re.match(r"kiln/_native.*\.so$", name)]) == 1
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any("test" in name.split("/")[0] for name in names)


def test_wheel_holds_the_tools_the_headers_and_the_licences_of_what_is_linked(wheel):
    archive = zipfile.ZipFile(wheel)
    names = set(archive.namelist())
    tools = {"tile-opt", "tile-compile", "tile-reduce", "tile-lsp-server", "tile-check-isa"}
    assert {f"kiln/{tool}" for tool in tools} <= names
    entries = next(name for name in names if name.endswith("entry_points.txt"))
    assert tools <= {
        line.split("=")[0].strip() for line in archive.read(entries).decode().split("\n")
    }
    assert {f"kiln/include/kiln-c/{h.name}" for h in (ROOT / "include/kiln-c").glob("*.h")} <= names
    assert "kiln/include/kiln-c/Version.h" in names
    for licence in ("LLVM", "nanobind", "zlib", "zstd", "libstdcxx"):
        assert any(name.endswith(f"licenses/licenses/{licence}.txt") for name in names), licence


def test_wheel_says_what_it_is(wheel):
    archive = zipfile.ZipFile(wheel)
    metadata = archive.read(next(n for n in archive.namelist() if n.endswith("METADATA"))).decode()
    for line in ("Name: kiln", "License-Expression: Apache-2.0 WITH LLVM-exception",
                 "Requires-Python: >=3.11", "Operating System :: POSIX :: Linux",
                 "Requires-Dist: numpy", "Keywords: ", "Author"):  # fmt: skip
        assert line in metadata, line


def test_wheel_asks_for_the_glibc_that_its_binaries_need(wheel):
    found = re.search(r"-manylinux_(\d+)_(\d+)_", wheel.name)
    assert found and (2, 17) <= (int(found[1]), int(found[2])) <= (2, 36), wheel.name
    archive = zipfile.ZipFile(wheel)
    (tags,) = [n for n in archive.namelist() if n.endswith(".dist-info/WHEEL")]
    assert f"-{wheel.stem.rpartition('-')[2]}\n" in archive.read(tags).decode()


def test_wheel_names_its_python_and_machine(wheel):
    tag = f"cp3{sys.version_info[1]}" if sys.version_info[1] < 12 else "cp312-abi3"
    assert f"-{tag}" in wheel.name
    assert wheel.name.endswith(f"_{os.uname().machine}.whl")


KERNEL = """
import numpy as np
import kiln
@kiln.kernel
def double(x: kiln.View, y: kiln.View):
    i = kiln.grid(kiln.cdiv(x.shape[0], 128))
    y.store(i * 128, x.load(i * 128, 128) * 2.0)
x = np.random.default_rng().standard_normal(1000).astype(np.float32)
y = np.empty_like(x)
double(x, y)
assert (y == 2 * x).all()
print("ran from", kiln.__file__)
"""


def install(wheel, target):
    options = ("-q", "--no-deps", "--no-compile")
    run(sys.executable, "-m", "pip", "install", *options, "--target", target, wheel)


def test_installed_wheel_runs_a_kernel(wheel, tmp_path):
    target = tmp_path / "site"
    install(wheel, target)
    (tmp_path / "use.py").write_text(KERNEL)
    environment = {**os.environ, "PYTHONPATH": str(target), "KILN_CACHE_DIR": str(tmp_path / "c")}
    assert str(target) in run(sys.executable, tmp_path / "use.py", cwd=tmp_path, env=environment)


C_PROGRAM = """
#include "kiln-c/Base.h"
#include <stdio.h>
int main(void) { printf("kiln %s\\n", kilnVersion().data); return 0; }
"""


def test_a_c_program_builds_against_an_installed_wheel(wheel, tmp_path):
    target = tmp_path / "site"
    install(wheel, target)
    environment = {**os.environ, "PYTHONPATH": str(target)}
    asked = [sys.executable, "-c", "import kiln; print(kiln.get_include())"]
    include = run(*asked, cwd=tmp_path, env=environment).strip()
    assert include == str(target / "kiln/include")
    (tmp_path / "use.c").write_text(C_PROGRAM)
    run("clang-22", tmp_path / "use.c", f"-I{include}", f"-L{include}/..", "-lkiln",
        f"-Wl,-rpath,{target}/kiln", "-o", tmp_path / "use")  # fmt: skip
    assert run(tmp_path / "use").startswith("kiln 0.")
    assert "cpu" in run(target / "bin/tile-compile", "--list-targets", env=environment)


@pytest.mark.slow
def test_pip_install_into_a_fresh_environment_brings_what_it_needs(package, tmp_path):
    """`pip install .` as a user calls it: pip fetches the build's requirements and ours. The
    library comes from the package; KILN_TEST_FULL_INSTALL=1 compiles it too, as a user's would."""
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv/bin/python"
    options = [f"--config-settings=build-dir={tmp_path / 'build'}"]
    if not os.environ.get("KILN_TEST_FULL_INSTALL"):
        options.append(f"--config-settings=cmake.define.KILN_PREBUILT={package}")
    install = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", ROOT, *options]
    run(*install, env={**os.environ, "PIP_NO_COMPILE": "0"})  # which says no to compiling
    (tmp_path / "use.py").write_text(KERNEL)
    environment = {**os.environ, "KILN_CACHE_DIR": str(tmp_path / "c")}
    environment.pop("PYTHONPATH", None)
    output = run(python, tmp_path / "use.py", cwd=tmp_path, env=environment)
    assert str(tmp_path / "venv") in output
    devices = run(tmp_path / "venv/bin/kiln", "devices", cwd=tmp_path, env=environment)
    assert devices.startswith("cpu ")
