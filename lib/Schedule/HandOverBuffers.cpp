// The buffer through which a tensor goes from one role to another: the order in which lanes write
// and read it in the fewest cycles, of those in which each copy finds its part and products read
// theirs.
#include "HandOverBuffers.h"
#include "HandOvers.h"
#include "SourceErrors.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/BareTypes.h"
#include "kiln/Layout/Transforms/BufferReaders.h"
#include "kiln/Layout/Transforms/SharedLayout.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Where no product reads a buffer, the order that is best for its first reader; or rows of parts,
/// if copies would not find theirs in one piece.
static std::vector<LinearLayout> findOrders(ArrayRef<BufferReader> sides, RankedTensorType type,
                                            TargetInterface target) {
  ArrayRef<int64_t> shape = type.getShape();
  // An order counts the odd factor of one extent alone.
  if (llvm::count_if(shape, [](int64_t extent) { return !llvm::isPowerOf2_64(extent); }) > 1)
    return {};
  auto fits = [&](const LinearLayout &order) {
    return llvm::all_of(sides, [&](auto &side) { return admits(order, side, type); });
  };
  unsigned bytes = getSharedElementBytes(type.getElementType());
  LinearLayout best = planShared(sides.back().getLayout(), sides.front().getLayout(), bytes,
                                 target.getChipRecord(), {})
                          .layout;
  if (fits(best))
    return {best};
  std::vector<LinearLayout> orders;
  for (const BufferReader &side : sides)
    for (LinearLayout &order :
         repeatOrders({getRowMajorLayout(getShare(side, side.getLayout(), shape))}, shape))
      if (fits(order))
        orders.push_back(order);
  return orders;
}

/// Of some orders the one by which lanes write and read it in the fewest cycles; the writer is the
/// last of the sides.
static std::optional<LinearLayout> chooseOrder(ArrayRef<LinearLayout> orders,
                                               ArrayRef<BufferReader> sides, unsigned bytes,
                                               const Chip &chip) {
  std::optional<LinearLayout> best;
  std::pair<int64_t, int64_t> fewest;
  for (const LinearLayout &order : orders) {
    std::pair<int64_t, int64_t> cost;
    for (const BufferReader &side : sides) {
      if (side.dot)
        continue;
      SharedSide access =
          measureSide(side.getLayout(), order, bytes, chip, &side == &sides.back(), {});
      cost.first += access.instructions * access.cycles;
      cost.second += access.instructions;
    }
    if (best && fewest <= cost)
      continue;
    best = order;
    fewest = cost;
  }
  return best;
}

/// Boxes of equal shape that buffers of a slot may have beside one another, where one buffer cannot
/// have all: an extent is cut whose odd factor each thread counts by registers.
static SmallVector<SmallVector<int64_t>> findBoxes(ArrayRef<BufferReader> sides,
                                                   ArrayRef<int64_t> shape) {
  SmallVector<SmallVector<int64_t>> boxes;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    SmallVector<int64_t> box(shape);
    box[dim] = shape[dim] & -shape[dim];
    bool areInThreads = llvm::all_of(sides, [&](const BufferReader &side) {
      return getBoxLayout(side.getLayout(), box).has_value();
    });
    if (box[dim] < shape[dim] && areInThreads)
      boxes.push_back(box);
  }
  return boxes;
}

/// A tensor of which each copy has all that the copies of a role share out: each thread counts what
/// they have by registers, in front of an odd factor.
static RankedTensorType getWholeType(RankedTensorType type, RoleAttr role) {
  LinearLayout layout = cast<LayoutAttr>(type.getEncoding()).toLinear(type.getShape());
  SmallVector<LinearLayout::InDim> ins(layout.getIns());
  auto *registers = llvm::find_if(ins, [](auto &in) { return in.name == kRegister; });
  auto *warps = llvm::find_if(ins, [](auto &in) { return in.name == kWarp; });
  auto copies = MutableArrayRef(warps->bases).drop_front(llvm::Log2_64_Ceil(role.getWarps()));
  registers->bases.insert(llvm::isPowerOf2_64(role.getCopies()) ? registers->bases.begin()
                                                                : registers->bases.end(),
                          copies.begin(), copies.end());
  for (LinearLayout::Basis &basis : copies)
    llvm::fill(basis, 0);
  return withLayout(RankedTensorType::get(type.getShape(), type.getElementType()),
                    *LinearLayout::create(ins, getTensorOuts(type.getShape())));
}

