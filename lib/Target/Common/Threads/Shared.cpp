// Shared memory: where it is, and how registers go to it and come back.
#include "ThreadLowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

Value ThreadLowering::getShared(Operation *op) {
  auto module = function->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(kSharedSymbol)) {
    // The program's shared memory is one array; how big it is, each target says.
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(builder, loc, LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
                           /*isConstant=*/false, LLVM::Linkage::External, kSharedSymbol,
                           Attribute(), /*alignment=*/128, kSharedSpace);
  }
  auto type = LLVM::LLVMPointerType::get(builder.getContext(), kSharedSpace);
  Value base = LLVM::AddressOfOp::create(builder, loc, type, kSharedSymbol);
  int32_t offset = op->getAttrOfType<IntegerAttr>(kSharedOffsetAttrName).getInt();
  Value place = LLVM::GEPOp::create(builder, loc, type, builder.getI8Type(), base,
                                    ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(offset)});
  // Each copy of a role has scratch of its own.
  if (!role || role->attr.getCopies() == 1 || !getScratchBytes(op))
    return place;
  return getSharedAt(place,
                     arith::MulIOp::create(builder, loc, role->copy, i32(getRoleScratchStep(op))));
}

/// What shared memory holds for an element: a whole number of bytes.
Type kiln::getSharedType(Type element) {
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 64);
  return IntegerType::get(element.getContext(), 8 * getSharedElementBytes(element));
}

Value kiln::toShared(OpBuilder &builder, Location loc, Value element) {
  Type type = element.getType(), shared = getSharedType(type);
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, shared, element);
  Type raw = builder.getIntegerType(type.getIntOrFloatBitWidth());
  if (type != raw)
    element = arith::BitcastOp::create(builder, loc, raw, element);
  return raw == shared ? element : Value(arith::ExtUIOp::create(builder, loc, shared, element));
}

Value kiln::fromShared(OpBuilder &builder, Location loc, Value element, Type type) {
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, element);
  Type raw = builder.getIntegerType(type.getIntOrFloatBitWidth());
  if (element.getType() != raw)
    element = arith::TruncIOp::create(builder, loc, raw, element);
  return raw == type ? element : Value(arith::BitcastOp::create(builder, loc, type, element));
}

/// Whether what shared memory holds is an element's bits and no more.
static bool isHeldAsIs(Type element) {
  return !element.isIndex() &&
         element.getIntOrFloatBitWidth() == getSharedType(element).getIntOrFloatBitWidth();
}

/// Several elements at once, for one access.
static Value toSharedVector(OpBuilder &builder, Location loc, ArrayRef<Value> elements) {
  Type type = elements.front().getType();
  if (isHeldAsIs(type))
    return castVector(builder, loc, makeVector(builder, loc, elements), getSharedType(type));
  return makeVector(builder, loc, llvm::map_to_vector(elements, [&](Value element) {
                      return toShared(builder, loc, element);
                    }));
}

static SmallVector<Value> fromSharedVector(OpBuilder &builder, Location loc, Value vector,
                                           Type element) {
  if (isHeldAsIs(element))
    vector = castVector(builder, loc, vector, element);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < cast<VectorType>(vector.getType()).getNumElements(); ++i) {
    Value part = elementAt(builder, loc, vector, i);
    elements.push_back(isHeldAsIs(element) ? part : fromShared(builder, loc, part, element));
  }
  return elements;
}

Value ThreadLowering::getElementPointer(Value base, Type stored, Value index) {
  if (index.getType().isIndex())
    index = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
  return LLVM::GEPOp::create(builder, loc, base.getType(), stored, base,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(index)});
}

Value ThreadLowering::getSharedPointer(Value base, Type stored, const Place &place, int64_t reg,
                                       int64_t start) {
  int64_t constant = place.layout.applyTo(kRegister, reg)[0] ^ start;
  int64_t met = constant & place.threadBits[0];
  Value at = place.thread[0];
  if (met)
    at = arith::XOrIOp::create(builder, loc, at, index(met));
  Value pointer = getElementPointer(base, stored, at);
  if (constant == met)
    return pointer;
  return LLVM::GEPOp::create(builder, loc, base.getType(), stored, pointer,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(constant & ~met))});
}

