// RUN: tile-opt %s --tile-decide-layouts | FileCheck %s
// Both results of an op get the layout of its operands, wherever the table of layouts grows: with
// one tensor before them and two more an op, its growth falls on the first result of one op.

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
  // CHECK: tile.load {{.*}} -> tensor<1x8xi32, #[[T:.*]]>
  // CHECK-COUNT-24: arith.mului_extended {{.*}} : tensor<1x8xi32, #[[T]]>
  // CHECK: tile.transpose {{.*}} : tensor<1x8xi32, #[[T]]> -> tensor<8x1xi32, #{{.*}}>
  tile.kernel @many(%a: !tile.view<?x?xi32>, %o: !tile.view<?x?xi32>)
      attributes {tile.warps = 1 : i64} {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0, %c0] : !tile.view<?x?xi32> -> tensor<1x8xi32>
    %l0, %h0 = arith.mului_extended %x, %x : tensor<1x8xi32>
    %l1, %h1 = arith.mului_extended %l0, %h0 : tensor<1x8xi32>
    %l2, %h2 = arith.mului_extended %l1, %h1 : tensor<1x8xi32>
    %l3, %h3 = arith.mului_extended %l2, %h2 : tensor<1x8xi32>
    %l4, %h4 = arith.mului_extended %l3, %h3 : tensor<1x8xi32>
    %l5, %h5 = arith.mului_extended %l4, %h4 : tensor<1x8xi32>
    %l6, %h6 = arith.mului_extended %l5, %h5 : tensor<1x8xi32>
    %l7, %h7 = arith.mului_extended %l6, %h6 : tensor<1x8xi32>
    %l8, %h8 = arith.mului_extended %l7, %h7 : tensor<1x8xi32>
    %l9, %h9 = arith.mului_extended %l8, %h8 : tensor<1x8xi32>
    %l10, %h10 = arith.mului_extended %l9, %h9 : tensor<1x8xi32>
    %l11, %h11 = arith.mului_extended %l10, %h10 : tensor<1x8xi32>
    %l12, %h12 = arith.mului_extended %l11, %h11 : tensor<1x8xi32>
    %l13, %h13 = arith.mului_extended %l12, %h12 : tensor<1x8xi32>
    %l14, %h14 = arith.mului_extended %l13, %h13 : tensor<1x8xi32>
    %l15, %h15 = arith.mului_extended %l14, %h14 : tensor<1x8xi32>
    %l16, %h16 = arith.mului_extended %l15, %h15 : tensor<1x8xi32>
    %l17, %h17 = arith.mului_extended %l16, %h16 : tensor<1x8xi32>
    %l18, %h18 = arith.mului_extended %l17, %h17 : tensor<1x8xi32>
    %l19, %h19 = arith.mului_extended %l18, %h18 : tensor<1x8xi32>
    %l20, %h20 = arith.mului_extended %l19, %h19 : tensor<1x8xi32>
    %l21, %h21 = arith.mului_extended %l20, %h20 : tensor<1x8xi32>
    %l22, %h22 = arith.mului_extended %l21, %h21 : tensor<1x8xi32>
    %l23, %h23 = arith.mului_extended %l22, %h22 : tensor<1x8xi32>
    %t = tile.transpose %h23 [1, 0] : tensor<1x8xi32> -> tensor<8x1xi32>
    tile.store %t, %o[%c0, %c0] : tensor<8x1xi32>, !tile.view<?x?xi32>
    tile.return
  }
}
