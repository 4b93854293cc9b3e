// Decides in which order tiles that copy atoms move lie in shared memory: one that the atom can
// fill, and that is read or written without bank conflicts.
#include "ConversionRuns.h"
#include "kiln/Dialect/Tile/IR/BareTypes.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/AtomFit.h"
#include "kiln/Layout/Transforms/BufferReaders.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Layout/Transforms/StoredBoxes.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDEBUFFERS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// A row of all banks.
static constexpr int64_t kWidestRow = 128;

/// Rows of boxes permuted by 16 bytes, rows as they are, and whole rows whose pieces of 16 bytes
/// are permuted by bits of the row from the first, second, … on.
static std::vector<LinearLayout> getOrders(ArrayRef<int64_t> shape, int64_t bits) {
  std::vector<LinearLayout> orders;
  for (int64_t span : {kWidestRow, kWidestRow / 2, kWidestRow / 4})
    if (std::optional<LinearLayout> layout = getSwizzledLayout(shape, bits, span))
      orders.push_back(*layout);
  LinearLayout rows = getRowMajorLayout(shape);
  if (rows.isExact())
    orders.push_back(rows);
  if (shape.size() != 2 || !llvm::isPowerOf2_64(shape[0] * shape[1]))
    return orders;
  size_t inPiece = llvm::Log2_64(128 / bits), inRow = llvm::Log2_64(shape[1]);
  size_t count = rows.getInBits(kOffset);
  for (size_t first = inRow; inRow > inPiece && first < count; ++first) {
    SmallVector<LinearLayout::InDim> ins(rows.getIns());
    ArrayRef<LinearLayout::Basis> plain = rows.getBases(kOffset);
    for (size_t bit = inPiece; bit < inRow && first + bit - inPiece < count; ++bit)
      ins.front().bases[first + bit - inPiece][1] = plain[bit][1];
    orders.push_back(*LinearLayout::create(ins, rows.getOuts()));
  }
  return orders;
}

/// Of a read that its instruction cannot make.
static constexpr int64_t kNever = std::numeric_limits<int32_t>::max();

namespace {
/// A buffer's order, and by what it is read into registers.
struct Choice {
  LinearLayout order;
  Attribute readAtom;
  int64_t cycles = 0, instructions = 0;

  bool isBetterThan(const std::optional<Choice> &other) const {
    return !other || std::tie(cycles, instructions) < std::tie(other->cycles, other->instructions);
  }
};
} // namespace

static std::vector<BufferReader> getReaders(LoadOp load) {
  std::vector<BufferReader> readers;
  for (OpOperand &use : load.getResult().getUses()) {
    auto conversion = dyn_cast<ConvertLayoutOp>(use.getOwner());
    if (isReadFromBuffer(use))
      readers.push_back(BufferReader::ofDot(use));
    else
      readers.push_back(BufferReader::ofLanes(
          conversion && isHandedOver(conversion) ? conversion.getResult() : load.getResult(),
          use.getOwner()));
  }
  return readers;
}

namespace {
/// What is read at a time of a tensor, and how often.
struct PartOfRead {
  LinearLayout layout;
  int64_t times = 1;
};
} // namespace

/// A product in parts reads its operands part by part.
static PartOfRead getPart(Value tensor) {
  PartOfRead whole{getLayout(tensor)};
  auto dot = tensor.hasOneUse() ? dyn_cast<DotOp>(*tensor.getUsers().begin()) : DotOp();
  if (!dot || !dot.getParts())
    return whole;
  unsigned operand = tensor.getUses().begin()->getOperandNumber();
  if (operand > 1)
    return whole;
  ArrayRef<int64_t> parts = *dot.getParts();
  SmallVector<int64_t> own = {parts[operand ? 2 : 0], parts[operand ? 1 : 2]};
  if (operand ? dot.getTransposeB() : dot.getTransposeA())
    std::swap(own[0], own[1]);
  SmallVector<int64_t> box = whole.layout.getShape();
  for (unsigned dim : {0, 1})
    box[box.size() - 2 + dim] /= own[dim];
  std::optional<LinearLayout> layout = getBoxLayout(whole.layout, box);
  return layout ? PartOfRead{*layout, own[0] * own[1]} : whole;
}

