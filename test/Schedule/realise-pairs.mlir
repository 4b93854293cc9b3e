// Each of two programs that multiply together loads half of b's columns.
// RUN: tile-opt %s --tile-realise-pairs | FileCheck %s

#mma = #nvptx.tcgen05<"m256n256k16", bf16, f32>
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0],[64,0],[128,0]]>
!view = !tile.view<?x?xbf16>

// Rows of b are columns of the product; a buffer that is decided is halved, too.
// CHECK-LABEL: tile.kernel @rows
// CHECK: %[[X:.*]] = tile.program_id x
// CHECK: %[[PLACE:.*]] = arith.remui %[[X]], %c2{{.*}} : index
// CHECK: %[[HALF:.*]] = arith.muli %[[PLACE]], %c128{{.*}} : index
// CHECK: scf.for
// CHECK: tile.load %a[%{{.*}}, %{{.*}}] {{.*}} -> tensor<128x64xbf16>
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[HALF]] : index
// CHECK: %[[B:.*]] = tile.load %b[%[[AT]], %{{.*}}] {atom = #nvptx.tma, buffer = !tile.buffer<128x64xbf16, #{{.*}}>, role = "load"} : {{.*}} -> tensor<128x64xbf16>
// CHECK: tile.dot %{{.*}}, %[[B]], %{{.*}} transpose_b {{.*}} : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x256xf32>
tile.kernel @rows(%a: !view, %b: !view, %c: !tile.view<?x?xf32>)
    attributes {tile.cluster = array<i64: 2, 1, 1>,
                tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %x = tile.program_id x
  %row = arith.muli %x, %c128 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x256xf32> {
    %at = tile.load %a[%row, %kk] {atom = #nvptx.tma, role = "load"} : !view -> tensor<128x64xbf16>
    %bt = tile.load %b[%c0, %kk] {atom = #nvptx.tma, buffer = !tile.buffer<256x64xbf16, #rows>, role = "load"}
        : !view -> tensor<256x64xbf16>
    %d = tile.dot %at, %bt, %s transpose_b {atom = #mma, role = "mma", in_flight = 0}
       : tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  tile.store %sum, %c[%row, %c0] {role = "mma"} : tensor<128x256xf32>, !tile.view<?x?xf32>
  tile.return
}

// Without programs along x a pair lies along y; two dots in turn read one half.
// CHECK-LABEL: tile.kernel @columns
// CHECK: %[[Y:.*]] = tile.program_id y
// CHECK: arith.remui %[[Y]], %c2{{.*}} : index
// CHECK: tile.load %b[%{{.*}}, %{{.*}}] {{.*}} -> tensor<64x128xbf16>
// CHECK-NOT: tile.load %b
// CHECK-COUNT-2: tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x256xf32>
tile.kernel @columns(%a: !view, %b: !view, %c: !tile.view<?x?xf32>)
    attributes {tile.cluster = array<i64: 1, 4, 1>,
                tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %y = tile.program_id y
  %row = arith.muli %y, %c128 : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %at = tile.load %a[%row, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<128x64xbf16>
  %more = tile.load %a[%row, %c64] {atom = #nvptx.tma, role = "load"} : !view -> tensor<128x64xbf16>
  %bt = tile.load %b[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x256xbf16>
  %d = tile.dot %at, %bt, %zero {atom = #mma, role = "mma", in_flight = 0}
     : tensor<128x64xbf16>, tensor<64x256xbf16> -> tensor<128x256xf32>
  %e = tile.dot %more, %bt, %d {atom = #mma, role = "mma", in_flight = 0}
     : tensor<128x64xbf16>, tensor<64x256xbf16> -> tensor<128x256xf32>
  tile.store %e, %c[%row, %c0] {role = "mma"} : tensor<128x256xf32>, !tile.view<?x?xf32>
  tile.return
}

// Dots of one program stay as they are.
// CHECK-LABEL: tile.kernel @alone
// CHECK-NOT: program_id
// CHECK: tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32>
tile.kernel @alone(%a: !view, %b: !view, %c: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %at = tile.load %a[%c0, %c0] {atom = #nvptx.tma} : !view -> tensor<128x64xbf16>
  %bt = tile.load %b[%c0, %c0] {atom = #nvptx.tma} : !view -> tensor<256x64xbf16>
  %d = tile.dot %at, %bt, %zero transpose_b {atom = #nvptx.tcgen05<"m128n256k16", bf16, f32>, in_flight = 0}
     : tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32>
  tile.store %d, %c[%c0, %c0] : tensor<128x256xf32>, !tile.view<?x?xf32>
  tile.return
}
