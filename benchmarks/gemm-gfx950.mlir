// The matrix product of gemm-gfx942.mlir for gfx950, whose loads to LDS bring 16 bytes a lane and
// whose matrix instruction takes 16 columns at once: a lane's operand is what one read of LDS gives
// it. Of 256 compute units, as an MI355X has them, each takes tiles of 256 by 256 in turn.
#copy = #amdgcn.load_to_lds<"gfx950", 16>
#mma = #amdgcn.matrix<"mfma.f32.32x32x16.bf16", "gfx950", bf16>

// A row of 32 columns is 64 bytes, and four rows are what 64 banks hold. Lanes that are served
// together differ in rows 1, 2, 4 + 8 and 4 + 16: the latter two permute a row's 16-byte pieces.
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,0],[8,8],[16,16],[32,0],[64,0],[128,0]]>
// Who holds which sums: 128 rows a group, 64 by 128 a wave, 32 by 32 an instruction.
#acc = #tile.layout<register = [[1,0],[2,0],[8,0],[16,0],[32,0],[0,32],[0,64]], lane = [[0,1],[0,2],[0,4],[0,8],[0,16],[4,0]], warp = [[64,0],[0,128],[128,0]]>
#opa = #tile.layout<register = [[0,1],[0,2],[0,4],[0,16],[32,0]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0],[0,8]], warp = [[64,0],[0,0],[128,0]]>
#opb = #tile.layout<register = [[0,1],[0,2],[0,4],[0,16],[32,0],[64,0]], lane = [[1,0],[2,0],[4,0],[8,0],[16,0],[0,8]], warp = [[0,0],[128,0],[0,0]]>

!view = !tile.view<?x?xbf16, strides [?, 1]>
!buffer = !tile.buffer<256x32xbf16, #rows>

module attributes {tile.target = #amdgcn.target<chip = "gfx950">} {
tile.kernel @gemm(%a: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 8], index32>},
                  %b: !view {tile.facts = #tile.facts<pointer = 16, strides = [16, 2], extents = [0, 8], index32>},
                  %c: !view {tile.facts = #tile.facts<pointer = 4, strides = [4, 2], extents = [0, 2], index32>})
    attributes {tile.roles = [#tile.role<"all", warps = 4, copies = 2, skew = 1>],
                tile.persistent = #tile.persistent<programs = 256, group = 16>} grid {
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
  %zero = arith.constant dense<0.0> : tensor<256x256xf32, #acc>
  %sum = scf.for %kk = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<256x256xf32, #acc> {
    %at = tile.load %a[%row, %kk] {atom = #copy, buffer = !buffer, stage = 0, order = 0, role = "all"}
        : !view -> tensor<256x32xbf16, #opa>
    %bt = tile.load %b[%column, %kk] {atom = #copy, buffer = !buffer, stage = 0, order = 1, role = "all"}
        : !view -> tensor<256x32xbf16, #opb>
    %d = tile.dot %at, %bt, %s transpose_b {atom = #mma, stage = 1, order = 2, role = "all"}
       : tensor<256x32xbf16, #opa>, tensor<256x32xbf16, #opb> -> tensor<256x256xf32, #acc>
    scf.yield %d : tensor<256x256xf32, #acc>
  } {tile.depth = 2}
  %narrow = arith.truncf %sum : tensor<256x256xf32, #acc> to tensor<256x256xbf16, #acc>
  tile.store %narrow, %c[%row, %column] {role = "all"} : tensor<256x256xbf16, #acc>, !view
  tile.return
}
}
