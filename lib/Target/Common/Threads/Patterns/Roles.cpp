// Roles: each warp finds the one it has by its number, which is the same for all its lanes.
//
// Inside a role threads are counted anew: `warp` is that of one copy.
#include "../Rings.h"
#include "../ThreadPatterns.h"
#include "../ThreadPlans.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Target/Common/ABI.h"
#include "kiln/Target/Common/Meetings.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static LogicalResult lowerRole(ThreadContext &context, WarpGroupsOp op, unsigned number,
                               Value place) {
  RoleAttr attr = op.getRole(number);
  Region &region = op.getBodies()[number];
  bool isLast = number + 1 == op.getBodies().size();
  auto branch = scf::IfOp();
  OpBuilder::InsertionGuard guard(context);
  if (!isLast) {
    Value mine = arith::CmpIOp::create(context, arith::CmpIPredicate::ult, place,
                                       context.i32(attr.getTotalWarps()));
    branch = scf::IfOp::create(context, mine, /*withElseRegion=*/true);
    context.setInsertionPoint(branch.getThenRegion().front().getTerminator());
  }

  // What the program's threads are to the outside, this role's are to its region.
  Value outerLane = context.lane, outerWarp = context.warp;
  OpBuilder::InsertPoint outerPrologue = context.prologue.saveInsertionPoint();
  auto outerCoordinates =
      std::exchange(context.threadCoordinates, decltype(context.threadCoordinates)());
  RoleBarriers barriers = numberBarriers(op, number);
  ThreadRole mine{attr, barriers.first, barriers.shared, {}};
  int64_t before = context.chip.getRegistersAtEntry(context.warps);
  if (attr.getRegisters() && attr.getRegisters() != before) {
    if (!context.chip.roleRegisters.step)
      return op.emitOpError("expected roles of ")
             << before << " registers, which warps of " << context.target.getSpelling()
             << " keep from the start, got " << attr.getRegisters();
    context.sync.setRegisters(context, context.getLoc(), before, attr.getRegisters());
  }
  mine.copy = arith::DivUIOp::create(context, place, context.i32(attr.getWarps()));
  context.warp = arith::RemUIOp::create(context, place, context.i32(attr.getWarps()));
  mine.place = place;
  context.role = mine;
  Value end = context.index(0);
  context.prologue.setInsertionPoint(end.getDefiningOp());
  for (auto [capture, argument] : llvm::zip(op.getCaptures(), region.getArguments())) {
    if (isa<ViewType, PointerType>(capture.getType()))
      context.views[argument] = ThreadView(context.views.find(capture)->second);
    else
      context.set(argument, context.get(capture));
  }
  if (failed(context.lower(region.front())))
    return failure();
  context.role.reset();
  context.lane = outerLane;
  context.warp = outerWarp;
  context.prologue.restoreInsertionPoint(outerPrologue);
  context.threadCoordinates = std::move(outerCoordinates);
  if (isLast)
    return success();
  context.setInsertionPoint(branch.getElseRegion().front().getTerminator());
  Value rest = arith::SubIOp::create(context, place, context.i32(attr.getTotalWarps()));
  return lowerRole(context, op, number + 1, rest);
}

static LogicalResult lowerRoles(ThreadContext &context, WarpGroupsOp op) {
  int64_t total = 0;
  for (auto attr : op.getRoles().getAsRange<RoleAttr>())
    total += attr.getTotalWarps();
  if (total != context.warps)
    return op.emitOpError("expected roles of the kernel's ")
           << context.warps << " warps, got " << total;
  SmallVector<Attribute> roles;
  for (auto attr : op.getRoles().getAsRange<RoleAttr>())
    roles.push_back(context.getDictionaryAttr(
        {context.getNamedAttr("name", context.getStringAttr(attr.getName())),
         context.getNamedAttr("warps", context.getI64IntegerAttr(attr.getTotalWarps()))}));
  setMetadata(context.kernel, "roles", context.getArrayAttr(roles));
  Value place = context.sync.makeUniform(context, context.getLoc(), context.warp);
  // As many as there are: whoever reads the code back knows how far addresses go.
  if (llvm::isPowerOf2_64(total))
    place = arith::AndIOp::create(context, place, context.i32(total - 1));
  return lowerRole(context, op, 0, place);
}

/// Of all threads of the program.
static void lowerMeeting(ThreadContext &context, BarrierOp op) {
  context.meetAll();
  if (op.getGlobal())
    context.getInsertionBlock()->back().setAttr(kOrdersGlobalAttrName, context.getUnitAttr());
}

static LogicalResult lowerBarrier(ThreadContext &context, BarrierOp op) {
  if (!context.role) {
    lowerMeeting(context, op);
    return success();
  }
  FailureOr<Meeting> meeting = requireMeeting(op);
  if (failed(meeting) ||
      failed(checkSchedule(context, op, op.getPublish() ? Takes::Engines : Takes::Nothing)))
    return failure();
  if (op.getPublish())
    context.sync.publishShared(context, context.getLoc());
  if (op.getPublish() && op.getGlobal())
    context.sync.publishGlobal(context, context.getLoc());
  if (*meeting == Meeting::All && !op.getBare())
    lowerMeeting(context, op);
  else {
    if (op.getGlobal())
      context.sync.fenceGlobal(context, context.getLoc());
    context.meet(*meeting, op.getBare());
    if (op.getGlobal())
      context.sync.fenceGlobal(context, context.getLoc());
  }
  return success();
}

void kiln::populateRolePatterns(ThreadPatterns &patterns) {
  patterns.addScheduled<WarpGroupsOp>(lowerRoles, Takes::Nothing);
  patterns.addScheduled<CopyIdOp>(
      [](ThreadContext &context, CopyIdOp op) {
        context.set(
            op, arith::IndexCastUIOp::create(context, context.getIndexType(), context.role->copy));
      },
      Takes::Nothing);
  patterns.add<BarrierOp>(lowerBarrier);
}
