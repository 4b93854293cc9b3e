// RUN: tile-opt --tile-decide-roles --split-input-file %s | FileCheck %s

// The code of the first proposal did not do with a thread's registers, nor that of those that follow.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: @in_turn
// CHECK-NOT: tile.proposal
// CHECK-SAME: #tile.role<"load", warps = 1>
// CHECK: tile.dot {{.*}}stage = 0 : i64
tile.kernel @in_turn(%a: !tile.view<?x?xbf16> {tile.facts = #facts}, %c: !tile.view<?x?xf32>)
    attributes {tile.proposal = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// CHECK-LABEL: @own_ring_beside
// CHECK-NOT: tile.proposal
// CHECK-SAME: tile.roles = [#tile.role<"all", warps = 4>]
// CHECK: tile.load {{.*}} {atom = #nvptx.cp_async<16>, ring = "copied0", role = "all"}
// CHECK: tile.dot {{.*}} {atom = #nvptx.wgmma<"m64n64k16", bf16, f32>, role = "all"}
tile.kernel @own_ring_beside(%a: !tile.view<?x?xbf16> {tile.facts = #facts}, %c: !tile.view<?x?xf32>)
    attributes {tile.proposal = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// CHECK-LABEL: @own_ring
// CHECK-NOT: tile.proposal
// CHECK-SAME: tile.roles = [#tile.role<"all", warps = 8>]
// CHECK-NOT: wgmma
tile.kernel @own_ring(%a: !tile.view<?x?xbf16> {tile.facts = #facts}, %c: !tile.view<?x?xf32>)
    attributes {tile.proposal = 3 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// CHECK-LABEL: @none_is_left
// CHECK-NOT: tile.proposal
// CHECK-NOT: tile.roles
// CHECK: tile.load %{{.*}}] : !tile.view
tile.kernel @none_is_left(%a: !tile.view<?x?xbf16> {tile.facts = #facts}, %c: !tile.view<?x?xf32>)
    attributes {tile.proposal = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// One use of a ring brings all that a trip's products read, so what is loaded behind the first of them
// comes in front of it, with what says where it lies.

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
// CHECK-LABEL: @together
// CHECK: scf.for
// CHECK: tile.load %a{{.*}}ring = "written0"
// CHECK-NEXT: %[[AT:.*]] = arith.addi
// CHECK-NEXT: tile.load %c[%{{.*}}, %[[AT]]]{{.*}}ring = "written0"
// CHECK-NEXT: tile.dot
// CHECK: tile.dot
tile.kernel @together(%a: !tile.view<?x?xbf16> {tile.facts = #facts}, %c: !tile.view<?x?xbf16> {tile.facts = #facts},
                      %o: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %kk] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %x, %x, %s transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %at = arith.addi %kk, %c64 : index
    %y = tile.load %c[%c0, %at] : !tile.view<?x?xbf16> -> tensor<64x64xbf16>
    %e = tile.dot %x, %y, %d transpose_b
       : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %e : tensor<64x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}
