// Pads tensors to extents that are powers of two where products do not say that they stay, and
// keeps what was added from being observed.
#include "DecidedExtents.h"
#include "Padding.h"
#include "ProductCandidate.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace kiln {
#define GEN_PASS_DEF_SPLITSHAPES
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// A constant's elements at their places in the padded shape; any others are zero.
static TypedAttr padConstant(DenseElementsAttr elements, RankedTensorType type) {
  if (elements.isSplat())
    return cast<TypedAttr>(Attribute(
        DenseElementsAttr::get(type, ArrayRef<Attribute>(elements.getSplatValue<Attribute>()))));
  Attribute zero = Builder(type.getContext()).getZeroAttr(type.getElementType());
  SmallVector<Attribute> values(type.getNumElements(), zero);
  ArrayRef<int64_t> extents = elements.getType().getShape();
  for (auto [flat, value] : llvm::enumerate(elements.getValues<Attribute>())) {
    int64_t rest = flat, at = 0, stride = 1;
    for (int64_t dim = extents.size() - 1; dim >= 0; --dim) {
      at += rest % extents[dim] * stride;
      rest /= extents[dim];
      stride *= type.getDimSize(dim);
    }
    values[at] = value;
  }
  return cast<TypedAttr>(Attribute(DenseElementsAttr::get(type, values)));
}

/// Where the elements of a row-major tensor stand once its extents are padded.
static SmallVector<int64_t> getPaddedPlaces(ArrayRef<int64_t> extents) {
  SmallVector<int64_t> places = {0};
  for (int64_t extent : extents) {
    SmallVector<int64_t> next;
    for (int64_t place : places)
      for (int64_t i = 0; i < extent; ++i)
        next.push_back(place * int64_t(llvm::PowerOf2Ceil(extent)) + i);
    places = std::move(next);
  }
  return places;
}

/// Whether a reshape takes what has grown to what has grown, element by element.
static bool keepsPlaces(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  auto count = [](ArrayRef<int64_t> shape) {
    int64_t elements = 1;
    for (int64_t extent : shape)
      elements *= int64_t(llvm::PowerOf2Ceil(extent));
    return elements;
  };
  return count(from) == count(to) && getPaddedPlaces(from) == getPaddedPlaces(to);
}

namespace {
/// One kernel: first all types grow, then each op that would observe a padded element is told.
class SplitShapesOf {
public:
  SplitShapesOf(KernelOp kernel, TargetInterface target)
      : kernel(kernel), target(target), builder(kernel), padding(builder) {}

  LogicalResult run() {
    if (failed(obeyProducts()))
      return failure();
    SmallVector<Operation *> ops;
    auto touches = [](Type type) { return getPaddedType(type) != type; };
    kernel.getBody().walk([&](Operation *op) {
      if (llvm::any_of(op->getOperandTypes(), touches) ||
          llvm::any_of(op->getResultTypes(), touches))
        ops.push_back(op);
    });
    // Slots are what both of their sides agreed on: they do not grow.
    WalkResult slots = kernel.getBody().walk([&](ChannelOp op) -> WalkResult {
      ArrayRef<Type> buffers = op.getType().getBuffers();
      if (llvm::none_of(buffers, touches))
        return WalkResult::advance();
      return op.emitOpError("expected extents that are powers of two in slots, got ")
             << *llvm::find_if(buffers, touches);
    });
    if (slots.wasInterrupted())
      return failure();
    for (Operation *op : ops) {
      if (isa<InlineAsmOp, ExternCallOp>(op) && !isMemoryEffectFree(op))
        return op->emitOpError("expected extents that are powers of two around code with effects");
      if (failed(checkAtom(op)) || failed(checkReshape(op)))
        return failure();
    }
    kernel.getBody().walk([&](Block *block) {
      for (BlockArgument argument : block->getArguments())
        grow(argument);
      for (Operation &op : *block)
        for (Value result : op.getResults())
          grow(result);
    });
    for (Operation *op : ops) {
      builder.setInsertionPoint(op);
      guard(op);
    }
    return success();
  }

private:
  /// Cuts the products that say so, and finds what stays as it is, by what all say.
  LogicalResult obeyProducts() {
    SmallVector<DotOp> decided, cut;
    kernel.getBody().walk([&](DotOp dot) {
      DenseI64ArrayAttr extents = getDecidedExtents(dot);
      if (extents)
        decided.push_back(dot);
      if (extents && extents.size() > 3)
        cut.push_back(dot);
    });
    if (decided.empty())
      return success();
    if (failed(requireTarget(kernel)))
      return failure();
    ExtentClasses classes(kernel, target);
    if (failed(checkDecidedExtents(kernel, target, classes)))
      return failure();
    for (DotOp dot : cut)
      cutProduct(dot);
    kept = KeptExtents(kernel, cut.empty() ? std::move(classes) : ExtentClasses(kernel, target));
    kernel.getBody().walk([](DotOp dot) { dot->removeAttr(kExtentsAttrName); });
    return success();
  }