FailureOr<BufferType> kiln::decideHandedBuffer(ConvertLayoutOp handed, const HandedEdge &edge,
                                               TargetInterface target, WholeReads &wholeReads) {
  MLIRContext *context = handed.getContext();
  RankedTensorType type = getHandedType(cast<RankedTensorType>(handed.getType()));
  unsigned bytes = getSharedElementBytes(type.getElementType());
  LinearLayout written = cast<LayoutAttr>(type.getEncoding()).toLinear(type.getShape());
  std::vector<BufferReader> sides;
  for (auto &[role, uses] : edge.uses)
    for (OpOperand *use : uses) {
      ConvertLayoutOp conversion = getConversion(use);
      sides.push_back(
          isWrittenForDot(*use)
              ? BufferReader::ofDot(*use)
              : BufferReader::ofLanes(conversion ? conversion.getResult() : handed.getResult(),
                                      use->getOwner()));
      sides.back().copies = cast<RoleAttr>(role).getCopies();
    }
  auto find = [&](ArrayRef<LinearLayout> orders, ArrayRef<int64_t> shape) -> BufferType {
    std::optional<LinearLayout> order = chooseOrder(orders, sides, bytes, target.getChipRecord());
    return order ? BufferType::get(context, shape, type.getElementType(),
                                   LayoutAttr::get(context, *order))
                 : BufferType();
  };
  int64_t copies = edge.maker.getCopies();
  auto product = llvm::find_if(sides, [](auto &side) { return bool(side.dot); });
  if (product != sides.end()) {
    BufferReader reader = *product;
    std::vector<LinearLayout> orders = findWrittenOrders(written, copies, sides, type);
    sides.push_back({{}, 0, {}, copies, written});
    if (BufferType buffer = find(orders, type.getShape()))
      return buffer;
    InFlightDiagnostic error = reader.dot.emitOpError("expected an operand ")
                               << "ab"[reader.operand] << " that each copy of role \""
                               << edge.maker.getName() << "\" can write to shared memory as "
                               << reader.dot.getAtomAttr() << " reads it, got "
                               << getBareType(type);
    error.attachNote(handed.getLoc()) << "what it is";
    return error;
  }
  sides.push_back({{}, 0, {}, copies, written});
  if (BufferType buffer = find(findOrders(sides, type, target), type.getShape()))
    return buffer;
  std::vector<BufferReader> whole = sides;
  for (ArrayRef<int64_t> box : findBoxes(whole, type.getShape())) {
    for (auto [side, all] : llvm::zip_equal(sides, whole))
      side.known = getBoxLayout(all.getLayout(), box);
    auto held = RankedTensorType::get(box, type.getElementType());
    if (BufferType buffer = find(findOrders(sides, held, target), box))
      return buffer;
  }
  sides = whole;
  auto *side = sides.data();
  for (auto &[attr, uses] : edge.uses)
    for (OpOperand *use : uses) {
      auto role = cast<RoleAttr>(attr);
      ConvertLayoutOp conversion = getConversion(use);
      if (conversion && !side->dot && role.getCopies() > 1) {
        wholeReads[use] = getWholeType(conversion.getType(), role);
        side->known = cast<LayoutAttr>(wholeReads[use].getEncoding()).toLinear(type.getShape());
      }
      ++side;
    }
  if (BufferType buffer = find(findOrders(sides, type, target), type.getShape()))
    return buffer;
  Operation *user = edge.uses.front().second.front()->getOwner();
  InFlightDiagnostic error =
      emitSourceError(user, "expected a tensor that copies ('copies') share out in one way, since "
                            "each of role \"")
      << edge.maker.getName() << "\" writes a part of a buffer and others read theirs, got "
      << getBareType(type);
  for (auto &[role, uses] : edge.uses)
    error.attachNote(uses.front()->getOwner()->getLoc())
        << "role \"" << cast<RoleAttr>(role).getName() << "\" reads it by "
        << cast<RoleAttr>(role).getCopies() << " copies; one copy ('copies') can read all of it";
  return error;
}
