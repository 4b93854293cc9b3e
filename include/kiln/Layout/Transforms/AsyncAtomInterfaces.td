// Instructions that run on while their warps go on, as the common passes see them.
#ifndef KILN_LAYOUT_TRANSFORMS_ASYNCATOMINTERFACES_TD
#define KILN_LAYOUT_TRANSFORMS_ASYNCATOMINTERFACES_TD

include "kiln/Dialect/Tile/IR/TileAtomInterfaces.td"

def AsyncMmaAtomInterface : AttrInterface<"AsyncMmaAtomInterface", [MmaAtomInterface]> {
  let cppNamespace = "::kiln";
  let description = [{
    A matrix instruction that starts to multiply an [m, k] by a [k, n] operand, of which at least
    one is read from shared memory. Either a few warps start it together, into registers that are
    theirs again once they have waited; or one thread does, into tensor memory, and the warps
    fetch the sums from there once it has ended. What warps have computed of operand a, such an
    instruction reads in tensor memory, where they write it.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether it multiplies elements of these types, of which unsigned integers are told apart, into
      sums of the third.
    }], "bool", "multiplies", (ins "::mlir::Type":$a, "::mlir::Type":$b, "::mlir::Type":$sum)>,
    InterfaceMethod<[{
      The same of blocks along k, each of which has a scale of this type. An instruction that takes
      scales multiplies nothing without.
    }], "bool", "multipliesScaled",
        (ins "::mlir::Type":$a, "::mlir::Type":$b, "::mlir::Type":$sum, "::mlir::Type":$scale), "",
        "return false;">,
    InterfaceMethod<[{
      Who holds which scales of operand a (0) or b (1), a row for each of its rows or columns, to
      write them to tensor memory, where such an instruction reads them; none if they cannot lie
      there so.
    }], "std::optional<::kiln::LinearLayout>", "getScaleLayout",
        (ins "unsigned":$operand, "::llvm::ArrayRef<int64_t>":$shape, "unsigned":$warps), "",
        "return std::nullopt;">,
    InterfaceMethod<[{
      Who holds what of an [m, n] accumulator that so many warps make, or fetch: from `register`,
      `lane` and `warp`. Rows beyond those of the instruction go to further warps first.
    }], "::kiln::LinearLayout", "getAccumulatorLayout",
        (ins "::llvm::ArrayRef<int64_t>":$shape, "unsigned":$warps)>,
    InterfaceMethod<[{
      Who holds what of operand a in registers, for the same warps, that it reads or that are written
      to tensor memory for it; none if it is always read from shared memory.
    }], "std::optional<::kiln::LinearLayout>", "getRegisterLayout",
        (ins "::llvm::ArrayRef<int64_t>":$shape, "unsigned":$warps)>,
    InterfaceMethod<[{
      How a buffer of this shape may lie in shared memory to be read as operand a (0) or b (1),
      best first: from `offset`, in elements, to its two coordinates. `transposed` as the dot has
      it: the buffer is then [k, m] or [n, k].
    }], "std::vector<::kiln::LinearLayout>", "getSharedLayouts",
        (ins "unsigned":$operand, "::llvm::ArrayRef<int64_t>":$shape, "bool":$transposed)>,
    InterfaceMethod<[{
      Starts the products of a whole dot and gives the accumulator's registers, or its address;
      fails if an operand lies as it cannot read it.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "start",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
             "const ::kiln::AsyncDot &":$dot)>,
    InterfaceMethod<[{
      The registers of an [m, n] accumulator whose address in tensor memory is given, which hold
      what `getAccumulatorLayout` says; fails if it is not one of its own.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "fetch",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Value":$address,
             "const ::kiln::LinearLayout &":$layout), "", "return ::mlir::failure();">,
    InterfaceMethod<[{
      Writes such registers there, or those of operand a, which hold what `getRegisterLayout` says,
      or those of scales, which hold what `getScaleLayout` says; fails in the same way.
    }], "::llvm::LogicalResult", "fill",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
             "::llvm::ArrayRef<::mlir::Value>":$registers, "::mlir::Value":$address,
             "const ::kiln::LinearLayout &":$layout), "", "return ::mlir::failure();">,
  ];
}

def EngineAtomInterface : AttrInterface<"EngineAtomInterface", [CopyAtomInterface]> {
  let cppNamespace = "::kiln";
  let description = [{
    An engine that copies tiles between global and shared memory by itself. One thread starts a
    copy; bounds are the engine's to check.
  }];
  let methods = [
    InterfaceMethod<[{
      The boxes by which it copies a buffer of this shape that lies so, from `offset` to the
      coordinates; none if it cannot. A null layout is row-major.
    }], "std::optional<::kiln::CopyBoxes>", "getBoxes",
        (ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$element,
             "const ::kiln::LinearLayout *":$layout)>,
    InterfaceMethod<[{
      Why it cannot copy from a view, or to one (`isWritten`), of which these facts are known, if
      any: one phrase without a full stop; none if it can.
    }], "std::optional<std::string>", "whyUnfit",
        (ins "::kiln::tile::ViewType":$view, "::kiln::tile::FactsAttr":$facts,
             "bool":$isWritten)>,
    InterfaceMethod<[{
      Copies one box from a view, given by its map, at these coordinates (i32, outermost first);
      the bytes are counted by the barrier. With a mask (i16), into the shared memory of each program
      of the cluster whose bit is set, where its own barrier counts them. With `ofPair` the barrier
      may be that of the other program of the pair; under a mask, of each program's pair the same one
      counts.
    }], "void", "copyIn",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Value":$map,
             "::mlir::ValueRange":$coordinates, "::mlir::Value":$shared,
             "::mlir::Value":$barrier, "::mlir::Value":$mask, "bool":$ofPair,
             "::kiln::tile::Eviction":$eviction)>,
    InterfaceMethod<"Copies one box to a view.", "void", "copyOut",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Value":$shared,
             "::mlir::Value":$map, "::mlir::ValueRange":$coordinates,
             "::kiln::tile::Eviction":$eviction)>,
  ];
}

def DirectAtomInterface : AttrInterface<"DirectAtomInterface", [CopyAtomInterface]> {
  let cppNamespace = "::kiln";
  let description = [{
    An instruction by which each lane of a warp loads a few bytes of its own, its granularity, from
    global memory, and all of them go into shared memory past the registers, lane by lane behind one another. So a
    buffer's permutations are made where the lanes read: any buffer is admitted in which the bytes
    of a lane are consecutive elements of a row, whatever the order of these pieces.
  }];
  let methods = [
    InterfaceMethod<[{
      For how many cycles one instruction of a warp occupies the way into shared memory.
    }], "int64_t", "getIssueCycles", (ins "const ::kiln::Chip &":$chip)>,
    InterfaceMethod<[{
      Whether each lane says where its bytes go; if not, the warp says where the first lane's do.
    }], "bool", "namesLanePlaces">,
    InterfaceMethod<[{
      Whether a lane can say how many of its bytes are in bounds; if not, all of them are, or none.
    }], "bool", "fillsInPart">,
    InterfaceMethod<[{
      Whether a lane says where its bytes come from by 32 bits beside a descriptor; if not, by an
      address.
    }], "bool", "countsIn32Bits">,
    InterfaceMethod<[{
      Makes one copy for each lane. What is out of bounds is zero in shared memory.
    }], "void", "copy",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
             "const ::kiln::DirectCopy &":$copy)>,
  ];
}

#endif // KILN_LAYOUT_TRANSFORMS_ASYNCATOMINTERFACES_TD
