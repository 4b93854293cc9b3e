"""Fixtures of the packaging tests: the build tree, and a package made from it."""

import os

import pytest
from packaging_support import BUILD, ROOT, run


@pytest.fixture(scope="session")
def build():
    """The build tree, built. Without one these tests cannot say anything, and that is a failure."""
    assert (BUILD / "build.ninja").exists(), f"expected a build in {BUILD}, got none"
    return BUILD


@pytest.fixture(scope="session")
def package(build, tmp_path_factory):
    """A package made from the build tree, once a session."""
    folder = tmp_path_factory.mktemp("package") / "kiln"
    run(
        ROOT / "utils/pack",
        "--no-build",
        "--folder",
        folder,
        env={**os.environ, "KILN_BUILD": build},
    )
    return folder
