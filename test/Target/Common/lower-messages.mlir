// What a program tells the host: records in a hidden parameter, texts in the metadata.
// RUN: tile-opt %s --tile-plan-shared-memory --tile-lower-to-threads --canonicalize --cse --split-input-file | FileCheck %s

#l = #tile.layout<register = [[1]], lane = [[2],[4],[8],[16],[32]], warp = [[64]]>
#one = #tile.layout<register = [], lane = [[0],[0],[0],[0],[0]], warp = [[0]]>

// A line for each of the thread's elements, which is told by its place. Where there is no room, it
// is counted. Equal messages are one.
// CHECK: tile.metadata = {hidden_parameters = [{kind = "messages"}],
// CHECK-SAME: messages = [{kind = "signed", shape = array<i64: 128>, text = "x"},
// CHECK-SAME: {digits = 8 : i64, kind = "hex", text = "%s"}, {kind = "line", text = "end"}]
// CHECK-LABEL: func.func @prints(
// CHECK-SAME: %{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: i32, %[[BUFFER:.*]]: !llvm.ptr<1>)
module attributes {tile.target = #amdgcn.target<chip = "gfx1100">} {
  tile.kernel @prints(%x: !tile.view<?xi32>, %n: i32) attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %t = tile.load %x[%c0] : !tile.view<?xi32> -> tensor<128xi32, #l>
    // CHECK-NOT: scf.if
    // CHECK: %[[V:.*]] = arith.extsi %{{.*}} : i32 to i64
    // CHECK: %[[AT:.*]] = llvm.atomicrmw add %[[BUFFER]], %c1_i64 syncscope("device") monotonic
    // CHECK: %[[CAPACITY:.*]] = llvm.getelementptr %[[BUFFER]][8]
    // CHECK: %[[ROOM:.*]] = llvm.load %[[CAPACITY]]
    // CHECK: %[[FITS:.*]] = arith.cmpi ult, %[[AT]], %[[ROOM]] : i64
    // CHECK: scf.if %[[FITS]] {
    // CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[BUFFER]][64]
    // CHECK: %[[BYTES:.*]] = arith.muli %[[AT]], %c32_i64
    // CHECK: %[[RECORD:.*]] = llvm.getelementptr %[[FIRST]][%[[BYTES]]]
    // CHECK: llvm.store %c1_i32, %[[RECORD]]
    // CHECK: gpu.block_id x
    // CHECK: llvm.getelementptr %[[RECORD]][4]
    // CHECK: llvm.getelementptr %[[RECORD]][8]
    // CHECK: llvm.getelementptr %[[RECORD]][12]
    // CHECK: %[[ELEMENT:.*]] = llvm.getelementptr %[[RECORD]][16]
    // CHECK: llvm.store %{{.*}}, %[[ELEMENT]] {alignment = 16 : i64} : i32
    // CHECK: %[[VALUE:.*]] = llvm.getelementptr %[[RECORD]][24]
    // CHECK: llvm.store %[[V]], %[[VALUE]] {alignment = 8 : i64} : i64
    // CHECK: } else {
    // CHECK: %[[DROPPED:.*]] = llvm.getelementptr %[[BUFFER]][16]
    // CHECK: llvm.atomicrmw add %[[DROPPED]], %c1_i64
    tile.print "x" (%t) : tensor<128xi32, #l>
    // The first thread speaks for all.
    // CHECK: llvm.atomicrmw add %[[BUFFER]]
    // CHECK: %[[IS:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32 : i32
    // CHECK: scf.if %[[IS]] {
    // CHECK: llvm.store %c2_i32
    tile.print "%s" hex (%n) : i32
    // CHECK: llvm.store %c3_i32
    tile.print "end"
    // CHECK: llvm.store %c2_i32
    tile.print "%s" hex (%n) : i32
    // The record says which program is named, if one is.
    // CHECK: llvm.store %c3_i32, %[[RECORD:[0-9]+]]
    // CHECK-NEXT: %[[X:.*]] = llvm.getelementptr %[[RECORD]][4]
    // CHECK-NEXT: llvm.store %arg2, %[[X]]
    // CHECK-NEXT: %[[Y:.*]] = llvm.getelementptr %[[RECORD]][8]
    // CHECK-NEXT: llvm.store %c7_i32, %[[Y]]
    // CHECK-NEXT: %[[Z:.*]] = llvm.getelementptr %[[RECORD]][12]
    // CHECK-NEXT: llvm.store %c0_i32, %[[Z]]
    %seven = arith.constant 7 : index
    %w = arith.index_cast %n : i32 to index
    tile.print "end" program [%w, %seven, %c0]
    tile.return
  }
}

