// Products of narrow floats with a scale for each block of 32, from layouts to final code.
// RUN: tile-opt %s --split-input-file -o %t.mlir --tile-legalise-dots --tile-decide-atoms --tile-decide-layouts
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: tile-opt %t.mlir --split-input-file -o %t2.mlir --tile-place-conversions --tile-decide-conversions --tile-realise-conversions --tile-plan-shared-memory --tile-order-shared --tile-lower-to-threads --canonicalize --cse
// RUN: FileCheck %s --input-file=%t2.mlir --check-prefix=THREADS

#fp4 = #tile.facts<pointer = 16, strides = [16, 1], extents = [0, 16]>

// A lane holds 32 elements of a row: those of a byte half from the first and half from the second
// half of k, smaller ones one after the other. The scales of a row's blocks lie in the lanes that
// come after one another by the number of rows.
// CHECK-DAG: #[[A4:.*]] = #tile.layout<register = {{\[}}[0,1],[0,2],[0,4],[0,8],[0,16]], lane = {{\[}}[1,0],[2,0],[4,0],[8,0],[0,32],[0,64]], warp = []>
// CHECK-DAG: #[[B8:.*]] = #tile.layout<register = {{\[}}[0,1],[0,2],[0,4],[0,8],[0,64]], lane = {{\[}}[1,0],[2,0],[4,0],[8,0],[0,16],[0,32]], warp = []>
// CHECK-DAG: #[[S:.*]] = #tile.layout<register = [], lane = {{\[}}[1,0],[2,0],[4,0],[8,0],[0,1],[0,2]], warp = []>
module attributes {tile.target = #amdgcn.target<chip = "gfx950">} {
  // CHECK-LABEL: tile.kernel @mixed(
  // CHECK: tile.dot_scaled %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} transpose_b
  // CHECK-SAME: atom = #amdgcn.matrix<"mfma.scale.f32.16x16x128.f8f6f4", "gfx950", f4E2M1FN, b = f8E5M2>
  // CHECK-SAME: tensor<16x128xf4E2M1FN, #[[A4]]>, tensor<16x4xf8E8M0FNU, #[[S]]>, tensor<16x128xf8E5M2, #[[B8]]>, tensor<16x4xf8E8M0FNU, #[[S]]>
  // THREADS-LABEL: func.func @mixed(
  // The formats, a byte of the scales' register, and the register.
  // THREADS-DAG: %[[A:.*]] = llvm.mlir.constant(4 : i32)
  // THREADS-DAG: %[[B:.*]] = llvm.mlir.constant(1 : i32)
  // THREADS-DAG: %[[FIRST:.*]] = llvm.mlir.constant(0 : i32)
  // THREADS: rocdl.mfma.scale.f32.16x16x128.f8f6f4 %{{.*}}, %{{.*}}, %{{.*}}, %[[A]], %[[B]], %[[FIRST]], %{{.*}}, %[[FIRST]], %{{.*}} : (vector<4xi32>, vector<8xi32>, vector<4xf32>, i32, i32, i32, i32, i32, i32) -> vector<4xf32>
  tile.kernel @mixed(%a: !tile.view<?x?xf4E2M1FN> {tile.facts = #fp4}, %sa: !tile.view<?x?xf8E8M0FNU>, %b: !tile.view<?x?xf8E5M2>, %sb: !tile.view<?x?xf8E8M0FNU>, %c: !tile.view<?x?xf32>) attributes {tile.warps = 1} {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0, %c0] : !tile.view<?x?xf4E2M1FN> -> tensor<16x128xf4E2M1FN>
    %s = tile.load %sa[%c0, %c0] : !tile.view<?x?xf8E8M0FNU> -> tensor<16x4xf8E8M0FNU>
    %y = tile.load %b[%c0, %c0] : !tile.view<?x?xf8E5M2> -> tensor<16x128xf8E5M2>
    %t = tile.load %sb[%c0, %c0] : !tile.view<?x?xf8E8M0FNU> -> tensor<16x4xf8E8M0FNU>
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %d = tile.dot_scaled %x scale %s, %y scale %t, %zero transpose_b : tensor<16x128xf4E2M1FN>, tensor<16x4xf8E8M0FNU>, tensor<16x128xf8E5M2>, tensor<16x4xf8E8M0FNU> -> tensor<16x16xf32>
    tile.store %d, %c[%c0, %c0] : tensor<16x16xf32>, !tile.view<?x?xf32>
    tile.return
  }

  // Two steps along k take two bytes of one register. Constants of scales stay out of the code
  // generator's sight.
  // THREADS-LABEL: func.func @steps(
  // THREADS-DAG: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32)
  // THREADS-DAG: %[[ONE:.*]] = llvm.mlir.constant(1 : i32)
  // THREADS-DAG: %[[F6:.*]] = llvm.mlir.constant(3 : i32)
  // THREADS: %[[SCALES:.*]] = llvm.inline_asm asm_dialect = att "", "=v,0"
  // THREADS: %[[SUM:.*]] = rocdl.mfma.scale.f32.32x32x64.f8f6f4 %{{.*}}, %{{.*}}, %{{.*}}, %[[F6]], %[[F6]], %[[ZERO]], %[[SCALES]], %[[ZERO]], %{{.*}} : (vector<6xi32>, vector<6xi32>, vector<16xf32>
  // THREADS: rocdl.mfma.scale.f32.32x32x64.f8f6f4 %{{.*}}, %{{.*}}, %[[SUM]], %[[F6]], %[[F6]], %[[ONE]], %{{.*}}, %[[ONE]], %{{.*}} : (vector<6xi32>, vector<6xi32>, vector<16xf32>
  tile.kernel @steps(%a: !tile.view<?x?xf6E3M2FN>, %c: !tile.view<?x?xf32>) attributes {tile.warps = 1} {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0, %c0] : !tile.view<?x?xf6E3M2FN> -> tensor<32x128xf6E3M2FN>
    %s = arith.constant dense<1.0> : tensor<32x4xf8E8M0FNU>
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %d = tile.dot_scaled %x scale %s, %x scale %s, %zero transpose_b : tensor<32x128xf6E3M2FN>, tensor<32x4xf8E8M0FNU>, tensor<32x128xf6E3M2FN>, tensor<32x4xf8E8M0FNU> -> tensor<32x32xf32>
    tile.store %d, %c[%c0, %c0] : tensor<32x32xf32>, !tile.view<?x?xf32>
    tile.return
  }

