// Of an op's two results the one lies in memory and the other is computed where it is used: what is
// known of the one says nothing of the other.
// RUN: tile-compile %s -O 0 --target cpu --emit target -o - | FileCheck %s

// CHECK-LABEL: func.func @kiln_entry
// CHECK: arith.mului_extended
tile.kernel @random(%counters: !tile.view<?x32xi32>, %x: !tile.view<?x?xi32>,
                    %y: !tile.view<?x?xi32>) grid {
  %c3 = arith.constant 3 : index
  tile.grid %c3
} {
  %c0 = arith.constant 0 : index
  %seed = arith.constant 2919264371105347820 : i64
  %stream = arith.constant 494627834 : i32
  %i = tile.program_id x
  %counter = tile.load %counters[%c0, %c0] : !tile.view<?x32xi32> -> tensor<4x32xi32>
  %a, %b, %c, %d = tile.philox %seed, %stream, %counter : tensor<4x32xi32>
  %less = arith.cmpi sle, %b, %d : tensor<4x32xi32>
  %chosen = arith.select %less, %a, %b : tensor<4x32xi1>, tensor<4x32xi32>
  tile.store %b, %x[%i, %c0] : tensor<4x32xi32>, !tile.view<?x?xi32>
  tile.store %chosen, %y[%i, %c0] : tensor<4x32xi32>, !tile.view<?x?xi32>
  tile.return
}
