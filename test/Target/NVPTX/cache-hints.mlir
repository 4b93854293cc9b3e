// What plain accesses ask of caches, in PTX: loads and stores of tiles, gathers and scatters.
// RUN: tile-compile %s --kernel tiles --target nvptx:sm_90a --emit asm -o %t.ptx
// RUN: FileCheck %s --check-prefix=TILES --input-file %t.ptx
// RUN: %ptxas -arch=sm_90a %t.ptx -o %t.cubin
// RUN: tile-compile %s --kernel elements --target nvptx:sm_80 --emit asm -o %t.elements.ptx
// RUN: FileCheck %s --check-prefix=ELEMENTS --input-file %t.elements.ptx
// RUN: %ptxas -arch=sm_80 %t.elements.ptx -o %t.cubin
// RUN: tile-compile %s --kernel narrow --target nvptx:sm_90a --emit asm -o %t.narrow.ptx
// RUN: FileCheck %s --check-prefix=NARROW --input-file %t.narrow.ptx
// RUN: %ptxas -arch=sm_90a %t.narrow.ptx -o %t.cubin
// Until LLVM's instructions are made, they come along.
// RUN: tile-opt %s --tile-pipeline="target=nvptx:sm_90a stop-after=target" | FileCheck %s --check-prefix=SCOPES

#facts = #tile.facts<pointer = 16, extents = [16]>
!view = !tile.view<?xf32>
!tile_ = tensor<256xf32>

// SCOPES: #[[DOMAIN:.*]] = #llvm.alias_scope_domain<id = "kiln.caches"
// SCOPES: #[[GLOBAL:.*]] = #llvm.alias_scope<id = "global normal", domain = #[[DOMAIN]]
// SCOPES: #[[STREAMING:.*]] = #llvm.alias_scope<id = "streaming normal", domain = #[[DOMAIN]]
// SCOPES: llvm.load {{.*}} {alias_scopes = [#[[GLOBAL]]], alignment = 16 : i64}
// SCOPES: llvm.store {{.*}} {alias_scopes = [#[[STREAMING]]], alignment = 16 : i64, nontemporal}

// TILES-DAG: ld.global.cg.v4.b32
// TILES-DAG: ld.global.cs.v4.b32
// TILES-DAG: ld.global.cv.v4.b32
// TILES-DAG: createpolicy.fractional.L2::evict_last.b64 %policy, 1.0; ld.global.L1::evict_last.L2::cache_hint.v4.b32 {{.*}}, %policy;
// TILES-DAG: createpolicy.fractional.L2::evict_first.b64 %policy, 1.0; ld.global.cg.L2::cache_hint.v4.b32 {{.*}}, %policy;
// TILES-DAG: ld.global.v4.b32
// TILES-DAG: ld.global.v4.b32
// TILES-DAG: st.global.cg.v4.b32
// TILES-DAG: st.global.cs.v4.b32
// TILES-DAG: st.global.wt.v4.b32
// TILES-DAG: createpolicy.fractional.L2::evict_last.b64 %policy, 1.0; st.global.L1::evict_last.L2::cache_hint.v4.b32 {{.*}}, %policy;
// TILES-DAG: st.global.cs.v4.b32
// TILES-DAG: st.global.v4.b32
// TILES-DAG: st.global.v4.b32
tile.kernel @tiles(%x: !view {tile.facts = #facts}, %y: !view {tile.facts = #facts}) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  %c768 = arith.constant 768 : index
  %c1024 = arith.constant 1024 : index
  %c1280 = arith.constant 1280 : index
  %c1536 = arith.constant 1536 : index
  %a = tile.load %x[%c0] cache = global : !view -> !tile_
  tile.store %a, %y[%c0] cache = streaming : !tile_, !view
  %b = tile.load %x[%c256] cache = streaming evict = first : !view -> !tile_
  tile.store %b, %y[%c256] cache = global : !tile_, !view
  %c = tile.load %x[%c512] cache = bypass evict = normal : !view -> !tile_
  tile.store %c, %y[%c512] cache = bypass : !tile_, !view
  %d = tile.load %x[%c768] evict = last : !view -> !tile_
  tile.store %d, %y[%c768] cache = all evict = last : !tile_, !view
  %e = tile.load %x[%c1024] cache = global evict = first : !view -> !tile_
  tile.store %e, %y[%c1024] evict = first : !tile_, !view
  %f = tile.load %x[%c1280] cache = all : !view -> !tile_
  tile.store %f, %y[%c1280] evict = normal : !tile_, !view
  %g = tile.load %x[%c1536] : !view -> !tile_
  tile.store %g, %y[%c1536] : !tile_, !view
  tile.return
}

// ELEMENTS: ld.global.cg.b32
// ELEMENTS: st.global.wt.b32
tile.kernel @elements(%x: !view, %y: !view, %i: !tile.view<?xi32>) {
  %c0 = arith.constant 0 : index
  %at = tile.load %i[%c0] : !tile.view<?xi32> -> tensor<64xi32>
  %a = tile.gather %x[%at] cache = global : !view, [tensor<64xi32>] -> tensor<64xf32>
  tile.scatter %a, %y[%at] cache = bypass : tensor<64xf32>, !view, [tensor<64xi32>]
  tile.return
}

// Elements of a byte, of two, of eight, and several that share a byte.
// NARROW-DAG: ld.global.cg.b8
// NARROW-DAG: st.global.cs.b8
// NARROW-DAG: ld.global.cg.b16
// NARROW-DAG: st.global.cs.b16
// NARROW-DAG: ld.global.cg.b64
// NARROW-DAG: st.global.cs.b64
// NARROW-DAG: st.global.wt.b8
tile.kernel @narrow(%a: !tile.view<?xi8>, %b: !tile.view<?xbf16>, %c: !tile.view<?xf64>,
                    %d: !tile.view<?xi4>, %s: index, %to: index) {
  %x = tile.load %a[%s] cache = global : !tile.view<?xi8> -> tensor<32xi8>
  tile.store %x, %a[%to] cache = streaming : tensor<32xi8>, !tile.view<?xi8>
  %y = tile.load %b[%s] cache = global : !tile.view<?xbf16> -> tensor<32xbf16>
  tile.store %y, %b[%to] cache = streaming : tensor<32xbf16>, !tile.view<?xbf16>
  %z = tile.load %c[%s] cache = global : !tile.view<?xf64> -> tensor<32xf64>
  tile.store %z, %c[%to] cache = streaming : tensor<32xf64>, !tile.view<?xf64>
  %w = tile.load %d[%s] cache = global : !tile.view<?xi4> -> tensor<32xi4>
  tile.store %w, %d[%to] cache = bypass : tensor<32xi4>, !tile.view<?xi4>
  tile.return
}
