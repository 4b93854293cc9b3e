// Copies between buffers and views: boxes that an engine moves by maps of the views, and what warps
// copy into shared memory themselves.
#include "../Rings.h"
#include "../SharedAccess.h"
#include "../ThreadPatterns.h"
#include "../ViewAccess.h"
#include "kiln/Dialect/Tile/IR/ArgumentViews.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Target/Common/ABI.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
struct MapState {
  /// Maps by argument, box and swizzle.
  SmallVector<std::pair<Attribute, Value>> maps;
};
} // namespace

/// The parameter that holds the map of a view for boxes; an error at `op` if its engine cannot copy
/// them.
static FailureOr<Value> getMap(ThreadContext &context, Operation *op, Attribute atom, Value view,
                               const CopyBoxes &boxes, bool isWritten) {
  const ThreadView &known = context.views.find(view)->second;
  std::optional<unsigned> argument = known.argument;
  if (!argument)
    return op->emitOpError("expected a view that is an argument of the kernel for ") << atom;
  if (std::optional<std::string> why = cast<EngineAtomInterface>(atom).whyUnfit(
          cast<ViewType>(view.getType()), turnFacts(context.kernel.getFacts(*argument), known.dims),
          isWritten))
    return op->emitOpError(*why) << " for " << atom;
  std::string type = spellType(cast<ViewType>(view.getType()).getElementType());
  SmallVector<NamedAttribute> fields = {
      context.getNamedAttr("kind", context.getStringAttr("tensor_map")),
      context.getNamedAttr("arg", context.getI64IntegerAttr(*argument)),
      context.getNamedAttr("type", context.getStringAttr(type)),
      context.getNamedAttr("box", context.getDenseI64ArrayAttr(boxes.box)),
      context.getNamedAttr("swizzle", context.getI64IntegerAttr(boxes.swizzle))};
  if (!llvm::is_sorted(known.dims))
    fields.push_back(context.getNamedAttr("dims", context.getDenseI64ArrayAttr(known.dims)));
  Attribute entry = context.getDictionaryAttr(fields);
  auto &maps = context.getState<MapState>().maps;
  for (auto [made, value] : maps)
    if (made == entry)
      return value;
  Value map = context.addParameter(
      context.sync.getMapType(context.getContext()),
      context.getDictionaryAttr(context.getNamedAttr(kTensorMapAttrName, context.getUnitAttr())),
      entry);
  maps.push_back({entry, map});
  return map;
}

static std::optional<CopyBoxes> getBoxes(Attribute atom, BufferType buffer) {
  auto engine = dyn_cast<EngineAtomInterface>(atom);
  if (!engine)
    return std::nullopt;
  auto given = dyn_cast_or_null<LayoutAttr>(buffer.getLayout());
  if (!given)
    return engine.getBoxes(buffer.getShape(), buffer.getElementType(), nullptr);
  LinearLayout layout = given.toLinear(buffer.getShape());
  return engine.getBoxes(buffer.getShape(), buffer.getElementType(), &layout);
}

static void forEachBox(ThreadContext &context, const CopyBoxes &boxes, BufferType type,
                       Value buffer, ValueRange offsets,
                       llvm::function_ref<void(Value, ValueRange)> emit) {
  SmallVector<Value> coordinates;
  for (Value offset : offsets)
    coordinates.push_back(
        arith::IndexCastOp::create(context, context.getI32Type(), context.get(offset)));
  int64_t bytes = getSharedBytes(type) / boxes.places.size();
  for (auto [box, place] : llvm::enumerate(boxes.places)) {
    Value at = box ? getSharedAt(context, buffer, context.i32(box * bytes)) : buffer;
    SmallVector<Value> here = coordinates;
    for (auto [coordinate, by] : llvm::zip_equal(here, place))
      if (by)
        coordinate = arith::AddIOp::create(context, coordinate, context.i32(by));
    emit(at, here);
  }
}