void ThreadLowering::writeShared(Value base, const LinearLayout &offsets,
                                 ArrayRef<Value> elements) {
  Type element = elements.front().getType(), shared = getSharedType(element);
  unsigned bytes = getSharedElementBytes(element);
  VectorOrder order = getVectorOrder(offsets, kMostSharedBytes / bytes);
  Place place = getPlace(order.offsets);
  for (int64_t reg = 0; reg < int64_t(elements.size()); reg += order.width) {
    Value pointer = getSharedPointer(base, shared, place, reg);
    SmallVector<Value> parts;
    for (int64_t i = 0; i < order.width; ++i)
      parts.push_back(elements[order.getRegister(reg + i)]);
    Value value = order.width > 1 ? toSharedVector(builder, loc, parts)
                                  : toShared(builder, loc, parts.front());
    LLVM::StoreOp::create(builder, loc, value, pointer, order.width * bytes);
  }
}

SmallVector<Value> ThreadLowering::readShared(Value base, const LinearLayout &offsets,
                                              int64_t start, Type element) {
  Type shared = getSharedType(element);
  unsigned bytes = getSharedElementBytes(element);
  int64_t most = kMostSharedBytes / bytes;
  VectorOrder order = getVectorOrder(offsets, start ? std::min(most, start & -start) : most);
  Place place = getPlace(order.offsets);
  Type type = shared;
  if (order.width > 1)
    type = VectorType::get({order.width}, shared);
  SmallVector<Value> elements(offsets.getInSize(kRegister));
  for (int64_t reg = 0; reg < int64_t(elements.size()); reg += order.width) {
    Value pointer = getSharedPointer(base, shared, place, reg, start);
    auto load = LLVM::LoadOp::create(builder, loc, type, pointer, order.width * bytes);
    if (order.width == 1) {
      elements[order.getRegister(reg)] = fromShared(builder, loc, load, element);
      continue;
    }
    for (auto [i, part] : llvm::enumerate(fromSharedVector(builder, loc, load, element)))
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

SmallVector<Value> ThreadLowering::readRows(Value base, const LinearLayout &offsets, int64_t start,
                                            Type element, WarpCopyAtomInterface atom) {
  LinearLayout rows = getRowOffsets(offsets, atom);
  Place place = getPlace(rows);
  SmallVector<Value> elements;
  for (int64_t group = 0; group < rows.getInSize(kRegister); ++group) {
    Value pointer = getSharedPointer(base, getSharedType(element), place, group, start);
    Value value = atom.emit(builder, loc, pointer, Value());
    llvm::append_range(elements, fromSharedVector(builder, loc, value, element));
  }
  return elements;
}

void ThreadLowering::writeRows(Value base, const LinearLayout &offsets, WarpCopyAtomInterface atom,
                               ArrayRef<Value> elements) {
  LinearLayout rows = getRowOffsets(offsets, atom);
  Place place = getPlace(rows);
  int64_t count = atom.getTile().getInSize(kRegister);
  Type shared = getSharedType(elements.front().getType());
  for (int64_t group = 0; group < rows.getInSize(kRegister); ++group) {
    Value pointer = getSharedPointer(base, shared, place, group);
    atom.emit(builder, loc, pointer,
              toSharedVector(builder, loc, elements.slice(group * count, count)));
  }
}

std::pair<Value, Value> ThreadLowering::getPartOffset(const Place &place, int64_t reg,
                                                      ArrayRef<int64_t> extents) {
  Value offset = index(0), within;
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    Value at = getCoordinate(place, dim, reg);
    offset = arith::AddIOp::create(builder, loc,
                                   arith::MulIOp::create(builder, loc, offset, index(extent)), at);
    if (isWithin(place, dim, reg, extent) == Within::Always)
      continue;
    Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at, index(extent));
    within = within ? Value(arith::AndIOp::create(builder, loc, within, below)) : below;
  }
  if (within)
    offset = arith::SelectOp::create(builder, loc, within, offset, index(0));
  return {arith::IndexCastOp::create(builder, loc, builder.getI32Type(), offset), within};
}

