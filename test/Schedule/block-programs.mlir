// Several programs of a grid in one block, each a copy of one role.
// RUN: tile-opt %s --tile-gather-programs | FileCheck %s --check-prefix=GATHER
// RUN: tile-opt %s --tile-gather-programs --tile-complete-roles --tile-realise-block-programs | FileCheck %s
// RUN: tile-opt %s --tile-gather-programs --tile-complete-roles --tile-realise-block-programs \
// RUN:   --tile-realise-warp-groups --tile-realise-turns | FileCheck %s --check-prefix=GROUPS

!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// GATHER: tile.block_programs = 8 : i64
// GATHER-SAME: tile.roles = [#tile.role<"program", warps = 2>]
// GATHER-NOT: tile.warps

// A block takes eight programs along x; y is what it was. The launch says how many there are.
// CHECK: tile.metadata = {programs_per_block = 8 : i64}
// CHECK-LABEL: tile.kernel @rows
// CHECK-SAME: %[[N:[^ ]*]]: index {tile.grid_extent})
// CHECK: tile.grid %{{.*}}, %{{.*}}
// CHECK: %[[BLOCK:.*]] = tile.program_id x
// CHECK: %[[Y:.*]] = tile.program_id y
// CHECK: %[[COPY:.*]] = tile.copy_id
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %{{.*}}
// CHECK: %[[I:.*]] = arith.addi %[[FIRST]], %[[COPY]]
// CHECK: %[[IS:.*]] = arith.cmpi ult, %[[I]], %[[N]]
// CHECK: scf.if %[[IS]] {
// CHECK: arith.subi %[[N]], %[[I]]
// CHECK: tile.load %a[%[[I]], %[[Y]]]
// CHECK: tile.store %{{.*}} {role = "program"}

// GROUPS: tile.warps = 16 : i64
// GROUPS: role #tile.role<"program", warps = 2, copies = 8> {
// GROUPS: tile.copy_id
// GROUPS: scf.if
tile.kernel @rows(%a: !view, %b: !view) attributes {tile.block_programs = 8 : i64, tile.warps = 2 : i64} grid {
  %n = tile.dim %a, 0 : !view
  %m = tile.dim %a, 1 : !view
  tile.grid %n, %m
} {
  %i = tile.program_id x
  %j = tile.program_id y
  %n = tile.num_programs x
  %left = arith.subi %n, %i : index
  %x = tile.load %a[%i, %j] : !view -> tensor<1x1xf32>
  tile.store %x, %b[%left, %j] : tensor<1x1xf32>, !view
  tile.return
}
}
