// Two copies of a role, whose products of 128 rows each have their sums side by side in tensor memory.
// RUN: tile-compile %s --emit asm -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// RUN: %ptxas -v -arch=sm_100a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: sed s/sm_100a\"/sm_103a\"/ %s > %t.103.mlir
// RUN: tile-compile %t.103.mlir --emit asm -o %t.103.ptx
// RUN: %ptxas -arch=sm_103a %t.103.ptx -o %t.103.cubin

// All 512 columns: 256 for each copy. The copies go their own ways: no barrier of both stands between the roles' begin and end.
// PTX: .reqntid 288
// PTX: mov.b32 [[ALL:%r[0-9]+]], 512
// PTX: tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 {{.*}}, [[ALL]]
// PTX: bar.sync 0
// PTX-NOT: bar{{.*}}.sync 0
// PTX-COUNT-4: tcgen05.mma.cta_group::1.kind::f16
// PTX-NOT: bar{{.*}}.sync 0
// PTX: bar{{.*}}.sync {{.*}}, 128
// PTX: tcgen05.dealloc

// INFO-NOT: {{C75|C76|arning}}
// INFO: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32>
#roles = [#tile.role<"mma", warps = 4, copies = 2>, #tile.role<"load", warps = 1>]
module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
tile.kernel @copies(%a: !tile.view<?x?xbf16> {tile.facts = #facts}, %b: !tile.view<?x?xbf16> {tile.facts = #facts},
                    %c: !tile.view<?x?xbf16> {tile.facts = #facts}) attributes {tile.roles = #roles} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %i = tile.program_id x
  %j = tile.program_id y
  %row = arith.muli %i, %c256 : index
  %column = arith.muli %j, %c256 : index
  %n = tile.dim %a, 1 : !tile.view<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<256x256xf32> {
    %x = tile.load %a[%row, %k] {atom = #nvptx.tma, stage = 0, role = "load"}
        : !tile.view<?x?xbf16> -> tensor<256x64xbf16>
    %y = tile.load %b[%column, %k] {atom = #nvptx.tma, stage = 0, role = "load"}
        : !tile.view<?x?xbf16> -> tensor<256x64xbf16>
    %d = tile.dot %x, %y, %s transpose_b
        {atom = #nvptx.tcgen05<"m128n256k16", bf16, f32>, stage = 0, role = "mma", in_flight = 0}
        : tensor<256x64xbf16>, tensor<256x64xbf16> -> tensor<256x256xf32>
    scf.yield %d : tensor<256x256xf32>
  } {tile.depth = 2}
  %r = arith.truncf %sum {tile.role = "mma"} : tensor<256x256xf32> to tensor<256x256xbf16>
  tile.store %r, %c[%row, %column] {atom = #nvptx.tma, role = "mma", in_flight = 1}
      : tensor<256x256xbf16>, !tile.view<?x?xbf16>
  tile.return
}
}
