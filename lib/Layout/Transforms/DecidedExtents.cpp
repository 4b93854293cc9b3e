// Holds `tile.extents` of products against what makes and has them.
#include "DecidedExtents.h"
#include "ProductCandidate.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Dialect/Tile/IR/Swapped.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static constexpr StringLiteral kDimNames[] = {"rows", "columns", "of an inner extent"};

DenseI64ArrayAttr kiln::getDecidedExtents(DotOp dot) {
  return dot->getAttrOfType<DenseI64ArrayAttr>(kExtentsAttrName);
}

static std::array<int64_t, 3> getOwnExtents(DotOp dot) {
  return {dot.getM(), dot.getN(), dot.getK()};
}

/// Whether a product keeps one of its extents, if need be as a sum of parts.
static bool keeps(DotOp dot, unsigned dim) {
  DenseI64ArrayAttr decided = getDecidedExtents(dot);
  if (!decided)
    return false;
  return (dim == 2 && decided.size() > 3) || decided[dim] == getOwnExtents(dot)[dim];
}

static bool isCut(DotOp dot) { return getDecidedExtents(dot).size() > 3; }

KeptExtents::KeptExtents(KernelOp kernel, ExtentClasses of)
    : classes(std::move(of)), kept(classes->size(), false) {
  kernel.getBody().walk([&](DotOp dot) {
    for (auto [dim, each] : llvm::enumerate(getProductDims(dot)))
      if (std::optional<unsigned> number = classes->find(each); number && keeps(dot, dim))
        kept[*number] = true;
  });
}

bool KeptExtents::isKept(Value value, unsigned dim) const {
  std::optional<unsigned> of = classes ? classes->find({value, dim}) : std::nullopt;
  return of && kept[*of];
}

namespace {
/// One kernel's.
class ExtentsCheck {
public:
  ExtentsCheck(KernelOp kernel, TargetInterface target, const ExtentClasses &classes)
      : kernel(kernel), target(target), classes(classes), keepers(classes.size()),
        growers(classes.size()) {}

  LogicalResult run() {
    WalkResult walked = kernel.getBody().walk([&](DotOp dot) -> WalkResult {
      if (getDecidedExtents(dot) && failed(checkFit(dot)))
        return WalkResult::interrupt();
      products.push_back(dot);
      return WalkResult::advance();
    });
    if (walked.wasInterrupted() || failed(checkClasses()))
      return failure();
    return checkInstructions();
  }

private:
  struct Limit {
    DotOp dot;
    std::string expected;
    bool hasInstruction = true;
  };

  /// Of a product that says its extents.
  InFlightDiagnostic refuse(DotOp dot, const Twine &expected) {
    InFlightDiagnostic error = dot.emitOpError("expected ")
                               << expected << " in '" << kExtentsAttrName << "', got ";
    llvm::interleaveComma(getDecidedExtents(dot).asArrayRef(), error);
    noteSwapped(error, dot);
    return error;
  }

  /// An extent is the product's, or the next power of two; parts are powers of two and add up.
  LogicalResult checkFit(DotOp dot) {
    ArrayRef<int64_t> decided = getDecidedExtents(dot);
    for (auto [dim, own] : llvm::enumerate(getOwnExtents(dot))) {
      int64_t grown = llvm::PowerOf2Ceil(own);
      if (dim == 2 && isCut(dot))
        break;
      if (decided[dim] == own || decided[dim] == grown)
        continue;
      std::string either = own == grown ? "" : llvm::utostr(own) + " or ";
      return refuse(dot, either + llvm::utostr(grown) + " " + kDimNames[dim]);
    }
    ArrayRef<int64_t> parts = decided.drop_front(2);
    auto isPart = [&](int64_t part) { return llvm::isPowerOf2_64(part) && part <= dot.getK(); };
    if (!isCut(dot) || (llvm::all_of(parts, isPart) && llvm::sum_of(parts) == dot.getK()))
      return success();
    return refuse(dot,
                  "inner extents that are powers of two and add up to " + llvm::utostr(dot.getK()));
  }

