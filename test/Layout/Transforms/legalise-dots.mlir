// What has no instruction becomes what has one; what has one stays.
// RUN: tile-opt %s --tile-legalise-dots --split-input-file | FileCheck %s

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // CHECK-LABEL: tile.kernel @f8(
  tile.kernel @f8(%x: index) {
    %a = arith.constant dense<1.0> : tensor<64x64xf8E4M3FN>
    %b = arith.constant dense<1.0> : tensor<64x64xf8E5M2>
    %c = arith.constant dense<1.0> : tensor<64x64xf32>
    // CHECK: %[[A:.*]] = arith.extf %{{.*}} : tensor<64x64xf8E4M3FN> to tensor<64x64xf16>
    // CHECK: %[[B:.*]] = arith.extf %{{.*}} : tensor<64x64xf8E5M2> to tensor<64x64xf16>
    // CHECK: tile.dot %[[A]], %[[B]], %{{.*}} transpose_b :
    %d = tile.dot %a, %b, %c transpose_b : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E5M2> -> tensor<64x64xf32>
    tile.return
  }

  // CHECK-LABEL: tile.kernel @buffer(
  // CHECK: %[[READ:.*]] = tile.read %{{.*}} -> tensor<32x32xf16>
  // CHECK: tile.dot %[[READ]], %{{.*}} : tensor<32x32xf16>, tensor<32x32xf16>
  tile.kernel @buffer(%x: index) {
    %a = arith.constant dense<1.0> : tensor<32x32xf16>
    %c = arith.constant dense<1.0> : tensor<32x32xf32>
    %b = tile.alloc : !tile.buffer<32x32xf16>
    tile.write %a, %b : tensor<32x32xf16>, !tile.buffer<32x32xf16>
    %d = tile.dot %b, %a, %c : !tile.buffer<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_89">} {
  // CHECK-LABEL: tile.kernel @native(
  // CHECK-NOT: arith.ext
  // CHECK: tile.dot %{{.*}} : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E5M2>
  // CHECK: tile.dot %{{.*}} unsigned_b : tensor<64x64xi4>, tensor<64x64xi4>
  tile.kernel @native(%x: index) {
    %a = arith.constant dense<1.0> : tensor<64x64xf8E4M3FN>
    %b = arith.constant dense<1.0> : tensor<64x64xf8E5M2>
    %c = arith.constant dense<1.0> : tensor<64x64xf32>
    %d = tile.dot %a, %b, %c : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E5M2> -> tensor<64x64xf32>
    %i = arith.constant dense<1> : tensor<64x64xi4>
    %j = arith.constant dense<1> : tensor<64x64xi32>
    %e = tile.dot %i, %i, %j unsigned_b : tensor<64x64xi4>, tensor<64x64xi4> -> tensor<64x64xi32>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // A row's scales stand beside the elements of their blocks; the products are bf16 to the last bit.
  // CHECK-LABEL: tile.kernel @scaled(
  // CHECK: %[[SCALES:.*]] = arith.extf %{{.*}} : tensor<32x2xf8E8M0FNU> to tensor<32x2xf32>
  // CHECK: tile.reshape %[[SCALES]] : tensor<32x2xf32> -> tensor<32x2x1xf32>
  // CHECK: tile.broadcast %{{.*}} : tensor<32x2x1xf32> -> tensor<32x2x32xf32>
  // CHECK: %[[ALL:.*]] = tile.reshape %{{.*}} : tensor<32x2x32xf32> -> tensor<32x64xf32>
  // CHECK: %[[A:.*]] = arith.extf %{{.*}} : tensor<32x64xf4E2M1FN> to tensor<32x64xf32>
  // CHECK: arith.mulf %[[A]], %[[ALL]]
  // CHECK: arith.shrui
  // CHECK: %[[X:.*]] = arith.bitcast %{{.*}} : tensor<32x64xi16> to tensor<32x64xbf16>
  // CHECK: tile.transpose %{{.*}} [1, 0] : tensor<32x4xf8E4M3FN> -> tensor<4x32xf8E4M3FN>
  // CHECK: tile.broadcast %{{.*}} : tensor<4x1x32xf32> -> tensor<4x16x32xf32>
  // CHECK: tile.dot %[[X]], %{{.*}} : tensor<32x64xbf16>, tensor<64x32xbf16> -> tensor<32x32xf32>
  tile.kernel @scaled(%x: index) {
    %a = arith.constant dense<1.0> : tensor<32x64xf4E2M1FN>
    %s = arith.constant dense<1.0> : tensor<32x2xf8E8M0FNU>
    %b = arith.constant dense<1.0> : tensor<64x32xf4E2M1FN>
    %t = arith.constant dense<1.0> : tensor<32x4xf8E4M3FN>
    %c = arith.constant dense<1.0> : tensor<32x32xf32>
    %d = tile.dot_scaled %a scale %s, %b scale %t, %c
       : tensor<32x64xf4E2M1FN>, tensor<32x2xf8E8M0FNU>,
         tensor<64x32xf4E2M1FN>, tensor<32x4xf8E4M3FN> -> tensor<32x32xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // Only signed bytes have an instruction.
  // CHECK-LABEL: tile.kernel @unsigned(
  // CHECK-DAG: %[[A:.*]] = arith.constant dense<1> : tensor<32x32xi8>
  // CHECK-DAG: %[[K:.*]] = arith.constant dense<-128> : tensor<32x32xi8>
  // CHECK: %[[X:.*]] = arith.xori %[[A]], %{{.*}} : tensor<32x32xi8>
  // CHECK: %[[D:.*]] = tile.dot %{{.*}}, %[[A]], %{{.*}} : tensor<32x32xi8>
  // CHECK: %[[S:.*]] = arith.subi %{{.*}}, %[[D]] : tensor<32x32xi32>
  // CHECK: tile.dot %[[X]], %[[A]], %[[S]] : tensor<32x32xi8>
  tile.kernel @unsigned(%x: index) {
    %a = arith.constant dense<1> : tensor<32x32xi8>
    %c = arith.constant dense<7> : tensor<32x32xi32>
    %d = tile.dot %a, %a, %c unsigned_a : tensor<32x32xi8>, tensor<32x32xi8> -> tensor<32x32xi32>
    tile.return
  }
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx90a">} {
  // Its products take f8E5M2's least numbers, subnormal as f16, for zero.
  // CHECK-LABEL: tile.kernel @flushing(
  // CHECK: tile.dot %{{.*}} : tensor<32x32xf16>
  // CHECK: tile.dot %{{.*}} : tensor<32x32xbf16>
  tile.kernel @flushing(%x: index) {
    %a = arith.constant dense<1.0> : tensor<32x32xf8E4M3FN>
    %b = arith.constant dense<1.0> : tensor<32x32xf8E5M2>
    %c = arith.constant dense<1.0> : tensor<32x32xf32>
    %d = tile.dot %a, %a, %c : tensor<32x32xf8E4M3FN>, tensor<32x32xf8E4M3FN> -> tensor<32x32xf32>
    %e = tile.dot %a, %b, %c : tensor<32x32xf8E4M3FN>, tensor<32x32xf8E5M2> -> tensor<32x32xf32>
    tile.return
  }
}

// -----

// What stands for a product obeys what was decided of it.
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // CHECK-LABEL: tile.kernel @decided(
  tile.kernel @decided(%x: index) attributes {tile.roles = [#tile.role<"mma", warps = 4>]} {
    %a = arith.constant dense<1.0> : tensor<64x64xf8E4M3FN>
    %s = arith.constant dense<1.0> : tensor<64x2xf8E8M0FNU>
    %c = arith.constant dense<1.0> : tensor<64x64xf32>
    // CHECK: tile.dot {{.*}} {order = 2 : i64, role = "mma", stage = 1 : i64, tile.triggers} : tensor<64x64xbf16>
    %d = tile.dot_scaled %a scale %s, %a scale %s, %c {role = "mma", stage = 1 : i64, order = 2 : i64, tile.triggers}
       : tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>, tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU> -> tensor<64x64xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // CHECK-LABEL: tile.kernel @bytes(
  tile.kernel @bytes(%x: index) attributes {tile.roles = [#tile.role<"mma", warps = 4>]} {
    %u = arith.constant dense<1> : tensor<64x64xi8>
    %z = arith.constant dense<0> : tensor<64x64xi32>
    // CHECK: tile.dot {{.*}} {role = "mma", stage = 1 : i64} : tensor<64x64xi8>
    // CHECK: tile.dot {{.*}} {role = "mma", stage = 1 : i64, tile.triggers} : tensor<64x64xi8>
    %e = tile.dot %u, %u, %z unsigned_b {role = "mma", stage = 1 : i64, tile.triggers}
       : tensor<64x64xi8>, tensor<64x64xi8> -> tensor<64x64xi32>
    tile.return
  }
}

// -----

!view = !tile.view<?x?xf8E4M3FN>
#wgmma = #nvptx.wgmma<"m64n64k32", f8E4M3FN, f32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // Bytes are read from shared memory along k alone, so warps turn what a copy has brought otherwise;
  // and what they make and another product reads there.
  // CHECK-LABEL: tile.kernel @across(
  // CHECK: %[[Y:.*]] = tile.load %{{.*}} {atom = #nvptx.tma{{.*}} -> tensor<32x64xf8E4M3FN>
  // CHECK: %[[T:.*]] = tile.transpose %[[Y]] [1, 0] : tensor<32x64xf8E4M3FN> -> tensor<64x32xf8E4M3FN>
  // CHECK: tile.dot %{{.*}}, %[[T]], %{{.*}} transpose_b {atom
  // CHECK: %[[A:.*]] = tile.transpose %{{.*}} [1, 0] {tile.residency = "shared"}
  // CHECK-NOT: tile.transpose
  // CHECK: tile.dot %[[A]], %{{.*}}, %{{.*}} transpose_b {atom
  tile.kernel @across(%a: !view) attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %x = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<64x32xf8E4M3FN>
    %y = tile.load %a[%c0, %c0] {atom = #nvptx.tma, role = "load"} : !view -> tensor<32x64xf8E4M3FN>
    %d = tile.dot %x, %y, %zero {atom = #wgmma, role = "mma", in_flight = 0} : tensor<64x32xf8E4M3FN>, tensor<32x64xf8E4M3FN> -> tensor<64x64xf32>
    %u = tile.load %a[%c0, %c0] {role = "mma", tile.residency = "shared"} : !view -> tensor<32x64xf8E4M3FN>
    %e = tile.dot %u, %x, %d transpose_a transpose_b {atom = #wgmma, role = "mma", in_flight = 0} : tensor<32x64xf8E4M3FN>, tensor<64x32xf8E4M3FN> -> tensor<64x64xf32>
    tile.return
  }
}
