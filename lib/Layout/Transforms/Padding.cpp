// Masks of padded tensors, and values that make padded elements harmless.
#include "Padding.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static SmallVector<int64_t> getPaddedShape(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> padded;
  for (int64_t extent : shape)
    padded.push_back(llvm::PowerOf2Ceil(extent));
  return padded;
}

Type kiln::getPaddedType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return RankedTensorType::get(getPaddedShape(tensor.getShape()), tensor.getElementType(),
                                 tensor.getEncoding());
  if (auto buffer = dyn_cast<BufferType>(type))
    return BufferType::get(type.getContext(), getPaddedShape(buffer.getShape()),
                           buffer.getElementType(), buffer.getLayout());
  return type;
}

bool kiln::isPadded(RankedTensorType original) {
  return !llvm::all_of(original.getShape(),
                       [](int64_t extent) { return llvm::isPowerOf2_64(extent); });
}

std::optional<ArrayRef<int64_t>> Padding::getExtents(Value value) const {
  auto found = originals.find(value);
  if (found == originals.end())
    return std::nullopt;
  return found->second.getShape();
}

Value Padding::getValid(Value value, ArrayRef<unsigned> dims) {
  std::optional<ArrayRef<int64_t>> extents = getExtents(value);
  if (!extents)
    return {};
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  RankedTensorType positions = type.clone(builder.getI32Type());
  // One mask for all in a block that ask alike: ops are visited in order.
  SmallVector<int64_t> bounds(type.getShape());
  for (unsigned dim : dims)
    bounds[dim] = (*extents)[dim];
  if (ArrayRef<int64_t>(bounds) == type.getShape())
    return {};
  Value &valid = masks[{builder.getInsertionBlock(), positions.clone(bounds)}];
  if (valid && valid.getType() == positions.clone(builder.getI1Type()))
    return valid;
  valid = {};
  for (unsigned dim : dims) {
    int64_t extent = (*extents)[dim];
    if (extent == type.getDimSize(dim))
      continue;
    Value bound = arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(positions, builder.getI32IntegerAttr(extent)));
    Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                        IotaOp::create(builder, loc, positions, dim), bound);
    valid = valid ? Value(arith::AndIOp::create(builder, loc, valid, below)) : below;
  }
  return valid;
}

static SmallVector<unsigned> allDims(Value value) {
  return llvm::to_vector(llvm::seq<unsigned>(0, cast<RankedTensorType>(value.getType()).getRank()));
}

Value Padding::getValid(Value value) { return getValid(value, allDims(value)); }

/// Whether what a load did not read has come here as zero bits that mean zero. A reshape that is
/// left takes padded elements to padded ones. What an instruction brings into a buffer is all that
/// the view has there.
static bool isZeroOutside(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncFOp,
                      arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp, ReshapeOp, TransposeOp>(
          op))
    return isZeroOutside(op->getOperand(0));
  auto load = dyn_cast_or_null<LoadOp>(op);
  return load && !load.getPadding() && !fillsBuffer(load);
}

Value Padding::fill(Value value, Attribute fill, ArrayRef<unsigned> dims) {
  Value valid = getValid(value, dims);
  auto type = cast<RankedTensorType>(value.getType());
  if (!valid || (fill == builder.getZeroAttr(type.getElementType()) && isZeroOutside(value)))
    return value;
  Value rest = arith::ConstantOp::create(builder, value.getLoc(),
                                         DenseElementsAttr::get(type, ArrayRef(fill)));
  return arith::SelectOp::create(builder, value.getLoc(), valid, value, rest);
}

Value Padding::fill(Value value, Attribute attribute) {
  return fill(value, attribute, allDims(value));
}

//===- Harmless values ----------------------------------------------------------------------===//

