// RUN: tile-compile %s --target emu:gfx942 --emit llvmir | FileCheck %s --implicit-check-not="to <"
// LLVM's fast instruction selection knows no floats of 16 bits: threads keep their bits, and what
// computes by them has a function of its own. Elements of words are shifted.

// CHECK-LABEL: define internal void @shorts(
// CHECK-NOT:     {{half|bfloat|fence}}
// CHECK:         [[WORD:%.+]] = lshr i32 {{%.+}}, 16
// CHECK:         [[SHORT:%.+]] = trunc i32 [[WORD]] to i16
// CHECK:         [[WIDE:%.+]] = zext i16 [[SHORT]] to i32
// CHECK:         [[HIGH:%.+]] = shl i32 [[WIDE]], 16
// CHECK:         [[SINGLE:%.+]] = bitcast i32 [[HIGH]] to float
// CHECK:         [[X:%.+]] = call i16 @kiln.fptrunc(float [[SINGLE]])
// CHECK:         [[SUM:%.+]] = call i16 @kiln.fadd(i16 {{%.+}}, i16 [[X]])
// CHECK:         [[LESS:%.+]] = call i32 @kiln.fcmp(i16 [[SUM]], i16 {{%.+}})
// CHECK:         [[BIT:%.+]] = trunc i32 [[LESS]] to i1
// CHECK:         select i1 [[BIT]], i16 [[SUM]], i16
// CHECK-LABEL: define internal i16 @kiln.fadd(i16
// CHECK:         fadd half
tile.kernel @shorts(%x: !tile.view<512xbf16> {tile.facts = #tile.facts<pointer = 16>}, %y: !tile.view<512xf16> {tile.facts = #tile.facts<pointer = 16>}) grid {
  %n = arith.constant 1 : index
  tile.grid %n
} {
  %c0 = arith.constant 0 : index
  %0 = tile.load %x[%c0] : !tile.view<512xbf16> -> tensor<512xbf16>
  %1 = tile.load %y[%c0] : !tile.view<512xf16> -> tensor<512xf16>
  %2 = arith.extf %0 : tensor<512xbf16> to tensor<512xf32>
  %3 = arith.truncf %2 : tensor<512xf32> to tensor<512xf16>
  %4 = arith.addf %1, %3 : tensor<512xf16>
  %less = arith.cmpf olt, %4, %1 : tensor<512xf16>
  %5 = arith.select %less, %4, %1 : tensor<512xi1>, tensor<512xf16>
  tile.store %5, %y[%c0] : tensor<512xf16>, !tile.view<512xf16>
  tile.return
}
