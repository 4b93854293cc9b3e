// Asks a target's instructions what they make of a product.
#include "ProductCandidate.h"
#include "kiln/Dialect/Tile/IR/ArgumentViews.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/BufferReaders.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

Attribute kiln::getDecidedAtom(Operation *op, TargetInterface target) {
  if (Attribute atom = op->getAttr("atom"))
    return atom;
  auto name = op->getAttrOfType<StringAttr>(kAtomNameAttrName);
  return name && target ? findAtom(op, name.getValue(), target) : Attribute();
}

bool kiln::isReadInWindows(Value tile, TargetInterface target) {
  return fillsBuffer(tile.getDefiningOp()) && !isPinnedToRegisters(tile.getDefiningOp()) &&
         llvm::all_of(tile.getUses(), [&](OpOperand &use) {
           return isa<DotOp>(use.getOwner()) && use.getOperandNumber() < 2 &&
                  isa_and_nonnull<AsyncMmaAtomInterface>(getDecidedAtom(use.getOwner(), target));
         });
}

EngineAtomInterface kiln::getDecidedEngine(Operation *access, TargetInterface target) {
  return dyn_cast_or_null<EngineAtomInterface>(getDecidedAtom(access, target));
}

OperandTile::OperandTile(DotOp dot, unsigned operand) : value(dot->getOperand(operand)) {
  isTransposed = operand == 0 ? dot.getTransposeA() : dot.getTransposeB();
  dimK = (operand == 0) != isTransposed ? 1 : 0;
  Value source = value;
  auto transpose = source.getDefiningOp<TransposeOp>();
  if (transpose && transpose.getType().getRank() == 2 && transpose.getPermutation()[0] == 1) {
    views.push_back({transpose, dimK});
    source = transpose.getInput();
    isTransposed = !isTransposed;
    dimK = 1 - dimK;
  }
  auto reshape = source.getDefiningOp<ReshapeOp>();
  load = (reshape ? reshape.getInput() : source).getDefiningOp<LoadOp>();
  std::optional<DroppedUnits> dropped = load && reshape ? findDroppedUnits(load) : std::nullopt;
  if (dropped) {
    views.push_back({reshape, dimK});
    dimK = getViewDim(dimK, dropped->dims);
  } else if (reshape) {
    load = {};
  }
}

bool OperandTile::isOwn() {
  auto isUsedOnce = [](auto view) { return view.first->hasOneUse(); };
  return load && findDecision(load).empty() && !load.getExtents() && load->hasOneUse() &&
         llvm::all_of(views, isUsedOnce);
}

void kiln::addCutValues(DotOp dot, DenseSet<Value> &values) {
  for (unsigned operand : {0, 1}) {
    OperandTile tile(dot, operand);
    values.insert(tile.load.getResult());
    for (auto [view, dimK] : tile.views)
      values.insert(view->getResult(0));
  }
}

int64_t kiln::countSingleWarps(KernelOp kernel, TargetInterface target) {
  auto decided = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName);
  return decided ? decided.getInt() : countWarps(kernel, target.getChipRecord());
}

bool kiln::mayRunBeside(KernelOp kernel) {
  return !kernel->hasAttr(kRolesAttrName) && !kernel->hasAttr(kWarpsAttrName);
}

ProductCandidate::ProductCandidate(DotOp dot, TargetInterface target, OpenProducts open,
                                   int64_t kernelWarps)
    : dot(dot), target(target), open(open),
      isDecided(dot.getAtomAttr() || dot->hasAttr(kAtomNameAttrName)), m(dot.getM()), n(dot.getN()),
      k(dot.getK()) {
  RoleAttr role = lookUpRole(dot);
  warps = role ? role.getTotalWarps() : kernelWarps;
  copies = role ? role.getCopies() : 1;
}

void ProductCandidate::setExtents(ArrayRef<int64_t> decided) {
  m = decided[0];
  n = decided[1];
  hasDecidedPieces = true;
  if (decided.size() == 3) {
    k = decided[2];
    return;
  }
  pieces.assign(decided.begin() + 2, decided.end());
  k = dot.getK();
}

static bool isExactly(const LinearLayout &layout) { return canonicalise(layout).isExact(); }

