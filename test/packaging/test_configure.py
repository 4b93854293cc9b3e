"""Every preset configures, and a tree of some targets or drivers alone is consistent."""

import json

import pytest
from packaging_support import ROOT, run

PRESETS = [
    p["name"] for p in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
]


def configure(folder, *options):
    return run("cmake", "-B", folder, *options, cwd=ROOT)


@pytest.mark.slow
@pytest.mark.drawn(2)
@pytest.mark.parametrize("preset", PRESETS)
def test_preset_configures(preset, tmp_path):
    assert "Build files have been written" in configure(tmp_path, "--preset", preset)


@pytest.mark.slow
@pytest.mark.drawn(1)
@pytest.mark.parametrize("target", ["CPU", "NVPTX", "AMDGPU"])
def test_tree_of_one_target_configures_and_names_no_other(target, tmp_path):
    """No file of another target is compiled or linked into what is built of this one."""
    # Which, of all targets, alone needs a vendor's header.
    absent = [] if target == "AMDGPU" else ["-DKILN_HIP_INCLUDE_DIR="]
    configure(tmp_path, "--preset", "dev", f"-DKILN_TARGETS={target}", "-DKILN_TESTS=OFF", *absent)
    listed = (tmp_path / "include/kiln/Target/Targets.def").read_text().split()
    others = {f"KILN_TARGET({other})" for other in {"CPU", "NVPTX", "AMDGPU"} - {target}}
    assert f"KILN_TARGET({target})" in listed and not others & set(listed)
    commands = run("ninja", "-C", tmp_path, "-t", "commands", "tile-opt", "tile-compile", "kiln")
    assert f"lib/Target/{target}/" in commands
    for other in {"CPU", "NVPTX", "AMDGPU"} - {target}:
        assert f"lib/Target/{other}/" not in commands
    drivers = {"NVPTX": "CUDA", "AMDGPU": "HIP"}
    for other, driver in drivers.items():
        assert (f"lib/Runtime/{driver}/" in commands) == (other == target)


def test_absent_header_of_the_hip_driver_is_named_with_its_package(tmp_path):
    output = run(
        "cmake", "-B", tmp_path, "--preset", "dev", "-DKILN_HIP_INCLUDE_DIR=", cwd=ROOT, status=1
    )
    output = " ".join(output.split())
    assert "expected hip/hip_runtime_api.h, of the package libamdhip64-dev" in output
    assert "leave HIP out of KILN_DRIVERS" in output


@pytest.mark.slow
def test_tree_of_the_host_alone_configures(tmp_path):
    configure(tmp_path, "--preset", "dev", "-DKILN_TARGETS=CPU", "-DKILN_DRIVERS=Host",
              "-DKILN_TESTS=OFF")  # fmt: skip
    commands = run("ninja", "-C", tmp_path, "-t", "commands", "kiln")
    assert "lib/Runtime/Host/" in commands
    for other in ("CUDA", "HIP", "Emulated"):
        assert f"lib/Runtime/{other}/" not in commands


@pytest.mark.parametrize(
    "option, folder", [("KILN_TARGETS", "lib/Target"), ("KILN_DRIVERS", "lib/Runtime")]
)
def test_unknown_target_or_driver_is_refused(option, folder, tmp_path):
    output = run(
        "cmake", "-B", tmp_path, "--preset", "dev", f"-D{option}=Abacus", cwd=ROOT, status=1
    )
    assert f"{option} names Abacus, but there is no {folder}/Abacus" in " ".join(output.split())
