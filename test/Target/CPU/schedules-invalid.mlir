// RUN: tile-opt %s --tile-check-target --verify-diagnostics

// What schedules are realised by is for chips with warps.
module attributes {tile.target = #cpu.target<vector_bits = 256, registers = 16>} {
  tile.kernel @k() {
    // expected-error @+1 {{'tile.channel' is not supported on cpu yet: expected a program that one thread can run, got one for several warps}}
    %ring = tile.channel full = 1 empty = 1 : !tile.channel<2, !tile.buffer<64xf32>>
    tile.return
  }

  tile.kernel @launches() {
    // expected-error @+1 {{'tile.wait_dependencies' is not supported on cpu yet: expected a program that one thread can run, got one for several warps}}
    tile.wait_dependencies
    // expected-error @+1 {{'tile.launch_dependents' is not supported on cpu yet: expected a program that one thread can run, got one for several warps}}
    tile.launch_dependents
    tile.return
  }

  tile.kernel @threads() {
    // expected-error @+1 {{'tile.fence' is not supported on cpu yet: expected a program that one thread can run, got one for several warps}}
    tile.fence shared
    // expected-error @+1 {{'tile.wait_shared' is not supported on cpu yet: expected a program that one thread can run, got one for several warps}}
    tile.wait_shared
    // expected-error @+1 {{'tile.schedule_barrier' is not supported on cpu yet: expected a program that one thread can run, got one for several warps}}
    tile.schedule_barrier
    // expected-error @+1 {{'tile.one_thread' is not supported on cpu yet: expected a program that one thread can run, got one for several warps}}
    tile.one_thread {
    }
    tile.return
  }

  // Roles, and with them all that is decided within, are for these too: one error, not one an op.
  // expected-error @+1 {{expected a target whose programs several warps run, since 'tile.roles' is decided, got cpu, which obeys of a schedule what is decided of the grid}}
  tile.kernel @roles(%a: !tile.view<?xf32>) attributes {tile.roles = [#tile.role<"all", warps = 4>]} {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0] {role = "all", tile.atom = "tma"} : !tile.view<?xf32> -> tensor<64xf32>
    tile.store %x, %a[%c0] {role = "all"} : tensor<64xf32>, !tile.view<?xf32>
    tile.return
  }
}
