// Stores of what another role makes: that role writes the value to a slot, box by box, and the one
// that stores has the engine copy it from there. So the role that computes goes on at once.
#include "Boxes.h"
#include "Rings.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

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
  use.readers.push_back(*role);
  ring.uses.push_back(use);
  plan.push_back(ring);
  return success();
}

void kiln::handOver(Ring &ring, RingUse &use) {
  StoreOp store = use.store;
  RoleAttr reader = use.readers.front();
  StoreBoxes boxes = *cutIntoBoxes(store);
  Location loc = store.getLoc();
  OpBuilder builder(store);
  auto tag = [](Operation *op, RoleAttr role) { setRoleName(op, role.getName()); };

  NextOp next = makeNext(builder, loc, ring, ring.producer);
  auto put =
      PutOp::create(builder, loc, ring.channel, next.getSlot(), next.getPhase(), /*bytes=*/0);
  tag(put, ring.producer);
  Block &body = put.getBody().emplaceBlock();
  for (Type type : ring.channel.getType().getBuffers())
    body.addArgument(type, loc);
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  for (auto [buffer, offsets] : llvm::zip_equal(body.getArguments(), boxes.offsets))
    WriteOp::create(inner, loc, takeBox(inner, store, boxes, offsets), buffer);

  next = makeNext(builder, loc, ring, reader);
  auto get = GetOp::create(builder, loc, ring.channel, next.getSlot(), next.getPhase());
  tag(get, reader);
  SmallVector<Operation *> made;
  for (auto [buffer, box] : llvm::zip_equal(get.getBuffers(), boxes.offsets)) {
    llvm::append_range(made, copyOut(builder, store, buffer, box));
  }
  made.push_back(WaitStoresOp::create(builder, loc, 0));
  auto place = [&](Operation *op, bool isFirst) {
    tag(op, reader);
    copyPlace(store, op);
    if (!isFirst) // the others follow the first
      op->removeAttr("order");
  };
  for (Operation *op : made) {
    auto out = dyn_cast<CopyOutOp>(op);
    if (auto part = out ? out.getBuffer().getDefiningOp<PartOp>() : PartOp())
      place(part, /*isFirst=*/false);
    place(op, op == made.front());
  }
  store.erase();
  use.store = nullptr;
}