/// The way to read a tensor of this layout that takes the fewest cycles: by `asked`, or else by any
/// copy atom of the target, or by vectors.
static Choice chooseRead(const LinearLayout &order, Value tensor, Attribute asked,
                         TargetInterface target) {
  auto type = cast<RankedTensorType>(tensor.getType());
  unsigned bytes = getSharedElementBytes(type.getElementType());
  auto [layout, times] = getPart(tensor);
  SmallVector<Attribute> atoms = {asked};
  if (!asked)
    llvm::append_range(atoms, target.getCopyAtoms(type.getElementType()));
  std::optional<Choice> best;
  for (Attribute attr : atoms) {
    auto atom = dyn_cast_or_null<WarpCopyAtomInterface>(attr);
    if (attr && (!atom || !atom.canCopy(Place::Shared, Place::Registers) ||
                 !canMove(atom, getSharedOffsets(layout, &order))))
      continue;
    SharedSide side = measureSide(layout, order, bytes, target.getChipRecord(), false, attr);
    Choice choice{order, attr, times * side.instructions * side.cycles, times * side.instructions};
    if (choice.isBetterThan(best))
      best = choice;
  }
  return best.value_or(Choice{order, asked, kNever, 0});
}

/// An error if what an author has asked for reads no buffer that an op may have.
static LogicalResult checkRead(LoadOp load, int64_t cycles) {
  if (!load.getReadAtomAttr() || cycles < kNever)
    return success();
  InFlightDiagnostic error =
      load.emitOpError("expected 'read_atom' to be an instruction that reads ")
      << getBareType(load.getType()) << " from a buffer that it has, got "
      << load.getReadAtomAttr();
  for (Operation *user : load->getUsers())
    if (auto dot = dyn_cast<DotOp>(user); dot && dot.getAtomAttr())
      error.attachNote(dot.getLoc()) << "which 'atom' asks for: " << dot.getAtomAttr();
  return error;
}

/// How a buffer lies that an author has decided.
static LinearLayout getOrder(BufferType buffer) {
  auto layout = dyn_cast_or_null<LayoutAttr>(buffer.getLayout());
  return layout ? layout.toLinear(buffer.getShape()) : getRowMajorLayout(buffer.getShape());
}

/// Whether an instruction fills such a buffer, or empties it of what is stored.
static LogicalResult checkBuffer(LoadOp load, BufferType buffer) {
  auto atom = cast<CopyAtomInterface>(load.getAtomAttr());
  bool fits = isa<EngineAtomInterface>(atom)
                  ? getCopyBoxes(atom, buffer, load.getDropped()).has_value()
                  : atom.admits(buffer.getShape(), buffer.getElementType(), getOrder(buffer));
  if (fits)
    return success();
  return load.emitOpError("expected 'buffer' to lie as ") << atom << " fills it, got " << buffer;
}

static LogicalResult checkBuffer(StoreOp store, BufferType buffer) {
  ArrayRef<int64_t> shape = store.getValue().getType().getShape();
  ArrayRef<int64_t> extents = store.getExtents().value_or(shape);
  if (canStoreBoxes(store, buffer, extents))
    return success();
  InFlightDiagnostic error = store.emitOpError("expected 'buffer' to lie as ")
                             << store.getAtomAttr() << " empties it";
  if (extents != shape) {
    error << " of a tile of ";
    llvm::interleave(extents, error, "x");
  }
  return error << ", got " << buffer;
}

/// Holds the buffer that an author has decided against who fills it and who reads it.
static LogicalResult check(LoadOp load, TargetInterface target) {
  auto buffer = cast<BufferType>(*load.getBuffer());
  if (failed(checkBuffer(load, buffer)))
    return failure();
  LinearLayout order = getOrder(buffer);
  for (const BufferReader &reader : getReaders(load)) {
    Attribute asked = load.getReadAtomAttr();
    if (asked && reader.tensor == load.getResult() &&
        failed(checkRead(load, chooseRead(order, reader.tensor, asked, target).cycles)))
      return failure();
    if (!reader.dot ||
        (order.isExact() && admits(order, reader, load.getType(), /*asWindow=*/true)))
      continue;
    InFlightDiagnostic error = load.emitOpError("expected 'buffer' to lie as ")
                               << DotOp(reader.dot).getAtomAttr() << " reads operand "
                               << "ab"[reader.operand] << ", got " << buffer;
    for (const LinearLayout &other :
         repeatOrders(getAdmitted(reader, getShare(reader, reader.getLayout(), buffer.getShape())),
                      buffer.getShape()))
      if (admits(other, reader, load.getType())) {
        error.attachNote(DotOp(reader.dot).getLoc())
            << "the product, which reads "
            << BufferType::get(load.getContext(), buffer.getShape(), buffer.getElementType(),
                               LayoutAttr::get(load.getContext(), other));
        break;
      }
    return error;
  }
  return success();
}

