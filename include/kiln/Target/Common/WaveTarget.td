// What a target's waves have to copy into shared memory by themselves and to wait for one another.
#ifndef KILN_TARGET_COMMON_WAVETARGET_TD
#define KILN_TARGET_COMMON_WAVETARGET_TD

include "mlir/IR/OpBase.td"

def WaveTargetInterface : AttrInterface<"WaveTargetInterface"> {
  let cppNamespace = "::kiln";
  let description = [{
    A target without engines and without barriers in memory: a role fills its own ring, by copies
    that each wave starts, counts and waits for itself, and all waves of the program meet at one
    barrier, wherever each of them stands. A target's attribute implements it besides its own
    interface.

    Code generators must move no access to shared memory across any of these.
  }];
  let methods = [
    InterfaceMethod<"An i32 that all lanes of a wave have alike, as one that the wave has once.",
                    "::mlir::Value", "makeUniform",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Value":$value)>,
    InterfaceMethod<"Ends a group: the copies that the wave has started since the last one.",
                    "void", "endCopies",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc)>,
    InterfaceMethod<[{
      Until at most so many of the wave's groups are under way, each of which has so many copies.
    }], "void", "waitForCopies",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "int64_t":$groups,
             "int64_t":$copies)>,
    InterfaceMethod<"Until the wave's own accesses to shared memory are done.",
                    "void", "waitForShared",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc)>,
    InterfaceMethod<"All waves of the program meet; what each had waited for is done for all.",
                    "void", "meet",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc)>,
    InterfaceMethod<[{
      Whether code generators can be told in which order the instructions between two barriers come.
    }], "bool", "ordersInstructions", (ins), "", "return false;">,
    InterfaceMethod<[{
      The next so many instructions of a kind come next, of a list of them by a number; where
      `ordersInstructions`.
    }], "void", "orderInstructions",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
             "::kiln::tile::InstructionKind":$kind, "int64_t":$count, "int64_t":$pipeline),
        "", "">,
    InterfaceMethod<[{
      From here on the wave goes first, or (if not `raised`) in turn again: where one group computes
      and another copies, that the one is not held up.
    }], "void", "setPriority",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "bool":$raised)>,
  ];
}

#endif // KILN_TARGET_COMMON_WAVETARGET_TD
