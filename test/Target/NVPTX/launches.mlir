// What a kernel says of its launches: clusters go to whoever launches, a kernel that overlaps its
// neighbours lets the next begin and waits for those before, in front of every access.
// RUN: tile-compile %s --kernel overlapped --target nvptx:sm_90a --emit asm -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// RUN: %ptxas -arch=sm_90a %t.ptx -o %t.cubin
// RUN: tile-compile %s --kernel overlapped --target nvptx:sm_90a --emit metadata | FileCheck %s --check-prefix=META
// RUN: not tile-compile %s --kernel overlapped --target nvptx:sm_80 --emit asm 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not tile-compile %s --kernel overlapped --target amdgpu:gfx942 --emit asm 2>&1 | FileCheck %s --check-prefix=CHIP

// PTX-NOT: ld.global
// PTX: griddepcontrol.launch_dependents
// PTX-NEXT: griddepcontrol.wait
// PTX: ld.global

// META: "cluster":[2,1,1]
// META-SAME: "file":"{{[^"]*}}launches.mlir"
// META-SAME: "kernel":"overlapped","line":[[#@LINE+4]]
// META-SAME: "overlap":true

// CHIP: error: {{.*}}expected a chip that has clusters
tile.kernel @overlapped(%x: !tile.view<?xf32>) attributes {
    tile.cluster = array<i64: 2, 1, 1>, tile.overlap} grid {
  %n = arith.constant 8 : index
  tile.grid %n
} {
  %i = tile.program_id x
  %t = tile.load %x[%i] : !tile.view<?xf32> -> tensor<64xf32>
  %d = arith.addf %t, %t : tensor<64xf32>
  tile.store %d, %x[%i] : tensor<64xf32>, !tile.view<?xf32>
  tile.return
}
