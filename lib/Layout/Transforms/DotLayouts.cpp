// How the operands and the sums of products lie in registers.
#include "LayoutBases.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/AtomFit.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;

using Basis = LinearLayout::Basis;
using InDim = LinearLayout::InDim;

bool kiln::fits(WarpMmaAtomInterface atom, tile::DotOp dot) {
  std::array<int64_t, 3> extents = atom.getExtents();
  return dot.getM() % extents[0] == 0 && dot.getN() % extents[1] == 0 &&
         dot.getK() % extents[2] == 0;
}

std::pair<Type, Type> kiln::getDotTypes(tile::DotOp dot) {
  auto elementOf = [&](Value value, bool isUnsigned) -> Type {
    auto buffer = dyn_cast<tile::BufferType>(value.getType());
    Type element = buffer ? buffer.getElementType() : getElementTypeOrSelf(value.getType());
    // Two to a byte.
    if (!dot.getScales().empty() && element.isInteger(8))
      return Float4E2M1FNType::get(element.getContext());
    if (!isUnsigned)
      return element;
    return IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth(),
                            IntegerType::Unsigned);
  };
  return {elementOf(dot.getA(), dot.getUnsignedA()), elementOf(dot.getB(), dot.getUnsignedB())};
}

/// Of atoms that make the whole product, those that make its parts, if there are any.
static void preferPartsOf(tile::DotOp dot, SmallVectorImpl<Attribute> &atoms) {
  std::array<int64_t, 3> parts = countParts(dot), whole = {dot.getM(), dot.getN(), dot.getK()};
  auto makesParts = [&](Attribute atom) {
    std::array<int64_t, 3> extents = cast<WarpMmaAtomInterface>(atom).getExtents();
    return llvm::all_of(
        llvm::seq(3u), [&](unsigned dim) { return whole[dim] % (parts[dim] * extents[dim]) == 0; });
  };
  if (llvm::any_of(atoms, makesParts))
    llvm::erase_if(atoms, [&](Attribute atom) { return !makesParts(atom); });
}

/// How many warps have something of their own to make of each part of each matrix, by an atom.
static int64_t countWorkers(tile::DotOp dot, WarpMmaAtomInterface atom, int64_t warps,
                            int64_t copies) {
  auto [m, n, k] = atom.getExtents();
  auto [partsM, partsN, partsK] = countParts(dot);
  int dim = tile::getSharedDim(dot.getM(), dot.getN(), m, n, copies);
  int64_t ownM = dot.getM() / (dim == 0 ? copies : 1), ownN = dot.getN() / (dim == 1 ? copies : 1);
  int64_t apart = getPowerOf2Factor(ownM) / (m * partsM) * (getPowerOf2Factor(ownN) / (n * partsN));
  return std::min(warps, apart);
}

/// Of atoms of one kind, by which as much is multiplied of as much that is read, the one comes
/// first that leaves the fewest warps idle.
static void putBusiestFirst(tile::DotOp dot, SmallVectorImpl<Attribute> &atoms,
                            TargetInterface target) {
  auto getSize = [](Attribute atom) {
    auto [m, n, k] = cast<WarpMmaAtomInterface>(atom).getExtents();
    return m * k;
  };
  auto *end =
      llvm::find_if(atoms, [&](Attribute atom) { return getSize(atom) != getSize(atoms.front()); });
  auto kernel = dot->getParentOfType<tile::KernelOp>();
  if (end - atoms.begin() < 2 || !kernel)
    return;
  tile::RoleAttr role = tile::lookUpRole(dot);
  auto decided = kernel->getAttrOfType<IntegerAttr>(tile::kWarpsAttrName);
  int64_t warps = role      ? role.getWarps()
                  : decided ? decided.getInt()
                            : countWarps(kernel, target.getChipRecord());
  warps /= std::min(warps, ShapedType::getNumElements(dot.getType().getShape().drop_back(2)));
  auto count = [&](Attribute atom) {
    return countWorkers(dot, cast<WarpMmaAtomInterface>(atom), warps, role ? role.getCopies() : 1);
  };
  auto *busiest = std::max_element(atoms.begin(), end, [&](Attribute left, Attribute right) {
    return count(left) < count(right);
  });
  std::rotate(atoms.begin(), busiest, busiest + 1);
}