  /// The type of a value whose extents grow, but for those that stay.
  Type getGrown(Value value) const {
    Type padded = getPaddedType(value.getType());
    auto tensor = dyn_cast<RankedTensorType>(padded);
    if (!tensor)
      return padded;
    SmallVector<int64_t> shape(tensor.getShape());
    for (auto [dim, extent] : llvm::enumerate(cast<RankedTensorType>(value.getType()).getShape()))
      if (kept.isKept(value, dim))
        shape[dim] = extent;
    return RankedTensorType::get(shape, tensor.getElementType(), tensor.getEncoding());
  }

  static LogicalResult refuseInner(DotOp dot, MmaAtomInterface atom, unsigned operand) {
    InFlightDiagnostic error =
        dot.emitOpError("expected an inner extent that is a power of two, since ")
        << atom << " reads operand " << "ab"[operand] << " from memory, got " << dot.getK();
    Diagnostic &note = error.attachNote(dot.getLoc());
    if (int64_t step = atom.getExtents()[2]; dot.getK() % step) {
      note << "it multiplies " << step << " of it at a time";
      return error;
    }
    RoleAttr role = lookUpRole(dot);
    note << "operands a of " << dot.getM() << " by " << dot.getK() << " and b of " << dot.getK()
         << " by " << dot.getN();
    if (role && role.getCopies() > 1)
      note << ", of which " << role.getCopies() << " copies ('copies') read parts,";
    note
        << " lie in memory as they are if one extent of each is no power of two, at most, and what "
           "counts it are the highest bits of their order";
    return error;
  }

  /// What an instruction reads in shared memory is the whole tile, with what was added.
  LogicalResult checkAtom(Operation *op) const {
    auto dot = dyn_cast<DotOp>(op);
    auto atom =
        dot ? dyn_cast_or_null<MmaAtomInterface>(getDecidedAtom(dot, target)) : MmaAtomInterface();
    auto keepsK = [&] { return kept.isKept(dot.getA(), dot.getTransposeA() ? 0 : 1); };
    for (unsigned operand = 0; atom && operand < 2; ++operand)
      if (!llvm::isPowerOf2_64(dot.getK()) && !keepsK() && !takesComputed(atom, operand))
        return refuseInner(dot, atom, operand);
    return success();
  }

  /// Elements of what has grown move through a buffer, for which warps of a role would have to
  /// meet.
  LogicalResult checkReshape(Operation *op) const {
    auto reshape = dyn_cast<ReshapeOp>(op);
    if (!reshape || !kernel->hasAttr(kRolesAttrName))
      return success();
    ArrayRef<int64_t> from = reshape.getInput().getType().getShape();
    if (keepsPlaces(from, reshape.getType().getShape()))
      return success();
    return op->emitOpError("expected extents that are powers of two of what a role reshapes, got ")
           << reshape.getInput().getType() << " as " << reshape.getType();
  }

