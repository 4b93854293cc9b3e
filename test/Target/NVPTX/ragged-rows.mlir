// Rows of any length at any place: aligned vectors of 16 bytes, all in front of any branch; what is
// left at the ends behind one, and rows that are not aligned by words of 32 bits.
// RUN: tile-compile %s --target nvptx:sm_90a --emit asm -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %ptxas -arch=sm_90a %t.ptx -o %t.cubin

// CHECK: .entry copy
// CHECK-NOT: bra
// CHECK-COUNT-2: ld.global.v4.b32
// CHECK: bra
// CHECK-COUNT-5: ld.global.b32
// CHECK-COUNT-4: prmt.b32.f4e
// CHECK-COUNT-8: ld.global.b16
// CHECK-COUNT-5: ld.global.b32
// CHECK-COUNT-8: ld.global.b16
// CHECK-NOT: ld.global
// CHECK-COUNT-2: st.global.v4.b32
// CHECK-COUNT-16: st.global.b16
// CHECK-NOT: st.global.b16
// CHECK: ret
#facts = #tile.facts<pointer = 2, strides = [2, 2], noalias>
!rows = !tile.view<?x?xbf16>
tile.kernel @copy(%x: !rows {tile.facts = #facts}, %y: !rows {tile.facts = #facts})
    attributes {tile.warps = 4 : i64} grid {
  %n = tile.dim %x, 0 : !rows
  tile.grid %n
} {
  %row = tile.program_id x
  %zero = arith.constant 0 : index
  %t = tile.load %x[%row, %zero] : !rows -> tensor<1x2048xbf16>
  tile.store %t, %y[%row, %zero] : tensor<1x2048xbf16>, !rows
  tile.return
}
