// Finds what is in shared memory, and from which op to which.
#include "kiln/Target/Common/SharedPieces.h"
#include "ThreadPlans.h"
#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"
#include "kiln/Dialect/Tile/IR/Turns.h"

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
  stream << "a ring of " << type.getDepth() << (type.getDepth() == 1 ? " slot" : " slots ('depth')")
         << " of ";
  llvm::interleave(
      llvm::seq<unsigned>(0, type.getBuffers().size()), stream,
      [&](unsigned i) {
        printElements(stream, type.getBuffer(i).getShape(), type.getBuffer(i).getElementType());
      },
      " and ");
  return name;
}

//===- Lives --------------------------------------------------------------------------------===//

bool kiln::canMeetBetween(KernelOp kernel, RoleAttr role) {
  return !takesTurns(kernel, role) && (role.getCopies() == 1 || !role.getSkew());
}

ProgramPoints::ProgramPoints(KernelOp kernel) {
  int64_t number = 0;
  kernel->walk([&](Operation *op, const WalkStage &stage) {
    if (stage.isBeforeAllRegions())
      points[op].first = number++;
    if (stage.isAfterAllRegions())
      points[op].second = number++;
  });
}

std::pair<Operation *, Operation *> ProgramPoints::findLife(ArrayRef<Operation *> users) {
  Block *block = users.front()->getBlock();
  for (Operation *user : users)
    while (!block->findAncestorOpInBlock(*user))
      block = block->getParentOp()->getBlock();
  for (Operation *parent = block->getParentOp();
       !isa<WarpGroupsOp, KernelOp>(parent) && !parent->hasAttr(kProgramsAttrName);
       parent = block->getParentOp())
    block = parent->getBlock();
  std::pair<Operation *, Operation *> life;
  for (Operation *user : users) {
    Operation *here = block->findAncestorOpInBlock(*user);
    life.first = !life.first || here->isBeforeInBlock(life.first) ? here : life.first;
    life.second = !life.second || life.second->isBeforeInBlock(here) ? here : life.second;
  }
  return life;
}

void ProgramPoints::setLife(SharedPieces &found, unsigned part, ArrayRef<Operation *> users) const {
  auto [first, last] = findLife(users);
  schedule::SharedPiece &piece = found.pieces.back();
  found.starts.back() = first;
  piece.first = of(first).first;
  piece.last = of(last).second;
  piece.part = part;
}

void ProgramPoints::setScratch(SharedPieces &found, unsigned part, RoleAttr role, bool canMeet,
                               int64_t bytes) const {
  Operation *op = found.ops.back();
  setLife(found, part, op);
  schedule::SharedPiece &piece = found.pieces.back();
  piece.around = {piece.first, piece.last};
  if (!canMeet) {
    piece.around = {0, std::numeric_limits<int64_t>::max()};
    found.starts.back() = nullptr;
  }
  std::tie(piece.first, piece.last) = of(op);
  piece.step = role.getCopies() > 1 ? bytes : 0;
}

//===- Pieces -------------------------------------------------------------------------------===//

/// What of a buffer is used in a role's region, through parts of it too; nothing if an engine
/// copies out of it, for nobody says when that ends.
static SmallVector<Operation *> findUsers(Value buffer) {
  SmallVector<Operation *> users;
  for (Operation *user : buffer.getUsers()) {
    users.push_back(user);
    if (auto part = dyn_cast<PartOp>(user)) {
      SmallVector<Operation *> more = findUsers(part.getResult());
      if (more.empty() && !part->use_empty())
        return {};
      users.append(more);
    } else if (!isa<ReadOp, WriteOp>(user)) {
      return {};
    }
  }
  return users;
}

/// The one role that uses what is made in front of roles, and how; none if there are more.
static std::optional<std::pair<unsigned, SmallVector<Operation *>>> findUsingRole(Value captured) {
  std::optional<std::pair<unsigned, SmallVector<Operation *>>> found;
  for (OpOperand &use : captured.getUses()) {
    auto groups = dyn_cast<WarpGroupsOp>(use.getOwner());
    if (!groups)
      return std::nullopt;
    for (Region &region : groups.getBodies()) {
      Value seen = region.getArgument(use.getOperandNumber());
      if (seen.use_empty())
        continue;
      bool isBuffer = isa<BufferType>(captured.getType());
      auto users = isBuffer ? findUsers(seen) : SmallVector<Operation *>(seen.getUsers());
      if (found || users.empty() ||
          !canMeetBetween(groups->getParentOfType<KernelOp>(),
                          groups.getRole(region.getRegionNumber())))
        return std::nullopt;
      found = {region.getRegionNumber(), users};
    }
  }
  return found;
}

