"""Kernels whose launches may overlap, with the trigger wherever it can stand: an emulated chip runs
one launch after another, so that whatever a kernel waits for has ended. Chips that have no such
launches refuse them as the real ones do."""

from __future__ import annotations

import ml_dtypes
import mutation
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
ATOMS = {"sm_90a": "wgmma", "sm_100a": "tcgen05"}
PLACES = ["entry", "load", "dot", "branch", "scale", "cast", "store"]


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View, atom: kiln.constexpr, at: kiln.constexpr,
    stores: kiln.constexpr, grid: kiln.constexpr, share: kiln.constexpr, twice: kiln.constexpr,
):  # fmt: skip
    """c = 2 * a @ b.T"""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], 64))
    kiln.pin(overlap=True, persistent=grid)
    mma = kiln.role("mma", warps=4, turns=2 if twice else 1)
    writer = "store" if stores else "mma"
    if stores:
        kiln.pin(roles=(kiln.role("load", warps=4), mma, kiln.role("store", warps=4)))
    else:
        kiln.pin(roles=(kiln.role("load", warps=4), mma))
    acc = kiln.zeros((128, 64), kiln.f32)
    trips = range(0, a.shape[1], 32)
    for k in kiln.pin(trips, depth=3, share=share) if share else kiln.pin(trips, depth=3):
        x = kiln.pin(a.load((i * 128, k), (128, 32)), role="load", atom="tma")
        y = kiln.pin(b.load((j * 64, k), (64, 32)), role="load", atom="tma")
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), role="mma", atom=atom, in_flight=0)
        kiln.pin(x, triggers=at == "load")
        kiln.pin(acc, triggers=at == "dot")
    if a.shape[1] > 32:
        if at == "branch":
            acc = kiln.pin(acc * 2.0, role="mma", triggers=True)
        else:
            acc = acc * 2.0
    else:
        acc = kiln.pin(acc * 2.0, triggers=at == "scale")
    out = acc.to(c.dtype)
    if at == "cast":
        kiln.pin(out, role="mma", triggers=True)
    kiln.pin(c.store((i * 128, j * 64), out), role=writer, triggers=at == "store")


def check(rng, chip: str, at: str, stores=False, grid=False, share=None, twice=False) -> None:
    """Three launches, of which each reads what the one before it wrote."""
    emulated = product.options(device=f"emu:{chip}")
    a, b = rng.standard_normal((150, 96)).astype(BF16), rng.standard_normal((96, 96)).astype(BF16)
    b = (b.astype(np.float32) / 10).astype(BF16)
    for _ in range(3):
        c = np.zeros((150, 96), BF16)
        emulated(a, b, c, ATOMS[chip], at, stores, grid, share, twice)
        reference = 2 * a.astype(np.float64) @ b.astype(np.float64).T
        assert np.abs(c.astype(np.float64) - reference).max() <= 0.01 * np.abs(reference).max()
        a = c


@pytest.mark.parametrize("chip", ATOMS)
@pytest.mark.parametrize("at", PLACES)
def test_triggers(rng, chip: str, at: str) -> None:
    check(rng, chip, at)


@pytest.mark.parametrize("chip", ATOMS)
@pytest.mark.parametrize("at", ["entry", "load", "cast", "store"])
@pytest.mark.parametrize(
    "others",
    [{"stores": True}, {"grid": (2, 1)}, {"grid": (3, 2), "twice": True}, {"share": 2}],
    ids=lambda others: "-".join(others),
)
def test_triggers_in_other_schedules(rng, chip: str, at: str, others) -> None:
    check(rng, chip, at, **others)


