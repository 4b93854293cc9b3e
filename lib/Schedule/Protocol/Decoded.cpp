// What is the same for each trace of a kernel, found before the first of them.
#include "Decoded.h"
#include "../Trip.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Common/Meetings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::protocol;
using namespace kiln::tile;

//===- Channels -----------------------------------------------------------------------------===//

/// Whether another role's warps fill a channel by copies that run on.
static bool isCopiedByWarps(WarpGroupsOp groups, unsigned capture) {
  auto isCopied = [](Operation *user) {
    auto put = dyn_cast<PutOp>(user);
    return put && !put.getBytes() && !put.getBody().front().getOps<CopyInOp>().empty();
  };
  return llvm::any_of(groups.getBodies(), [&](Region &region) {
    return llvm::any_of(region.getArgument(capture).getUsers(), isCopied);
  });
}

static bool isReleasedByCommit(WarpGroupsOp groups, unsigned capture) {
  return llvm::any_of(groups.getBodies(), [&](Region &region) {
    return llvm::any_of(region.getArgument(capture).getUsers(), [](Operation *user) {
      auto release = dyn_cast<ReleaseOp>(user);
      return release && release.getCommit();
    });
  });
}

static ChannelFacts findFacts(WarpGroupsOp groups, unsigned capture) {
  ChannelFacts facts;
  facts.op = getChannel(groups, capture);
  if (!facts.op)
    return facts;
  ChannelType type = facts.op.getType();
  facts.depth = type.getDepth();
  facts.full = facts.op.getFull();
  facts.empty = facts.op.getEmpty();
  facts.isOwn = type.getOwn();
  facts.isOfPair = type.getPair();
  facts.isFilledByEngine = isFilledByEngine(groups, capture);
  facts.isCopiedByWarps = !facts.isOwn && isCopiedByWarps(groups, capture);
  facts.isReleasedByCommit = isReleasedByCommit(groups, capture);
  facts.releases = countReleases(groups, capture);
  return facts;
}

//===- Ops ----------------------------------------------------------------------------------===//

Decoded::Decoded(WarpGroupsOp groups)
    : groups(groups), overlaps(groups), together(groups.getBodies().size(), ~size_t(0)),
      followed(groups) {
  for (unsigned i = 0; i < groups.getCaptures().size(); ++i)
    channels.push_back(findFacts(groups, i));
  bodies.resize(groups.getBodies().size());
  constants.resize(groups.getBodies().size());
  for (auto [role, region] : llvm::enumerate(groups.getBodies())) {
    values.push_back(1);
    number(region, role);
    decode(region.front(), role, role);
  }
}

/// Goes through all ops of a role. Arguments of a block follow one another.
void Decoded::number(Region &region, unsigned role) {
  for (Block &block : region) {
    for (BlockArgument argument : block.getArguments())
      numbers[argument] = values[role]++;
    for (Operation &op : block) {
      for (Value result : op.getResults())
        numbers[result] = values[role]++;
      if (isa<AllocOp>(op) || !overlaps.of(&op).empty())
        ownMemory.push_back({&op, role});
      for (Region &inner : op.getRegions())
        number(inner, role);
    }
  }
}

static Step::Kind findKind(Operation *op) {
  return llvm::TypeSwitch<Operation *, Step::Kind>(op)
      .Case([](scf::ForOp) { return Step::For; })
      .Case([](scf::WhileOp) { return Step::While; })
      .Case([](scf::IfOp) { return Step::If; })
      .Case([](OneThreadOp) { return Step::OneThread; })
      .Case([](PutOp) { return Step::Put; })
      .Case([](GetOp) { return Step::Get; })
      .Case([](AcquireOp) { return Step::Acquire; })
      .Case([](CommitOp) { return Step::Commit; })
      .Case([](FillOp) { return Step::FillTensor; })
      .Case([](FetchOp) { return Step::Fetch; })
      .Case([](FenceOp) { return Step::Fence; })
      .Case([](WaitPutsOp) { return Step::WaitPuts; })
      .Case([](ReleaseOp) { return Step::Release; })
      .Case([](AdvanceOp) { return Step::Advance; })
      .Case([](PartOp) { return Step::Part; })
      .Case([](AllocOp) { return Step::Alloc; })
      .Case([](PendOp) { return Step::Pend; })
      .Case([](ub::PoisonOp) { return Step::Poison; })
      .Case([](StartDotOp) { return Step::StartDot; })
      .Case([](WaitOp) { return Step::WaitDots; })
      .Case([](ReadOp) { return Step::Read; })
      .Case([](WriteOp) { return Step::Write; })
      .Case([](CopyOutOp) { return Step::CopyOut; })
      .Case([](WaitStoresOp) { return Step::WaitStores; })
      .Case([](BarrierOp) { return Step::Barrier; })
      .Case([](DotOp) { return Step::Dot; })
      .Default(Step::Scalar);
}

