// Loops in which all threads of the block wait stay rolled, those around them and those inside them, too.
// RUN: tile-opt %s --nvptx-decide-rolled-loops | FileCheck %s

// CHECK-DAG: #[[PIPELINE:.*]] = #llvm.loop_pipeline<disable = true>
// CHECK-DAG: #[[ROLLED:.*]] = #llvm.loop_annotation<pipeline = #[[PIPELINE]]>
// CHECK-DAG: #[[BOTH:.*]] = #llvm.loop_annotation<licm = #{{.*}}, pipeline = #[[PIPELINE]]>
// CHECK-LABEL: llvm.func @waits
// CHECK: nvvm.barrier0
// CHECK: llvm.cond_br %{{.*}}, ^bb1{{.*}} {loop_annotation = #[[ROLLED]]}
// What is said of a loop already is kept.
// CHECK: nvvm.barrier0
// CHECK: llvm.br ^bb{{.*}} {loop_annotation = #[[BOTH]]}
llvm.func @waits(%n: i32) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^loop(%c0 : i32)
^loop(%i: i32):
  nvvm.barrier0
  %j = llvm.add %i, %c1 : i32
  %more = llvm.icmp "slt" %j, %n : i32
  llvm.cond_br %more, ^loop(%j : i32), ^again(%c0 : i32)
^again(%k: i32):
  %goes = llvm.icmp "slt" %k, %n : i32
  llvm.cond_br %goes, ^body, ^exit
^body:
  nvvm.barrier0
  %l = llvm.add %k, %c1 : i32
  llvm.br ^again(%l : i32) {llvm.loop_annotation = #llvm.loop_annotation<licm = <disable = true>>}
^exit:
  llvm.return
}

// Without barriers nothing is said; roles wait at barriers with a count.
// CHECK-LABEL: llvm.func @runs
// CHECK-NOT: loop_annotation
llvm.func @runs(%n: i32) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %threads = llvm.mlir.constant(128 : i32) : i32
  llvm.br ^loop(%c0 : i32)
^loop(%i: i32):
  nvvm.barrier id = %c1 number_of_threads = %threads
  %j = llvm.add %i, %c1 : i32
  %more = llvm.icmp "slt" %j, %n : i32
  llvm.cond_br %more, ^loop(%j : i32), ^exit
^exit:
  llvm.return
}
