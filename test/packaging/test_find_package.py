"""An installed Kiln is found and used by a project outside its tree."""

import os
import re
import shutil
from pathlib import Path

import pytest
from packaging_support import run

CONSUMER = Path(__file__).parent / "Inputs/consumer"


@pytest.fixture(scope="module")
def consumer(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("consumer")
    run("cmake", "--install", build, "--prefix", folder / "prefix")
    run(
        "cmake", "-G", "Ninja", "-S", CONSUMER, "-B", folder / "build",
        f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}", "-DCMAKE_CXX_COMPILER=clang++-22",
        "-DCMAKE_C_COMPILER=clang-22", "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld",
    )  # fmt: skip
    run("ninja", "-C", folder / "build")
    return folder


def test_c_api_of_an_installed_kiln(consumer):
    assert run(consumer / "build/c-consumer").startswith("kiln 0.")


def test_cxx_libraries_of_an_installed_kiln(consumer):
    assert "!tile.view<?x4xf32>" in run(consumer / "build/cxx-consumer")


def test_installed_tools_run(consumer):
    listing = run(consumer / "prefix/bin/tile-opt", "--help")
    assert "tile" in listing


def test_library_of_an_installed_kiln_has_a_version_in_its_name(consumer):
    prefix = consumer / "prefix"
    (library,) = prefix.glob("lib*/**/libkiln.so")
    needed = run("readelf", "-d", consumer / "build/c-consumer")
    (name,) = re.findall(r"NEEDED.*\[(libkiln\.so[.\d]*)\]", needed)
    assert re.fullmatch(r"libkiln\.so\.0\.\d+", name)
    assert library.is_symlink() and library.resolve().name == name


def test_pkg_config_of_an_installed_kiln(consumer, tmp_path):
    prefix = consumer / "prefix"
    (folder,) = prefix.glob("lib*/**/pkgconfig")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
    if not shutil.which("pkg-config"):
        pytest.skip("no pkg-config on this machine")
    flags = run("pkg-config", "--cflags", "--libs", "kiln", env=environment).split()
    version = run("pkg-config", "--modversion", "kiln", env=environment)
    run("clang-22", CONSUMER / "c-consumer.c", *flags, f"-Wl,-rpath,{folder.parent}", "-o",
        tmp_path / "use")  # fmt: skip
    assert run(tmp_path / "use") == f"kiln {version}"


def test_cxx_component_brings_one_llvm_with_its_folders_and_flags(consumer):
    needed = run("readelf", "-d", consumer / "build/cxx-consumer")
    assert "libMLIR" in needed
    assert (consumer / "build/cxx-consumer").stat().st_size < 20e6
    lists = (CONSUMER / "CMakeLists.txt").read_text()
    assert "MLIR" not in lists and "LLVM" not in lists and "fno-" not in lists


def test_licences_of_what_is_linked_are_installed(consumer):
    (folder,) = (consumer / "prefix").glob("share/doc/*/licenses")
    assert {"LLVM.txt", "zlib.txt", "zstd.txt"} <= {path.name for path in folder.iterdir()}


def test_another_major_version_is_refused(consumer, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(X NONE)\nfind_package(Kiln 9.0 REQUIRED)\n"
    )
    output = run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "b",
                 f"-DCMAKE_PREFIX_PATH={consumer / 'prefix'}", status=1)  # fmt: skip
    assert "9.0" in output
