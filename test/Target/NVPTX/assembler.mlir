// A cubin by the assembler that is named, with its registers read back; a wrong one is an error that
// names it, and lines of the source are in the PTX and in the cubin.
// RUN: env KILN_ASSEMBLER=%ptxas tile-compile %s --target nvptx:sm_80 -o %t.artifact
// RUN: FileCheck %s --input-file %t.artifact --check-prefix METADATA
// RUN: env KILN_ASSEMBLER=driver tile-compile %s --target nvptx:sm_80 -o %t.driver
// RUN: FileCheck %s --input-file %t.driver --check-prefix DRIVER
// RUN: not env KILN_ASSEMBLER=%t.none tile-compile %s --target nvptx:sm_80 -o %t.x 2>&1 \
// RUN:   | FileCheck %s --check-prefix MISSING
// RUN: not env KILN_ASSEMBLER=/bin/false tile-compile %s --target nvptx:sm_80 -o %t.x 2>&1 \
// RUN:   | FileCheck %s --check-prefix BROKEN
// RUN: tile-compile %s --target nvptx:sm_80 --emit asm | FileCheck %s --check-prefix LINES
// RUN: tile-compile %s --target amdgpu:gfx942 --emit binary -o %t.hsaco
// RUN: llvm-dwarfdump --debug-line %t.hsaco | FileCheck %s --check-prefix TABLE

// METADATA: "assembler":"ptxas {{[0-9]+\.[0-9]+}}
// METADATA-SAME: "local_bytes":0
// METADATA-SAME: "programs_per_core":
// METADATA-SAME: "registers":
// METADATA-SAME: "spill_load_bytes":0,"spill_store_bytes":0
// DRIVER: "assembler":"driver"
// DRIVER-NOT: spill
// MISSING: expected KILN_ASSEMBLER to be 'driver' or the path of ptxas or libnvJitLink, got '{{.*}}.none', which is not there
// BROKEN: error: the assembler of nvptx:sm_80 failed: expected /bin/false to tell its version
// LINES-NOT: , debug
// LINES: .loc 1 [[#@LINE+9]]
// LINES: .file 1 "{{.*}}assembler.mlir"
// TABLE: name: "assembler.mlir"
// TABLE: 0x{{[0-9a-f]+}} {{ *}}[[#@LINE+6]] {{ *}}8
tile.kernel @copy(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) grid {
  %one = arith.constant 1 : index
  tile.grid %one
} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<?xf32> -> tensor<64xf32>
  tile.store %a, %y[%c0] : tensor<64xf32>, !tile.view<?xf32>
  tile.return
}
