// The layouts that decisions are made of.
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <set>

using namespace mlir;
using namespace kiln;

#include "kiln/Layout/Transforms/WarpCopyAtomInterface.cpp.inc"
#include "kiln/Layout/Transforms/WarpMmaAtomInterface.cpp.inc"

using Basis = LinearLayout::Basis;
using InDim = LinearLayout::InDim;

static bool isZero(const Basis &basis) {
  return llvm::all_of(basis, [](int64_t value) { return value == 0; });
}

static LinearLayout make(ArrayRef<InDim> ins, ArrayRef<int64_t> shape) {
  return LinearLayout::create(ins, getTensorOuts(shape)).value_or(LinearLayout());
}

int64_t kiln::getPowerOf2Factor(int64_t extent) { return extent & -extent; }

/// The bits that count what an extent has of its factor that is a power of two, of registers, are
/// their highest ones.
static void moveCutsUp(InDim &registers, ArrayRef<int64_t> shape) {
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (llvm::isPowerOf2_64(extent))
      continue;
    SmallVector<Basis> below, cuts;
    for (const Basis &basis : registers.bases)
      (basis[dim] < getPowerOf2Factor(extent) ? below : cuts).push_back(basis);
    llvm::sort(cuts);
    registers.bases = std::move(below);
    llvm::append_range(registers.bases, cuts);
  }
}

LinearLayout kiln::canonicalise(const LinearLayout &layout) {
  SmallVector<std::string> names = layout.getOutNames();
  SmallVector<StringRef> outs(names.begin(), names.end());
  LinearLayout result =
      layout.sublayout({kRegister, kLane, kWarp}, outs).removeZeroBases(kRegister);
  SmallVector<int64_t> shape = result.getShape();
  if (llvm::all_of(shape, [](int64_t extent) { return llvm::isPowerOf2_64(extent); }))
    return result;
  SmallVector<InDim> ins(result.getIns());
  moveCutsUp(ins.front(), shape);
  return *LinearLayout::create(ins, result.getOuts());
}

/// The layout of a tensor of which each copy has its share along a dimension, or all of it (-1),
/// from that of one copy.
static LinearLayout shareOut(const LinearLayout &own, int dim, unsigned copies) {
  SmallVector<int64_t> shape = own.getShape();
  SmallVector<InDim> ins(own.getIns());
  auto *warps = llvm::find_if(ins, [](const InDim &in) { return in.name == kWarp; });
  for (unsigned copy = 1; copy < copies; copy *= 2) {
    Basis basis(shape.size(), 0);
    if (dim >= 0)
      basis[dim] = shape[dim] * copy;
    warps->bases.push_back(basis);
  }
  if (dim >= 0)
    shape[dim] *= copies;
  return make(ins, shape);
}

LinearLayout kiln::getSharedOutLayout(ArrayRef<int64_t> shape, int64_t width, ThreadShape threads,
                                      int dim, int fastest) {
  SmallVector<int64_t> own(shape);
  if (dim >= 0)
    own[dim] /= threads.copies;
  ThreadShape one = {threads.lanes, threads.warps / threads.copies};
  return shareOut(getBlockedLayout(own, width, one, fastest), dim, threads.copies);
}

