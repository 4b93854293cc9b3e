// Checks, hints and foreign code, in text, generic form and bytecode.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @effects
// CHECK:         tile.print "x" hex unsigned (%{{.*}}, %{{.*}}) : tensor<8xi32>, i32
// CHECK:         tile.print "only text"{{$}}
// CHECK-NEXT:    arith.addi
// CHECK:         tile.print "of" program [%{{.*}}, %{{.*}}, %{{.*}}] extents [4] (%{{.*}}) : tensor<8xi32>
// CHECK:         tile.print "of" program [%{{.*}}, %{{.*}}, %{{.*}}]{{$}}
// CHECK-NEXT:    arith.addi
// CHECK:         tile.assert %{{.*}}, "message" : i1
// CHECK:         tile.assert %{{.*}}, "each" : tensor<8xi1>
// CHECK:         tile.assert %{{.*}}, "of" program [%{{.*}}, %{{.*}}, %{{.*}}] : i1
// CHECK:         tile.assume %{{.*}}
// CHECK:         tile.multiple_of %{{.*}}, 16 : i32
func.func @effects(%x: tensor<8xi32>, %s: i32, %c: i1, %m: tensor<8xi1>, %p: index) {
  tile.print "x" hex unsigned (%x, %s) : tensor<8xi32>, i32
  tile.print "only text"
  %sum = arith.addi %s, %s : i32
  tile.print "of" program [%p, %p, %p] extents [4] (%x) : tensor<8xi32>
  tile.print "of" program [%p, %p, %p]
  %more = arith.addi %sum, %s : i32
  tile.assert %c, "message" : i1
  tile.assert %m, "each" : tensor<8xi1>
  tile.assert %c, "of" program [%p, %p, %p] : i1
  tile.assume %c
  %0 = tile.multiple_of %s, 16 : i32
  return
}

// CHECK-LABEL: func.func @foreign
// CHECK:         tile.inline_asm "op $0, $1;" "=f,f" pack = 2 pure(%{{.*}}) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK:         tile.inline_asm "fence;" ""() : () -> ()
// CHECK:         tile.extern_call "erfcxf" from "" pure(%{{.*}}) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK:         tile.extern_call "clock" from "lib.bc"() : () -> i64
func.func @foreign(%x: tensor<8xf32>) {
  %0 = tile.inline_asm "op $0, $1;" "=f,f" pack = 2 pure (%x) : (tensor<8xf32>) -> tensor<8xf32>
  tile.inline_asm "fence;" "" () : () -> ()
  %1 = tile.extern_call "erfcxf" from "" pure (%x) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = tile.extern_call "clock" from "lib.bc" () : () -> i64
  return
}
