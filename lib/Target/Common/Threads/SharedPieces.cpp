// Finds what is in shared memory, and from which op to which.
#include "kiln/Target/Common/SharedPieces.h"
#include "ThreadPlans.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

int64_t kiln::getChannelBytes(ChannelType type) { return planChannel(type).total; }

int64_t kiln::getBytesOfCopies(int64_t bytes, RoleAttr role) {
  return llvm::alignTo(bytes, kEngineAlignment) * role.getCopies();
}

void SharedPieces::list(InFlightDiagnostic &error) const {
  for (auto [op, piece] : llvm::zip_equal(ops, pieces))
    error.attachNote(op->getLoc()) << piece.bytes << " bytes for " << piece.name;
}

//===- Names --------------------------------------------------------------------------------===//

static void printElements(raw_ostream &stream, ArrayRef<int64_t> shape, Type element) {
  for (int64_t extent : shape)
    stream << extent << 'x';
  stream << element;
}

std::string kiln::nameBuffer(BufferType type, RoleAttr role) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  stream << "a buffer of ";
  printElements(stream, type.getShape(), type.getElementType());
  if (role && role.getCopies() > 1)
    stream << " for each of the " << role.getCopies() << " copies of role \"" << role.getName()
           << '"';
  return name;
}

std::string kiln::nameRing(ChannelType type) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  if (type.getAccumulator())
    return "the barriers of accumulators";
  if (type.getBuffers().empty())
    return "the barriers of turns";
  stream << "a ring of " << type.getDepth() << (type.getDepth() == 1 ? " slot" : " slots")
         << " of ";
  llvm::interleave(
      llvm::seq<unsigned>(0, type.getBuffers().size()), stream,
      [&](unsigned i) {
        printElements(stream, type.getBuffer(i).getShape(), type.getBuffer(i).getElementType());
      },
      " and ");
  return name;
}

//===- Pieces -------------------------------------------------------------------------------===//

/// Ops are numbered in program order. A buffer is in use from its allocation to its last use; if
/// that is inside a loop which the allocation is outside of, to the loop's end.
SharedPieces kiln::findSharedPieces(KernelOp kernel) {
  DenseMap<Operation *, std::pair<int64_t, int64_t>> spans;
  int64_t number = 0;
  kernel->walk([&](Operation *op, const WalkStage &stage) {
    if (stage.isBeforeAllRegions())
      spans[op].first = number++;
    if (stage.isAfterAllRegions())
      spans[op].second = number++;
  });
  SharedPieces found;
  auto add = [&](Operation *op, std::string name, int64_t bytes) -> schedule::SharedPiece & {
    schedule::SharedPiece &piece = found.add(op, std::move(name), bytes);
    std::tie(piece.first, piece.last) = spans[op];
    return piece;
  };
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    RoleAttr role = WarpGroupsOp::getRoleOf(op);
    if (int64_t bytes = getScratchBytes(op)) {
      std::string name = "'" + op->getName().getStringRef().str() + "'";
      schedule::SharedPiece &piece = add(op, name, role ? getBytesOfCopies(bytes, role) : bytes);
      if (role) {
        Region *region = op->getParentRegion();
        while (!isa<WarpGroupsOp>(region->getParentOp()))
          region = region->getParentRegion();
        piece.part = region->getRegionNumber();
      }
    }
    if (auto channel = dyn_cast<ChannelOp>(op)) {
      schedule::SharedPiece &piece =
          add(op, nameRing(channel.getType()), getChannelBytes(channel.getType()));
      if (!channel.getType().getBuffers().empty())
        piece.alignment = kEngineAlignment;
      for (Operation *user : channel->getUsers())
        piece.last = std::max(piece.last, spans[user].second);
    }
    auto alloc = dyn_cast<AllocOp>(op);
    if (!alloc)
      return;
    BufferType type = alloc.getResult().getType();
    int64_t bytes = getSharedBytes(type);
    if (role) {
      // Roles run at once, and each copy of one has buffers of its own.
      schedule::SharedPiece &piece = add(op, nameBuffer(type, role), getBytesOfCopies(bytes, role));
      piece.alignment = kEngineAlignment;
      std::tie(piece.first, piece.last) = spans[op->getParentOfType<WarpGroupsOp>()];
      return;
    }
    schedule::SharedPiece &piece = add(op, nameBuffer(type), bytes);
    for (Operation *user : alloc->getUsers()) {
      while (user->getBlock() != op->getBlock())
        user = user->getParentOp();
      piece.last = std::max(piece.last, spans[user].second);
    }
  });
  return found;
}
