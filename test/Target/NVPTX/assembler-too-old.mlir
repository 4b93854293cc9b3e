// An assembler that is too old for the text or the chip: where it was chosen, an error that says
// what is needed; where it was found, the next one takes over (one that the machine has, else the
// driver), and the metadata say why. A text that is wrong is an error in any case. Stand-ins play
// the assemblers.
// RUN: rm -rf %t && mkdir -p %t/old/bin %t/old/lib64 %t/new/bin
// RUN: cp %S/Inputs/old-ptxas.sh %t/old/bin/ptxas
// RUN: ln -s %fake_jitlink %t/old/lib64/libnvJitLink.so
// RUN: ln -s %ptxas %t/new/bin/ptxas

// RUN: not env KILN_ASSEMBLER=%t/old/bin/ptxas tile-compile %s --target nvptx:sm_80 -o %t/x 2>&1 \
// RUN:   | FileCheck %s --check-prefix PROGRAM
// RUN: not env KILN_ASSEMBLER=%t/old/lib64/libnvJitLink.so KILN_FAKE_JITLINK=version \
// RUN:   tile-compile %s --target nvptx:sm_80 -o %t/x 2>&1 | FileCheck %s --check-prefix LIBRARY
// RUN: not env KILN_ASSEMBLER=%t/old/lib64/libnvJitLink.so KILN_FAKE_JITLINK=chip \
// RUN:   tile-compile %s --target nvptx:sm_103a -o %t/x 2>&1 | FileCheck %s --check-prefix CHIP
// RUN: env -u KILN_ASSEMBLER PATH=%llvm_tools_dir CUDA_HOME=%t/old KILN_FAKE_JITLINK=chip \
// RUN:   %kiln_tools_dir/tile-compile %s --target nvptx:sm_80 -o %t/x
// RUN: FileCheck %s --input-file %t/x --check-prefix DRIVER
// RUN: env -u KILN_ASSEMBLER PATH=%llvm_tools_dir CUDA_HOME=%t/old CUDA_PATH=%t/new \
// RUN:   KILN_FAKE_JITLINK=cubin %kiln_tools_dir/tile-compile %s --target nvptx:sm_80 -o %t/x
// RUN: FileCheck %s --input-file %t/x --check-prefix NEXT
// RUN: not env -u KILN_ASSEMBLER PATH=%llvm_tools_dir CUDA_HOME=%t/old KILN_FAKE_JITLINK=text \
// RUN:   %kiln_tools_dir/tile-compile %s --target nvptx:sm_80 -o %t/x 2>&1 \
// RUN:   | FileCheck %s --check-prefix TEXT

// PROGRAM: error: the assembler of nvptx:sm_80 failed: ptxas 11.8.89 is too old: expected an assembler of CUDA 12.0 or later, for PTX 8.0 and sm_80; it said: {{.*}}Unsupported .version 8.0
// LIBRARY: nvJitLink 12.0 is too old: expected an assembler of CUDA 12.0 or later, for PTX 8.0 and sm_80; it said: {{.*}}Unsupported .version 8.0
// CHIP: nvJitLink 12.0 is too old: expected an assembler of CUDA 12.9 or later, for PTX 8.8 and sm_103a
// DRIVER: "assembler":"{{driver|ptxas [0-9.]+}} (ptxas 11.8.89 is too old: {{.*}}; nvJitLink 12.0 is too old: {{.*}})"
// NEXT: "assembler":"ptxas {{[0-9.]+}} (ptxas 11.8.89 is too old: {{.*}}; nvJitLink 12.0 gave no cubin)"
// TEXT: error: the assembler of nvptx:sm_80 failed: nvJitLink 12.0 failed: ptxas fatal   : a wrong text
tile.kernel @copy(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<64xf32>
  tile.store %a, %y[%c0] : tensor<64xf32>, !tile.view<?xf32>
  tile.return
}