Attribute kiln::askOfExtents(DotOp dot, std::array<int64_t, 3> extents,
                             function_ref<Attribute(DotOp)> choose) {
  auto [m, n, k] = extents;
  if (m == dot.getM() && n == dot.getN() && k == dot.getK())
    return choose(dot);
  OpBuilder builder(dot);
  SmallVector<Operation *> made;
  auto replace = [&](OpOperand &operand, int64_t rows, int64_t columns, bool isTransposed) {
    if (isTransposed)
      std::swap(rows, columns);
    Type type = RankedTensorType::get({rows, columns}, getElementTypeOrSelf(operand.get()));
    made.push_back(UnrealizedConversionCastOp::create(builder, dot.getLoc(), type, ValueRange()));
    operand.set(made.back()->getResult(0));
  };
  auto other = cast<DotOp>(builder.clone(*dot));
  replace(other.getAMutable(), m, k, dot.getTransposeA());
  replace(other.getBMutable(), k, n, dot.getTransposeB());
  replace(other.getAccumulatorMutable(), m, n, false);
  other.getResult().setType(cast<RankedTensorType>(other.getAccumulator().getType()));
  Attribute found = choose(other);
  other.erase();
  for (Operation *op : made)
    op->erase();
  return found;
}

/// Whether so much of k of an operand can be brought, and read, as it is.
bool ProductCandidate::isRead(AsyncMmaAtomInterface async, unsigned operand, int64_t depth) {
  SmallVector<int64_t> shape =
      operand == 0 ? SmallVector<int64_t>{m, depth} : SmallVector<int64_t>{depth, n};
  SmallVector<int64_t> share = shape;
  share[operand] = getOwn(operand, share[operand]);
  if (llvm::all_of(shape, [](int64_t extent) { return llvm::isPowerOf2_64(extent); }))
    return true;
  OperandTile tile(dot, operand);
  LoadOp load = tile.load;
  bool isBrought = load && (!isDecided || (fillsBuffer(load) && !isPinnedToRegisters(load)));
  if (!isBrought && (operand == 0 || !isDecided)) {
    std::optional<LinearLayout> layout;
    if (operand == 0)
      layout = async.getRegisterLayout(share, async.getWarps());
    return layout && isExactly(*layout);
  }
  // What nobody has decided is brought so that its rows lie together, whichever way it is read;
  // what is computed of b is written as it is read.
  bool isTransposed = isBrought ? tile.isTransposed : dot.getTransposeB();
  if (!isDecided && load && findRowOrder(load.getView().getType()) == ArrayRef<int64_t>{1, 0})
    isTransposed = !isTransposed;
  if (isTransposed) {
    std::swap(shape[0], shape[1]);
    std::swap(share[0], share[1]);
  }
  CopyAtomInterface copy;
  if (isBrought && isDecided)
    copy = dyn_cast_or_null<CopyAtomInterface>(getDecidedAtom(load, target));
  Type element = cast<RankedTensorType>(dot->getOperand(operand).getType()).getElementType();
  auto isFilled = [&](const LinearLayout &order) {
    return !isBrought || !isDecided || (copy && copy.admits(shape, element, order));
  };
  if (llvm::any_of(repeatOrders(async.getSharedLayouts(operand, share, isTransposed), shape),
                   isFilled))
    return true;
  // What copies do not find in one piece each, products that alone read it do in windows.
  return isBrought && isReadInWindows(load.getResult(), target) &&
         llvm::any_of(
             async.getSharedLayouts(operand, shape, isTransposed), [&](const LinearLayout &order) {
               return order.isExact() && isFilled(order) &&
                      getWindowType(BufferType::get(dot.getContext(), shape, element,
                                                    LayoutAttr::get(dot.getContext(), order)),
                                    share);
             });
}

/// Cuts k into parts that are powers of two, the largest first, or as it is decided; false if it
/// cannot be.
bool ProductCandidate::isCut(int64_t least, function_ref<bool(int64_t)> isMade) {
  if (hasDecidedPieces && pieces.empty())
    return false;
  // What grows is no part of what lies behind it in memory.
  if (!findDecision(dot).empty() || dot.getParts() || k != dot.getK() ||
      !OperandTile(dot, 0).isOwn() || !OperandTile(dot, 1).isOwn())
    return isLimitedBy(ProductLimit::Cut);
  if (hasDecidedPieces && *llvm::min_element(pieces) < least)
    return isLimitedBy(ProductLimit::Multiples);
  if (hasDecidedPieces)
    return llvm::all_of(pieces, isMade);
  for (int64_t rest = k; rest > 0; rest -= pieces.back()) {
    int64_t piece = llvm::bit_floor(uint64_t(rest));
    while (piece >= least && !isMade(piece))
      piece /= 2;
    if (piece < least)
      return false;
    pieces.push_back(piece);
  }
  return true;
}

