// Who makes a cubin of PTX: a ptxas or a libnvJitLink that is found, else the driver at load.
#ifndef KILN_LIB_TARGET_NVPTX_ASSEMBLER_H
#define KILN_LIB_TARGET_NVPTX_ASSEMBLER_H

#include "EarlyProgram.h"
#include "kiln/Target/Chip.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace kiln::nvptx {

/// KILN_ASSEMBLER names one by its path, or is `driver`. Without it the places that toolkits are
/// installed in are looked at, then the path that programs are found by.
struct Assembler {
  enum class Kind { Driver, Program, Library } kind = Kind::Driver;
  std::string path;
  /// Named by the user: what is wrong with it is then an error, else the next takes over.
  bool isChosen = false;
};
/// In the order in which they are tried; the driver comes last, or is all there is.
llvm::Expected<llvm::SmallVector<Assembler>> findAssemblers();

/// What tells one assembler from another, without starting it; part of each kernel's key.
std::string identifyAssembler();

struct Assembled {
  /// Empty if PTX is left to the driver.
  std::string cubin;
  /// For the metadata: name and version, and why it is not the work of one that was found before.
  std::string assembler;
  /// What it told of the code, in the words of ptxas -v; empty if it did not.
  std::string account;
  /// Of a thread, once the cubin's figures were read; and all of these, by the names that the
  /// artifact's metadata gives them.
  int64_t registers = 0, localBytes = 0;
  std::vector<std::pair<std::string, int64_t>> figures = {};
};
/// Starts the first of the assembler programs that will be tried, if one is.
void startAssembler(std::optional<EarlyProgram> &early, llvm::StringRef chip);

/// One that is too old for the chip, or does not work, leaves it to the next. `early` may have been
/// started for this.
llvm::Expected<Assembled> assemble(llvm::StringRef ptx, llvm::StringRef chip,
                                   std::optional<EarlyProgram> &early);

/// What a program asks of a multiprocessor.
struct LaunchSize {
  int64_t threads = 0, sharedBytes = 0;
};

/// Reads the figures of a cubin's kernel: registers and local memory, from its sections, how many
/// programs one multiprocessor holds at once, and the bytes that are spilled where the assembler's
/// account tells them.
llvm::Error readCubinFigures(Assembled &assembled, const Chip &chip, const LaunchSize &block);

} // namespace kiln::nvptx

#endif // KILN_LIB_TARGET_NVPTX_ASSEMBLER_H