  void grow(Value value) {
    Type type = getGrown(value);
    if (type == value.getType())
      return;
    if (auto original = dyn_cast<RankedTensorType>(value.getType())) {
      padding.remember(value, original);
      if (auto constant = value.getDefiningOp<arith::ConstantOp>())
        constant.setValueAttr(padConstant(cast<DenseElementsAttr>(constant.getValue()),
                                          cast<RankedTensorType>(type)));
    }
    value.setType(type);
  }

  DenseI64ArrayAttr getExtentsAttr(Value value) {
    std::optional<ArrayRef<int64_t>> extents = padding.getExtents(value);
    return extents ? builder.getDenseI64ArrayAttr(*extents) : DenseI64ArrayAttr();
  }

  Attribute zeroOf(Value value) { return builder.getZeroAttr(getElementTypeOrSelf(value)); }

  /// The mask of an access, without elements that were not there.
  void guardMask(Operation *op, Value shaped, MutableOperandRange mask) {
    if (Value valid = padding.getValid(shaped)) {
      if (!mask.empty())
        valid = padding.fill(mask[0].get(), zeroOf(mask[0].get()));
      mask.assign(valid);
    }
  }

  void guardFill(OpOperand &operand, Attribute fill, ArrayRef<unsigned> dims) {
    operand.set(padding.fill(operand.get(), fill, dims));
  }

  void skip(Operation *op, Value valid) {
    SmallVector<Value> before(op->getResults());
    SmallVector<std::optional<RankedTensorType>> originals;
    for (Value result : before) {
      auto extents = padding.getExtents(result);
      originals.push_back(std::nullopt);
      if (extents)
        originals.back() = cast<RankedTensorType>(result.getType()).clone(*extents);
    }
    Operation *made = skipInvalid(builder, op, valid);
    for (auto [result, original] : llvm::zip(made->getResults(), originals))
      if (original)
        padding.remember(result, *original);
  }

  void guardCombine(Operation *op, unsigned axis) {
    Value first = op->getOperand(0);
    auto extents = padding.getExtents(first);
    if (!extents || (*extents)[axis] == cast<RankedTensorType>(first.getType()).getDimSize(axis))
      return;
    SmallVector<Attribute> identities;
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      identities.push_back(getIdentity(op->getRegion(0).front(), i));
    if (!llvm::all_of(identities, [](Attribute identity) { return bool(identity); }))
      return skip(op, padding.getValid(first, {axis}));
    for (auto [operand, identity] : llvm::zip(op->getOpOperands(), identities))
      guardFill(operand, identity, {axis});
  }

  /// K must be zeros on both sides: zero times what is not a number is not zero.
  void guardDot(DotOp op) {
    for (OpOperand *operand : {&op.getAMutable(), &op.getBMutable()}) {
      auto type = dyn_cast<RankedTensorType>(operand->get().getType());
      if (!type)
        continue;
      bool isA = operand == &op.getAMutable();
      bool last = isA ? !op.getTransposeA() : op.getTransposeB();
      guardFill(*operand, zeroBitsOf(operand->get()), {unsigned(type.getRank() - (last ? 1 : 2))});
    }
    for (OpOperand &scales : op.getScalesMutable())
      guardFill(scales, zeroBitsOf(scales.get()), {1});
  }

  void guardReshape(ReshapeOp op, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
    if (keepsPlaces(from, to))
      return;
    RankedTensorType type = op.getInput().getType(), stored = getStoredType(op.getType());
    auto bufferType = BufferType::get(builder.getContext(), ShapedType::getNumElements(from),
                                      stored.getElementType(), {});
    Value buffer = AllocOp::create(builder, op.getLoc(), bufferType);
    WriteOp::create(builder, op.getLoc(), makeStored(builder, op.getLoc(), op.getInput()), buffer,
                    builder.getDenseI64ArrayAttr(from), Attribute());
    Value read = ReadOp::create(builder, op.getLoc(), stored, buffer,
                                builder.getDenseI64ArrayAttr(to), Attribute());
    read = unmakeStored(builder, op.getLoc(), read, op.getType());
    if (auto extents = padding.getExtents(op.getResult()))
      padding.remember(read, type.clone(*extents));
    op.replaceAllUsesWith(read);
    op.erase();
  }

