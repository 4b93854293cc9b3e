// RUN: tile-opt %s --tile-legalise-dots -split-input-file -verify-diagnostics

// Three products of signed bytes stand for one of unsigned bytes: one place in the order is not theirs.
module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
tile.kernel @ordered(%x: !tile.view<32x32xi8>, %z: !tile.view<32x32xi32>) {
  %c0 = arith.constant 0 : index
  %s = arith.constant dense<0> : tensor<32x32xi32>
  %a = tile.load %x[%c0, %c0] : !tile.view<32x32xi8> -> tensor<32x32xi8>
  // expected-error @+1 {{expected no 'order', since several products of signed bytes stand for it on amdgpu:gfx942}}
  %d = tile.dot %a, %a, %s unsigned_a {stage = 0, order = 0} : tensor<32x32xi8>, tensor<32x32xi8> -> tensor<32x32xi32>
  tile.store %d, %z[%c0, %c0] : tensor<32x32xi32>, !tile.view<32x32xi32>
  tile.return
}
}
