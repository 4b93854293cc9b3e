// Rows of a product that four waves hold twice: two waves store the greatest of each row at the same
// place, for one layout to become another. The run shows that they store the same, through products and
// through lanes that take from one another; if one of them kept something else it is found.
// RUN: tile-compile %s --from tile --target amdgpu:gfx1201 --emit asm -o %t.s
// RUN: tile-check-isa --allow-strong-waits %t.s
// RUN: sed '/v_maximum_f32_e64_dpp.*row_xmask/d' %t.s > %t.less.s
// RUN: not tile-check-isa --allow-strong-waits %t.less.s 2>&1 | FileCheck %s
// CHECK: wave {{[0-9]+}} writes byte {{[0-9]+}} of LDS, which wave {{[0-9]+}} writes by 'ds_store_2addr_b32'
module attributes {tile.emitted = "tile", tile.metadata = {fast_math = false, file = "random_kernel_0.py", kernel = "kernel", line = 2 : i64, opt_level = 3 : i64, source = "random_kernel_0.py", target = "amdgpu:gfx1201", vendor_math = false}, tile.target = #amdgcn.target<chip = "gfx1201">} {
  tile.kernel @kernel(%q: !tile.view<?x?xbf16> {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32, noalias>}, %k: !tile.view<?x?xbf16> {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32, noalias>}, %v: !tile.view<?x?xbf16> {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32, noalias>}, %c: !tile.view<?x?xf32> {tile.facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [16, 16], index32, noalias>}) attributes {tile.persistent = #tile.persistent<programs = 3>, tile.raster = "chiplets", tile.roles = [#tile.role<"all", warps = 4, copies = 2>]} grid {
    %0 = tile.dim %c, 0 : !tile.view<?x?xf32>
    %c32 = arith.constant 32 : index
    %1 = arith.ceildivsi %0, %c32 : index
    tile.grid %1
  } {
    %c32 = arith.constant 32 : index
    %0 = tile.program_id x
    %c0 = arith.constant 0 : index
    %c32_i32 = arith.constant 32 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
    %cst_0 = arith.constant dense<-1.000000e+03> : tensor<32xf32>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<32xf32>
    %1 = tile.dim %k, 0 : !tile.view<?x?xbf16>
    %cst_2 = arith.constant dense<-1.000000e+03> : tensor<32x32xf32>
    %cst_3 = arith.constant dense<9.99999968E-21> : tensor<32xf32>
    %2 = arith.muli %0, %c32 : index
    %3 = tile.load %q[%2, %c0] {ring = "q", tile.atom = "through_registers"} : !tile.view<?x?xbf16> -> tensor<32x32xbf16>
    %4 = arith.index_cast %0 : index to i32
    %5 = arith.muli %4, %c32_i32 : i32
    %6 = tile.iota 0 : tensor<32xi32>
    %7 = tile.splat %5 : tensor<32xi32>
    %8 = arith.addi %7, %6 : tensor<32xi32>
    %9 = arith.addi %2, %c32 : index
    %10 = arith.minsi %1, %9 : index
    %11:3 = scf.for %arg0 = %c0 to %10 step %c32 iter_args(%arg1 = %cst_1, %arg2 = %cst_0, %arg3 = %cst) -> (tensor<32xf32>, tensor<32xf32>, tensor<32x32xf32>) {
      %16 = tile.load %k[%arg0, %c0] {depth = 5 : i64, ring = "k", stage = 0 : i64, tile.atom = "through_registers"} : !tile.view<?x?xbf16> -> tensor<32x32xbf16>
      %17 = tile.dot %3, %16, %cst transpose_b {stage = 2 : i64, tile.atom = "matrix"} : tensor<32x32xbf16>, tensor<32x32xbf16> -> tensor<32x32xf32>
      %18 = arith.addi %arg0, %c32 : index
      %19 = arith.cmpi sgt, %18, %2 : index
      %20 = scf.if %19 -> (tensor<32x32xf32>) {
        %38 = arith.index_cast %arg0 : index to i32
        %39 = tile.splat %38 : tensor<32xi32>
        %40 = arith.addi %39, %6 : tensor<32xi32>
        %41 = tile.reshape %40 : tensor<32xi32> -> tensor<1x32xi32>
        %42 = tile.reshape %8 : tensor<32xi32> -> tensor<32x1xi32>
        %43 = tile.broadcast %41 : tensor<1x32xi32> -> tensor<32x32xi32>
        %44 = tile.broadcast %42 : tensor<32x1xi32> -> tensor<32x32xi32>
        %45 = arith.cmpi sle, %43, %44 : tensor<32x32xi32>
        %46 = arith.select %45, %17, %cst_2 : tensor<32x32xi1>, tensor<32x32xf32>
        scf.yield %46 : tensor<32x32xf32>
      } else {
        scf.yield %17 : tensor<32x32xf32>
      }
      %21 = tile.reduce %20 axis = 1 : tensor<32x32xf32> -> tensor<32xf32> {
      ^bb0(%arg4: f32, %arg5: f32):
        %38 = arith.maximumf %arg4, %arg5 : f32
        tile.yield %38 : f32
      }
      %22 = arith.maximumf %arg2, %21 : tensor<32xf32>
      %23 = arith.subf %arg2, %22 : tensor<32xf32>
      %24 = math.exp2 %23 : tensor<32xf32>
      %25 = tile.reshape %22 : tensor<32xf32> -> tensor<32x1xf32>
      %26 = tile.broadcast %25 : tensor<32x1xf32> -> tensor<32x32xf32>
      %27 = arith.subf %20, %26 : tensor<32x32xf32>
      %28 = math.exp2 %27 : tensor<32x32xf32>
      %29 = arith.mulf %arg1, %24 : tensor<32xf32>
      %30 = tile.reduce %28 axis = 1 : tensor<32x32xf32> -> tensor<32xf32> {
      ^bb0(%arg4: f32, %arg5: f32):
        %38 = arith.addf %arg4, %arg5 : f32
        tile.yield %38 : f32
      }
      %31 = arith.addf %29, %30 : tensor<32xf32>
      %32 = tile.load %v[%arg0, %c0] {depth = 4 : i64, ring = "v", stage = 0 : i64, tile.atom = "through_registers"} : !tile.view<?x?xbf16> -> tensor<32x32xbf16>
      %33 = arith.truncf %28 : tensor<32x32xf32> to tensor<32x32xbf16>
      %34 = tile.reshape %24 : tensor<32xf32> -> tensor<32x1xf32>
      %35 = tile.broadcast %34 : tensor<32x1xf32> -> tensor<32x32xf32>
      %36 = arith.mulf %arg3, %35 : tensor<32x32xf32>
      %37 = tile.dot %33, %32, %36 {stage = 3 : i64, tile.atom = "matrix"} : tensor<32x32xbf16>, tensor<32x32xbf16> -> tensor<32x32xf32>
      scf.yield %31, %22, %37 : tensor<32xf32>, tensor<32xf32>, tensor<32x32xf32>
    }
    %12 = arith.maximumf %11#0, %cst_3 : tensor<32xf32>
    %13 = tile.reshape %12 : tensor<32xf32> -> tensor<32x1xf32>
    %14 = tile.broadcast %13 : tensor<32x1xf32> -> tensor<32x32xf32>
    %15 = arith.divf %11#2, %14 : tensor<32x32xf32>
    tile.store %15, %c[%2, %c0] : tensor<32x32xf32>, !tile.view<?x?xf32>
    tile.return
  }
}