LinearLayout kiln::getBlockedLayout(ArrayRef<int64_t> shape, int64_t width, ThreadShape threads,
                                    int fastest) {
  if (threads.copies > 1) {
    int dim = !shape.empty() && tile::sharesEvenly(shape[0], 1, threads.copies) ? 0 : -1;
    return getSharedOutLayout(shape, width, threads, dim, fastest);
  }
  int64_t rank = shape.size();
  SmallVector<int64_t> taken(rank, 1);
  InDim registers{kRegister.str(), {}}, lanes{kLane.str(), {}}, warps{kWarp.str(), {}};
  // Takes the next bit of a dimension for a part; false if the dimension has no more. What counts
  // an extent's odd factor is left to registers, at the end.
  auto take = [&](InDim &part, int64_t dim) {
    if (taken[dim] >= getPowerOf2Factor(shape[dim]))
      return false;
    Basis basis(rank, 0);
    basis[dim] = taken[dim];
    part.bases.push_back(basis);
    taken[dim] *= 2;
    return true;
  };
  auto fill = [&](InDim &part, unsigned bits, ArrayRef<int64_t> dims) {
    for (int64_t dim : dims)
      while (part.bases.size() < bits && take(part, dim)) {
      }
    while (part.bases.size() < bits)
      part.bases.push_back(Basis(rank, 0));
  };
  SmallVector<int64_t> walk;
  if (fastest >= 0)
    walk.push_back(fastest);
  for (int64_t dim = rank; dim-- > 0;)
    if (dim != fastest)
      walk.push_back(dim);
  SmallVector<int64_t> backwards(llvm::reverse(walk));
  // Every thread should have its own elements before one has several.
  int64_t elements = ShapedType::getNumElements(shape);
  width = std::min(width, std::max<int64_t>(1, elements / (threads.lanes * threads.warps)));
  for (int64_t have = 1; rank > 0 && have < width && take(registers, walk.front()); have *= 2) {
  }
  fill(lanes, llvm::Log2_32(threads.lanes), walk);
  fill(warps, llvm::Log2_32(threads.warps), backwards);
  for (int64_t dim : walk)
    while (take(registers, dim)) {
    }
  for (int64_t dim = 0; dim < rank; ++dim)
    for (int64_t value = getPowerOf2Factor(shape[dim]); value < shape[dim]; value *= 2) {
      Basis basis(rank, 0);
      basis[dim] = value;
      registers.bases.push_back(basis);
    }
  return make({registers, lanes, warps}, shape);
}

int64_t kiln::countSectors(const LinearLayout &layout, unsigned dim, int64_t width,
                           int64_t elementBytes) {
  constexpr int64_t kSectorBytes = 32;
  std::set<std::pair<int64_t, int64_t>> sectors;
  for (int64_t lane = 0; lane < layout.getInSize(kLane); ++lane) {
    Basis element = layout.applyTo(kLane, lane);
    int64_t first = element[dim] * elementBytes, last = first + width * elementBytes - 1;
    element[dim] = 0;
    for (int64_t at = first / kSectorBytes; at <= last / kSectorBytes; ++at)
      sectors.insert({layout.flatten(element), at});
  }
  return int64_t(sectors.size()) * std::max<int64_t>(1, layout.getInSize(kRegister) / width);
}

bool kiln::isSeparable(const LinearLayout &layout, unsigned axis) {
  for (const InDim &in : layout.getIns())
    for (const Basis &basis : in.bases) {
      Basis across = basis;
      across[axis] = 0;
      if (basis[axis] && (!isZero(across) || !llvm::isPowerOf2_64(basis[axis])))
        return false;
    }
  return true;
}

LinearLayout kiln::dropDim(const LinearLayout &layout, unsigned axis) {
  SmallVector<int64_t> shape = layout.getShape();
  shape.erase(shape.begin() + axis);
  SmallVector<InDim> ins(layout.getIns());
  for (InDim &in : ins)
    for (Basis &basis : in.bases)
      basis.erase(basis.begin() + axis);
  return canonicalise(make(ins, shape));
}

LinearLayout kiln::joinPairs(const LinearLayout &layout) {
  SmallVector<int64_t> shape = layout.getShape();
  SmallVector<InDim> ins(canonicalise(layout).getIns());
  for (InDim &in : ins)
    for (Basis &basis : in.bases)
      basis.push_back(0);
  Basis pair(shape.size() + 1, 0);
  pair.back() = 1;
  ins.front().bases.insert(ins.front().bases.begin(), pair);
  shape.push_back(2);
  return make(ins, shape);
}

std::optional<LinearLayout> kiln::splitPairs(const LinearLayout &layout) {
  SmallVector<int64_t> shape = layout.getShape();
  if (shape.empty() || shape.back() != 2)
    return std::nullopt;
  SmallVector<InDim> ins(canonicalise(layout).getIns());
  unsigned pairs = 0;
  for (auto [part, in] : llvm::enumerate(ins))
    for (Basis &basis : in.bases) {
      bool inPair = basis.back() != 0;
      basis.pop_back();
      if (inPair && (part != 0 || !isZero(basis) || ++pairs > 1))
        return std::nullopt;
    }
  if (!pairs)
    return std::nullopt;
  shape.pop_back();
  // What told the two apart is a register's zero basis now.
  return canonicalise(make(ins, shape));
}

