// Which proposal a kernel is compiled by: what each becomes is assembled until the registers
// suffice.
#include "Compilation.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
namespace json = llvm::json;

namespace kiln {

/// What a thread may keep in memory of its own, in bytes, without another proposal being tried: a
/// few words that are moved now and then cost less than what products beside their warps gain.
static constexpr int64_t kFewLocalBytes = 64;
/// And without one being tried behind one that does no better: the further ones have fewer products
/// beside their warps, and assembling what spills takes seconds.
static constexpr int64_t kSomeLocalBytes = 512;

/// How much more of it one proposal may keep than the next. Stages that a solver chose, which the
/// next one does without, have no word: what is moved would be values that go from trip to trip. Of
/// programs that run tiles in turn it is numbers that go from tile to tile.
static int64_t getFewLocalBytes(int64_t proposal, int64_t next, bool inTurns) {
  bool isSameInTurn = proposal == tile::kOverlappingProposal && next == proposal + 1;
  return isSameInTurn && !inTurns ? 0 : kFewLocalBytes;
}

/// What is proposed for a kernel is held against the assembler's report: where a thread's registers
/// do not suffice, the next proposal is taken if they do better there by more than a few words; and
/// where the assembler does not take the code at all, the next of which it does.
FailureOr<Compilation::Compiled> Compilation::compileBest(ModuleOp module, StringRef name,
                                                          TargetInterface target) {
  OwningOpRef<ModuleOp> program;
  bool inTurns = true;
  auto compile = [&](int64_t proposal, Stage last) {
    OwningOpRef<ModuleOp> copy = module.clone();
    Operation *kernel = copy->lookupSymbol(name);
    if (proposal > 0)
      kernel->setAttr(tile::kProposalAttrName, Builder(&context).getI64IntegerAttr(proposal));
    if (!inTurns)
      kernel->setAttr(tile::kPersistentAttrName, BoolAttr::get(&context, false));
    FailureOr<Compiled> compiled = compileTiles(*copy, name, target, last);
    program = std::move(copy);
    return compiled;
  };
  std::vector<mlir::Diagnostic> said;
  auto compileKept = [&](int64_t proposal) {
    ScopedDiagnosticHandler keep(&context, [&](mlir::Diagnostic &diagnostic) {
      said.push_back(std::move(diagnostic));
      return success();
    });
    return compile(proposal, last);
  };
  FailureOr<Compiled> first = compileKept(0);
  std::vector<mlir::Diagnostic> refused = failed(first) ? std::move(said) : decltype(said)();
  while (failed(first) && unassembled) {
    said.clear();
    first = compileKept(*std::exchange(unassembled, std::nullopt) + 1);
  }
  for (mlir::Diagnostic &diagnostic : failed(first) ? refused : said)
    context.getDiagEngine().emit(std::move(diagnostic));
  // An emulated chip's code is the host's, of which no assembler reports registers.
  bool isReported = target.getReal() == Attribute(target);
  if (failed(first) || isDone(Stage::Layout) || !isReported || !first->getProposal())
    return first;
  // The others are tried in silence: the first one can be had.
  ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return success(); });
  FailureOr<Compiled> best = last == Stage::Binary ? std::move(first) : compile(0, Stage::Binary);
  while (failed(best) && unassembled)
    best = compile(*std::exchange(unassembled, std::nullopt) + 1, Stage::Binary);
  if (failed(best))
    return first;
  std::optional<int64_t> proposal = best->getProposal();
  auto runsInTurns = [](const Compiled &compiled) {
    return compiled.metadata.get("persistent_per_core") != nullptr;
  };
  bool mayStandAlone = runsInTurns(*best) && proposal == tile::kOverlappingProposal &&
                       !module.lookupSymbol(name)->hasAttr(tile::kPersistentAttrName);
  if (mayStandAlone && best->getLocalBytes() > kFewLocalBytes) {
    inTurns = false;
    FailureOr<Compiled> alone = compile(*proposal, Stage::Binary);
    inTurns = failed(alone) || alone->getLocalBytes() >= best->getLocalBytes();
    if (!inTurns)
      best = std::move(alone);
  }
  while (proposal &&
         best->getLocalBytes() > getFewLocalBytes(*proposal, *proposal + 1, runsInTurns(*best))) {
    OwningOpRef<ModuleOp> before = std::move(program);
    assembled = *before;
    FailureOr<Compiled> next = compile(*proposal + 1, Stage::Binary);
    assembled = nullptr;
    if (failed(next))
      break;
    int64_t few = getFewLocalBytes(*proposal, next->getProposal().value_or(tile::kMostProposals),
                                   runsInTurns(*best));
    proposal = next->getProposal();
    if (!next->isRepeated && next->getLocalBytes() + few < best->getLocalBytes()) {
      if (const json::Value *why = best->metadata.get(tile::kNoRolesMember))
        next->metadata.try_emplace(tile::kNoRolesMember, *why);
      best = std::move(next);
    } else if (best->getLocalBytes() <= kSomeLocalBytes) {
      break;
    }
  }
  if (last == Stage::Binary)
    return best;
  if (best->getProposal() == first->getProposal() && inTurns)
    return first;
  return compile(best->getProposal().value_or(tile::kMostProposals), last);
}

} // namespace kiln
