// Loops of products that no role of its own loads for: the warps that multiply fill rings ahead of
// themselves.
//
// What a product of a loop reads is loaded trips ahead: by copies past the registers where these
// are as wide as loads into registers, else through registers. All else stays as it is, in one
// role. Products run on beside its warps where such read what it loads as it lies.
#include "Decisions.h"
#include "GlobalAccesses.h"
#include "OwnRingDecider.h"
#include "Rings.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static constexpr StringLiteral kAll = "all";
/// Smaller tiles are not worth a slot of a ring.
static constexpr int64_t kFewestBytes = 1024;
/// What one lane loads at most.
static constexpr int64_t kMostBits = 128;

/// Whether a product of the block reads what is made of a value in it.
static bool feedsProduct(Value value, Block *block) {
  SmallVector<Value> values = {value};
  DenseSet<Operation *> seen;
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers()) {
      if (user->getBlock() != block || !seen.insert(user).second)
        continue;
      if (isa<DotOp, DotScaledOp>(user))
        return true;
      llvm::append_range(values, user->getResults());
    }
  return false;
}

/// Whether loads of a block that do not come together may fill rings of their own. A trip that is
/// written out takes more scalars than a wave has with a ring for each of its products.
bool OwnRingDecider::canPart() {
  return llvm::any_of(loads, [&](LoadOp load) {
    auto isApart = [&](LoadOp other) {
      return other->getBlock() == load->getBlock() && other->isBeforeInBlock(load) &&
             !comesWith(load, other);
    };
    return !isWrittenOut(*load->getBlock(), target.getChipRecord()) && llvm::any_of(loads, isApart);
  });
}

bool OwnRingDecider::find() {
  if (!decidesNothing(kernel))
    return false;
  kernel.getBody().walk([&](LoadOp load) {
    Operation *loop = findTrips(load);
    if (!loop || load.getPadding())
      return;
    auto counted = dyn_cast<scf::ForOp>(loop);
    if (counted && !counted.getInductionVar().getType().isIndex())
      return;
    int64_t bits = load.getType().getNumElements() * load.getType().getElementTypeBitWidth();
    if (bits >= 8 * kFewestBytes && feedsProduct(load, load->getBlock()) &&
        !mayStoreLoaded(loop, load))
      loads.push_back(load);
  });
  return !loads.empty() || gathersAhead();
}

