// RUN: tile-opt %s --cpu-legalize-arithmetic | FileCheck %s

// CHECK-LABEL: func.func @divide(
// CHECK-SAME:    %[[X:.*]]: vector<4xi32>, %[[Y:.*]]: vector<4xi32>)
// CHECK:         %[[ZERO:.*]] = arith.cmpi eq, %[[Y]],
// CHECK:         %[[SAFE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[Y]]
// CHECK:         %[[Q:.*]] = arith.divsi %[[X]], %[[SAFE]]
// CHECK:         arith.select %[[ZERO]], %{{.*}}, %[[Q]]
func.func @divide(%x: vector<4xi32>, %y: vector<4xi32>) -> vector<4xi32> {
  %q = arith.divsi %x, %y : vector<4xi32>
  return %q : vector<4xi32>
}

// A divisor that is known to be harmless is left alone.
// CHECK-LABEL: func.func @halve(
// CHECK-NEXT:    arith.constant
// CHECK-NEXT:    arith.divsi
// CHECK-NEXT:    return
func.func @halve(%x: i32) -> i32 {
  %c2 = arith.constant 2 : i32
  %q = arith.divsi %x, %c2 : i32
  return %q : i32
}

// CHECK-LABEL: func.func @shift(
// CHECK:         %[[WIDE:.*]] = arith.cmpi ugt
// CHECK:         %[[BY:.*]] = arith.minui
// CHECK:         %[[R:.*]] = arith.shli %{{.*}}, %[[BY]]
// CHECK:         arith.select %[[WIDE]], %{{.*}}, %[[R]]
func.func @shift(%x: i8, %y: i8) -> i8 {
  %r = arith.shli %x, %y : i8
  return %r : i8
}

// CHECK-LABEL: func.func @round(
// CHECK:         llvm.call_intrinsic "llvm.fptosi.sat"
func.func @round(%x: vector<4xf32>) -> vector<4xi32> {
  %r = arith.fptosi %x : vector<4xf32> to vector<4xi32>
  return %r : vector<4xi32>
}

// CHECK-LABEL: func.func @narrow(
// CHECK:         %[[X:.*]] = arith.extf %{{.*}} : vector<4xbf16> to vector<4xf32>
// CHECK:         %[[Y:.*]] = arith.extf %{{.*}} : vector<4xbf16> to vector<4xf32>
// CHECK:         %[[S:.*]] = arith.addf %[[X]], %[[Y]] : vector<4xf32>
// CHECK:         arith.truncf %[[S]] : vector<4xf32> to vector<4xbf16>
func.func @narrow(%x: vector<4xbf16>, %y: vector<4xbf16>) -> vector<4xbf16> {
  %r = arith.addf %x, %y : vector<4xbf16>
  return %r : vector<4xbf16>
}

// An i32 has more bits than f32 holds: those that it has none for are gathered in its last one, and
// it is rounded once. f16 ends before that.
// CHECK-LABEL: func.func @integer(
// CHECK:         %[[SOME:.*]] = arith.cmpi ne
// CHECK:         arith.select %[[SOME]]
// CHECK:         %[[ODD:.*]] = arith.ori
// CHECK:         arith.sitofp %[[ODD]] : i32 to f32
// CHECK:         arith.truncf %{{.*}} : f32 to bf16
// CHECK-LABEL: func.func @short_integer(
// CHECK-NEXT:    arith.sitofp %{{.*}} : i32 to f32
// CHECK-NEXT:    arith.truncf %{{.*}} : f32 to f16
func.func @integer(%x: i32) -> bf16 {
  %r = arith.sitofp %x : i32 to bf16
  return %r : bf16
}

func.func @short_integer(%x: i32) -> f16 {
  %r = arith.sitofp %x : i32 to f16
  return %r : f16
}

// A sum of a product of bf16 would be rounded to f32 first.
// CHECK-LABEL: func.func @fuse(
// CHECK-COUNT-3: arith.extf %{{.*}} : bf16 to f64
// CHECK-NOT:     math.fma
// CHECK:         arith.truncf %{{.*}} : f64 to bf16
func.func @fuse(%x: bf16, %y: bf16, %z: bf16) -> bf16 {
  %r = math.fma %x, %y, %z : bf16
  return %r : bf16
}
