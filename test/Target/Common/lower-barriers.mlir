// RUN: tile-opt %s --tile-realise-threads --tile-lower-to-threads --split-input-file | FileCheck %s

#l = #tile.layout<register = [[1],[2]], lane = [[4],[8],[16],[32],[64]], warp = [[128]]>

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // All threads of a program meet; which memory that orders is said.
  // CHECK-LABEL: func.func @program
  // CHECK: gpu.barrier
  // CHECK-NOT: tile.orders_global
  // CHECK: llvm.store
  // CHECK: gpu.barrier {tile.orders_global}
  // CHECK: llvm.store
  tile.kernel @program(%x: !tile.view<?xf32>) attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : tensor<256xf32, #l>
    tile.barrier
    tile.store %v, %x[%c0] : tensor<256xf32, #l>, !tile.view<?xf32>
    tile.barrier global
    tile.store %v, %x[%c0] : tensor<256xf32, #l>, !tile.view<?xf32>
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // Engines are told of both kinds of memory, and what they have written is waited for.
  // CHECK-LABEL: func.func @engines
  // CHECK: nvvm.cp.async.bulk.wait_group 0{{ *$}}
  // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
  // CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.global>}
  // CHECK-NEXT: gpu.barrier {tile.orders_global}
  tile.kernel @engines() attributes {tile.warps = 8 : i64} {
    tile.warp_groups() {
      role #tile.role<"all", warps = 4, copies = 2> {
        tile.wait_stores in_flight = 0 written
        tile.barrier publish global all_copies {tile.meets = "all"}
      }
    }
    tile.return
  }
}

// -----

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
  // Where no copies are under way past the registers, LLVM knows what waits a barrier takes.
  // CHECK-LABEL: func.func @waves
  // CHECK: gpu.barrier
  tile.kernel @waves() attributes {tile.warps = 8 : i64} {
    tile.warp_groups() {
      role #tile.role<"all", warps = 4, copies = 2> {
        tile.barrier all_copies {tile.meets = "all"}
        tile.barrier global all_copies {tile.meets = "all"}
      }
    }
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  // Of barriers that are bare none is folded away.
  // CHECK-LABEL: func.func @lagging
  // CHECK-COUNT-2: nvvm.barrier0
  // CHECK-NOT: {{gpu|nvvm}}.barrier
  // CHECK: return
  tile.kernel @lagging() attributes {tile.warps = 8 : i64} {
    tile.warp_groups() {
      role #tile.role<"all", warps = 4, copies = 2, skew = 1> {
        tile.barrier bare all_copies {tile.meets = "all"}
        tile.barrier bare all_copies {tile.meets = "all"}
      }
    }
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // Of meetings that follow one another the last remains, and orders what the first did.
  // CHECK-LABEL: func.func @twice
  // CHECK: gpu.barrier {tile.orders_global}
  // CHECK-NEXT: gpu.barrier {tile.orders_global}
  // CHECK: llvm.store
  // CHECK: gpu.barrier{{$}}
  tile.kernel @twice(%x: !tile.view<?xf32>) attributes {tile.warps = 2 : i64} {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : tensor<256xf32, #tile.layout<register = [[1]], lane = [[2],[4],[8],[16],[32],[64]], warp = [[128]]>>
    tile.barrier global
    tile.barrier
    tile.store %v, %x[%c0] : tensor<256xf32, #tile.layout<register = [[1]], lane = [[2],[4],[8],[16],[32],[64]], warp = [[128]]>>, !tile.view<?xf32>
    tile.barrier
    tile.return
  }
}

// -----

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // Who meets is read: the lanes of a warp, a copy at its own barrier, all copies at the role's.
  // CHECK-LABEL: func.func @groups
  // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %[[COPY:.*]]
  // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %[[ROLE:.*]]
  // CHECK: nvvm.bar.warp.sync
  tile.kernel @groups() attributes {tile.warps = 6 : i64} {
    tile.warp_groups() {
      role #tile.role<"many", warps = 2, copies = 2> {
        tile.barrier {tile.meets = "copy"}
        tile.barrier all_copies {tile.meets = "role"}
      }
      role #tile.role<"single", warps = 1, copies = 2> {
        tile.barrier {tile.meets = "lanes"}
      }
    }
    tile.return
  }
}
