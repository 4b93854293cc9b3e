// A bf16 matrix product A·Bᵀ for sm_90a whose schedule is pinned, as attributes: what the suite
// `gemm` measures beside cuBLAS. A tile of the result is 128 by 256. One thread of the role "load"
// has the tensor copy engine fill a ring of four slots; two groups of four warps multiply what is in
// them and store 64 columns at a time, through shared memory, by the same engine. 132 programs, one
// a multiprocessor of an H200, take tiles in turn, in an order that keeps 16 rows of tiles together.
// How tiles lie in registers and in shared memory follows from the atoms.
#copy = #nvptx.tma
#mma = #nvptx.wgmma<"m64n256k16", bf16, f32>

!view = !tile.view<?x?xbf16>

module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @gemm(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                  %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2]>},
                  %c: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 8]>})
    attributes {tile.roles = [#tile.role<"load", warps = 4, registers = 40>,
                              #tile.role<"mma", warps = 4, copies = 2, registers = 232>],
                tile.persistent = #tile.persistent<programs = 132, group = 16, even = true>} grid {
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
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %row = arith.muli %x, %c128 : index
  %column = arith.muli %y, %c256 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x256xf32> {
    %at = tile.load %a[%row, %kk] {atom = #copy, stage = 0, order = 0, role = "load"}
        : !view -> tensor<128x64xbf16>
    %bt = tile.load %b[%column, %kk] {atom = #copy, stage = 0, order = 1, role = "load"}
        : !view -> tensor<256x64xbf16>
    %d = tile.dot %at, %bt, %s transpose_b
         {atom = #mma, stage = 0, order = 0, role = "mma", in_flight = 1}
       : tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tile.depth = 4}
  %narrow = arith.truncf %sum : tensor<128x256xf32> to tensor<128x256xbf16>
  tile.store %narrow, %c[%row, %column] {atom = #copy, role = "mma", in_flight = 1}
    : tensor<128x256xbf16>, !view
  tile.return
}
}
