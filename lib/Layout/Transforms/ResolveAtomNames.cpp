// Finds the instructions that an author has named.
#include "kiln/Dialect/Tile/IR/ArgumentViews.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
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

/// The name of an instruction without that of its dialect; with another ending where programs of a
/// cluster multiply by it together.
static std::string getAtomName(Attribute atom) {
  std::string name = atom.getAbstractAttribute().getName().split('.').second.str();
  auto mma = dyn_cast<MmaAtomInterface>(atom);
  return mma && mma.getPrograms() > 1 ? name + "_pair" : name;
}

/// Why lanes cannot copy what a load brings, or an engine from a view or to one; none if they can.
static std::optional<std::string> whyUnfit(Operation *op, Attribute atom, TargetInterface target) {
  auto load = dyn_cast<LoadOp>(op);
  if (auto direct = dyn_cast<DirectAtomInterface>(atom); direct && load) {
    RoleAttr role = lookUpRole(load);
    if (canShareOut(load, direct, role ? role.getTotalWarps() : 1, target.getChipRecord()))
      return std::nullopt;
    return ("expected rows that begin at multiples of " + Twine(direct.getGranularity()) +
            " bytes" + (direct.fillsInPart() ? "" : " and are as long") +
            ", by what facts say of them, and as many for each lane of all warps and copies of its "
            "role")
        .str();
  }
  auto engine = dyn_cast<EngineAtomInterface>(atom);
  auto store = dyn_cast<StoreOp>(op);
  if (!engine || !(load || store))
    return std::nullopt;
  TypedValue<ViewType> view = load ? load.getView() : store.getView();
  std::optional<ArgumentView> argument = findArgumentView(view);
  auto kernel = op->getParentOfType<KernelOp>();
  if (!argument || argument->argument.getOwner()->getParentOp() != kernel)
    return std::nullopt; // what it is a part of is known when it is lowered
  FactsAttr facts = kernel.getFacts(argument->argument.getArgNumber());
  return engine.whyUnfit(view.getType(), turnFacts(facts, argument->dims), /*isWritten=*/!!store);
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
