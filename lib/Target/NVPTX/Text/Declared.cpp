// Declared.h: by the lines of the text, whose addresses are constants.
#include "kiln/Target/NVPTX/Declared.h"
#include "kiln/Support/Protocol.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>
#include <optional>

using namespace llvm;
using namespace kiln;
using namespace kiln::nvptx;

namespace {
/// A constant, of bytes behind a symbol if it is an address.
struct Number {
  StringRef symbol;
  int64_t value = 0;
  bool operator==(const Number &other) const {
    return symbol == other.symbol && value == other.value;
  }
  bool operator!=(const Number &other) const { return !(*this == other); }
};

struct Line {
  unsigned number;
  StringRef mnemonic;
  SmallVector<StringRef, 4> operands;
};

struct Kernel {
  StringRef name;
  unsigned line;
  std::vector<Line> code;
  /// Registers that are one constant wherever they are set.
  StringMap<std::optional<Number>> registers;
};

class Check {
public:
  Check(const Kernel &kernel, const Protocol &protocol, unsigned chip)
      : kernel(kernel), protocol(protocol), chip(chip) {}
  std::vector<TextProblem> run();

private:
  void fail(unsigned line, const Twine &text) {
    problems.push_back({line, kernel.name.str(), text.str()});
  }
  std::optional<Number> get(StringRef operand) const;
  void checkCounters();
  void checkBarriers();
  void checkRegisters();
  void checkFences();

  const Kernel &kernel;
  const Protocol &protocol;
  const unsigned chip;
  std::vector<TextProblem> problems;
};
} // namespace

/// The first chips with `fence.mbarrier_init`.
static constexpr unsigned kFirstWithFences = 90;
static constexpr int64_t kLanes = 32;

//===- Text ---------------------------------------------------------------------------------===//

static std::optional<Number> readNumber(StringRef text) {
  Number number;
  auto [front, back] = text.trim("[] \t").split('+');
  if (!front.getAsInteger(0, number.value))
    return number;
  if (front.starts_with("%") || (!back.empty() && back.getAsInteger(0, number.value)))
    return std::nullopt;
  number.symbol = front;
  return number;
}

/// An operand that is a constant, or a register that holds one, perhaps with an offset.
static std::optional<Number> findNumber(const Kernel &kernel, StringRef operand) {
  operand = operand.trim("[] \t");
  if (!operand.starts_with("%"))
    return readNumber(operand);
  auto [name, offset] = operand.split('+');
  int64_t more = 0;
  auto known = kernel.registers.find(name);
  if (known == kernel.registers.end() || !known->second ||
      (!offset.empty() && offset.getAsInteger(0, more)))
    return std::nullopt;
  return Number{known->second->symbol, known->second->value + more};
}

/// What an instruction sets a register to.
static void define(Kernel &kernel, const Line &line) {
  if (line.operands.empty() || !line.operands.front().starts_with("%"))
    return;
  std::optional<Number> value;
  if (line.mnemonic.starts_with("mov.") && line.operands.size() == 2)
    value = findNumber(kernel, line.operands[1]);
  if (line.mnemonic.starts_with("add.") && line.operands.size() == 3) {
    std::optional<Number> a = findNumber(kernel, line.operands[1]),
                          b = findNumber(kernel, line.operands[2]);
    if (a && b && b->symbol.empty())
      value = Number{a->symbol, a->value + b->value};
  }
  auto [known, isNew] = kernel.registers.try_emplace(line.operands.front(), value);
  if (!isNew && known->second != value)
    known->second.reset();
}

static std::optional<Line> readLine(StringRef text, unsigned number) {
  text = text.split("//").first.trim();
  if (text.starts_with("@"))
    text = text.drop_until([](char c) { return isSpace(c); }).ltrim();
  if (text.empty() || !text.consume_back(";"))
    return std::nullopt;
  size_t end = text.find_first_of(" \t");
  Line line{number, text.take_front(end), {}};
  text.drop_front(line.mnemonic.size()).split(line.operands, ',');
  for (StringRef &operand : line.operands)
    operand = operand.trim();
  erase_if(line.operands, [](StringRef operand) { return operand.empty(); });
  return line;
}

static std::vector<Kernel> readKernels(StringRef text) {
  std::vector<Kernel> kernels;
  bool isInside = false;
  size_t open = 0;
  unsigned number = 0;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    ++number;
    // Inline assembly has blocks of its own.
    StringRef code = line.split("//").first;
    open += code.count('{');
    open -= std::min(open, code.count('}'));
    if (auto [before, name] = line.split(".entry "); !name.empty()) {
      kernels.push_back({name.split('(').first.trim(), number, {}, {}});
      isInside = true;
    } else if (isInside && code.contains('}') && open == 0) {
      isInside = false;
    } else if (std::optional<Line> read = readLine(line, number); read && isInside) {
      define(kernels.back(), *read);
      kernels.back().code.push_back(std::move(*read));
    }
  }
  return kernels;
}

//===- What is declared ---------------------------------------------------------------------===//

std::optional<Number> Check::get(StringRef operand) const { return findNumber(kernel, operand); }

