// RUN: tile-compile %s --target emu:sm_89 --emit llvmir | FileCheck %s --implicit-check-not=!dbg
// Each access, instruction and trip of a loop has a number, of which the object's tables have the
// place: file, line, column, name, the call that it is inlined at, and how many instructions stand in front. Files and names are where
// their texts begin.

func.func @shift(%x: !tile.view<?xf32>, %i: index) {
  %t = tile.load %x[%i] : !tile.view<?xf32> -> tensor<32xf32>
  tile.store %t, %x[%i] : tensor<32xf32>, !tile.view<?xf32>
  return
}
tile.kernel @k(%x: !tile.view<?xf32>, %n: index) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    func.call @shift(%x, %i) : (!tile.view<?xf32>, index) -> ()
  }
  tile.return
}

// The call in line 18, what it is inlined to, and the loop's end.
// CHECK:      @kiln_emulated_sites = constant [{{[0-9]+}} x i32] [i32 0, i32 0, i32 0, i32 0, i32 0, i32 0,
// CHECK-SAME:   i32 [[FILE:[0-9]+]], i32 18, i32 5, i32 {{[0-9]+}}, i32 0, i32 [[#]],
// CHECK-SAME:   i32 [[FILE]], i32 7, i32 8, i32 [[LOAD:[0-9]+]], i32 [[CALL:[0-9]+]], i32 [[#]],
// CHECK-SAME:   i32 [[FILE]], i32 18, i32 5, i32 {{[0-9]+}}, i32 0, i32 [[#]],
// CHECK-SAME:   i32 [[FILE]], i32 8, i32 3, i32 {{[0-9]+}}, i32
// CHECK-SAME:   i32 [[FILE]], i32 17, i32 3, i32 {{[0-9]+}}, i32 0, i32 [[#]]]
// CHECK:      @kiln_emulated_names = constant [{{[0-9]+}} x i8] c"\00
// CHECK-SAME:   sites.mlir\00call\00load\00store\00loop\00"
// CHECK:      call void @kiln_emulated_access(ptr {{.*}}, i64 4, i32 1, ptr null, i32 [[#]])
// CHECK:      call void @kiln_emulated_access(ptr {{.*}}, i64 4, i32 2, ptr %{{[0-9]+}}, i32 [[#]])
// CHECK:      call void @kiln_emulated_trip(i32 [[#]])