  /// Appends exact pieces of `value` along an axis: its extent is a sum of powers of two.
  void addPieces(Value value, int64_t extent, unsigned axis, SmallVectorImpl<Value> &pieces) {
    auto type = cast<RankedTensorType>(value.getType());
    if (extent == type.getDimSize(axis)) {
      pieces.push_back(value);
      return;
    }
    SmallVector<int64_t> shape(type.getShape()), offsets(shape.size(), 0);
    for (int64_t rest = extent; rest > 0; rest -= shape[axis]) {
      shape[axis] = llvm::bit_floor(uint64_t(rest));
      pieces.push_back(SliceOp::create(builder, value.getLoc(), type.clone(shape), value, offsets));
      offsets[axis] += shape[axis];
    }
  }

  void guardConcat(ConcatOp op) {
    unsigned axis = op.getAxis();
    SmallVector<Value> pieces;
    for (Value input : op.getInputs()) {
      auto extents = padding.getExtents(input);
      int64_t extent =
          extents ? (*extents)[axis] : cast<RankedTensorType>(input.getType()).getDimSize(axis);
      addPieces(input, extent, axis, pieces);
    }
    RankedTensorType type = op.getType();
    auto extents = padding.getExtents(op.getResult());
    SmallVector<int64_t> shape(type.getShape());
    for (int64_t rest = extents ? shape[axis] - (*extents)[axis] : 0; rest > 0;) {
      int64_t piece = rest & -rest;
      rest -= piece;
      SmallVector<int64_t> pieceShape = shape;
      pieceShape[axis] = piece;
      RankedTensorType pieceType = type.clone(pieceShape);
      pieces.push_back(arith::ConstantOp::create(builder, op.getLoc(),
                                                 cast<TypedAttr>(builder.getZeroAttr(pieceType))));
    }
    op.getInputsMutable().assign(pieces);
  }

  /// What is sliced must reach as far as the padded result does.
  void guardSlice(SliceOp op) {
    for (int64_t axis = 0; axis < op.getType().getRank(); ++axis) {
      RankedTensorType type = op.getInput().getType();
      if (op.getOffsets()[axis] + op.getType().getDimSize(axis) <= type.getDimSize(axis))
        continue;
      Value more = arith::ConstantOp::create(builder, op.getLoc(),
                                             cast<TypedAttr>(builder.getZeroAttr(type)));
      SmallVector<int64_t> shape(type.getShape());
      shape[axis] *= 2;
      op.getInputMutable().assign(ConcatOp::create(builder, op.getLoc(), type.clone(shape),
                                                   ValueRange{op.getInput(), more}, axis));
    }
  }

  /// Three times a power of two bits, as elements of 6 bits have, become another number of them.
  void guardBitcast(BitcastOp op) {
    auto getRowBits = [](RankedTensorType type) {
      return type.getShape().back() * int64_t(type.getElementTypeBitWidth());
    };
    if (!op.getExtents() && getRowBits(op.getInput().getType()) != getRowBits(op.getType()))
      op.setExtents(shapeBefore(op.getResult()));
  }

  void guardPrint(PrintOp op) {
    // Tensors of one op may differ in shape, and only some may have grown.
    for (Value value : op.getValues())
      PrintOp::create(builder, op.getLoc(), op.getPrefixAttr(), value, op.getHexAttr(),
                      op.getUnsignedValuesAttr(), getExtentsAttr(value), op.getProgram());
    op.erase();
  }

