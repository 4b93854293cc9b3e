// RUN: tile-opt %s --tile-pipeline="target=nvptx:sm_90a" --verify-diagnostics
// A constant that folding merged with another has no place any more: the error stands at a use.

tile.kernel @merged(%o: !tile.view<?x?xi32>, %p: !tile.view<?x?xi32>) {
  %i = tile.program_id x
  %a = arith.constant dense<1> : tensor<1024x256xi32>
  %b = arith.ori %a, %a : tensor<1024x256xi32>
  tile.store %a, %p[%i, %i] : tensor<1024x256xi32>, !tile.view<?x?xi32>
  // expected-error @+1 {{'arith.constant' is not supported on nvptx:sm_90a yet: expected at most 131072 elements, got tensor<1024x256xi32>}}
  tile.store %b, %o[%i, %i] : tensor<1024x256xi32>, !tile.view<?x?xi32>
  tile.return
}