static void setBuffer(Operation *op, ArrayRef<int64_t> shape, Type element,
                      const LinearLayout &order) {
  MLIRContext *context = op->getContext();
  op->setAttr("buffer", TypeAttr::get(BufferType::get(context, shape, element,
                                                      LayoutAttr::get(context, order))));
}

/// Says which copies write and read parts of a tile that has no order for them.
static void noteShares(InFlightDiagnostic &error, const std::optional<BufferReader> &writer,
                       ArrayRef<BufferReader> readers, ArrayRef<int64_t> shape) {
  const int64_t *odd = llvm::find_if_not(shape, llvm::isPowerOf2_64);
  SmallVector<int64_t> written(shape);
  if (writer)
    written = getShare(*writer, writer->getLayout(), shape);
  for (const BufferReader &reader : readers) {
    SmallVector<int64_t> share = getShare(reader, reader.getLayout(), shape);
    bool areCrossed = ArrayRef(written) != shape && written != share;
    if (ArrayRef(share) == shape || (odd == shape.end() && !areCrossed))
      continue;
    Operation *user = reader.dot ? DotOp(reader.dot).getOperation() : *reader.tensor.user_begin();
    Diagnostic &note = error.attachNote(user->getLoc());
    note << "each of " << reader.copies << " copies ('copies') reads ";
    llvm::interleave(share, note, "x");
    note << " of it, and ";
    if (odd == shape.end()) {
      note << "each of " << writer->copies << " writes ";
      llvm::interleave(written, note, "x");
      note << ", for which no order has these parts each in one piece: have one copy write it, or "
              "one read it";
      return;
    }
    note << "a tile whose extent of " << *odd << " is no power of two has no order in "
         << "which these parts lie together: have one copy read it, or "
         << int64_t(llvm::PowerOf2Ceil(*odd)) << " in place of " << *odd;
    return;
  }
}

static LogicalResult decide(LoadOp load, TargetInterface target) {
  ArrayRef<int64_t> shape = load.getType().getShape();
  Type element = load.getType().getElementType();
  std::vector<BufferReader> readers = getReaders(load);
  auto product =
      llvm::find_if(readers, [](const BufferReader &reader) { return bool(reader.dot); });
  auto getCandidates = [&](ArrayRef<int64_t> share) {
    return repeatOrders(product == readers.end()
                            ? getOrders(share, 8 * int64_t(getSharedElementBytes(element)))
                            : getAdmitted(*product, share),
                        shape);
  };
  std::vector<LinearLayout> orders = getCandidates(shape);
  for (const BufferReader &reader : readers)
    if (SmallVector<int64_t> share = getShare(reader, reader.getLayout(), shape);
        ArrayRef(share) != shape)
      llvm::append_range(orders, getCandidates(share));
  // Of what copies write themselves each has a part, too.
  std::optional<BufferReader> writer;
  if (isThroughRegisters(load)) {
    writer = BufferReader::ofLanes(load.getResult(), load);
    SmallVector<int64_t> share = getShare(*writer, writer->getLayout(), shape);
    if (ArrayRef(share) != shape)
      llvm::append_range(orders, getCandidates(share));
  }
  bool areAlike =
      isThroughRegisters(load) && llvm::all_of(readers, [&](const BufferReader &reader) {
        return reader.tensor && reader.tensor.getType() == readers.front().tensor.getType();
      });
  // What threads write themselves may lie in any order that suits both sides.
  if (isThroughRegisters(load))
    for (const BufferReader &reader : readers)
      if (reader.tensor)
        orders.push_back(planShared(getLayout(load.getResult()), getLayout(reader.tensor),
                                    getSharedElementBytes(element), target.getChipRecord(),
                                    target.getCopyAtoms(element))
                             .layout);
  std::optional<Choice> best;
  auto weigh = [&](const LinearLayout &order, bool asWindow) {
    bool fits = cast<CopyAtomInterface>(load.getAtomAttr()).admits(shape, element, order);
    Choice choice{order, load.getReadAtomAttr()};
    if (writer) {
      fits = fits && admits(order, *writer, load.getType());
      SharedSide side = measureSide(getLayout(load.getResult()), order,
                                    getSharedElementBytes(element), target.getChipRecord(),
                                    /*isWrite=*/true, {});
      choice.cycles = side.instructions * side.cycles;
      choice.instructions = side.instructions;
    }
    for (const BufferReader &reader : readers) {
      fits = fits && admits(order, reader, load.getType(), asWindow);
      if (reader.dot)
        continue;
      Choice read = chooseRead(order, reader.tensor, load.getReadAtomAttr(), target);
      // One atom serves all who read it as it lies, or alike.
      if (reader.tensor == load.getResult() || areAlike)
        choice.readAtom = read.readAtom;
      choice.cycles += read.cycles;
      choice.instructions += read.instructions;
    }
    if (fits && choice.isBetterThan(best))
      best = choice;
  };
  // Copies find their shares in one piece each, or else products do in windows.
  for (bool asWindow : {false, true})
    for (const LinearLayout &order : orders)
      if (!asWindow || !best)
        weigh(order, asWindow);
  if (!best) {
    InFlightDiagnostic error = load.emitOpError("expected a tile that \"")
                               << getAtomName(load.getAtomAttr()) << "\" can bring";
    if (product != readers.end())
      error << " as " << product->dot.getAtomAttr() << " reads operand "
            << "ab"[product->operand];
    error << ", got " << getBareType(load.getType());
    noteShares(error, writer, readers, shape);
    return error;
  }
  if (failed(checkRead(load, best->cycles)))
    return failure();
  setBuffer(load, shape, element, best->order);
  if (best->readAtom)
    load.setReadAtomAttr(best->readAtom);
  return success();
}