/// Whether products of a loop read what is gathered there, and could be a trip ahead: in registers,
/// since no copy past them gathers.
bool OwnRingDecider::gathersAhead() {
  return kernel.getBody()
      .walk([&](GatherOp gather) {
        int64_t bits =
            gather.getType().getNumElements() * gather.getType().getElementTypeBitWidth();
        bool isAhead = findTrips(gather) && bits >= 8 * kFewestBytes &&
                       feedsProduct(gather, gather->getBlock()) &&
                       findEarlyGathers(*gather->getBlock()).contains(gather);
        return isAhead ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Of a thread: accumulators that lie in registers, operands that do, and what is on its way
/// through them.
int64_t OwnRingDecider::countRegisters(int64_t threads) {
  int64_t bits = 0;
  auto add = [&](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    bits += type.getNumElements() * type.getElementTypeBitWidth();
  };
  for (auto &[dot, atom] : dots) {
    if (!dot.getAccumulator().getDefiningOp<DotOp>()) // which it adds to in place
      add(dot.getResult());
    if (!llvm::is_contained(loads, findLoad(dot.getA())))
      add(dot.getA());
  }
  for (LoadOp load : loads)
    add(load.getResult());
  return bits / (32 * threads);
}

bool OwnRingDecider::findDots() {
  if (loads.empty())
    return false;
  bool isPlainKernel = true, isFit = true;
  kernel.getBody().walk([&](Operation *op) { isPlainKernel &= isPlain(op); });
  auto isLoaded = [&](Value operand) { return llvm::is_contained(loads, findLoad(operand)); };
  kernel.getBody().walk([&](Operation *op) {
    auto dot = dyn_cast<DotOp>(op);
    isFit &= !isa<DotScaledOp>(op);
    if (!dot)
      return;
    AsyncMmaAtomInterface atom = findAsyncAtom(dot, target);
    isFit &= atom && sumsExactly(dot, atom) && atom.getCompletion() == Completion::Groups &&
             isLoaded(dot.getB()) && (isLoaded(dot.getA()) || atom.readsFrom(0, Place::Registers));
    if (!isFit)
      return;
    dots.insert({dot, atom});
    warps = std::max<int64_t>(warps, atom.getWarps());
  });
  if (!isFit || dots.empty())
    return false;
  copies = isPlainKernel ? countCopies(dots) : 1;
  return hasRegisters();
}

bool OwnRingDecider::hasRegisters() {
  return countRegisters(warps * copies * target.getChipRecord().warpSize) <= kMostRegisters;
}

bool OwnRingDecider::useOneCopy() { return std::exchange(copies, 1) > 1 && hasRegisters(); }

/// A copy past the registers, if it moves as much at a time as a load into them.
Attribute OwnRingDecider::findAtom(LoadOp load, int64_t warps, bool direct) {
  int64_t bits = load.getType().getElementTypeBitWidth();
  int64_t most = std::min(kMostBits, int64_t(getAccessFacts(load).aligned) * bits);
  for (Attribute atom : target.getAtoms(load)) {
    auto copy = dyn_cast<DirectAtomInterface>(atom);
    if (direct && copy && !load.getExtents() &&
        canShareOut(load, copy, warps, target.getChipRecord()) &&
        8 * int64_t(copy.getGranularity()) >= most &&
        copy.follows(load.getCache(), load.getEviction()))
      return atom;
  }
  return ThroughRegistersAttr::get(kernel.getContext());
}

/// Whether all that a block loads goes past the registers.
bool OwnRingDecider::loadsAllPast(Block *block) {
  return block->getOps<GatherOp>().empty() &&
         llvm::none_of(block->getOps<LoadOp>(),
                       [](LoadOp load) { return !load.getAtomAttr() || isThroughRegisters(load); });
}

bool OwnRingDecider::write(bool direct, bool apart) {
  Builder builder(kernel.getContext());
  if (dots.empty())
    warps = countWarps(kernel, target.getChipRecord());
  for (auto &[dot, atom] : dots)
    dot.setAtomAttr(atom);
  kernel->setAttr(kRolesAttrName, builder.getArrayAttr(RoleAttr::get(kernel.getContext(), kAll,
                                                                     warps, copies, /*skew=*/0,
                                                                     /*registers=*/0)));
  kernel.getBody().walk([](Operation *op) {
    bool isControl =
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || op->hasTrait<OpTrait::IsTerminator>();
    if (isa<DotOp, DotScaledOp>(op) || (!isMemoryEffectFree(op) && !isControl))
      setRoleName(op, kAll);
  });
  for (LoadOp load : loads)
    load.setAtomAttr(findAtom(load, warps * copies, direct));
  bool hasCopies = false;
  for (LoadOp load : loads) {
    auto copy = dyn_cast<CopyAtomInterface>(load.getAtomAttr());
    // Where one counter counts copies and loads, a wait for a load is one for all copies before it.
    if (copy && copy.getCompletion() == Completion::Instructions && !loadsAllPast(load->getBlock()))
      load.setAtomAttr(ThroughRegistersAttr::get(kernel.getContext()));
    hasCopies |= !isThroughRegisters(load);
  }
  setRings(apart);
  return hasCopies;
}

/// Whether an op of a loop may run in front of what it follows there: it only computes, or loads
/// what the loop does not store.
static bool isMovable(Operation *op, Operation *loop) {
  auto load = dyn_cast<LoadOp>(op);
  return isMemoryEffectFree(op) || (load && !mayStoreLoaded(loop, load));
}

/// Collects an op and those that it needs which do not stand in front of a place of their block.
/// False if one must stay.
static bool collectNeeds(Operation *op, Operation *place, llvm::SetVector<Operation *> &needs) {
  if (op->getBlock() != place->getBlock() || op->isBeforeInBlock(place) || needs.contains(op))
    return true;
  if (op == place || !isMovable(op, place->getParentOp()))
    return false;
  bool areAll = true;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *maker = operand.getDefiningOp(); maker && !op->isAncestor(maker))
        areAll &= collectNeeds(maker, place, needs);
  });
  needs.insert(op);
  return areAll;
}

/// Moves loads of a ring in front of all that uses any of them, so that one use brings all: rings
/// apart may be more than can be told of, and one of two uses would have to bring the same twice.
void OwnRingDecider::bringTogether(ArrayRef<LoadOp> ring) {
  Operation *first = nullptr;
  for (LoadOp load : ring)
    for (Operation *user : load->getUsers()) {
      Operation *here = load->getBlock()->findAncestorOpInBlock(*user);
      if (here && (!first || here->isBeforeInBlock(first)))
        first = here;
    }
  for (LoadOp load : ring) {
    llvm::SetVector<Operation *> needs;
    if (!first || load->isBeforeInBlock(first) || !collectNeeds(load, first, needs))
      continue;
    moved.push_back({load, load->getNextNode()});
    for (Operation *need : needs)
      need->moveBefore(first);
  }
}

/// What only computes may stay where it was moved to.
void OwnRingDecider::undo() {
  undoRoles(kernel);
  for (auto [load, next] : llvm::reverse(moved))
    load->moveBefore(next);
  moved.clear();
}

/// Loads of a block fill one ring, whose uses bring the same buffers, and are brought together for
/// that; if `apart`, those that come together do: of which nothing uses the first before the next
/// is loaded.
void OwnRingDecider::setRings(bool apart) {
  SmallVector<SmallVector<LoadOp>> rings;
  for (LoadOp load : loads) {
    auto *ring = llvm::find_if(rings, [&](ArrayRef<LoadOp> others) {
      return llvm::all_of(others, [&](LoadOp other) {
        return (apart ? comesWith(load, other) : load->getBlock() == other->getBlock()) &&
               isThroughRegisters(load) == isThroughRegisters(other);
      });
    });
    if (ring == rings.end())
      ring = &rings.emplace_back();
    ring->push_back(load);
    load.setRing((isThroughRegisters(load) ? "written" : "copied") +
                 std::to_string(ring - rings.begin()));
  }
  if (!apart)
    for (ArrayRef<LoadOp> ring : rings)
      bringTogether(ring);
}
