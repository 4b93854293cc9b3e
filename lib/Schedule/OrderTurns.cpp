// Lets copies that take programs in turn use each ring in the order of the programs.
//
// A barrier tells a phase by its parity alone. A copy that began with the ring before the copies in
// front of it are through would wait for a phase two rounds off, and take an empty slot for a full
// one, or wait forever. So whoever has come to its last use of a ring hands the turn on, through a
// channel without buffers:
//
//   tile.get %turn[…]              unless it is the block's first program
//   … uses of a ring by program p
//   tile.put %turn[…] { }          unless it is the block's last
//
// Then use i of a ring is waited for when all uses in front of it have been got, so that of its
// slot the use before it is known to be full; and who fills knows that the use two before it was
// released. That holds of rings of any depth, of programs of any number of uses or none, and
// however long the last slots are held: what hands on the turn is that they were got.
//
// Uses that lie between one another in a program have one turn, others each their own: so one copy
// stores while another multiplies, whether or not the stores go through a ring too.
#include "Turns.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {
#define GEN_PASS_DEF_ORDERTURNS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// Ops of a program from the first that waits for a slot to the last, with rings of which others do
/// not.
struct Section {
  Operation *first, *last;
  llvm::SmallDenseSet<Value> channels;
};

class TurnOrderer {
public:
  TurnOrderer(WarpGroupsOp groups, unsigned number)
      : groups(groups), number(number), role(groups.getRole(number)), loc(groups.getLoc()),
        builder(groups.getContext()), loop(findPrograms(groups.getBodies()[number])) {}
  void run();

private:
  SmallVector<Section> findSections();
  Value addTurn();
  void order(const Section &section);
  void take(Value turn, Operation *first);
  void handOn(Value turn, const Section &section, Block &block);
  void handOnHere(Value turn);

  WarpGroupsOp groups;
  unsigned number;
  RoleAttr role;
  Location loc;
  OpBuilder builder;
  /// Through the copy's programs.
  scf::ForOp loop;
  /// This copy's number; how far programs that follow one another lie apart.
  Value copy, step;
};
} // namespace

/// The channel of an op that waits for a slot of another role's, or null.
static Value getAwaited(Operation *op) {
  auto channel = [](auto op) {
    return op.getChannel().getType().getOwn() ? Value() : op.getChannel();
  };
  if (auto get = dyn_cast<GetOp>(op))
    return channel(get);
  if (auto put = dyn_cast<PutOp>(op))
    return channel(put);
  auto acquire = dyn_cast<AcquireOp>(op);
  return acquire ? channel(acquire) : Value();
}

/// Of the channels, if some are given, that an op waits for.
static bool waitsFor(Operation *op, const llvm::SmallDenseSet<Value> &channels) {
  return op
      ->walk([&](Operation *inner) {
        Value channel = getAwaited(inner);
        return channel && channels.contains(channel) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

SmallVector<Section> TurnOrderer::findSections() {
  llvm::MapVector<Value, Section> byChannel;
  for (Operation &op : loop.getBody()->without_terminator())
    op.walk([&](Operation *inner) {
      if (Value channel = getAwaited(inner))
        byChannel.insert({channel, {&op, &op, {channel}}}).first->second.last = &op;
    });
  // In the order of their first ops.
  SmallVector<Section> sections;
  for (auto &[channel, next] : byChannel) {
    if (!sections.empty() && !sections.back().last->isBeforeInBlock(next.first)) {
      Section &open = sections.back();
      if (open.last->isBeforeInBlock(next.last))
        open.last = next.last;
      open.channels.insert(channel);
    } else {
      sections.push_back(next);
    }
  }
  return sections;
}

/// As many slots as copies: each copy waits for its own, and always hands on the same.
Value TurnOrderer::addTurn() {
  OpBuilder outer(groups);
  auto type = ChannelType::get(groups.getContext(), role.getCopies(), /*own=*/false, {});
  auto channel = ChannelOp::create(outer, loc, type, role.getWarps(), role.getWarps());
  groups->insertOperands(groups->getNumOperands(), channel.getResult());
  for (Region &region : groups.getBodies())
    region.addArgument(type, loc);
  return groups.getBodies()[number].getArguments().back();
}

/// In front of a section: the copy gets what the program before has put, if this is not the first.
void TurnOrderer::take(Value turn, Operation *first) {
  builder.setInsertionPoint(first);
  IndexMath math{builder, loc};
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        loop.getInductionVar(), loop.getLowerBound());
  Value isFirstCopy =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, copy, math.constant(0));
  Value none = arith::AndIOp::create(builder, loc, isFirst, isFirstCopy);
  Value any =
      arith::XOrIOp::create(builder, loc, none, arith::ConstantIntOp::create(builder, loc, 1, 1));
  auto condition = scf::IfOp::create(builder, loc, any);
  OpBuilder inner = condition.getThenBodyBuilder();
  auto next = NextOp::create(inner, loc, turn);
  GetOp::create(inner, loc, turn, next.getSlot(), next.getPhase());
  ReleaseOp::create(inner, loc, turn, next.getSlot(), /*lanes=*/false, /*commit=*/false,
                    /*peers=*/ValueRange());
  stepOver(builder, loc, {turn, false}, math.constant(role.getCopies() - 1));
}

void TurnOrderer::handOnHere(Value turn) {
  IndexMath math{builder, loc};
  auto next = NextOp::create(builder, loc, turn, /*fills=*/true);
  Value later = math.add(loop.getInductionVar(), step);
  Value any =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, later, loop.getUpperBound());
  auto condition = scf::IfOp::create(builder, loc, any);
  OpBuilder inner = condition.getThenBodyBuilder();
  auto put = PutOp::create(inner, loc, turn, next.getSlot(), next.getPhase(), /*bytes=*/0);
  put.getBody().emplaceBlock();
  stepOver(builder, loc, {turn, true}, math.constant(role.getCopies() - 1));
}

