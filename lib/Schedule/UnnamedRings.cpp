// Which loads share a ring of which nobody says that they do.
#include "Rings.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include <set>

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

bool kiln::isReadUntilCommit(LoadOp load) {
  return llvm::any_of(load.getResult().getUses(), [](OpOperand &use) {
    auto dot = dyn_cast<DotOp>(use.getOwner());
    return dot && dot.getInFlight() && isReadFromBuffer(use) && endsByCommit(dot.getAtomAttr());
  });
}

/// Loads of one place by the stages that they say, in their order, and apart those that commits
/// give back; one that says no stage comes with the first.
static SmallVector<RingUse> cutUse(RingUse &use) {
  llvm::MapVector<std::pair<Attribute, unsigned>, RingUse> parts;
  auto said = llvm::map_range(use.loads, [](LoadOp load) { return getDecision(load, "stage"); });
  auto first = llvm::find_if(said, [](Attribute stage) { return bool(stage); });
  Attribute usual = first == said.end() ? Attribute() : *first;
  for (auto [load, stage] : llvm::zip_equal(use.loads, said))
    parts[{stage ? stage : usual, isReadUntilCommit(load)}].loads.push_back(load);
  return llvm::to_vector(llvm::make_second_range(parts));
}

/// The roles that use what is loaded.
static std::set<StringRef> findReaderNames(RingUse &use) {
  std::set<StringRef> names;
  for (LoadOp load : use.loads)
    for (OpOperand &operand : load.getResult().getUses())
      for (Operation *reader : findTileReaders(operand))
        names.insert(getRoleName(reader));
  return names;
}

RingPlan kiln::partUnnamed(const RingPlan &plan) {
  RingPlan parted;
  for (const Ring &ring : plan) {
    if (!ring.name.empty() || ring.uses.front().store) {
      parted.push_back(ring);
      continue;
    }
    size_t begin = parted.size();
    auto add = [&](RingUse use, bool isApart) {
      bool isByCommit = isReadUntilCommit(use.loads.front());
      auto fits = [&](Ring &other) {
        RingUse &its = other.uses.front();
        // A role that does not use what is in a slot must give it back too: who fills the ring
        // would wait for it to come that far.
        return its.getBuffers() == use.getBuffers() &&
               isReadUntilCommit(its.loads.front()) == isByCommit &&
               findReaderNames(its) == findReaderNames(use);
      };
      auto *found =
          isApart ? parted.end() : std::find_if(parted.begin() + begin, parted.end(), fits);
      if (found == parted.end()) {
        Ring made = ring;
        made.uses.clear();
        found = &parted.emplace_back(std::move(made));
      }
      found->uses.push_back(std::move(use));
    };
    for (RingUse use : ring.uses)
      for (auto [number, part] : llvm::enumerate(cutUse(use)))
        add(std::move(part), /*isApart=*/number > 0);
  }
  return parted;
}

bool kiln::comesWith(LoadOp load, LoadOp other) {
  return load->getBlock() == other->getBlock() &&
         llvm::none_of(other->getUsers(), [&](Operation *user) {
           Operation *here = load->getBlock()->findAncestorOpInBlock(*user);
           return here && here->isBeforeInBlock(load);
         });
}

void kiln::nameApart(KernelOp kernel, ArrayRef<LoadOp> loads) {
  llvm::StringSet<> names;
  kernel.getBody().walk([&](LoadOp load) { names.insert(load.getRing().value_or("")); });
  llvm::MapVector<Block *, SmallVector<SmallVector<LoadOp>>> rings;
  for (LoadOp load : loads) {
    if (load.getRing() || isDepthSaid(load))
      continue;
    SmallVector<SmallVector<LoadOp>> &others = rings[load->getBlock()];
    auto *ring = llvm::find_if(others, [&](ArrayRef<LoadOp> ring) {
      return llvm::all_of(ring, [&](LoadOp other) { return comesWith(load, other); });
    });
    if (ring == others.end())
      ring = &others.emplace_back();
    ring->push_back(load);
  }
  unsigned number = 0;
  for (auto &[block, apart] : rings)
    for (ArrayRef<LoadOp> ring : llvm::drop_begin(apart)) {
      std::string name;
      do
        name = "apart" + std::to_string(number++);
      while (names.contains(name));
      for (LoadOp load : ring)
        load.setRing(name);
    }
}
