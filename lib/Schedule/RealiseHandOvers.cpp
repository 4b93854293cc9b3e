// Writes each tensor that a role hands over to a slot, or commits it, and lets others read it
// there.
#include "CutParts.h"
#include "HandOvers.h"
#include "Rings.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/BareTypes.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Layout/Transforms/BufferReaders.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEHANDOVERS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// What is handed over, by whom, as what; and the conversions by which others read it.
class HandOver {
public:
  HandOver(KernelOp kernel, ConvertLayoutOp handed, ChannelType type)
      : kernel(kernel), handed(handed), type(type), value(handed.getInput()),
        builder(kernel.getContext()) {}
  LogicalResult realise();

private:
  LogicalResult findReads();
  LogicalResult checkRead(Operation *user);
  int64_t countReleases(RoleAttr role, ArrayRef<ConvertLayoutOp> conversions);
  LogicalResult checkSum(DotOp dot);
  void makeChannel(int64_t full, int64_t empty);
  LogicalResult commit();
  Value fetch(DotOp dot, NextOp next, RoleAttr role);
  LogicalResult checkBuffer(BufferType buffer);
  LogicalResult checkBoxes();
  LogicalResult write();
  Value readBoxes(GetOp get, RankedTensorType wanted, RoleAttr role);
  void read(RoleAttr role, ArrayRef<ConvertLayoutOp> conversions);

  KernelOp kernel;
  ConvertLayoutOp handed;
  ChannelType type;
  Value value;
  RoleAttr maker;
  llvm::MapVector<Attribute, SmallVector<ConvertLayoutOp>> reads; // by role
  int64_t warps = 0;                                              ///< of those that read
  int64_t releases = 0;                                           ///< arrivals that empty a slot
  OpBuilder builder;
  Ring ring;
};
} // namespace

RankedTensorType kiln::getHandedType(RankedTensorType type) {
  bool isNarrow = !type.getElementType().isIndex() && type.getElementTypeBitWidth() < 8;
  return isNarrow ? cast<RankedTensorType>(type.clone(IntegerType::get(type.getContext(), 8)))
                  : type;
}

/// A tensor of another type's elements: bytes of fewer bits, or the bits of bytes.
static Value changeWidth(OpBuilder &builder, Location loc, Value value, RankedTensorType type,
                         RoleAttr role) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from == type)
    return value;
  RankedTensorType narrow = from.getElementTypeBitWidth() < 8 ? from : type;
  RankedTensorType bits =
      cast<RankedTensorType>(narrow.clone(builder.getIntegerType(narrow.getElementTypeBitWidth())));
  auto cast = [&](RankedTensorType to) {
    if (value.getType() != to)
      value = inRole(arith::BitcastOp::create(builder, loc, to, value), role);
  };
  if (narrow == type) {
    value = inRole(arith::TruncIOp::create(builder, loc, bits, value), role);
    cast(type);
  } else {
    cast(bits);
    value = inRole(arith::ExtUIOp::create(builder, loc, type, value), role);
  }
  return value;
}

/// The operand by which a loop's trip hands a result on, and the argument in which the next one has
/// it, if that is all that becomes of it where a `while` asks for another trip.
static std::pair<Value, BlockArgument> findHandedOn(Operation *loop, unsigned number) {
  if (auto asks = dyn_cast<scf::WhileOp>(loop)) {
    auto passed = dyn_cast<BlockArgument>(asks.getConditionOp().getArgs()[number]);
    if (!passed || passed.getOwner() != asks.getBeforeBody() || !passed.hasOneUse())
      return {};
    return {asks.getYieldOp().getOperand(passed.getArgNumber()),
            asks.getAfterBody()->getArgument(number)};
  }
  auto counted = cast<scf::ForOp>(loop);
  return {counted.getBody()->getTerminator()->getOperand(number), counted.getRegionIterArg(number)};
}

/// Whether a value is what a loop hands on, or is put together of that: it carries a sum in parts.
static bool isOfTripBefore(Value value, BlockArgument argument) {
  if (!value.hasOneUse())
    return false;
  auto parts = value.getDefiningOp<ConcatOp>();
  return parts ? llvm::any_of(parts.getInputs(),
                              [&](Value part) { return isOfTripBefore(part, argument); })
               : value == argument;
}

