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
  if (auto write = dyn_cast<WriteOp>(op)) {
    Value base = context.get(write.getBuffer());
    LinearLayout layout = getLayout(write.getValue());
    LinearLayout offsets = getBufferOffsets(layout, write.getBuffer().getType());
    SmallVector<Value> elements = context.getElements(write.getValue());
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
  if (auto extents = read.getExtents()) {
    context.setElements(read.getResult(), readPart(context, base, layout, *extents, element));
    return success();
  }
  LinearLayout offsets = getBufferOffsets(layout, type);
  int64_t start = getStart(read);
  auto atom = dyn_cast_or_null<WarpCopyAtomInterface>(read.getAtomAttr());
  context.setElements(read.getResult(), atom
                                            ? readRows(context, base, offsets, start, element, atom)
                                            : readShared(context, base, offsets, start, element));
  return success();
}

//===- Buffers of a role --------------------------------------------------------------------===//

/// The instruction that a source or a pass has chosen to move a tensor to a buffer, or from it,
/// where offsets differ by `start`; null if none is, an error if it cannot.
static FailureOr<WarpCopyAtomInterface> getAtom(ThreadContext &context, Operation *op, Value tensor,
                                                BufferType buffer, const LinearLayout &offsets,
                                                int64_t start) {
  Attribute given = op->getAttr("atom");
  auto atom = dyn_cast_or_null<WarpCopyAtomInterface>(given);
  if (!given || (atom && canMove(atom, offsets, start) &&
                 llvm::is_contained(context.target.getCopyAtoms(buffer.getElementType()), given)))
    return atom;
  bool isWrite = isa<WriteOp>(op);
  return op->emitOpError("expected an atom of ")
         << context.target.getSpelling() << " that " << (isWrite ? "writes " : "reads ")
         << tensor.getType() << (isWrite ? " to " : " from ") << buffer << ", got " << given;
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
  bool isWrite = isa<WriteOp>(op);
  Value buffer = op->getOperand(isWrite ? 1 : 0);
  Value tensor = isWrite ? op->getOperand(0) : op->getResult(0);
  auto type = cast<BufferType>(buffer.getType());
  Type element = type.getElementType();
  LinearLayout offsets = getBufferOffsets(getLayout(tensor), type);
  int64_t start = isWrite ? 0 : getStart(cast<ReadOp>(op));
  FailureOr<WarpCopyAtomInterface> atom = getAtom(context, op, tensor, type, offsets, start);
  if (failed(atom))
    return failure();
  Value base = context.get(buffer);
  accessSlot(context, buffer, [&] {
    if (isWrite) {
      SmallVector<Value> elements = context.getElements(tensor);
      *atom ? writeRows(context, base, offsets, *atom, elements)
            : writeShared(context, base, offsets, elements);
      return;
    }
    context.setElements(tensor, *atom ? readRows(context, base, offsets, start, element, *atom)
                                      : readShared(context, base, offsets, start, element));
  });
  return success();
}

void kiln::populateBufferPatterns(ThreadPatterns &patterns) {
  patterns.add<AllocOp, ReadOp, WriteOp>([](ThreadContext &context, Operation *op) {
    return context.role ? lowerRoleBuffer(context, op) : lowerBuffer(context, op);
  });
}
