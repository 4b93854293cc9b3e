// What cannot be written to shared memory as a product reads it, and decisions of such hand-overs that
// contradict who reads them.
// RUN: tile-opt %s --tile-decide-hand-overs --tile-realise-hand-overs --split-input-file --verify-diagnostics

#rows = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[16,0],[32,0]], lane = [[0,16],[0,32],[1,0],[2,0],[4,0]], warp = [[8,0],[0,64]]>
#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!t = tensor<64x64xf8E4M3FN, #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[16,0]], lane = [[0,16],[0,32],[1,0],[2,0],[4,0]], warp = [[8,0],[32,0]]>>
!s = tensor<64x64xf32, #sum>
!view = !tile.view<?x?xf8E4M3FN>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// Bytes are read along k alone.
tile.kernel @across(%a: !view) attributes {tile.roles = [#tile.role<"cast", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %x = tile.alloc : !tile.buffer<64x64xf8E4M3FN>
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !s
  // expected-note @+1 {{what it is}}
  %y = tile.load %a[%c0, %c0] {role = "cast"} : !view -> !t
  // expected-error @+1 {{expected an operand b that each copy of role "cast" can write to shared memory as #nvptx.wgmma<"m64n64k32", f8E4M3FN, f32> reads it, got 'tensor<64x64xf8E4M3FN>'}}
  %d = tile.dot %x, %y, %zero {atom = #nvptx.wgmma<"m64n64k32", f8E4M3FN, f32>, role = "mma", in_flight = 0} : !tile.buffer<64x64xf8E4M3FN>, !t -> !s
  tile.return
}
}

// -----

#four = #tile.layout<register = [[0,1],[0,2],[0,4],[16,0],[32,0]], lane = [[0,8],[0,16],[0,32],[1,0],[2,0]], warp = [[4,0],[8,0]]>
#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!t = tensor<64x64xbf16, #four>
!s = tensor<64x64xf32, #sum>
!view = !tile.view<?x?xbf16>
#wgmma = #nvptx.wgmma<"m64n64k16", bf16, f32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// Rows one behind another without a swizzle: no order of the product's.
tile.kernel @order(%a: !view) attributes {tile.roles = [#tile.role<"cast", warps = 4>, #tile.role<"mma", warps = 4>]} {
  %x = tile.alloc : !tile.buffer<64x64xbf16>
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !s
  %y = tile.load %a[%c0, %c0] {role = "cast"} : !view -> !t
  // expected-error @+1 {{expected 'tile.handed' to have slots that lie as #nvptx.wgmma<"m64n64k16", bf16, f32> reads operand b, got '!tile.buffer<64x64xbf16>'}}
  %h = tile.convert_layout %y {role = "cast", tile.handed = !tile.channel<1, !tile.buffer<64x64xbf16>>} : !t -> !t
  // expected-note @+1 {{the product}}
  %d = tile.dot %x, %h, %zero {atom = #wgmma, role = "mma", in_flight = 0} : !tile.buffer<64x64xbf16>, !t -> !s
  tile.return
}
}

// -----

#four = #tile.layout<register = [[0,1],[0,2],[0,4],[16,0],[32,0]], lane = [[0,8],[0,16],[0,32],[1,0],[2,0]], warp = [[4,0],[8,0]]>
#sum = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
!t = tensor<64x64xbf16, #four>
!s = tensor<64x64xf32, #sum>
!view = !tile.view<?x?xbf16>
!ring = !tile.channel<1, !tile.buffer<64x64xbf16, #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>>>
#wgmma = #nvptx.wgmma<"m64n64k16", bf16, f32>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// Of products that are waited for the role's own ring tells.
tile.kernel @owner(%a: !view) attributes {tile.roles = [#tile.role<"mma", warps = 4>]} {
  %x = tile.alloc : !tile.buffer<64x64xbf16>
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !s
  %y = tile.load %a[%c0, %c0] {role = "mma"} : !view -> !t
  %h = tile.convert_layout %y {role = "mma", tile.handed = !ring} : !t -> !t
  // expected-error @+1 {{expected 'tile.handed' to be an 'own' channel, since role "mma" itself reads what it makes}}
  %r = tile.convert_layout %h {role = "mma", tile.residency = "shared"} : !t -> !t
  %d = tile.dot %x, %r, %zero {atom = #wgmma, role = "mma", in_flight = 0} : !tile.buffer<64x64xbf16>, !t -> !s
  tile.return
}
}

// -----

#four = #tile.layout<register = [[0,1],[0,2],[0,4],[16,0],[32,0]], lane = [[0,8],[0,16],[0,32],[1,0],[2,0]], warp = [[4,0],[8,0]]>
!t = tensor<64x64xbf16, #four>
!view = !tile.view<?x?xbf16>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
// Nobody else uses it.
tile.kernel @depth(%a: !view) attributes {tile.roles = [#tile.role<"mma", warps = 4>]} {
  %c0 = arith.constant 0 : index
  %y = tile.load %a[%c0, %c0] {role = "mma"} : !view -> !t
  // expected-error @+1 {{expected a tensor that another role uses or that products read from shared memory, since 'tile.depth' is decided}}
  %w = arith.negf %y {tile.role = "mma", tile.depth = 2} : !t
  tile.store %w, %a[%c0, %c0] {role = "mma"} : !t, !view
  tile.return
}
}

// -----

#four = #tile.layout<register = [[0,1],[0,2],[0,4],[16,0],[32,0]], lane = [[0,8],[0,16],[0,32],[1,0],[2,0]], warp = [[4,0],[8,0]]>
#rows = #tile.layout<register = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0]], warp = [[32,0],[64,0],[128,0]]>
!t = tensor<64x64xbf16, #four>
!s = tensor<256x64xf32, #rows>
!view = !tile.view<?x?xbf16>

module attributes {tile.target = #nvptx.target<chip = "sm_100a">} {
// Copies that lag behind one another would wait for what the last has not written.
tile.kernel @skew(%a: !view) attributes {tile.roles = [#tile.role<"mma", warps = 4, copies = 2, skew = 1>]} {
  %x = tile.alloc : !tile.buffer<256x64xbf16>
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !s
  %y = tile.load %a[%c0, %c0] {role = "mma"} : !view -> !t
  // expected-error @+1 {{expected no skew of role "mma", which itself writes what its products read from shared memory, got 1}}
  %d = tile.dot %x, %y, %zero {atom = #nvptx.tcgen05<"m128n64k16", bf16, f32>, role = "mma", in_flight = 0} : !tile.buffer<256x64xbf16>, !t -> !s
  tile.return
}
}
