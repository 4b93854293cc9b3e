// Paths.h: to a fixed point over all instructions that are come to. LLVM's registers are set in few
// places, most in one, so a register has one value wherever it is read.
#include "Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace llvm;
using namespace kiln::nvptx;

/// So often a register grows until it may be anything; a ring's slots are fewer.
static constexpr unsigned kPatience = 70;

Paths::Paths(const Kernel &kernel, int64_t firstThread, int64_t threads, const Paths *all)
    : kernel(kernel), firstThread(firstThread), threads(threads), all(all),
      values(kernel.registers), made(kernel.code.size()), uses(kernel.registers),
      definitions(kernel.registers), reached(kernel.code.size() + 1) {
  findUses();
  run();
}

void Paths::findUses() {
  for (auto [at, line] : enumerate(kernel.code)) {
    for (const Operand &operand : line.operands)
      if (operand.reg)
        uses[*operand.reg].push_back(at);
    if (line.guard)
      uses[*line.guard].push_back(at);
    for (const Operand &result : line.getResults())
      if (result.reg)
        definitions[*result.reg].push_back(at);
  }
}

void Paths::reach(unsigned line) {
  if (line >= kernel.code.size() || reached.test(line))
    return;
  reached.set(line);
  work.push_back(line);
}

void Paths::run() {
  reach(0);
  while (!work.empty()) {
    unsigned line = work.back();
    work.pop_back();
    step(line);
  }
}

//===- Values -------------------------------------------------------------------------------===//

Numbers Paths::getLanes() const {
  int64_t first = firstThread % kLanes;
  return first + threads <= kLanes ? getRun(first, first + threads - 1) : getRun(0, kLanes - 1);
}

Known Paths::get(const Operand &operand) const {
  if (operand.text.starts_with("%tid.x"))
    return getRun(firstThread, firstThread + threads - 1);
  if (operand.text.starts_with("%laneid"))
    return getLanes();
  if (operand.isShared)
    return Numbers{Numbers::Of::Shared, *operand.number, {}};
  if (!operand.reg)
    return operand.number ? Known(getNumber(*operand.number)) : std::nullopt;
  const Value &value = operand.setBy ? made[*operand.setBy] : values[*operand.reg];
  if (!value.isSet)
    return std::nullopt;
  Known known = assumed && assumed->reg == operand.reg ? assumed->known : value.known;
  int64_t offset = operand.number.value_or(0);
  return offset ? add(known, getNumber(offset)) : known;
}

Known Paths::getPlace(const Line &line) const {
  const Operand *place = line.getPlace();
  Known known = place ? get(*place) : std::nullopt;
  return known && known->of == Numbers::Of::Shared ? known : std::nullopt;
}

/// What it is more; whether it is.
static bool grow(Paths::Value &value, const Known &known) {
  Known both = value.isSet ? join(value.known, known) : known;
  if (value.isSet && both == value.known)
    return false;
  if (value.isSet && ++value.changes > kPatience)
    both = std::nullopt;
  value.isSet = true;
  value.known = std::move(both);
  return true;
}

void Paths::set(unsigned at, const Operand &result, const Known &known) {
  if (!result.reg)
    return;
  bool isMore = grow(made[at], known);
  isMore |= grow(values[*result.reg], made[at].known);
  if (!isMore)
    return;
  for (unsigned use : uses[*result.reg])
    if (reached.test(use))
      work.push_back(use);
}

/// Whether what it goes by was set; and what it computes with. Registers that products alone use
/// may hold nothing before.
bool Paths::isReady(const Line &line) const {
  auto isSet = [&](unsigned reg) { return values[reg].isSet || definitions[reg].empty(); };
  auto isKnown = [&](const Operand &operand) {
    return operand.setBy ? made[*operand.setBy].isSet : !operand.reg || isSet(*operand.reg);
  };
  ArrayRef<Operand> results = line.getResults();
  return (!line.guard || isSet(*line.guard)) &&
         (results.empty() || all_of(ArrayRef(line.operands).drop_front(results.size()), isKnown));
}

/// Whether its guard lets it be done.
std::optional<bool> Paths::holds(const Line &line) const {
  if (!line.guard)
    return true;
  const Known &known = values[*line.guard].known;
  if (!known || !known->isOne())
    return std::nullopt;
  return bool(known->base) != line.isNegated;
}

void Paths::step(unsigned at) {
  const Line &line = kernel.code[at];
  bool isComing = isReady(line);
  std::optional<bool> isDone = isComing ? holds(line) : false;
  if (isDone.value_or(true)) {
    if (line.target)
      reach(*line.target);
    ArrayRef<Operand> results = line.getResults();
    Known known = results.size() == 1 ? compute(line) : std::nullopt;
    for (const Operand &result : results)
      set(at, result, known);
  }
  // A table of branches may go anywhere.
  if (line.is("brx"))
    for (unsigned other = 0; other < kernel.code.size(); ++other)
      reach(other);
  if (!line.ends() || (isComing && !isDone.value_or(false)))
    reach(at + 1);
}

//===- Instructions -------------------------------------------------------------------------===//

/// The comparison that sets a predicate, if it is all that does.
const Line *Paths::findComparison(unsigned predicate) const {
  if (definitions[predicate].size() != 1)
    return nullptr;
  const Line &line = kernel.code[definitions[predicate].front()];
  return line.is("setp.") && line.operands.size() == 3 ? &line : nullptr;
}

