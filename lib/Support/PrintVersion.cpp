// The printer of --version.
#include "kiln/Support/PrintVersion.h"
#include "kiln-c/Version.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

void kiln::printKilnVersion() {
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "Kiln " KILN_VERSION_STRING " (LLVM " LLVM_VERSION_STRING ")\n";
  });
}
