// A matrix instruction, as the common passes see it.
#ifndef KILN_LAYOUT_TRANSFORMS_WARPMMAATOMINTERFACE_TD
#define KILN_LAYOUT_TRANSFORMS_WARPMMAATOMINTERFACE_TD

include "kiln/Dialect/Tile/IR/TileAtomInterfaces.td"

def WarpMmaAtomInterface : AttrInterface<"WarpMmaAtomInterface", [MmaAtomInterface]> {
  let cppNamespace = "::kiln";
  let description = [{
    One instruction by which the threads of a warp multiply an [m, k] by a [k, n] fragment and
    add the product to an [m, n] fragment.
  }];
  let methods = [
    InterfaceMethod<[{
      Which register of which lane holds which element of a fragment: of a (0), b (1) or the
      accumulator (2). From `register` and `lane` to two coordinates.
    }], "::kiln::LinearLayout", "getFragment", (ins "unsigned":$operand)>,
    InterfaceMethod<[{
      Emits the instruction for one fragment of each operand, given as a vector of the lane's
      registers, and yields the accumulator's.
    }], "::mlir::Value", "emit",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Value":$a,
             "::mlir::Value":$b, "::mlir::Value":$accumulator)>,
  ];
}

def ScaledMmaAtomInterface : AttrInterface<"ScaledMmaAtomInterface", [WarpMmaAtomInterface]> {
  let cppNamespace = "::kiln";
  let description = [{
    A matrix instruction that multiplies each element of a and b by the scale of its block along k.
  }];
  let methods = [
    InterfaceMethod<"How many elements along k share a scale.", "int64_t", "getBlock">,
    InterfaceMethod<[{
      Which lane holds which scale of a fragment of a (0) or b (1), one each: from `lane` to a row
      of a or a column of b, and a block along k.
    }], "::kiln::LinearLayout", "getScales", (ins "unsigned":$operand)>,
    InterfaceMethod<[{
      Emits the instruction as `emit` does. The scales are a vector of all that the lane holds for
      its operand, and which of these is the fragments'.
    }], "::mlir::Value", "emitScaled",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Value":$a,
             "::mlir::Value":$scalesA, "unsigned":$scaleA, "::mlir::Value":$b,
             "::mlir::Value":$scalesB, "unsigned":$scaleB, "::mlir::Value":$accumulator)>,
  ];
}

#endif // KILN_LAYOUT_TRANSFORMS_WARPMMAATOMINTERFACE_TD
