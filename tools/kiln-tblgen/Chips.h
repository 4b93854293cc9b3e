// What include/kiln/Target/Chip.td declares, read and checked, and what is made of it.
#ifndef KILN_TOOLS_KILN_TBLGEN_CHIPS_H
#define KILN_TOOLS_KILN_TBLGEN_CHIPS_H

#include "llvm/TableGen/Record.h"
#include <map>
#include <vector>

namespace kiln {

/// A number that a record states.
struct Stated {
  int64_t value;
  llvm::StringRef source;
};

/// The quantities in the order of their declaration.
std::vector<const llvm::Record *> getQuantities(const llvm::RecordKeeper &records);

/// The chips in the order of their declaration. Two of one name, and a field without a value, are
/// errors that end the program.
std::vector<const llvm::Record *> getChips(const llvm::RecordKeeper &records);

/// What a chip states, by the quantity's name. A number without a source, one that is not positive,
/// one that is stated twice, and a required one that is not stated are errors that end the program.
std::map<llvm::StringRef, Stated> getFigures(const llvm::Record &chip);

void emitChipQuantities(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
void emitChipRecords(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
void emitChipLimits(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
void emitChipDocs(const llvm::RecordKeeper &records, llvm::raw_ostream &os);

} // namespace kiln

#endif // KILN_TOOLS_KILN_TBLGEN_CHIPS_H