SmallVector<Attribute> kiln::getMmaAtoms(tile::DotOp dot, TargetInterface target) {
  if (!dot.getScales().empty())
    return {};
  SmallVector<std::pair<Type, Type>> reads = {getDotTypes(dot)};
  Type tf32 = FloatTF32Type::get(dot.getContext());
  if (dot.getPrecision() == tile::DotPrecision::TF32)
    reads.insert(reads.begin(), {tf32, tf32});
  else if (dot.getPrecision() == tile::DotPrecision::TF32x3)
    reads.push_back({tf32, tf32});
  SmallVector<Attribute> atoms;
  for (auto [left, right] : reads)
    for (Attribute atom :
         target.getMmaAtoms(left, right, getElementTypeOrSelf(dot.getAccumulator())))
      if (fits(cast<WarpMmaAtomInterface>(atom), dot))
        atoms.push_back(atom);
  preferPartsOf(dot, atoms);
  if (!atoms.empty())
    putBusiestFirst(dot, atoms, target);
  return atoms;
}

Attribute kiln::getUsualAtom(tile::DotOp dot, TargetInterface target) {
  SmallVector<Attribute> atoms = getMmaAtoms(dot, target);
  return atoms.empty() ? Attribute(tile::FmaAtomAttr::get(dot.getContext())) : atoms.front();
}

SmallVector<Attribute> kiln::getMmaAtoms(tile::DotScaledOp dot, TargetInterface target) {
  auto elementOf = [](Value value) { return getElementTypeOrSelf(value); };
  SmallVector<Attribute> atoms = target.getScaledMmaAtoms(
      elementOf(dot.getA()), elementOf(dot.getScaleA()), elementOf(dot.getB()),
      elementOf(dot.getScaleB()), elementOf(dot.getAccumulator()));
  llvm::erase_if(atoms, [&](Attribute atom) {
    std::array<int64_t, 3> extents = cast<WarpMmaAtomInterface>(atom).getExtents();
    return dot.getM() < extents[0] || dot.getN() < extents[1] || dot.getK() < extents[2];
  });
  return atoms;
}

/// The fragment of one operand, repeated: along `inner` then `outer` in registers, over warps along
/// the dimensions that `warpDims` names (-1: all warps hold the same), and as often as an extent's
/// odd factor says in registers again.
static LinearLayout repeat(const LinearLayout &fragment, ArrayRef<int64_t> shape, unsigned inner,
                           ArrayRef<int64_t> warpExtents, ArrayRef<int> warpDims) {
  LinearLayout layout = fragment;
  SmallVector<int64_t> have = fragment.getShape();
  for (unsigned dim : {inner, 1 - inner}) {
    int64_t count = getPowerOf2Factor(shape[dim]) / (have[dim] * warpExtents[dim]);
    layout = layout * LinearLayout::identity(count, kRegister, getDimName(dim));
  }
  for (int dim : warpDims)
    layout = layout * (dim < 0 ? LinearLayout::zeros(2, kWarp, getDimName(0))
                               : LinearLayout::identity(2, kWarp, getDimName(dim)));
  for (unsigned dim : {0, 1})
    layout = layout * LinearLayout::identity(shape[dim] / getPowerOf2Factor(shape[dim]), kRegister,
                                             getDimName(dim));
  return canonicalise(layout);
}

static LinearLayout transposeIf(bool transposed, const LinearLayout &layout) {
  return transposed ? layout.transposeOuts({1, 0}) : layout;
}