LinearLayout kiln::projectTo(const LinearLayout &layout, ArrayRef<int64_t> inputShape) {
  SmallVector<InDim> ins(layout.getIns());
  for (InDim &in : ins)
    for (Basis &basis : in.bases)
      for (auto [value, extent] : llvm::zip(basis, inputShape))
        if (extent == 1)
          value = 0;
  return canonicalise(make(ins, inputShape));
}

std::optional<LinearLayout> kiln::getBoxLayout(const LinearLayout &whole, ArrayRef<int64_t> box) {
  SmallVector<InDim> ins;
  for (const InDim &in : whole.getIns()) {
    ins.push_back({in.name, {}});
    for (const Basis &basis : in.bases) {
      bool isInside = llvm::all_of(llvm::zip_equal(basis, box),
                                   [](auto pair) { return std::get<0>(pair) < std::get<1>(pair); });
      bool chooses = llvm::all_of(llvm::zip_equal(basis, box), [](auto pair) {
        return std::get<0>(pair) % std::get<1>(pair) == 0;
      });
      if (isInside)
        ins.back().bases.push_back(basis);
      else if (!chooses || in.name != kRegister)
        return std::nullopt;
    }
  }
  return LinearLayout::create(ins, getTensorOuts(box));
}

//===- Dots ---------------------------------------------------------------------------------===//

bool kiln::fits(WarpMmaAtomInterface atom, tile::DotOp dot) {
  std::array<int64_t, 3> extents = atom.getExtents();
  return dot.getM() % extents[0] == 0 && dot.getN() % extents[1] == 0 &&
         dot.getK() % extents[2] == 0;
}

std::pair<Type, Type> kiln::getDotTypes(tile::DotOp dot) {
  auto elementOf = [](Value value, bool isUnsigned) -> Type {
    auto buffer = dyn_cast<tile::BufferType>(value.getType());
    Type element = buffer ? buffer.getElementType() : getElementTypeOrSelf(value.getType());
    if (!isUnsigned)
      return element;
    return IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth(),
                            IntegerType::Unsigned);
  };
  return {elementOf(dot.getA(), dot.getUnsignedA()), elementOf(dot.getB(), dot.getUnsignedB())};
}

