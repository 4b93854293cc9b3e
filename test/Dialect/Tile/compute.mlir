// Matrix products and combining along an axis, in text, generic form and bytecode.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @dot
// CHECK:         tile.dot %{{.*}}, %{{.*}}, %{{.*}} transpose_b : tensor<16x32xbf16>, tensor<8x32xbf16> -> tensor<16x8xf32>
// CHECK:         tile.dot %{{.*}}, %{{.*}}, %{{.*}} transpose_a unsigned_b : tensor<4x32x16xi8>, tensor<4x32x8xi8> -> tensor<4x16x8xi32>
func.func @dot(%a: tensor<16x32xbf16>, %b: tensor<8x32xbf16>, %c: tensor<16x8xf32>,
               %d: tensor<4x32x16xi8>, %e: tensor<4x32x8xi8>, %f: tensor<4x16x8xi32>) {
  %0 = tile.dot %a, %b, %c transpose_b : tensor<16x32xbf16>, tensor<8x32xbf16> -> tensor<16x8xf32>
  %1 = tile.dot %d, %e, %f transpose_a unsigned_b
     : tensor<4x32x16xi8>, tensor<4x32x8xi8> -> tensor<4x16x8xi32>
  return
}
func.func @precision(%a: tensor<16x32xf32>, %b: tensor<32x8xf32>, %c: tensor<16x8xf32>) {
  // CHECK-LABEL: func.func @precision
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} precision = tf32x3 : tensor<16x32xf32>, tensor<32x8xf32> -> tensor<16x8xf32>
  %0 = tile.dot %a, %b, %c precision = tf32x3
     : tensor<16x32xf32>, tensor<32x8xf32> -> tensor<16x8xf32>
  return
}

// CHECK-LABEL: func.func @dot_scaled
// CHECK:         tile.dot_scaled %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} : tensor<16x64xf8E5M2>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf4E2M1FN>, tensor<8x2xf8E8M0FNU> -> tensor<16x8xf32>
// CHECK:         tile.dot_scaled %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} transpose_b : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E4M3FN>, tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN> -> tensor<16x8xf32>
func.func @dot_scaled(%a: tensor<16x64xf8E5M2>, %sa: tensor<16x2xf8E8M0FNU>,
                      %b: tensor<64x8xf4E2M1FN>, %sb: tensor<8x2xf8E8M0FNU>, %c: tensor<16x8xf32>,
                      %d: tensor<16x64xf4E2M1FN>, %sd: tensor<16x4xf8E4M3FN>,
                      %e: tensor<8x64xf4E2M1FN>, %se: tensor<8x4xf8E4M3FN>) {
  %0 = tile.dot_scaled %a scale %sa, %b scale %sb, %c
     : tensor<16x64xf8E5M2>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf4E2M1FN>,
       tensor<8x2xf8E8M0FNU> -> tensor<16x8xf32>
  %1 = tile.dot_scaled %d scale %sd, %e scale %se, %c transpose_b
     : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E4M3FN>, tensor<8x64xf4E2M1FN>,
       tensor<8x4xf8E4M3FN> -> tensor<16x8xf32>
  return
}

// CHECK-LABEL: func.func @dot_with_scales
// CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} scales(%{{.*}}, %{{.*}}) transpose_b : tensor<16x64xf8E5M2>, tensor<8x64xf8E4M3FN> scales(tensor<16x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<16x8xf32>
// CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} scales(%{{.*}}, %{{.*}}) transpose_b : tensor<16x32xi8>, tensor<8x32xi8> scales(tensor<16x4xf8E4M3FN>, tensor<8x4xf8E4M3FN>) -> tensor<16x8xf32>
func.func @dot_with_scales(%a: tensor<16x64xf8E5M2>, %sa: tensor<16x2xf8E8M0FNU>, %b: tensor<8x64xf8E4M3FN>,
                           %sb: tensor<8x2xf8E8M0FNU>, %c: tensor<16x8xf32>, %d: tensor<16x32xi8>,
                           %sd: tensor<16x4xf8E4M3FN>, %e: tensor<8x32xi8>, %se: tensor<8x4xf8E4M3FN>) {
  %0 = tile.dot %a, %b, %c scales(%sa, %sb) transpose_b
     : tensor<16x64xf8E5M2>, tensor<8x64xf8E4M3FN>
       scales(tensor<16x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>) -> tensor<16x8xf32>
  %1 = tile.dot %d, %e, %c scales(%sd, %se) transpose_b
     : tensor<16x32xi8>, tensor<8x32xi8>
       scales(tensor<16x4xf8E4M3FN>, tensor<8x4xf8E4M3FN>) -> tensor<16x8xf32>
  return
}

// CHECK-LABEL: func.func @combine
// CHECK:         tile.reduce %{{.*}}, %{{.*}} axis = 0 : tensor<8x4xf32>, tensor<8x4xi32> -> tensor<4xf32>, tensor<4xi32> {
// CHECK-NEXT:    ^bb0(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32):
// CHECK:           tile.yield %{{.*}}, %{{.*}} : f32, i32
// CHECK:         tile.scan %{{.*}} axis = 1 reverse : tensor<8x4xf32> -> tensor<8x4xf32> {
// CHECK:         tile.arg_reduce %{{.*}} axis = 1 : tensor<8x4xf32> -> tensor<8xf32>, tensor<8xi32> {
func.func @combine(%x: tensor<8x4xf32>, %y: tensor<8x4xi32>, %captured: f32) {
  %0:2 = tile.reduce %x, %y axis = 0
      : tensor<8x4xf32>, tensor<8x4xi32> -> tensor<4xf32>, tensor<4xi32> {
  ^bb0(%a: f32, %b: i32, %c: f32, %d: i32):
    %s = arith.mulf %a, %captured : f32
    tile.yield %s, %d : f32, i32
  }
  %1 = tile.scan %x axis = 1 reverse : tensor<8x4xf32> -> tensor<8x4xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  %2, %3 = tile.arg_reduce %x axis = 1 : tensor<8x4xf32> -> tensor<8xf32>, tensor<8xi32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.cmpf ogt, %b, %a : f32
    tile.yield %s : i1
  }
  return
}
