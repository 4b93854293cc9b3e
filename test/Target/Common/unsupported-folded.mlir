// RUN: tile-opt %s --tile-pipeline="target=nvptx:sm_90a" --verify-diagnostics
// A constant that folding merged with another has no place any more: the error stands at a use.

tile.kernel @merged(%o: !tile.view<?xi32>, %p: !tile.view<?xi32>) {
  %i = tile.program_id x
  %a = arith.constant dense<[1, 2]> : tensor<2xi32>
  %b = arith.ori %a, %a : tensor<2xi32>
  tile.store %a, %p[%i] : tensor<2xi32>, !tile.view<?xi32>
  // expected-error @+1 {{'arith.constant' is not supported on nvptx:sm_90a yet: expected all elements of a constant to be the same}}
  tile.store %b, %o[%i] : tensor<2xi32>, !tile.view<?xi32>
  tile.return
}
