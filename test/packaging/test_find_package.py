"""An installed Kiln is found and used by a project outside its tree."""

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


def test_another_major_version_is_refused(consumer, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(X NONE)\nfind_package(Kiln 9.0 REQUIRED)\n"
    )
    output = run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "b",
                 f"-DCMAKE_PREFIX_PATH={consumer / 'prefix'}", status=1)  # fmt: skip
    assert "9.0" in output
