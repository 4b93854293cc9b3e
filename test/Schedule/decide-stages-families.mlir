// Of which family's products trips overlap. Only what runs on beside its warps has something to gain: products
// that end in their order keep the warps until they do, and stages of theirs cost registers.
// RUN: sed 's/@target@/nvptx.target<chip = "sm_90a">/' %s | tile-opt --tile-pipeline=stop-after=layout --tile-decide-stages | FileCheck %s --check-prefixes=BESIDE,GROUP
// RUN: sed 's/@target@/nvptx.target<chip = "sm_100a">/' %s | tile-opt --tile-pipeline=stop-after=layout --tile-decide-stages | FileCheck %s --check-prefixes=BESIDE,TENSOR
// RUN: sed 's/@target@/nvptx.target<chip = "sm_103a">/' %s | tile-opt --tile-pipeline=stop-after=layout --tile-decide-stages | FileCheck %s --check-prefixes=BESIDE,TENSOR
// RUN: sed 's/@target@/nvptx.target<chip = "sm_80">/' %s | tile-opt --tile-pipeline=stop-after=layout --tile-decide-stages | FileCheck %s --check-prefix=ORDER
// RUN: sed 's/@target@/nvptx.target<chip = "sm_86">/' %s | tile-opt --tile-pipeline=stop-after=layout --tile-decide-stages | FileCheck %s --check-prefix=ORDER
// RUN: sed 's/@target@/nvptx.target<chip = "sm_89">/' %s | tile-opt --tile-pipeline=stop-after=layout --tile-decide-stages | FileCheck %s --check-prefix=ORDER
// RUN: sed 's/@target@/nvptx.target<chip = "sm_120a">/' %s | tile-opt --tile-pipeline=stop-after=layout --tile-decide-stages | FileCheck %s --check-prefix=ORDER
// RUN: sed 's/@target@/amdgcn.target<chip = "gfx90a">/' %s | tile-opt --tile-pipeline=stop-after=layout --tile-decide-stages | FileCheck %s --check-prefix=ORDER
// RUN: sed 's/@target@/amdgcn.target<chip = "gfx942">/' %s | tile-opt --tile-pipeline=stop-after=layout --tile-decide-stages | FileCheck %s --check-prefix=ORDER
// RUN: sed 's/@target@/amdgcn.target<chip = "gfx950">/' %s | tile-opt --tile-pipeline=stop-after=layout --tile-decide-stages | FileCheck %s --check-prefix=ORDER
// RUN: sed 's/@target@/amdgcn.target<chip = "gfx1201">/' %s | tile-opt --tile-pipeline=stop-after=layout --tile-decide-stages | FileCheck %s --check-prefix=ORDER

// BESIDE: tile.kernel @beside
// GROUP: tile.dot {{.*}}wgmma{{.*}}order = 0 : i64, role = "compute", stage = 0 : i64}
// TENSOR: tile.dot {{.*}}tcgen05{{.*}}order = 0 : i64, role = "compute", stage = 0 : i64}
// BESIDE: math.exp2 {{.*}}tile.order = 2 : i64, tile.role = "compute", tile.stage = 0 : i64}
// BESIDE: tile.dot {{.*}}in_flight = 0 : i64, order = 1 : i64, role = "compute", stage = {{[12]}} : i64}

// ORDER: tile.kernel @beside
// ORDER: tile.load {{.*}}depth = {{[0-9]+}} : i64, {{.*}}role = "all"
// ORDER: tile.dot {{.*}}role = "all", stage = [[STAGE:[0-9]+]] : i64}
// ORDER-NOT: order =
// ORDER: math.exp2 {{.*}}tile.stage = [[STAGE]] : i64}
// ORDER: tile.dot {{.*}}role = "all", stage = [[STAGE]] : i64}

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#apart = #tile.facts<pointer = 16, strides = [16, 4], extents = [16, 16], index32, noalias>

module attributes {tile.target = #@target@} {
tile.kernel @beside(%q: !tile.view<?x?xf16> {tile.facts = #facts}, %k: !tile.view<?x?xf16> {tile.facts = #facts},
                    %v: !tile.view<?x?xf16> {tile.facts = #facts}, %o: !tile.view<?x?xf32> {tile.facts = #apart}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %k, 0 : !tile.view<?x?xf16>
  %none = arith.constant dense<0.0> : tensor<128x64xf32>
  %x = tile.load %q[%c0, %c0] : !tile.view<?x?xf16> -> tensor<128x64xf16>
  %sum = scf.for %j = %c0 to %n step %c64 iter_args(%s = %none) -> tensor<128x64xf32> {
    %y = tile.load %k[%j, %c0] : !tile.view<?x?xf16> -> tensor<64x64xf16>
    %z = tile.load %v[%j, %c0] : !tile.view<?x?xf16> -> tensor<64x64xf16>
    %d = tile.dot %x, %y, %none transpose_b : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
    %e = math.exp2 %d : tensor<128x64xf32>
    %w = arith.truncf %e : tensor<128x64xf32> to tensor<128x64xf16>
    %t = tile.dot %w, %z, %s : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %t : tensor<128x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<128x64xf32>, !tile.view<?x?xf32>
  tile.return
}
}
