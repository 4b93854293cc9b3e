// A realised schedule that is handed back is checked again: an edit that races, waits forever or is
// obeyed by nobody is refused, at the line of what was handed back.

// RUN: tile-compile %S/../../benchmarks/gemm.mlir --emit asm -o %t.asm
// RUN: tile-compile %S/../../benchmarks/gemm.mlir --emit schedule -o %t.mlir
// RUN: tile-compile %t.mlir --from schedule --emit asm -o %t.again.asm
// The same code, but for the lines that it names.
// RUN: grep -v '\.loc\|\.file\|tmp[0-9]' %t.asm > %t.code
// RUN: grep -v '\.loc\|\.file\|tmp[0-9]' %t.again.asm | cmp - %t.code

// RUN: grep -v 'tile.release' %t.mlir > %t.kept.mlir
// RUN: %S/Inputs/exits.sh 1 tile-compile %t.kept.mlir --from schedule 2>&1 | FileCheck %s --check-prefix=KEPT
// KEPT: kept.mlir:{{[0-9]+:[0-9]+}}: error: 'tile.get' op expected a tile.release in role "mma", which gets from the channel

// RUN: sed 's/tile.barrier publish/tile.barrier/' %t.mlir > %t.unseen.mlir
// RUN: %S/Inputs/exits.sh 1 tile-compile %t.unseen.mlir --from schedule 2>&1 | FileCheck %s --check-prefix=UNSEEN
// UNSEEN: unseen.mlir:{{[0-9]+:[0-9]+}}: error: 'tile.copy_out' op expected a tile.barrier publish after what wrote the buffer

// RUN: sed 's/tile.meets = "copy"/tile.meets = "all"/' %t.mlir > %t.all.mlir
// RUN: %S/Inputs/exits.sh 1 tile-compile %t.all.mlir --from schedule 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: all.mlir:{{[0-9]+:[0-9]+}}: error: 'tile.barrier' op expected a role of all 12 warps, since 'tile.meets' is "all" in role "mma"

// RUN: sed 's/arith.truncf \(%[0-9]*\) :/arith.truncf \1 {tile.stage = 1 : i64} :/' %t.mlir > %t.left.mlir
// RUN: %S/Inputs/exits.sh 1 tile-compile %t.left.mlir --from schedule 2>&1 | FileCheck %s --check-prefix=LEFT
// LEFT: left.mlir:{{[0-9]+:[0-9]+}}: error: 'arith.truncf' op expected no 'tile.stage' once the schedule is realised: nothing obeyed it

// A place that is not there, and a ring of more slots than there is room for.
// RUN: sed 's/tile.shared_bytes = [0-9]*/tile.shared_bytes = 1024/' %t.mlir > %t.small.mlir
// RUN: %S/Inputs/exits.sh 1 tile-compile %t.small.mlir --from schedule 2>&1 | FileCheck %s --check-prefix=SMALL
// SMALL: small.mlir:{{[0-9]+:[0-9]+}}: error: 'tile.{{.*}} to end within 'tile.shared_bytes', 1024, got a place at

// RUN: sed 's/!tile.channel<[0-9]*,/!tile.channel<2147483647,/g' %t.mlir > %t.deep.mlir
// RUN: %S/Inputs/exits.sh 1 tile-compile %t.deep.mlir --from schedule 2>&1 | FileCheck %s --check-prefix=DEEP
// DEEP: deep.mlir:{{[0-9]+:[0-9]+}}: error: 'tile.channel' op expected a ring of 2147483647 slots ('depth') of {{.*}} to end within 'tile.shared_bytes',
