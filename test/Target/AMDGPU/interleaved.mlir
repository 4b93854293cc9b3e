// Four waves of which each reads, fills and multiplies at once, in the order that the dot decides.
// RUN: tile-compile %s --target amdgpu:gfx950 --emit schedule -o - | FileCheck %s --check-prefix=IR
// RUN: tile-compile %s --target amdgpu:gfx950 --emit asm -o %t.s
// RUN: tile-check-isa --figures %t.s | FileCheck %s --check-prefix=FIGURES
// RUN: grep -oE '(ds_read_b128|buffer_load_dwordx4.*lds|v_mfma|s_barrier|s_cbranch)' %t.s \
// RUN:   | sed 's/ .*//' | uniq -c | FileCheck %s --check-prefix=ORDER

// IR: scf.for
// IR: tile.dot
// IR-NOT: interleave
// IR-COUNT-12: tile.schedule_group 1 read of 0
// IR-COUNT-4: tile.schedule_group 1 matrix of 0
// IR: tile.schedule_group 2 matrix of 0
// IR-NEXT: tile.schedule_group 1 load of 0

// A trip: the reads first, then a load behind every second product.
// ORDER: 12 ds_read_b128
// ORDER-NEXT: 6 v_mfma
// ORDER-NEXT: 1 buffer_load_dwordx4
// ORDER-NEXT: 2 v_mfma
// ORDER-NEXT: 1 buffer_load_dwordx4
// ORDER-NEXT: 2 v_mfma
// ORDER-NEXT: 1 buffer_load_dwordx4
// ORDER-NEXT: 2 v_mfma
// ORDER-NEXT: 1 buffer_load_dwordx4
// ORDER-NEXT: 2 v_mfma
// ORDER-NEXT: 1 buffer_load_dwordx4
// ORDER-NEXT: 2 v_mfma
// ORDER-NEXT: 1 buffer_load_dwordx4
// ORDER-NEXT: s_barrier

// FIGURES: "scratch_bytes":0
// FIGURES-SAME: "vgpr_spills":0

#copy = #amdgcn.load_to_lds<"gfx950", 16>
#mma = #amdgcn.matrix<"mfma.f32.32x32x16.bf16", "gfx950", bf16>

!view = !tile.view<?x?xbf16, strides [?, 1]>

module attributes {tile.target = #amdgcn.target<chip = "gfx950">} {
tile.kernel @gemm(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 8], index32>},
                  %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 8], index32>},
                  %c: !view {tile.facts = #tile.facts<pointer = 4, strides = [4, 2], extents = [0, 2], index32>})
    attributes {tile.roles = [#tile.role<"all", warps = 4>],
                tile.persistent = #tile.persistent<programs = 256, group = 16>} grid {
  %c256 = arith.constant 256 : index
  %m = tile.dim %c, 0 : !view
  %n = tile.dim %c, 1 : !view
  %c128 = arith.constant 128 : index
  %tm = arith.ceildivui %m, %c128 : index
  %tn = arith.ceildivui %n, %c256 : index
  tile.grid %tm, %tn
} {
  %x = tile.program_id x
  %y = tile.program_id y
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  %c128 = arith.constant 128 : index
  %row = arith.muli %x, %c128 : index
  %column = arith.muli %y, %c256 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<128x256xf32> {
    %at = tile.load %a[%row, %kk] {atom = #copy, stage = 0, order = 0, role = "all"}
        : !view -> tensor<128x32xbf16>
    %bt = tile.load %b[%column, %kk] {atom = #copy, stage = 0, order = 1, role = "all"}
        : !view -> tensor<256x32xbf16>
    %d = tile.dot %at, %bt, %s transpose_b {atom = #mma, stage = 1, order = 2, role = "all",
        interleave = #tile.interleave<12 x (1 read), 4 x (1 matrix), 6 x (2 matrix, 1 load)>}
       : tensor<128x32xbf16>, tensor<256x32xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tile.depth = 2}
  %narrow = arith.truncf %sum : tensor<128x256xf32> to tensor<128x256xbf16>
  tile.store %narrow, %c[%row, %column] {role = "all"} : tensor<128x256xbf16>, !view
  tile.return
}
}
