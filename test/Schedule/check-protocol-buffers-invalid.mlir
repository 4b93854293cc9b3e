// Buffers of the program, through which copies of a role exchange what each has made.
// RUN: tile-opt %s --tile-check-protocol -split-input-file -verify-diagnostics

// A write that nothing orders with what another copy read in the trip before.
!buffer = !tile.buffer<64xf32>
tile.kernel @rewritten(%n: index) attributes {tile.warps = 8 : i64} {
  // expected-note@+1 {{the buffer}}
  %own = tile.alloc : !buffer
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups(%n, %own : index, !buffer) {
    role #tile.role<"all", warps = 4, copies = 2> {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %copy = tile.copy_id
      %first = arith.cmpi eq, %copy, %c0 : index
      scf.for %i = %c0 to %n step %c64 {
        %x = tile.iota 0 : tensor<64xi32>
        %f = arith.sitofp %x : tensor<64xi32> to tensor<64xf32>
        scf.if %first {
          // expected-error@+1 {{expected a tile.barrier of all copies between this and another access to the buffer}}
          tile.write %f, %own : tensor<64xf32>, !buffer
        }
        tile.barrier all_copies
        // expected-note@+1 {{copy 1 of role "all" reads it here}}
        %y = tile.read %own : !buffer -> tensor<64xf32>
      }
    }
  }
  tile.return
}

// -----

// Copies that meet each by itself.
!buffer = !tile.buffer<64xf32>
tile.kernel @apart() attributes {tile.warps = 8 : i64} {
  // expected-note@+1 {{the buffer}}
  %own = tile.alloc : !buffer
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups(%own : !buffer) {
    role #tile.role<"all", warps = 4, copies = 2> {
      %c0 = arith.constant 0 : index
      %copy = tile.copy_id
      %first = arith.cmpi eq, %copy, %c0 : index
      %f = arith.constant dense<1.0> : tensor<64xf32>
      scf.if %first {
        // expected-note@+1 {{copy 0 of role "all" writes it here}}
        tile.write %f, %own : tensor<64xf32>, !buffer
      }
      tile.barrier
      // expected-error@+1 {{expected a tile.barrier of all copies between this and another access to the buffer}}
      %y = tile.read %own : !buffer -> tensor<64xf32>
    }
  }
  tile.return
}

// -----

// Copies that lag behind one another have passed other barriers.
!buffer = !tile.buffer<64xf32>
tile.kernel @lagging() attributes {tile.warps = 8 : i64} {
  // expected-note@+1 {{the buffer}}
  %own = tile.alloc : !buffer
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups(%own : !buffer) {
    role #tile.role<"all", warps = 4, copies = 2> {
      %c0 = arith.constant 0 : index
      %copy = tile.copy_id
      %first = arith.cmpi eq, %copy, %c0 : index
      %second = arith.cmpi ne, %copy, %c0 : index
      %f = arith.constant dense<1.0> : tensor<64xf32>
      scf.if %second {
        tile.barrier all_copies
      }
      scf.if %second {
        // expected-note@+1 {{copy 1 of role "all" writes it here}}
        tile.write %f, %own : tensor<64xf32>, !buffer
      }
      tile.barrier all_copies
      scf.if %first {
        // expected-error@+1 {{expected a tile.barrier of all copies between this and another access to the buffer}}
        %y = tile.read %own : !buffer -> tensor<64xf32>
        tile.barrier all_copies
      }
    }
  }
  tile.return
}

// -----

!buffer = !tile.buffer<64xf32>
tile.kernel @roles() attributes {tile.warps = 2 : i64} {
  // expected-note@+1 {{the buffer}}
  %own = tile.alloc : !buffer
  // expected-note@+1 {{found for program 0 of 1}}
  tile.warp_groups(%own : !buffer) {
    role #tile.role<"one", warps = 1> {
      %f = arith.constant dense<1.0> : tensor<64xf32>
      // expected-note@+1 {{copy 0 of role "one" writes it here}}
      tile.write %f, %own : tensor<64xf32>, !buffer
    }
    role #tile.role<"two", warps = 1> {
      tile.barrier
      // expected-error@+1 {{expected a buffer that one role alone uses, since no barrier orders two}}
      %y = tile.read %own : !buffer -> tensor<64xf32>
    }
  }
  tile.return
}
