// Windows: parts of buffers whose elements lie between others.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

// 64 rows of 128 bytes whose pieces of 16 are permuted, as wgmma reads them.
#swizzled = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0]]>

// CHECK-LABEL: tile.kernel @windows
tile.kernel @windows(%k: index) attributes {tile.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.alloc : !tile.buffer<64x64xf16, #swizzled>
  // CHECK: %[[K:.*]] = tile.part %{{.*}}[%{{.*}}, %k] : !tile.buffer<64x64xf16, #{{.*}}> -> !tile.buffer<64x32xf16 of 64x64, #{{.*}}>
  %w = tile.part %x[%c0, %k] : !tile.buffer<64x64xf16, #swizzled> -> !tile.buffer<64x32xf16 of 64x64, #swizzled>
  // Rows are together: their part has a layout of its own.
  // CHECK: tile.part {{.*}} -> !tile.buffer<32x64xf16, #{{.*}}>
  %r = tile.part %x[%k, %c0] : !tile.buffer<64x64xf16, #swizzled> -> !tile.buffer<32x64xf16, #rows>
  // CHECK: tile.dot %[[K]], %[[K]], %{{.*}} transpose_b {in_flight = 0 : i64} : !tile.buffer<64x32xf16 of 64x64, #{{.*}}>, !tile.buffer<64x32xf16 of 64x64, #{{.*}}> -> tensor<64x64xf32>
  %d = tile.dot %w, %w, %zero transpose_b {in_flight = 0 : i64}
     : !tile.buffer<64x32xf16 of 64x64, #swizzled>, !tile.buffer<64x32xf16 of 64x64, #swizzled> -> tensor<64x64xf32>
  tile.return
}
