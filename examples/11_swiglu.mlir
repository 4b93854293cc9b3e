// SwiGLU in MLIR text: gate * sigmoid(gate) * up, over blocks of 16 x 256 of two matrices.
//
//   tile-compile examples/11_swiglu.mlir --emit asm          what this machine will run
//   tile-compile examples/11_swiglu.mlir --emit layout       a stage on the way there
//   python examples/11_swiglu.py                             run it on random input
tile.kernel @swiglu(%gate: !tile.view<?x?xf32>, %up: !tile.view<?x?xf32>,
                    %out: !tile.view<?x?xf32>) grid {
  %rows = tile.dim %gate, 0 : !tile.view<?x?xf32>
  %columns = tile.dim %gate, 1 : !tile.view<?x?xf32>
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %tiles_m = arith.ceildivsi %rows, %c16 : index
  %tiles_n = arith.ceildivsi %columns, %c256 : index
  tile.grid %tiles_m, %tiles_n
} {
  %i = tile.program_id x
  %j = tile.program_id y
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %m = arith.muli %i, %c16 : index
  %n = arith.muli %j, %c256 : index
  %g = tile.load %gate[%m, %n] : !tile.view<?x?xf32> -> tensor<16x256xf32>
  %u = tile.load %up[%m, %n] : !tile.view<?x?xf32> -> tensor<16x256xf32>
  %one = arith.constant dense<1.0> : tensor<16x256xf32>
  %minus = arith.negf %g : tensor<16x256xf32>
  %e = math.exp %minus : tensor<16x256xf32>
  %d = arith.addf %one, %e : tensor<16x256xf32>
  %silu = arith.divf %g, %d : tensor<16x256xf32>
  %y = arith.mulf %silu, %u : tensor<16x256xf32>
  tile.store %y, %out[%m, %n] : tensor<16x256xf32>, !tile.view<?x?xf32>
  tile.return
}
