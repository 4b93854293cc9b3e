// Chips as C++: each record becomes an expression that assigns to the fields of `ChipRecord` by
// their names, so that the compiler holds the record's class and the structure to each other.
#include "Chips.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;

/// The records of a class in the order in which they stand in the file, which is that of their
/// numbers; TableGen itself sorts by name.
static std::vector<const Record *> getInOrder(const RecordKeeper &records, StringRef name) {
  std::vector<const Record *> found;
  for (const Record *record : records.getAllDerivedDefinitions(name))
    if (!record->isAnonymous())
      found.push_back(record);
  llvm::sort(found, LessRecordByID());
  return found;
}

std::vector<const Record *> kiln::getQuantities(const RecordKeeper &records) {
  return getInOrder(records, "Quantity");
}

std::vector<const Record *> kiln::getChips(const RecordKeeper &records) {
  std::vector<const Record *> chips = getInOrder(records, "Chip");
  StringSet<> names;
  for (const Record *chip : chips) {
    for (const RecordVal &field : chip->getValues())
      if (!field.getValue()->isComplete())
        PrintFatalError(chip, "expected a value of '" + field.getName() + "', got none");
    if (!names.insert(chip->getValueAsString("name")).second)
      PrintFatalError(chip,
                      "expected one record of '" + chip->getValueAsString("name") + "', got two");
  }
  return chips;
}

std::map<StringRef, kiln::Stated> kiln::getFigures(const Record &chip) {
  std::map<StringRef, Stated> figures;
  for (const Record *from : chip.getValueAsListOfDefs("figures")) {
    StringRef source = from->getValueAsString("source");
    if (source.trim().empty())
      PrintFatalError(&chip, "expected figures to have a source, got none");
    for (const Record *is : from->getValueAsListOfDefs("numbers")) {
      StringRef name = is->getValueAsDef("quantity")->getName();
      int64_t value = is->getValueAsInt("value");
      if (value <= 0)
        PrintFatalError(&chip, "expected '" + name + "' to be positive, got " + Twine(value));
      if (!figures.insert({name, {value, source}}).second)
        PrintFatalError(&chip, "expected '" + name + "' to be stated once, got it twice");
    }
  }
  for (const Record *quantity : chip.getValueAsListOfDefs("required"))
    if (!figures.count(quantity->getName()))
      PrintFatalError(&chip, "expected '" + quantity->getName() + "' to be stated, got none");
  return figures;
}

static std::string quote(StringRef text) {
  std::string quoted;
  raw_string_ostream os(quoted);
  os << '"';
  os.write_escaped(text);
  os << '"';
  return quoted;
}

/// A value in C++. Code stands for itself; a record is the list of its fields.
static std::string toCpp(const Record &chip, const Init *value) {
  if (auto *number = dyn_cast<IntInit>(value))
    return itostr(number->getValue());
  if (auto *bit = dyn_cast<BitInit>(value))
    return bit->getValue() ? "true" : "false";
  if (auto *text = dyn_cast<StringInit>(value))
    return text->hasCodeFormat() ? text->getValue().str() : quote(text->getValue());
  SmallVector<std::string> parts;
  if (auto *list = dyn_cast<ListInit>(value)) {
    for (const Init *element : list->getElements())
      parts.push_back(toCpp(chip, element));
  } else if (auto *record = dyn_cast<DefInit>(value)) {
    for (const RecordVal &field : record->getDef()->getValues())
      parts.push_back(toCpp(chip, field.getValue()));
  } else {
    PrintFatalError(&chip, "expected a value that C++ has, got " + value->getAsString());
  }
  return "{" + llvm::join(parts, ", ") + "}";
}

void kiln::emitChipQuantities(const RecordKeeper &records, raw_ostream &os) {
  os << "// Made of Chip.td: KILN_QUANTITY(name, unit, summary) for each number of a record.\n";
  for (const Record *quantity : getQuantities(records))
    os << "KILN_QUANTITY(" << quantity->getName() << ", "
       << quote(quantity->getValueAsString("unit")) << ", "
       << quote(quantity->getValueAsString("summary")) << ")\n";
  os << "#undef KILN_QUANTITY\n";
}

void kiln::emitChipRecords(const RecordKeeper &records, raw_ostream &os) {
  os << "// Made of Chips.td: the elements of an array of ChipRecord.\n";
  for (const Record *chip : getChips(records)) {
    os << "[] {\n  ChipRecord chip;\n";
    for (const RecordVal &field : chip->getValues())
      if (field.getName() != "figures" && field.getName() != "required")
        os << "  chip." << field.getName() << " = " << toCpp(*chip, field.getValue()) << ";\n";
    for (const auto &[name, stated] : getFigures(*chip))
      os << "  chip.figures." << name << " = Figure{" << stated.value << ", "
         << quote(stated.source) << "};\n";
    os << "  return chip;\n}(),\n";
  }
}

void kiln::emitChipLimits(const RecordKeeper &records, raw_ostream &os) {
  os << "// Made of Chips.td: KILN_CHIP(name, bytes of shared memory of a block).\n";
  for (const Record *chip : getChips(records))
    os << "KILN_CHIP(" << quote(chip->getValueAsString("name")) << ", "
       << chip->getValueAsInt("sharedBytes") << ")\n";
  os << "#undef KILN_CHIP\n";
}