  // What is shorter than the instruction, and scales of another format, become other products.
  // CHECK-LABEL: tile.kernel @expanded(
  // CHECK-NOT: tile.dot_scaled
  // CHECK-COUNT-2: tile.dot %
  tile.kernel @expanded(%x: index) {
    %a = arith.constant dense<1.0> : tensor<16x64xf4E2M1FN>
    %s = arith.constant dense<1.0> : tensor<16x2xf8E8M0FNU>
    %c = arith.constant dense<1.0> : tensor<16x16xf32>
    %d = tile.dot_scaled %a scale %s, %a scale %s, %c transpose_b : tensor<16x64xf4E2M1FN>, tensor<16x2xf8E8M0FNU>, tensor<16x64xf4E2M1FN>, tensor<16x2xf8E8M0FNU> -> tensor<16x16xf32>
    %b = arith.constant dense<1.0> : tensor<32x64xf4E2M1FN>
    %t = arith.constant dense<1.0> : tensor<32x4xf8E4M3FN>
    %e = arith.constant dense<1.0> : tensor<32x32xf32>
    %f = tile.dot_scaled %b scale %t, %b scale %t, %e transpose_b : tensor<32x64xf4E2M1FN>, tensor<32x4xf8E4M3FN>, tensor<32x64xf4E2M1FN>, tensor<32x4xf8E4M3FN> -> tensor<32x32xf32>
    tile.return
  }
}
