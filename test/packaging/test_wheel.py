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
    assert {"kiln/libkiln.so", "kiln/kiln-worker"} <= set(names)
    assert len([name for name in names if re.match(r"kiln/_native.*\.so$", name)]) == 1
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any("test" in name.split("/")[0] for name in names)


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


def test_installed_wheel_runs_a_kernel(wheel, tmp_path):
    target = tmp_path / "site"
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", target, wheel)
    (tmp_path / "use.py").write_text(KERNEL)
    environment = {**os.environ, "PYTHONPATH": str(target), "KILN_CACHE_DIR": str(tmp_path / "c")}
    assert str(target) in run(sys.executable, tmp_path / "use.py", cwd=tmp_path, env=environment)


@pytest.mark.slow
def test_pip_install_into_a_fresh_environment_brings_what_it_needs(package, tmp_path):
    """`pip install .` as a user calls it: pip fetches the build's requirements and ours. The
    library comes from the package; KILN_TEST_FULL_INSTALL=1 compiles it too, as a user's would."""
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv/bin/python"
    options = [f"--config-settings=build-dir={tmp_path / 'build'}"]
    if not os.environ.get("KILN_TEST_FULL_INSTALL"):
        options.append(f"--config-settings=cmake.define.KILN_PREBUILT={package}")
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", ROOT, *options)
    (tmp_path / "use.py").write_text(KERNEL)
    environment = {**os.environ, "KILN_CACHE_DIR": str(tmp_path / "c")}
    environment.pop("PYTHONPATH", None)
    output = run(python, tmp_path / "use.py", cwd=tmp_path, env=environment)
    assert str(tmp_path / "venv") in output
    devices = run(tmp_path / "venv/bin/kiln", "devices", cwd=tmp_path, env=environment)
    assert devices.startswith("cpu ")