/// What the first of a role's copies holds, which has so many warps; none if copies have no
/// consecutive rows or columns.
static std::optional<LinearLayout> takeShare(const LinearLayout &layout, int64_t warps) {
  SmallVector<LinearLayout::InDim> ins(layout.getIns());
  SmallVector<int64_t> shape = layout.getShape();
  for (LinearLayout::InDim &in : ins) {
    if (in.name != kWarp)
      continue;
    size_t own = std::min<size_t>(in.bases.size(), llvm::Log2_64(warps));
    for (const LinearLayout::Basis &basis : llvm::drop_begin(in.bases, own))
      for (auto [extent, value] : llvm::zip_equal(shape, basis))
        extent = value ? std::min(extent, value) : extent;
    in.bases.truncate(own);
  }
  return LinearLayout::create(ins, getTensorOuts(shape));
}

/// The extents of what all lanes and warps hold at a time, and of a row as wide as the engine's, as
/// far as rows are made of such.
static SmallVector<int64_t> getBox(const LinearLayout &layout, unsigned bytes) {
  SmallVector<int64_t> shape = layout.getShape(), box(shape.size(), 1);
  for (StringRef part : {kLane, kWarp})
    for (const LinearLayout::Basis &basis : layout.getBases(part))
      for (auto [extent, value] : llvm::zip_equal(box, basis))
        extent = std::max(extent, int64_t(llvm::bit_floor(uint64_t(value)) * 2));
  for (auto [extent, most] : llvm::zip_equal(box, shape))
    extent = std::min(extent, most);
  box.back() = std::max(
      box.back(), std::min(kWidestRow / std::max(1u, bytes), getPowerOf2Factor(shape.back())));
  return box;
}

/// Boxes that registers choose among. Of what a box is cut to, pieces are as high as rows are
/// permuted.
static SmallVector<SmallVector<int64_t>> getBoxes(const LinearLayout &layout, unsigned bytes,
                                                  bool isCut) {
  constexpr int64_t kPermutedRows = 8;
  SmallVector<SmallVector<int64_t>> boxes = {getBox(layout, bytes)};
  size_t rank = boxes.front().size();
  if (!isCut || rank < 2)
    return boxes;
  int64_t rows = std::min(kPermutedRows, getPowerOf2Factor(layout.getShape()[rank - 2]));
  if (boxes.front()[rank - 2] < rows) {
    boxes.push_back(boxes.front());
    boxes.back()[rank - 2] = rows;
  }
  return boxes;
}

/// In which a box may lie whose copies each write a piece of it. One that is cut lies in strips of
/// columns, too.
static std::vector<LinearLayout> getStoredOrders(ArrayRef<int64_t> box, ArrayRef<int64_t> piece,
                                                 unsigned bytes, bool isCut) {
  std::vector<LinearLayout> orders = getOrders(box, 8 * int64_t(bytes));
  if (box != piece)
    llvm::append_range(orders, repeatOrders(getOrders(piece, 8 * int64_t(bytes)), box));
  if (!isCut || box.size() != 2)
    return orders;
  for (int64_t columns = kWidestRow / bytes; columns > 0; columns /= 2) {
    if (box[1] % columns)
      continue;
    LinearLayout strip = getRowMajorLayout({piece[0], std::min(columns, piece[1])});
    llvm::append_range(orders, repeatOrders(repeatOrders({strip}, piece), box));
  }
  return orders;
}

