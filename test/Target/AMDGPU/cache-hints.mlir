// What plain accesses ask of caches: bits of those through a buffer's descriptor, and of the others.
// RUN: tile-compile %s --kernel tiles --target amdgpu:gfx942 --emit asm | FileCheck %s --check-prefix=GFX942
// RUN: tile-compile %s --kernel tiles --target amdgpu:gfx1201 --emit asm | FileCheck %s --check-prefix=GFX1201
// RUN: tile-compile %s --kernel kept --target amdgpu:gfx90a --emit asm | FileCheck %s --check-prefix=GFX90A
// RUN: tile-compile %s --kernel elements --target amdgpu:gfx942 --emit asm | FileCheck %s --check-prefix=ELEMENTS

#facts = #tile.facts<pointer = 16, extents = [16]>
!view = !tile.view<?xf32>
!tile_ = tensor<1024xf32>

// GFX942-DAG: buffer_load_dwordx4 {{.*}} sc1{{$}}
// GFX942-DAG: buffer_load_dwordx4 {{.*}} sc0 sc1{{$}}
// GFX942-DAG: buffer_load_dwordx4 {{.*}} nt{{$}}
// GFX942-DAG: buffer_store_dwordx4 {{.*}} nt{{$}}
// GFX942-DAG: buffer_store_dwordx4 {{.*}} sc0 sc1{{$}}
// GFX942-DAG: buffer_store_dwordx4 {{.*}} sc1{{$}}
// GFX1201-DAG: buffer_load_b128 {{.*}} scope:SCOPE_DEV
// GFX1201-DAG: buffer_load_b128 {{.*}} scope:SCOPE_SYS
// GFX1201-DAG: buffer_load_b128 {{.*}} th:TH_LOAD_NT
// GFX1201-DAG: buffer_store_b128 {{.*}} th:TH_STORE_NT
// GFX1201-DAG: buffer_store_b128 {{.*}} scope:SCOPE_SYS
// GFX1201-DAG: buffer_store_b128 {{.*}} scope:SCOPE_DEV
tile.kernel @tiles(%x: !view {tile.facts = #facts}, %y: !view {tile.facts = #facts}) {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %c2048 = arith.constant 2048 : index
  %a = tile.load %x[%c0] cache = global : !view -> !tile_
  tile.store %a, %y[%c0] cache = streaming : !tile_, !view
  %b = tile.load %x[%c1024] cache = bypass : !view -> !tile_
  tile.store %b, %y[%c1024] cache = bypass : !tile_, !view
  %c = tile.load %x[%c2048] evict = first : !view -> !tile_
  tile.store %c, %y[%c2048] cache = global evict = normal : !tile_, !view
  tile.return
}

// A store goes past the first cache unasked.
// GFX90A: buffer_load_dwordx4 {{.*}} glc{{$}}
// GFX90A: buffer_store_dwordx4 {{.*}} offen{{$}}
tile.kernel @kept(%x: !view {tile.facts = #facts}, %y: !view {tile.facts = #facts}) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] cache = global : !view -> !tile_
  tile.store %a, %y[%c0] cache = global : !tile_, !view
  tile.return
}

// ELEMENTS: global_load_dword {{.*}} sc1{{$}}
// ELEMENTS: global_store_dword {{.*}} sc0 sc1{{$}}
tile.kernel @elements(%x: !view, %y: !view, %i: !tile.view<?xi32>) {
  %c0 = arith.constant 0 : index
  %at = tile.load %i[%c0] : !tile.view<?xi32> -> tensor<64xi32>
  %a = tile.gather %x[%at] cache = global : !view, [tensor<64xi32>] -> tensor<64xf32>
  tile.scatter %a, %y[%at] cache = bypass : tensor<64xf32>, !view, [tensor<64xi32>]
  tile.return
}
