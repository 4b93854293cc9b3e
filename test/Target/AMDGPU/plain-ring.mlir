// A plain product on a chip that copies 16 bytes a lane past the registers: the warps fill a ring of
// their own, whose slots are constants. On the way to the loop all puts are made, so that its waits
// are proven by each path. LLVM adds no wait for a copy: neither reads that transpose nor any others
// wait for more than the slot that they read.
// RUN: tile-compile %s --target amdgpu:gfx950 --emit schedule -o - | FileCheck %s --check-prefix=RING
// RUN: tile-compile %s --target amdgpu:gfx950 --emit asm -o %t.s && tile-check-isa %t.s
// RUN: FileCheck %s --check-prefix=ASM --input-file %t.s
// RUN: python3 %S/Inputs/order-mutants.py tile-check-isa %t.s 110 | FileCheck %s --check-prefix=MUTANTS
// MUTANTS: mutants refused
// Copies of 4 bytes a lane are no match for loads of 16, which go through registers.
// RUN: tile-compile %s --target amdgpu:gfx942 --emit schedule -o - | FileCheck %s --check-prefix=THROUGH
// RUN: tile-compile %s --target amdgpu:gfx942 --emit asm -o %t.s && tile-check-isa %t.s

// RING: tile.channel {{.*}}: !tile.channel<4, own,
// RING: arith.divui
// RING: scf.if
// RING-NOT: scf.if
// RING-COUNT-3: tile.put %{{.*}}[%c{{[012]}}_i32
// RING-NOT: scf.if
// RING: scf.for
// RING: tile.wait_puts in_flight = 2
// RING: } else {
// RING: scf.if
// RING: tile.put

// ASM: [[LOOP:.LBB0_[0-9]+]]:
// ASM-NEXT: s_waitcnt vmcnt(8)
// ASM-NEXT: s_barrier
// ASM-NOT: s_waitcnt vmcnt(0)
// ASM: ds_read_b64_tr_b16
// ASM-NOT: vmcnt({{[0-7]}})
// ASM: s_cbranch_{{.*}} [[LOOP]]

// THROUGH: tile.channel {{.*}}: !tile.channel<1, own,
// THROUGH: scf.for
// THROUGH: tile.load
// THROUGH: tile.get
// THROUGH: tile.put
// THROUGH: tile.write

#facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [16, 16], index32, noalias>
!view = !tile.view<?x?xbf16>
tile.kernel @product(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts},
                     %c: !view {tile.facts = #facts}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %k = tile.dim %a, 1 : !view
  %x = tile.program_id x
  %y = tile.program_id y
  %i = arith.muli %x, %c64 : index
  %j = arith.muli %y, %c64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %u = tile.load %a[%i, %kk] : !view -> tensor<64x64xbf16>
    %v = tile.load %b[%kk, %j] : !view -> tensor<64x64xbf16>
    %d = tile.dot %u, %v, %s : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %r = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %r, %c[%i, %j] : tensor<64x64xbf16>, !view
  tile.return
}
