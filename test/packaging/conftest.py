"""What the packaging tests share: the build tree, and a way to run commands."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("KILN_BUILD", ROOT / "build"))


def run(*command, status=0, **options):
    """Runs a command and returns its output; any other exit status than expected fails the test."""
    result = subprocess.run(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **options,
    )
    assert result.returncode == status, result.stdout
    return result.stdout


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
