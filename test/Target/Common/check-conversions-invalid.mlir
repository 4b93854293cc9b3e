// What is decided of conversions that copies of a role share out.
// RUN: tile-opt %s --tile-check-decisions -split-input-file -verify-diagnostics

// Two copies convert a half each, through a buffer of its own.
#from = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[0,8],[0,16],[1,0],[2,0]], warp = [[4,0],[8,0],[16,0]]>
#to = #tile.layout<register = [[1,0],[2,0]], lane = [[0,1],[0,2],[0,4],[0,8],[0,16]], warp = [[4,0],[8,0],[16,0]]>
#order = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,0],[8,0],[16,0]]>
!view = !tile.view<?x?xf32>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @shared_conversion(%a: !view) attributes {tile.roles = [#tile.role<"all", warps = 4, copies = 2>]} {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0, %c0] {role = "all"} : !view -> tensor<32x32xf32, #from>
    // expected-error @+1 {{expected no 'how' through memory, since the copies of role "all" share the tensor out, got #tile.conversion<memory}}
    %y = tile.convert_layout %x {how = #tile.conversion<memory buffer = #order>} : tensor<32x32xf32, #from> -> tensor<32x32xf32, #to>
    tile.store %y, %a[%c0, %c0] {role = "all"} : tensor<32x32xf32, #to>, !view
    tile.return
  }
}
