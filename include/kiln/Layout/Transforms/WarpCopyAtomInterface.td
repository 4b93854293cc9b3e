// An instruction that moves elements between a warp's registers and shared memory.
#ifndef KILN_LAYOUT_TRANSFORMS_WARPCOPYATOMINTERFACE_TD
#define KILN_LAYOUT_TRANSFORMS_WARPCOPYATOMINTERFACE_TD

include "kiln/Dialect/Tile/IR/TileAtomInterfaces.td"

def WarpCopyAtomInterface : AttrInterface<"WarpCopyAtomInterface", [CopyAtomInterface]> {
  let cppNamespace = "::kiln";
  let description = [{
    One instruction by which the lanes of a warp read or write shared memory together: each lane
    names where a row of consecutive bytes begins, and the elements of the rows are spread over
    the lanes. Whether it can make a given move is a division: the move's map from registers and
    lanes to offsets must be the atom's tile times something, see `getTile`.
  }];
  let methods = [
    InterfaceMethod<[{
      From `register` and `lane` to the `dim0` of one row, in elements. A basis of zero says that
      the bit chooses among rows.
    }], "::kiln::LinearLayout", "getTile">,
    InterfaceMethod<[{
      Whose row each lane names: from `lane` to the `register` and `lane` of the row's first
      element.
    }], "::kiln::LinearLayout", "getNamedRows">,
    InterfaceMethod<[{
      Emits the instruction. `pointer` is where this lane's row begins; `registers`, for a write, a
      vector of the lane's elements. A read yields such a vector.
    }], "::mlir::Value", "emit",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Value":$pointer,
             "::mlir::Value":$registers)>,
  ];
}

#endif // KILN_LAYOUT_TRANSFORMS_WARPCOPYATOMINTERFACE_TD
