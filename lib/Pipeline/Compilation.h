// One compile of a source, from text to artifact.
#ifndef KILN_LIB_PIPELINE_COMPILATION_H
#define KILN_LIB_PIPELINE_COMPILATION_H

#include "Reporter.h"
#include "kiln/Dialect/Tile/IR/Proposals.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Pipeline/Compile.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Schedule/Proofs.h"
#include "kiln/Target/TargetInterface.h"

namespace kiln {

class Compilation {
public:
  Compilation(const CompileRequest &request, mlir::MLIRContext &context, Reporter &reporter)
      : request(request), context(context), reporter(reporter) {}

  llvm::Expected<Artifact> run();

private:
  bool keeps(Stage stage) const {
    return llvm::is_contained(request.keepStages, "all") ||
           llvm::is_contained(request.keepStages, stringify(stage));
  }
  /// Reads the request's further options, which Compile.h lists.
  llvm::Error readOptions();
  /// Whether the source has been through the stage already.
  bool isDone(Stage stage) const { return from && stage <= *from; }
  /// Reads what stands beside a source that was handed back, which the request must agree with.
  /// Returns the kernel's name.
  llvm::Expected<std::string> takeBack(mlir::ModuleOp module);
  llvm::json::Object describe(tile::KernelOp kernel, TargetInterface target);
  /// What the stages behind `tile` make of a kernel.
  struct Compiled {
    llvm::json::Object metadata;
    std::vector<Artifact::Section> sections;
    /// The program is the one that was assembled before: there is no code.
    bool isRepeated = false;
    /// Of the memory that a thread alone reaches: for registers that do not suffice.
    int64_t getLocalBytes() const { return metadata.getInteger("local_bytes").value_or(0); }
    /// Which of what was proposed to decide was decided; none if nothing was.
    std::optional<int64_t> getProposal() const {
      return metadata.getInteger(tile::kProposalMember);
    }
  };
  /// Whether an edit has broken what the stages that are done have made.
  mlir::LogicalResult checkHandedBack(mlir::ModuleOp module, TargetInterface target);
  /// Runs the stages from `first` to `last` that are not done, keeping the IR that was asked for;
  /// `grid` is a module of the grid, once the kernel no longer holds it.
  mlir::LogicalResult runStages(mlir::ModuleOp module, TargetInterface target, Stage first,
                                Stage last, Compiled &compiled, mlir::ModuleOp grid = nullptr);
  mlir::FailureOr<Compiled> compileTiles(mlir::ModuleOp module, llvm::StringRef name,
                                         TargetInterface target, Stage last);
  mlir::FailureOr<Compiled> compileBest(mlir::ModuleOp module, llvm::StringRef name,
                                        TargetInterface target);

  const CompileRequest &request;
  mlir::MLIRContext &context;
  Reporter &reporter;
  Stage last = Stage::Binary;
  std::optional<Stage> from;
  bool exact = false, wantsModel = false;
  /// What finds schedules; null for the usual one.
  SharedSolver solver;
  /// Of all that is tried out on the way.
  SharedProofs proofs = std::make_shared<Proofs>();
  int optLevel = request.optLevel;
  bool fastMath = request.fastMath;
  /// Of a source that was handed back; null if its kernel has none, or still holds it.
  mlir::OwningOpRef<mlir::ModuleOp> handedGrid;
  /// What was proposed for code that no assembler takes.
  std::optional<int64_t> unassembled;
  /// The program that another proposal became, which need not be assembled again; null if none did.
  mlir::ModuleOp assembled;
};

} // namespace kiln

#endif // KILN_LIB_PIPELINE_COMPILATION_H
