// Shared memory, in text, generic form and bytecode.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

#columns = #tile.layout<offset = [[1,0],[2,0],[4,0],[8,0],[16,0],[0,1],[0,2],[0,4],[0,8]]>

// CHECK: #[[L:.*]] = #tile.layout<offset = {{.*}}>
// CHECK-LABEL: tile.kernel @buffers
// CHECK:         %[[B:.*]] = tile.alloc : !tile.buffer<16x32xf16>
// CHECK:         %[[C:.*]] = tile.alloc : !tile.buffer<32x16xf16, #[[L]]>
// CHECK:         tile.write %{{.*}}, %[[B]] : tensor<16x32xf16>, !tile.buffer<16x32xf16>
// CHECK:         tile.read %[[C]] : !tile.buffer<32x16xf16, #[[L]]> -> tensor<32x16xf16>
// CHECK:         tile.read %[[B]] at [0, 16] : !tile.buffer<16x32xf16> -> tensor<16x16xf16>
// CHECK:         tile.dot %[[B]], %[[C]], %{{.*}} {parts = array<i64: 2, 1, 2>, reads_ahead = 3 : i64, swap = true} : !tile.buffer<16x32xf16>, !tile.buffer<32x16xf16, #[[L]]> -> tensor<16x16xf32>
tile.kernel @buffers() {
  %b = tile.alloc : !tile.buffer<16x32xf16>
  %c = tile.alloc : !tile.buffer<32x16xf16, #columns>
  %x = arith.constant dense<1.0> : tensor<16x32xf16>
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  tile.write %x, %b : tensor<16x32xf16>, !tile.buffer<16x32xf16>
  %y = tile.read %c : !tile.buffer<32x16xf16, #columns> -> tensor<32x16xf16>
  %part = tile.read %b at [0, 16] : !tile.buffer<16x32xf16> -> tensor<16x16xf16>
  %d = tile.dot %b, %c, %z {parts = array<i64: 2, 1, 2>, reads_ahead = 3 : i64, swap = true}
     : !tile.buffer<16x32xf16>, !tile.buffer<32x16xf16, #columns> -> tensor<16x16xf32>
  tile.return
}