/// The layout of sums, so laid out that registers choose among the parts of a product that is cut:
/// `layOut` says how one part's are, which are multiples of `least`. Parts of a larger odd factor,
/// and such as leave threads without a share, it does not tell apart.
static LinearLayout layOutParts(std::array<int64_t, 2> extents, std::array<int64_t, 3> parts,
                                std::array<int64_t, 2> least,
                                function_ref<LinearLayout(int64_t, int64_t)> layOut) {
  LinearLayout whole = layOut(extents[0], extents[1]);
  auto [partsM, partsN, partsK] = parts;
  int64_t m = extents[0] / partsM, n = extents[1] / partsN;
  bool isWhole = extents[0] % (partsM * least[0]) == 0 && extents[1] % (partsN * least[1]) == 0;
  if (partsM * partsN == 1 || !isWhole || !llvm::isPowerOf2_64(m) || !llvm::isPowerOf2_64(n))
    return whole;
  LinearLayout part = layOut(m, n);
  auto countIdle = [](const LinearLayout &layout) {
    return llvm::count_if(layout.getBases(kLane), isZero) +
           llvm::count_if(layout.getBases(kWarp), isZero);
  };
  if (countIdle(part) > countIdle(whole))
    return whole;
  return canonicalise(part * LinearLayout::identity(partsM, kRegister, getDimName(0)) *
                      LinearLayout::identity(partsN, kRegister, getDimName(1)));
}

/// Each thread multiplies and adds on its own: it holds all of K for its rows and columns.
static DotLayouts getFmaLayouts(tile::DotOp dot, ThreadShape threads) {
  int64_t m = dot.getM(), n = dot.getN(), k = dot.getK();
  auto layOut = [&](int64_t rows, int64_t columns) {
    return getBlockedLayout({rows, columns}, 4, threads);
  };
  LinearLayout accumulator = layOutParts({m, n}, countParts(dot), {1, 1}, layOut);
  auto operand = [&](unsigned keep, unsigned dimK, ArrayRef<int64_t> shape) {
    SmallVector<InDim> ins(accumulator.getIns());
    for (InDim &in : ins)
      for (Basis &basis : in.bases) {
        int64_t kept = basis[keep];
        basis = Basis(2, 0);
        basis[1 - dimK] = kept;
      }
    llvm::erase_if(ins.front().bases, isZero);
    for (int64_t value = 1; value < k; value *= 2) {
      Basis basis(2, 0);
      basis[dimK] = value;
      ins.front().bases.push_back(basis);
    }
    return canonicalise(makeLayout(ins, shape));
  };
  LinearLayout a = operand(0, 1, {m, k}), b = operand(1, 0, {k, n});
  return {transposeIf(dot.getTransposeA(), a), transposeIf(dot.getTransposeB(), b), accumulator};
}

namespace {
/// Which dimension of a product by an atom each bit of the warp's number walks (-1: none).
struct WarpGrid {
  int64_t m = 1, n = 1;
  SmallVector<int> dims;

  /// Gives warps to the longer side of what is left for each, so that it stays near a square; if
  /// `byRows`, to rows first.
  WarpGrid(int64_t extentM, int64_t extentN, WarpMmaAtomInterface atom, unsigned warps,
           bool byRows) {
    std::array<int64_t, 3> extents = atom.getExtents();
    for (; warps > 1; warps /= 2) {
      int64_t restM = getPowerOf2Factor(extentM) / (extents[0] * m);
      int64_t restN = getPowerOf2Factor(extentN) / (extents[1] * n);
      bool alongM = restM > 1 && (byRows || extentM / m >= extentN / n || restN <= 1);
      if (alongM)
        m *= 2;
      else if (restN > 1)
        n *= 2;
      dims.push_back(alongM ? 0 : restN > 1 ? 1 : -1);
    }
  }
  /// The bits that walk dimension `keep`, which an operand has as its dimension `as`.
  SmallVector<int> only(int keep, int as) const {
    return llvm::map_to_vector(dims, [&](int dim) { return dim == keep ? as : -1; });
  }
};
} // namespace

/// What a value becomes in its block, element by element or behind conditions.
static bool keepsElements(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() || isa<scf::IfOp>(op);
}