/// The dot whose sum a loop carries and uses for nothing else: so it stays where it is from trip to
/// trip.
static DotOp findCarriedDot(Operation *loop, unsigned number) {
  auto [handed, argument] = findHandedOn(loop, number);
  if (!handed || !handed.hasOneUse())
    return {};
  auto part = handed.getDefiningOp<SliceOp>();
  auto last = (part ? part.getInput() : handed).getDefiningOp<DotOp>();
  if (!last || last->getBlock() != argument.getOwner() ||
      (part && !llvm::all_of(last->getUsers(), llvm::IsaPred<SliceOp>)))
    return {};
  Value sum = last.getAccumulator();
  while (auto dot = sum.hasOneUse() ? sum.getDefiningOp<DotOp>() : DotOp())
    sum = dot.getAccumulator();
  return isOfTripBefore(sum, argument) ? last : DotOp();
}

DotOp kiln::findSummingDot(Value value) {
  Operation *maker = value.getDefiningOp();
  bool isLoop = isa_and_nonnull<scf::ForOp, scf::WhileOp>(maker);
  DotOp dot = isLoop ? findCarriedDot(maker, cast<OpResult>(value).getResultNumber())
                     : dyn_cast_or_null<DotOp>(maker);
  if (!dot || !dot.getInFlight() || dot.isPromoted() || !endsByCommit(dot.getAtomAttr()))
    return {};
  // Of several parts each has a slot where a loop carries it by itself.
  auto [rows, columns, depth] = countParts(dot);
  return isLoop || rows * columns == 1 ? dot : DotOp();
}

/// Whether this is read by products, from shared memory.
static bool isForDots(ConvertLayoutOp conversion) {
  return conversion->hasAttr(kResidencyAttrName);
}

static bool areCommitted(ConvertLayoutOp conversion) {
  return isForDots(conversion) && llvm::all_of(conversion->getUsers(), [](Operation *user) {
           return endsByCommit(cast<DotOp>(user).getAtomAttr());
         });
}

/// One of each copy if dots read it that end by commit, and one of each warp if others do.
int64_t HandOver::countReleases(RoleAttr role, ArrayRef<ConvertLayoutOp> conversions) {
  return (llvm::any_of(conversions, areCommitted) ? role.getCopies() : 0) +
         (llvm::all_of(conversions, areCommitted) ? 0 : role.getTotalWarps());
}

/// Another role reads what is handed over, or this one's products, which fill a ring of its own, or
/// one whose slots commits give back.
LogicalResult HandOver::checkRead(Operation *user) {
  auto conversion = dyn_cast<ConvertLayoutOp>(user);
  if (conversion && isForDots(conversion) && !llvm::all_of(user->getUsers(), llvm::IsaPred<DotOp>))
    return user->emitOpError("expected dots alone to use it, since '")
           << kResidencyAttrName << "' is decided";
  bool isOwn = getRoleName(user) == maker.getName();
  bool isMeant =
      conversion && !getRoleName(user).empty() &&
      (isOwn ? isForDots(conversion) && type.getOwn() != areCommitted(conversion) : !type.getOwn());
  if (isMeant)
    return success();
  InFlightDiagnostic error = user->emitOpError("expected ");
  if (!isOwn)
    return error << "a tile.convert_layout in " << (type.getOwn() ? "" : "another role than ")
                 << "role \"" << maker.getName() << "\", which hands it over";
  if (!conversion || !isForDots(conversion))
    return error << "a tile.convert_layout in another role than \"" << maker.getName()
                 << "\", which hands it over";
  error << "'" << kHandedAttrName << "' to be ";
  if (type.getOwn())
    return error << "a channel that is not 'own', since commits give its slots back";
  return error << "an 'own' channel, since role \"" << maker.getName()
               << "\" itself reads what it makes";
}

LogicalResult HandOver::findReads() {
  FailureOr<RoleAttr> made = findRole(handed, getRoleName(handed));
  if (failed(made))
    return failure();
  maker = *made;
  for (Operation *user : handed->getUsers())
    if (failed(checkRead(user)))
      return failure();
  WalkResult result = kernel.getBody().walk([&](ConvertLayoutOp user) -> WalkResult {
    if (user.getInput() != handed.getResult())
      return WalkResult::advance();
    FailureOr<RoleAttr> role = findRole(user, getRoleName(user));
    if (succeeded(role))
      reads[*role].push_back(user);
    return WalkResult(role);
  });
  if (result.wasInterrupted())
    return failure();
  for (auto &[attr, conversions] : reads) {
    auto role = cast<RoleAttr>(attr);
    warps += role.getTotalWarps();
    releases += countReleases(role, conversions);
  }
  return success();
}

