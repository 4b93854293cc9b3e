// A message printed by a function that was inlined: its text, a global, has no function around it.
// RUN: tile-compile %s --target nvptx:sm_80 --emit asm | FileCheck %s

// CHECK-DAG: .global {{.*}} .b8 kiln_format0
// CHECK-DAG: .extern .func {{.*}} vprintf
// CHECK: call.uni {{.*}}vprintf
func.func @speak() {
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
