// What goes wrong says what and where, and with which exit code.

// RUN: %S/Inputs/exits.sh 1 tile-compile %s --emit tile 2>&1 | FileCheck %s --check-prefix=SOURCE
// SOURCE: tile-compile-errors.mlir:[[#]]:8: error: 'tile.dim' op
// SOURCE-NEXT: %n = tile.dim %x, 3 : !tile.view<?xf32>
// SOURCE-NEXT: {{^ +\^$}}

// RUN: echo 'tile.kernel @k(' | %S/Inputs/exits.sh 1 tile-compile 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: <stdin>:{{[0-9]+}}:{{[0-9]+}}: error:

// RUN: %S/Inputs/exits.sh 2 tile-compile %s --target toaster:sm_1 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: expected one of the targets {{.*}}cpu{{.*}}, got 'toaster:sm_1'

// RUN: %S/Inputs/exits.sh 2 tile-compile %s --emit soup 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: error: expected one of the stages tile, layout, schedule, target, llvm, llvmir, asm, binary, metadata, artifact, got 'soup'

// RUN: %S/Inputs/exits.sh 2 tile-compile %s -O7 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: error: expected an optimisation level from 0 to 3, got 7

// RUN: %S/Inputs/exits.sh 2 tile-compile %s --sing 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: Unknown command line argument '--sing'

// RUN: %S/Inputs/exits.sh 3 tile-compile %t-absent.mlir 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: error: cannot read '{{.*}}-absent.mlir': No such file or directory

// RUN: %S/Inputs/exits.sh 3 tile-compile %S 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: cannot read '{{.*}}': Is a directory

// RUN: %S/Inputs/exits.sh 3 tile-compile --list-targets -o %t-absent/x 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: error: cannot write '{{.*}}-absent/x': {{.*}}

// RUN: tile-compile --list-targets | FileCheck %s --check-prefix=LIST
// LIST: {{^cpu$}}

// A failed compile leaves what was there.
// RUN: echo before > %t.out
// RUN: not tile-compile %s -o %t.out
// RUN: grep before %t.out

tile.kernel @k(%x: !tile.view<?xf32>) {
  %n = tile.dim %x, 3 : !tile.view<?xf32>
  tile.return
}