bool ProductCandidate::isLimitedBy(ProductLimit by) {
  limit = by;
  return false;
}

bool ProductCandidate::isMadeBeside(AsyncMmaAtomInterface async) {
  auto [atomM, atomN, atomK] = async.getExtents();
  if (!isDecided)
    copies = chooseCopies(m, atomM);
  dim = getSharedDim(m, n, atomM, atomN, copies);
  if (copies > 1 && dim < 0)
    return isLimitedBy(ProductLimit::Copies);
  int64_t ownM = getOwn(0, m), ownN = getOwn(1, n);
  if (ownM % atomM || ownN % atomN || k % atomK)
    return isLimitedBy(ProductLimit::Multiples);
  if (!isExactly(async.getAccumulatorLayout({ownM, ownN}, async.getWarps())))
    return isLimitedBy(ProductLimit::Sum);
  auto areRead = [&](int64_t depth) { return isRead(async, 0, depth) && isRead(async, 1, depth); };
  limit = ProductLimit::Operands;
  return (isWhole() && areRead(k)) || isCut(atomK, areRead);
}

/// A thread has operands and sums in registers, which count one odd factor of each.
bool ProductCandidate::isMadeByWarps(WarpMmaAtomInterface single) {
  auto [atomM, atomN, atomK] = single.getExtents();
  dim = getSharedDim(m, n, atomM, atomN, copies);
  if (copies > 1 && dim < 0)
    return isLimitedBy(ProductLimit::Copies);
  std::array<int64_t, 3> own = {getOwn(0, m), getOwn(1, n), k};
  if (own[0] % atomM || own[1] % atomN || k % atomK)
    return isLimitedBy(ProductLimit::Multiples);
  int64_t apart = getPowerOf2Factor(own[0]) / atomM * (getPowerOf2Factor(own[1]) / atomN);
  workers = copies * std::min(warps / copies, apart);
  bool isOddM = !llvm::isPowerOf2_64(own[0]), isOddN = !llvm::isPowerOf2_64(own[1]);
  limit = ProductLimit::Registers;
  if (isOddM && isOddN)
    return false;
  bool isOddK = !llvm::isPowerOf2_64(k);
  return (isWhole() && !(isOddK && (isOddM || isOddN))) ||
         isCut(atomK, [](int64_t) { return true; });
}

bool ProductCandidate::isMade() {
  auto find = [&](DotOp dot) -> Attribute {
    if (isDecided)
      return getDecidedAtom(dot, target);
    for (Attribute atom : target.getAtoms(dot))
      if (open == OpenProducts::Beside ? isa<AsyncMmaAtomInterface>(atom)
                                       : isa<WarpMmaAtomInterface>(atom))
        return atom;
    return {};
  };
  atom = askOfExtents(dot, {m, n, k}, find);
  if (auto async = dyn_cast_or_null<AsyncMmaAtomInterface>(atom))
    return isMadeBeside(async);
  auto single = dyn_cast_or_null<WarpMmaAtomInterface>(atom);
  if (single && open == OpenProducts::Warps)
    return isMadeByWarps(single);
  return isLimitedBy(ProductLimit::Instruction);
}

std::string ProductCandidate::describeLimit() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  switch (limit) {
  case ProductLimit::None:
    break;
  case ProductLimit::Instruction:
    os << "extents that an instruction of " << target.getSpelling() << " makes";
    return text;
  case ProductLimit::Copies:
    os << "rows or columns that " << copies << " copies share out";
    break;
  case ProductLimit::Multiples: {
    auto [atomM, atomN, atomK] = cast<MmaAtomInterface>(atom).getExtents();
    os << "multiples of " << atomM << ", " << atomN << " and " << atomK;
    if (copies > 1)
      os << " of each of " << copies << " copies";
    break;
  }
  case ProductLimit::Sum:
    os << "a sum of one odd factor a thread";
    break;
  case ProductLimit::Operands:
    os << "operands that lie in memory as they are read";
    break;
  case ProductLimit::Registers:
    os << "one extent at most with an odd factor";
    break;
  case ProductLimit::Cut:
    os << "loads of the product's own, of which nothing is decided, to cut along its inner extent";
    break;
  }
  os << " for " << atom;
  return text;
}
