// Which kernels have a block run several of their programs.
// RUN: tile-opt %s -split-input-file --tile-decide-block-programs | FileCheck %s

// One warp that brings little: a core holds half as many blocks as warps.
// CHECK-LABEL: tile.kernel @rows
// CHECK-SAME: tile.block_programs = 8 : i64
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @rows(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x256xbf16>
  tile.store %x, %b[%i, %c0] : tensor<1x256xbf16>, !view
  tile.return
}
}

// -----

// Cores with 24 blocks and 48 warps, and slow memory.
// CHECK-LABEL: tile.kernel @rows_too
// CHECK-SAME: tile.block_programs = 8 : i64
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_120a">} {
tile.kernel @rows_too(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x256xbf16>
  tile.store %x, %b[%i, %c0] : tensor<1x256xbf16>, !view
  tile.return
}
}

// -----

// Warps may be pinned. Sums of rows go by shuffles; what else a program computes does not matter.
// CHECK-LABEL: tile.kernel @pinned
// CHECK-SAME: tile.block_programs = 8 : i64, tile.warps = 1 : i64
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @pinned(%a: !view, %b: !view) attributes {tile.warps = 1 : i64} grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x128xbf16>
  %y = math.exp %x : tensor<1x128xbf16>
  tile.store %y, %b[%i, %c0] : tensor<1x128xbf16>, !view
  tile.return
}
}

// -----

// Two warps reach all warps of a core; what brings much keeps memory busy; along x there may be one
// program.
// CHECK-LABEL: tile.kernel @warps
// CHECK-NOT: tile.block_programs
// CHECK-LABEL: tile.kernel @much
// CHECK-NOT: tile.block_programs
// CHECK-LABEL: tile.kernel @axes
// CHECK-NOT: tile.block_programs
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @warps(%a: !view, %b: !view) attributes {tile.warps = 2 : i64} grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x256xbf16>
  tile.store %x, %b[%i, %c0] : tensor<1x256xbf16>, !view
  tile.return
}
tile.kernel @much(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %end = arith.constant 2048 : index
  %i = tile.program_id x
  scf.for %k = %c0 to %end step %c256 {
    %x = tile.load %a[%i, %k] : !view -> tensor<1x256xbf16>
    tile.store %x, %b[%i, %k] : tensor<1x256xbf16>, !view
  }
  tile.return
}
tile.kernel @axes(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  %m = tile.dim %a, 1 : !view
  tile.grid %n, %m
} {
  %i = tile.program_id x
  %j = tile.program_id y
  %x = tile.load %a[%i, %j] : !view -> tensor<1x256xbf16>
  tile.store %x, %b[%i, %j] : tensor<1x256xbf16>, !view
  tile.return
}
}

// -----

// Trips that nobody knows may be many; an assertion ends a block; what is decided stays.
// CHECK-LABEL: tile.kernel @trips
// CHECK-NOT: tile.block_programs
// CHECK-LABEL: tile.kernel @asserts
// CHECK-NOT: tile.block_programs
// CHECK-LABEL: tile.kernel @overlaps
// CHECK-NOT: tile.block_programs
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @trips(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = tile.dim %a, 1 : !view
  %i = tile.program_id x
  scf.for %k = %c0 to %end step %c64 {
    %x = tile.load %a[%i, %k] : !view -> tensor<1x64xbf16>
    tile.store %x, %b[%i, %k] : tensor<1x64xbf16>, !view
  }
  tile.return
}
tile.kernel @asserts(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %m = tile.dim %a, 1 : !view
  %is = arith.cmpi ugt, %m, %c0 : index
  tile.assert %is, "columns" : i1
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x64xbf16>
  tile.store %x, %b[%i, %c0] : tensor<1x64xbf16>, !view
  tile.return
}
tile.kernel @overlaps(%a: !view, %b: !view) attributes {tile.overlap} grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x64xbf16>
  tile.store %x, %b[%i, %c0] : tensor<1x64xbf16>, !view
  tile.return
}
}

// -----

// Where a core holds fewer blocks, programs of two warps leave room for more.
// CHECK-LABEL: tile.kernel @two
// CHECK-SAME: tile.block_programs = 4 : i64
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_86">} {
tile.kernel @two(%a: !view, %b: !view) attributes {tile.warps = 2 : i64} grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x256xbf16>
  tile.store %x, %b[%i, %c0] : tensor<1x256xbf16>, !view
  tile.return
}
}

// -----

// A chip whose cores hold as many blocks of one wave as waves has none to gain.
// CHECK-LABEL: tile.kernel @other
// CHECK-NOT: tile.block_programs
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
tile.kernel @other(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x256xbf16>
  tile.store %x, %b[%i, %c0] : tensor<1x256xbf16>, !view
  tile.return
}
}
