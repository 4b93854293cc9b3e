// Stores whose decisions are missing or do not fit.
// RUN: tile-opt %s --tile-realise-stores -split-input-file -verify-diagnostics

#t = #tile.layout<register = [[1],[64]], lane = [[2],[4],[8],[16],[32]], warp = []>
tile.kernel @outside(%a: !tile.view<?xf16>, %n: index) {
  %one = arith.constant dense<1.0> : tensor<128xf16, #t>
  // expected-error@+1 {{expected to stand in a role of tile.warp_groups, since 'atom' is decided}}
  tile.store %one, %a[%n] {atom = #nvptx.tma} : tensor<128xf16, #t>, !tile.view<?xf16>
  tile.return
}

// -----

#t = #tile.layout<register = [[1],[64]], lane = [[2],[4],[8],[16],[32]], warp = []>
tile.kernel @buffer(%a: !tile.view<?xf16>, %n: index) {
  tile.warp_groups(%a, %n : !tile.view<?xf16>, index) {
    role #tile.role<"all", warps = 1> {
      %one = arith.constant dense<1.0> : tensor<128xf16, #t>
      // expected-error@+1 {{expected 'buffer' to be decided}}
      tile.store %one, %a[%n] {atom = #nvptx.tma, in_flight = 0} : tensor<128xf16, #t>, !tile.view<?xf16>
    }
  }
  tile.return
}

// -----

#t = #tile.layout<register = [[1],[64]], lane = [[2],[4],[8],[16],[32]], warp = []>
tile.kernel @in_flight(%a: !tile.view<?xf16>, %n: index) {
  tile.warp_groups(%a, %n : !tile.view<?xf16>, index) {
    role #tile.role<"all", warps = 1> {
      %one = arith.constant dense<1.0> : tensor<128xf16, #t>
      // expected-error@+1 {{expected 'in_flight' to be decided}}
      tile.store %one, %a[%n] {atom = #nvptx.tma, buffer = !tile.buffer<64xf16>} : tensor<128xf16, #t>, !tile.view<?xf16>
    }
  }
  tile.return
}

// -----

#t = #tile.layout<register = [[1],[64]], lane = [[2],[4],[8],[16],[32]], warp = []>
tile.kernel @lanes(%a: !tile.view<?xf16>, %n: index) {
  tile.warp_groups(%a, %n : !tile.view<?xf16>, index) {
    role #tile.role<"all", warps = 1> {
      %one = arith.constant dense<1.0> : tensor<128xf16, #t>
      // expected-error@+1 {{expected a buffer whose boxes are chosen among by registers of}}
      tile.store %one, %a[%n] {atom = #nvptx.tma, buffer = !tile.buffer<32xf16>, in_flight = 0} : tensor<128xf16, #t>, !tile.view<?xf16>
    }
  }
  tile.return
}

// -----

tile.kernel @layout(%a: !tile.view<?xf16>, %n: index) {
  tile.warp_groups(%a, %n : !tile.view<?xf16>, index) {
    role #tile.role<"all", warps = 1> {
      %one = arith.constant dense<1.0> : tensor<128xf16>
      // expected-error@+1 {{expected a tensor with a layout, got 'tensor<128xf16>'}}
      tile.store %one, %a[%n] {atom = #nvptx.tma, buffer = !tile.buffer<64xf16>, in_flight = 0} : tensor<128xf16>, !tile.view<?xf16>
    }
  }
  tile.return
}
