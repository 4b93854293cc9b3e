// Code.h: from the text that LLVM prints.
#include "Code.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <map>
#include <set>

using namespace llvm;
using namespace kiln::nvptx;

namespace {
class Reader {
public:
  std::vector<Kernel> run(StringRef text);

private:
  void begin(StringRef name, unsigned number);
  void readDirective(StringRef line);
  void readInstruction(StringRef line, unsigned number);
  Operand readOperand(StringRef text, bool isPlace);
  void end();
  void findSetters(Kernel &kernel) const;

  std::vector<Kernel> kernels;
  StringSet<> shared; ///< what lies in shared memory
  StringMap<unsigned> registers, labels;
  std::vector<std::pair<unsigned, StringRef>> branches;
};
} // namespace

const Operand *Line::getPlace() const {
  auto place = find_if(operands, [](const Operand &operand) { return operand.isPlace; });
  return place == operands.end() ? nullptr : place;
}

/// Whether an instruction sets nothing that is followed, though it names a register first.
static bool setsNothing(const Line &line) {
  static constexpr StringLiteral names[] = {"bar.",       "barrier.",  "bra", "griddepcontrol",
                                            "mma.",       "nanosleep", "ret", "setmaxnreg.",
                                            "tcgen05.de", "wgmma."};
  return any_of(names, [&](StringRef name) { return line.is(name); });
}

ArrayRef<Operand> Line::getResults() const {
  ArrayRef<Operand> all = operands;
  if (setsNothing(*this) || all.empty() || all.front().isPlace)
    return {};
  return getPlace() ? all.take_while([](const Operand &each) { return !each.isPlace; })
                    : all.take_front();
}

bool kiln::nvptx::isBarrier(const Line &line) {
  return line.is("bar.sync") || line.is("barrier.sync") || line.is("barrier.cta.sync");
}

void Reader::begin(StringRef name, unsigned number) {
  Kernel kernel;
  kernel.name = name.split('(').first.trim();
  kernel.line = number;
  kernels.push_back(std::move(kernel));
  registers.clear();
  labels.clear();
  branches.clear();
}

Operand Reader::readOperand(StringRef text, bool isPlace) {
  Operand operand;
  operand.text = text;
  operand.isPlace = isPlace;
  int64_t number = 0;
  if (!text.getAsInteger(0, number)) {
    operand.number = number;
    return operand;
  }
  auto [front, back] = text.split('+');
  if (!back.empty() && back.getAsInteger(0, number))
    return operand;
  // Of two registers the first one.
  StringRef name = front.split('|').first.trim();
  if (name.starts_with("%"))
    operand.reg = registers.try_emplace(name, registers.size()).first->second;
  else if (shared.contains(name))
    operand.isShared = true;
  else
    return operand;
  operand.number = number;
  return operand;
}

void Reader::readInstruction(StringRef text, unsigned number) {
  Line line{number, "", {}, {}, false, {}};
  if (text.consume_front("@")) {
    line.isNegated = text.consume_front("!");
    StringRef guard = text.take_until([](char c) { return isSpace(c); });
    line.guard = registers.try_emplace(guard, registers.size()).first->second;
    text = text.drop_front(guard.size()).ltrim();
  }
  size_t end = std::min(text.find_first_of(" \t"), text.size());
  line.mnemonic = text.take_front(end);
  text = text.drop_front(end).trim();
  if (line.isBranch())
    branches.push_back({kernels.back().code.size(), text});
  SmallVector<StringRef, 8> parts;
  text.split(parts, ',');
  bool isPlace = false;
  for (StringRef part : parts) {
    part = part.trim();
    bool begins = part.contains('[');
    StringRef name = part.trim("[]{} \t");
    // Only what stands first in brackets is a place.
    if (!name.empty())
      line.operands.push_back(readOperand(name, begins && !isPlace));
    isPlace = (isPlace || begins) && !part.contains(']');
  }
  kernels.back().code.push_back(std::move(line));
}

/// How many threads the text says that a block has.
void Reader::readDirective(StringRef line) {
  int64_t threads = 0;
  if (line.consume_front(".reqntid ") && !line.split(',').first.trim().getAsInteger(10, threads))
    kernels.back().threads = threads;
}

void Reader::end() {
  Kernel &kernel = kernels.back();
  kernel.registers = registers.size();
  for (auto [at, label] : branches) {
    auto found = labels.find(label.trim());
    if (found != labels.end())
      kernel.code[at].target = found->second;
  }
  findSetters(kernel);
}

/// In front of a label nobody else can have set what was set since the one before.
void Reader::findSetters(Kernel &kernel) const {
  std::set<unsigned> joins;
  for (const auto &label : labels)
    joins.insert(label.second);
  std::map<unsigned, unsigned> setters;
  for (auto [at, line] : enumerate(kernel.code)) {
    if (joins.count(at))
      setters.clear();
    for (Operand &operand : MutableArrayRef(line.operands).drop_front(line.getResults().size()))
      if (auto setter = operand.reg ? setters.find(*operand.reg) : setters.end();
          setter != setters.end())
        operand.setBy = setter->second;
    for (const Operand &result : line.getResults())
      if (result.reg && line.guard)
        setters.erase(*result.reg);
      else if (result.reg)
        setters[*result.reg] = at;
  }
}

std::vector<Kernel> Reader::run(StringRef text) {
  bool isInside = false;
  size_t open = 0;
  unsigned number = 0;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    ++number;
    StringRef code = line.split("//").first.trim();
    // Inline assembly has blocks of its own.
    size_t before = open;
    open += code.count('{');
    open -= std::min(open, code.count('}'));
    if (StringRef name = code.split(".entry ").second; !name.empty()) {
      begin(name, number);
      isInside = true;
    } else if (!isInside && code.contains(".shared ")) {
      shared.insert(code.split('[').first.rsplit(' ').second);
    } else if (isInside && code.contains('}') && open == 0 && before > 0) {
      end();
      isInside = false;
    } else if (isInside && code.ends_with(":")) {
      labels[code.drop_back()] = kernels.back().code.size();
    } else if (isInside && before == 0 && code.starts_with(".")) {
      readDirective(code);
    } else if (isInside && !code.starts_with(".") && code.consume_back(";")) {
      readInstruction(code.ltrim("{ \t"), number);
    }
  }
  return std::move(kernels);
}

std::vector<Kernel> kiln::nvptx::readKernels(StringRef text) { return Reader().run(text); }
