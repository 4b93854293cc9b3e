// Exchanges between lanes by the cheapest means of three generations, down to the instructions.
// RUN: tile-compile %S/Inputs/shuffles.mlir --target amdgpu:gfx942 --emit asm | FileCheck %s --check-prefix=CDNA3
// RUN: tile-compile %S/Inputs/shuffles.mlir --target amdgpu:gfx950 --emit asm | FileCheck %s --check-prefix=CDNA4
// RUN: tile-compile %S/Inputs/shuffles.mlir --target amdgpu:gfx1201 --emit asm | FileCheck %s --check-prefix=RDNA4

// A sum over a wave: rows of sixteen by DPP, folded into additions; then across rows.
// CDNA3: row_ror:8
// CDNA3: ds_bpermute_b32
// CDNA3-NOT: permlane
// CDNA4-NOT: ds_bpermute
// CDNA4: v_permlane32_swap
// CDNA4-NOT: ds_bpermute
// RDNA4-NOT: ds_bpermute
// RDNA4: row_xmask:
// RDNA4: v_permlanex16
// RDNA4-NOT: ds_bpermute
