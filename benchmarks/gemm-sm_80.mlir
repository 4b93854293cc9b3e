// The matrix product of gemm.mlir by other decisions, for sm_80, which has neither an engine that
// copies tiles nor products out of shared memory: what CUTLASS 2 calls multistage. Eight warps fill
// a ring of four slots for themselves, three trips ahead, by copies of 16 bytes a lane that pass by
// the registers; they read it by ldmatrix and multiply by mma.sync, 64 by 64 a warp. A tile of the
// result is 128 by 256. 108 programs, one a multiprocessor of an A100, take tiles in turn.
#copy = #nvptx.cp_async<16>
#mma = #nvptx.mma_sync<"m16n8k16", bf16, f32>

!view = !tile.view<?x?xbf16, strides [?, 1]>

module attributes {tile.target = #nvptx.target<chip = "sm_80">} {
tile.kernel @gemm(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], index32>},
                  %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], index32>},
                  %c: !view {tile.facts = #tile.facts<pointer = 4, strides = [4, 2], extents = [0, 2], index32>})
    attributes {tile.roles = [#tile.role<"all", warps = 8>],
                tile.persistent = #tile.persistent<programs = 108, group = 16>} grid {
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %m = tile.dim %c, 0 : !view
  %n = tile.dim %c, 1 : !view
  %tm = arith.ceildivui %m, %c128 : index
  %tn = arith.ceildivui %n, %c256 : index
  tile.grid %tm, %tn
} {
  %x = tile.program_id x
  %y = tile.program_id y
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %row = arith.muli %x, %c128 : index
  %column = arith.muli %y, %c256 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<128x256xf32> {
    %at = tile.load %a[%row, %kk]
        {atom = #copy, stage = 0, order = 0, role = "all"}
        : !view -> tensor<128x32xbf16>
    %bt = tile.load %b[%column, %kk]
        {atom = #copy, stage = 0, order = 1, role = "all"}
        : !view -> tensor<256x32xbf16>
    %d = tile.dot %at, %bt, %s transpose_b {atom = #mma, stage = 3, order = 2, role = "all"}
       : tensor<128x32xbf16>, tensor<256x32xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tile.depth = 4}
  %narrow = arith.truncf %sum : tensor<128x256xf32> to tensor<128x256xbf16>
  tile.store %narrow, %c[%row, %column] {role = "all"} : tensor<128x256xbf16>, !view
  tile.return
}
}
