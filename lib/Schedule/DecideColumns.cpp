// Gives what is in use at different times the same columns, and writes what is computed of sums
// over them, since tensor memory is scarce: neither makes anybody wait longer. The thread that
// starts the dots of the one and the warps that fetch the other come to both in the same order.
#include "TensorUses.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace kiln {
#define GEN_PASS_DEF_DECIDECOLUMNS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// Of one role.
class ColumnDecider {
public:
  ColumnDecider(Region &region, RoleAttr role) : uses(region), role(role) {}
  void run();

private:
  bool mayBeOver(const TensorUse &operand, const TensorUse &sum, ArrayRef<TensorUse *> others);
  void cover(ArrayRef<TensorUse *> alike);
  bool mayShare(const TensorUse &one, const TensorUse &other) const;
  void tellFlight(const TensorUse &use);
  void choose(TensorUse &use);

  TensorUses uses;
  RoleAttr role;
  std::map<int64_t, SmallVector<TensorUse *>> users; ///< by columns
};
} // namespace

/// What the source says, by the first that says it.
static int64_t findPin(const TensorUse &use) {
  for (Operation *op : use.getOps())
    if (std::optional<int64_t> columns = use.getSaid(op))
      return *columns;
  return -1;
}

static bool isPinned(const TensorUse &use) { return use.columns >= 0; }

/// Whether both may have slots of one channel, as far as it goes by when they are in use.
bool ColumnDecider::mayShare(const TensorUse &one, const TensorUse &other) const {
  return one.isSameFlight(other) || uses.areApart(one.span, other.span);
}

/// Whether the operand's dots follow the wait for the sum, and none of the others begins before
/// they have ended, for which the sum's slot would be free by then.
bool ColumnDecider::mayBeOver(const TensorUse &operand, const TensorUse &sum,
                              ArrayRef<TensorUse *> others) {
  WaitOp wait = sum.life.wait;
  StartDotOp first = operand.dots.front(), last = operand.dots.back();
  bool areOthers = isPinned(operand) && isPinned(sum) && operand.columns != sum.columns;
  if (areOthers || first->getBlock() != wait->getBlock() || first->isBeforeInBlock(wait) ||
      !fitsOver(sum.life, operand))
    return false;
  return llvm::none_of(others, [&](TensorUse *other) {
    return llvm::any_of(other->getBegins(), [&](Operation *begin) {
      int64_t number = uses.getNumber(begin);
      return uses.getNumber(wait) < number && number <= uses.getNumber(last);
    });
  });
}

/// Slots of one channel go back in one way, so sums that could have one are all written over or
/// none, but where the source says so of both: else they would need more channels than it spares.
/// One that may have the columns of a sum that stays in tensor memory needs no other channel.
void ColumnDecider::cover(ArrayRef<TensorUse *> alike) {
  llvm::MapVector<TensorUse *, TensorUse *> found; // an operand by its sum
  DenseSet<TensorUse *> operands;
  SmallVector<TensorUse *> rivals(llvm::make_filter_range(alike, [&](TensorUse *sum) {
    return llvm::none_of(uses.all, [&](TensorUse &other) {
      bool stays = other.kind == TensorUse::Chosen || other.kind == TensorUse::Carried;
      return stays && other.getSlotKind(role).isLike(sum->getSlotKind(role)) &&
             mayShare(*sum, other);
    });
  }));
  auto find = [&](TensorUse *sum, bool arePinned) {
    for (TensorUse &operand : uses.all)
      if (!operand.isSum() && !operand.over &&
          (!arePinned || (isPinned(operand) && isPinned(*sum))) &&
          mayBeOver(operand, *sum, rivals)) {
        if (operands.insert(&operand).second)
          found[sum] = &operand;
        return;
      }
  };
  for (TensorUse *sum : llvm::reverse(alike))
    find(sum, /*arePinned=*/true);
  for (auto &[sum, operand] : found)
    uses.writeOver(*operand, *sum);
  for (TensorUse *sum : alike)
    if (!sum->over)
      find(sum, /*arePinned=*/false);
  bool areAll = llvm::all_of(alike, [&](TensorUse *sum) {
    return found.contains(sum) || !llvm::is_contained(rivals, sum) ||
           llvm::none_of(found, [&](auto &entry) { return mayShare(*sum, *entry.first); });
  });
  if (areAll)
    for (auto &[sum, operand] : found)
      uses.writeOver(*operand, *sum);
}

/// Others of a flight have its columns.
void ColumnDecider::tellFlight(const TensorUse &use) {
  for (TensorUse &other : uses.all)
    if (use.isSameFlight(other) && !isPinned(other))
      other.columns = use.columns;
}

/// The first columns of that kind that are free from its begin to its end, or further ones.
void ColumnDecider::choose(TensorUse &use) {
  if (!isPinned(use)) {
    auto isFree = [&](TensorUse *other) {
      return other->getSlotKind(role).isLike(use.getSlotKind(role)) && mayShare(use, *other);
    };
    use.columns = 0;
    for (auto &[number, others] : users) {
      if (llvm::all_of(others, isFree)) {
        use.columns = number;
        break;
      }
      if (number == use.columns)
        ++use.columns;
    }
  }
  users[use.columns].push_back(&use);
  tellFlight(use);
}

void ColumnDecider::run() {
  for (TensorUse &use : uses.all)
    use.columns = findPin(use);
  for (TensorUse &use : uses.all)
    if (isPinned(use))
      tellFlight(use);
  llvm::MapVector<Type, SmallVector<TensorUse *>> alike;
  for (TensorUse &use : uses.all)
    if (use.kind == TensorUse::Fetched)
      alike[use.getSlotKind(role).type].push_back(&use);
  for (auto &[type, sums] : alike)
    cover(sums);
  for (TensorUse &use : uses.all)
    if (use.isSum() && use.over)
      use.columns = std::max(use.columns, use.over->columns);
  DenseSet<TensorUse *> pinned;
  for (TensorUse &use : uses.all)
    if (isPinned(use))
      pinned.insert(&use);
  auto getRank = [&](TensorUse &use) {
    bool comesFirst = !use.isSum() || use.kind == TensorUse::Chosen;
    return pinned.contains(&use) ? 0 : comesFirst ? 1 : use.over ? 2 : 3;
  };
  for (int64_t rank = 0; rank < 4; ++rank)
    for (TensorUse &use : uses.all)
      if (getRank(use) == rank && (use.isSum() || !use.over))
        choose(use);
  for (TensorUse &use : uses.all) {
    int64_t columns = use.isSum() || !use.over ? use.columns : use.over->columns;
    for (Operation *op : use.getOps())
      if (!use.getSaid(op))
        use.say(op, columns);
  }
}

namespace {
struct DecideColumns : kiln::impl::DecideColumnsBase<DecideColumns> {
  void runOnOperation() override {
    getOperation().walk([](WarpGroupsOp groups) {
      for (auto [number, region] : llvm::enumerate(groups.getBodies()))
        ColumnDecider(region, groups.getRole(number)).run();
      return WalkResult::skip();
    });
  }
};
} // namespace
