// Reads which columns sums and operands have, and holds that against when these are in use.
#include "SourceErrors.h"
#include "TensorUses.h"
#include <map>

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
class ColumnTaker {
public:
  ColumnTaker(TensorUses &uses, RoleAttr role) : uses(uses), role(role) {}
  FailureOr<SmallVector<SlotKind>> run();

private:
  LogicalResult read(TensorUse &use);
  LogicalResult findOver(TensorUse &operand);
  LogicalResult add(const TensorUse &use);
  InFlightDiagnostic refuse(const TensorUse &use, const Twine &expected);

  TensorUses &uses;
  RoleAttr role;
  std::map<int64_t, SmallVector<const TensorUse *>> users; ///< by columns
};
} // namespace

InFlightDiagnostic ColumnTaker::refuse(const TensorUse &use, const Twine &expected) {
  return emitSourceError(use.getOp(), "expected ")
         << expected << ", since '" << use.getDecision() << "' is " << use.columns;
}

LogicalResult ColumnTaker::read(TensorUse &use) {
  std::optional<int64_t> columns;
  for (Operation *op : use.getOps()) {
    std::optional<int64_t> own = use.getSaid(op);
    if (!own)
      return emitSourceError(op, "expected '") << use.getDecision() << "' to be decided";
    if (columns && own != columns) {
      InFlightDiagnostic error = emitSourceError(op, "expected '")
                                 << use.getDecision()
                                 << "' of the dot that reads the operand first, " << *columns
                                 << ", got " << *own;
      error.attachNote(use.getOp()->getLoc()) << "that dot";
      return error;
    }
    columns = own;
  }
  use.columns = *columns;
  return success();
}

/// An operand in the columns of sums is written over the last of them that its role has fetched.
LogicalResult ColumnTaker::findOver(TensorUse &operand) {
  StartDotOp first = operand.dots.front();
  TensorUse *last = nullptr, *any = nullptr;
  for (TensorUse &use : uses.all) {
    if (!use.isSum() || use.columns != operand.columns)
      continue;
    any = &use;
    WaitOp wait = use.life.wait;
    if (use.kind == TensorUse::Fetched && wait->getBlock() == first->getBlock() &&
        wait->isBeforeInBlock(first))
      last = &use;
  }
  if (!any)
    return success();
  auto refuse = [&](const Twine &expected, TensorUse *sum) -> LogicalResult {
    InFlightDiagnostic error = this->refuse(operand, expected);
    error.attachNote(sum->getOp()->getLoc()) << "the sum that has these columns";
    return error;
  };
  if (!last)
    return refuse("a sum that the trip has fetched in front of the operand, over which that is "
                  "written",
                  any);
  if (last->over)
    return refuse("one operand over a sum", last);
  if (!fitsOver(last->life, operand))
    return refuse("an operand with the rows of the instruction and of the sum over which it is "
                  "written, and of no more bits",
                  last);
  WaitOp wait = last->life.wait;
  auto isBetween = [&](Operation *begin) {
    int64_t number = uses.getNumber(begin);
    return uses.getNumber(wait) < number && number <= uses.getNumber(operand.dots.back());
  };
  if (last->flight && llvm::any_of(last->getBegins(), isBetween))
    return refuse("dots that read the operand in front of those that begin the next trip's sum in "
                  "its columns",
                  last);
  uses.writeOver(operand, *last);
  return success();
}

/// Nothing else may be there meanwhile, and slots of one channel are told of in one way.
LogicalResult ColumnTaker::add(const TensorUse &use) {
  if (!use.isSum() && use.over)
    return success();
  SmallVector<const TensorUse *> &others = users[use.columns];
  for (const TensorUse *other : others) {
    std::string expected;
    if (other->getSlotKind(role).type != use.getSlotKind(role).type)
      expected = "sums, or operands, of one type in columns of their own";
    else if (!other->getSlotKind(role).isLike(use.getSlotKind(role)))
      expected = "operands over all the sums in these columns, or none";
    else if (!use.isSameFlight(*other) && !uses.areApart(use.span, other->span))
      expected = ("nothing else of role \"" + role.getName() +
                  "\" in these columns from the first use to the last")
                     .str();
    if (expected.empty())
      continue;
    InFlightDiagnostic error = refuse(use, expected);
    error.attachNote(other->getOp()->getLoc()) << "what else has these columns";
    return error;
  }
  others.push_back(&use);
  for (const TensorUse &other : uses.all)
    if (use.isSameFlight(other) && other.columns != use.columns) {
      InFlightDiagnostic error =
          refuse(use, "the columns that the sum of the trip before has, " + Twine(other.columns));
      error.attachNote(other.getOp()->getLoc()) << "where that is waited for";
      return error;
    }
  return success();
}

FailureOr<SmallVector<SlotKind>> ColumnTaker::run() {
  for (TensorUse &use : uses.all)
    if (failed(read(use)))
      return failure();
  for (TensorUse &use : uses.all)
    for (Operation *op : use.getOps())
      op->removeAttr(use.getDecision());
  for (TensorUse &use : uses.all)
    if (!use.isSum() && failed(findOver(use)))
      return failure();
  for (const TensorUse &use : uses.all)
    if (failed(add(use)))
      return failure();
  SmallVector<SlotKind> kinds;
  for (auto &[number, those] : users) {
    if (number != int64_t(kinds.size()))
      return refuse(*those.front(),
                    "numbers from 0 on without a gap, the next of which is " + Twine(kinds.size()));
    SlotKind &kind = kinds.emplace_back(those.front()->getSlotKind(role));
    for (const TensorUse *use : those) {
      kind.join(use->getSlotKind(role));
      // Others may have had its slot in front of the sum that the condition chooses, or in it.
      kind.isCarried |= use->kind == TensorUse::Chosen && those.size() > 1;
    }
  }
  return kinds;
}

FailureOr<SmallVector<SlotKind>> kiln::takeColumns(TensorUses &uses, RoleAttr role) {
  return ColumnTaker(uses, role).run();
}
