// Decided layouts that are handed back are checked again: warps that are not there, and a buffer that
// has no place for some element, are refused at the line of what was handed back.

// RUN: tile-compile %S/../../benchmarks/gemm-gfx942.mlir --emit layout -o %t.mlir
// RUN: tile-compile %t.mlir --from layout --emit asm -o %t.again.asm

// RUN: sed 's/\(tile.role<"[a-z]*", warps = \)[0-9]*/\19223372036854775807/' %t.mlir > %t.many.mlir
// RUN: %S/Inputs/exits.sh 1 tile-compile %t.many.mlir --from layout 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: many.mlir:{{[0-9]+:[0-9]+}}: error: 'tile.kernel' op expected a power of two of warps in each copy of role

// RUN: sed 's/\(tile.role<"[a-z]*", warps = \)[0-9]*/\11/' %t.mlir > %t.few.mlir
// RUN: %S/Inputs/exits.sh 1 tile-compile %t.few.mlir --from layout 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: few.mlir:{{[0-9]+:[0-9]+}}: error: expected a layout for at most 64 lanes and
