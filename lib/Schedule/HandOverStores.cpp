// Stores of what another role makes: that role writes the value to a slot, box by box, and the one
// that stores has the engine copy it from there. So the role that computes goes on at once.
#include "Boxes.h"
#include "Rings.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The roles of the ops that a value is made of.
static llvm::SetVector<StringRef> findMakers(Value value) {
  llvm::SetVector<StringRef> makers;
  llvm::SetVector<Value> seen;
  SmallVector<Value> work = {value};
  auto need = [&](Value next) {
    if (isa<RankedTensorType>(next.getType()) && seen.insert(next))
      work.push_back(next);
  };
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (loop && argument.getArgNumber() > 0)
        need(loop.getResult(argument.getArgNumber() - 1));
      continue;
    }
    Operation *op = next.getDefiningOp();
    unsigned index = cast<OpResult>(next).getResultNumber();
    // A load that fills a buffer is made by who reads it.
    auto load = dyn_cast<LoadOp>(op);
    if (StringRef role = getRoleName(op); !role.empty() && !(load && load.getBuffer())) {
      makers.insert(role);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      need(loop.getInitArgs()[index]);
      need(loop.getBody()->getTerminator()->getOperand(index));
    } else if (auto condition = dyn_cast<scf::IfOp>(op)) {
      need(condition.thenYield().getOperand(index));
      need(condition.elseYield().getOperand(index));
    } else {
      for (Value operand : op->getOperands())
        need(operand);
    }
  }
  return makers;
}

LogicalResult kiln::addStore(RingPlan &plan, StoreOp store) {
  llvm::SetVector<StringRef> makers = findMakers(store.getValue());
  StringRef name = getRoleName(store);
  if (name.empty() || makers.empty() || (makers.size() == 1 && makers[0] == name))
    return success();
  if (makers.size() > 1)
    return store.emitOpError("expected a value that one role makes, got one of roles \"")
           << makers[0] << "\" and \"" << makers[1] << "\"";
  FailureOr<RoleAttr> maker = findRole(store, makers[0]), role = findRole(store, name);
  if (failed(maker) || failed(role) || failed(cutIntoBoxes(store)))
    return failure();
  if (role->getCopies() > 1)
    return store.emitOpError("expected a role of one copy to store what role \"")
           << makers[0] << "\" makes, got " << role->getCopies() << " of \"" << name << "\"";
  Ring ring;
  ring.producer = *maker;
  ring.depth = *store.getInFlight() + 1;
  RingUse use;
  use.store = store;
  use.readers.emplace_back();
  use.readers.back().role = *role;
  ring.uses.push_back(use);
  plan.rings.push_back(ring);
  return success();
}

void kiln::handOver(Ring &ring, RingUse &use) {
  StoreOp store = use.store;
  Reader &reader = use.readers.front();
  StoreBoxes boxes = *cutIntoBoxes(store);
  Location loc = store.getLoc();
  OpBuilder builder(store);
  auto tag = [](Operation *op, RoleAttr role) { setRoleName(op, role.getName()); };

  auto put = PutOp::create(builder, loc, ring.channel, use.slot, use.phase, /*bytes=*/0);
  tag(put, ring.producer);
  Block &body = put.getBody().emplaceBlock();
  for (Type type : ring.channel.getType().getBuffers())
    body.addArgument(type, loc);
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  for (auto [buffer, offsets] : llvm::zip_equal(body.getArguments(), boxes.offsets)) {
    Value box = store.getValue();
    if (boxes.offsets.size() > 1)
      box = SliceOp::create(inner, loc, boxes.type, box, offsets);
    WriteOp::create(inner, loc, box, buffer);
  }

  reader.get = GetOp::create(builder, loc, ring.channel, use.slot, use.phase);
  tag(reader.get, reader.role);
  IndexMath math{builder, loc};
  for (auto [buffer, box] : llvm::zip_equal(reader.get.getBuffers(), boxes.offsets)) {
    SmallVector<Value> offsets;
    for (auto [offset, by] : llvm::zip_equal(store.getOffsets(), box))
      offsets.push_back(math.shift(offset, by));
    tag(CopyOutOp::create(builder, loc, buffer, store.getView(), offsets, store.getAtomAttr(),
                          store.getCacheAttr(), store.getEvictionAttr()),
        reader.role);
  }
  reader.done = WaitStoresOp::create(builder, loc, 0);
  tag(reader.done, reader.role);
  store.erase();
  use.store = nullptr;
}
