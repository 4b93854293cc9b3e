// Finds the instructions that an author has named.
#include "ProductCandidate.h"
#include "kiln/Layout/Transforms/AtomFit.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Target/TargetInterface.h"
#include "llvm/Support/MathExtras.h"

namespace kiln {
#define GEN_PASS_DEF_RESOLVEATOMNAMES
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

std::string kiln::getAtomName(Attribute atom) {
  std::string name = atom.getAbstractAttribute().getName().split('.').second.str();
  auto mma = dyn_cast<MmaAtomInterface>(atom);
  return mma && mma.getPrograms() > 1 ? name + "_pair" : name;
}

Attribute kiln::findAtom(Operation *op, StringRef name, TargetInterface target) {
  for (Attribute atom : target.getAtoms(op))
    if (getAtomName(atom) == name && !whyUnfit(op, atom, target))
      return atom;
  return {};
}

static Attribute findNamed(Operation *op, StringRef name, TargetInterface target) {
  for (Attribute atom : target.getAtoms(op))
    if (getAtomName(atom) == name)
      return atom;
  return {};
}

/// Which extents of a product keep an instruction of this name from making it, as few as can be;
/// none if others do.
static std::optional<std::string> whyExtents(DotOp dot, StringRef name, TargetInterface target) {
  constexpr int64_t kMostStep = 256;
  constexpr StringLiteral kWhat[] = {"rows that are", "columns that are",
                                     "an inner extent that is"};
  if (dot.getType().getRank() != 2)
    return std::nullopt;
  const std::array<int64_t, 3> own = {dot.getM(), dot.getN(), dot.getK()};
  auto isMade = [&](std::array<int64_t, 3> extents) {
    return bool(
        askOfExtents(dot, extents, [&](DotOp other) { return findNamed(other, name, target); }));
  };
  for (unsigned dims : {1, 2, 4, 3, 5, 6, 7}) {
    auto grow = [&](unsigned dim, int64_t step) {
      return dims >> dim & 1 ? int64_t(llvm::alignTo(own[dim], step)) : own[dim];
    };
    std::array<int64_t, 3> extents = {grow(0, kMostStep), grow(1, kMostStep), grow(2, kMostStep)};
    if (!isMade(extents))
      continue;
    std::string text = "expected ";
    std::string got;
    for (unsigned dim = 0; dim < 3; ++dim) {
      int64_t step = 1;
      do
        extents[dim] = grow(dim, step *= 2);
      while (step < kMostStep && !isMade(extents));
      if (extents[dim] == own[dim])
        continue;
      text += (got.empty() ? "" : " and ") + kWhat[dim].str() + " a multiple of " +
              std::to_string(step);
      got += (got.empty() ? "" : " and ") + std::to_string(own[dim]);
    }
    return text + ", got " + got;
  }
  return std::nullopt;
}

/// Why none of the instructions of this name, if there are any, can make an op.
static std::string whyNone(Operation *op, StringRef name, TargetInterface target) {
  std::optional<std::string> why;
  for (Attribute atom : target.getAtoms(op))
    if (getAtomName(atom) == name)
      why = whyUnfit(op, atom, target);
  auto dot = dyn_cast<DotOp>(op);
  if (!why && dot)
    why = whyExtents(dot, name, target);
  if (why)
    return *why;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << target.getSpelling() << " has no \"" << name << "\" ";
  if (!dot) {
    os << "for '" << op->getName() << "'";
    return text;
  }
  auto [a, b] = getDotTypes(dot);
  os << "for a product of '" << a << "' and '" << b << "' into '" << dot.getType().getElementType()
     << "'";
  return text;
}

static LogicalResult resolve(Operation *op, StringRef name, TargetInterface target) {
  if (Attribute found = findAtom(op, name, target)) {
    op->setAttr("atom", found);
    op->removeAttr(kAtomNameAttrName);
    return success();
  }
  SmallVector<Attribute> atoms = target.getAtoms(op);
  InFlightDiagnostic error = op->emitOpError("expected 'atom' to be an instruction of ")
                             << target.getSpelling() << " that fits, ";
  SmallVector<std::string> names;
  for (Attribute atom : atoms)
    if (!whyUnfit(op, atom, target) && !llvm::is_contained(names, getAtomName(atom)))
      names.push_back(getAtomName(atom));
  for (StringRef other : names)
    error << (other == names.front() ? "" : " or ") << "\"" << other << "\"";
  if (names.empty())
    error << "of which there is none";
  error << ", got \"" << name << "\"";
  error.attachNote() << whyNone(op, name, target);
  return error;
}

namespace {
struct ResolveAtomNames : kiln::impl::ResolveAtomNamesBase<ResolveAtomNames> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    getOperation().walk([&](Operation *op) {
      auto name = op->getAttrOfType<StringAttr>(kAtomNameAttrName);
      if (name && failed(resolve(op, name.getValue(), *target)))
        signalPassFailure();
    });
  }
};
} // namespace