/// Each barrier in shared memory is made as it is declared.
void Check::checkCounters() {
  std::map<int64_t, int64_t> arrivals;
  for (const Protocol::Counter &counter : protocol.counters)
    for (int64_t slot = 0; slot < counter.slots; ++slot)
      arrivals[counter.at + slot * kCounterBytes] = counter.arrivals;
  for (const Line &line : kernel.code) {
    if (!line.mnemonic.starts_with("mbarrier.init") || line.operands.size() < 2)
      continue;
    std::optional<Number> place = get(line.operands[0]), count = get(line.operands[1]);
    if (!place || !count) {
      fail(line.number, "expected the place of a barrier, and its arrivals, to be constants");
      continue;
    }
    auto declared = arrivals.find(place->value);
    if (declared == arrivals.end())
      fail(line.number, formatv("a barrier at byte {0} of shared memory is made here, which the "
                                "metadata does not declare",
                                place->value));
    else if (declared->second != count->value)
      fail(line.number, formatv("the metadata declares {0} arrivals at the barrier at byte {1} of "
                                "shared memory; the code has it await {2}",
                                declared->second, place->value, count->value));
    if (declared != arrivals.end())
      arrivals.erase(declared);
  }
  for (auto [at, count] : arrivals)
    fail(kernel.line, formatv("the metadata declares a barrier of {0} arrivals at byte {1} of "
                              "shared memory; the code makes none",
                              count, at));
}

/// Each barrier with a number is one that is declared, and each of those is met at.
void Check::checkBarriers() {
  std::vector<bool> isMet(protocol.barriers.size(), false);
  for (const Line &line : kernel.code) {
    bool isBarrier = line.mnemonic.starts_with("bar.sync") ||
                     line.mnemonic.starts_with("barrier.sync") ||
                     line.mnemonic.starts_with("barrier.cta.sync");
    // With no number of threads it is the block's.
    if (!isBarrier || line.operands.size() < 2)
      continue;
    std::optional<Number> number = get(line.operands[0]), threads = get(line.operands[1]);
    bool isDeclared = false;
    for (auto [at, barrier] : enumerate(protocol.barriers)) {
      bool isOne = !number || (number->value >= barrier.number &&
                               number->value < barrier.number + barrier.count);
      if (!isOne || !threads || threads->value != barrier.warps * kLanes)
        continue;
      isMet[at] = isDeclared = true;
    }
    if (!isDeclared)
      fail(line.number, formatv("{0} threads meet at barrier {1} here, which the metadata does not "
                                "declare",
                                line.operands[1], line.operands[0]));
  }
  for (auto [barrier, isSo] : zip(protocol.barriers, isMet))
    if (!isSo)
      fail(kernel.line,
           formatv("the metadata declares barrier {0} of {1} warps; nobody meets there "
                   "in the code",
                   barrier.number, barrier.warps));
}

void Check::checkRegisters() {
  std::map<int64_t, bool> isSet;
  for (const Protocol::Role &role : protocol.roles)
    if (role.registers)
      isSet[role.registers] = false;
  for (const Line &line : kernel.code) {
    if (!line.mnemonic.starts_with("setmaxnreg.") || line.operands.size() != 1)
      continue;
    std::optional<Number> count = get(line.operands[0]);
    auto declared = count ? isSet.find(count->value) : isSet.end();
    if (declared == isSet.end())
      fail(line.number,
           formatv("{0} registers are set here, which the metadata declares of no role",
                   line.operands[0]));
    else
      declared->second = true;
  }
  for (const Protocol::Role &role : protocol.roles)
    if (role.registers && !isSet[role.registers])
      fail(kernel.line, formatv("the metadata declares {0} registers of role '{1}'; the code sets "
                                "none such",
                                role.registers, role.name));
}

void Check::checkFences() {
  static constexpr struct {
    StringLiteral kind, mnemonic;
    unsigned firstChip;
  } fences[] = {{"barriers", "fence.mbarrier_init", kFirstWithFences},
                {"shared", "fence.proxy.async", kFirstWithFences},
                {"tensor_before", "tcgen05.fence::before_thread_sync", 0},
                {"tensor_after", "tcgen05.fence::after_thread_sync", 0}};
  for (const Protocol::Fence &declared : protocol.fences)
    for (const auto &fence : fences) {
      if (declared.kind != fence.kind || chip < fence.firstChip)
        continue;
      int64_t found = count_if(
          kernel.code, [&](const Line &line) { return line.mnemonic.starts_with(fence.mnemonic); });
      if (found < declared.count)
        fail(kernel.line,
             formatv("the metadata declares so many fences of the kind '{0}': {1}; the "
                     "code has {2} '{3}'",
                     declared.kind, declared.count, found, fence.mnemonic));
    }
}

std::vector<TextProblem> Check::run() {
  checkCounters();
  checkBarriers();
  checkRegisters();
  checkFences();
  return std::move(problems);
}

//===- The whole ----------------------------------------------------------------------------===//

bool kiln::nvptx::isText(StringRef text) {
  return text.starts_with(".target sm_") || text.contains("\n.target sm_");
}

Expected<std::vector<TextProblem>> kiln::nvptx::checkText(StringRef text) {
  unsigned chip = 0;
  text.split(".target sm_").second.consumeInteger(10, chip);
  std::map<std::string, Protocol> protocols;
  for (StringRef rest = text.split(kProtocolMark).second; !rest.empty();
       rest = rest.split(kProtocolMark).second) {
    Expected<Protocol> protocol = parseProtocol(rest.split('\n').first);
    if (!protocol)
      return protocol.takeError();
    std::string name = protocol->kernel;
    protocols[name] = std::move(*protocol);
  }
  std::vector<TextProblem> problems;
  for (const Kernel &kernel : readKernels(text)) {
    auto declared = protocols.find(kernel.name.str());
    if (declared == protocols.end())
      return createStringError("the metadata declares no protocol of '" + kernel.name + "'");
    append_range(problems, Check(kernel, declared->second, chip).run());
  }
  return problems;
}
