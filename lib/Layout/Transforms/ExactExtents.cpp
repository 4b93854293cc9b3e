// Asks products which of their extents they can keep, until none refuses more.
#include "ExactExtents.h"
#include "DecidedExtents.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

ExactExtents::ExactExtents(KernelOp kernel, TargetInterface target, const ExtentClasses &classes,
                           Open open)
    : target(target), classes(classes), open(open), warps(countSingleWarps(kernel, target)) {
  // Where warps are decided, products are those of single ones, or decided too.
  if (open == Open::Beside && !mayRunBeside(kernel))
    this->open = Open::Grown;
  kernel.getBody().walk([&](DotOp dot) { products.insert({dot, {}}); });
  for (unsigned of = 0; of < classes.size(); ++of)
    may.push_back(!classes.getRefusing(of));
  multiplied.assign(classes.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    cut.clear();
    ofCopies.clear();
    ofCopies.resize(classes.size());
    for (auto &[dot, kept] : products)
      changed |= decide(dot);
    for (auto &[dim, number] : classes.getDims())
      changed |= decideParts(dim.first);
  }
}

size_t ExactExtents::countExact() const {
  return llvm::count_if(classes.getDims(), [&](auto &entry) {
    std::optional<unsigned> of = classes.find(entry.first);
    return of && isExact(*of);
  });
}

SmallVector<int64_t> ExactExtents::getExtents(DotOp dot) const {
  const Kept &kept = products.find(dot)->second;
  SmallVector<int64_t> extents = {dot.getM(), dot.getN(), dot.getK()};
  for (auto [i, extent] : llvm::enumerate(extents))
    if (!(kept.dims >> i & 1))
      extent = llvm::PowerOf2Ceil(extent);
  if (!kept.pieces.empty()) {
    extents.pop_back();
    llvm::append_range(extents, kept.pieces);
  }
  return extents;
}

/// The product by which the least is multiplied, of those that keep no other than these of its
/// extents; none if no instruction makes one.
std::optional<ProductCandidate> ExactExtents::choose(DotOp dot, unsigned candidates,
                                                     unsigned &kept) {
  ProductCandidate candidate(dot, target, open, warps);
  auto grow = [](int64_t extent, bool keeps) {
    return keeps ? extent : int64_t(llvm::PowerOf2Ceil(extent));
  };
  if (DenseI64ArrayAttr decided = getDecidedExtents(dot)) {
    candidate.setExtents(decided);
    std::array<int64_t, 3> own = {dot.getM(), dot.getN(), dot.getK()};
    std::array<int64_t, 3> made = {candidate.m, candidate.n, candidate.k};
    for (unsigned i = 0; i < 3; ++i)
      if ((candidates >> i & 1) && made[i] == own[i])
        kept |= 1 << i;
    // One that cannot be made is refused where it is to be.
    return candidate.isMade() ? std::optional(candidate) : std::nullopt;
  }
  if (!candidate.isDecided && open == Open::Grown)
    return std::nullopt;
  // Rows, columns and the inner extent, by bits: those by which the least is multiplied, of equals
  // those whose operands are the smallest. Then the inner one comes first, as none reads more of it
  // from memory than was there; then columns, which one instruction makes. What decided copies
  // share out had best not grow: they could not store it.
  bool hasCopies = candidate.copies > 1;
  auto getCost = [&](const ProductCandidate &of) {
    bool growsShare = hasCopies && (of.dim == 0 ? of.m != dot.getM() : of.n != dot.getN());
    return std::tuple(growsShare, of.getWork(), (of.m + of.n) * of.k);
  };
  std::optional<ProductCandidate> best;
  for (unsigned each : {7, 6, 5, 4, 3, 2, 1, 0}) {
    if (each & ~candidates)
      continue;
    ProductCandidate other = candidate;
    other.m = grow(dot.getM(), each & 1);
    other.n = grow(dot.getN(), each & 2);
    other.k = grow(dot.getK(), each & 4);
    if (!other.isMade() || (best && getCost(*best) <= getCost(other)))
      continue;
    best = other;
    kept = each;
  }
  return best;
}

/// Which of a product's dimensions copies share out.
void ExactExtents::addShared(DotOp dot, const ProductCandidate &made) {
  if (made.copies == 1 || made.dim < 0)
    return;
  if (std::optional<unsigned> of = classes.findAny(getProductDims(dot)[made.dim]))
    ofCopies.set(*of);
}

/// Keeps as many of a product's extents as can be; whether it has refused one.
bool ExactExtents::decide(DotOp dot) {
  ProductDims dims = getProductDims(dot);
  unsigned candidates = 0;
  for (auto [i, dim] : llvm::enumerate(dims))
    if (std::optional<unsigned> of = classes.find(dim); of && may[*of])
      candidates |= 1 << i;
  Kept &own = products[dot];
  own = {};
  if (!candidates) {
    if (ProductCandidate even(dot, target, open, warps); even.isMade())
      addShared(dot, even);
    return false;
  }
  std::optional<ProductCandidate> best = choose(dot, candidates, own.dims);
  if (own.dims && best && !best->pieces.empty()) {
    own.pieces = best->pieces;
    addCutValues(dot, cut);
  }
  hasBeside |= best && !best->isDecided && open == Open::Beside;
  if (best)
    addShared(dot, *best);
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (!(candidates >> i & 1))
      continue;
    unsigned of = *classes.find(dim);
    // Two extents may be of one class, as those of a matrix times itself.
    may[of] = may[of] && (own.dims >> i & 1);
    multiplied[of] = true;
  }
  return own.dims != candidates;
}

/// A buffer, or a thread's registers, counts one odd factor at most, and a buffer none beside
/// copies that read parts of it; whether an extent was refused. Copies cannot share out what grows.
bool ExactExtents::decideParts(Value value) {
  if (cut.contains(value))
    return false;
  SmallVector<unsigned, 2> counted =
      classes.findCounted(value, [&](unsigned of) { return isExact(of); }, ofCopies);
  if (counted.size() < 2)
    return false;
  std::reverse(counted.begin(), counted.end());
  auto *refused = llvm::find_if(counted, [&](unsigned of) { return !ofCopies[of]; });
  // What copies share out of two products alike.
  if (refused == counted.end())
    refused = llvm::find_if(counted, [&](unsigned of) { return isExact(of); });
  if (refused == counted.end())
    return false;
  may[*refused] = false;
  return true;
}
