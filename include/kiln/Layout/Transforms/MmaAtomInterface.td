// A matrix instruction, as the common passes see it.
#ifndef KILN_LAYOUT_TRANSFORMS_MMAATOMINTERFACE_TD
#define KILN_LAYOUT_TRANSFORMS_MMAATOMINTERFACE_TD

include "mlir/IR/OpBase.td"

def MmaAtomInterface : AttrInterface<"MmaAtomInterface"> {
  let cppNamespace = "::kiln";
  let description = [{
    One instruction by which the threads of a warp multiply an [m, k] by a [k, n] fragment and
    add the product to an [m, n] fragment.
  }];
  let methods = [
    InterfaceMethod<"The extents m, n and k.", "std::array<int64_t, 3>", "getExtents">,
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

#endif // KILN_LAYOUT_TRANSFORMS_MMAATOMINTERFACE_TD
