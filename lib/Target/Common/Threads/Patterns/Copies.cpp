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

/// The parameter that holds the map of a view for boxes; an error at `op` if the view is no
/// argument.
static FailureOr<Value> getMap(ThreadContext &context, Operation *op, Value view,
                               const CopyBoxes &boxes) {
  const ThreadView &known = context.views.find(view)->second;
  std::optional<unsigned> argument = known.argument;
  if (!argument)
    return op->emitOpError("expected a view that is an argument of the kernel for ")
           << op->getAttr("atom");
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

/// Whether the engine can copy what is known of the view.
static LogicalResult checkView(ThreadContext &context, Operation *op, Attribute atom, Value view,
                               bool isWritten) {
  const ThreadView &known = context.views.find(view)->second;
  if (!known.argument)
    return success();
  std::optional<std::string> why = cast<EngineAtomInterface>(atom).whyUnfit(
      cast<ViewType>(view.getType()),
      turnFacts(context.kernel.getFacts(*known.argument), known.dims), isWritten);
  return why ? LogicalResult(op->emitOpError(*why) << " for " << atom) : success();
}

/// A copy, or what stands for copies of its kind, box by box.
template <typename OpTy>
static FailureOr<CopyBoxes> requireBoxes(OpTy op, BufferType type) {
  std::optional<CopyBoxes> boxes = getCopyBoxes(op.getAtom(), type, op.getDropped());
  if (boxes)
    return *boxes;
  return op.emitOpError("expected a buffer that ") << op.getAtom() << " can copy, got " << type;
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

/// A copy by an engine, box by box: emits each between the view's map and the address in the
/// buffer.
template <typename OpTy>
static LogicalResult lowerByBoxes(
    ThreadContext &context, OpTy op, bool isWritten,
    function_ref<void(EngineAtomInterface engine, Value map, Value at, ValueRange place)> emit) {
  BufferType type = op.getBuffer().getType();
  FailureOr<CopyBoxes> boxes = requireBoxes(op, type);
  if (failed(boxes) || failed(checkView(context, op, op.getAtom(), op.getView(), isWritten)))
    return failure();
  FailureOr<Value> map = getMap(context, op, op.getView(), *boxes);
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

static LogicalResult lowerPrefetch(ThreadContext &context, PrefetchOp op) {
  FailureOr<CopyBoxes> boxes = requireBoxes(op, cast<BufferType>(op.getBuffer()));
  if (failed(boxes) || failed(requireOneThread(op)))
    return failure();
  FailureOr<Value> map = getMap(context, op, op.getView(), *boxes);
  if (failed(map))
    return failure();
  context.sync.prefetchMap(context, context.getLoc(), *map);
  return success();
}

void kiln::populateCopyPatterns(ThreadPatterns &patterns) {
  patterns.addScheduled<CopyInOp>(
      [](ThreadContext &context, CopyInOp op) {
        return isa<EngineAtomInterface>(op.getAtom()) ? lowerCopyIn(context, op)
                                                      : lowerDirectCopy(context, op);
      },
      [](CopyInOp op) {
        return isa<EngineAtomInterface>(op.getAtom()) ? Takes::Engines : Takes::Nothing;
      });
  patterns.addScheduled<CopyOutOp>(lowerCopyOut, Takes::Engines);
  patterns.addScheduled<WaitStoresOp>(
      [](ThreadContext &context, WaitStoresOp op) {
        if (failed(requireOneThread(op)))
          return failure();
        context.sync.waitStores(context, context.getLoc(), op.getInFlight(), op.getWritten());
        return success();
      },
      Takes::Engines);
  patterns.addScheduled<PrefetchOp>(lowerPrefetch, Takes::Engines);
}
