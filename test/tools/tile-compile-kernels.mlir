// A file of several kernels: the error names them, and --kernel picks one.
// RUN: %S/Inputs/exits.sh 2 tile-compile %s --emit tile 2>&1 | FileCheck %s --check-prefix=WHICH
// WHICH: error: {{.*}}one{{.*}}two
// RUN: %S/Inputs/exits.sh 2 tile-compile %s --kernel three --emit tile 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: {{.*}}three
// RUN: tile-compile %s --kernel two --emit tile | FileCheck %s
// CHECK: tile.kernel @two

tile.kernel @one(%x: !tile.view<?xf32>) {
  tile.return
}

tile.kernel @two(%x: !tile.view<?xf32>) {
  tile.return
}
