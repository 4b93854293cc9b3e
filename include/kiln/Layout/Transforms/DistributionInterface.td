// How ops on tensors are spread over threads.
#ifndef KILN_LAYOUT_TRANSFORMS_DISTRIBUTIONINTERFACE_TD
#define KILN_LAYOUT_TRANSFORMS_DISTRIBUTIONINTERFACE_TD

include "mlir/IR/OpBase.td"

def DistributionInterface : OpInterface<"DistributionInterface"> {
  let cppNamespace = "::kiln";
  let description = [{
    How an op on tensors is spread over threads: what passes that decide and realise layouts ask.
    Ops of the tile dialect, of arith and of math have it by external models, one a kind of op
    (`lib/Layout/Transforms/Distribution.cpp`). Loops and branches, which only hand values on, do
    not; an op on tensors that has none either is refused.
  }];
  let methods = [
    InterfaceMethod<[{
      Gives each result that is a tensor the layout that the op makes it in, by those that its
      operands have.
    }], "void", "inferLayouts", (ins "::kiln::LayoutInference &":$inference)>,
    InterfaceMethod<[{
      The layout that the op wants its tensor operand to have, when all values have theirs.
    }], "::kiln::LinearLayout", "getWantedLayout",
        (ins "::mlir::OpOperand &":$operand, "const ::kiln::LayoutInference &":$inference)>,
    InterfaceMethod<[{
      An operand or result that the copies of a role cannot share out as its layout says, since
      elements would have to go from one copy to another; none if there is none.
    }], "std::optional<::kiln::ShareMisfit>", "findMisfit",
        (ins "const ::kiln::CopyShares &":$shares)>,
  ];
}

#endif // KILN_LAYOUT_TRANSFORMS_DISTRIBUTIONINTERFACE_TD
