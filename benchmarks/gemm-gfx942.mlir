// The matrix product of gemm.mlir by other decisions, for gfx942, which has no engine that
// copies. Eight waves in two groups run one body, the second group a barrier
// behind the first: while one multiplies, the other fills and reads. They fill a ring of two slots
// for themselves, by loads that go to LDS directly, four bytes a lane, and read 16 bytes a lane
// back. 304 programs, one a compute unit of an MI300X, take tiles of 256 by 256 in turn.
#copy = #amdgcn.load_to_lds<"gfx942", 4>
#mma = #amdgcn.matrix<"mfma.f32.32x32x8bf16.1k", "gfx942", bf16>

!view = !tile.view<?x?xbf16, strides [?, 1]>

module attributes {tile.target = #amdgcn.target<chip = "gfx942">} {
tile.kernel @gemm(%a: !view {tile.facts = #tile.facts<pointer = 4, strides = [4, 2], extents = [0, 2], index32>},
                  %b: !view {tile.facts = #tile.facts<pointer = 4, strides = [4, 2], extents = [0, 2], index32>},
                  %c: !view {tile.facts = #tile.facts<pointer = 4, strides = [4, 2], extents = [0, 2], index32>})
    attributes {tile.roles = [#tile.role<"all", warps = 4, copies = 2, skew = 1>],
                tile.persistent = #tile.persistent<programs = 304, group = 16>} grid {
  %c256 = arith.constant 256 : index
  %m = tile.dim %c, 0 : !view
  %n = tile.dim %c, 1 : !view
  %tm = arith.ceildivui %m, %c256 : index
  %tn = arith.ceildivui %n, %c256 : index
  tile.grid %tm, %tn
} {
  %x = tile.program_id x
  %y = tile.program_id y
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  %row = arith.muli %x, %c256 : index
  %column = arith.muli %y, %c256 : index
  %k = tile.dim %a, 1 : !view
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %sum = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<256x256xf32> {
    %at = tile.load %a[%row, %kk] {atom = #copy, stage = 0, order = 0, role = "all"}
        : !view -> tensor<256x32xbf16>
    %bt = tile.load %b[%column, %kk] {atom = #copy, stage = 0, order = 1, role = "all"}
        : !view -> tensor<256x32xbf16>
    %d = tile.dot %at, %bt, %s transpose_b {atom = #mma, stage = 1, order = 2, role = "all"}
       : tensor<256x32xbf16>, tensor<256x32xbf16> -> tensor<256x256xf32>
    scf.yield %d : tensor<256x256xf32>
  } {tile.depth = 2}
  %narrow = arith.truncf %sum : tensor<256x256xf32> to tensor<256x256xbf16>
  tile.store %narrow, %c[%row, %column] {role = "all"} : tensor<256x256xbf16>, !view
  tile.return
}
}