@kiln.kernel
def scaled(x: kiln.View, y: kiln.View, at: kiln.constexpr):
    i = kiln.grid(kiln.cdiv(x.shape[0], 64))
    kiln.pin(overlap=True)
    values = kiln.pin(x.load((i * 64,), (64,)), triggers=at == "load")
    for _ in range(3):
        values = kiln.pin(values * 2.0, triggers=at == "loop")
    total = kiln.pin(kiln.sum(values), triggers=at == "sum")
    kiln.pin(y.store((i * 64,), values + total), triggers=at == "store")


@pytest.mark.parametrize("chip", ATOMS)
@pytest.mark.parametrize("at", ["entry", "load", "loop", "sum", "store"])
def test_kernels_without_roles(rng, chip: str, at: str) -> None:
    x = rng.standard_normal(256).astype(np.float32)
    y = np.zeros_like(x)
    for options in ({}, {"overlap": True}):
        scaled.options(device=f"emu:{chip}", **options)(x, y, at)
        sums = np.repeat((8 * x.astype(np.float64)).reshape(4, 64).sum(1), 64)
        np.testing.assert_allclose(y, 8 * x + sums, atol=1e-3)


def test_a_kernel_that_does_not_wait_for_what_runs_in_front_of_it_is_found() -> None:
    """That the next launch may begin early orders nothing."""
    x, y = np.ones(256, np.float32), np.zeros(256, np.float32)
    text = scaled.compile(x, y, "load", target="emu:sm_90a").ir("llvm")
    lines = set(range(text.count("\n")))
    mutants = [m for m in mutation.mutants(text, lines) if "griddepcontrol" in m.what]
    assert [m.may_be_same for m in mutants] == [" wait'" not in m.what for m in mutants]
    for mutant in mutants:
        launch = mutation.loaded(mutation.changed(text, mutant), "emu:sm_90a")
        if mutant.may_be_same:
            launch(x, y)
            continue
        with pytest.raises(kiln.DeviceError) as raised:
            launch(x, y)
        said = str(raised.value)
        assert "a race: a read of byte 0 of argument 'x', which the launch in front of this" in said
        assert "missing: a wait for what runs in front of it ('griddepcontrol.wait')" in said
    assert {m.may_be_same for m in mutants} == {True, False}


@pytest.mark.parametrize("chip", ["sm_80", "sm_89", "gfx942", "gfx950", "gfx1201"])
def test_chips_without_such_launches(rng, chip: str) -> None:
    x = rng.standard_normal(256).astype(np.float32)
    with pytest.raises(
        kiln.CompileError, match="expected a chip whose kernels wait for those"
    ) as e:
        scaled.options(device=f"emu:{chip}")(x, x.copy(), "load")
    with pytest.raises(kiln.CompileError) as real:
        scaled.compile(
            x, x.copy(), "load", target=f"{'nvptx' if chip[0] == 's' else 'amdgpu'}:{chip}"
        )
    assert str(real.value).replace("nvptx:", "emu:").replace("amdgpu:", "emu:") == str(e.value)


@kiln.kernel
def lonely(x: kiln.View):
    kiln.grid(1)
    x.store((0,), kiln.pin(x.load((0,), (64,)), triggers=True) * 2.0)


@pytest.mark.parametrize("device", ["cpu", "emu:sm_90a", "emu:sm_80", "emu:gfx942"])
def test_a_trigger_without_overlap(device: str) -> None:
    with pytest.raises(
        kiln.CompileError, match="expected a kernel with 'tile.overlap', since 'tile.tr"
    ):
        lonely.options(device=device)(np.zeros(64, np.float32))


@kiln.kernel
def plain(x: kiln.View):
    kiln.grid(1)
    x.store((0,), x.load((0,), (64,)) * 2.0)


@pytest.mark.parametrize("device", ["emu:sm_90a", "emu:gfx942"])
def test_a_launch_of_a_kernel_that_does_not_wait(device: str) -> None:
    with pytest.raises(
        kiln.LaunchError, match="a kernel that is compiled to overlap what precedes it"
    ):
        plain.options(device=device, overlap=True)(np.zeros(64, np.float32))
