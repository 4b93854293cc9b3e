"""The vendors' libraries of device functions, in the pinned packages that the tests install."""

import importlib.util
from pathlib import Path


def _folder() -> Path:
    spec = importlib.util.find_spec("triton")
    assert spec, "expected the package triton of utils/lib/requirements-test.txt"
    return Path(spec.submodule_search_locations[0]) / "backends"


def variables() -> dict[str, str]:
    """What says where they are. A package that lacks one is a failure: no test is left out."""
    libdevice = _folder() / "nvidia/lib/libdevice.10.bc"
    ocml = _folder() / "amd/lib"
    for file in (libdevice, ocml / "ocml.bc", ocml / "ockl.bc"):
        assert file.is_file(), f"expected {file} in the package triton"
    return {"KILN_LIBDEVICE": str(libdevice), "KILN_OCML": str(ocml)}
