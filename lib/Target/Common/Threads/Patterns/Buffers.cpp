// Buffers in shared memory: of the program, and of a role beside others.
#include "../Rings.h"
#include "../SharedAccess.h"
#include "../ThreadPatterns.h"
#include "../ThreadPlans.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

//===- Of the program -----------------------------------------------------------------------===//

/// Where a register's element is, and whether it is within the extents (null: it is).
static std::pair<Value, Value> getPartOffset(ThreadContext &context, const ThreadPlace &place,
                                             int64_t reg, ArrayRef<int64_t> extents) {
  Value offset = context.index(0), within;
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    Value at = context.getCoordinate(place, dim, reg);
    offset = arith::AddIOp::create(
        context, arith::MulIOp::create(context, offset, context.index(extent)), at);
    if (isWithin(place, dim, reg, extent) == Within::Always)
      continue;
    Value below =
        arith::CmpIOp::create(context, arith::CmpIPredicate::ult, at, context.index(extent));
    within = within ? Value(arith::AndIOp::create(context, within, below)) : below;
  }
  if (within)
    offset = arith::SelectOp::create(context, within, offset, context.index(0));
  return {arith::IndexCastOp::create(context, context.getI32Type(), offset), within};
}

/// Some elements of a tensor, in row-major order and one by one: its extents need not be powers of
/// two.
static void writePart(ThreadContext &context, Value base, const LinearLayout &layout,
                      ArrayRef<int64_t> extents, ArrayRef<Value> elements) {
  Type shared = getSharedType(elements.front().getType());
  ThreadPlace place = context.getPlace(layout);
  for (auto [reg, element] : llvm::enumerate(elements)) {
    auto [at, within] = getPartOffset(context, place, reg, extents);
    OpBuilder::InsertionGuard insertion(context);
    if (within) {
      auto branch = scf::IfOp::create(context, within, /*withElseRegion=*/false);
      context.setInsertionPointToStart(&branch.getThenRegion().front());
    }
    Value pointer = getElementPointer(context, base, shared, at);
    LLVM::StoreOp::create(context, toShared(context, element), pointer,
                          getSharedElementBytes(element.getType()));
  }
}

static SmallVector<Value> readPart(ThreadContext &context, Value base, const LinearLayout &layout,
                                   ArrayRef<int64_t> extents, Type element) {
  Type shared = getSharedType(element);
  ThreadPlace place = context.getPlace(layout);
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); ++reg) {
    Value at = getPartOffset(context, place, reg, extents).first;
    Value pointer = getElementPointer(context, base, shared, at);
    Value value = LLVM::LoadOp::create(context, shared, pointer, getSharedElementBytes(element));
    elements.push_back(fromShared(context, value, element));
  }
  return elements;
}

static LogicalResult lowerBuffer(ThreadContext &context, Operation *op) {
  if (auto alloc = dyn_cast<AllocOp>(op)) {
    context.set(alloc, getShared(context, op));
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
    Value base = context.get(write.getBuffer());
    LinearLayout layout = getLayout(write.getValue());
    LinearLayout offsets = getBufferOffsets(layout, write.getBuffer().getType());
    SmallVector<Value> elements = context.getElements(write.getValue());
    context.beforeAccess(getSpan(write.getBuffer()), /*isWrite=*/true);
    if (auto extents = write.getExtents())
      writePart(context, base, layout, *extents, elements);
    else if (auto atom = dyn_cast_or_null<WarpCopyAtomInterface>(write.getAtomAttr()))
      writeRows(context, base, offsets, atom, elements);
    else
      writeShared(context, base, offsets, elements);
    return success();
  }
  auto read = cast<ReadOp>(op);
  BufferType type = read.getBuffer().getType();
  Value base = context.get(read.getBuffer());
  Type element = type.getElementType();
  LinearLayout layout = getLayout(read.getResult());
  context.beforeAccess(getSpan(read.getBuffer()), /*isWrite=*/false);
  if (auto extents = read.getExtents())
    context.setElements(read.getResult(), readPart(context, base, layout, *extents, element));
  else if (auto atom = dyn_cast_or_null<WarpCopyAtomInterface>(read.getAtomAttr()))
    context.setElements(read.getResult(),
                        readRows(context, base, getBufferOffsets(layout, type), element, atom));
  else
    context.setElements(read.getResult(),
                        readShared(context, base, getBufferOffsets(layout, type), element));
  return success();
}

//===- Buffers of a role --------------------------------------------------------------------===//

