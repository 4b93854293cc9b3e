// Which kernels have one program run several of the source's, and how many.
// RUN: tile-opt %s -split-input-file --tile-decide-batch | FileCheck %s

// Two warps of each of which a core holds 32, and 4 KB that each pair moves: memory is busy.
// CHECK-LABEL: tile.kernel @rows64
// CHECK-SAME: tile.batch = 16 : i64
// CHECK-LABEL: tile.kernel @rows128
// CHECK-SAME: tile.batch = 8 : i64
// CHECK-LABEL: tile.kernel @rows512
// CHECK-SAME: tile.batch = 2 : i64
// CHECK-LABEL: tile.kernel @rows1024
// CHECK-NOT: tile.batch
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @rows64(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x64xbf16>
  tile.store %x, %b[%i, %c0] : tensor<1x64xbf16>, !view
  tile.return
}
tile.kernel @rows128(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x128xbf16>
  tile.store %x, %b[%i, %c0] : tensor<1x128xbf16>, !view
  tile.return
}
tile.kernel @rows512(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x512xbf16>
  tile.store %x, %b[%i, %c0] : tensor<1x512xbf16>, !view
  tile.return
}
tile.kernel @rows1024(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x1024xbf16>
  tile.store %x, %b[%i, %c0] : tensor<1x1024xbf16>, !view
  tile.return
}
}

// -----

// Of wider elements fewer do.
// CHECK-LABEL: tile.kernel @wide
// CHECK-SAME: tile.batch = 8 : i64
!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @wide(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x64xf32>
  tile.store %x, %b[%i, %c0] : tensor<1x64xf32>, !view
  tile.return
}
}

// -----

// Where a core holds a block for each warp, one warp is enough; each lane has 16 bytes.
// CHECK-LABEL: tile.kernel @waves
// CHECK-SAME: tile.batch = 8 : i64
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
tile.kernel @waves(%a: !view, %b: !view) grid {
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

// As many programs as the grid leaves each core; what is pinned stays.
// CHECK-LABEL: tile.kernel @few
// CHECK-SAME: tile.batch = 2 : i64
// CHECK-LABEL: tile.kernel @none
// CHECK-NOT: tile.batch
// CHECK-LABEL: tile.kernel @pinned
// CHECK-SAME: tile.batch = 1 : i64
// CHECK-LABEL: tile.kernel @blocks
// CHECK-NOT: tile.batch
// CHECK-LABEL: tile.kernel @warps
// CHECK-SAME: tile.batch = 32 : i64
!view = !tile.view<?x?xbf16>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @few(%a: !view, %b: !view) grid {
  %n = arith.constant 300 : index
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x64xbf16>
  tile.store %x, %b[%i, %c0] : tensor<1x64xbf16>, !view
  tile.return
}
tile.kernel @none(%a: !view, %b: !view) grid {
  %n = arith.constant 200 : index
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x64xbf16>
  tile.store %x, %b[%i, %c0] : tensor<1x64xbf16>, !view
  tile.return
}
tile.kernel @pinned(%a: !view, %b: !view) attributes {tile.batch = 1 : i64} grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x64xbf16>
  tile.store %x, %b[%i, %c0] : tensor<1x64xbf16>, !view
  tile.return
}
tile.kernel @blocks(%a: !view, %b: !view) attributes {tile.block_programs = 1 : i64} grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x64xbf16>
  tile.store %x, %b[%i, %c0] : tensor<1x64xbf16>, !view
  tile.return
}
tile.kernel @warps(%a: !view, %b: !view) attributes {tile.warps = 4 : i64} grid {
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

// Rows that a list names are gathered; windows that overlap would be, element by element; along x
// there may be one program; trips that nobody knows may be many, and many trips keep memory busy; what all programs share is not
// theirs; programs that cannot run in step run alone.
// CHECK-LABEL: tile.kernel @named
// CHECK-SAME: tile.batch = 8 : i64
// CHECK-LABEL: tile.kernel @windows
// CHECK-NOT: tile.batch
// CHECK-LABEL: tile.kernel @axes
// CHECK-NOT: tile.batch
// CHECK-LABEL: tile.kernel @trips
// CHECK-NOT: tile.batch
// CHECK-LABEL: tile.kernel @long
// CHECK-NOT: tile.batch
// CHECK-LABEL: tile.kernel @asserts
// CHECK-NOT: tile.batch
// CHECK-LABEL: tile.kernel @atomics
// CHECK-NOT: tile.batch
!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @named(%a: !view, %b: !view, %ids: !tile.view<?xi32>) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %id = tile.load %ids[%i] : !tile.view<?xi32> -> tensor<1xi32>
  %number = tile.to_scalar %id : tensor<1xi32>
  %place = arith.index_cast %number : i32 to index
  %x = tile.load %a[%place, %c0] : !view -> tensor<1x64xf32>
  tile.store %x, %b[%i, %c0] : tensor<1x64xf32>, !view
  tile.return
}
tile.kernel @windows(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id x
  %x = tile.load %a[%i, %c0] : !view -> tensor<3x64xf32>
  %s = tile.slice %x [1, 0] : tensor<3x64xf32> -> tensor<1x64xf32>
  tile.store %s, %b[%i, %c0] : tensor<1x64xf32>, !view
  tile.return
}
tile.kernel @axes(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  %m = tile.dim %a, 1 : !view
  tile.grid %n, %m
} {
  %i = tile.program_id x
  %j = tile.program_id y
  %x = tile.load %a[%i, %j] : !view -> tensor<1x64xf32>
  tile.store %x, %b[%i, %j] : tensor<1x64xf32>, !view
  tile.return
}
tile.kernel @trips(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = tile.dim %a, 1 : !view
  %i = tile.program_id x
  scf.for %k = %c0 to %end step %c64 {
    %x = tile.load %a[%i, %k] : !view -> tensor<1x64xf32>
    tile.store %x, %b[%i, %k] : tensor<1x64xf32>, !view
  }
  tile.return
}
tile.kernel @long(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = arith.constant 4096 : index
  %i = tile.program_id x
  scf.for %k = %c0 to %end step %c64 {
    %x = tile.load %a[%i, %k] : !view -> tensor<1x64xf32>
    tile.store %x, %b[%i, %k] : tensor<1x64xf32>, !view
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
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x64xf32>
  tile.store %x, %b[%i, %c0] : tensor<1x64xf32>, !view
  tile.return
}
tile.kernel @atomics(%a: !view, %b: !view) grid {
  %n = tile.dim %a, 0 : !view
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %i = tile.program_id x
  %old = tile.atomic_rmw addf %a[%i, %c0], %one : !view, [index, index], f32
  %x = tile.load %a[%i, %c0] : !view -> tensor<1x64xf32>
  tile.store %x, %b[%i, %c0] : tensor<1x64xf32>, !view
  tile.return
}
}