/// Behind the last op of a block that waits for a slot; in each branch of a condition, so that what
/// comes there behind the last slot, as the wait for the last dots, runs beside the next program.
void TurnOrderer::handOn(Value turn, const Section &section, Block &block) {
  Operation *last = nullptr;
  for (Operation &op : block.without_terminator())
    if (waitsFor(&op, section.channels))
      last = &op;
  auto condition = dyn_cast_or_null<scf::IfOp>(last);
  if (condition && !condition.getElseRegion().empty()) {
    for (Region &region : condition->getRegions())
      handOn(turn, section, region.front());
    return;
  }
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(&block);
  handOnHere(turn);
}

void TurnOrderer::order(const Section &section) {
  Value turn = addTurn();
  builder.setInsertionPoint(loop);
  IndexMath math{builder, loc};
  // The turns of the programs in front of this copy's first are handed on, and taken, by others.
  stepOver(builder, loc, {turn, true}, copy);
  if (role.getCopies() > 2) {
    Value own = math.min(copy, math.constant(1));
    stepOver(builder, loc, {turn, false}, math.sub(copy, own));
  }
  take(turn, section.first);
  handOn(turn, section, *loop.getBody());
}

void TurnOrderer::run() {
  SmallVector<Section> sections = loop ? findSections() : SmallVector<Section>();
  if (sections.empty())
    return;
  builder.setInsertionPoint(loop);
  IndexMath math{builder, loc};
  copy = CopyIdOp::create(builder, loc, builder.getIndexType());
  step = math.div(loop.getStep(), math.constant(role.getCopies()));
  for (const Section &section : sections)
    order(section);
}

scf::ForOp kiln::findPrograms(Region &region) {
  for (auto loop : region.front().getOps<scf::ForOp>())
    if (loop->hasAttr(kProgramsAttrName))
      return loop;
  return {};
}

void kiln::stepOver(OpBuilder &builder, Location loc, RingSide side, Value uses) {
  IndexMath math{builder, loc};
  auto skip = scf::ForOp::create(builder, loc, math.constant(0), uses, math.constant(1));
  OpBuilder inner = OpBuilder::atBlockBegin(skip.getBody());
  NextOp::create(inner, loc, side.first).setFills(side.second);
}

namespace {
struct OrderTurns : kiln::impl::OrderTurnsBase<OrderTurns> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      for (WarpGroupsOp groups : kernel.getBody().getOps<WarpGroupsOp>())
        for (unsigned number = 0; number < groups.getRoles().size(); ++number)
          if (takesTurns(kernel, groups.getRole(number)))
            TurnOrderer(groups, number).run();
  }
};
} // namespace
