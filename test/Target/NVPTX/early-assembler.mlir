// ptxas is started before there is PTX, and reads it from a pipe; one that cannot is run again, on a
// file. Either way the cubin is the same code. Where no cubin is asked for, nothing is started.
// RUN: rm -rf %t && mkdir %t
// RUN: env KILN_ASSEMBLER=%S/Inputs/counted-ptxas.sh KILN_REAL_PTXAS=%ptxas KILN_CALLS=%t/pipe \
// RUN:   tile-compile %s --target nvptx:sm_90a --emit binary -o %t/pipe.cubin
// RUN: FileCheck %s --input-file %t/pipe --check-prefix PIPE
// RUN: env KILN_ASSEMBLER=%S/Inputs/counted-ptxas.sh KILN_REAL_PTXAS=%ptxas KILN_CALLS=%t/file \
// RUN:   KILN_NO_PIPE=1 tile-compile %s --target nvptx:sm_90a --emit binary -o %t/file.cubin
// RUN: FileCheck %s --input-file %t/file --check-prefix FILE
// RUN: llvm-objcopy --dump-section .text.copy=%t/pipe.text %t/pipe.cubin %t/x
// RUN: llvm-objcopy --dump-section .text.copy=%t/file.text %t/file.cubin %t/x
// RUN: cmp %t/pipe.text %t/file.text
// RUN: env KILN_ASSEMBLER=%S/Inputs/counted-ptxas.sh KILN_REAL_PTXAS=%ptxas KILN_CALLS=%t/none \
// RUN:   tile-compile %s --target nvptx:sm_90a --emit asm -o %t/x
// RUN: not ls %t/none

// PIPE-DAG: -arch=sm_90a -lineinfo -v /dev/stdin -o
// PIPE-DAG: --version
// PIPE-NOT: .ptx -o
// FILE-DAG: -arch=sm_90a -lineinfo -v /dev/stdin -o
// FILE-DAG: --version
// FILE-DAG: -arch=sm_90a -lineinfo -v {{.*}}.ptx -o
tile.kernel @copy(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<64xf32>
  tile.store %a, %y[%c0] : tensor<64xf32>, !tile.view<?xf32>
  tile.return
}
