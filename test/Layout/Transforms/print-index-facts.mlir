// RUN: tile-opt %s --tile-print-index-facts -o /dev/null --verify-diagnostics

// Rows of eight elements each: what is divided by their length is the same for eight neighbours, and
// what is left counts on.
!view = !tile.view<?x?xf32, strides [?, 1]>
tile.kernel @rows(%x: !view {tile.facts = #tile.facts<extents = [0, 8], index32>}) {
  // expected-remark @below {{divisor 1, same [], run [], from 0 to 2147483646}}
  %program = tile.program_id x
  // expected-remark @below {{divisor 8, same [], run [], from 8 to 536870912}}
  %n = tile.dim %x, 1 : !view
  // expected-remark @below {{divisor 8, same [], run []}}
  %base = arith.muli %program, %n : index
  // expected-remark @below {{divisor 8, same [1073741824], run [1]}}
  %bases = tile.splat %base : tensor<64xindex>
  // expected-remark @below {{divisor 1, same [1], run [1073741824], from 0 to 63}}
  %lane = tile.iota 0 : tensor<64xindex>
  // expected-remark @below {{divisor 1, same [1], run [8]}}
  %at = arith.addi %bases, %lane : tensor<64xindex>
  // expected-remark @below {{divisor 8, same [1073741824], run [1], from 8 to 536870912}}
  %ns = tile.splat %n : tensor<64xindex>
  // expected-remark @below {{divisor 1, same [8], run [1]}}
  %row = arith.divui %at, %ns : tensor<64xindex>
  // expected-remark @below {{divisor 8, same [8], run [1]}}
  %back = arith.muli %row, %ns : tensor<64xindex>
  // expected-remark @below {{divisor 1, same [1], run [8]}}
  %column = arith.subi %at, %back : tensor<64xindex>
  tile.return
}

// What a loop carries keeps what each turn keeps.
tile.kernel @carried(%from: index, %to: index) {
  // expected-remark @below {{divisor 8, same [], run [], from 8 to 8}}
  %c8 = arith.constant 8 : index
  // expected-remark @below {{divisor 4, same [1073741824], run [1], from 4 to 4}}
  %four = arith.constant dense<4> : tensor<16xi32>
  // expected-remark @below {{divisor 1, same [1], run [1073741824], from 0 to 15}}
  %first = tile.iota 0 : tensor<16xi32>
  // expected-remark @below {{divisor 1, same [1], run [4]}}
  %last = scf.for %i = %from to %to step %c8 iter_args(%at = %first) -> tensor<16xi32> {
    // expected-remark @below {{divisor 1, same [1], run [4]}}
    %next = arith.addi %at, %four : tensor<16xi32>
    scf.yield %next : tensor<16xi32>
  }
  tile.return
}
