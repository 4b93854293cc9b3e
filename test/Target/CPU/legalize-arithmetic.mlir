// RUN: tile-opt %s --cpu-legalize-arithmetic | FileCheck %s

// CHECK-LABEL: func.func @divide(
// CHECK-SAME:    %[[X:.*]]: i32, %[[Y:.*]]: i32)
// CHECK:         %[[ZERO:.*]] = arith.cmpi eq, %[[Y]],
// CHECK:         %[[SAFE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[Y]]
// CHECK:         %[[Q:.*]] = arith.divsi %[[X]], %[[SAFE]]
// CHECK:         arith.select %[[ZERO]], %{{.*}}, %[[Q]]
func.func @divide(%x: i32, %y: i32) -> i32 {
  %q = arith.divsi %x, %y : i32
  return %q : i32
}

// Vectors are divided as floats that hold the integers, and never by zero.
// CHECK-LABEL: func.func @divide_vectors(
// CHECK-SAME:    %[[X:.*]]: vector<4xi32>, %[[Y:.*]]: vector<4xi32>)
// CHECK-NOT:     arith.divsi
// CHECK-DAG:     %[[A:.*]] = arith.sitofp %[[X]] : vector<4xi32> to vector<4xf64>
// CHECK-DAG:     %[[ZERO:.*]] = arith.cmpi eq, %[[Y]],
// CHECK-DAG:     %[[B:.*]] = arith.sitofp %[[Y]] : vector<4xi32> to vector<4xf64>
// CHECK:         %[[Q:.*]] = arith.divf %[[A]], %[[B]]
// CHECK:         math.trunc %[[Q]]
// CHECK:         arith.select %[[ZERO]]
func.func @divide_vectors(%x: vector<4xi32>, %y: vector<4xi32>) -> vector<4xi32> {
  %q = arith.divsi %x, %y : vector<4xi32>
  return %q : vector<4xi32>
}

// One divisor for all lanes is inverted once, where it becomes a vector: 16 bits fit f32.
// CHECK-LABEL: func.func @divide_by_one_number(
// CHECK:         %[[INVERSE:.*]] = arith.divf %{{.*}} : f32
// CHECK:         scf.for
// CHECK-NOT:       arith.div
// CHECK:           arith.mulf %{{.*}} : vector<8xf32>
func.func @divide_by_one_number(%x: vector<8xi16>, %y: i16, %n: index) -> vector<8xi16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %by = vector.broadcast %y : i16 to vector<8xi16>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> vector<8xi16> {
    %q = arith.floordivsi %v, %by : vector<8xi16>
    scf.yield %q : vector<8xi16>
  }
  return %r : vector<8xi16>
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