/// Which buffer of a put's slot an op there fills.
static unsigned getFilled(Operation *op) {
  Value buffer = isa<CopyInOp>(op) ? cast<CopyInOp>(op).getBuffer() : cast<WriteOp>(op).getBuffer();
  while (auto part = buffer.getDefiningOp<PartOp>())
    buffer = part.getBuffer();
  auto argument = dyn_cast<BlockArgument>(buffer);
  return argument ? argument.getArgNumber() : 0;
}

/// Of an op that gives one number: how.
void Decoded::decodeNumber(Step &step, unsigned role) {
  Operation *op = step.op;
  if (op->getNumResults() != 1 || getHandedOver(op->getResult(0)))
    return;
  step.result = getNumber(op->getResult(0));
  for (auto [i, operand] : llvm::enumerate(op->getOperands().take_front(step.operands.size())))
    step.operands[i] = getNumber(operand);
  step.formula = findFormula(op);
  if (step.formula.kind != Formula::Kind::None)
    step.kind = Step::Compute;
  else if (isa<arith::SelectOp>(op) && op->getResult(0).getType().isIntOrIndexOrFloat())
    step.kind = Step::Choose;
  if (!isa<arith::ConstantOp>(op) || !op->getResult(0).getType().isIntOrIndexOrFloat())
    return;
  if (std::optional<int64_t> number = fold(op, [](Value) { return std::nullopt; }).number) {
    constants[role].push_back({step.result, *number});
    step.kind = Step::Nothing;
  }
}

Step Decoded::decode(Operation *op, unsigned role) {
  Step step;
  step.op = op;
  step.isFollowed = followed.contains(op);
  if (isa_and_nonnull<arith::ArithDialect>(op->getDialect())) {
    step.kind = step.isFollowed ? Step::Scalar : Step::Nothing;
  } else if (isa<CopyInOp, WriteOp>(op) && isa<PutOp>(op->getParentOp())) {
    step.kind = Step::FillSlot;
    step.buffer = getFilled(op);
    return step;
  } else {
    step.usesScratch = !isa<AllocOp>(op) && !overlaps.of(op).empty();
    step.kind = !isa<BarrierOp>(op) && meetsOtherCopies(op) ? Step::Meet : findKind(op);
    if (isa<EndDotsOp>(op)) // behind all that it could let others do
      step.kind = Step::Nothing;
    else if (step.kind == Step::Scalar && op->getNumRegions() > 0 && matters(op))
      step.kind = Step::Refused;
    else if (step.kind == Step::Scalar && !step.isFollowed)
      step.kind = Step::Nothing;
  }
  if (step.kind == Step::Scalar)
    decodeNumber(step, role);
  if (llvm::is_contained({Step::For, Step::While, Step::If, Step::OneThread, Step::Put}, step.kind))
    for (auto [i, region] : llvm::enumerate(op->getRegions()))
      if (!region.empty()) {
        step.bodies[i] = bodies.size();
        bodies.emplace_back();
        decode(region.front(), role, step.bodies[i]);
      }
  return step;
}

void Decoded::decode(Block &block, unsigned role, unsigned at) {
  Body body;
  if (block.getNumArguments() > 0)
    body.firstArgument = getNumber(block.getArgument(0));
  unsigned ops = 0;
  for (Operation &op : block) {
    if (&op == &block.back() && op.hasTrait<OpTrait::IsTerminator>()) {
      for (Value operand : op.getOperands())
        body.handedOn.push_back(getNumber(operand));
      break;
    }
    ++ops;
    Step step = decode(&op, role);
    if (step.kind == Step::Nothing && !step.usesScratch)
      continue;
    step.ops = std::exchange(ops, 0);
    body.steps.push_back(step);
  }
  body.opsBehind = ops;
  bodies[at] = std::move(body);
}

//===- What is asked for later --------------------------------------------------------------===//

bool Decoded::matters(Operation *op) {
  auto [at, isNew] = mattering.try_emplace(op);
  if (isNew)
    at->second = protocol::matters(op);
  return at->second;
}

const HandedOver *Decoded::getHandedOver(Value number) {
  auto [at, isNew] = handedOver.try_emplace(number);
  if (isNew)
    at->second = findHandedOver(number);
  return at->second ? &*at->second : nullptr;
}
