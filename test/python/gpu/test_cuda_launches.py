"""Graphs, clusters and other launches, several devices and lost ones, on a real GPU.

Skipped where there is none; utils/gpu-test runs them. What loses a device has a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from chip_kernels import add
from gpu_machine import pinned_kernel, torch

import kiln

HERE = Path(__file__).resolve().parent
has_clusters = pytest.mark.skipif(
    torch.cuda.get_device_capability() < (9, 0), reason="clusters came with compute capability 9.0"
)
two_devices = pytest.mark.skipif(torch.cuda.device_count() < 2, reason="this machine has one GPU")


@kiln.kernel
def scaled(x: kiln.View, y: kiln.View, s: kiln.f32, B: kiln.constexpr):
    i = kiln.grid(kiln.cdiv(x.shape[0], B))
    y.store((i * B,), x.load((i * B,), (B,)) * s)


@kiln.kernel
def chained(x: kiln.View, y: kiln.View, B: kiln.constexpr):
    kiln.pin(overlap=True)
    i = kiln.grid(kiln.cdiv(x.shape[0], B))
    y.store((i * B,), x.load((i * B,), (B,)) + 1)


@kiln.kernel
def paired(x: kiln.View, y: kiln.View, B: kiln.constexpr):
    kiln.pin(cluster=2)
    i = kiln.grid(kiln.cdiv(x.shape[0], B))
    y.store((i * B,), x.load((i * B,), (B,)) + 1)


# ===- Grids -----------------------------------------------------------------------------------===#


def test_grids_of_more_programs_than_a_gpu_holds() -> None:
    """Only grids of kernels that loop over tiles are cut to what runs at once."""
    x = torch.arange(20_000 * 128, device="cuda", dtype=torch.float32)
    y = torch.zeros_like(x)
    scaled(x, y, 2.0, B=128)
    assert torch.equal(y, 2 * x)


# ===- Graphs ----------------------------------------------------------------------------------===#


@pytest.mark.parametrize("warm", [True, False])
def test_a_graph_replays_with_what_the_arrays_hold(warm: bool) -> None:
    """Also where a kernel is compiled and loaded during the capture."""
    x, y, z = (torch.zeros(5000, device="cuda") for _ in range(3))
    B = 512 if warm else 256  # another instance, which nothing has loaded
    if warm:
        scaled(x, y, 3.0, B=B)
        add(x, y, z, B=B)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        scaled(x, y, 3.0, B=B)
        add(x, y, z, B=B)
    for _ in range(3):
        x.copy_(torch.randn(5000))
        y.fill_(float("nan")), z.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(y, x * 3.0)
        assert torch.equal(z, x + y)


def test_waiting_for_a_captured_stream_is_refused_and_spoils_nothing() -> None:
    x, y = torch.randn(1000, device="cuda"), torch.zeros(1000, device="cuda")
    scaled(x, y, 2.0, B=256)
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.graph(graph, stream=stream):
        with pytest.raises(kiln.LaunchError, match="being captured into a graph"):
            kiln.device("cuda:0").synchronize(stream.cuda_stream)
        scaled(x, y, 2.0, B=256)
    y.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(y, x * 2.0)


def test_tensor_maps_are_part_of_the_graph() -> None:
    """By value: what the cache of maps holds by the time of the replay does not matter."""
    kernel = pinned_kernel("gemm.mlir")
    a, b = (torch.randn(512, 256, device="cuda").bfloat16() for _ in range(2))
    c = torch.zeros(512, 512, device="cuda", dtype=torch.bfloat16)
    kernel(a, b, c)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel(a, b, c)
    for _ in range(20):  # pushes the maps of the capture out
        kernel(torch.empty_like(a), torch.empty_like(b), torch.empty_like(c))
    a.copy_(torch.randn(512, 256)), b.copy_(torch.randn(512, 256))
    c.fill_(float("nan"))
    graph.replay()
    torch.cuda.synchronize()
    reference = a.double() @ b.double().T
    assert (c.double() - reference).norm() <= 4e-3 * reference.norm()


# ===- Launches beside plain ones --------------------------------------------------------------===#


def test_cooperative_launches_and_priorities() -> None:
    x = torch.randn(10_000, device="cuda")
    y = torch.empty_like(x)
    scaled.options(cooperative=True, priority=-1)(x, y, 2.0, B=512)
    torch.cuda.synchronize()
    assert torch.equal(y, x * 2.0)
    many = torch.zeros(1 << 24, device="cuda")
    with pytest.raises(kiln.DeviceError, match="kernel 'scaled': expected a cooperative launch of"):
        scaled.options(cooperative=True)(many, many, 2.0, B=64)
    scaled(x, y, 3.0, B=512)
    torch.cuda.synchronize()
    assert torch.equal(y, x * 3.0)


@has_clusters
def test_clusters() -> None:
    x = torch.randn(16 * 512, device="cuda")
    y = torch.empty_like(x)
    for run in (scaled.options(cluster=2), scaled.options(cluster=8)):
        y.fill_(float("nan"))
        run(x, y, 2.0, B=512)
        torch.cuda.synchronize()
        assert torch.equal(y, x * 2.0)
    paired(x, y, B=512)
    torch.cuda.synchronize()
    assert torch.equal(y, x + 1)
    with pytest.raises(kiln.LaunchError, match="expected a grid of whole clusters of 3 x 1 x 1"):
        scaled.options(cluster=3)(x, y, 2.0, B=512)


@has_clusters
def test_launches_that_overlap_see_what_precedes_them() -> None:
    """Each reads what the one before wrote; a chain of them, and a graph of it."""
    x = torch.randn(1 << 20, device="cuda")
    buffers = [x.clone(), torch.empty_like(x)]

    def chain() -> None:
        for step in range(40):
            chained(buffers[step % 2], buffers[1 - step % 2], B=1024)

    reference = x.clone()
    for _ in range(40):
        reference += 1
    for _ in range(5):
        buffers[0].copy_(x), buffers[1].fill_(float("nan"))
        chain()
        torch.cuda.synchronize()
        assert torch.equal(buffers[0], reference)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        chain()
    buffers[0].copy_(x), buffers[1].fill_(float("nan"))
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(buffers[0], reference)
    with pytest.raises(kiln.LaunchError, match="compiled to overlap what precedes it"):
        scaled.options(overlap=True)(x, buffers[0], 2.0, B=1024)


# ===- Several devices -------------------------------------------------------------------------===#


@two_devices
def test_arrays_say_which_device_launches() -> None:
    for number in range(torch.cuda.device_count()):
        x = torch.randn(3000, device=f"cuda:{number}")
        y = torch.empty_like(x)
        scaled(x, y, 2.0, B=512)
        torch.cuda.synchronize(number)
        assert torch.equal(y, x * 2.0)


@two_devices
def test_a_peer_is_reached_when_asked_for() -> None:
    x, y = torch.randn(3000, device="cuda:0"), torch.zeros(3000, device="cuda:1")
    with pytest.raises(kiln.LaunchError, match="argument `y`: expected .* got one on 'cuda:1'"):
        scaled(x, y, 2.0, B=512)
    first, second = kiln.device("cuda:0"), kiln.device("cuda:1")
    if not first.can_access_peer(second):
        pytest.skip("the two GPUs have no way to each other")
    first.enable_peer_access(second)
    scaled(x, y, 2.0, B=512)
    torch.cuda.synchronize(0)
    assert torch.equal(y.cpu(), x.cpu() * 2.0)


# ===- Lost devices ----------------------------------------------------------------------------===#


def lost(*arguments: str) -> list[str]:
    path = os.pathsep.join([str(HERE), *sys.path])
    done = subprocess.run(
        [sys.executable, str(HERE / "lost_device.py"), *arguments],
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("blocking", [False, True])
def test_the_kernel_that_failed_is_named(blocking: bool) -> None:
    lines = lost("alone", "blocking" if blocking else "queued")
    assert lines[0].startswith("good True")
    assert lines[1].startswith("DeviceError: kernel 'bad' (") and "lost_device.py:" in lines[1]
    assert "failed on device 'cuda:0'" in lines[1] and "CUDA_ERROR_" in lines[1]
    assert lines[2].startswith(
        "DeviceError: kernel 'good': device 'cuda:0' is lost, because kernel"
    )
    assert lines[3] == "host True"
    # Whether there is another context for this process is the driver's to say.
    refused = lines[4].startswith("DeviceError: cannot reset device 'cuda:0': the driver makes no")
    assert refused or lines[4] == "after the reset True"


def test_a_device_that_others_have_is_not_reset() -> None:
    lines = lost("shared", "queued")
    assert lines[1].startswith("DeviceError: kernel 'bad' (")
    assert lines[3] == "host True"
    assert lines[4].startswith("DeviceError: cannot reset device 'cuda:0': ")
    assert "start a new process" in lines[4]


def test_waiting_ends() -> None:
    lines = lost("slow")
    assert lines[0].startswith("TimeoutError: kernel 'slow' (")
    assert lines[0].endswith("did not end on 'cuda:0' within 20 ms")
    assert lines[1] == "ended True"