/// By the lanes of a warp together, if rows of eight elements of 16 bits are spread over four
/// lanes each, in pairs. Each of the 32 lanes names one row: 8 rows of up to 4 matrices.
static bool writeMatrices(ThreadContext &context, Value base, const LinearLayout &offsets,
                          ArrayRef<Value> elements) {
  if (!context.sync.hasMatrixStores())
    return false;
  Type type = elements.front().getType();
  ArrayRef<LinearLayout::Basis> registers = offsets.getBases(kRegister);
  ArrayRef<LinearLayout::Basis> lanes = offsets.getBases(kLane);
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() != 16 || registers.empty() ||
      lanes.size() != 5 || registers[0][0] != 1 || lanes[0][0] != 2 || lanes[1][0] != 4)
    return false;
  auto startsRow = [](const LinearLayout::Basis &basis) { return basis[0] % 8 == 0; };
  if (!llvm::all_of(lanes.drop_front(2), startsRow) ||
      !llvm::all_of(registers.drop_front(), startsRow) ||
      !llvm::all_of(offsets.getBases(kWarp), startsRow))
    return false;
  unsigned matrixBits = std::min<unsigned>(2, registers.size() - 1);
  // Where rows begin: a lane's low bits are its row, the next ones the matrix.
  LinearLayout::InDim rowLanes{kLane.str(), {}}, rest{kRegister.str(), {}},
      warpBits{kWarp.str(), {}};
  llvm::append_range(rowLanes.bases, lanes.drop_front(2));
  for (unsigned bit = 0; bit < 2; ++bit)
    rowLanes.bases.push_back(bit < matrixBits ? registers[1 + bit] : LinearLayout::Basis{0});
  llvm::append_range(rest.bases, registers.drop_front(1 + matrixBits));
  llvm::append_range(warpBits.bases, offsets.getBases(kWarp));
  std::optional<LinearLayout> rows =
      LinearLayout::create({rest, rowLanes, warpBits}, offsets.getOuts());
  if (!rows)
    return false;
  ThreadPlace place = context.getPlace(*rows);
  int64_t matrices = int64_t(1) << matrixBits;
  for (int64_t group = 0; group < rows->getInSize(kRegister); ++group) {
    SmallVector<Value> words;
    for (int64_t matrix = 0; matrix < matrices; ++matrix) {
      int64_t reg = 2 * (group * matrices + matrix);
      Value both = makeVector(context, context.getLoc(), elements.slice(reg, 2));
      words.push_back(elementAt(context, context.getLoc(),
                                castVector(context, context.getLoc(), both, context.getI32Type()),
                                0));
    }
    Value at = arith::IndexCastOp::create(context, context.getI32Type(),
                                          context.getCoordinate(place, 0, group));
    at = arith::MulIOp::create(context, at, context.i32(2));
    context.sync.storeMatrices(context, context.getLoc(), getSharedAt(context, base, at), words);
  }
  return true;
}

static LogicalResult lowerRoleBuffer(ThreadContext &context, Operation *op) {
  if (auto alloc = dyn_cast<AllocOp>(op)) {
    Value base = getShared(context, op);
    if (context.role->attr.getCopies() > 1) {
      BufferType type = alloc.getResult().getType();
      int64_t bytes = ShapedType::getNumElements(type.getShape()) *
                      int64_t(getSharedElementBytes(type.getElementType()));
      Value step = context.i32(llvm::alignTo(bytes, kEngineAlignment));
      base = getSharedAt(context, base, arith::MulIOp::create(context, context.role->copy, step));
    }
    context.set(alloc, base);
    return success();
  }
  if (auto write = dyn_cast<WriteOp>(op)) {
    Value base = context.get(write.getBuffer());
    LinearLayout offsets =
        getBufferOffsets(getLayout(write.getValue()), write.getBuffer().getType());
    SmallVector<Value> elements = context.getElements(write.getValue());
    accessSlot(context, write.getBuffer(), [&] {
      if (!writeMatrices(context, base, offsets, elements))
        writeShared(context, base, offsets, elements);
    });
    return success();
  }
  auto read = cast<ReadOp>(op);
  BufferType type = read.getBuffer().getType();
  if (Attribute given = read.getAtomAttr()) {
    auto atom = dyn_cast<WarpCopyAtomInterface>(given);
    LinearLayout offsets = getBufferOffsets(getLayout(read.getResult()), type);
    if (!atom || !canMove(atom, offsets) ||
        !llvm::is_contained(context.target.getCopyAtoms(type.getElementType()), given))
      return read.emitOpError("expected an atom of ")
             << context.target.getSpelling() << " that reads " << read.getType() << " from " << type
             << ", got " << given;
    accessSlot(context, read.getBuffer(), [&] {
      context.setElements(read.getResult(), readRows(context, context.get(read.getBuffer()),
                                                     offsets, type.getElementType(), atom));
    });
    return success();
  }
  accessSlot(context, read.getBuffer(), [&] {
    context.setElements(read.getResult(),
                        readShared(context, context.get(read.getBuffer()),
                                   getBufferOffsets(getLayout(read.getResult()), type),
                                   type.getElementType()));
  });
  return success();
}

void kiln::populateBufferPatterns(ThreadPatterns &patterns) {
  patterns.add<AllocOp, ReadOp, WriteOp>([](ThreadContext &context, Operation *op) {
    return context.role ? lowerRoleBuffer(context, op) : lowerBuffer(context, op);
  });
}
