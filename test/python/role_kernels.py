"""Kernels whose roles need barriers in shared memory and no engine, for tests on emulated chips and on
GPUs."""

from __future__ import annotations

import kiln


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View, copy_a: kiln.constexpr, copy_b: kiln.constexpr,
    depth_a: kiln.constexpr, depth_b: kiln.constexpr, loaders: kiln.constexpr,
    load_warps: kiln.constexpr, copies: kiln.constexpr, warps: kiln.constexpr,
    stores: kiln.constexpr, persistent: kiln.constexpr, lanes: kiln.constexpr,
    atom: kiln.constexpr = "mma_sync",
):  # fmt: skip
    """Two rings or, of one copy and one depth, one; what is stored may go to a role of its own."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], 64))
    roles = (
        kiln.role("load", warps=load_warps, copies=loaders),
        kiln.role("mma", warps=warps, copies=copies),
    )
    if stores != "mma":
        roles = (*roles, kiln.role("store", warps=2))
    kiln.pin(roles=roles)
    if persistent:
        kiln.pin(persistent=(2, 1))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in range(0, a.shape[1], 32):
        x = kiln.pin(a.load((i * 128, k), (128, 32)), atom=copy_a, role="load", depth=depth_a)
        y = kiln.pin(b.load((j * 64, k), (64, 32)), atom=copy_b, role="load", depth=depth_b)
        alike = depth_a == depth_b and copy_a == copy_b
        x, y = (
            kiln.pin(x, ring="both" if alike else "a"),
            kiln.pin(y, ring="both" if alike else "b"),
        )
        if lanes:
            x = kiln.maximum(x, 0)
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), atom=atom, role="mma")
    kiln.pin(c.store((i * 128, j * 64), acc), role=stores)


PLAIN = dict(
    copy_a="cp_async", copy_b="cp_async", depth_a=2, depth_b=2, loaders=1, load_warps=4, copies=1,
    warps=4, stores="mma", persistent=False, lanes=False,
)  # fmt: skip


@kiln.kernel
def attention(
    q: kiln.View, k: kiln.View, v: kiln.View, out: kiln.View, copy: kiln.constexpr,
    depth: kiln.constexpr, copies: kiln.constexpr, later: kiln.constexpr,
    atom: kiln.constexpr = "mma_sync",
):  # fmt: skip
    """One role loads queries once a program and keys and values in two rings; with `later` the second
    product runs a stage behind."""
    i = kiln.grid(kiln.cdiv(q.shape[0], 64))
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=2, copies=copies)))
    kiln.pin(persistent=(2, 1))
    x = kiln.pin(q.load((i * 64, 0), (64, 64)), role="load", atom=copy, ring="q", depth=1)
    highest = kiln.full((64,), -1000.0, kiln.f32)
    total, acc = kiln.zeros((64,), kiln.f32), kiln.zeros((64, 64), kiln.f32)
    for j in range(0, k.shape[0], 32):
        y = kiln.pin(k.load((j, 0), (32, 64)), role="load", atom=copy, ring="k", depth=depth)
        s = kiln.pin(kiln.dot(x, y, transpose_b=True), role="mma", atom=atom, stage=0)
        seen = (j + kiln.arange(32)) < k.shape[0]
        s = kiln.where(seen[None, :], s, -1000.0)
        new = kiln.maximum(highest, kiln.max(s, axis=1))
        old = kiln.exp2(highest - new)
        p = kiln.exp2(s - new[:, None])
        total = total * old + kiln.sum(p, axis=1)
        highest = new
        z = kiln.pin(v.load((j, 0), (32, 64)), role="load", atom=copy, ring="v", depth=depth)
        acc = kiln.dot(p.to(v.dtype), z, acc * old[:, None])
        acc = kiln.pin(acc, role="mma", atom=atom, stage=later)
    kiln.pin(out.store((i * 64, 0), (acc / total[:, None]).to(out.dtype)), role="mma")
