// Four waves load for eight that multiply. Barriers are words of LDS: an arrival counts one round by
// one lane of each wave, who waits looks at it and sleeps.
// RUN: tile-compile %s --emit schedule -o - | FileCheck %s --check-prefix=ROLES
// RUN: tile-compile %s --emit llvmir -o - | FileCheck %s --check-prefix=IR
// RUN: tile-compile %s --emit asm -o %t.s && tile-check-isa %t.s
// RUN: FileCheck %s --check-prefix=ASM --input-file %t.s
// What orders the waves is broken once each time. Who fills a slot first waits for nobody (look 3);
// who has waited for the takers of one ring has done so for those of the other (5), as they take of
// both; who meets its own role in front of an arrival (6, 8) need not, as each wave arrives.
// RUN: python3 %S/Inputs/order-mutants.py tile-check-isa %t.s 75 "look 3|no look (5|6|8)" | FileCheck %s --check-prefix=MUTANTS
// MUTANTS: mutants refused

// What warps of a role meet at are barriers of a channel of nothing.
// ROLES: %[[MEETS:.*]] = tile.channel full = 4 empty = 4 {tile.meets_in = "load", {{.*}}} : !tile.channel<1>
// ROLES: tile.init %[[MEETS]]
// ROLES: tile.fence  barriers
// ROLES: tile.barrier
// ROLES: role #tile.role<"load", warps = 4>
// ROLES: tile.put %{{.*}} bytes = 0 {tile.lanes}
// ROLES-NEXT: ^bb0
// ROLES-NEXT: tile.copy_in {{.*}}atom = #amdgcn.load_to_lds
// ROLES: tile.put %{{.*}} bytes = 0 :
// ROLES: tile.write
// ROLES: tile.barrier {tile.meets = "copy"}
// ROLES: role #tile.role<"mma", warps = 8>

// The first of both rings, by one lane: as many as four waves of it arrive in a phase.
// IR: define amdgpu_kernel void @product
// IR: load atomic i32, ptr addrspace(3) %{{.*}} syncscope("workgroup-one-as") monotonic
// IR: call void @llvm.amdgcn.s.sleep(i32 1)
// IR: call void @llvm.amdgcn.raw.ptr.buffer.load.lds
// IR: fence syncscope("singlethread") acq_rel
// IR-NEXT: call void @llvm.amdgcn.s.waitcnt(i32 3952)
// IR: call void @llvm.amdgcn.wave.barrier()
// IR: atomicrmw uinc_wrap ptr addrspace(3) %{{.*}}, i32 7 syncscope("workgroup-one-as") monotonic
// IR: atomicrmw uinc_wrap ptr addrspace(3) %{{.*}}, i32 15 syncscope("workgroup-one-as") monotonic

// The only barrier of the block is that behind what makes those of LDS.
// ASM: s_barrier
// ASM-NOT: s_barrier
// ASM: ds_inc_rtn_u32
// ASM: s_sleep 1
// ASM-NOT: s_barrier
// ASM: s_endpgm
#copy = #amdgcn.load_to_lds<"gfx942", 4>
#mma = #amdgcn.matrix<"mfma.f32.16x16x16bf16.1k", "gfx942", bf16>
!view = !tile.view<?x?xbf16, strides [?, 1]>
!out = !tile.view<?x?xf32, strides [?, 1]>

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
tile.kernel @product(%a: !view {tile.facts = #tile.facts<pointer = 4, strides = [4, 2], extents = [0, 2], index32>},
                     %b: !view {tile.facts = #tile.facts<index32>}, %c: !out)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 8>]} grid {
  %c64 = arith.constant 64 : index
  %m = tile.dim %c, 0 : !out
  %n = tile.dim %c, 1 : !out
  %tm = arith.ceildivui %m, %c64 : index
  %tn = arith.ceildivui %n, %c64 : index
  tile.grid %tm, %tn
} {
  %x = tile.program_id x
  %y = tile.program_id y
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %row = arith.muli %x, %c64 : index
  %column = arith.muli %y, %c64 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %at = tile.load %a[%row, %kk] {atom = #copy, stage = 0, role = "load", ring = "a"} : !view -> tensor<64x32xbf16>
    %bt = tile.load %b[%column, %kk] {atom = #tile.through_registers, stage = 0, role = "load", ring = "b"} : !view -> tensor<64x32xbf16>
    %d = tile.dot %at, %bt, %s transpose_b {atom = #mma, stage = 0, role = "mma"}
       : tensor<64x32xbf16>, tensor<64x32xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  } {tile.depth = 3}
  tile.store %sum, %c[%row, %column] {role = "mma"} : tensor<64x64xf32>, !out
  tile.return
}
}