/// The role that fills a ring, as words behind the ring's name; none of what is no ring of tiles.
static std::string nameFiller(Value channel) {
  for (OpOperand &use : channel.getUses()) {
    auto groups = dyn_cast<WarpGroupsOp>(use.getOwner());
    for (unsigned number = 0; groups && number < groups.getBodies().size(); ++number) {
      Value seen = groups.getBodies()[number].getArgument(use.getOperandNumber());
      if (llvm::any_of(seen.getUsers(), llvm::IsaPred<PutOp>))
        return " that role \"" + groups.getRole(number).getName().str() + "\" fills";
    }
  }
  return "";
}

static unsigned getRoleNumber(Operation *op) {
  Region *region = op->getParentRegion();
  while (!isa<WarpGroupsOp>(region->getParentOp()))
    region = region->getParentRegion();
  return region->getRegionNumber();
}

/// A buffer of the program is in use from its allocation to its last use; if that is inside a loop
/// which the allocation is outside of, to the loop's end. What a role has alone is in use from its
/// first use to its last: of a ring of its own that is when all slots have been released, so
/// nothing is under way into any and nobody reads one.
SharedPieces kiln::findSharedPieces(KernelOp kernel) {
  ProgramPoints points(kernel);
  SharedPieces found;
  auto add = [&](Operation *op, std::string name, int64_t bytes) -> schedule::SharedPiece & {
    schedule::SharedPiece &piece = found.add(op, std::move(name), bytes);
    std::tie(piece.first, piece.last) = points.of(op);
    return piece;
  };
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    RoleAttr role = WarpGroupsOp::getRoleOf(op);
    bool canMeet = role && canMeetBetween(kernel, role);
    if (int64_t bytes = getScratchBytes(op)) {
      std::string name = "'" + op->getName().getStringRef().str() + "'";
      add(op, name, role ? getBytesOfCopies(bytes, role) : bytes);
      if (role)
        points.setScratch(found, getRoleNumber(op), role, canMeet, getBytesOfCopies(bytes, role));
    }
    if (auto channel = dyn_cast<ChannelOp>(op)) {
      auto meetsIn = channel->getAttrOfType<StringAttr>(kMeetsInAttrName);
      schedule::SharedPiece &piece =
          add(op,
              meetsIn ? ("the barriers of role \"" + meetsIn.getValue() + "\"").str()
                      : nameRing(channel.getType()) + nameFiller(channel.getResult()),
              getChannelBytes(channel.getType()));
      if (!channel.getType().getBuffers().empty())
        piece.alignment = kEngineAlignment;
      for (Operation *user : channel->getUsers())
        piece.last = std::max(piece.last, points.of(user).second);
      // The role meets there without naming it.
      if (meetsIn)
        piece.last = points.of(*kernel.getBody().getOps<WarpGroupsOp>().begin()).second;
      if (channel.getType().getOwn())
        if (auto its = findUsingRole(channel.getResult()))
          points.setLife(found, its->first, its->second);
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
      std::tie(piece.first, piece.last) = points.of(op->getParentOfType<WarpGroupsOp>());
      if (SmallVector<Operation *> users = findUsers(alloc); canMeet && !users.empty())
        points.setLife(found, getRoleNumber(op), users);
      return;
    }
    schedule::SharedPiece &piece = add(op, nameBuffer(type), bytes);
    for (Operation *user : alloc->getUsers()) {
      while (user->getBlock() != op->getBlock())
        user = user->getParentOp();
      piece.last = std::max(piece.last, points.of(user).second);
    }
    if (auto its = findUsingRole(alloc.getResult()))
      points.setLife(found, its->first, its->second);
  });
  return found;
}

PlacedPieces kiln::findPlacedPieces(KernelOp kernel) {
  auto getPlace = [](Operation *op) {
    return op->getAttrOfType<IntegerAttr>(kSharedOffsetAttrName);
  };
  PlacedPieces placed;
  bool isPlanned = kernel.getBody()
                       .walk([&](Operation *op) {
                         return getPlace(op) ? WalkResult::interrupt() : WalkResult::advance();
                       })
                       .wasInterrupted();
  if (!isPlanned)
    return placed;
  placed.found = findSharedPieces(kernel);
  auto &[found, overlaps] = placed;
  for (unsigned i = 0; i < found.pieces.size(); ++i)
    for (unsigned j = 0; j < i; ++j) {
      IntegerAttr one = getPlace(found.ops[i]), other = getPlace(found.ops[j]);
      bool areScratch = found.pieces[i].around && found.pieces[j].around;
      if (!areScratch && one && other && one.getInt() < other.getInt() + found.pieces[j].bytes &&
          other.getInt() < one.getInt() + found.pieces[i].bytes)
        overlaps.push_back({i, j});
    }
  return placed;
}