/// Whether something in a product's block wants whole rows of it: a reduction along them, or a
/// product whose first operand is made of it. Warps that share rows out exchange nothing then.
static bool feedsRows(tile::DotOp dot) {
  SmallVector<Value> values = {dot.getResult()};
  DenseSet<Operation *> seen;
  while (!values.empty())
    for (OpOperand &use : values.pop_back_val().getUses()) {
      Operation *user = dot->getBlock()->findAncestorOpInBlock(*use.getOwner());
      if (!user || !seen.insert(user).second)
        continue;
      if (auto reduce = dyn_cast<tile::ReduceOp>(user); reduce && reduce.getAxis() == 1)
        return true;
      if (auto other = dyn_cast<tile::DotOp>(user))
        if (use.getOperandNumber() == 0 && !other.getTransposeA())
          return true;
      if (keepsElements(user))
        llvm::append_range(values, user->getResults());
    }
  return false;
}

/// Whether a product's first operand is made of another's result in its block.
static bool isFedByProduct(tile::DotOp dot) {
  if (dot.getTransposeA())
    return false;
  SmallVector<Value> values = {dot.getA()};
  DenseSet<Operation *> seen;
  while (!values.empty()) {
    Operation *maker = values.pop_back_val().getDefiningOp();
    Operation *here = maker ? dot->getBlock()->findAncestorOpInBlock(*maker) : nullptr;
    if (!here || !seen.insert(maker).second)
      continue;
    if (isa<tile::DotOp>(maker))
      return true;
    if (keepsElements(maker))
      llvm::append_range(values, maker->getOperands());
    for (Region &region : maker->getRegions())
      if (isa<scf::IfOp>(maker) && !region.empty())
        llvm::append_range(values, region.front().getTerminator()->getOperands());
  }
  return false;
}

/// Whether a layout is the fragment and repeats of it, in whatever order.
static bool isMadeOf(const LinearLayout &layout, const LinearLayout &fragment) {
  SmallVector<int64_t> extents = fragment.getShape();
  if (layout.getBases(kLane) != fragment.getBases(kLane))
    return false;
  for (const Basis &basis : fragment.getBases(kRegister))
    if (!llvm::is_contained(layout.getBases(kRegister), basis))
      return false;
  for (StringRef part : {kRegister, kWarp})
    for (const Basis &basis : layout.getBases(part))
      if (!llvm::is_contained(fragment.getBases(kRegister), basis) &&
          !llvm::all_of(llvm::zip_equal(basis, extents),
                        [](auto pair) { return std::get<0>(pair) % std::get<1>(pair) == 0; }))
        return false;
  return true;
}

/// Where a k of the repeated fragment goes so that each lane has `most` consecutive ones, if it has
/// half of them: a sum may go in any order, in which the lanes' bits come behind those of repeats.
static int64_t permuteK(int64_t k, const LinearLayout &fragment, unsigned dimK, int64_t extent,
                        int64_t most) {
  int64_t held = 1, once = fragment.getShape()[dimK];
  while (llvm::any_of(fragment.getBases(kRegister),
                      [&](const Basis &basis) { return basis[dimK] == held; }))
    held *= 2;
  bool doubles = 2 * held == most && held < once && 2 * once <= getPowerOf2Factor(extent);
  if (!doubles || k < held || k > once)
    return k;
  return k < once ? 2 * k : held;
}

/// The layout of an operand [rows, k] or, transposed, [k, columns] beside an accumulator: its
/// fragment, repeated along k, then as the accumulator's are along dimension `keep`. `vector` is
/// how many elements along k a lane had best hold.
static LinearLayout followAccumulator(const LinearLayout &fragment, ArrayRef<int64_t> shape,
                                      unsigned keep, const LinearLayout &accumulator,
                                      const LinearLayout &sums, int64_t vector) {
  SmallVector<InDim> ins(fragment.getIns());
  auto *registers = llvm::find_if(ins, [](const InDim &in) { return in.name == kRegister; });
  for (int64_t at = fragment.getShape()[1 - keep]; at < shape[1 - keep]; at *= 2) {
    Basis basis(2, 0);
    basis[1 - keep] = at;
    registers->bases.push_back(basis);
  }
  for (InDim &in : ins)
    for (Basis &basis : in.bases)
      basis[1 - keep] = permuteK(basis[1 - keep], fragment, 1 - keep, shape[1 - keep], vector);
  auto project = [&](Basis basis) {
    basis[1 - keep] = 0;
    return basis;
  };
  for (const Basis &basis : accumulator.getBases(kRegister))
    if (!llvm::is_contained(sums.getBases(kRegister), basis) && basis[keep])
      registers->bases.push_back(project(basis));
  InDim warps{kWarp.str(), {}};
  for (const Basis &basis : accumulator.getBases(kWarp))
    warps.bases.push_back(project(basis));
  ins.push_back(warps);
  return canonicalise(makeLayout(ins, shape));
}