void ThreadLowering::writePart(Value base, const LinearLayout &layout, ArrayRef<int64_t> extents,
                               ArrayRef<Value> elements) {
  Type shared = getSharedType(elements.front().getType());
  Place place = getPlace(layout);
  for (auto [reg, element] : llvm::enumerate(elements)) {
    auto [at, within] = getPartOffset(place, reg, extents);
    OpBuilder::InsertionGuard insertion(builder);
    if (within) {
      auto branch = scf::IfOp::create(builder, loc, within, /*withElseRegion=*/false);
      builder.setInsertionPointToStart(&branch.getThenRegion().front());
    }
    Value pointer = getElementPointer(base, shared, at);
    LLVM::StoreOp::create(builder, loc, toShared(builder, loc, element), pointer,
                          getSharedElementBytes(element.getType()));
  }
}

SmallVector<Value> ThreadLowering::readPart(Value base, const LinearLayout &layout,
                                            ArrayRef<int64_t> extents, Type element) {
  Type shared = getSharedType(element);
  Place place = getPlace(layout);
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); ++reg) {
    Value at = getPartOffset(place, reg, extents).first;
    Value pointer = getElementPointer(base, shared, at);
    Value value =
        LLVM::LoadOp::create(builder, loc, shared, pointer, getSharedElementBytes(element));
    elements.push_back(fromShared(builder, loc, value, element));
  }
  return elements;
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

LogicalResult ThreadLowering::lowerBuffer(Operation *op) {
  if (auto alloc = dyn_cast<AllocOp>(op)) {
    set(alloc, getShared(op));
    return success();
  }
  auto getSpan = [](Value buffer) -> SharedSpan {
    // A buffer that is not allocated here may be any.
    auto alloc = buffer.getDefiningOp<AllocOp>();
    if (!alloc)
      return {0, std::numeric_limits<int64_t>::max()};
    int64_t first = alloc->getAttrOfType<IntegerAttr>(kSharedOffsetAttrName).getInt();
    return {first, first + getSharedBytes(alloc.getResult().getType())};
  };
  if (auto write = dyn_cast<WriteOp>(op)) {
    Value base = get(write.getBuffer());
    LinearLayout layout = getLayout(write.getValue());
    LinearLayout offsets = getBufferOffsets(layout, write.getBuffer().getType());
    SmallVector<Value> elements = getElements(write.getValue());
    beforeAccess(getSpan(write.getBuffer()), /*isWrite=*/true);
    if (auto extents = write.getExtents())
      writePart(base, layout, *extents, elements);
    else if (auto atom = dyn_cast_or_null<WarpCopyAtomInterface>(write.getAtomAttr()))
      writeRows(base, offsets, atom, elements);
    else
      writeShared(base, offsets, elements);
    return success();
  }
  auto read = cast<ReadOp>(op);
  BufferType type = read.getBuffer().getType();
  Value base = get(read.getBuffer());
  Type element = type.getElementType();
  LinearLayout layout = getLayout(read.getResult());
  beforeAccess(getSpan(read.getBuffer()), /*isWrite=*/false);
  if (auto extents = read.getExtents()) {
    setElements(read.getResult(), readPart(base, layout, *extents, element));
    return success();
  }
  LinearLayout offsets = getBufferOffsets(layout, type);
  auto atom = dyn_cast_or_null<WarpCopyAtomInterface>(read.getAtomAttr());
  setElements(read.getResult(), atom ? readRows(base, offsets, getStart(read), element, atom)
                                     : readShared(base, offsets, getStart(read), element));
  return success();
}
