// The passes of the CPU target, in the order that they run.
#ifndef KILN_TARGET_CPU_PASSES_TD
#define KILN_TARGET_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecideMaterialization : Pass<"cpu-decide-materialization"> {
  let summary = "decides which tensors live in scratch memory";
  let description = [{
    A tensor is either computed element by element where it is used, or kept in a buffer of
    the program's scratch memory. Elementwise and shape ops, splats and loads are computed
    where they are used, as long as that repeats no costly work and no write comes between;
    what loops carry, what dots and reductions make, and what several consumers share is
    kept. A loop's tensor has one buffer through all its iterations: it is updated in place
    where each element is read only for its own new value.

    Precondition: a kernel of the tile dialect, without calls.
    Postcondition: each op with tensor results says in `cpu.buffers` the number of each
    result's buffer, or -1; `cpu.temps` are buffers that the op itself needs; the kernel's
    `cpu.buffer_bytes` holds the size of each.
    See `test/Target/CPU/decide-materialization.mlir`.
  }];
  let dependentDialects = ["CPUDialect"];
}

def PlanScratch : Pass<"cpu-plan-scratch"> {
  let summary = "gives each buffer its place in the scratch memory";
  let description = [{
    Buffers that never live at the same time share memory: first fit, largest first, over
    the stretch of the program between a buffer's first write and its last read.

    Precondition: `cpu-decide-materialization`.
    Postcondition: `cpu.buffer_offsets` and `cpu.scratch_bytes` on the kernel.
    See `test/Target/CPU/plan-scratch.mlir`.
  }];
}

def LowerTiles : Pass<"cpu-lower-tiles"> {
  let summary = "turns tiles into loops over vectors";
  let description = [{
    Each op that writes, and each tensor that is kept, becomes a nest of loops whose
    innermost steps by one vector register; what is not kept is computed there, for those
    elements. Where tiles may cross the border of a view there are two nests, one without
    masks for tiles that lie inside.

    Precondition: `cpu-plan-scratch`.
    Postcondition: no tensors; views only under `tile.dim`, `tile.stride` and `cpu.base`.
    See `test/Target/CPU/lower-tiles.mlir`.
  }];
  let dependentDialects = ["CPUDialect", "::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def LowerKernel : Pass<"cpu-lower-kernel", "::mlir::ModuleOp"> {
  let summary = "turns a kernel into its host entry points";
  let description = [{
    `kiln_entry` runs the programs first to last-1 of the grid; `kiln_grid`, if the kernel
    has a grid region, computes the grid. Both read the parameters from 8-byte slots, in the
    order of `kiln/Target/Common/ABI.h`.

    Precondition: `cpu-lower-tiles`; one kernel in the module.
    Postcondition: no op or type of the tile and cpu dialects.
    See `test/Target/CPU/lower-kernel.mlir`.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::scf::SCFDialect"];
}

def LegalizeArithmetic : Pass<"cpu-legalize-arithmetic"> {
  let summary = "gives arithmetic a meaning for all its inputs, and widens narrow floats";
  let description = [{
    The processor faults on an integer division by zero, and LLVM leaves that, shifts by the
    width or more and conversions of too large floats undefined. Here x / 0 and x % 0 are 0,
    the lowest integer divided by -1 is itself, a shift by the width or more shifts all bits
    out, and a float too large for an integer becomes the nearest one (NaN becomes 0).

    Vectors of integers are divided by way of floats that hold them, since processors divide
    integers one at a time; a divisor that is the same for all lanes is inverted once.

    Arithmetic on bf16, f16 and narrower floats is done in f32 and rounded after each op;
    integers of 32 bits and more become narrow floats through f64, so that they are rounded
    once.

    See `test/Target/CPU/legalize-arithmetic.mlir`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def ConvertToLLVM : Pass<"cpu-convert-to-llvm", "::mlir::ModuleOp"> {
  let summary = "converts loops, vectors and arithmetic to the LLVM dialect";
  let description = [{
    Upstream patterns, all at once, after `scf` has become branches. Functions of `math` on
    f32, and its remainder, are arithmetic on all lanes, in f32 or in f64 and rounded; those
    on f64 that LLVM has no instruction for call the C library, lane by lane.

    See `test/Target/CPU/convert-to-llvm.mlir`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
                           "::mlir::cf::ControlFlowDialect"];
}

#endif // KILN_TARGET_CPU_PASSES_TD