/// How many warps have something of their own to make of each matrix, by an atom.
static int64_t countWorkers(tile::DotOp dot, WarpMmaAtomInterface atom, int64_t warps,
                            int64_t copies) {
  auto [m, n, k] = atom.getExtents();
  int dim = tile::getSharedDim(dot.getM(), dot.getN(), m, n, copies);
  int64_t ownM = dot.getM() / (dim == 0 ? copies : 1), ownN = dot.getN() / (dim == 1 ? copies : 1);
  return std::min(warps, getPowerOf2Factor(ownM) / m * (getPowerOf2Factor(ownN) / n));
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

/// Each thread multiplies and adds on its own: it holds all of K for its rows and columns.
static DotLayouts getFmaLayouts(tile::DotOp dot, ThreadShape threads) {
  int64_t m = dot.getM(), n = dot.getN(), k = dot.getK();
  LinearLayout accumulator = getBlockedLayout({m, n}, 4, threads);
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
    return canonicalise(make(ins, shape));
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
  return canonicalise(make(ins, shape));
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
  WarpGrid warps(ownM, ownN, atom, threads.warps / threads.copies, byRows);
  LinearLayout c = repeat(sums, {ownM, ownN}, 1, {warps.m, warps.n}, warps.dims);
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
  WarpGrid warps(m, n, atom, threads.warps, /*byRows=*/false);
  SmallVector<int> ofA = warps.only(0, 0);
  LinearLayout b = repeat(atom.getFragment(1), {k, n}, 0, {1, warps.n}, warps.only(1, 1));
  return {repeat(atom.getFragment(0), {m, k}, 1, {warps.m, 1}, ofA),
          repeat(atom.getScales(0), {m, blocks}, 1, {warps.m, 1}, ofA),
          transposeIf(dot.getTransposeB(), b),
          repeat(atom.getScales(1), {n, blocks}, 1, {warps.n, 1}, warps.only(1, 0)),
          repeat(atom.getFragment(2), {m, n}, 1, {warps.m, warps.n}, warps.dims)};
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
  return canonicalise(make(ins, shape));
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
  return layouts;
}

bool kiln::isInBuffer(Value value) {
  auto load = value.getDefiningOp<tile::LoadOp>();
  return load && load.getAtomAttr();
}

bool kiln::isThroughRegisters(Value value) {
  auto load = value.getDefiningOp<tile::LoadOp>();
  auto atom = load ? dyn_cast_or_null<tile::CopyAtomInterface>(load.getAtomAttr())
                   : tile::CopyAtomInterface();
  return atom && atom.getCompletion() == tile::Completion::InOrder;
}

bool kiln::canShareOut(tile::LoadOp load, DirectAtomInterface atom, int64_t warps,
                       const Chip &chip) {
  int64_t laneBits = int64_t(atom.getGranularity()) * 8;
  int64_t bits = load.getType().getElementTypeBitWidth();
  int64_t turn = laneBits * chip.warpSize * warps, all = load.getType().getNumElements() * bits;
  // Where instructions are counted, all warps have as many.
  int64_t piece =
      atom.getCompletion() == tile::Completion::Instructions ? turn : laneBits * chip.warpSize;
  bool isEven = llvm::isPowerOf2_64(warps) && all % piece == 0;
  AccessFacts facts = getAccessFacts(load);
  int64_t known = atom.fillsInPart() ? facts.aligned : facts.width;
  return laneBits <= known * bits && turn <= all && isEven;
}

bool kiln::isWrittenOut(Block &trip, const Chip &chip) {
  return chip.knownSlots && llvm::range_size(trip.getOps<tile::DotOp>()) > 1;
}

void kiln::followUser(tile::ConvertLayoutOp conversion, Operation *user) {
  for (StringRef name : {"role", "stage"})
    if (Attribute decision = tile::getDecision(user, name))
      conversion->setAttr(tile::spellDecision(conversion, name), decision);
}

/// However it was converted since.
static bool isPinnedTo(StringRef place, Value value) {
  Operation *op = value.getDefiningOp();
  while (op && isa<tile::ConvertLayoutOp>(op) && !op->hasAttr(tile::kResidencyAttrName))
    op = op->getOperand(0).getDefiningOp();
  auto pinned = op ? op->getAttrOfType<StringAttr>(tile::kResidencyAttrName) : StringAttr();
  return pinned && pinned == place;
}

bool kiln::isPinnedToRegisters(Operation *op) { return isPinnedTo("registers", op->getResult(0)); }

bool kiln::isReadFromBuffer(OpOperand &operand) {
  auto dot = dyn_cast<tile::DotOp>(operand.getOwner());
  return dot && isInBuffer(operand.get()) && operand.getOperandNumber() < 2 &&
         !isPinnedToRegisters(operand.get().getDefiningOp()) &&
         isa_and_nonnull<AsyncMmaAtomInterface>(dot.getAtomAttr());
}

bool kiln::isWrittenForDot(OpOperand &operand) {
  auto dot = dyn_cast<tile::DotOp>(operand.getOwner());
  unsigned number = operand.getOperandNumber();
  auto atom =
      dot ? dyn_cast_or_null<AsyncMmaAtomInterface>(dot.getAtomAttr()) : AsyncMmaAtomInterface();
  Value value = operand.get();
  return atom && number < 2 && isa<RankedTensorType>(value.getType()) && !isInBuffer(value) &&
         atom.readsFrom(number, tile::Place::Shared) &&
         (!tile::takesComputed(atom, number) || isPinnedTo("shared", value));
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

//===- Types --------------------------------------------------------------------------------===//

LinearLayout kiln::getLayout(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return cast<tile::LayoutAttr>(type.getEncoding()).toLinear(type.getShape());
}

RankedTensorType kiln::withLayout(RankedTensorType type, const LinearLayout &layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               tile::LayoutAttr::get(type.getContext(), layout));
}

void kiln::setLayout(Value tensor, const LinearLayout &layout) {
  auto type = withLayout(cast<RankedTensorType>(tensor.getType()), layout);
  tensor.setType(type);
  if (auto constant = tensor.getDefiningOp<arith::ConstantOp>()) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    constant.setValueAttr(cast<TypedAttr>(
        cast<Attribute>(DenseElementsAttr::getFromRawBuffer(type, elements.getRawData()))));
  }
}