Attribute kiln::getIdentity(Block &combiner, unsigned index) {
  unsigned count = combiner.getNumArguments() / 2;
  Operation *op = combiner.getTerminator()->getOperand(index).getDefiningOp();
  if (!op || op->getNumOperands() != 2)
    return {};
  Value left = combiner.getArgument(index), right = combiner.getArgument(count + index);
  if (!(op->getOperand(0) == left && op->getOperand(1) == right) &&
      !(op->getOperand(0) == right && op->getOperand(1) == left))
    return {};
  Type type = left.getType();
  auto integer = [&](auto extreme) -> Attribute {
    unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    return IntegerAttr::get(type, extreme(bits));
  };
  auto infinity = [&](bool negative) -> Attribute {
    const llvm::fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
    if (!APFloat::semanticsHasInf(semantics))
      return {};
    return FloatAttr::get(type, APFloat::getInf(semantics, negative));
  };
  auto nan = [&]() -> Attribute {
    const llvm::fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
    return APFloat::semanticsHasNaN(semantics)
               ? Attribute(FloatAttr::get(type, APFloat::getNaN(semantics)))
               : Attribute();
  };
  auto zero = [](unsigned bits) { return APInt::getZero(bits); };
  return TypeSwitch<Operation *, Attribute>(op)
      .Case<arith::AddFOp>([&](auto) { return FloatAttr::get(type, -0.0); })
      .Case<arith::MulFOp>([&](auto) { return FloatAttr::get(type, 1.0); })
      .Case<arith::MaximumFOp>([&](auto) { return infinity(true); })
      .Case<arith::MinimumFOp>([&](auto) { return infinity(false); })
      .Case<arith::MaxNumFOp, arith::MinNumFOp>([&](auto) { return nan(); })
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](auto) { return integer(zero); })
      .Case<arith::MulIOp>(
          [&](auto) { return integer([](unsigned bits) { return APInt(bits, 1); }); })
      .Case<arith::AndIOp, arith::MinUIOp>([&](auto) { return integer(APInt::getAllOnes); })
      .Case<arith::MaxSIOp>([&](auto) { return integer(APInt::getSignedMinValue); })
      .Case<arith::MinSIOp>([&](auto) { return integer(APInt::getSignedMaxValue); })
      .Default(Attribute());
}

Attribute kiln::getLastKey(Type type, bool descending, bool isUnsigned) {
  if (auto real = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    if (APFloat::semanticsHasNaN(semantics))
      return FloatAttr::get(type, APFloat::getNaN(semantics));
    return FloatAttr::get(type, APFloat::getLargest(semantics, /*Negative=*/descending));
  }
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  if (isUnsigned)
    return IntegerAttr::get(type, descending ? APInt::getMinValue(bits) : APInt::getMaxValue(bits));
  return IntegerAttr::get(type, descending ? APInt::getSignedMinValue(bits)
                                           : APInt::getSignedMaxValue(bits));
}

Operation *kiln::skipInvalid(OpBuilder &builder, Operation *op, Value valid) {
  Location loc = op->getLoc();
  unsigned count = op->getNumOperands();
  SmallVector<Value> inputs(op->getOperands());
  inputs.push_back(valid);
  SmallVector<Type> results(op->getResultTypes());
  results.push_back(cast<RankedTensorType>(results.front()).clone(builder.getI1Type()));
  OperationState state(loc, op->getName(), inputs, results, op->getAttrs());
  Region *region = state.addRegion();
  Block &before = op->getRegion(0).front();

  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types;
  for (unsigned side = 0; side < 2; ++side) {
    for (unsigned i = 0; i < count; ++i)
      types.push_back(before.getArgument(i).getType());
    types.push_back(builder.getI1Type());
  }
  Block *body = builder.createBlock(region, {}, types, SmallVector<Location>(types.size(), loc));
  IRMapping mapping;
  for (unsigned i = 0; i < count; ++i) {
    mapping.map(before.getArgument(i), body->getArgument(i));
    mapping.map(before.getArgument(count + i), body->getArgument(count + 1 + i));
  }
  for (Operation &inner : before.without_terminator())
    builder.clone(inner, mapping);
  Value left = body->getArgument(count), right = body->getArgument(2 * count + 1);
  SmallVector<Value> yielded;
  for (auto [i, value] : llvm::enumerate(before.getTerminator()->getOperands())) {
    Value both = arith::SelectOp::create(builder, loc, right, mapping.lookupOrDefault(value),
                                         body->getArgument(i));
    yielded.push_back(
        arith::SelectOp::create(builder, loc, left, both, body->getArgument(count + 1 + i)));
  }
  yielded.push_back(arith::OrIOp::create(builder, loc, left, right));
  tile::YieldOp::create(builder, loc, yielded);

  builder.setInsertionPoint(op);
  Operation *made = builder.create(state);
  op->replaceAllUsesWith(made->getResults().drop_back());
  op->erase();
  return made;
}
