// A message printed, and an assertion, by a function that was inlined: globals that are made for
// either have no function around them, and the place is the function's.
// RUN: tile-compile %s --target nvptx:sm_80 --emit asm | FileCheck %s
// RUN: tile-compile %s --target nvptx:sm_80 --emit metadata | FileCheck %s --check-prefix=META

// CHECK: atom.global.add.u64
// CHECK: atom.global.add.u64
// META: "kind":"assert","line":[[#@LINE+5]],"text":"one lane"},{"kind":"line","text":"spoken"}]
func.func @speak() {
  %i = tile.iota 0 : tensor<64xi32>
  %c = arith.constant dense<64> : tensor<64xi32>
  %ok = arith.cmpi ne, %i, %c : tensor<64xi32>
  tile.assert %ok, "one lane" : tensor<64xi1>
  tile.print "spoken"
  return
}
tile.kernel @speaks(%n: i32) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  func.call @speak() : () -> ()
  tile.return
}
