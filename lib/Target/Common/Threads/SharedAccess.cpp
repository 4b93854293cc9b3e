// Shared memory: where it is, and how registers go to it and come back.
#include "SharedAccess.h"
#include "ThreadPlans.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

Value kiln::getShared(ThreadContext &context, Operation *op) {
  auto module = context.function->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(kSharedSymbol)) {
    // The program's shared memory is one array; how big it is, each target says.
    OpBuilder::InsertionGuard guard(context);
    context.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(context, LLVM::LLVMArrayType::get(context.getI8Type(), 0),
                           /*isConstant=*/false, LLVM::Linkage::External, kSharedSymbol,
                           Attribute(), /*alignment=*/128, kSharedSpace);
  }
  auto type = LLVM::LLVMPointerType::get(context.getContext(), kSharedSpace);
  Value base = LLVM::AddressOfOp::create(context, type, kSharedSymbol);
  int32_t offset = op->getAttrOfType<IntegerAttr>(kSharedOffsetAttrName).getInt();
  Value place = LLVM::GEPOp::create(context, type, context.getI8Type(), base,
                                    ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(offset)});
  // Each copy of a role has scratch of its own.
  if (!context.role || context.role->attr.getCopies() == 1 || !getScratchBytes(op))
    return place;
  return getSharedAt(
      context, place,
      arith::MulIOp::create(context, context.role->copy, context.i32(getRoleScratchStep(op))));
}

Value kiln::getSharedAt(ThreadContext &context, Value base, Value bytes) {
  return LLVM::GEPOp::create(context, base.getType(), context.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(bytes)});
}

Type kiln::getSharedType(Type element) {
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 64);
  return IntegerType::get(element.getContext(), 8 * getSharedElementBytes(element));
}

Value kiln::toShared(ThreadContext &context, Value element) {
  Type type = element.getType(), shared = getSharedType(type);
  if (type.isIndex())
    return arith::IndexCastOp::create(context, shared, element);
  Type raw = context.getIntegerType(type.getIntOrFloatBitWidth());
  if (type != raw)
    element = arith::BitcastOp::create(context, raw, element);
  return raw == shared ? element : Value(arith::ExtUIOp::create(context, shared, element));
}

Value kiln::fromShared(ThreadContext &context, Value element, Type type) {
  if (type.isIndex())
    return arith::IndexCastOp::create(context, type, element);
  Type raw = context.getIntegerType(type.getIntOrFloatBitWidth());
  if (element.getType() != raw)
    element = arith::TruncIOp::create(context, raw, element);
  return raw == type ? element : Value(arith::BitcastOp::create(context, type, element));
}

/// Whether what shared memory holds is an element's bits and no more.
static bool isHeldAsIs(Type element) {
  return !element.isIndex() &&
         element.getIntOrFloatBitWidth() == getSharedType(element).getIntOrFloatBitWidth();
}

/// Several elements at once, for one access.
static Value toSharedVector(ThreadContext &context, ArrayRef<Value> elements) {
  Type type = elements.front().getType();
  if (isHeldAsIs(type))
    return castVector(context, context.getLoc(), makeVector(context, context.getLoc(), elements),
                      getSharedType(type));
  return makeVector(context, context.getLoc(), llvm::map_to_vector(elements, [&](Value element) {
                      return toShared(context, element);
                    }));
}

static SmallVector<Value> fromSharedVector(ThreadContext &context, Value vector, Type element) {
  if (isHeldAsIs(element))
    vector = castVector(context, context.getLoc(), vector, element);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < cast<VectorType>(vector.getType()).getNumElements(); ++i) {
    Value part = elementAt(context, context.getLoc(), vector, i);
    elements.push_back(isHeldAsIs(element) ? part : fromShared(context, part, element));
  }
  return elements;
}

Value kiln::getElementPointer(ThreadContext &context, Value base, Type stored, Value index) {
  if (index.getType().isIndex())
    index = arith::IndexCastOp::create(context, context.getI32Type(), index);
  return LLVM::GEPOp::create(context, base.getType(), stored, base,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(index)});
}

/// Where a register's element is, by a place among offsets. Registers that differ by bits that no
/// thread's offset has share an address and differ by a constant, which instructions hold.
static Value getSharedPointer(ThreadContext &context, Value base, Type stored,
                              const ThreadPlace &place, int64_t reg, int64_t start = 0) {
  int64_t constant = place.layout.applyTo(kRegister, reg)[0] ^ start;
  int64_t met = constant & place.threadBits[0];
  Value at = place.thread[0];
  if (met)
    at = arith::XOrIOp::create(context, at, context.index(met));
  Value pointer = getElementPointer(context, base, stored, at);
  if (constant == met)
    return pointer;
  return LLVM::GEPOp::create(context, base.getType(), stored, pointer,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(constant & ~met))});
}

