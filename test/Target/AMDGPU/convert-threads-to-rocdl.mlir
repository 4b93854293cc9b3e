// RUN: tile-opt %s --convert-threads-to-rocdl | FileCheck %s

// CHECK: #[[LOCAL:.*]] = #llvm.mmra_tag<"amdgpu-synchronize-as":"local">

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // Shared memory gets its size.
  // CHECK: llvm.mlir.global internal @kiln_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<512 x i8>
  llvm.mlir.global external @kiln_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>

  // CHECK-LABEL: llvm.func @kernel
  // CHECK-SAME: rocdl.flat_work_group_size = "128,128", rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 128, 1, 1>
  // CHECK: rocdl.workitem.id.x
  // CHECK: rocdl.workgroup.id.y
  // The third of the hidden arguments.
  // CHECK: %[[HIDDEN:.*]] = llvm.call_intrinsic "llvm.amdgcn.implicitarg.ptr"()
  // CHECK: llvm.getelementptr %[[HIDDEN]][2]
  // Only shared memory is waited for, and no read of it leaves its side.
  // CHECK: llvm.fence syncscope("workgroup") release {llvm.mmra = #[[LOCAL]]}
  // CHECK-NEXT: rocdl.s.barrier
  // CHECK-NEXT: llvm.inline_asm has_side_effects "", "~{memory}"
  // CHECK-NEXT: llvm.fence syncscope("singlethread") acquire
  // And global memory, where the barrier is marked so.
  // CHECK: llvm.fence syncscope("workgroup") release{{$}}
  // CHECK-NEXT: llvm.fence syncscope("singlethread") acq_rel
  // CHECK-NEXT: rocdl.s.waitcnt 3952
  // CHECK-NEXT: llvm.fence syncscope("singlethread") acq_rel
  // CHECK-NEXT: rocdl.s.barrier
  // CHECK-NEXT: llvm.inline_asm
  // CHECK-NEXT: llvm.fence syncscope("workgroup") acquire
  // CHECK: rocdl.update.dpp
  func.func @kernel(%p: !llvm.ptr<1>, %w: i32)
      attributes {tile.threads = 128 : i64, tile.shared_bytes = 512 : i64} {
    %t = gpu.thread_id x
    %b = gpu.block_id y
    %g = gpu.grid_dim z
    gpu.barrier
    %one = llvm.load %p : !llvm.ptr<1> -> i32
    gpu.barrier {tile.orders_global}
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %x, %ok = gpu.shuffle xor %w, %c1, %c64 : i32
    llvm.store %x, %p : i32, !llvm.ptr<1>
    %s = llvm.mlir.addressof @kiln_shared : !llvm.ptr<3>
    llvm.store %x, %s : i32, !llvm.ptr<3>
    %i = arith.addi %t, %b : index
    %j = arith.addi %i, %g : index
    %k = arith.index_cast %j : index to i32
    llvm.store %k, %p : i32, !llvm.ptr<1>
    return
  }

  // One wave does its accesses to shared memory in order: nothing is waited for.
  // CHECK-LABEL: llvm.func @one_wave
  // CHECK: llvm.fence syncscope("wavefront") release
  // CHECK-NEXT: rocdl.s.barrier
  // CHECK-NEXT: llvm.fence syncscope("singlethread") acquire
  // CHECK: llvm.fence syncscope("workgroup") release{{$}}
  func.func @one_wave() attributes {tile.threads = 64 : i64, tile.shared_bytes = 512 : i64} {
    gpu.barrier
    gpu.barrier {tile.orders_global}
    return
  }
}