LogicalResult HandOver::checkSum(DotOp dot) {
  if (!dot)
    return handed.emitOpError("expected a sum that a dot has in tensor memory, since '")
           << kHandedAttrName << "' is " << type;
  for (auto &[role, conversions] : reads)
    for (ConvertLayoutOp conversion : conversions)
      if (conversion.getType() != value.getType())
        return conversion.emitOpError("expected the layout in which ")
               << dot.getAtomAttr() << " has the sum, got " << conversion.getType();
  return success();
}

void HandOver::makeChannel(int64_t full, int64_t empty) {
  builder.setInsertionPointToStart(&kernel.getBody().front());
  ring.channel = ChannelOp::create(builder, value.getLoc(), type, full, empty);
  builder.setInsertionPoint(handed);
}

Value HandOver::fetch(DotOp dot, NextOp next, RoleAttr role) {
  Location loc = value.getLoc();
  auto get =
      inRole(GetOp::create(builder, loc, ring.channel, next.getSlot(), next.getPhase()), role);
  return inRole(
      FetchOp::create(builder, loc, value.getType(), get.getBuffers().front(), dot.getAtomAttr()),
      role);
}

/// A sum stays in tensor memory. Where the role that makes it uses it too, it fetches it as others
/// do, out of the slot that it has filled.
LogicalResult HandOver::commit() {
  DotOp dot = findSummingDot(value);
  if (failed(checkSum(dot)))
    return failure();
  Location loc = value.getLoc();
  bool isUsedByMaker = !value.hasOneUse();
  if (isUsedByMaker)
    warps += maker.getTotalWarps();
  // Of slots of which each copy has its own.
  makeChannel(/*full=*/1, warps / maker.getCopies());
  dot.setInFlight(0);
  NextOp next = makeNext(builder, loc, ring, maker);
  auto pend = inRole(PendOp::create(builder, loc, type.getAccumulator(), value), maker);
  inRole(CommitOp::create(builder, loc, pend, ring.channel, next.getSlot()), maker);
  if (isUsedByMaker)
    value.replaceAllUsesExcept(fetch(dot, next, maker), pend);
  for (auto &[attr, conversions] : reads) {
    auto role = cast<RoleAttr>(attr);
    Value sum = fetch(dot, makeNext(builder, loc, ring, role), role);
    for (ConvertLayoutOp conversion : conversions)
      conversion.getResult().replaceAllUsesWith(sum);
  }
  return success();
}

/// Where each buffer of a slot has its box of the tensor, and along which dimension they lie beside
/// one another.
static std::pair<SmallVector<SmallVector<int64_t>>, int64_t> getBoxes(ChannelType type,
                                                                      ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> box = type.getBuffer(0).getShape();
  int64_t axis = 0;
  while (axis + 1 < int64_t(shape.size()) && box[axis] == shape[axis])
    ++axis;
  SmallVector<SmallVector<int64_t>> offsets(type.getBuffers().size(),
                                            SmallVector<int64_t>(shape.size(), 0));
  for (auto [i, offset] : llvm::enumerate(offsets))
    offset[axis] = i * box[axis];
  return {offsets, axis};
}

/// A tensor of what the buffers of a slot have, each a box of it.
Value HandOver::readBoxes(GetOp get, RankedTensorType wanted, RoleAttr role) {
  Location loc = value.getLoc();
  ArrayRef<int64_t> box = type.getBuffer(0).getShape();
  LinearLayout whole = cast<LayoutAttr>(wanted.getEncoding()).toLinear(wanted.getShape());
  SmallVector<Value> parts;
  for (Value buffer : get.getBuffers())
    parts.push_back(inRole(ReadOp::create(builder, loc,
                                          withLayout(wanted.clone(box), *getBoxLayout(whole, box)),
                                          buffer, DenseI64ArrayAttr(), Attribute()),
                           role));
  if (parts.size() == 1)
    return parts.front();
  return inRole(
      ConcatOp::create(builder, loc, wanted, parts, getBoxes(type, wanted.getShape()).second),
      role);
}

void HandOver::read(RoleAttr role, ArrayRef<ConvertLayoutOp> conversions) {
  Location loc = value.getLoc();
  NextOp next = makeNext(builder, loc, ring, role);
  auto get =
      inRole(GetOp::create(builder, loc, ring.channel, next.getSlot(), next.getPhase()), role);
  DenseMap<Type, Value> tensors;
  for (ConvertLayoutOp conversion : conversions) {
    if (isForDots(conversion)) {
      conversion.getResult().replaceAllUsesWith(get.getBuffers().front());
      continue;
    }
    auto wanted = cast<RankedTensorType>(conversion.getType());
    Value &tensor = tensors[wanted];
    if (!tensor)
      tensor = changeWidth(builder, loc, readBoxes(get, getHandedType(wanted), role), wanted, role);
    conversion.getResult().replaceAllUsesWith(tensor);
  }
}

