"""What all Python tests share: a cache of their own, and numbers that are fresh each run."""

import os
import signal
import sys
import zlib
from pathlib import Path

# Idle threads of NumPy's BLAS spin, and the cores have tests to run. It asks when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402
import pytest  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))  # helpers that several folders share
import crossing  # noqa: E402
import seeds  # noqa: E402

SEED = int(os.environ.get("KILN_SEED") or np.random.SeedSequence().entropy % 2**32)


def pytest_addoption(parser):
    parser.addoption("--share", metavar="I/N", help="of the tests that are not marked `packed`, "
                     "share I of N")  # fmt: skip
    parser.addoption("--whole", action="store_true", help="all of which a commit draws some")


def pytest_configure(config):
    if config.getoption("--whole", False):
        os.environ[seeds.WHOLE] = "1"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Draws cells of crosses, and a share, of which a test's name says whether it is of it, whatever
    other tests there are."""
    out = set()
    if not config.getoption("--whole", False) and not any("[" in each for each in config.args):
        out.update(crossing.left_out(items))
    if share := config.getoption("--share", None):
        number, count = map(int, share.split("/"))
        out.update(
            item for item in items
            if not item.get_closest_marker("packed")
            and zlib.crc32(item.nodeid.encode()) % count != number
        )  # fmt: skip
    config.hook.pytest_deselected(items=[item for item in items if item in out])
    items[:] = [item for item in items if item not in out]


# What is started in the background ignores Ctrl-C, and so would each process that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# What a kernel is assembled by is not whatever the machine has; tests of it name one.
os.environ["KILN_ASSEMBLER"] = "driver"
# Nor does a kernel call into a vendor's library that the machine happens to have.
os.environ["KILN_LIBDEVICE"] = os.environ["KILN_OCML"] = "none"


@pytest.fixture(autouse=True, scope="session")
def cache_directory(tmp_path_factory):
    """Tests neither use nor fill the user's cache. Those of one run share theirs, so that a kernel is
    compiled once, whichever workers its tests run on."""
    folder = tmp_path_factory.getbasetemp()
    directory = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "kiln-cache"
    directory.mkdir(mode=0o700, exist_ok=True)
    os.environ["KILN_CACHE_DIR"] = str(directory)
    return directory


@pytest.fixture
def rng(request):
    """Each test draws numbers of its own. The seed stands in the output of one that fails."""
    print(f"KILN_SEED={SEED}")
    return np.random.default_rng([SEED, zlib.crc32(request.node.nodeid.encode())])
