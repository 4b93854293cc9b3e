// The sum of a row that one wave holds.
tile.kernel @sum(%a: !tile.view<?x256xf32> {tile.facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [0, 16]>},
                 %s: !tile.view<?xf32>) {
  %i = tile.program_id x
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%i, %c0] : !tile.view<?x256xf32> -> tensor<1x256xf32>
  %sum = tile.reduce %x axis = 1 : tensor<1x256xf32> -> tensor<1xf32> {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tile.yield %t : f32
  }
  tile.store %sum, %s[%i] : tensor<1xf32>, !tile.view<?xf32>
  tile.return
}