/// The layouts of one product by an atom.
static DotLayouts getAtomLayouts(tile::DotOp dot, WarpMmaAtomInterface atom, ThreadShape threads,
                                 const LinearLayout *accumulator) {
  int64_t m = dot.getM(), n = dot.getN(), k = dot.getK();
  LinearLayout sums = atom.getFragment(2);
  std::array<int64_t, 3> extents = atom.getExtents();
  int dim = tile::getSharedDim(m, n, extents[0], extents[1], threads.copies);
  int64_t ownM = dim == 0 ? m / threads.copies : m, ownN = dim == 1 ? n / threads.copies : n;
  bool byRows = feedsRows(dot) || isFedByProduct(dot);
  auto layOut = [&](int64_t rows, int64_t columns) {
    WarpGrid warps(rows, columns, atom, threads.warps / threads.copies, byRows);
    return repeat(sums, {rows, columns}, 1, {warps.m, warps.n}, warps.dims);
  };
  LinearLayout c = layOutParts({ownM, ownN}, countParts(dot), {extents[0], extents[1]}, layOut);
  c = shareOut(c, dim, threads.copies);
  if (accumulator && accumulator->getShape() == c.getShape() && isMadeOf(*accumulator, sums))
    c = *accumulator;
  // What comes out of buffers is read 16 bytes at a time where a lane's part allows it.
  int64_t bits = getDotTypes(dot).first.getIntOrFloatBitWidth();
  int64_t vector = isInBuffer(dot.getA()) && isInBuffer(dot.getB()) ? 128 / bits : 1;
  LinearLayout a = followAccumulator(atom.getFragment(0), {m, k}, 0, c, sums, vector);
  LinearLayout b = followAccumulator(atom.getFragment(1), {k, n}, 1, c, sums, vector);
  return {transposeIf(dot.getTransposeA(), a), transposeIf(dot.getTransposeB(), b), c};
}

std::array<LinearLayout, 5> kiln::getDotLayouts(tile::DotScaledOp dot, ScaledMmaAtomInterface atom,
                                                ThreadShape threads) {
  int64_t m = dot.getM(), n = dot.getN(), k = dot.getK(), blocks = k / atom.getBlock();
  std::array<int64_t, 3> extents = atom.getExtents();
  int dim = tile::getSharedDim(m, n, extents[0], extents[1], threads.copies);
  int64_t ownM = dim == 0 ? m / threads.copies : m, ownN = dim == 1 ? n / threads.copies : n;
  WarpGrid warps(ownM, ownN, atom, threads.warps / threads.copies, /*byRows=*/false);
  SmallVector<int> ofA = warps.only(0, 0);
  LinearLayout b = repeat(atom.getFragment(1), {k, ownN}, 0, {1, warps.n}, warps.only(1, 1));
  LinearLayout sums = repeat(atom.getFragment(2), {ownM, ownN}, 1, {warps.m, warps.n}, warps.dims);
  auto share = [&](const LinearLayout &layout, int of, int along) {
    return shareOut(layout, dim == of ? along : -1, threads.copies);
  };
  return {share(repeat(atom.getFragment(0), {ownM, k}, 1, {warps.m, 1}, ofA), 0, 0),
          share(repeat(atom.getScales(0), {ownM, blocks}, 1, {warps.m, 1}, ofA), 0, 0),
          transposeIf(dot.getTransposeB(), share(b, 1, 1)),
          share(repeat(atom.getScales(1), {ownN, blocks}, 1, {warps.n, 1}, warps.only(1, 0)), 1, 0),
          shareOut(sums, dim, threads.copies)};
}

