// What a host cannot obey is refused with the reason.
// RUN: tile-opt %s --tile-pipeline="target=cpu stop-after=layout" -verify-diagnostics
!view = !tile.view<?x?xf32>
tile.kernel @host(%a: !view, %c: !view) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %a[%c0, %c0] : !view -> tensor<64x64xf32>
  // expected-error@+1 {{expected no 'parts' on cpu, which runs a program as one thread's loops}}
  %d = tile.dot %x, %x, %zero {parts = array<i64: 1, 1, 2>} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  // expected-error@+1 {{expected no 'promote' on cpu, which runs a program as one thread's loops}}
  %e = tile.dot %x, %d, %zero {promote = true} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %e, %c[%c0, %c0] : tensor<64x64xf32>, !view
  tile.return
}
