// Scaled products that an instruction may start become dots with scales; others stay.
// RUN: tile-opt %s --split-input-file --tile-join-scales | FileCheck %s

module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
// What is decided of it comes along.
// CHECK-LABEL: tile.kernel @bytes
// CHECK: tile.dot %[[A:.*]], %[[B:.*]], %[[C:.*]] scales(%[[S:.*]], %[[T:.*]]) transpose_b {in_flight = 0 : i64, role = "mma", tile.atom = "tcgen05"} : tensor<128x128xf8E4M3FN>, tensor<64x128xf8E5M2> scales(tensor<128x4xf8E8M0FNU>, tensor<64x4xf8E8M0FNU>) -> tensor<128x64xf32>
tile.kernel @bytes(%x: !tile.view<?x?xf8E4M3FN>, %y: !tile.view<?x?xf8E5M2>, %u: !tile.view<?x?xf8E8M0FNU>,
                   %o: !tile.view<?x?xf32>) attributes {tile.roles = [#tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] : !tile.view<?x?xf8E4M3FN> -> tensor<128x128xf8E4M3FN>
  %b = tile.load %y[%c0, %c0] : !tile.view<?x?xf8E5M2> -> tensor<64x128xf8E5M2>
  %s = tile.load %u[%c0, %c0] : !tile.view<?x?xf8E8M0FNU> -> tensor<128x4xf8E8M0FNU>
  %t = tile.load %u[%c0, %c0] : !tile.view<?x?xf8E8M0FNU> -> tensor<64x4xf8E8M0FNU>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %d = tile.dot_scaled %a scale %s, %b scale %t, %zero transpose_b {in_flight = 0, role = "mma", tile.atom = "tcgen05"}
     : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>, tensor<64x128xf8E5M2>, tensor<64x4xf8E8M0FNU> -> tensor<128x64xf32>
  tile.store %d, %o[%c0, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// Elements of four bits are the bytes that an engine brings.
// CHECK-LABEL: tile.kernel @nibbles
// CHECK: %[[X:.*]] = tile.load {{.*}} -> tensor<128x64xi8>
// CHECK: tile.dot %[[X]], %{{.*}}, %{{.*}} scales({{.*}}) transpose_b : tensor<128x64xi8>, tensor<64x64xi8> scales(tensor<128x8xf8E4M3FN>, tensor<64x8xf8E4M3FN>) -> tensor<128x64xf32>
tile.kernel @nibbles(%x: !tile.view<?x?xi8>, %u: !tile.view<?x?xf8E4M3FN>, %o: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %i = tile.load %x[%c0, %c0] : !tile.view<?x?xi8> -> tensor<128x64xi8>
  %j = tile.load %x[%c0, %c0] : !tile.view<?x?xi8> -> tensor<64x64xi8>
  %a = tile.bitcast %i : tensor<128x64xi8> -> tensor<128x128xf4E2M1FN>
  %b = tile.bitcast %j : tensor<64x64xi8> -> tensor<64x128xf4E2M1FN>
  %s = tile.load %u[%c0, %c0] : !tile.view<?x?xf8E4M3FN> -> tensor<128x8xf8E4M3FN>
  %t = tile.load %u[%c0, %c0] : !tile.view<?x?xf8E4M3FN> -> tensor<64x8xf8E4M3FN>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %d = tile.dot_scaled %a scale %s, %b scale %t, %zero transpose_b
     : tensor<128x128xf4E2M1FN>, tensor<128x8xf8E4M3FN>, tensor<64x128xf4E2M1FN>, tensor<64x8xf8E4M3FN> -> tensor<128x64xf32>
  tile.store %d, %o[%c0, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// No instruction has 64 rows, or elements of four and of eight bits.
// CHECK-LABEL: tile.kernel @others
// CHECK-COUNT-2: tile.dot_scaled
tile.kernel @others(%a: !tile.view<?x?xf8E4M3FN>, %u: !tile.view<?x?xf8E8M0FNU>, %o: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] : !tile.view<?x?xf8E4M3FN> -> tensor<64x128xf8E4M3FN>
  %y = arith.constant dense<1.0> : tensor<128x128xf4E2M1FN>
  %s = tile.load %u[%c0, %c0] : !tile.view<?x?xf8E8M0FNU> -> tensor<64x4xf8E8M0FNU>
  %t = tile.load %u[%c0, %c0] : !tile.view<?x?xf8E8M0FNU> -> tensor<128x4xf8E8M0FNU>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<128x64xf32>
  %d = tile.dot_scaled %x scale %s, %x scale %s, %zero transpose_b
     : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>, tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU> -> tensor<64x64xf32>
  %e = tile.dot_scaled %y scale %t, %x scale %s, %none transpose_b
     : tensor<128x128xf4E2M1FN>, tensor<128x4xf8E8M0FNU>, tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU> -> tensor<128x64xf32>
  tile.store %d, %o[%c0, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.store %e, %o[%c0, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}

// -----

// A chip without them keeps all.
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// CHECK-LABEL: tile.kernel @hopper
// CHECK: tile.dot_scaled
tile.kernel @hopper(%x: !tile.view<?x?xf8E4M3FN>, %u: !tile.view<?x?xf8E8M0FNU>, %o: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] : !tile.view<?x?xf8E4M3FN> -> tensor<128x128xf8E4M3FN>
  %s = tile.load %u[%c0, %c0] : !tile.view<?x?xf8E8M0FNU> -> tensor<128x4xf8E8M0FNU>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %d = tile.dot_scaled %a scale %s, %a scale %s, %zero transpose_b
     : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>, tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU> -> tensor<128x128xf32>
  tile.store %d, %o[%c0, %c0] : tensor<128x128xf32>, !tile.view<?x?xf32>
  tile.return
}
}
