// Numbers that one role makes and another uses: each is written to the slot of a channel and read
// from it. Each copy of a role that makes one has it whole, and writes the same.
//
// Most numbers each role makes for itself, of what a launch says and of what is loaded of memory
// that the kernel does not change. What an atomic gives, what is loaded of memory that changes, and
// what becomes of a tensor, only one role may ask for, or has.
#include "Rings.h"
#include "Slice.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/SharedLayout.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
struct ScalarEdge {
  RoleAttr maker;
  SmallVector<RoleAttr> users;
};

class ScalarHandOver {
public:
  ScalarHandOver(KernelOp kernel, TargetInterface target)
      : kernel(kernel), target(target), builder(kernel.getContext()) {}
  LogicalResult realise(Value value, const ScalarEdge &edge, ScalarReads &reads);

private:
  RankedTensorType getTensor(Type element, RoleAttr role) const;

  KernelOp kernel;
  TargetInterface target;
  OpBuilder builder;
};
} // namespace

/// A slot has whole bytes.
static Type getHandedType(Type type) {
  bool isSmall = type.isInteger() && type.getIntOrFloatBitWidth() < 8;
  return type.isIndex() ? IntegerType::get(type.getContext(), 64)
         : isSmall      ? IntegerType::get(type.getContext(), 8)
                        : type;
}

static Value castTo(OpBuilder &builder, Location loc, Value value, Type type) {
  Type from = value.getType();
  if (from == type)
    return value;
  if (from.isIndex() || type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  if (from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return arith::ExtUIOp::create(builder, loc, type, value);
  return arith::TruncIOp::create(builder, loc, type, value);
}

/// One element that all threads of a role have.
RankedTensorType ScalarHandOver::getTensor(Type element, RoleAttr role) const {
  unsigned warps = llvm::PowerOf2Ceil(role.getTotalWarps());
  return withLayout(RankedTensorType::get({1}, element),
                    getBlockedLayout({1}, 1, {target.getChipRecord().warpSize, warps}));
}

LogicalResult ScalarHandOver::realise(Value value, const ScalarEdge &edge, ScalarReads &reads) {
  Operation *op = value.getDefiningOp();
  Location loc = op->getLoc();
  Type type = getHandedType(value.getType());
  RankedTensorType made = getTensor(type, edge.maker);
  LinearLayout wanted = getBlockedLayout({1}, 1, {target.getChipRecord().warpSize, 1});
  SharedPlan plan = planShared(cast<LayoutAttr>(made.getEncoding()).toLinear(made.getShape()),
                               wanted, getSharedElementBytes(type), target.getChipRecord(), {});
  auto buffer = BufferType::get(kernel.getContext(), {1}, type,
                                LayoutAttr::get(kernel.getContext(), plan.layout));
  int64_t warps = 0;
  for (RoleAttr role : edge.users)
    warps += role.getTotalWarps();
  builder.setInsertionPointToStart(&kernel.getBody().front());
  Ring ring;
  ring.channel = ChannelOp::create(
      builder, loc, ChannelType::get(kernel.getContext(), 1, /*own=*/false, {buffer}),
      edge.maker.getTotalWarps(), warps);

  builder.setInsertionPointAfter(op);
  Value handed = castTo(builder, loc, value, type);
  auto splat = inRole(SplatOp::create(builder, loc, made, handed), edge.maker);
  NextOp next = makeNext(builder, loc, ring, edge.maker);
  auto put = inRole(
      PutOp::create(builder, loc, ring.channel, next.getSlot(), next.getPhase(), /*bytes=*/0),
      edge.maker);
  Block &body = put.getBody().emplaceBlock();
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  WriteOp::create(inner, loc, splat.getResult(), body.addArgument(buffer, loc));
  for (RoleAttr role : edge.users) {
    next = makeNext(builder, loc, ring, role);
    auto get =
        inRole(GetOp::create(builder, loc, ring.channel, next.getSlot(), next.getPhase()), role);
    RankedTensorType tensor = getTensor(type, role);
    auto read = inRole(ReadOp::create(builder, loc, tensor, get.getBuffers().front(),
                                      DenseI64ArrayAttr(), Attribute()),
                       role);
    auto none = RankedTensorType::get({}, type);
    none = withLayout(none, getLayout(read.getResult()).reshapeOuts({}));
    Value element =
        inRole(ReshapeOp::create(builder, loc, none, read.getResult()), role).getResult();
    Value number = inRole(ToScalarOp::create(builder, loc, element), role).getResult();
    number = castTo(builder, loc, number, value.getType());
    setRoleName(number.getDefiningOp(), role.getName());
    reads[{value, role}] = number;
  }
  return success();
}

FailureOr<ScalarReads> kiln::handOverScalars(KernelOp kernel, ArrayAttr roles) {
  ScalarReads reads;
  // Who hands a number over may need others to come there.
  while (true) {
    llvm::MapVector<Value, ScalarEdge> edges;
    for (auto role : roles.getAsRange<RoleAttr>()) {
      Slice slice(kernel, role, reads);
      if (failed(slice.compute()))
        return failure();
      for (auto [value, maker] : slice.cuts) {
        edges[value].maker = maker;
        edges[value].users.push_back(role);
      }
    }
    if (edges.empty())
      return reads;
    FailureOr<TargetInterface> target = requireTarget(kernel);
    if (failed(target))
      return failure();
    for (auto &[value, edge] : edges)
      if (failed(ScalarHandOver(kernel, *target).realise(value, edge, reads)))
        return failure();
  }
}