/// Products read a slot as their atoms do.
LogicalResult HandOver::checkBuffer(BufferType buffer) {
  auto type = cast<RankedTensorType>(value.getType());
  auto layout = dyn_cast_or_null<LayoutAttr>(buffer.getLayout());
  for (auto &[role, conversions] : reads)
    for (ConvertLayoutOp conversion : conversions) {
      if (!isForDots(conversion))
        continue;
      for (OpOperand &use : conversion.getResult().getUses()) {
        auto dot = cast<DotOp>(use.getOwner());
        BufferReader reader = BufferReader::ofDot(use);
        if (layout && admits(layout.toLinear(buffer.getShape()), reader, type))
          continue;
        InFlightDiagnostic error = handed.emitOpError("expected '")
                                   << kHandedAttrName << "' to have slots that lie as "
                                   << dot.getAtomAttr() << " reads operand "
                                   << "ab"[reader.operand] << ", got " << buffer;
        error.attachNote(dot.getLoc()) << "the product";
        return error;
      }
    }
  return success();
}

/// Each thread has its elements of a box in registers, as it writes and as it reads them.
LogicalResult HandOver::checkBoxes() {
  SmallVector<Value> sides = {value};
  for (auto &[role, conversions] : reads)
    for (ConvertLayoutOp conversion : conversions) {
      if (isForDots(conversion) && type.getBuffers().size() > 1)
        return handed.emitOpError("expected '")
               << kHandedAttrName << "' to have slots of one buffer, which products read, got "
               << type;
      if (!isForDots(conversion))
        sides.push_back(conversion.getResult());
    }
  for (Value side : sides)
    if (!getBoxLayout(getLayout(side), type.getBuffer(0).getShape()))
      return handed.emitOpError("expected '")
             << kHandedAttrName << "' to have buffers of boxes that registers alone choose among, "
             << "got " << type << " for " << getBareType(side.getType());
  return success();
}

/// Any other tensor goes through shared memory.
LogicalResult HandOver::write() {
  Location loc = value.getLoc();
  RankedTensorType stored = getHandedType(cast<RankedTensorType>(value.getType()));
  BufferType buffer = type.getBuffer(0);
  if (buffer.getElementType() != stored.getElementType())
    return handed.emitOpError("expected '") << kHandedAttrName << "' to have slots of "
                                            << stored.getElementType() << ", got " << buffer;
  if (failed(checkBuffer(buffer)) || failed(checkBoxes()))
    return failure();
  makeChannel(maker.getTotalWarps(), releases);
  Value written = changeWidth(builder, loc, value, stored, maker);
  SmallVector<Value> parts = {written};
  if (type.getBuffers().size() > 1) {
    parts.clear();
    for (ArrayRef<int64_t> offsets : getBoxes(type, stored.getShape()).first)
      parts.push_back(inRole(
          SliceOp::create(builder, loc, getBoxType(written, buffer.getShape()), written, offsets),
          maker));
  }
  NextOp next = makeNext(builder, loc, ring, maker);
  next.setFills(reads.contains(maker));
  auto put = inRole(
      PutOp::create(builder, loc, ring.channel, next.getSlot(), next.getPhase(), /*bytes=*/0),
      maker);
  Block &body = put.getBody().emplaceBlock();
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  for (Value part : parts)
    WriteOp::create(inner, loc, part, body.addArgument(buffer, loc));
  for (auto &[role, conversions] : reads)
    read(cast<RoleAttr>(role), conversions);
  return success();
}

LogicalResult HandOver::realise() {
  if (failed(findReads()) || failed(type.getAccumulator() ? commit() : write()))
    return failure();
  for (auto &[role, conversions] : reads)
    for (ConvertLayoutOp conversion : conversions)
      conversion.erase();
  handed.erase();
  return success();
}

namespace {
struct RealiseHandOvers : kiln::impl::RealiseHandOversBase<RealiseHandOvers> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      SmallVector<ConvertLayoutOp> all;
      kernel.getBody().walk([&](ConvertLayoutOp op) {
        if (op->hasAttr(kHandedAttrName))
          all.push_back(op);
      });
      for (ConvertLayoutOp handed : all) {
        auto type = cast<TypeAttr>(handed->getAttr(kHandedAttrName));
        if (failed(HandOver(kernel, handed, cast<ChannelType>(type.getValue())).realise()))
          return signalPassFailure();
      }
    }
  }
};
} // namespace
