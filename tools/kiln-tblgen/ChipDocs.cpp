// Chips as a page of the reference: a table of numbers, each with the number of its source.
#include "Chips.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

/// Text within a cell of a table.
static std::string escape(StringRef text) {
  std::string escaped;
  for (char c : text) {
    if (c == '|' || c == '<')
      escaped += '\\';
    escaped += c;
  }
  return escaped;
}

void kiln::emitChipDocs(const RecordKeeper &records, raw_ostream &os) {
  std::vector<const Record *> chips = getChips(records);
  std::vector<std::map<StringRef, Stated>> figures;
  for (const Record *chip : chips)
    figures.push_back(getFigures(*chip));

  os << "# Chips\n\nWhat their records state. The number in brackets is that of the source, below "
        "the "
        "table; an empty\ncell: not known. Numbers are whole; of a range they are the middle.\n\n| "
        "|";
  for (const Record *chip : chips)
    os << " " << chip->getValueAsString("name") << " |";
  os << "\n|---|";
  for (size_t i = 0; i < chips.size(); ++i)
    os << "---|";
  os << "\n| machine |";
  for (const Record *chip : chips)
    os << " " << escape(chip->getValueAsString("machine")) << " |";
  os << "\n";

  MapVector<StringRef, unsigned> sources;
  auto cite = [&](StringRef source) {
    return sources.insert({source, unsigned(sources.size() + 1)}).first->second;
  };
  struct Limit {
    StringRef field, meaning;
  } limits[] = {{"warpSize", "threads of a warp"},
                {"maxThreads", "threads of a block"},
                {"registersPerThread", "registers that a thread can address"},
                {"registersPerCore", "registers of a core"},
                {"sharedBytes", "shared memory of a block, bytes"}};
  for (const Limit &limit : limits) {
    os << "| " << limit.meaning << " |";
    for (const Record *chip : chips)
      os << " " << chip->getValueAsInt(limit.field) << " ["
         << cite(chip->getValueAsString("source")) << "] |";
    os << "\n";
  }
  for (const Record *quantity : getQuantities(records)) {
    StringRef name = quantity->getName(), unit = quantity->getValueAsString("unit");
    if (llvm::none_of(figures, [&](const auto &stated) { return stated.count(name); }))
      continue;
    os << "| `" << name << "`: " << escape(quantity->getValueAsString("summary"))
       << (unit.empty() ? "" : ", ") << unit << " |";
    for (const auto &stated : figures) {
      auto found = stated.find(name);
      if (found == stated.end())
        os << " |";
      else
        os << " " << found->second.value << " [" << cite(found->second.source) << "] |";
    }
    os << "\n";
  }
  os << "\n";
  for (const auto &[source, number] : sources)
    os << number << ". " << escape(source) << "\n";
}
