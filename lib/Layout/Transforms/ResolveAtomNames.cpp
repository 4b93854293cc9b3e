// Finds the instructions that an author has named.
#include "kiln/Layout/Transforms/AtomFit.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Target/TargetInterface.h"

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
  std::optional<std::string> why;
  for (Attribute atom : atoms) {
    std::optional<std::string> unfit = whyUnfit(op, atom, target);
    if (!unfit && !llvm::is_contained(names, getAtomName(atom)))
      names.push_back(getAtomName(atom));
    if (getAtomName(atom) == name)
      why = unfit;
  }
  for (StringRef other : names)
    error << (other == names.front() ? "" : " or ") << "\"" << other << "\"";
  if (names.empty())
    error << "of which there is none";
  error << ", got \"" << name << "\"";
  if (why)
    error.attachNote() << *why;
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