/// The layout of one matrix for each of a batch: as many of these as there are `warps` for go to
/// other warps, the rest to more registers.
static LinearLayout addBatch(const LinearLayout &matrix, ArrayRef<int64_t> batch, int64_t warps) {
  SmallVector<int64_t> shape(batch);
  llvm::append_range(shape, matrix.getShape());
  SmallVector<InDim> ins(matrix.getIns());
  for (InDim &in : ins)
    for (Basis &basis : in.bases)
      basis.insert(basis.begin(), batch.size(), 0);
  for (int64_t dim = batch.size(); dim-- > 0;)
    for (int64_t value = 1; value < batch[dim]; value *= 2) {
      Basis basis(shape.size(), 0);
      basis[dim] = value;
      ins[warps > 1 ? 2 : 0].bases.push_back(basis);
      warps /= 2;
    }
  return canonicalise(makeLayout(ins, shape));
}

/// Those of operands in registers, if there are any.
static DotLayouts getAsyncLayouts(tile::DotOp dot, AsyncMmaAtomInterface atom, ThreadShape threads,
                                  const LinearLayout *accumulator) {
  int64_t m = dot.getM(), n = dot.getN(), k = dot.getK();
  std::array<int64_t, 3> extents = atom.getExtents();
  unsigned warps = threads.warps / threads.copies;
  int dim = tile::getSharedDim(m, n, extents[0], extents[1], threads.copies);
  auto getOwnM = [&] { return dim == 0 ? m / threads.copies : m; };
  auto getAccumulator = [&] {
    int64_t ownN = dim == 1 ? n / threads.copies : n;
    return canonicalise(shareOut(canonicalise(atom.getAccumulatorLayout({getOwnM(), ownN}, warps)),
                                 dim, threads.copies));
  };
  DotLayouts layouts;
  layouts.accumulator = getAccumulator();
  // An author may have copies share out columns, where there are rows enough too.
  if (accumulator && layouts.accumulator != *accumulator && dim == 0 &&
      tile::sharesEvenly(n, extents[1], threads.copies)) {
    dim = 1;
    if (LinearLayout other = getAccumulator(); other == *accumulator)
      layouts.accumulator = other;
    else
      dim = 0;
  }
  int64_t ownM = getOwnM();
  if (std::optional<LinearLayout> a = atom.getRegisterLayout({ownM, k}, warps))
    layouts.a = transposeIf(dot.getTransposeA(),
                            shareOut(canonicalise(*a), dim == 0 ? 0 : -1, threads.copies));
  for (auto [operand, scales] : llvm::enumerate(dot.getScales())) {
    SmallVector<int64_t> shape(cast<RankedTensorType>(scales.getType()).getShape());
    bool isShared = dim == int(operand);
    if (isShared)
      shape[0] /= threads.copies;
    if (std::optional<LinearLayout> layout = atom.getScaleLayout(operand, shape, warps))
      layouts.scales[operand] = shareOut(canonicalise(*layout), isShared ? 0 : -1, threads.copies);
  }
  return layouts;
}

DotLayouts kiln::getDotLayouts(tile::DotOp dot, Attribute atomAttr, ThreadShape threads,
                               const LinearLayout *accumulator) {
  ArrayRef<int64_t> batch = dot.getType().getShape().drop_back(2);
  // Warps that multiply other matrices have no operand in common.
  int64_t apart = std::min<int64_t>(threads.warps, ShapedType::getNumElements(batch));
  ThreadShape each = threads;
  if (!batch.empty())
    each = {threads.lanes, unsigned(threads.warps / apart)};
  if (auto async = dyn_cast<AsyncMmaAtomInterface>(atomAttr))
    return getAsyncLayouts(dot, async, threads, accumulator);
  auto atom = dyn_cast<WarpMmaAtomInterface>(atomAttr);
  DotLayouts layouts = atom ? getAtomLayouts(dot, atom, each, batch.empty() ? accumulator : nullptr)
                            : getFmaLayouts(dot, each);
  if (!batch.empty())
    for (LinearLayout *layout : {&layouts.a, &layouts.b, &layouts.accumulator})
      *layout = addBatch(*layout, batch, apart);
  return layouts;
}