  void guard(Operation *op) {
    TypeSwitch<Operation *>(op)
        .Case<LoadOp>([&](LoadOp load) {
          if (!load.getExtents())
            load.setExtentsAttr(getExtentsAttr(load.getResult()));
        })
        .Case<StoreOp>([&](StoreOp store) {
          if (!store.getExtents())
            store.setExtentsAttr(getExtentsAttr(store.getValue()));
        })
        .Case<GatherOp, AtomicRMWOp, AtomicCASOp>(
            [&](auto access) { guardMask(op, access.getResult(), access.getMaskMutable()); })
        .Case<ScatterOp>(
            [&](ScatterOp scatter) { guardMask(op, scatter.getValue(), scatter.getMaskMutable()); })
        .Case<HistogramOp>([&](HistogramOp histogram) {
          guardMask(op, histogram.getInput(), histogram.getMaskMutable());
        })
        .Case<ReduceOp>([&](ReduceOp reduce) { guardCombine(op, reduce.getAxis()); })
        .Case<ScanOp>([&](ScanOp scan) {
          // Forward, what was added comes last.
          if (scan.getReverse())
            guardCombine(op, scan.getAxis());
        })
        .Case<SortOp>([&](SortOp sort) {
          OpOperand &keys = op->getOpOperand(0);
          guardFill(keys,
                    getLastKey(getElementTypeOrSelf(keys.get()), sort.getDescending(),
                               sort.getUnsignedKeys()),
                    {unsigned(sort.getAxis())});
        })
        .Case<TopKOp>([&](TopKOp topk) {
          OpOperand &keys = op->getOpOperand(0);
          guardFill(keys,
                    getLastKey(getElementTypeOrSelf(keys.get()), !topk.getSmallest(),
                               topk.getUnsignedKeys()),
                    {unsigned(topk.getAxis())});
        })
        .Case<TakeOp>([&](TakeOp take) {
          // A position in what was added is outside.
          OpOperand &input = op->getOpOperand(0);
          guardFill(input, zeroBitsOf(input.get()), {unsigned(take.getAxis())});
        })
        .Case<DotOp>([&](DotOp dot) { guardDot(dot); })
        .Case<DotScaledOp>([&](DotScaledOp dot) {
          for (OpOperand &operand : op->getOpOperands())
            if (operand.get() != dot.getAccumulator())
              operand.set(padding.fill(operand.get(), zeroBitsOf(operand.get())));
        })
        .Case<WriteOp>([&](WriteOp write) {
          if (!write.getExtents())
            write.getValueMutable().assign(
                padding.fill(write.getValue(), zeroOf(write.getValue())));
        })
        .Case<AssertOp>([&](AssertOp assertion) {
          assertion.getConditionMutable().assign(
              padding.fill(assertion.getCondition(), builder.getBoolAttr(true)));
        })
        .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
              arith::CeilDivUIOp, arith::FloorDivSIOp>([&](auto) {
          OpOperand &divisor = op->getOpOperand(1);
          divisor.set(padding.fill(divisor.get(),
                                   builder.getIntegerAttr(getElementTypeOrSelf(divisor.get()), 1)));
        })
        .Case<ReshapeOp>([&](ReshapeOp reshape) {
          guardReshape(reshape, shapeBefore(reshape.getInput()), shapeBefore(reshape.getResult()));
        })
        .Case<ConcatOp>([&](ConcatOp concat) { guardConcat(concat); })
        .Case<SliceOp>([&](SliceOp slice) { guardSlice(slice); })
        .Case<BitcastOp>([&](BitcastOp bitcast) { guardBitcast(bitcast); })
        .Case<PrintOp>([&](PrintOp print) { guardPrint(print); });
  }

  ArrayRef<int64_t> shapeBefore(Value value) {
    auto extents = padding.getExtents(value);
    return extents ? *extents : cast<RankedTensorType>(value.getType()).getShape();
  }

  /// Scales have no zero in some formats; all bits zero is a number in each.
  Attribute zeroBitsOf(Value value) {
    auto type = dyn_cast<FloatType>(getElementTypeOrSelf(value));
    if (!type)
      return zeroOf(value);
    return FloatAttr::get(type, APFloat(type.getFloatSemantics(), APInt::getZero(type.getWidth())));
  }

  KernelOp kernel;
  TargetInterface target;
  OpBuilder builder;
  Padding padding;
  KeptExtents kept;
};

struct SplitShapes : kiln::impl::SplitShapesBase<SplitShapes> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(SplitShapesOf(kernel, getTarget(kernel)).run()))
        return signalPassFailure();
  }
};
} // namespace