  /// What has one extent keeps it, or grows.
  LogicalResult checkClasses() {
    for (DotOp dot : products)
      for (auto [dim, each] : llvm::enumerate(getProductDims(dot)))
        if (std::optional<unsigned> of = classes.find(each))
          if (auto &first = keeps(dot, dim) ? keepers[*of] : growers[*of]; !first.first)
            first = {dot, dim};
    for (auto [of, keeper] : llvm::enumerate(keepers)) {
      auto [dot, dim] = keeper;
      Operation *other = dot ? classes.getRefusing(of) : nullptr;
      StringRef why = "this op takes powers of two alone, of what has the extent, too";
      if (dot && !other && growers[of].first) {
        other = growers[of].first;
        why = "this product, which has the extent, too, grows it";
      }
      if (!other)
        continue;
      int64_t grown = llvm::PowerOf2Ceil(getOwnExtents(dot)[dim]);
      InFlightDiagnostic error = refuse(dot, llvm::utostr(grown) + " " + kDimNames[dim]);
      error.attachNote(other->getLoc()) << why;
      return error;
    }
    return success();
  }

  /// All products can be made by instructions of one kind, where nobody has decided them.
  LogicalResult checkInstructions() {
    SmallVector<OpenProducts, 2> kinds;
    if (mayRunBeside(kernel))
      kinds.push_back(OpenProducts::Beside);
    kinds.push_back(OpenProducts::Warps);
    SmallVector<Limit, 2> limits;
    for (OpenProducts kind : kinds) {
      std::optional<Limit> limit = findLimit(kind);
      if (!limit)
        return success();
      limits.push_back(*limit);
    }
    // What no instruction of a kind could ever be made by says nothing of the others.
    if (!limits.front().hasInstruction)
      limits.front() = limits.back();
    InFlightDiagnostic error = refuse(limits.front().dot, limits.front().expected);
    if (limits.back().hasInstruction && limits.back().expected != limits.front().expected)
      error.attachNote(limits.back().dot.getLoc())
          << "or " << limits.back().expected << ", of products that warps wait for";
    return error;
  }

  std::optional<Limit> findLimit(OpenProducts open) {
    int64_t warps = countSingleWarps(kernel, target);
    llvm::SmallBitVector ofCopies(classes.size());
    DenseSet<Value> cut;
    for (DotOp dot : products) {
      ProductDims dims = getProductDims(dot);
      bool keepsOdd = llvm::any_of(llvm::seq(0u, 3u), [&](unsigned dim) {
        return keeps(dot, dim) && classes.find(dims[dim]);
      });
      if (!getDecidedExtents(dot) || (!keepsOdd && !isCut(dot)))
        continue;
      ProductCandidate candidate(dot, target, open, warps);
      candidate.setExtents(getDecidedExtents(dot));
      if (!candidate.isMade())
        return Limit{dot, candidate.describeLimit(), candidate.limit != ProductLimit::Instruction};
      if (isCut(dot))
        addCutValues(dot, cut);
      // Copies of a role count what they share out, not registers.
      if (candidate.dim >= 0 && candidate.copies > 1)
        if (std::optional<unsigned> of = classes.findAny(dims[candidate.dim]))
          ofCopies.set(*of);
    }
    for (auto &[dim, number] : classes.getDims()) {
      Value value = dim.first;
      auto isKept = [&](unsigned of) { return bool(keepers[of].first); };
      SmallVector<unsigned, 2> counted;
      if (!cut.contains(value))
        counted = classes.findCounted(value, isKept, ofCopies);
      auto *limited = llvm::find_if(
          counted, [&](unsigned of) { return isKept(of) && (!ofCopies[of] || of != counted[0]); });
      if (counted.size() > 1 && limited != counted.end())
        return Limit{keepers[*limited].first,
                     fillsBuffer(value.getDefiningOp())
                         ? "one extent that has an odd factor, or that copies share out, of what "
                           "a buffer holds"
                         : "one extent with an odd factor of what registers hold"};
    }
    return std::nullopt;
  }

  KernelOp kernel;
  TargetInterface target;
  const ExtentClasses &classes;
  SmallVector<DotOp> products;
  /// By class: the first product that keeps its extent, and that grows it, with the dimension.
  SmallVector<std::pair<DotOp, unsigned>> keepers, growers;
};
} // namespace

LogicalResult kiln::checkDecidedExtents(KernelOp kernel, TargetInterface target,
                                        const ExtentClasses &classes) {
  return ExtentsCheck(kernel, target, classes).run();
}
