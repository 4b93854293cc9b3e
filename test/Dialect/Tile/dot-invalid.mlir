// What the verifiers of matrix products refuse.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @f(%a: tensor<16xf32>, %c: tensor<16x16xf32>) {
  // expected-error @below {{expected operands of one rank of at least 2, got 1, 1 and 2}}
  %0 = tile.dot %a, %a, %c : tensor<16xf32>, tensor<16xf32> -> tensor<16x16xf32>
  return
}

// -----

func.func @f(%a: tensor<2x16x16xf32>, %c: tensor<3x16x16xf32>) {
  // expected-error @below {{expected the same batch extents in all operands}}
  %0 = tile.dot %a, %a, %c : tensor<2x16x16xf32>, tensor<2x16x16xf32> -> tensor<3x16x16xf32>
  return
}

// -----

func.func @f(%a: tensor<16x8xf32>, %c: tensor<16x8xf32>) {
  // expected-error @below {{expected the same K in both operands, got 8 and 16}}
  %0 = tile.dot %a, %a, %c : tensor<16x8xf32>, tensor<16x8xf32> -> tensor<16x8xf32>
  return
}

// -----

func.func @f(%a: tensor<16x8xf32>, %c: tensor<16x8xf32>) {
  // expected-error @below {{expected an accumulator of 16x16, got 16x8}}
  %0 = tile.dot %a, %a, %c transpose_b : tensor<16x8xf32>, tensor<16x8xf32> -> tensor<16x8xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %b: tensor<16x16xbf16>, %c: tensor<16x16xf32>) {
  // expected-error @below {{expected operands of one element type, got 'f16' and 'bf16'}}
  %0 = tile.dot %a, %b, %c : tensor<16x16xf16>, tensor<16x16xbf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xf64>, %c: tensor<16x16xf32>) {
  // expected-error @below {{expected operands and an accumulator of the op's table, got 'f64' into 'f32'}}
  %0 = tile.dot %a, %a, %c : tensor<16x16xf64>, tensor<16x16xf64> -> tensor<16x16xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xi16>, %c: tensor<16x16xi32>) {
  // expected-error @below {{expected operands and an accumulator of the op's table, got 'i16' into 'i32'}}
  %0 = tile.dot %a, %a, %c : tensor<16x16xi16>, tensor<16x16xi16> -> tensor<16x16xi32>
  return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @below {{expected integer operands with unsigned_a or unsigned_b, got 'f16'}}
  %0 = tile.dot %a, %a, %c unsigned_a : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @below {{expected f32 operands with a precision, got 'f16'}}
  %0 = tile.dot %a, %a, %c precision = tf32 : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @f(%a: tensor<16x32xf4E2M1FN>, %s: tensor<16x1xf8E8M0FNU>, %c: tensor<16x16xf16>) {
  // expected-error @below {{expected an accumulator of rank 2 of f32, got 'tensor<16x16xf16>'}}
  %0 = tile.dot_scaled %a scale %s, %a scale %s, %c transpose_b : tensor<16x32xf4E2M1FN>, tensor<16x1xf8E8M0FNU>, tensor<16x32xf4E2M1FN>, tensor<16x1xf8E8M0FNU> -> tensor<16x16xf16>
  return
}

// -----

func.func @f(%a: tensor<16x32xf8E5M2>, %s: tensor<16x2xf8E4M3FN>, %c: tensor<16x16xf32>) {
  // expected-error @below {{expected elements and scales of an MX or NV format for a, got 'f8E5M2' and 'f8E4M3FN'}}
  %0 = tile.dot_scaled %a scale %s, %a scale %s, %c transpose_b : tensor<16x32xf8E5M2>, tensor<16x2xf8E4M3FN>, tensor<16x32xf8E5M2>, tensor<16x2xf8E4M3FN> -> tensor<16x16xf32>
  return
}

// -----

func.func @f(%a: tensor<16x32xf8E5M2>, %s: tensor<16x1xf8E8M0FNU>, %c: tensor<16x16xf32>) {
  // expected-error @below {{expected scales of a and of b, got 1}}
  %0 = tile.dot %a, %a, %c scales(%s) transpose_b : tensor<16x32xf8E5M2>, tensor<16x32xf8E5M2> scales(tensor<16x1xf8E8M0FNU>) -> tensor<16x16xf32>
  return
}

// -----

func.func @f(%a: tensor<16x32xf8E5M2>, %s: tensor<16x1xf8E8M0FNU>, %c: tensor<16x16xf32>) {
  // expected-error @below {{expected no 'parts' beside scales}}
  %0 = tile.dot %a, %a, %c scales(%s, %s) transpose_b {parts = array<i64: 1, 1, 1>} : tensor<16x32xf8E5M2>, tensor<16x32xf8E5M2> scales(tensor<16x1xf8E8M0FNU>, tensor<16x1xf8E8M0FNU>) -> tensor<16x16xf32>
  return
}

// -----

func.func @f(%a: tensor<32x16xi8>, %b: tensor<16x16xi8>, %s: tensor<32x1xf8E8M0FNU>, %t: tensor<16x1xf8E8M0FNU>, %c: tensor<32x16xf32>) {
  // expected-error @below {{expected k along the rows of b, whose bytes are two elements each}}
  %0 = tile.dot %a, %b, %c scales(%s, %t) : tensor<32x16xi8>, tensor<16x16xi8> scales(tensor<32x1xf8E8M0FNU>, tensor<16x1xf8E8M0FNU>) -> tensor<32x16xf32>
  return
}

// -----

func.func @f(%a: tensor<16x32xf8E5M2>, %s: tensor<16x1xf8E8M0FNU>, %t: tensor<1x16xf8E8M0FNU>, %c: tensor<16x16xf32>) {
  // expected-error @below {{expected scales of [16, 32 / 32] for b, got 'tensor<1x16xf8E8M0FNU>'}}
  %0 = tile.dot_scaled %a scale %s, %a scale %t, %c transpose_b : tensor<16x32xf8E5M2>, tensor<16x1xf8E8M0FNU>, tensor<16x32xf8E5M2>, tensor<1x16xf8E8M0FNU> -> tensor<16x16xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @below {{expected parts of m, n and k that divide [16, 16, 16], got [1, 3, 1]}}
  %0 = tile.dot %a, %a, %c {parts = array<i64: 1, 3, 1>} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @below {{expected parts of m, n and k that divide [16, 16, 16], got [2]}}
  %0 = tile.dot %a, %a, %c {parts = array<i64: 2>} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @below {{expected 'parts', since 'reads_ahead' is decided}}
  %0 = tile.dot %a, %a, %c {reads_ahead = 1 : i64} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @below {{expected reads_ahead below the number of parts, 4, got 4}}
  %0 = tile.dot %a, %a, %c {parts = array<i64: 2, 1, 2>, reads_ahead = 4 : i64} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @below {{expected reads_ahead to be at least 0, got -1}}
  %0 = tile.dot %a, %a, %c {parts = array<i64: 2, 1, 2>, reads_ahead = -1 : i64} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @f(%a: tensor<16x16xi8>, %c: tensor<16x16xi32>) {
  // expected-error @below {{expected sums of f32 to promote, got 'i32'}}
  %0 = tile.dot %a, %a, %c {promote = true} : tensor<16x16xi8>, tensor<16x16xi8> -> tensor<16x16xi32>
  return
}