void kiln::writeShared(ThreadContext &context, Value base, const LinearLayout &offsets,
                       ArrayRef<Value> elements) {
  Type element = elements.front().getType(), shared = getSharedType(element);
  unsigned bytes = getSharedElementBytes(element);
  VectorOrder order = getVectorOrder(offsets, kMostSharedBytes / bytes);
  ThreadPlace place = context.getPlace(order.offsets);
  for (int64_t reg = 0; reg < int64_t(elements.size()); reg += order.width) {
    Value pointer = getSharedPointer(context, base, shared, place, reg);
    SmallVector<Value> parts;
    for (int64_t i = 0; i < order.width; ++i)
      parts.push_back(elements[order.getRegister(reg + i)]);
    Value value =
        order.width > 1 ? toSharedVector(context, parts) : toShared(context, parts.front());
    LLVM::StoreOp::create(context, value, pointer, order.width * bytes);
  }
}

SmallVector<Value> kiln::readShared(ThreadContext &context, Value base, const LinearLayout &offsets,
                                    int64_t start, Type element) {
  Type shared = getSharedType(element);
  unsigned bytes = getSharedElementBytes(element);
  int64_t most = kMostSharedBytes / bytes;
  VectorOrder order = getVectorOrder(offsets, start ? std::min(most, start & -start) : most);
  ThreadPlace place = context.getPlace(order.offsets);
  Type type = shared;
  if (order.width > 1)
    type = VectorType::get({order.width}, shared);
  SmallVector<Value> elements(offsets.getInSize(kRegister));
  for (int64_t reg = 0; reg < int64_t(elements.size()); reg += order.width) {
    Value pointer = getSharedPointer(context, base, shared, place, reg, start);
    auto load = LLVM::LoadOp::create(context, type, pointer, order.width * bytes);
    if (order.width == 1) {
      elements[order.getRegister(reg)] = fromShared(context, load, element);
      continue;
    }
    for (auto [i, part] : llvm::enumerate(fromSharedVector(context, load, element)))
      elements[order.getRegister(reg + i)] = part;
  }
  return elements;
}

/// From the lanes that name rows, and the registers that choose among the atom's repetitions, to
/// the offsets where rows begin.
static LinearLayout getRowOffsets(const LinearLayout &offsets, WarpCopyAtomInterface atom) {
  LinearLayout rows = atom.getNamedRows();
  unsigned own = atom.getTile().getInBits(kRegister);
  LinearLayout::InDim registers{kRegister.str(), {}}, lanes{kLane.str(), {}};
  for (const LinearLayout::Basis &basis : offsets.getBases(kRegister).drop_front(own))
    registers.bases.push_back(basis);
  for (const LinearLayout::Basis &place : rows.getBases(kLane))
    lanes.bases.push_back(
        {offsets.applyTo(kRegister, place[0])[0] ^ offsets.applyTo(kLane, place[1])[0]});
  LinearLayout::InDim warps{kWarp.str(), {}};
  for (const LinearLayout::Basis &basis : offsets.getBases(kWarp))
    warps.bases.push_back(basis);
  return *LinearLayout::create({registers, lanes, warps}, offsets.getOuts());
}

SmallVector<Value> kiln::readRows(ThreadContext &context, Value base, const LinearLayout &offsets,
                                  int64_t start, Type element, WarpCopyAtomInterface atom) {
  LinearLayout rows = getRowOffsets(offsets, atom);
  ThreadPlace place = context.getPlace(rows);
  SmallVector<Value> elements;
  for (int64_t group = 0; group < rows.getInSize(kRegister); ++group) {
    Value pointer = getSharedPointer(context, base, getSharedType(element), place, group, start);
    Value value = atom.emit(context, context.getLoc(), pointer, Value());
    llvm::append_range(elements, fromSharedVector(context, value, element));
  }
  return elements;
}

void kiln::writeRows(ThreadContext &context, Value base, const LinearLayout &offsets,
                     WarpCopyAtomInterface atom, ArrayRef<Value> elements) {
  LinearLayout rows = getRowOffsets(offsets, atom);
  ThreadPlace place = context.getPlace(rows);
  int64_t count = atom.getTile().getInSize(kRegister);
  Type shared = getSharedType(elements.front().getType());
  for (int64_t group = 0; group < rows.getInSize(kRegister); ++group) {
    Value pointer = getSharedPointer(context, base, shared, place, group);
    atom.emit(context, context.getLoc(), pointer,
              toSharedVector(context, elements.slice(group * count, count)));
  }
}

/// From `offset` to coordinates.
static LinearLayout getOrder(BufferType buffer) {
  auto order = dyn_cast_or_null<LayoutAttr>(buffer.getLayout());
  return order ? order.toLinear(buffer.getShape()) : getRowMajorLayout(buffer.getShape());
}

LinearLayout kiln::getBufferOffsets(const LinearLayout &tensor, BufferType buffer) {
  bool isPart =
      ShapedType::getNumElements(tensor.getShape()) < ShapedType::getNumElements(buffer.getShape());
  if (!buffer.getLayout() && !isPart)
    return getSharedOffsets(tensor, nullptr);
  LinearLayout order = getOrder(buffer);
  return getSharedOffsets(tensor, &order);
}

int64_t kiln::getStart(ReadOp op) {
  std::optional<ArrayRef<int64_t>> offsets = op.getAt();
  return offsets ? getOrder(op.getBuffer().getType()).invert()->apply(*offsets)[0] : 0;
}
