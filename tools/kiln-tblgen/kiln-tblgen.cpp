// The generators of Kiln's own records; what dialects and passes are made by is upstream's.
#include "Chips.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/TableGen/Main.h"
#include "llvm/TableGen/TableGenBackend.h"

using namespace llvm;

static TableGen::Emitter::Opt quantities("gen-chip-quantities", kiln::emitChipQuantities,
                                         "The numbers that a chip's record may state");
static TableGen::Emitter::Opt records("gen-chip-records", kiln::emitChipRecords,
                                      "Each chip's record, as an expression of C++");
static TableGen::Emitter::Opt limits("gen-chip-limits", kiln::emitChipLimits,
                                     "What a device's driver does not say of each chip");
static TableGen::Emitter::Opt docs("gen-chip-docs", kiln::emitChipDocs,
                                   "A page of what the records say, with the sources");

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Kiln's generators of TableGen records\n");
  return TableGenMain(argv[0], MultiFileTableGenMainFn());
}
