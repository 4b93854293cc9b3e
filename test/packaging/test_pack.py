"""The package stands on libc and libm alone, exports the C API alone, and is small enough."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from packaging_support import ROOT, run

# What a stock Ubuntu 24.04 has, and the newest symbol of it that Debian 12 may use.
SYSTEM_LIBRARIES = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
NEWEST_GLIBC = (2, 36)


def binaries(package):
    found = [*package.glob("lib/*.so.*"), *package.glob("python/kiln/*.so")]
    found += [p for p in package.glob("bin/*") if p.read_bytes()[:4] == b"\x7fELF"]
    assert len(found) >= 3
    return found


def test_package_needs_only_libc(package):
    for binary in binaries(package):
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", binary)))
        needed = {name for name in needed if not re.fullmatch(r"libkiln\.so[.\d]*", name)}
        assert needed <= SYSTEM_LIBRARIES, binary


def test_package_needs_no_newer_libc(package):
    for binary in binaries(package):
        versions = re.findall(r"GLIBC_(\d+)\.(\d+)", run("readelf", "-V", binary))
        assert max((int(a), int(b)) for a, b in versions) <= NEWEST_GLIBC, binary


def test_library_exports_the_c_api_alone(package):
    names = re.findall(
        r" [TWDBVR] (\S+)", run("nm", "-D", "--defined-only", package / "lib/libkiln.so")
    )
    assert len(names) > 20
    assert [name for name in names if not re.match(r"kiln|_Z\d+kiln_tool_", name)] == []


def test_binaries_are_stripped(package):
    for binary in binaries(package):
        assert ".symtab" not in run("readelf", "-SW", binary), binary


def test_package_has_both_extensions(package):
    names = sorted(path.name for path in (package / "python/kiln").glob("_native*.so"))
    assert any(name.endswith(".abi3.so") for name in names), names
    if sys.version_info[:2] == (3, 11):
        assert any("cpython-311" in name for name in names), names


def test_package_measures_a_bare_launch(package):
    """The suite `host` runs on a machine that has the package alone."""
    assert 10 < float(run(package / "bin/kiln-launch-cost")) < 1e6


def test_archive_stays_under_60_megabytes(package, tmp_path):
    """Even as xz packs soonest, in a third of the time."""
    archive = tmp_path / "kiln.tar.xz"
    run("tar", "-C", package.parent, "-cf", tmp_path / "kiln.tar", package.name)
    run("xz", "-1", "-k", tmp_path / "kiln.tar")
    assert archive.stat().st_size <= 60e6


def newer_pythons():
    """Pythons of 3.12 and later on this machine."""
    names = [shutil.which(f"python3.{minor}") for minor in range(12, 16)]
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    folder = os.path.join(root, "versions")
    for version in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if re.match(r"3\.1[2-9]\.", version):
            names.append(os.path.join(folder, version, "bin/python"))
    return [name for name in names if name and works(name)]


def works(python):
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


KERNEL = """
import sys
sys.path[:0] = sys.argv[1:]
import kiln, numpy as np
@kiln.kernel
def double(x: kiln.View, y: kiln.View):
    i = kiln.grid(kiln.cdiv(x.shape[0], 128))
    y.store(i * 128, x.load(i * 128, 128) * 2.0)
x = np.random.default_rng().standard_normal(1000).astype(np.float32)
y = np.empty_like(x)
double(x, y)
assert (y == 2 * x).all()
print("right on", *sys.version_info[:2])
"""


@pytest.mark.slow
def test_package_runs_a_kernel_on_newer_pythons(package, tmp_path):
    """From 3.12 on the stable ABI: on every such Python here, each with a NumPy of its own."""
    pythons = newer_pythons()
    if not pythons:
        pytest.skip("no Python of 3.12 or later on this machine")
    script = tmp_path / "use.py"
    script.write_text(KERNEL)
    pins = (ROOT / "utils/lib/requirements.txt").read_text()
    wanted = re.findall(r"^(?:numpy|ml_dtypes)==.*$", pins, re.MULTILINE)
    for number, python in enumerate(pythons):
        site = tmp_path / f"site{number}"
        run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-compile",
            "--target", site, *wanted)  # fmt: skip
        environment = {**os.environ, "KILN_CACHE_DIR": str(tmp_path / f"cache{number}")}
        environment.pop("PYTHONPATH", None)
        assert "right on 3 1" in run(python, script, package / "python", site, env=environment)


def test_extension_loads_in_newer_pythons(package):
    pythons = newer_pythons()
    if not pythons:
        pytest.skip("no Python of 3.12 or later on this machine")
    code = "import importlib.util as u, sys; s = u.spec_from_file_location('_native', sys.argv[1]);"
    code += " m = u.module_from_spec(s); s.loader.exec_module(m); print('loaded', len(dir(m)))"
    for python in pythons:
        output = run(python, "-c", code, package / "python/kiln/_native.abi3.so")
        assert "loaded" in output


def test_extension_parses_sizes_as_newer_pythons_insist(package):
    """Without PY_SSIZE_T_CLEAN, 3.12 refuses `#` in an argument's format when it is met."""
    output = run("nm", "-D", "--undefined-only", package / "python/kiln/_native.abi3.so")
    assert "_PyArg_ParseTuple_SizeT" in output
    assert not re.search(r"U PyArg_ParseTuple$", output, re.MULTILINE)


def test_pack_replaces_no_folder_that_is_not_a_package(tmp_path):
    (tmp_path / "precious").write_text("mine")
    output = run(ROOT / "utils/pack", "--no-build", "--folder", tmp_path, status=1)
    assert "expected" in output
    assert (tmp_path / "precious").read_text() == "mine"