/// What an operand is where a predicate holds, or does not: it may be what is compared, or be made
/// of that. Both are of one trip, since what is compared is set in one place.
Known Paths::getIf(const Operand &operand, unsigned predicate, bool isSo) const {
  Known known = get(operand);
  const Line *line = findComparison(predicate);
  if (!operand.reg || !line)
    return known;
  std::optional<Compare> asked = findCompare(line->mnemonic.split('.').second.split('.').first);
  Known number = get(line->operands[2]);
  std::optional<unsigned> compared = line->operands[1].reg;
  if (!asked || !compared || !number || !number->isOne())
    return known;
  Known kept = keepIf(get(line->operands[1]), isSo ? *asked : invert(*asked), number->base);
  if (compared == operand.reg)
    return kept;
  if (definitions[*operand.reg].size() != 1 || definitions[*compared].size() != 1)
    return known;
  const Line &maker = kernel.code[definitions[*operand.reg].front()];
  bool isMadeOfIt = any_of(maker.operands, [&](const Operand &it) { return it.reg == compared; });
  if (!isMadeOfIt || maker.guard || maker.getResults().size() != 1 || !kept)
    return known;
  SaveAndRestore<std::optional<Assumption>> saved(assumed, Assumption{*compared, *kept});
  return compute(maker);
}

Known Paths::select(const Line &line) const {
  if (line.operands.size() != 4 || !line.operands[3].reg)
    return std::nullopt;
  unsigned predicate = *line.operands[3].reg;
  // What it compares may have grown since it was looked at.
  const Line *comparison = findComparison(predicate);
  Known asked = comparison ? compareOperands(*comparison) : values[predicate].known;
  if (asked && asked->isOne())
    return get(line.operands[asked->base ? 1 : 2]);
  return join(getIf(line.operands[1], predicate, true), getIf(line.operands[2], predicate, false));
}

Known Paths::compareOperands(const Line &line) const {
  Known either = getRun(0, 1);
  std::optional<Compare> asked = findCompare(line.mnemonic.split('.').second.split('.').first);
  StringRef type = line.mnemonic.rsplit('.').second;
  if (!asked || line.operands.size() != 3 || type.starts_with("f"))
    return either;
  Known a = get(line.operands[1]), b = get(line.operands[2]);
  // Without a sign the least numbers are the greatest.
  bool isUnsigned = type.starts_with("u") && *asked != Compare::Equal && *asked != Compare::Unequal;
  if (isUnsigned && ((a && a->base < 0) || (b && b->base < 0)))
    return either;
  std::optional<bool> holds = compare(*asked, a, b);
  return holds ? Known(getNumber(*holds)) : either;
}

/// Between numbers of whole bits, none of which is lost.
static Known convert(const Line &line, const Known &known) {
  SmallVector<StringRef, 4> parts;
  line.mnemonic.split(parts, '.');
  bool isWhole = parts.size() == 3 && all_of(ArrayRef(parts).drop_front(), [](StringRef part) {
                   return part.starts_with("u") || part.starts_with("s");
                 });
  unsigned bits = 0;
  if (!isWhole || parts[1].drop_front().getAsInteger(10, bits) || !known)
    return std::nullopt;
  if (!known->isInteger() || bits >= 64)
    return known;
  return known->base >= -(int64_t(1) << (bits - 1)) && known->getLast() < int64_t(1) << bits
             ? known
             : std::nullopt;
}

Known Paths::compute(const Line &line) const {
  auto in = [&](unsigned number) {
    return number < line.operands.size() ? get(line.operands[number]) : std::nullopt;
  };
  if (line.is("setp."))
    return compareOperands(line);
  if (line.is("selp."))
    return select(line);
  if (line.is("mov.pred"))
    return in(1) ? Known(getNumber(in(1)->base != 0)) : in(1);
  if (line.is("not.pred"))
    return subtract(getNumber(1), in(1));
  // Of two halves nothing is known.
  if (line.is("mov.") && line.operands.size() != 2)
    return std::nullopt;
  bool areWhole = firstThread % kLanes == 0 && threads % kLanes == 0;
  if (line.is("shfl.sync.idx."))
    return areWhole || !all ? in(1) : all->get(line.operands[0]);
  if (line.is("mov.") || line.is("cvta.") || line.is("mapa."))
    return in(1);
  if (line.is("cvt."))
    return convert(line, in(1));
  if (line.mnemonic.contains(".f") || line.mnemonic.contains(".bf"))
    return std::nullopt;
  if (line.is("add.") || line.is("or.") || line.is("xor.") || line.is("and.")) {
    auto function = line.is("add.")   ? add
                    : line.is("or.")  ? bitOr
                    : line.is("and.") ? bitAnd
                                      : bitXor;
    return function(in(1), in(2));
  }
  if (line.is("sub."))
    return subtract(in(1), in(2));
  if (line.is("mul.lo.") || line.is("mul.wide."))
    return multiply(in(1), in(2));
  if (line.is("mad.lo.") || line.is("mad.wide."))
    return add(multiply(in(1), in(2)), in(3));
  if (line.is("shl."))
    return shiftLeft(in(1), in(2));
  if (line.is("shr."))
    return shiftRight(in(1), in(2));
  if (line.is("bfe."))
    return extract(in(1), in(2), in(3), line.is("bfe.s"));
  if (line.is("div."))
    return divide(in(1), in(2));
  if (line.is("rem.u"))
    return remainder(in(1), in(2));
  if (line.is("min."))
    return minimum(in(1), in(2));
  return std::nullopt;
}
