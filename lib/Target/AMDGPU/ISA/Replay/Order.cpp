// Order.h: accesses, waits, and what is said of those that nothing orders.
#include "Order.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace kiln;
using namespace kiln::amdgcn;
using analysis::Clash;

Order::Order(const KernelCode &kernel, unsigned waves, size_t cells, unsigned cellBytes)
    : kernel(kernel), waves(waves), cellBytes(cellBytes), order(2 * waves), history(order, cells),
      accesses(3 * waves), counted(waves) {
  for (unsigned wave = 0; wave < waves; ++wave)
    order.addQueue("loads to LDS");
}

std::string Order::issue(unsigned wave, unsigned at, ArrayRef<Cells> cells, Use use,
                         const bool *isSame) {
  const Instruction &instruction = kernel.code[at];
  std::optional<Counter> counter = kernel.getCounter(instruction);
  if (!counter)
    return "";
  Counted &of = counted[wave][unsigned(*counter)];
  ++of.issued;
  if (cells.empty())
    return "";
  bool isLoad = instruction.kind == Kind::LoadToLDS;
  Agent thread = isLoad ? wave : getAccesses(wave);
  if (!isLoad)
    order.know(thread, wave);
  analysis::Event event =
      isLoad ? order.start(getLoads(wave), wave, analysis::Proxy::Generic) : order.now(thread);
  accesses[event.agent].push_back(at);
  std::string problem;
  for (const Cells &run : cells) {
    std::optional<Clash> clash =
        use == Use::Read    ? history.read(thread, event, run.first, run.count)
        : use == Use::Write ? history.write(thread, event, run.first, run.count,
                                            isSame ? isSame + run.first : nullptr)
                            : history.update(thread, event, run.first, run.count);
    if (clash && problem.empty())
      problem = blame(wave, at, use, *clash);
  }
  of.outstanding.push_back({of.issued, {}});
  if (isLoad)
    of.outstanding.back().tick = order.close(getLoads(wave));
  else
    order.release(thread, of.outstanding.back().place);
  return problem;
}

void Order::wait(unsigned wave, Counter counter, unsigned count) {
  Counted &of = counted[wave][unsigned(counter)];
  // They are done in the order of issue, so the last one tells of all. Loads that go to LDS have a
  // queue for it.
  std::optional<Outstanding> access;
  analysis::Tick tick = 0;
  while (!of.outstanding.empty() && of.outstanding.front().number + count <= of.issued) {
    if (of.outstanding.front().tick)
      tick = of.outstanding.front().tick;
    else
      access = std::move(of.outstanding.front());
    of.outstanding.pop_front();
  }
  if (access)
    order.acquire(wave, access->place);
  if (tick)
    order.end(getLoads(wave), tick, Agent(wave));
}

void Order::signal(unsigned wave, uint64_t phase) {
  // Nobody comes back to a phase that all have left.
  while (!phases.empty() && phases.begin()->first + 1 < phase)
    phases.erase(phases.begin());
  order.release(wave, phases[phase]);
}

/// "reads", "writes".
static StringRef spell(Order::Use use) {
  return use == Order::Use::Read ? "reads" : use == Order::Use::Write ? "writes" : "counts at";
}

std::string Order::blame(unsigned wave, unsigned at, Use use, const Clash &clash) const {
  size_t byte = clash.offset * cellBytes;
  std::string what = formatv("wave {0} {1} byte {2} of LDS", wave, spell(use), byte);
  if (clash.kind == Clash::Kind::Unwritten)
    return what + ", where nothing is written before";
  unsigned other = clash.other.agent % waves, line = 0;
  unsigned access = accesses[clash.other.agent][clash.other.tick - 1];
  line = kernel.code[access].line;
  what += formatv(", which {0} {1} by '{2}' of line {3}: ",
                  other == wave ? std::string("it") : formatv("wave {0}", other).str(),
                  clash.isRead ? "reads" : "writes", kernel.code[access].mnemonic, line);
  if (!order.knows(other, clash.other))
    return what + (other == wave ? "expected a wait for that before"
                                 : "expected a wait for that, and a barrier or an arrival behind "
                                   "it, before");
  return what + "expected a barrier, or an arrival and a look at it, in between";
}
