// A program that is started before there is anything for it to read.
#ifndef KILN_LIB_TARGET_NVPTX_EARLYPROGRAM_H
#define KILN_LIB_TARGET_NVPTX_EARLYPROGRAM_H

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <sys/types.h>

namespace kiln::nvptx {

/// ptxas takes 12 ms to be there at all, in which the code generator makes what it is to assemble:
/// it is started with its input on a pipe. Whatever goes wrong is nothing: the caller then runs it
/// in the ordinary way, which also says what is wrong.
class EarlyProgram {
public:
  EarlyProgram(llvm::StringRef program, llvm::StringRef arch);
  ~EarlyProgram();
  EarlyProgram(EarlyProgram &&) = delete;

  /// The cubin of the text, where `program` is the one that was started and made one. Once.
  /// `account` becomes what the program told of the code.
  std::optional<std::string> assemble(llvm::StringRef program, llvm::StringRef ptx,
                                      std::string &account);

private:
  bool write(llvm::StringRef text);
  void closeInput();
  /// Whether it ended well.
  bool wait();

  std::string program;
  llvm::SmallString<128> output, told;
  pid_t process = 0;
  int input = -1;
};

} // namespace kiln::nvptx

#endif // KILN_LIB_TARGET_NVPTX_EARLYPROGRAM_H