/// Of a tensor no box of which an engine stores.
static LogicalResult refuseBoxes(StoreOp store, ArrayRef<int64_t> extents) {
  RankedTensorType type = store.getValue().getType();
  auto stored = RankedTensorType::get(extents, type.getElementType());
  InFlightDiagnostic error = store.emitOpError("expected a tile that ")
                             << store.getAtomAttr() << " can store";
  int64_t each = cast<CopyAtomInterface>(store.getAtomAttr()).getGranularity();
  if (!extents.empty() &&
      extents.back() * int64_t(getSharedElementBytes(type.getElementType())) % each)
    error << ", of rows that are multiples of " << each << " bytes";
  return error << ", got " << stored;
}

static LogicalResult decide(StoreOp store, TargetInterface target) {
  FailureOr<RoleAttr> role = findRole(store, *store.getRole());
  if (failed(role))
    return failure();
  // Each copy stores what it has made. Of what another role makes all is stored, and each of that
  // role's copies writes its share of a box.
  llvm::SetVector<StringRef> makers = findMakers(store.getValue());
  LinearLayout layout = getLayout(store.getValue());
  bool isOwn = makers.empty() || makers.contains(role->getName());
  FailureOr<RoleAttr> maker = isOwn ? role : findRole(store, makers.front());
  if (failed(maker))
    return failure();
  RankedTensorType type = store.getValue().getType();
  std::optional<LinearLayout> share = takeShare(layout, maker->getWarps());
  if (!share)
    return store.emitOpError("expected a layout by which each copy of role \"")
           << maker->getName() << "\" has consecutive rows or columns, got " << getBareType(type);
  if (isOwn)
    layout = *share;
  // What each box is cut to, if the tensor has grown; copies have as much of it each.
  SmallVector<int64_t> extents(store.getExtents().value_or(type.getShape()));
  for (auto [extent, most, all] : llvm::zip_equal(extents, layout.getShape(), type.getShape()))
    extent = extent == all ? most : std::min(extent, most);
  bool isCut = ArrayRef(extents) != ArrayRef(layout.getShape());
  std::optional<Choice> best;
  SmallVector<int64_t> boxOfBest;
  unsigned bytes = getSharedElementBytes(type.getElementType());
  for (SmallVector<int64_t> &box : getBoxes(layout, bytes, isCut)) {
    SmallVector<int64_t> piece = box;
    for (auto [extent, most] : llvm::zip_equal(piece, share->getShape()))
      extent = std::min(extent, most);
    std::optional<LinearLayout> part = getBoxLayout(layout, box);
    if (!part)
      continue;
    for (const LinearLayout &order : getStoredOrders(box, piece, bytes, isCut)) {
      auto whole = BufferType::get(store.getContext(), box, type.getElementType(),
                                   LayoutAttr::get(store.getContext(), order));
      if (!getPartType(whole, piece) || !canStoreBoxes(store, whole, extents))
        continue;
      int64_t times =
          ShapedType::getNumElements(layout.getShape()) / ShapedType::getNumElements(box);
      SharedSide side = measureSide(*part, order, bytes, target.getChipRecord(), true, {});
      Choice choice{order, {}, times * side.instructions * side.cycles, times * side.instructions};
      if (!choice.isBetterThan(best))
        continue;
      best = choice;
      boxOfBest = box;
    }
  }
  if (!best)
    return refuseBoxes(store, extents);
  setBuffer(store, boxOfBest, type.getElementType(), best->order);
  return success();
}

namespace {
struct DecideBuffers : kiln::impl::DecideBuffersBase<DecideBuffers> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    getOperation().walk([&](Operation *op) {
      auto load = dyn_cast<LoadOp>(op);
      auto store = dyn_cast<StoreOp>(op);
      LogicalResult result = success();
      if (load && load.getAtomAttr())
        result = load.getBuffer() ? check(load, *target) : decide(load, *target);
      if (store && store.getAtomAttr())
        result = store.getBuffer() ? checkBuffer(store, cast<BufferType>(*store.getBuffer()))
                                   : decide(store, *target);
      if (failed(result))
        signalPassFailure();
    });
  }
};
} // namespace