// -----

#l = #tile.layout<register = [[1]], lane = [[2],[4],[8],[16],[32]], warp = [[64]]>
#one = #tile.layout<register = [], lane = [[0],[0],[0],[0],[0]], warp = [[0]]>

// What one thread finds all hear of, so that they end together, at one place.
// CHECK: messages = [{column = {{[0-9]+}} : i64, file = "{{.*}}lower-messages.mlir", kind = "assert", line = [[#@LINE+21]] : i64, text = "all"},
// CHECK-SAME: shared_bytes = 4 : i64
// CHECK-LABEL: func.func @asserts(
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @asserts(%x: !tile.view<?xi8>, %b: i1) attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %a = tile.load %x[%c0] : !tile.view<?xi8> -> tensor<128xi8, #l>
    %t = arith.trunci %a : tensor<128xi8, #l> to tensor<128xi1, #l>
    %e = tile.load %x[%c0] : !tile.view<?xi8> -> tensor<1xi8, #one>
    %u = arith.trunci %e : tensor<1xi8, #one> to tensor<1xi1, #one>
    // CHECK-NOT: gpu.barrier
    // CHECK: llvm.store %c0_i32, %[[FLAG:[a-z0-9]+]] {{.*}}!llvm.ptr<3>
    // CHECK: gpu.barrier
    // CHECK: llvm.store %c1_i32, %[[FLAG]]
    // CHECK: gpu.barrier
    // CHECK: %[[FAILED:.*]] = llvm.load %[[FLAG]]
    // CHECK: %[[HOLDS:.*]] = arith.cmpi eq, %[[FAILED]], %c0_i32
    // CHECK: scf.if
    // CHECK: llvm.atomicrmw add
    // CHECK-NOT: llvm.fence
    // CHECK: cf.assert %[[HOLDS]], "all"{{$}}
    tile.assert %t, "all" : tensor<128xi1, #l>
    // All threads know what all threads have.
    // CHECK-NOT: gpu.barrier
    // CHECK: cf.assert %{{.*}}, "one"{{$}}
    tile.assert %u, "one" : tensor<1xi1, #one>
    // CHECK-NOT: gpu.barrier
    // CHECK: cf.assert %{{.*}}, "scalar"{{$}}
    tile.assert %b, "scalar" : i1
    tile.return
  }
}

// -----

#l = #tile.layout<register = [[1]], lane = [[2],[4],[8],[16],[32]], warp = [[64]]>

// Where other programs may wait for this one, each thread tells and the launch ends.
// CHECK-LABEL: func.func @waits(
module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  tile.kernel @waits(%lock: !tile.view<?xi32>, %x: !tile.view<?xi8>) attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %a = tile.load %x[%c0] : !tile.view<?xi8> -> tensor<128xi8, #l>
    %t = arith.trunci %a : tensor<128xi8, #l> to tensor<128xi1, #l>
    // CHECK-NOT: gpu.barrier
    // CHECK: %[[FAILS:.*]] = arith.xori %[[HOLDS:.*]], %true
    // CHECK: scf.if %[[FAILS]] {
    // CHECK: llvm.atomicrmw add
    // CHECK: llvm.fence release{{$}}
    // CHECK: cf.assert %[[HOLDS]], "mine" {tile.traps}
    tile.assert %t, "mine" : tensor<128xi1, #l>
    scf.while : () -> () {
      %v = tile.load %lock[%c0] : !tile.view<?xi32> -> tensor<1xi32, #tile.layout<register = [], lane = [[0],[0],[0],[0],[0]], warp = [[0]]>>
      %s = tile.to_scalar %v : tensor<1xi32, #tile.layout<register = [], lane = [[0],[0],[0],[0],[0]], warp = [[0]]>>
      %zero = arith.constant 0 : i32
      %busy = arith.cmpi ne, %s, %zero : i32
      scf.condition(%busy)
    } do {
      scf.yield
    }
    tile.return
  }
}