//===- Conversions --------------------------------------------------------------------------===//

/// The bits that change places, if each bit of a place is one bit of the other side's, and a lane's
/// is its own or a register's.
static SmallVector<LaneSwap> findSwaps(const LinearLayout &places, const LinearLayout &from) {
  if (places.getInBits(kRegister) != from.getInBits(kRegister))
    return {};
  SmallVector<LaneSwap> swaps;
  std::set<Basis> seen;
  for (auto [part, in] : llvm::enumerate(places.getIns()))
    for (auto [bit, basis] : llvm::enumerate(in.bases)) {
      auto isOther = [](int64_t value) { return value != 0; };
      bool isBit = llvm::count_if(basis, isOther) == 1 &&
                   llvm::all_of(basis, [](int64_t value) { return !(value & (value - 1)); });
      bool isOwn = basis[part] == int64_t(1) << bit;
      bool isWhole = basis[0] < getPowerOf2Factor(from.getInSize(kRegister));
      bool isAllowed = part == 0 ? basis[2] == 0 : isOwn || (part == 1 && basis[0] && isWhole);
      if (!isBit || !isAllowed || !seen.insert(basis).second)
        return {};
      if (part == 1 && !isOwn)
        swaps.push_back({unsigned(llvm::Log2_64(basis[0])), unsigned(bit)});
    }
  return swaps;
}

SmallVector<unsigned> kiln::getPackedBits(const Conversion &conversion, unsigned elementBits) {
  SmallVector<unsigned> packed;
  if (elementBits < 8)
    return packed;
  // What counts an extent's odd factor has no full set of elements above it.
  unsigned bits = llvm::countr_zero(uint64_t(conversion.places.getOuts()[0].size));
  for (unsigned bit = 0; bit < bits && elementBits << (packed.size() + 1) <= 32; ++bit)
    if (llvm::none_of(conversion.swaps, [&](LaneSwap swap) { return swap.registerBit == bit; }))
      packed.push_back(bit);
  return packed;
}

Conversion kiln::classifyConversion(const LinearLayout &from, const LinearLayout &to) {
  std::optional<LinearLayout> places = to.invertAndCompose(from);
  if (!places)
    return {tile::ConversionKind::Memory, LinearLayout(), {}};
  // The coordinates of `places` are register, lane and warp, as are its parts.
  bool lanesMove = false, warpsMove = false;
  int64_t registersByLane = 0;
  for (auto [part, in] : llvm::enumerate(places->getIns()))
    for (auto [bit, basis] : llvm::enumerate(in.bases)) {
      int64_t lane = part == 1 ? int64_t(1) << bit : 0, warp = part == 2 ? int64_t(1) << bit : 0;
      warpsMove |= basis[2] != warp;
      lanesMove |= basis[1] != lane || (part != 0 && basis[0] != 0);
      if (part == 1)
        registersByLane |= basis[0];
      if (part == 2)
        warpsMove |= basis[0] != 0;
    }
  SmallVector<LaneSwap> swaps = findSwaps(*places, from);
  if (warpsMove || (swaps.empty() && llvm::popcount(uint64_t(registersByLane)) > 1))
    return {tile::ConversionKind::Memory, *places, {}};
  return {lanesMove ? tile::ConversionKind::Lanes : tile::ConversionKind::Registers, *places,
          swaps};
}
