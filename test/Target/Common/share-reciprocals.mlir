// RUN: tile-opt %s --split-input-file --share-reciprocals | FileCheck %s

// What has a sign is doubled, so that it has none; the reciprocal and the bounds are found where the
// divisor is, in front of loops. The bounds are 2^-125 times it, 2^-100 at least.

// CHECK-LABEL: func @one_divisor
// CHECK-SAME: (%[[X:.*]]: vector<8xf32>, %[[Y:.*]]: f32)
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[R:.*]] = arith.divf %[[ONE]], %[[Y]] : f32
// CHECK: arith.cmpf oge, %[[Y]]
// CHECK: arith.cmpf ole, %[[Y]]
// CHECK: arith.constant 2.3509887E-38 : f32
// CHECK: arith.constant 7.88860905E-31 : f32
// CHECK: %[[LEAST:.*]] = arith.select
// CHECK: %[[MOST:.*]] = arith.minnumf
// CHECK: %[[YS:.*]] = vector.broadcast %[[Y]]
// CHECK: %[[BITS:.*]] = arith.bitcast %[[X]] : vector<8xf32> to vector<8xi32>
// CHECK: %[[TWICE:.*]] = arith.addi %[[BITS]], %[[BITS]]
// CHECK: %[[SIZES:.*]] = arith.addi %[[TWICE]]
// CHECK: %[[SIZE:.*]] = math.absf %[[X]]
// CHECK-COUNT-7: arith.minui
// CHECK: arith.maxnumf
// CHECK: arith.cmpi ugt, %{{.*}}, %[[LEAST]]
// CHECK: arith.cmpf ole, %{{.*}}, %[[MOST]]
// CHECK: %[[PLAIN:.*]] = arith.andi
// CHECK: %[[Q:.*]] = scf.if %[[PLAIN]] -> (vector<8xf32>) {
// CHECK-NEXT: %[[RS:.*]] = vector.broadcast %[[R]]
// CHECK-NEXT: %[[NEAR:.*]] = arith.mulf %[[X]], %[[RS]]
// CHECK-NEXT: %[[MINUS:.*]] = arith.negf %[[X]]
// CHECK-NEXT: %[[OVER:.*]] = math.fma %[[NEAR]], %[[YS]], %[[MINUS]]
// CHECK-NEXT: %[[REST:.*]] = arith.negf %[[OVER]]
// CHECK-NEXT: %[[NEXT:.*]] = math.fma %[[REST]], %[[RS]], %[[NEAR]]
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[SLOW:.*]] = arith.divf %[[X]], %[[YS]]
// CHECK-NEXT: scf.yield %[[SLOW]]
// CHECK: return %[[Q]]
func.func @one_divisor(%x: vector<8xf32>, %y: f32) -> vector<8xf32> {
  %ys = vector.broadcast %y : f32 to vector<8xf32>
  %q = arith.divf %x, %ys : vector<8xf32>
  return %q : vector<8xf32>
}

// -----

// An exponential has no sign. Two divisors: two reciprocals, each found once for both divisions.

// CHECK-LABEL: func @two_divisors
// CHECK-COUNT-2: arith.divf %{{.*}} : f32
// CHECK-NOT: arith.divf %{{.*}} : f32
// CHECK: %[[E:.*]] = math.exp
// CHECK: arith.bitcast %[[E]]
// CHECK-NOT: math.absf
// CHECK-COUNT-3: arith.minui
// CHECK-COUNT-3: arith.maxsi
// CHECK: scf.if
// CHECK: vector.from_elements
// CHECK: else
// CHECK-NEXT: arith.divf %{{.*}} : vector<8xf32>
// CHECK: scf.if
// CHECK: else
// CHECK-NEXT: arith.divf %{{.*}} : vector<8xf32>
func.func @two_divisors(%x: vector<8xf32>, %a: f32, %b: f32) -> (vector<8xf32>, vector<8xf32>) {
  %e = math.exp %x : vector<8xf32>
  %f = math.exp2 %x : vector<8xf32>
  %ys = vector.from_elements %a, %a, %a, %a, %b, %b, %b, %b : vector<8xf32>
  %p = arith.divf %e, %ys : vector<8xf32>
  %q = arith.divf %f, %ys : vector<8xf32>
  return %p, %q : vector<8xf32>, vector<8xf32>
}

// -----

// Too few elements of a divisor, divisors that nobody sees, other types, fast mathematics.

// CHECK-LABEL: func @others
// CHECK-NOT: scf.if
func.func @others(%x: vector<4xf32>, %y: vector<4xf32>, %a: f32, %b: f32, %h: vector<8xf16>,
                  %c: f16) {
  %few = vector.from_elements %a, %a, %a, %b : vector<4xf32>
  %0 = arith.divf %x, %few : vector<4xf32>
  %1 = arith.divf %x, %y : vector<4xf32>
  %half = vector.broadcast %c : f16 to vector<8xf16>
  %2 = arith.divf %h, %half : vector<8xf16>
  %same = vector.broadcast %a : f32 to vector<4xf32>
  %3 = arith.divf %x, %same fastmath<fast> : vector<4xf32>
  return
}