/// The boxes in the view, of which the buffer may have dropped dimensions.
static void insertDropped(CopyBoxes &boxes, std::optional<ArrayRef<int64_t>> dropped) {
  boxes.box = getWholeShape(boxes.box, dropped);
  for (SmallVector<int64_t> &place : boxes.places)
    for (int64_t dim : dropped.value_or(ArrayRef<int64_t>()))
      place.insert(place.begin() + dim, 0);
}

/// A copy by an engine, box by box: emits each between the view's map and the address in the
/// buffer.
template <typename OpTy>
static LogicalResult lowerByBoxes(
    ThreadContext &context, OpTy op, bool isWritten,
    function_ref<void(EngineAtomInterface engine, Value map, Value at, ValueRange place)> emit) {
  BufferType type = op.getBuffer().getType();
  std::optional<CopyBoxes> boxes = getBoxes(op.getAtom(), type);
  if (!boxes)
    return op.emitOpError("expected a buffer that ") << op.getAtom() << " can copy, got " << type;
  insertDropped(*boxes, op.getDropped());
  FailureOr<Value> map = getMap(context, op, op.getAtom(), op.getView(), *boxes, isWritten);
  if (failed(map))
    return failure();
  auto engine = cast<EngineAtomInterface>(op.getAtom());
  forEachBox(context, *boxes, type, context.get(op.getBuffer()), op.getOffsets(),
             [&](Value at, ValueRange place) { emit(engine, *map, at, place); });
  return success();
}

static LogicalResult lowerCopyIn(ThreadContext &context, CopyInOp op) {
  if (op.getMask() && !context.sync.hasClusters())
    return emitUnsupported(op, context.target, "expected a chip that has clusters");
  Eviction eviction = getHints(op).getEviction();
  Value mask = op.getMask() ? arith::TruncIOp::create(context, context.getI16Type(),
                                                      context.get(op.getMask()))
                                  .getResult()
                            : Value();
  const PutState &put = context.getState<PutState>();
  return lowerByBoxes(context, op, /*isWritten=*/false,
                      [&](EngineAtomInterface engine, Value map, Value at, ValueRange place) {
                        engine.copyIn(context, context.getLoc(), map, place, at, put.barrier, mask,
                                      put.ofPair, eviction);
                      });
}

static LogicalResult lowerCopyOut(ThreadContext &context, CopyOutOp op) {
  if (failed(requireOneThread(op)))
    return failure();
  Eviction eviction = getHints(op).getEviction();
  if (failed(lowerByBoxes(context, op, /*isWritten=*/true,
                          [&](EngineAtomInterface engine, Value map, Value at, ValueRange place) {
                            engine.copyOut(context, context.getLoc(), at, map, place, eviction);
                          })))
    return failure();
  context.sync.commitStores(context, context.getLoc());
  return success();
}

/// Maps are there when the first copy asks for them.
static void prefetchMaps(ThreadContext &context) {
  auto &maps = context.getState<MapState>().maps;
  if (maps.empty())
    return;
  OpBuilder &prologue = context.prologue;
  context.setInsertionPoint(prologue.getInsertionBlock(), prologue.getInsertionPoint());
  context.emitIf(context.isFirstThread(), [&] {
    for (auto [entry, map] : maps)
      context.sync.prefetchMap(context, context.getLoc(), map);
  });
}

void kiln::populateCopyPatterns(ThreadPatterns &patterns) {
  patterns.addScheduled<CopyInOp>(
      [](ThreadContext &context, CopyInOp op) {
        return isa<EngineAtomInterface>(op.getAtom()) ? lowerCopyIn(context, op)
                                                      : lowerDirectCopy(context, op);
      },
      [](CopyInOp op) { return isa<EngineAtomInterface>(op.getAtom()); });
  patterns.addScheduled<CopyOutOp>(lowerCopyOut, /*takesEngines=*/true);
  patterns.addScheduled<WaitStoresOp>(
      [](ThreadContext &context, WaitStoresOp op) {
        if (failed(requireOneThread(op)))
          return failure();
        context.sync.waitStores(context, context.getLoc(), op.getInFlight(), op.getWritten());
        return success();
      },
      /*takesEngines=*/true);
  patterns.addEnd(prefetchMaps);
}
